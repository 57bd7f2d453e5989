// Memory that the processor watches for us, so that a program that uses it too early is seen where it does
// so: perf_event_open(2), PERF_TYPE_BREAKPOINT.
#pragma once

#include "mpiwrapper/runtime/buffers/memory.h"
#include "mpiwrapper/runtime/sites/call_sites.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// Those of one thread, which sees only what it does itself. Each watches the first one to eight bytes of
/// some memory. Where the user wants none (settings.watchpoints), or the system has none for us
/// (kernel.perf_event_paranoid above 2, a debugger that uses them, a virtual machine without) nothing is
/// watched.
///
/// What happens while the thread is in a call of MPI is MPI's own: skip() comes when a call ends, take() when
/// one begins. Other threads may only use clear(), for what has been set, one at a time.
class Watchpoints {
  public:
    static constexpr int most = 4; ///< that processors have
    static constexpr int none = -1;

    Watchpoints() = default;
    ~Watchpoints() { close(); }
    Watchpoints(const Watchpoints&) = delete;
    Watchpoints& operator=(const Watchpoints&) = delete;

    /// Of the calling thread: watches memory that MPI reads from for what is written to it, other memory for
    /// all uses, until clear(). Returns which one, or `none` if all that are wanted are in use. Setting one
    /// costs some microseconds: what comes often from the same @p site is only watched now and then.
    int set(const Memory& memory, BufferUse use, int32_t site);
    void clear(int number);

    bool are_set() const { return __atomic_load_n(&m_set_count, __ATOMIC_RELAXED) > 0; }
    /// What happened since the last time was done by MPI.
    void skip();
    /// Calls use(number, site) for what the program did since then, with the place where it did so.
    template <typename Use> void take(Use use)
    {
        Access access;
        while (next(access))
            if (const SiteText site = site_of(access); site.number > 0)
                use(access.number, site);
    }

    /// Nothing is watched any more. Another thread may begin with them.
    void close();
    /// In a child of fork(), which has none of them.
    void forget();

  private:
    struct Watchpoint {
        int descriptor = -1;
        uint64_t id = 0; ///< the kernel's
        uintptr_t address = 0;
        BufferUse use = BufferUse::reads;
        bool is_set = false;

        bool is_free() const { return !__atomic_load_n(&is_set, __ATOMIC_ACQUIRE); }
    };
    struct Access {
        uintptr_t behind; ///< the instruction
        int number;
    };

    bool is_its_turn(int32_t site);
    void mark(Watchpoint& watchpoint, bool is_set);
    bool set(Watchpoint& watchpoint, const Memory& memory, BufferUse use);
    bool open(Watchpoint& watchpoint);
    bool map_ring(int descriptor);
    bool next(Access& access);
    SiteText site_of(const Access& access) const;
    int number_of(uintptr_t address) const;

    Watchpoint m_watchpoints[most];
    int m_set_count = 0;
    bool m_is_refused = false;
    uint32_t m_from_sites[256] = {}; ///< how much came from each, by its number
    void* m_ring = nullptr;          ///< where the kernel tells what has happened
};

} // namespace hdtrace::mpi
