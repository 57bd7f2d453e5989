// Any bytes as SimGrid's time-independent traces of some processes, separated by lines `%%`: a project is
// made of them, or they are refused.
#include "tests/fuzz/importing.h"

namespace hdtrace::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const InputFolder folder;
    import("tit", write_parts(folder, as_text(data, size), "actions", ".txt"), folder);
    return 0;
}

} // namespace hdtrace::fuzz
