// call_checks.h - what calls show without those of other processes.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "hdtrace/checking/access_check.h"
#include "hdtrace/checking/argument_check.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/object_check.h"
#include "hdtrace/checking/references.h"
#include "hdtrace/checking/thread_check.h"
#include "hdtrace/checking/variable_check.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Looks at states in the thread that reads them, ahead of the other checks, which is why what it finds waits
/// until they come to the same state.
class CallChecks {
  public:
    /// What a state of the top level showed.
    struct Found {
        std::vector<Finding> findings;
        std::vector<WrongEnd> ends;
    };

    /// @p project must outlive it.
    explicit CallChecks(const OpenedProject& project) : m_findings(project), m_references(project.objects) {}

    /// The next state. Whether take() is to be called when the other checks come to it.
    bool check(const TraceFile& trace, const State& state);
    /// Any thread may call it.
    Found take();
    /// What only the end shows, once all states were looked at.
    std::vector<Finding> finish();

  private:
    Findings m_findings;
    ReferenceCheck m_references;
    ArgumentCheck m_arguments{m_findings};
    ObjectCheck m_objects{m_findings};
    ThreadCheck m_threads{m_findings};
    AccessCheck m_accesses{m_findings};
    VariableCheck m_variables{m_findings};
    EventWalk m_walk{{&m_arguments, &m_objects, &m_threads, &m_accesses, &m_variables},
                     EventWalk::Follow::calls};
    std::mutex m_mutex;
    std::deque<Found> m_found; ///< as it was found
};

} // namespace hdtrace
