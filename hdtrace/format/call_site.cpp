#include "hdtrace/format/call_site.h"

#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace hdtrace {
namespace {

std::string_view last_part(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string text_of(const SourceFunction& function)
{
    if (function.file.empty())
        return function.name;
    std::string place = std::string(last_part(function.file));
    if (function.line)
        place += ":" + std::to_string(*function.line);
    return function.name.empty() ? place : function.name + " (" + place + ")";
}

std::string address_text(const CodePlace& place)
{
    char offset[24];
    std::snprintf(offset, sizeof offset, "0x%" PRIx64, static_cast<std::uint64_t>(place.offset.value_or(0)));
    return place.object ? std::string(last_part(place.object->path)) + "+" + offset : offset;
}

} // namespace

const SourceFunction* CallSite::function() const
{
    return places.front()->functions.empty() ? nullptr : &places.front()->functions.front();
}

std::string to_string(const CallSite& site)
{
    const SourceFunction* const function = site.function();
    return function ? text_of(*function) : address_text(*site.places.front());
}

std::string stack_text(const CallSite& site)
{
    std::string text;
    const auto append = [&](const std::string& part) { text += (text.empty() ? "" : " < ") + part; };
    for (const auto& place : site.places) {
        if (place->functions.empty())
            append(address_text(*place));
        for (const SourceFunction& function : place->functions)
            append(text_of(function));
    }
    return text;
}

} // namespace hdtrace
