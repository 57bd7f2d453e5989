#include "hdtrace/analysis/sums_counter.h"

#include <algorithm>
#include <utility>

namespace hdtrace {

SumsCounter::SumsCounter(const Counting& counting, const TraceFile& trace)
    : m_sums(counting.tables), m_rows(counting, m_sums, false)
{
    Sums sums = read_sums(trace);
    m_missing = std::move(sums.missing);
    std::ranges::stable_sort(sums.rows, {}, [](const SummedCalls& row) { return row.call.time; });
    StatePlace place = {.rank = trace.rank};
    for (const SummedCalls& row : sums.rows) {
        place.time = row.call.time;
        ++place.state;
        m_rows.count(trace, row, place);
    }
}

} // namespace hdtrace
