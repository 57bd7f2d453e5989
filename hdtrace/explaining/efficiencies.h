// efficiencies.h - the efficiencies of the POP project.
#pragma once

#include <cstdint>

#include "hdtrace/explaining/wait_states.h"

namespace hdtrace {

/// Of the first thread of each process, between the beginning of MPI and its end. Times are nanoseconds.
struct Efficiencies {
    Efficiencies() = default;
    Efficiencies(const History& history, const std::vector<WaitState>& waits);

    std::int64_t processes = 0;
    std::int64_t time = 0;             ///< from the first that began to work to the last that ended
    std::int64_t ideal_time = 0;       ///< the same on an ideal network
    double mean_computation = 0;       ///< of the processes
    std::int64_t most_computation = 0; ///< of a process
    std::int64_t most_work = 0;        ///< of a process: computation, and accesses to files without waiting

    double parallel() const { return ratio(mean_computation, static_cast<double>(time)); }
    double load_balance() const { return ratio(mean_computation, static_cast<double>(most_computation)); }
    double input_output() const
    {
        return ratio(static_cast<double>(most_computation), static_cast<double>(most_work));
    }
    double communication() const { return ratio(static_cast<double>(most_work), static_cast<double>(time)); }
    double serialisation() const
    {
        return ratio(static_cast<double>(most_work), static_cast<double>(ideal_time));
    }
    double transfer() const { return ratio(static_cast<double>(ideal_time), static_cast<double>(time)); }

  private:
    static double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }
};

} // namespace hdtrace
