#include "read_back.h"

#include "hdtrace/format/trc_reader.h"

namespace hdtrace::test {

ReadBack read_back(const std::string& path, std::int64_t begin)
{
    TrcReader reader(path);
    const std::int64_t base = reader.time_adjustment();
    if (begin > 0)
        reader.seek(base + begin);
    ReadBack found;
    for (const Attribute& attribute : reader.attributes())
        if (attribute.name == "before")
            found.before = std::stoll(std::string(attribute.value));
    State state;
    while (reader.next(state)) {
        found.times.push_back(state.time - base);
        found.names.push_back(state.name);
        found.unfinished += state.is_unfinished() ? 1 : 0;
    }
    found.has_segments = reader.has_segments();
    found.is_complete = reader.complete();
    return found;
}

} // namespace hdtrace::test
