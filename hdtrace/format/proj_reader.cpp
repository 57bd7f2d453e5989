#include "hdtrace/format/sums.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "hdtrace/format/call_site_list.h"
#include "hdtrace/format/clock_list.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/proj_xml.h"
#include "hdtrace/format/run_reader.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/format/world_list.h"

namespace hdtrace {

using namespace detail;

namespace {

using Leaves = std::vector<std::vector<std::string>>;

constexpr std::size_t longest_file_name = 255;

// Bytes, which may be given as 64K, 16M or 1G.
std::int64_t parse_size(const XmlReader& xml, const std::string& text)
{
    const std::size_t unit = text.empty() ? std::string::npos : std::string_view("KMG").find(text.back());
    if (unit == std::string::npos)
        return parse_number(xml, text);
    const std::int64_t units = parse_number(xml, text.substr(0, text.size() - 1));
    std::int64_t size = 0;
    if (__builtin_mul_overflow(units, std::int64_t{1024} << 10 * unit, &size))
        xml.fail("'" + text + "' is too large");
    return size;
}

ProjectFile read_file(XmlReader& xml, const Element& element)
{
    ProjectFile file;
    file.name = element.text("name");
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "InitialSize") {
            file.from = optional_number(xml, child, "from");
            file.initial_size = parse_size(xml, read_text(xml));
        } else if (child.name == "Distribution") {
            const auto name = child.find("class");
            file.distribution_class = name ? std::string(*name) : child.text("implementation");
            for_each_child(xml, [&](const Element& grandchild) {
                if (grandchild.name == "ChunkSize")
                    file.chunk_size = read_text(xml);
                else
                    xml.skip();
            });
        } else if (child.name == "ChunkSize") {
            file.chunk_size = read_text(xml);
        } else {
            if (child.name == "Rank")
                file.ranks.push_back(
                    {number(xml, child, "global"), number(xml, child, "thread"), number(xml, child, "fid")});
            xml.skip();
        }
    });
    return file;
}

Communicator read_communicator(XmlReader& xml, const Element& element)
{
    Communicator communicator{element.text("name"),
                              element.text("uid"),
                              {},
                              element.integer("untraced").value_or(0),
                              element.integer("untracedRemote").value_or(0)};
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Rank")
            communicator.members.push_back({number(xml, child, "global"), number(xml, child, "local"),
                                            optional_number(xml, child, "cid"),
                                            optional_number(xml, child, "group")});
        xml.skip();
    });
    return communicator;
}

Window read_window(XmlReader& xml, const Element& element)
{
    Window window{element.text("name"), element.text("uid"), element.text("communicator"), {}};
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Rank")
            window.members.push_back({number(xml, child, "global"), number(xml, child, "local"),
                                      optional_number(xml, child, "wid"), optional_number(xml, child, "size"),
                                      optional_number(xml, child, "dispUnit")});
        xml.skip();
    });
    return window;
}

Datatype read_datatype(XmlReader& xml, const Element& element)
{
    Datatype type{number(xml, element, "id"), element.name, element.attributes, {}};
    for_each_child(xml, [&](const Element& child) {
        type.rows.push_back(child);
        xml.skip();
    });
    return type;
}

RankDatatypes read_rank_datatypes(XmlReader& xml, const Element& element)
{
    RankDatatypes datatypes{
        number(xml, element, "name"), optional_number(xml, element, "thread").value_or(0), {}};
    for_each_child(xml, [&](const Element& child) { datatypes.types.push_back(read_datatype(xml, child)); });
    return datatypes;
}

void read_levels(XmlReader& xml, const Element& level, std::vector<std::string>& levels)
{
    const auto name = level.find("name");
    levels.push_back(name ? std::string(*name) : level.text("type"));
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Level")
            read_levels(xml, child, levels);
        else
            xml.skip();
    });
}

// A tree of nodes of one kind, from which its leaves are taken. @p size: of the labels above in a file's
// name.
void read_leaves(XmlReader& xml, const Element& node, std::string_view label, std::vector<std::string>& path,
                 std::size_t size, Leaves& leaves)
{
    path.push_back(node.text(label));
    size += 1 + path.back().size();
    if (size > longest_file_name)
        xml.fail("the name of the trace of this <" + node.name + "> would be longer than " +
                 std::to_string(longest_file_name) + " bytes");
    if (path.back().find('/') != std::string::npos)
        xml.fail("'" + path.back() + "' is part of a file's name and must not hold '/'");
    bool is_leaf = true;
    for_each_child(xml, [&](const Element& child) {
        if (child.name != node.name)
            return xml.skip();
        is_leaf = false;
        read_leaves(xml, child, label, path, size, leaves);
    });
    if (is_leaf)
        leaves.push_back(path);
    path.pop_back();
}

// The same tree may be there twice, in the spelling of each generation of the original tools.
void read_topology(XmlReader& xml, Project& project)
{
    Leaves labels;
    std::vector<std::string> path;
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Level")
            read_levels(xml, child, project.levels);
        else if (child.name == "Node")
            read_leaves(xml, child, "name", path, 0, project.leaves);
        else if (child.name == "Label")
            read_leaves(xml, child, "value", path, 0, labels);
        else
            xml.skip();
    });
    if (project.leaves.empty())
        project.leaves = std::move(labels);
}

// Reads the children of the current element that are called @p name with @p read.
template <class Item, class Read>
void read_list(XmlReader& xml, std::string_view name, std::vector<Item>& items, Read read)
{
    for_each_child(xml, [&](const Element& child) {
        if (child.name == name)
            items.push_back(read(xml, child));
        else
            xml.skip();
    });
}

