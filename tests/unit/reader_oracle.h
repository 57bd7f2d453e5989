// The reader of traces, and libxml2 alone, which it is compared with.
#pragma once

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
inline Result read(const std::string& path)
{
    Result result;
    try {
        TrcReader reader(path);
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
