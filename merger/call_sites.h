// Where the program called MPI, unified by object files and offsets.
#pragma once

#include "merger/process_info.h"
#include "merger/report.h"
#include "merger/source_places.h"
#include "merger/source_variables.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// Those with equal build ids are the same; without one, those with the same path.
struct MergedObjectFile {
    Place place;                ///< where it was described first
    std::string path;           ///< as it was called there
    std::string build_id;       ///< empty if it has none
    std::int64_t used_from = 0; ///< when the process started, in nanoseconds since the epoch; 0 is unknown
    SourceVariables variables = {}; ///< that last as long as the program
};

/// Consecutive ids of a process that are consecutive sites of the project.
struct SiteRun {
    std::int64_t id;
    std::int64_t site;
    std::int64_t count;

    auto operator<=>(const SiteRun&) const = default;
};

/// What processes call the sites.
struct SiteIds {
    struct Ranks {
        std::int64_t first;
        std::int64_t last;
    };

    std::vector<SiteRun> runs; ///< in the order of the ids
    std::vector<Ranks> ranks;  ///< which number the sites so
};

/// Numbers are positions in the lists before.
struct MergedCallSites {
    std::vector<MergedObjectFile> object_files;
    std::vector<SiteFrame> frames;
    std::vector<std::vector<std::int64_t>> sites; ///< their frames, the innermost first
    std::vector<SiteIds> ids;
    std::vector<SourcePlaces> places;       ///< of the frames; empty where they are not known
    bool wants_variables = false;           ///< a process was recorded to be checked
    std::vector<SourceVariables> variables; ///< of the frames; empty where they are not known, or not wanted
};

/// Programs call MPI from the same places in all processes, and many processes number them alike: each place
/// and each numbering is kept once.
class CallSiteUnifier {
  public:
    /// Processes are added in the order of their ranks.
    void add(std::int64_t rank, const ProcessInfo& info);
    MergedCallSites take();

  private:
    using Positions = std::map<std::int64_t, std::int64_t>; ///< by id
    using Numbers = std::vector<std::int64_t>;
    struct Hash {
        std::size_t operator()(const SiteFrame& frame) const;
        std::size_t operator()(const Numbers& numbers) const;
    };
    /// Different ones, with their numbers.
    template <class Key> using Index = std::unordered_map<Key, std::int64_t, Hash>;

    Positions add_object_files(const ProcessInfo& info);
    Positions add_source_lines(const ProcessInfo& info);
    std::int64_t add_site(const CallSiteRecord& record, const Positions& object_files,
                          const Positions& source_lines);
    void add_ids(std::int64_t rank, const std::vector<SiteRun>& runs);

    std::vector<MergedObjectFile> m_object_files;
    std::unordered_map<std::string, std::int64_t> m_object_file_positions; ///< of build ids and paths
    std::map<SourcePlace, std::int64_t> m_source_lines;                    ///< with their numbers
    Index<SiteFrame> m_frames;
    Index<Numbers> m_sites;
    std::map<std::vector<SiteRun>, std::size_t> m_numberings; ///< with their positions in m_ids
    std::vector<SiteIds> m_ids;
    bool m_wants_variables = false;
};

/// Finds the places of all frames in the object files as they are on this machine, and the variables, if they
/// are wanted. Warns about files that changed or are missing.
void add_source_places(MergedCallSites& call_sites, const std::string& debug_directory, Report& report);

} // namespace hdtrace::merger
