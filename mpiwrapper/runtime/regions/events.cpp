#include "mpiwrapper/runtime/regions/events.h"

#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/recording/added_thread.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"
#include "mpiwrapper/runtime/regions/errors.h"
#include "mpiwrapper/runtime/regions/float_text.h"

#include <errno.h>

namespace hdtrace::mpi {

namespace {

/// How many events may stand inside a call: they are kept until it ends.
constexpr int most_in_call = 100'000;

/// In place of an error: nothing is to be recorded, and nothing to be told.
constexpr int nothing_to_do = -1;

int why_not_traced()
{
    switch (current_state()) {
    case State::waiting:
    case State::initialising:
        return HD_ERR_NOT_STARTED;
    case State::running:
        return is_being_added() ? HD_ERR_LOST : HD_ERR_MEMORY;
    case State::off:
        break;
    }
    return !has_been_traced() ? nothing_to_do : is_traced_process() ? HD_ERR_ENDED : HD_ERR_NOT_TRACED;
}

/// The tracer works for the calling thread while it lives: a signal handler that comes meanwhile is refused,
/// and the calls of MPI that we make are not the program's.
class Work {
  public:
    Work()
    {
        Thread* thread = current_thread;
        if (!HDT_LIKELY(thread != nullptr)) {
            const int saved_errno = errno;
            thread = enter_thread();
            errno = saved_errno;
        }
        if (!HDT_LIKELY(thread != nullptr && current_state() == State::running)) {
            m_error = why_not_traced();
            return;
        }
        if (!HDT_LIKELY(thread->depth == 0)) {
            Call::find_lost_calls(*thread, this);
            if (thread->depth > TraceWriter::max_depth) {
                m_error = HD_ERR_BUSY;
                return;
            }
        }
        m_thread = thread;
        m_depth = thread->depth;
        thread->work = this;
        thread->depth = at_work;
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
    }
    ~Work()
    {
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
        if (m_thread != nullptr)
            m_thread->depth = m_depth;
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    /// Why nothing can be done; 0 if it can.
    int error() const { return m_error; }
    Thread& thread() { return *m_thread; }

    /// As calls are found that were left (Call::was_left).
    __attribute__((no_sanitize("address"))) static bool was_left(const Thread& thread, const void* here,
                                                                 const void* frame)
    {
        if (thread.depth != at_work || !thread.is_on_stack(here) || !thread.is_on_stack(thread.work))
            return false;
        return static_cast<const Work*>(thread.work)->m_thread != &thread ||
               (thread.work <= here && thread.is_called_from_base(frame));
    }

  private:
    static constexpr int at_work = (1 << 20) + 1; // deeper than any call, and no wrapper's

    Thread* m_thread = nullptr;
    int m_depth = 0;
    int m_error = 0;
};

bool is_recording()
{
    const auto is_open = [] { return __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0; };
    return is_open() || (has_waited_for_end() && is_open());
}

/// Whether there is room where the thread is. Returns 0 or an error.
int make_place(Thread& thread)
{
    const int depth = thread.writer.depth();
    if (depth == 0)
        thread.events_in_call = 0;
    else if (depth >= TraceWriter::max_depth || ++thread.events_in_call > most_in_call)
        return HD_ERR_MANY;
    return 0;
}

/// Builds an event, up to its end.
template <typename PutAttributes>
int write(Thread& thread, const Definition& definition, const void* frame, int64_t time,
          PutAttributes put_attributes)
{
    if (!keeps_states) {
        thread.next_site.length = 0;
        return 0;
    }
    thread.writer.enter();
    write_element(thread.writer, [&](auto& element) {
        element.text("<Event name='").raw(definition.xml, definition.xml_length).text("'");
        put_attributes(element);
        if (thread.next_site.length > 0)
            element.site(thread.next_site);
        else if (frame != nullptr && thread.sites.are_wanted())
            element.site(thread.sites.find(frame));
        thread.next_site.length = 0;
        element.end_event(time);
    });
    return thread.writer.error() == 0 ? 0 : HD_ERR_LOST;
}

int try_to_begin(hdRegion& region, const void* frame)
{
    Work work;
    int error = work.error();
    const Definition* const definition = error == 0 ? define(region, error) : nullptr;
    if (error != 0)
        return error;
    Thread& thread = work.thread();
    if (!is_recording())
        return thread.regions.enter(definition, region.flags, false);
    error = make_place(thread);
    if (error == 0)
        error = thread.regions.enter(definition, region.flags, true);
    if (error != 0)
        return error;
    const int64_t now = thread.clock.now();
    if (thread.sums != nullptr)
        thread.sums->begin_region(*definition, now, thread.writer.depth() > 0);
    return write(thread, *definition, frame, now, [](auto& element) { element.text(" kind='begin'"); });
}

int try_to_end(const hdRegion* region, const void* frame)
{
    Work work;
    if (work.error() != 0)
        return work.error();
    Thread& thread = work.thread();
    const int64_t now = thread.clock.now();
    const Definition* definition = region != nullptr ? find_defined(*region) : nullptr;
    if (region != nullptr && definition == nullptr)
        return HD_ERR_NOT_OPEN;
    switch (thread.regions.leave(definition)) {
    case OpenRegions::Found::nothing:
        return HD_ERR_NOT_OPEN;
    case OpenRegions::Found::unrecorded:
        return 0;
    case OpenRegions::Found::recorded:
        break;
    }
    make_place(thread); // what has begun must end
    if (thread.sums != nullptr)
        thread.sums->end_region(*definition, now, thread.writer.depth() > 0);
    return write(thread, *definition, frame, now, [](auto& element) { element.text(" kind='end'"); });
}

int try_to_mark(hdRegion& mark, const char* text, const void* frame)
{
    Work work;
    int error = work.error();
    const Definition* const definition = error == 0 ? define(mark, error) : nullptr;
    if (error == 0 && text != nullptr && strnlen(text, HD_LONGEST_TEXT + 1) > HD_LONGEST_TEXT)
        error = HD_ERR_LONG;
    if (error == 0)
        error = is_recording() ? make_place(work.thread()) : nothing_to_do;
    if (error != 0)
        return error;
    return write(work.thread(), *definition, frame, work.thread().clock.now(), [&](auto& element) {
        if (text != nullptr)
            element.text(" text='").escaped(text).text("'");
    });
}

template <typename PutValue>
int try_to_count(hdCounter& counter, hdType type, const void* frame, PutValue put_value)
{
    Work work;
    int error = work.error();
    const Definition* const definition = error == 0 ? define(counter, error) : nullptr;
    if (error == 0 && definition->type != type)
        error = HD_ERR_TYPE;
    if (error == 0)
        error = is_recording() ? make_place(work.thread()) : nothing_to_do;
    if (error != 0)
        return error;
    return write(work.thread(), *definition, frame, work.thread().clock.now(), [&](auto& element) {
        char text[float_room];
        element.text(" kind='count' value='")
            .raw(text, static_cast<size_t>(put_value(text) - text))
            .text("'");
    });
}

int told(int error, const char* name)
{
    return error > 0 ? report(error, name) : 0;
}

} // namespace

int begin_region(hdRegion& region, const void* frame)
{
    return told(try_to_begin(region, frame), region.name);
}

int end_region(const hdRegion* region, const void* frame)
{
    return told(try_to_end(region, frame), region != nullptr ? region->name : nullptr);
}

int mark(hdRegion& mark, const char* text, const void* frame)
{
    return told(try_to_mark(mark, text, frame), mark.name);
}

int count(hdCounter& counter, int64_t value, const void* frame)
{
    return told(try_to_count(counter, HD_INTEGER, frame, [&](char* out) { return put_number(out, value); }),
                counter.name);
}

int count(hdCounter& counter, double value, const void* frame)
{
    return told(try_to_count(counter, HD_FLOAT, frame, [&](char* out) { return put_float(out, value); }),
                counter.name);
}

int set_place(const char* file, const char* function, int line)
{
    Work work;
    if (work.error() != 0)
        return told(work.error(), file);
    if (file == nullptr || *file == '\0')
        return told(HD_ERR_NAME, nullptr);
    if (work.thread().sites.are_wanted())
        work.thread().next_site = site_of_source(file, function != nullptr ? function : "", line);
    return 0;
}

int set_group(const char* name, const char* members)
{
    Work work;
    return told(work.error() != 0 ? work.error() : define_group(name, members), name);
}

void find_left_event(Thread& thread, const void* here, const void* frame)
{
    if (!Work::was_left(thread, here, frame))
        return;
    const int count = thread.call_count;
    thread.depth = count > 0 ? thread.calls[count - 1].depth + 1 : 0;
    thread.next_site.length = 0;
    if (keeps_states)
        thread.writer.lose_event();
}

} // namespace hdtrace::mpi
