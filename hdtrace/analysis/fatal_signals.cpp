#include "hdtrace/analysis/fatal_signals.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {

void LastMoments::add(std::int64_t thread, std::int64_t moment)
{
    last = std::max(last, moment);
    std::int64_t& of_thread = last_of[thread];
    of_thread = std::max(of_thread, moment);
}

bool comes_from_outside(const FatalSignal& signal)
{
    static const std::set<std::string_view> names = {"SIGTERM", "SIGKILL", "SIGINT",  "SIGHUP",
                                                     "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU"};
    return names.contains(signal.name);
}

bool survived(const LastMoments& moments, const FatalSignal& signal)
{
    constexpr std::int64_t longest_handler =
        1'000'000'000; // as long as it is not known which thread it is in
    if (moments.finalized > signal.time)
        return true;
    if (comes_from_outside(signal))
        return moments.last > signal.time;
    const auto own = signal.thread ? moments.last_of.find(*signal.thread) : moments.last_of.end();
    return own != moments.last_of.end() ? own->second > signal.time
                                        : saturated_distance(moments.last, signal.time) > longest_handler;
}

} // namespace hdtrace