void read_section(XmlReader& xml, const Element& section, Project& project)
{
    if (section.name == "Description")
        project.description = read_text(xml);
    else if (section.name == "FileList")
        read_list(xml, "File", project.files, read_file);
    else if (section.name == "Topology")
        read_topology(xml, project);
    else if (section.name == "CommunicatorList")
        read_list(xml, "Communicator", project.communicators, read_communicator);
    else if (section.name == "WindowList")
        read_list(xml, "Window", project.windows, read_window);
    else if (section.name == "Datatypes")
        read_list(xml, "Rank", project.datatypes, read_rank_datatypes);
    else if (section.name == "CallSiteList")
        read_call_sites(xml, project);
    else if (section.name == "WorldList")
        read_worlds(xml, project);
    else if (section.name == "ClockList")
        read_clocks(xml, project);
    else if (section.name == "Run")
        project.run = detail::read_run(xml, section);
    else
        xml.skip();
}

// The first form of projects does not tell the number of processes, but the world does.
std::int64_t size_of_world(const Project& project)
{
    const auto world = std::ranges::find(project.communicators, "WORLD", &Communicator::name);
    return world == project.communicators.end() ? 0 : world->members.size();
}

std::string as_in_file_names(std::string name)
{
    const auto is_kept = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-';
    };
    std::ranges::replace_if(name, std::not_fn(is_kept), '-');
    if (name.starts_with('-'))
        name[0] = 'x';
    return name;
}

// Where the older of the original readers looks for it, in the place of @p name; the newer one keeps capital
// letters.
std::string as_original_readers_look(std::string name, bool keeps_capitals)
{
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    std::erase_if(name, [&](char c) {
        const bool is_kept = is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                             c == '.' || c == ' ';
        return !is_kept;
    });
    if (!keeps_capitals)
        std::ranges::transform(name, name.begin(),
                               [&](char c) { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; });
    return name;
}

std::optional<std::int64_t> label_number(const std::string& label)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (error != std::errc() || end != label.data() + label.size())
        return {};
    return number;
}

std::string trace_path(const std::filesystem::path& prefix, const std::vector<std::string>& labels)
{
    std::string path = prefix.string();
    for (const std::string& label : labels)
        path += "_" + label;
    return path + ".trc";
}

// The last of those that begin with this rank or before; null if there is none.
template <class Item> const Item* find_before(const std::vector<Item>& items, std::int64_t rank)
{
    const auto behind = std::ranges::upper_bound(items, rank, {}, &Item::first);
    return behind == items.begin() ? nullptr : &*std::prev(behind);
}

// Where the project tells it. The names have the ranks in the worlds.
std::string told_trace_path(const Project& project, const std::filesystem::path& folder,
                            std::vector<std::string> labels)
{
    const auto level = std::ranges::find(project.levels, "Rank") - project.levels.begin();
    const auto rank = level < std::ssize(labels) ? label_number(labels[level]) : std::nullopt;
    const ProcessFiles* const files = rank ? find_before(project.trace_files, *rank) : nullptr;
    if (!files || *rank > files->last) // there is no such trace
        return trace_path(folder / as_in_file_names(project.name), labels);
    if (const World* const world = find_before(project.worlds, *rank))
        labels[level] = std::to_string(*rank - world->first);
    return trace_path((folder / files->directory / files->base).lexically_normal(), labels);
}

Project read_from(const std::string& path, detail::ByteSource& source)
{
    XmlReader xml(path, source);
    xml.next();
    const Element root = read_element(xml);
    if (root.name != "Application")
        xml.fail("this is no project: its root is <" + root.name + ">, not <Application>");
    xml.refuse_newer(root.attributes);
    Project project;
    project.path = path;
    project.name = root.text("name");
    const auto process_count = optional_number(xml, root, "processCount");
    for_each_child(xml, [&](const Element& section) { read_section(xml, section, project); });
    xml.next();
    project.process_count = process_count.value_or(size_of_world(project));
    correct_run(project);
    return project;
}

} // namespace

std::vector<std::string> Project::trace_paths() const
{
    namespace fs = std::filesystem;
    std::vector<std::string> paths;
    if (leaves.empty())
        return paths;
    const fs::path folder = fs::path(path).parent_path();
    if (!trace_files.empty()) {
        for (const auto& labels : leaves)
            paths.push_back(told_trace_path(*this, folder, labels));
        return paths;
    }
    const fs::path after_file = folder / fs::path(path).stem();
    const fs::path after_program = folder / as_in_file_names(name);
    const auto is_there = [&](const fs::path& prefix) {
        const std::string trace = trace_path(prefix, leaves.front());
        return detail::is_there_in_some_form(trace) || has_only_sums(trace);
    };
    const bool is_after_file = is_there(after_file);
    const fs::path& prefix = !is_after_file && is_there(after_program) ? after_program : after_file;
    for (const auto& labels : leaves)
        paths.push_back(trace_path(prefix, labels));
    if (is_after_file || !fs::path(path).has_stem() || is_there(after_program))
        return paths;
    for (const bool keeps_capitals : {true, false}) {
        std::vector<std::string> others;
        for (std::vector<std::string> labels : leaves) {
            for (std::string& label : labels)
                label = as_original_readers_look(label, keeps_capitals);
            others.push_back(trace_path(
                folder / as_original_readers_look(fs::path(path).stem().string(), keeps_capitals), labels));
        }
        if (detail::is_there_in_some_form(others.front()))
            return others;
    }
    return paths;
}

Project read_project(const std::string& path)
{
    detail::File file(path);
    return read_from(path, file);
}

Project read_project_text(const std::string& path, std::string_view text)
{
    detail::TextSource source(text);
    return read_from(path, source);
}

} // namespace hdtrace
