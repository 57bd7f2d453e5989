// What a project for the original tools has, with the names and numbers that they need.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/format/traces.h"
#include "merger/export/piosimhd/names.h"

namespace hdtrace::exporter::piosimhd {

/// One trace of the output.
struct Leaf {
    TraceFile trace;
    bool exists = false;
    std::string host; ///< as in names of files
};

class Contents {
  public:
    /// @p project must outlive this. Throws ConvertError for what they cannot load at all.
    explicit Contents(const Project& project);

    const Project& project() const { return m_project; }
    /// What names of files begin with.
    const std::string& base() const { return m_base; }
    /// At least one for each process, in their order.
    const std::vector<Leaf>& leaves() const { return m_leaves; }
    std::vector<TraceFile> existing_traces() const;
    /// "app_node01_0_0.trc"
    std::string file_name(const Leaf& leaf) const;

    /// Unique.
    const std::string& name_of(const ProjectFile& file) const;
    /// Processes without a trace, and those whose trace is missing.
    std::int64_t missing_traces() const;

  private:
    void add_leaves();
    void name_files();

    const Project& m_project;
    std::string m_base;
    FindableNames m_hosts;
    std::vector<Leaf> m_leaves;
    std::map<const ProjectFile*, std::string> m_files;
};

} // namespace hdtrace::exporter::piosimhd
