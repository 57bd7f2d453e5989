#include "merger/export/account.h"

namespace hdtrace::exporter {

namespace {

std::uint64_t sum(const auto& counts)
{
    std::uint64_t all = 0;
    for (const auto& [ignored, count] : counts)
        all += count;
    return all;
}

} // namespace

std::uint64_t& Account::count(Counts& counts, std::string_view name)
{
    const auto found = counts.find(name);
    return found == counts.end() ? counts[std::string(name)] : found->second;
}

void Account::add(const Account& others)
{
    m_exact += others.m_exact;
    for (const auto& [how, number] : others.m_approximated)
        count(m_approximated, how) += number;
    for (const auto& [what, number] : others.m_dropped)
        count(m_dropped, what) += number;
    m_notes.insert(m_notes.end(), others.m_notes.begin(), others.m_notes.end());
}

std::vector<std::string> Account::lines() const
{
    std::vector<std::string> lines = {std::to_string(m_exact) + " calls are exact, " +
                                      std::to_string(sum(m_approximated)) + " approximated, " +
                                      std::to_string(sum(m_dropped)) + " dropped"};
    for (const auto& [how, count] : m_approximated)
        lines.push_back("approximated: " + std::to_string(count) + " " + how);
    for (const auto& [what, count] : m_dropped)
        lines.push_back("dropped: " + std::to_string(count) + " " + what);
    for (const std::string& note : m_notes)
        lines.push_back("note: " + note);
    return lines;
}

} // namespace hdtrace::exporter
