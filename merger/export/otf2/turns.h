// Numbers that processes give to what they meet first, when several are converted at a time.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <vector>

namespace hdtrace::exporter::otf2 {

/// Lets each process make what was not there before only when all before it have finished. So what is made
/// first, and gets the first number, does not depend on how many are converted at a time. The first one that
/// has not finished never waits.
class Turns {
  public:
    /// What waits for a process that failed is thrown this: it is not what the user is told.
    struct GivenUp {};

    explicit Turns(std::size_t processes) : m_is_finished(processes) {}

    /// What find() gives, an optional, once it has a value; else what make() makes when it is the turn of the
    /// process. Both are called by one thread at a time.
    auto get(std::size_t process, auto find, auto make)
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            if (const auto found = find())
                return *found;
            if (process == m_first)
                break;
            if (m_failed < process)
                throw GivenUp();
            m_changed.wait(lock);
        }
        const auto made = make();
        m_changed.notify_all();
        return made;
    }

    void finish(std::size_t process)
    {
        const std::lock_guard lock(m_mutex);
        m_is_finished[process] = true;
        while (m_first < m_is_finished.size() && m_is_finished[m_first])
            ++m_first;
        m_changed.notify_all();
    }

    /// It will not finish.
    void fail(std::size_t process)
    {
        const std::lock_guard lock(m_mutex);
        m_failed = std::min(m_failed, process);
        m_changed.notify_all();
    }

  private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<bool> m_is_finished;
    std::size_t m_first = 0; ///< that has not finished
    std::size_t m_failed = std::numeric_limits<std::size_t>::max();
};

} // namespace hdtrace::exporter::otf2
