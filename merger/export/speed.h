// What --speed says: how fast a processor computes in SimGrid's time-independent traces.
#pragma once

#include <charconv>
#include <string>
#include <system_error>

#include "hdtrace/tools/option_parser.h"

namespace hdtrace::exporter {

/// In floating-point operations per second. Throws UsageError. The bounds keep amounts of operations, and
/// times made of them, where a double tells one from the next.
inline double speed_of(const std::string& text)
{
    constexpr double least = 1, most = 1e18;
    const char* const end = text.data() + text.size();
    double speed = 0;
    const auto [last, error] = std::from_chars(text.data(), end, speed);
    if (error != std::errc{} || last != end || !(speed >= least && speed <= most))
        throw tools::UsageError("--speed is a number of operations per second such as 2.5e9, not '" + text +
                                "'");
    return speed;
}

} // namespace hdtrace::exporter
