#include "merger/export/piosimhd/statistics.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/proj_xml.h"

namespace hdtrace::exporter::piosimhd {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t length_digits = 5;
constexpr std::size_t most_groups = 100;

bool is_xml_name(const std::string& name)
{
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_kept = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_kept);
}

/// Their readers know these only.
bool is_readable_type(std::string& type)
{
    std::ranges::transform(type, type.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return type == "INT32" || type == "INT64" || type == "FLOAT" || type == "DOUBLE" || type == "STRING";
}

/// The header: five digits with its length, a line end, and XML. Empty if it is none.
std::string header_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string digits(length_digits + 1, '\0');
    if (!file.read(digits.data(), static_cast<std::streamsize>(digits.size())) || digits.back() != '\n' ||
        digits.find_first_not_of("0123456789") != length_digits)
        return {};
    std::string header(std::stoul(digits), '\0');
    return file.read(header.data(), static_cast<std::streamsize>(header.size())) ? header : std::string();
}

void read_values(detail::XmlReader& xml, StatisticsGroup& group)
{
    detail::for_each_child(xml, [&](const Element& child) { // earlier ones have the value's name as tag
        group.values.push_back({child.name == "Value" ? child.text("name") : child.name,
                                std::string(child.attributes.value("type").value_or("")),
                                child.text("unit")});
        xml.skip();
    });
}

/// Nothing if the readers would not load it.
std::optional<StatisticsGroup> read_group(const std::string& path, const std::string& name)
{
    const std::string header = header_of(path);
    if (header.empty() || !is_xml_name(name))
        return {};
    std::optional<StatisticsGroup> group;
    try {
        detail::TextSource source(header);
        detail::XmlReader xml(path, source);
        xml.next();
        detail::for_each_child(xml, [&](const Element& child) {
            const bool is_group = child.name == "Group" ? child.text("name") == name : child.name == name;
            if (!is_group)
                return xml.skip();
            group = StatisticsGroup{name, {}};
            read_values(xml, *group);
        });
    } catch (const ReadError&) {
        return {};
    }
    if (!group || group->values.empty()) // the older reader stops at a group without any
        return {};
    for (StatisticsValue& value : group->values) {
        if (!is_xml_name(value.name) || !is_readable_type(value.type))
            return {};
    }
    return group;
}

/// What names of such files begin with, and what they begin with in the output.
using Beginnings = std::map<std::string, std::string>;

/// At each place of the topology. Without the levels below it.
Beginnings beginnings_of(const Leaf& leaf, const std::string& base)
{
    const std::string stem = fs::path(leaf.trace.path).stem().string();
    std::string tail;
    for (const std::string& label : leaf.trace.labels)
        tail += "_" + label;
    if (!stem.ends_with(tail))
        return {};
    std::string from = stem.substr(0, stem.size() - tail.size()) + "_", to = base + "_";
    Beginnings beginnings = {{from, to}};
    const std::string names[] = {leaf.host, std::to_string(leaf.trace.rank),
                                 std::to_string(leaf.trace.thread)};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        from += leaf.trace.labels[i] + "_";
        to += names[i] + "_";
        beginnings[from] = to;
    }
    return beginnings;
}

class Finder {
  public:
    explicit Finder(const Contents& contents) : m_contents(contents) {}

    Statistics find()
    {
        std::map<std::string, Beginnings> by_directory;
        for (const Leaf& leaf : m_contents.leaves()) {
            if (leaf.exists)
                by_directory[fs::path(leaf.trace.path).parent_path().string()].merge(
                    beginnings_of(leaf, m_contents.base()));
        }
        for (const auto& [directory, beginnings] : by_directory)
            look_in(directory.empty() ? "." : directory, beginnings);
        return std::move(m_found);
    }

  private:
    void look_in(const std::string& directory, const Beginnings& beginnings)
    {
        std::error_code error;
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
            if (entry.path().extension() == ".stat" && entry.is_regular_file(error))
                names.push_back(entry.path().filename().string());
        }
        std::ranges::sort(names);
        for (const std::string& name : names)
            add(fs::path(directory) / name, fs::path(name).stem().string(), beginnings);
    }

    /// Names of groups have no '_', so the beginning ends at the last one.
    void add(const fs::path& path, const std::string& stem, const Beginnings& beginnings)
    {
        const std::size_t behind = stem.rfind('_') + 1;
        const auto beginning = beginnings.find(stem.substr(0, behind));
        if (beginning == beginnings.end())
            return;
        const std::string name = stem.substr(behind);
        const bool is_known =
            std::ranges::find(m_found.groups, name, &StatisticsGroup::name) != m_found.groups.end();
        auto group = read_group(path.string(), name);
        if (!group || (!is_known && m_found.groups.size() == most_groups)) {
            m_found.left_out.push_back(path.string());
            return;
        }
        if (!is_known)
            m_found.groups.push_back(std::move(*group));
        m_found.files.push_back({path.string(), beginning->second + name + ".stat"});
    }

    const Contents& m_contents;
    Statistics m_found;
};

} // namespace

Statistics find_statistics(const Contents& contents)
{
    return Finder(contents).find();
}

} // namespace hdtrace::exporter::piosimhd
