// The counter of the processor that its clock can be read from, where there is one.
#pragma once

#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#if defined(__x86_64__) || defined(__aarch64__)
#define HDTRACE_TICK_COUNTER 1
#endif

namespace hdtrace::detail {

#if defined(__x86_64__)
/// The clock source of the kernel that reads it.
inline constexpr const char* tick_counter_source = "tsc";

__attribute__((always_inline)) inline uint64_t read_ticks()
{
    return __rdtsc();
}

/// Some 2 microseconds; the counter's rate is not known beforehand.
inline uint64_t ticks_of_a_wide_reading()
{
    return 8000;
}
#elif defined(__aarch64__)
inline constexpr const char* tick_counter_source = "arch_sys_counter";

/// The processor may read it somewhat before what stands before it, as it may on x86-64.
__attribute__((always_inline)) inline uint64_t read_ticks()
{
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/// 2.5 microseconds: such counters have rates from 1 MHz, at which that is a tick or two, to 1 GHz.
inline uint64_t ticks_of_a_wide_reading()
{
    uint64_t frequency;
    asm("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency / 400'000 + 1;
}
#endif

} // namespace hdtrace::detail
