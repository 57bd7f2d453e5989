// match_reader.h - what belongs together in the traces of a project, found step by step.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Hands out what @p Matcher finds in the calls of a project: each @p Found once it is complete, and at the
/// end those that lack something. For one thread at a time.
template <class Found, class Matcher> class MatchReader {
  public:
    /// Throws OpenError, ReadError.
    explicit MatchReader(std::shared_ptr<const OpenedProject> project)
        : m_project(std::move(project)), m_calls(m_project->traces),
          m_matcher(m_project->objects, [this](const Found& found) { m_found.push_back(found); })
    {
    }
    MatchReader(const MatchReader&) = delete;
    MatchReader& operator=(const MatchReader&) = delete;

    /// What so many calls tell. Throws ReadError.
    std::vector<Found> read(std::size_t calls)
    {
        for (; calls > 0 && !m_at_end; --calls) {
            if (const State* call = m_calls.next()) {
                m_walk.add(m_calls.trace(), *call);
            } else {
                m_matcher.finish();
                m_at_end = true;
            }
        }
        return std::exchange(m_found, {});
    }

    bool at_end() const { return m_at_end; }
    std::vector<MissingEnd> missing() const { return m_calls.missing(); }
    const OpenedProject& project() const { return *m_project; }
    const std::shared_ptr<const OpenedProject>& shared_project() const { return m_project; }

  private:
    std::shared_ptr<const OpenedProject> m_project;
    MergedTraces m_calls;
    std::vector<Found> m_found;
    Matcher m_matcher;
    EventWalk m_walk{&m_matcher};
    bool m_at_end = false;
};

/// In the order in which their second ends are known.
using MessageReader = MatchReader<Message, MessageMatcher>;
/// In the order in which the last member called.
using CollectiveReader = MatchReader<Collective, CollectiveMatcher>;

} // namespace hdtrace
