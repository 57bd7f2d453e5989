// The reader of traces, and libxml2 alone, which it is compared with.
#pragma once

#include <algorithm>
#include <string>

#include "hdtrace/format/cut_off.h"
#include "hdtrace/format/trc_reader.h"
#include "hdtrace/format/xml_states.h"
#include "tests/unit/reader_support.h"

namespace hdtrace::test {

/// What came of reading a whole trace.
struct Result : Outcome {
    std::string error;
};

/// Whether elements are equal, and readers say the same of which values are numbers.
inline bool are_alike(const Element& one, const Element& other)
{
    for (std::size_t i = 0; i < std::min(one.attributes.size(), other.attributes.size()); ++i)
        if (one.attributes.number(i) != other.attributes.number(i))
            return false;
    return one == other;
}

inline bool are_alike(const State& one, const State& other)
{
    const auto alike = [](const auto& a, const auto& b) { return are_alike(a, b); };
    return one == other && are_alike(static_cast<const Element&>(one), other) &&
           std::ranges::equal(one.children, other.children, alike) &&
           std::ranges::equal(one.nested, other.nested, alike);
}

/// What libxml2 makes of a trace.
inline Result read_with_libxml2(const std::string& path)
{
    Result result;
    detail::WholeLines lines(path, "</Program>");
    detail::XmlStates states(path, lines);
    try {
        states.read_root();
        for (State state; states.next(state);)
            result.states.push_back(state);
        result.complete = true;
    } catch (const detail::EndOfData&) {
        result.missing = detail::missing_end(lines, states.xml().lines_read(), !states.root().name.empty());
    } catch (const ReadError& error) {
        result.error = error.what();
    }
    return result;
}

/// What our reader makes of it.
inline Result read(const std::string& path, const ReadOptions& options = {})
{
    Result result;
    try {
        TrcReader reader(path, options);
        for (State state; reader.next(state);)
            result.states.push_back(state);
        result.complete = reader.complete();
        result.missing = reader.missing();
    } catch (const ReadError& error) {
        result.error = error.what();
    }
    return result;
}

} // namespace hdtrace::test
