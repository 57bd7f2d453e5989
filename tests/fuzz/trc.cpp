// Any bytes as a .trc: they are read or refused, as a trace and against the schema.
#include "hdtrace/reader/trc_reader.h"
#include "hdtrace/reader/validate.h"
#include "tests/fuzz/input_folder.h"

#include <cstdlib>

using namespace hdtrace;

namespace {

void read_trace(const std::string& path)
{
    try {
        TrcReader reader(path);
        State state;
        while (reader.next(state)) {
        }
        if (reader.complete() != reader.missing().empty())
            std::abort();
    } catch (const ReadError&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const std::string path = folder.write("app_host_0_0.trc", fuzz::as_text(data, size));
    read_trace(path);
    validate(path);
    return 0;
}
