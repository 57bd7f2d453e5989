#include "mpiwrapper/runtime/counters/perf_events.h"

#include "hdtrace/writer/descriptor.h"
#include "hdtrace/writer/scaling.h"
#include "mpiwrapper/runtime/process/perf_event.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

uint32_t type_of(Source source)
{
    return source == Source::perf_hardware ? PERF_TYPE_HARDWARE
           : source == Source::perf_cache  ? PERF_TYPE_HW_CACHE
                                           : PERF_TYPE_SOFTWARE;
}

// Of the calling thread. What happens in the kernel for it may only be counted with more rights than most
// users have.
int open_event(const SampledCounter& counter, int leader)
{
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = type_of(counter.source);
    attributes.config = counter.code;
    attributes.exclude_kernel = (counter.attributes & in_kernel) == 0;
    attributes.exclude_hv = 1;
    attributes.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    constexpr int any_processor = -1;
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, 0, any_processor, leader, PERF_FLAG_FD_CLOEXEC));
}

// What the kernel answers.
struct Group {
    uint64_t count;
    uint64_t enabled; ///< nanoseconds
    uint64_t running; ///< less where the processor's registers had to be shared
    uint64_t values[PerfEvents::most];
};

int64_t extrapolated(uint64_t value, const Group& group)
{
    if (group.running == group.enabled)
        return static_cast<int64_t>(value);
    if (group.running == 0)
        return no_value;
    return static_cast<int64_t>(scaled(value, group.enabled, group.running));
}

} // namespace

int PerfEvents::try_to_count(const SampledCounter& counter)
{
    const int descriptor = open_event(counter, -1);
    if (descriptor < 0)
        return errno;
    ::close(descriptor);
    return 0;
}

bool PerfEvents::open(std::span<const SampledCounter* const> counters)
{
    int leader = -1;
    for (size_t i = 0; i < counters.size() && m_count < most; ++i) {
        if (is_perf(counters[i]->source) && !add(*counters[i], i, leader)) {
            close();
            return false;
        }
    }
    return true;
}

// False if descriptors are scarce.
bool PerfEvents::add(const SampledCounter& counter, size_t number, int& leader)
{
    int descriptor = open_event(counter, leader);
    if (descriptor < 0 && leader >= 0 && errno != EMFILE && errno != ENFILE) {
        leader = -1;
        descriptor = open_event(counter, leader);
    }
    if (descriptor < 0)
        return errno != EMFILE && errno != ENFILE;
    descriptor = move_up(descriptor);
    m_events[m_count++] = {descriptor, leader < 0, id_of_perf_event(descriptor), number};
    if (leader < 0)
        leader = descriptor;
    return !is_scarce(descriptor);
}

size_t PerfEvents::group_size(size_t first) const
{
    size_t size = 1;
    while (first + size < m_count && !m_events[first + size].is_leader)
        ++size;
    return size;
}

void PerfEvents::read(const Sample& sample) const
{
    for (size_t first = 0; first < m_count; first += group_size(first))
        read_group(first, group_size(first), sample);
}

void PerfEvents::read_group(size_t first, size_t count, const Sample& sample) const
{
    const Event& leader = m_events[first];
    Group group;
    // Not read(), where the thread may be cancelled.
    const bool is_read = is_still_perf_event(leader.descriptor, leader.id) &&
                         syscall(SYS_read, leader.descriptor, &group, sizeof group) > 0 &&
                         group.count == count;
    for (size_t i = 0; i < count; ++i)
        sample.values[m_events[first + i].counter] =
            is_read ? extrapolated(group.values[i], group) : no_value;
}

void PerfEvents::close()
{
    while (m_count > 0) {
        const Event event = m_events[--m_count];
        if (is_still_perf_event(event.descriptor, event.id))
            ::close(event.descriptor);
    }
}

} // namespace hdtrace::mpi
