// The floating-point environment of a thread, which is the program's: rounding, flushing to zero, traps and
// the exceptions that there have been.
#pragma once

#include <stdint.h>

namespace hdtrace {

namespace detail {

// Not fenv.h, whose functions are in libm: not every program has it. The compiler keeps its own arithmetic
// neither behind the beginning nor before the end: hence run_apart().
#if defined(__x86_64__)
class DefaultFloatingPoint {
  public:
    DefaultFloatingPoint()
    {
        constexpr uint32_t initial = 0x1F80, rounding = 0xC00;
        uint16_t x87_control;
        asm volatile("stmxcsr %0\n\tldmxcsr %2\n\tfnstcw %1"
                     : "=m"(m_sse), "=m"(x87_control)
                     : "m"(initial)
                     : "memory");
        m_x87_rounds_otherwise = (x87_control & rounding) != 0;
        if (m_x87_rounds_otherwise)
            asm volatile("fnstenv %0\n\tfninit" : "=m"(m_x87));
    }
    ~DefaultFloatingPoint()
    {
        asm volatile("ldmxcsr %0" : : "m"(m_sse) : "memory");
        if (m_x87_rounds_otherwise)
            asm volatile("fldenv %0" : : "m"(m_x87));
    }
    DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
    DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

  private:
    uint32_t m_sse;
    // Nothing of ours computes with it, but the C library asks it how to round. Otherwise it is left alone:
    // changing it takes long, and most of its instructions trap exceptions of those before them.
    bool m_x87_rounds_otherwise;
    uint32_t m_x87[7];
};
#elif defined(__aarch64__)
class DefaultFloatingPoint {
  public:
    DefaultFloatingPoint()
    {
        asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(m_control), "=r"(m_exceptions));
        load(0, m_exceptions);
    }
    ~DefaultFloatingPoint() { load(m_control, m_exceptions); }
    DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
    DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

  private:
    static void load(uint64_t control, uint64_t exceptions)
    {
        asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control), "r"(exceptions) : "memory");
    }

    uint64_t m_control, m_exceptions;
};
#else
struct DefaultFloatingPoint {
    DefaultFloatingPoint() {} // for what is not tested, the program's own
};
#endif

template <typename Work> __attribute__((noinline)) auto run_apart(const Work& work)
{
    asm volatile(""); // a function without any effect could be moved away
    return work();
}

} // namespace detail

/// Does @p work in the environment that programs begin with; the program's is afterwards as before, without
/// the exceptions of the work. Whatever of ours computes with floating-point numbers in the traced process
/// does it in here.
template <typename Work> auto with_own_floating_point(const Work& work)
{
    const detail::DefaultFloatingPoint environment;
    return detail::run_apart(work);
}

} // namespace hdtrace
