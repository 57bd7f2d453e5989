#include "hdtrace/writer/clock.h"
#include "mpiwrapper/runtime/counters/values.h"

#include <string.h>
#include <sys/resource.h>

namespace hdtrace::mpi {

namespace {

template <typename Member> Member member_at(const rusage& used, uint64_t place)
{
    Member member;
    memcpy(&member, reinterpret_cast<const char*>(&used) + place, sizeof member);
    return member;
}

int64_t value_of(const rusage& used, const SampledCounter& counter)
{
    if (!counter.is_time())
        return member_at<long>(used, counter.code) * counter.factor;
    const auto time = member_at<timeval>(used, counter.code);
    return time.tv_sec * nanoseconds_per_second + time.tv_usec * 1000;
}

// Asked when the first counter wants it.
class Usage {
  public:
    explicit Usage(int who) : m_who(who) {}
    int64_t value(const SampledCounter& counter)
    {
        if (!m_is_read)
            m_is_known = getrusage(m_who, &m_used) == 0;
        m_is_read = true;
        return m_is_known ? value_of(m_used, counter) : no_value;
    }

  private:
    int m_who;
    bool m_is_read = false;
    bool m_is_known = false;
    rusage m_used;
};

} // namespace

void read_usage(const Sample& sample)
{
    Usage of_thread(RUSAGE_THREAD), of_process(RUSAGE_SELF);
    for (size_t i = 0; i < sample.counters.size(); ++i) {
        const SampledCounter& counter = *sample.counters[i];
        if (counter.source == Source::thread_usage)
            sample.values[i] = of_thread.value(counter);
        else if (counter.source == Source::process_usage)
            sample.values[i] = of_process.value(counter);
        else if (counter.source == Source::thread_clock || counter.source == Source::process_clock)
            sample.values[i] = detail::read_clock(static_cast<clockid_t>(counter.code));
    }
}

} // namespace hdtrace::mpi
