#include "hdtrace/format/segments.h"

#include <cstdint>
#include <map>
#include <utility>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/segments.h"

namespace hdtrace::detail {
namespace {

/// By the second that their times count from, which tells runs apart, and by their number.
using Segments = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;

void add(Segments& segments, const std::string& path, const Element& root)
{
    const auto base = root.integer("timeAdjustment");
    const auto number = root.integer("segment");
    if (base && number)
        segments[{*base, *number}] = path;
}

/// Up to the newest, without a gap.
std::vector<std::string> last_of(const Segments& segments)
{
    std::vector<std::string> paths;
    auto [base, number] = segments.rbegin()->first;
    for (auto found = segments.rbegin(); found != segments.rend(); ++found, --number) {
        if (found->first != std::pair(base, number))
            break;
        paths.insert(paths.begin(), found->second);
    }
    return paths;
}

} // namespace

std::vector<std::string> segments_of(const std::string& path, const Element& root,
                                     const std::function<Element(const std::string&)>& read_root)
{
    if (!root.attributes.empty() && !root.find("segment"))
        return {path};
    Segments segments;
    add(segments, path, root);
    for (int i = 1; i < segment_count; ++i) {
        const std::string file = existing_name(path) + "." + std::to_string(i);
        if (!is_file(file))
            continue;
        try {
            add(segments, file, read_root(file));
        } catch (const ReadError&) {
            continue; // the process was killed when it had just begun with it
        }
    }
    return segments.empty() ? std::vector{path} : last_of(segments);
}

} // namespace hdtrace::detail
