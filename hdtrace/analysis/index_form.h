// index_form.h - how the index of a process is written (docs/format.md): for what writes and reads it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/call_sums.h"
#include "hdtrace/format/state.h"
#include "hdtrace/format/sums.h"

namespace hdtrace::index_form {

/// Nodes have so many nodes below them.
constexpr std::int64_t fan_out = 8;
constexpr std::string_view beginning =
    "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1'>\n";
/// Before version 2 slashes of names looked like those between regions.
constexpr std::int64_t newest_version = 2;

/// Where in the order of a process's states something stands.
struct Position {
    std::int64_t time = std::numeric_limits<std::int64_t>::min(); ///< as StatePlace has it
    std::int64_t state = 0;                                       ///< of the top level
};

/// What a node or a snapshot says, in its order.
struct Item {
    enum class Kind : std::uint8_t {
        sums,   ///< over calls of states that ended in the node and left nothing behind
        kept,   ///< a state that does not, as it stands in the trace
        closed, ///< the end of what a state before had begun: what is known of a call that completes it
        inside, ///< how much time is inside the regions of a thread that are open: at the end of a node
        last    ///< of a snapshot: the last call of a thread that had ended, and when
    };

    Kind kind = Kind::sums;
    Position position;
    std::size_t trace = 0; ///< of the process
    SummedCalls sums;
    State state;                      ///< that is kept, or closes
    std::vector<std::int64_t> inside; ///< of the thread, before a state that is kept
    std::string name = {};            ///< of the last call; empty before the first one
};

struct Node {
    std::int64_t level = 0;
    std::int64_t first = 0, last = 0; ///< the leaves it is about
    Position begin;                   ///< of its first state
    /// When the next node begins; the largest number behind the last one.
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset = 0, size = 0; ///< of its lines in the text of the file
    std::uint64_t checksum = 0;
};

/// What one process had in flight at a moment (Snapshot): its kept states, of which the position is that
/// among those of all processes, and its last calls.
struct SnapshotPart {
    std::int64_t moment = 0;
    std::int64_t offset = 0, size = 0; ///< of its lines in the text of the file
    std::uint64_t checksum = 0;
};
struct SnapshotText {
    std::int64_t moment = 0;
    std::string lines;
};

/// A file as it was.
struct FileState {
    std::string ending; ///< behind the trace's name, such as `.trc.zst`; of the project nothing
    std::int64_t size = 0;
    std::int64_t modified = 0; ///< in nanoseconds
};

/// The region, and where it began first.
struct SeenRegion {
    std::string path;
    Position position;
};

struct Contents {
    std::int64_t version = newest_version;
    bool has_regions = false, has_prepared = false, has_counters = false;
    std::int64_t calls = 0;
    FileState project;
    std::vector<std::vector<FileState>> traces;
    std::vector<SeenRegion> regions;
    std::vector<Node> nodes;
    std::vector<SnapshotPart> snapshots; ///< in the order of time
};

/// Whether paths of regions are what they are in traces.
bool has_exact_paths(const Contents& contents);

std::uint64_t checksum_of(std::string_view text);

std::string line_of(const Item& item);
/// Throws std::invalid_argument.
Item item_of(State&& line, std::size_t traces);

std::string text_of(const Contents& contents, std::int64_t offset);
/// Adds what a line says. Throws std::invalid_argument.
void add_line(Contents& contents, const State& line);

/// The files of a trace as they are now, with all segments. Throws OpenError.
std::vector<FileState> files_of_trace(const std::string& trace);
FileState state_of_file(const std::string& path, std::string ending = {});
bool is_same(const FileState& one, const FileState& other);

/// Where the index of a process is.
std::string path_of(const ProcessTraces& process);

} // namespace hdtrace::index_form
