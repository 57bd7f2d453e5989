#include "hdtrace/analysis/indexed_counter.h"

#include <algorithm>
#include <utility>

namespace hdtrace {
namespace {

void check_paths(const Counting& counting, const CallIndex& index, const ProcessTraces& process)
{
    const bool are_wanted = std::ranges::find(counting.wanted, Grouping::region) != counting.wanted.end();
    if (are_wanted && !index_form::has_exact_paths(index.contents()))
        throw IndexError(index_form::path_of(process) +
                         ": this index is of a version that cannot tell some regions from others");
}

} // namespace

IndexedCounter::IndexedCounter(const Counting& counting, const ProcessTraces& process)
    : m_counting(counting), m_process(process)
{
    try {
        if (CallIndex::is_there(m_process)) {
            CallIndex index(m_counting.project->project, m_process);
            check_paths(m_counting, index, m_process);
            m_is_indexed = may_tell(index.contents());
            if (m_is_indexed)
                m_counter = std::make_unique<CallCounter>(m_counting, m_process, std::move(index));
        }
    } catch (const IndexError& error) {
        m_unused_index = error.what();
    }
    if (!m_counter)
        count_traces();
}

void IndexedCounter::count_traces()
{
    m_is_indexed = false;
    m_counter = std::make_unique<CallCounter>(m_counting, m_process);
}

// What is before an interval is not read where the project says that it does not matter.
bool IndexedCounter::may_tell(const index_form::Contents& index) const
{
    const bool knows_before = m_counting.read.interval.begin == TimeInterval().begin;
    return (knows_before || !(index.has_regions || index.has_prepared)) &&
           !(m_counting.with_counters && index.has_counters);
}

std::size_t IndexedCounter::read(std::size_t states)
{
    try {
        return m_counter->read(states);
    } catch (const IndexError& error) {
        m_unused_index = error.what();
    }
    count_traces();
    return m_counter->read(states);
}

} // namespace hdtrace
