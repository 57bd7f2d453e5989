// Valgrind, under which the traced program may run.
#pragma once

#include <stdint.h>

namespace hdtrace {

/// While it lives, Valgrind reports no errors of this thread: looking for a word in the program's memory is
/// none where that is not set. Without Valgrind it costs some instructions.
class NotReported {
  public:
    NotReported() { change(1); }
    ~NotReported() { change(-1); }
    NotReported(const NotReported&) = delete;
    NotReported& operator=(const NotReported&) = delete;

  private:
    // As valgrind.h says; building must not need it. The instructions do nothing, but Valgrind knows them.
    static void change(int64_t difference)
    {
        constexpr int64_t change_error_disablement = 0x1801;
        [[maybe_unused]] const int64_t request[6] = {change_error_disablement, difference};
#if defined(__x86_64__)
        int64_t answer = 0;
        asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
#elif defined(__aarch64__)
        register int64_t answer asm("x3") = 0;
        register const int64_t* const asked asm("x4") = request;
        asm volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(asked)
                     : "cc", "memory");
#endif
    }
};

} // namespace hdtrace
