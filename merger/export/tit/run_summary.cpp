#include "merger/export/tit/run_summary.h"

namespace hdtrace::exporter {

void RunSummary::add(std::size_t rank, ProcessSummary process)
{
    const std::lock_guard lock(m_mutex);
    m_early.emplace(rank, std::move(process));
    while (const auto next = m_early.extract(m_added))
        add_next(next.mapped());
}

// In the order of the ranks: the numbers of tags depend on it.
void RunSummary::add_next(const ProcessSummary& process)
{
    TagNumbers numbers = m_tags.numbers_for(process.tags);
    m_balance.add(process.balance, numbers);
    m_collectives.insert(process.collectives);
    m_account.add(process.account);
    if (!numbers.are_all_the_same())
        m_other_tags.emplace_back(m_added, std::move(numbers));
    ++m_added;
}

} // namespace hdtrace::exporter
