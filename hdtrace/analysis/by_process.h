// by_process.h - reads the traces of all processes, those of some of them at a time, on all cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/for_each_position.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// The traces of one process.
using ProcessTraces = std::vector<TraceFile>;

/// Those of the traces that are wanted.
std::vector<ProcessTraces> traces_by_process(std::vector<TraceFile> traces, const Selection& selection);

/// Gives the traces of each process to a Reader of its own, in one of several threads. A Reader is made of
/// ProcessTraces; its read() reads up to so many states and says how many there were: fewer at the end.
template <class Reader> class ByProcess {
  public:
    /// Makes the reader of a process; several threads call it at a time.
    using Begin = std::function<std::unique_ptr<Reader>(const ProcessTraces& traces)>;
    /// Takes a reader that is at its end, and the number of its process. One thread calls it at a time.
    using Finish = std::function<void(std::size_t process, std::unique_ptr<Reader> reader)>;

    /// @p threads: 0 takes as many as there are cores.
    ByProcess(std::vector<ProcessTraces> processes, Begin begin, Finish finish, unsigned threads = 0)
        : m_processes(std::move(processes)), m_begin(std::move(begin)), m_finish(std::move(finish))
    {
        m_places.resize(std::clamp<std::size_t>(m_processes.size(), 1, detail::number_of_threads(threads)));
    }

    /// Reads up to so many states of the top level; false at the end. Throws what readers throw; where
    /// several processes have traces that are broken, what the first one of them has.
    bool read(std::size_t states)
    {
        const std::size_t each = std::max<std::size_t>(states / m_places.size(), 1);
        {
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < m_places.size(); ++i)
                others.emplace_back([this, i, each] { read_on(m_places[i], each); });
            read_on(m_places.front(), each);
        }
        throw_failure();
        return m_next < m_processes.size() ||
               std::ranges::any_of(m_places, [](const Place& place) { return place.reader != nullptr; });
    }

  private:
    /// What one of the threads reads.
    struct Place {
        std::size_t process = 0;
        std::unique_ptr<Reader> reader; ///< null before it has begun, and between two of them
    };

    void read_on(Place& place, std::size_t states)
    {
        try {
            while (states > 0 && (place.reader || begin_next(place))) {
                const std::size_t done = place.reader->read(states);
                if (done < states)
                    finish(place);
                states -= done;
            }
        } catch (const OpenError&) {
            give_up(place);
        } catch (const ReadError&) {
            give_up(place);
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            m_interruption = std::current_exception();
            place.reader.reset();
        }
    }

    bool begin_next(Place& place)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (m_next == m_processes.size())
                return false;
            place.process = m_next++;
        }
        place.reader = m_begin(std::exchange(m_processes[place.process], {}));
        return true;
    }

    void finish(Place& place)
    {
        const std::lock_guard lock(m_mutex);
        m_finish(place.process, std::move(place.reader));
    }

    // No other process is begun then; those before it were.
    void give_up(Place& place)
    {
        const std::lock_guard lock(m_mutex);
        m_failures.emplace(place.process, std::current_exception());
        m_next = m_processes.size();
        place.reader.reset();
    }

    // Once nothing can happen any more in the processes before, so that it is the same one each time.
    void throw_failure()
    {
        if (m_interruption)
            std::rethrow_exception(m_interruption);
        if (m_failures.empty())
            return;
        const auto& [process, failure] = *m_failures.begin();
        if (std::ranges::none_of(m_places,
                                 [&](const Place& place) { return place.reader && place.process < process; }))
            std::rethrow_exception(failure);
    }

    std::vector<ProcessTraces> m_processes;
    Begin m_begin;
    Finish m_finish;
    std::vector<Place> m_places; ///< one for each thread

    std::mutex m_mutex; ///< of what follows
    std::size_t m_next = 0;
    std::map<std::size_t, std::exception_ptr> m_failures; ///< of traces, by process
    std::exception_ptr m_interruption;                    ///< of any other kind
};

} // namespace hdtrace
