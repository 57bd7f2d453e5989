#include "mpiwrapper/runtime/regions/open_regions.h"

#include "hdtrace/settings/patterns.h"

#include <errno.h>
#include <sys/mman.h>

namespace hdtrace::mpi {

OpenRegions::~OpenRegions()
{
    if (m_entries != nullptr)
        munmap(m_entries, m_capacity * sizeof(Entry));
}

OpenRegions::Found OpenRegions::leave(const Definition*& region)
{
    for (size_t i = m_count; i-- > 0;) {
        const Entry entry = m_entries[i];
        if (region != nullptr ? entry.region != region : entry.has_to_be_named)
            continue;
        memmove(m_entries + i, m_entries + i + 1, (m_count - i - 1) * sizeof(Entry));
        --m_count;
        region = entry.region;
        return entry.is_recorded ? Found::recorded : Found::unrecorded;
    }
    return Found::nothing;
}

bool OpenRegions::has_one_of(const char* patterns) const
{
    for (size_t i = 0; i < m_count; ++i) {
        if (fits_one_name(patterns, m_entries[i].region->name()))
            return true;
    }
    return false;
}

int OpenRegions::grow()
{
    if (m_capacity == most_entries)
        return HD_ERR_DEEP_REGION;
    const size_t capacity = m_capacity == 0 ? 256 : 2 * m_capacity;
    const int saved_errno = errno;
    void* const memory =
        m_entries == nullptr
            ? mmap(nullptr, capacity * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0)
            : mremap(m_entries, m_capacity * sizeof(Entry), capacity * sizeof(Entry), MREMAP_MAYMOVE);
    errno = saved_errno;
    if (memory == MAP_FAILED)
        return HD_ERR_MEMORY;
    m_entries = static_cast<Entry*>(memory);
    m_capacity = capacity;
    return 0;
}

} // namespace hdtrace::mpi
