#include "hdtrace/format/proj_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "hdtrace/format/file.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace {

using detail::Node;
using detail::XmlReader;

namespace {

using Leaves = std::vector<std::vector<std::string>>;

constexpr std::size_t longest_file_name = 255;

Element read_element(XmlReader& xml)
{
    Element element{std::string(xml.name()), {}};
    xml.read_attributes(element.attributes);
    return element;
}

// Calls handle(element) for each child of the current element; it has to go to the child's end.
template <class Handle> void for_each_child(XmlReader& xml, Handle handle)
{
    if (xml.is_empty())
        return;
    for (Node node = xml.next(); node != Node::element_end; node = xml.next())
        if (node == Node::element)
            handle(read_element(xml));
}

std::string read_text(XmlReader& xml)
{
    std::string text;
    if (xml.is_empty())
        return text;
    for (Node node = xml.next(); node != Node::element_end; node = xml.next()) {
        if (node == Node::text)
            text += xml.text();
        else
            xml.skip();
    }
    return text;
}

std::string text_of(const Element& element, std::string_view name)
{
    const std::string* value = element.find(name);
    return value ? *value : std::string();
}

std::int64_t parse_number(const XmlReader& xml, const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        xml.fail("'" + text + "' is not a whole number");
    return number;
}

std::optional<std::int64_t> optional_number(const XmlReader& xml, const Element& element,
                                            std::string_view name)
{
    const std::string* value = element.find(name);
    if (!value)
        return {};
    return parse_number(xml, *value);
}

std::int64_t number(const XmlReader& xml, const Element& element, std::string_view name)
{
    const auto value = optional_number(xml, element, name);
    if (!value)
        xml.fail("<" + element.name + "> has no attribute " + std::string(name));
    return *value;
}

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
    file.name = text_of(element, "name");
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "InitialSize") {
            file.from = optional_number(xml, child, "from");
            file.initial_size = parse_size(xml, read_text(xml));
        } else if (child.name == "Distribution") {
            const std::string* name = child.find("class");
            file.distribution_class = name ? *name : text_of(child, "implementation");
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
    Communicator communicator{text_of(element, "name"), text_of(element, "uid"), {}};
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
    Window window{text_of(element, "name"), text_of(element, "uid"), text_of(element, "communicator"), {}};
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
    const std::string* name = level.find("name");
    levels.push_back(name ? *name : text_of(level, "type"));
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
    path.push_back(text_of(node, label));
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

// Takes a number that @p end follows.
std::int64_t take_number(const XmlReader& xml, std::string_view& text, std::string_view end)
{
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view after = text.substr(rest - text.data());
    if (error != std::errc() || number < 0 || !after.starts_with(end))
        xml.fail("'" + std::string(text.substr(0, 60)) + "' does not begin with a number and '" +
                 std::string(end) + "'");
    text = after.substr(end.size());
    return number;
}

// Takes `7` or `7..9` and what follows.
SiteIds::Ranks take_range(const XmlReader& xml, std::string_view& text, std::string_view end)
{
    const bool is_range = text.substr(0, text.find(end)).find("..") != std::string_view::npos;
    const std::int64_t first = take_number(xml, text, is_range ? ".." : end);
    return {first, is_range ? take_number(xml, text, end) : first};
}

// The objects, places and sites of a list are numbered by their positions.
void check_id(const XmlReader& xml, const Element& element, std::size_t position)
{
    if (number(xml, element, "id") != static_cast<std::int64_t>(position))
        xml.fail("the id of <" + element.name + "> is not " + std::to_string(position));
}

template <class Item>
const Item& item_at(const XmlReader& xml, const std::vector<Item>& items, std::int64_t position,
                    const char* what)
{
    if (position < 0 || position >= std::ssize(items))
        xml.fail("there is no " + std::string(what) + " " + std::to_string(position) + " before");
    return items[position];
}

class CallSiteReader {
  public:
    CallSiteReader(XmlReader& xml, Project& project) : m_xml(xml), m_project(project) {}

    void read()
    {
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "Place")
                return read_place(child);
            if (child.name == "Sites")
                return read_ids(child);
            if (child.name == "Object")
                read_object(child);
            else if (child.name == "CallSite")
                read_site(child);
            m_xml.skip();
        });
    }

  private:
    void read_object(const Element& element)
    {
        check_id(m_xml, element, m_objects.size());
        m_objects.push_back(
            std::make_shared<ObjectFile>(ObjectFile{text_of(element, "path"), text_of(element, "buildId")}));
    }

    void read_place(const Element& element)
    {
        check_id(m_xml, element, m_places.size());
        CodePlace place;
        if (const auto object = optional_number(m_xml, element, "object"))
            place.object = item_at(m_xml, m_objects, *object, "object");
        place.offset = optional_number(m_xml, element, "offset");
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "Function")
                place.functions.push_back(
                    {text_of(child, "name"), text_of(child, "file"), optional_number(m_xml, child, "line")});
            m_xml.skip();
        });
        m_places.push_back(std::make_shared<CodePlace>(std::move(place)));
    }

    void read_site(const Element& element)
    {
        check_id(m_xml, element, m_project.call_sites.size());
        CallSite site;
        const std::string places = text_of(element, "places");
        for (std::string_view rest = places; !rest.empty();)
            site.places.push_back(item_at(m_xml, m_places, take_number(m_xml, rest, ";"), "place"));
        if (site.places.empty())
            m_xml.fail("a call site has at least one place");
        m_project.call_sites.push_back(std::move(site));
    }

    void read_ids(const Element& element)
    {
        SiteIds ids;
        std::int64_t last = -1;
        const std::string map = text_of(element, "map");
        for (std::string_view rest = map; !rest.empty();) {
            const auto [id, last_id] = take_range(m_xml, rest, "=");
            const auto [site, last_site] = take_range(m_xml, rest, ";");
            item_at(m_xml, m_project.call_sites, last_site, "call site");
            if (id <= last || last_id < id || last_id - id != last_site - site)
                m_xml.fail("the ranges in map='" + map.substr(0, 60) + "' do not fit");
            ids.runs.push_back({id, site, last_id - id + 1});
            last = last_id;
        }
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "Ranks")
                ids.ranks.push_back({number(m_xml, child, "first"), number(m_xml, child, "last")});
            m_xml.skip();
        });
        m_project.site_ids.push_back(std::move(ids));
    }

    XmlReader& m_xml;
    Project& m_project;
    std::vector<std::shared_ptr<const ObjectFile>> m_objects;
    std::vector<std::shared_ptr<const CodePlace>> m_places;
};

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
        CallSiteReader(xml, project).read();
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

