#include "hdtrace/format/world_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "hdtrace/format/proj_xml.h"

namespace hdtrace::detail {
namespace {

ProcessFiles read_files(XmlReader& xml, const Element& element)
{
    ProcessFiles files{element.text("directory"), element.text("base"), number(xml, element, "first"),
                       number(xml, element, "last")};
    if (files.base.find('/') != std::string::npos)
        xml.fail("'" + files.base + "' is part of a file's name and must not hold '/'");
    xml.skip();
    return files;
}

// Worlds come in the order of their ranks.
World read_world(XmlReader& xml, const Element& element, std::int64_t first, std::vector<ProcessFiles>& files)
{
    World world{element.text("uid"), number(xml, element, "first"), number(xml, element, "size")};
    std::int64_t end = 0;
    if (world.first < first || world.size < 0 || __builtin_add_overflow(world.first, world.size, &end))
        xml.fail("the ranks of the world '" + world.uid + "' do not fit");
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Files")
            files.push_back(read_files(xml, child));
        else
            xml.skip();
    });
    return world;
}

ForeignRanks read_foreign(XmlReader& xml, const Element& element)
{
    ForeignRanks ranks{{}, number(xml, element, "first"), number(xml, element, "last")};
    const std::string map = element.text("map");
    std::int64_t next = INT64_MIN;
    for (std::string_view rest = map; !rest.empty();) {
        const auto [number, last_number] = take_range(xml, rest, "=", take_integer);
        const auto [rank, last_rank] = take_range(xml, rest, ";");
        if (number < next || last_number < number || last_number >= 0 || last_rank < rank ||
            last_rank == INT64_MAX ||
            static_cast<std::uint64_t>(last_number) - static_cast<std::uint64_t>(number) !=
                static_cast<std::uint64_t>(last_rank - rank))
            xml.fail("the ranges in map='" + map.substr(0, 60) + "' do not fit");
        ranks.runs.push_back({number, rank, last_rank - rank + 1});
        next = last_number + 1;
    }
    xml.skip();
    return ranks;
}

} // namespace

void read_worlds(XmlReader& xml, Project& project)
{
    std::int64_t first = 0;
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "World") {
            const World& world =
                project.worlds.emplace_back(read_world(xml, child, first, project.trace_files));
            first = world.first + world.size;
        } else if (child.name == "Files") {
            project.trace_files.push_back(read_files(xml, child));
        } else if (child.name == "Foreign") {
            project.foreign_ranks.push_back(read_foreign(xml, child));
        } else
            xml.skip();
    });
    std::ranges::stable_sort(project.trace_files, {}, &ProcessFiles::first);
}

} // namespace hdtrace::detail
