// run.h - what a project tells of the run itself: who ran what, with which settings, and what became of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/element.h"

namespace hdtrace {

/// Something that holds for some processes: `Command`, `Setting`, `Variable`, ... (docs/format.md).
struct RunFact {
    struct Ranks {
        std::int64_t first = 0;
        std::int64_t last = 0;
    };

    Element fact;
    std::vector<Ranks> ranks; ///< ascending

    bool holds_for(std::int64_t rank) const
    {
        return std::ranges::any_of(
            ranks, [rank](const Ranks& range) { return range.first <= rank && rank <= range.last; });
    }
};

/// The processor time that a process had used at a moment, and how long its main thread had waited for a
/// processor, if that is known. In nanoseconds.
struct CpuTime {
    std::int64_t time = 0; ///< since the epoch
    std::int64_t user = 0;
    std::int64_t system = 0;
    std::optional<std::int64_t> waited;
};

/// A signal that ended the process, as it seemed when it came: a handler of the program may have gone on.
struct FatalSignal {
    std::string name;                   ///< `SIGSEGV`
    std::int64_t time = 0;              ///< since the epoch, in nanoseconds
    std::optional<std::int64_t> thread; ///< that it came to, if that has a trace
};

/// A thread of the program. Others may have had its number, and so its trace, before it or after it.
struct RunThread {
    std::int64_t number = 0;
    std::int64_t tid = 0;   ///< of the system
    std::int64_t begin = 0; ///< of its first call, in nanoseconds since the epoch
    std::optional<std::int64_t> end;
    std::string name; ///< when it ended; empty if it is not known
};

struct RunProcess {
    std::int64_t rank = 0;
    std::int64_t pid = 0;
    std::int64_t began = 0;         ///< the time that those in its traces count from
    std::vector<CpuTime> cpu_times; ///< when MPI began, and at its end or the process's
    std::vector<FatalSignal> signals;
    std::vector<RunThread> threads;
};

struct Run {
    /// Of the .info files that the project was made of (InfoReader::checksum(), joined_checksums()); nothing
    /// if it does not tell.
    std::optional<std::int64_t> checksum;
    std::vector<RunFact> facts; ///< each kind together
    std::vector<RunProcess> processes;
};

/// Whether any of the processes tells something of that kind.
bool is_told(const Run& run, std::string_view kind);
/// Whether each of them does.
bool is_told_by_all(const Run& run, std::string_view kind, std::uint64_t process_count);

/// What a run tells of one kind of things that have names, such as counters; where processes differ, what
/// comes first.
class FactsByName {
  public:
    /// @p run must outlive this.
    FactsByName(const Run& run, std::string_view kind);

    /// Null if it tells nothing.
    const Element* find(std::string_view name) const;

  private:
    std::map<std::string, const Element*, std::less<>> m_facts;
};

} // namespace hdtrace
