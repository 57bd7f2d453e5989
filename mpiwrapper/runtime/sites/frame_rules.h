// How to get from the frame of a function to that of its caller. Compilers describe it for exceptions, in the
// section .eh_frame of each object file (Linux Standard Base 5.0, 10.6; DWARF 4, 6.4), whether or not there
// are frame pointers. Of one return address it is always the same.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// What is known about the function that a return address leads back to. The canonical frame address (CFA) of
/// a function is the stack pointer before it was called.
struct FrameRule {
    enum class Base : uint8_t {
        nothing, ///< the caller cannot be found: it is the first function, or nothing is described
        stack_pointer,
        frame_pointer,
    };

    Base base = Base::nothing;
    bool has_saved_frame_pointer = false; ///< else the frame pointer is the caller's
    int32_t cfa = 0;                      ///< the CFA is so many bytes behind the base
    int32_t frame_pointer = 0;            ///< where it is saved, from the CFA
    int32_t return_address = 0;           ///< likewise
};

/// Safe in signal handlers; allocates nothing and locks nothing.
FrameRule find_frame_rule(const void* return_address);

/// A return address as it is in the program: Arm processors can keep it signed on the stack.
inline const void* without_signature(uintptr_t return_address)
{
#ifdef __aarch64__
    register uintptr_t link asm("x30") = return_address;
    asm("hint 7 // xpaclri" : "+r"(link));
    return_address = link;
#endif
    return reinterpret_cast<const void*>(return_address);
}

/// Where a function goes on when the one that it called returns.
struct Frame {
    const void* return_address = nullptr;
    uintptr_t stack_pointer = 0; ///< when it goes on there
    uintptr_t frame_pointer = 0;
    bool is_deeper = false; ///< the stack pointer is only known to be somewhere behind that

    /// The function of the wrapper whose __builtin_frame_address(0) is @p address. The two words there are
    /// the last of its frame on x86-64, but not on Arm.
    static Frame of_caller(const void* address)
    {
#ifdef __x86_64__
        constexpr bool is_deeper = false;
#else
        constexpr bool is_deeper = true;
#endif
        const auto* words = static_cast<const uintptr_t*>(address);
        return {without_signature(words[1]), reinterpret_cast<uintptr_t>(words + 2), words[0], is_deeper};
    }

    /// Goes to the caller of the function. False if it is not known or not between @p stack_pointer and @p
    /// stack_end, the first address behind the stack.
    bool go_to_caller(const FrameRule& rule, uintptr_t stack_end);
};

/// The stack pointer in the outermost of the callers that can be found: on one stack always the same. 0 if
/// there are very many.
uintptr_t outermost_of_callers(Frame frame, uintptr_t stack_end);

} // namespace hdtrace::mpi
