#include "merger/export/otf2/markers.h"

#include <utility>

#include "merger/export/format.h"

namespace hdtrace::exporter::otf2 {
namespace {

/// The group of a mark, empty if it has none, and its name in it.
std::pair<std::string, std::string> parts_of(const std::string& name, const Element* fact)
{
    const std::string group = fact ? fact->text("class") : std::string();
    if (group.empty() || !name.starts_with(group + ":"))
        return {"", name};
    return {group, name.substr(group.size() + 1)};
}

} // namespace

OTF2_MarkerRef Markers::defined(const std::string& name)
{
    const auto [place, is_new] = m_refs.try_emplace(name, static_cast<OTF2_MarkerRef>(m_refs.size()));
    if (is_new) {
        const auto [group, category] = parts_of(name, m_definitions.region_fact(name));
        check(OTF2_MarkerWriter_WriteDefMarker(m_writer, place->second, group.c_str(), category.c_str(),
                                               OTF2_SEVERITY_NONE));
    }
    return place->second;
}

void Markers::write(const State& event, OTF2_LocationRef location)
{
    if (m_writer == nullptr)
        m_writer = OTF2_Archive_GetMarkerWriter(m_archive);
    if (m_writer == nullptr)
        throw ConvertError("the library of OTF2 cannot write markers");
    const OTF2_MarkerRef ref = defined(event.text("name"));
    check(OTF2_MarkerWriter_WriteMarker(m_writer, static_cast<OTF2_TimeStamp>(event.time), 0, ref,
                                        OTF2_MARKER_SCOPE_LOCATION, location, event.text("text").c_str()));
}

void Markers::close()
{
    if (m_writer != nullptr)
        check(OTF2_Archive_CloseMarkerWriter(m_archive, std::exchange(m_writer, nullptr)));
}

} // namespace hdtrace::exporter::otf2