std::string trace_path(const std::filesystem::path& prefix, const std::vector<std::string>& labels)
{
    std::string path = prefix.string();
    for (const std::string& label : labels)
        path += "_" + label;
    return path + ".trc";
}

} // namespace

std::vector<std::string> Project::trace_paths() const
{
    namespace fs = std::filesystem;
    std::vector<std::string> paths;
    if (leaves.empty())
        return paths;
    const fs::path folder = fs::path(path).parent_path();
    const fs::path after_file = folder / fs::path(path).stem();
    const fs::path after_program = folder / as_in_file_names(name);
    const auto is_there = [&](const fs::path& prefix) {
        std::error_code ignored;
        return fs::exists(detail::existing_name(trace_path(prefix, leaves.front())), ignored);
    };
    const fs::path& prefix = !is_there(after_file) && is_there(after_program) ? after_program : after_file;
    for (const auto& labels : leaves)
        paths.push_back(trace_path(prefix, labels));
    return paths;
}

Project read_project(const std::string& path)
{
    detail::File file(path);
    XmlReader xml(path, file);
    xml.next();
    const Element root = read_element(xml);
    if (root.name != "Application")
        xml.fail("this is no project: its root is <" + root.name + ">, not <Application>");
    Project project;
    project.path = path;
    project.name = text_of(root, "name");
    const auto process_count = optional_number(xml, root, "processCount");
    for_each_child(xml, [&](const Element& section) { read_section(xml, section, project); });
    xml.next();
    project.process_count = process_count.value_or(size_of_world(project));
    return project;
}

} // namespace hdtrace
