// What became of the calls of a trace in another format: each is exact, approximated or dropped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::exporter {

class Account {
  public:
    void exact() { ++m_exact; }
    /// @p how is a plural and what is done, e.g. "probes: left to the receives".
    void approximated(std::string_view how) { ++count(m_approximated, how); }
    /// @p what is a plural and why, e.g. "calls that failed".
    void dropped(std::string_view what) { ++count(m_dropped, what); }

    /// For the user: one line of sums, then one for each kind of approximated and dropped calls.
    std::vector<std::string> lines() const;

  private:
    using Counts = std::map<std::string, std::uint64_t, std::less<>>;

    static std::uint64_t& count(Counts& counts, std::string_view name);

    std::uint64_t m_exact = 0;
    Counts m_approximated;
    Counts m_dropped;
};

} // namespace hdtrace::exporter
