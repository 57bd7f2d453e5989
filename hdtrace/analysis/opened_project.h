// opened_project.h - a project with what all analyses need of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// A name for each object that no other object of its list has: its own name, with `#` and its position
/// behind it where others are called so.
std::vector<std::string> unique_labels(const std::vector<std::string>& names);

/// Does not change and does not move, since its tables point into it. Any number of threads may use it.
struct OpenedProject {
    explicit OpenedProject(Project opened);
    OpenedProject(const OpenedProject&) = delete;
    OpenedProject& operator=(const OpenedProject&) = delete;

    /// Of which the files are there now. Throws ReadError if there are only sums over the calls of one.
    std::vector<TraceFile> existing_traces() const;
    /// Of which there are traces, of which there are only sums (format/sums.h), and the others.
    std::vector<TraceFile> traces_with_calls() const;
    std::vector<TraceFile> traces_with_sums() const;
    std::vector<TraceFile> missing_traces() const;
    /// Processes of which no trace is there.
    std::set<std::int64_t> ranks_without_traces() const;
    /// And those that were killed before anything was written to theirs.
    std::set<std::int64_t> ranks_without_calls() const;
    /// Processes of which several threads have traces.
    std::set<std::int64_t> ranks_with_threads() const;
    /// Where a trace is, for messages; the project itself if it has no such trace.
    const std::string& path_of(std::int64_t rank, std::int64_t thread) const;
    const std::string& label_of(const Communicator& communicator) const;

    const Project project;
    const ObjectTable objects;
    const std::vector<TraceFile> traces;
    const std::vector<std::string> communicator_labels; ///< in the order of the project
    const std::vector<std::string> file_labels;
    const std::vector<std::string> window_labels;

  private:
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> m_paths;
};

/// What decides which traces are read and when; names and classes select all. For tables, in which each state
/// at any depth is selected by itself.
Selection without_names(Selection selection);

/// What has to be read to know what the selected calls received: any thread may complete what they started.
Selection with_completions(Selection selection);

/// What has to be read to know the regions that the selected calls are in: where the project tells that it
/// has regions, also what was before the interval, and events.
Selection with_regions(const Project& project, Selection selection);

/// Whether all of a run is in it.
bool is_all(TimeInterval interval);

/// What of an interval is in that of a project that was made of a part of another one, which has some calls
/// of the time around it, too.
TimeInterval inside_part(const Project& project, TimeInterval interval);

/// What has to be read to know what the selected calls start: also what was before the interval, unless all
/// processes tell that they prepared nothing, such as with `Send_init`.
Selection with_prepared(const Project& project, Selection selection);

/// Where an object stands in its list.
template <class Object> std::int32_t position_in(const std::vector<Object>& list, const Object& object)
{
    return static_cast<std::int32_t>(&object - list.data());
}

} // namespace hdtrace
