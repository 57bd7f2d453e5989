// Any bytes as an .info: they are read or refused.
#include "hdtrace/format/info.h"
#include "hdtrace/format/errors.h"
#include "merger/process_info.h"
#include "tests/fuzz/input_folder.h"

using namespace hdtrace;

namespace {

void read_lines(const std::string& path)
{
    const auto or_refuse = [](auto read) {
        try {
            return read();
        } catch (const ReadError&) {
            return false;
        }
    };
    InfoReader reader(path);
    InfoLine line;
    while (or_refuse([&] { return reader.next(line); }))
        or_refuse([&] { return !line.fields().empty(); });
}

void load_objects(const std::string& path)
{
    merger::Report report([](const merger::Diagnostic&) {});
    merger::ProcessInfo info;
    try {
        merger::read_info(path, info, report);
    } catch (const ReadError&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    static const std::string path = folder.path_of("app_host_0_0.info");
    folder.write("app_host_0_0.info", fuzz::as_text(data, size));
    read_lines(path);
    load_objects(path);
    return 0;
}
