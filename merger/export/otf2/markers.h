// What the program marked, as markers of OTF2.
#pragma once

#include <map>
#include <string>

#include <otf2/otf2.h>

#include "hdtrace/format/traces.h"
#include "merger/export/otf2/definitions.h"

namespace hdtrace::exporter::otf2 {

/// They stand beside the events, in a file that is there if there is a mark.
class Markers {
  public:
    /// Both must outlive this.
    Markers(OTF2_Archive* archive, const Definitions& definitions)
        : m_archive(archive), m_definitions(definitions)
    {
    }

    void write(const State& event, OTF2_LocationRef location);
    /// Before the archive is closed.
    void close();

  private:
    OTF2_MarkerRef defined(const std::string& name);

    OTF2_Archive* m_archive;
    const Definitions& m_definitions;
    OTF2_MarkerWriter* m_writer = nullptr;
    std::map<std::string, OTF2_MarkerRef> m_refs; ///< by the name of the mark
};

} // namespace hdtrace::exporter::otf2
