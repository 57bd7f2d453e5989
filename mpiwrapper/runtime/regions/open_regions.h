// The regions that a thread is in.
#pragma once

#include "mpiwrapper/runtime/regions/definitions.h"

namespace hdtrace::mpi {

/// In the order in which they were entered. They need not be left in the reverse order. Its memory does not
/// come from malloc(), which a signal handler may have interrupted.
class OpenRegions {
  public:
    enum class Found { nothing, recorded, unrecorded };

    OpenRegions() = default;
    ~OpenRegions();
    OpenRegions(const OpenRegions&) = delete;
    OpenRegions& operator=(const OpenRegions&) = delete;

    /// @p flags: enum hdFlags; @p is_recorded: its beginning is in the trace. Returns 0 or an error.
    int enter(const Definition* region, int flags, bool is_recorded)
    {
        if (__builtin_expect(m_count == m_capacity, false)) {
            if (const int error = grow())
                return error;
        }
        m_entries[m_count] = {region, (flags & HD_OVERLAPS) != 0, is_recorded};
        ++m_count;
        return 0;
    }
    /// Takes out the one that was entered last, of this name or, if @p region is null, of all; and says which
    /// it was.
    Found leave(const Definition*& region);
    bool is_empty() const { return m_count == 0; }
    /// Whether one of them has a name that fits one of the patterns (settings/patterns.h).
    bool has_one_of(const char* patterns) const;

  private:
    struct Entry {
        const Definition* region;
        bool has_to_be_named;
        bool is_recorded;
    };
    static constexpr size_t most_entries = 1 << 20;

    int grow();

    Entry* m_entries = nullptr;
    size_t m_count = 0;
    size_t m_capacity = 0;
};

} // namespace hdtrace::mpi
