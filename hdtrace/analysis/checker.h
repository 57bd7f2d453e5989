/* checker.h - looks for what does not fit together in a project and its traces. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hdtrace/analysis/collectives.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/reader/merged_traces.h"
#include "hdtrace/reader/messages.h"

namespace hdtrace {

struct Finding {
    std::string kind; ///< "reference", "message", "request", "collective", "unfinished", "cut-off"
    std::string file;
    std::int64_t line = 0; ///< 0 is unknown
    std::string text;
};

/** Reads all traces of a project once, in the order of time. Memory grows with the messages, requests and
 * collective operations in flight. */
class Checker {
  public:
    /** Throws OpenError, ReadError. */
    explicit Checker(std::shared_ptr<const OpenedProject> project);

    /** What so many calls show; at the end also what was never answered. Throws ReadError. */
    std::vector<Finding> read(std::size_t calls);
    bool at_end() const { return m_at_end; }

  private:
    void check(const TraceFile& trace, const State& call);
    void check_references(const TraceFile& trace, const State& call, const Element& element);
    void check_message(const Message& message);
    void check_collective(const Collective& collective);
    void finish();
    void report(std::string kind, std::int64_t rank, std::int64_t thread, std::int64_t line,
                std::string text);

    std::shared_ptr<const OpenedProject> m_project;
    MergedTraces m_calls;
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    std::vector<Finding> m_findings;
    std::set<std::tuple<std::int64_t, std::string, std::int64_t>> m_unknown; ///< rank, kind, id: told once
    std::set<const Communicator*> m_out_of_order; ///< what follows there says nothing
    bool m_at_end = false;
};

} // namespace hdtrace
