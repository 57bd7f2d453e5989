// Calls in a row that asked whether something has happened, when nothing had.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// Of one thread, which is checked: a few of them are told, so that one can see who waits for what by asking
/// again and again.
class PollSeries {
  public:
    /// One more, which asked @p question, a number made of its arguments. Whether it is told: of each
    /// doubling four are, so that at least four fifths of the time of a long series are seen.
    bool add(uint64_t question)
    {
        if (m_count++ == 0) {
            m_first = question;
            m_is_mixed = false;
        }
        m_is_mixed = m_is_mixed || question != m_first;
        return m_count == 1 || is_told(m_count);
    }
    /// Of one that is under way. Nobody knows it of the first one, and whether it is a poll at all.
    bool is_next_told() const { return m_count > 0 && is_told(m_count + 1); }
    /// The thread did something else.
    void end() { m_count = 0; }
    /// They did not all ask the same.
    bool is_mixed() const { return m_is_mixed; }

  private:
    static constexpr uint64_t least_doubled = 64; // most series are shorter

    // Whether all bits behind the first three are 0.
    static bool is_told(uint64_t count)
    {
        return count >= least_doubled && (count & ((uint64_t{1} << (61 - __builtin_clzll(count))) - 1)) == 0;
    }

    uint64_t m_count = 0;
    uint64_t m_first = 0;
    bool m_is_mixed = false;
};

} // namespace hdtrace::mpi
