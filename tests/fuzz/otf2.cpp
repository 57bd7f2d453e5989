// Any bytes as the files of an archive of the Open Trace Format 2, separated by lines `%%`: its anchor, its
// definitions, and the events and the definitions of each location. A project is made of it, or it is
// refused.
#include "tests/fuzz/importing.h"

namespace hdtrace::fuzz {
namespace {

constexpr int most_locations = 4;

std::string write_archive(const InputFolder& folder, std::string_view text)
{
    const std::string anchor = folder.write("traces.otf2", take_part(text));
    folder.write("traces.def", take_part(text));
    std::filesystem::create_directory(folder.path_of("traces"));
    for (int location = 0; location < most_locations && !text.empty(); ++location)
        for (const char* const suffix : {".evt", ".def"})
            folder.write("traces/" + std::to_string(location) + suffix, take_part(text));
    return anchor;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const InputFolder folder;
    import("otf2", {write_archive(folder, as_text(data, size))}, folder);
    return 0;
}

} // namespace hdtrace::fuzz
