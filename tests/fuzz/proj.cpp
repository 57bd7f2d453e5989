// Any bytes as a .proj: they are read or refused, as a project and against the schema.
#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/validate.h"
#include "tests/fuzz/input_folder.h"

using namespace hdtrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const std::string path = folder.write("app.proj", fuzz::as_text(data, size));
    try {
        read_project(path).trace_paths();
    } catch (const ReadError&) {
    }
    validate(path);
    return 0;
}
