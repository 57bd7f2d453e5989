#include "hdtrace/format/number_runs.h"

#include <charconv>

namespace hdtrace {
namespace {

bool take(std::string_view& text, char wanted)
{
    if (!text.starts_with(wanted))
        return false;
    text.remove_prefix(1);
    return true;
}

bool take(std::string_view& text, std::int64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
        return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// `+8` or `-8`.
bool take_step(std::string_view& text, std::int64_t& step)
{
    return take(text, '+') ? !text.starts_with('-') && take(text, step)
                           : text.starts_with('-') && take(text, step);
}

bool holds_numbers(const NumberRun& run)
{
    std::int64_t last = 0;
    return run.count >= 1 && run.count <= NumberRun::most &&
           !__builtin_mul_overflow(run.step, run.count - 1, &last) &&
           !__builtin_add_overflow(run.first, last, &last);
}

} // namespace

std::optional<NumberRun> take_run(std::string_view& list)
{
    NumberRun run;
    std::string_view rest = list;
    if (!take(rest, run.first))
        return std::nullopt;
    const bool is_run = !rest.starts_with(';');
    if (is_run && !(take_step(rest, run.step) && take(rest, '*') && take(rest, run.count)))
        return std::nullopt;
    if (!take(rest, ';') || !holds_numbers(run))
        return std::nullopt;
    list = rest;
    return run;
}

void append_run(std::string& list, const NumberRun& run)
{
    list += std::to_string(run.first);
    if (run.count > 1)
        list += (run.step < 0 ? "" : "+") + std::to_string(run.step) + '*' + std::to_string(run.count);
    list += ';';
}

} // namespace hdtrace
