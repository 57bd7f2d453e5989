// Any bytes as a .trc: they are read or refused, as a trace and against the schema, and libxml2 alone reads
// the same. What is cut off is closed, and holds the same states then.
#include "hdtrace/format/repair.h"
#include "hdtrace/format/trc_reader.h"
#include "hdtrace/format/validate.h"
#include "tests/fuzz/input_folder.h"
#include "tests/unit/reader_oracle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

using namespace hdtrace;

namespace {

std::vector<State> read_states(TrcReader& reader)
{
    std::vector<State> states;
    State state;
    while (reader.next(state))
        states.push_back(state);
    if (reader.complete() != reader.missing().empty())
        std::abort();
    return states;
}

// Where a trace is broken libxml2 may lose some of the states before, depending on where it began.
void compare_with_libxml2(const std::string& path)
{
    const test::Result ours = test::read(path);
    const test::Result expected = test::read_with_libxml2(path);
    if (ours.complete != expected.complete || (ours.complete && ours.states != expected.states))
        std::abort();
    const auto [one, other] = std::ranges::mismatch(ours.states, expected.states);
    if (one != ours.states.end() && other != expected.states.end())
        std::abort();
}

void check_closed(const std::string& path, const std::vector<State>& states)
{
    TrcReader reader(path);
    if (read_states(reader) != states || !reader.complete())
        std::abort();
}

void read_trace(const std::string& path)
{
    std::remove((path + original_suffix).c_str());
    try {
        TrcReader reader(path);
        const std::vector<State> states = read_states(reader);
        if (reader.complete())
            return;
        close_trace(path, reader, states.size());
        check_closed(path, states);
    } catch (const ReadError&) {
    } catch (const std::runtime_error&) { // its states do not end at line ends
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const std::string path = folder.write("app_host_0_0.trc", fuzz::as_text(data, size));
    validate(path);
    compare_with_libxml2(path);
    read_trace(path);
    return 0;
}
