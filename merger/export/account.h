// What became of the calls of a trace in another format: each is exact, approximated or dropped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hdtrace::exporter {

class Account {
  public:
    void exact() { ++m_exact; }
    /// @p how is a plural and what is done, e.g. "probes: left to the receives".
    void approximated(std::string_view how) { ++count(m_approximated, how); }
    /// @p what is a plural and why, e.g. "calls that failed".
    void dropped(std::string_view what) { ++count(m_dropped, what); }

    /// What became of other calls.
    void add(const Account& others);

    /// What the user has to know besides.
    void note(std::string text) { m_notes.push_back(std::move(text)); }

    /// For the user: one line of sums, then one for each kind of approximated and dropped calls, then the
    /// notes.
    std::vector<std::string> lines() const;

  private:
    using Counts = std::map<std::string, std::uint64_t, std::less<>>;

    static std::uint64_t& count(Counts& counts, std::string_view name);

    std::uint64_t m_exact = 0;
    Counts m_approximated;
    Counts m_dropped;
    std::vector<std::string> m_notes;
};

} // namespace hdtrace::exporter
