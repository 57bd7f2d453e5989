#include "hdtrace/format/interruption.h"

#include <chrono>
#include <utility>

namespace hdtrace {
namespace {

using Clock = std::chrono::steady_clock;

thread_local InterruptionCheck::Function current_check = nullptr;
thread_local Clock::time_point next_check;

} // namespace

InterruptionCheck::InterruptionCheck(Function check) : m_before(std::exchange(current_check, check)) {}

InterruptionCheck::~InterruptionCheck()
{
    current_check = m_before;
}

void detail::check_for_interruption_now()
{
    if (current_check)
        current_check();
}

void detail::check_for_interruption()
{
    if (!current_check)
        return;
    constexpr std::chrono::milliseconds pause(50); // a check may have to wait for other threads
    const auto now = Clock::now();
    if (now < next_check)
        return;
    next_check = now + pause;
    current_check();
}

} // namespace hdtrace
