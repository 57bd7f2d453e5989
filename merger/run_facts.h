// What the processes tell of the run itself: who ran what, with which settings, and what became of it.
#pragma once

#include "hdtrace/format/info.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// A value of a fact: a key of the line in the .info, and an attribute in the project.
struct FactKey {
    std::string_view name;
    bool is_number = false;
    bool is_required = true;
};

/// A kind of lines, and the element that they become.
struct FactKind {
    std::string_view name;
    std::vector<FactKey> keys;
};

const std::vector<FactKind>& fact_kinds();

/// Something that may hold for several processes.
struct RunFact {
    std::size_t kind = 0;                           ///< position in fact_kinds()
    std::vector<std::optional<std::string>> values; ///< of its keys

    auto operator<=>(const RunFact&) const = default;
};

/// The processor time that a process had used at a moment, and how long its main thread had waited for a
/// processor, if that is known. All in nanoseconds.
struct CpuTime {
    std::int64_t time = 0; ///< of the moment, as in the trace
    std::int64_t user = 0;
    std::int64_t system = 0;
    std::optional<std::int64_t> waited;
};

/// A signal that ended the process, as it seemed when it came.
struct FatalSignal {
    std::string name;
    std::int64_t time = 0;              ///< nanoseconds, as in the trace
    std::optional<std::int64_t> thread; ///< that it came to, if that has a trace
};

/// A thread of the program; others may have had its number before, and have it after.
struct ThreadLife {
    std::int64_t number = 0;
    std::int64_t tid = 0;   ///< of the system
    std::int64_t begin = 0; ///< nanoseconds, as in the trace
    std::optional<std::int64_t> end;
    std::optional<std::string> name;
};

/// What one process tells.
struct ProcessRun {
    std::int64_t checksum = 0; ///< of its .info files
    std::optional<std::int64_t> pid;
    std::int64_t began = 0; ///< the second that its times count from
    std::vector<RunFact> facts;
    std::vector<CpuTime> cpu_times;
    std::vector<FatalSignal> signals;
    std::vector<ThreadLife> threads;

    /// Whether it was recorded to be checked only.
    bool is_for_check() const;
};

/// Reads the lines of one file.
class RunLoader {
  public:
    explicit RunLoader(ProcessRun& run) : m_run(run) {}

    /// Takes what the line tells of the run; false if its kind is none of those that do. Throws ReadError.
    bool load(const InfoLine& line);
    /// The process still writes the file.
    void note_running();
    /// The process did not write how it ended.
    void note_sudden_end();
    /// The file is in a node file, which is so large.
    void note_node_file(std::int64_t size);
    /// So many states of a thread are not in its trace.
    void note_lost(std::int64_t states);
    /// So many lines are not in its files.
    void note_lost_lines(std::int64_t lines);

  private:
    void load_process(const InfoLine& line);
    void load_cpu_time(const InfoLine& line);
    void load_signal(const InfoLine& line);
    void load_thread(const InfoLine& line);

    ProcessRun& m_run;
    /// Positions of threads that have not ended, by their number and that of the system.
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> m_living;
};

struct RankRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

struct MergedRun {
    struct Fact {
        RunFact fact;
        std::vector<RankRange> ranks;
    };
    struct Process {
        std::int64_t rank = 0;
        ProcessRun run; ///< without the facts
    };

    std::int64_t checksum = 0; ///< of all .info files
    std::vector<Fact> facts;   ///< by kind and values
    std::vector<Process> processes;

    bool empty() const { return facts.empty() && processes.empty(); }
};

/// Processes are added in the order of their ranks.
class RunUnifier {
  public:
    void add(std::int64_t rank, ProcessRun run);
    MergedRun take();

  private:
    std::int64_t m_checksum = 0;
    std::map<RunFact, std::vector<RankRange>> m_facts;
    std::vector<MergedRun::Process> m_processes;
};

} // namespace hdtrace::merger
