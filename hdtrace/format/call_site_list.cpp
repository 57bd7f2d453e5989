#include "hdtrace/format/call_site_list.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hdtrace/format/proj_xml.h"

namespace hdtrace::detail {
namespace {

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

constexpr std::int64_t most_bytes = std::int64_t{1} << 60; // of memory

class CallSiteReader {
  public:
    CallSiteReader(XmlReader& xml, Project& project) : m_xml(xml), m_project(project) {}

    void read()
    {
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "Object")
                return read_object(child);
            if (child.name == "Place")
                return read_place(child);
            if (child.name == "Sites")
                return read_ids(child);
            if (child.name == "CallSite")
                read_site(child);
            m_xml.skip();
        });
    }

  private:
    void read_object(const Element& element)
    {
        check_id(m_xml, element, m_objects.size());
        ObjectFile object{element.text("path"), element.text("buildId"), {}};
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "Variable")
                object.variables.push_back(variable(child));
            m_xml.skip();
        });
        std::ranges::sort(object.variables, {}, &Variable::place);
        m_objects.push_back(std::make_shared<ObjectFile>(std::move(object)));
    }

    Variable variable(const Element& element) const
    {
        Variable variable{.name = element.text("name"),
                          .place = bytes(number(m_xml, element, "at"), most_bytes),
                          .size = bytes(number(m_xml, element, "size"), most_bytes),
                          .type = element.text("type"),
                          .values = members(element.text("members")),
                          .stride = bytes(optional_number(m_xml, element, "each").value_or(0), most_bytes),
                          .is_pointer = element.text("pointer") == "1"};
        const std::string kind = element.text("of");
        if (kind.empty() || variable.stride <= 0)
            return variable;
        const std::int64_t count = variable.is_pointer ? 1 : variable.size / variable.stride;
        variable.values = {{kind, variable.stride, 0, count}};
        variable.stride *= count;
        return variable;
    }

    /// "integer:4:0:1;character:1:4:1;"
    std::vector<ValueRun> members(const std::string& list) const
    {
        constexpr std::int64_t most = 1 << 28; // the product of two is less than most_bytes
        std::vector<ValueRun> runs;
        for (std::string_view rest = list; !rest.empty();) {
            ValueRun run;
            run.kind = rest.substr(0, rest.find(':'));
            rest.remove_prefix(std::min(rest.size(), run.kind.size() + 1));
            run.size = bytes(take_number(m_xml, rest, ":"), most);
            run.place = bytes(take_number(m_xml, rest, ":"), most);
            run.count = bytes(take_number(m_xml, rest, ";"), most);
            if (run.size <= 0 || run.place < 0 || run.count <= 0)
                m_xml.fail("there is no such member as in members='" + list.substr(0, 60) + "'");
            runs.push_back(std::move(run));
        }
        return runs;
    }

    /// So that sums of a few can be computed.
    std::int64_t bytes(std::int64_t count, std::int64_t most) const
    {
        if (count < -most || count > most)
            m_xml.fail("variables have no place or size such as " + std::to_string(count));
        return count;
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
                    {child.text("name"), child.text("file"), optional_number(m_xml, child, "line")});
            else if (child.name == "Variable")
                place.variables.push_back(variable(child));
            m_xml.skip();
        });
        std::ranges::sort(place.variables, {}, &Variable::place);
        m_places.push_back(std::make_shared<CodePlace>(std::move(place)));
    }

    void read_site(const Element& element)
    {
        check_id(m_xml, element, m_project.call_sites.size());
        CallSite site;
        const std::string places = element.text("places");
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
        const std::string map = element.text("map");
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

} // namespace

void read_call_sites(XmlReader& xml, Project& project)
{
    CallSiteReader(xml, project).read();
}

} // namespace hdtrace::detail
