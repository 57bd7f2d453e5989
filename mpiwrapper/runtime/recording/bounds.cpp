#include "mpiwrapper/runtime/recording/bounds.h"

#include "hdtrace/segments.h"
#include "hdtrace/settings/numbers.h"
#include "hdtrace/writer/text.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"

namespace hdtrace::mpi {

namespace {

int64_t written = 0; // by all threads
int trace_count = 0;
int64_t segment_size = 0;
bool has_overwritten = false;
bool has_stopped = false;

// Its text is a number with a unit.
void describe_bound(const char* name, const char* value)
{
    char line[128];
    char* end = put_constant(put_text(line, "Bound name='"), name);
    end = put_text(put_constant(put_text(end, "' value='"), value), "'\n");
    info_file().write_ahead(line, static_cast<size_t>(end - line));
}

// Also in signal handlers.
void add_written(int64_t bytes)
{
    if (__atomic_add_fetch(&written, bytes, __ATOMIC_RELAXED) < settings.limit ||
        __atomic_exchange_n(&has_stopped, true, __ATOMIC_RELAXED))
        return;
    pause_recording();
    char limit[max_number_length + 1];
    *put_number(limit, settings.limit) = '\0';
    describe_bound("limit", limit);
    end_descriptions();
}

void tell_overwritten()
{
    if (!__atomic_exchange_n(&has_overwritten, true, __ATOMIC_RELAXED))
        describe_bound("keep-last", settings.keep_last);
}

Bound window()
{
    Bound bound;
    parse_bound(settings.keep_last, bound);
    return bound;
}

// Of each thread, where all have a share. A segment may get a buffer more, of an eighth of its size, where
// lines are saved before the buffer is full.
int64_t share_segments(int64_t bytes)
{
    const int threads = __atomic_add_fetch(&trace_count, 1, __ATOMIC_RELAXED);
    const int64_t size = bytes / threads * 2 / (2 * segment_count + 1);
    __atomic_store_n(&segment_size, size, __ATOMIC_RELAXED);
    return size;
}

} // namespace

void set_bounds(TraceSettings& trace_settings)
{
    if (settings.limit > 0)
        trace_settings.on_written = add_written;
    const Bound kept = window();
    if (kept.bytes > 0) {
        const auto most = static_cast<size_t>(share_segments(kept.bytes) / 8);
        trace_settings.buffer_size = trace_settings.buffer_size < most ? trace_settings.buffer_size : most;
        trace_settings.segment_size = &segment_size;
    }
    trace_settings.segment_time = (kept.nanoseconds + segment_count - 2) / (segment_count - 1); // of 1ns, too
    trace_settings.on_overwritten = tell_overwritten;
}

bool has_window()
{
    return *settings.keep_last != '\0';
}

bool is_limit_reached()
{
    return __atomic_load_n(&has_stopped, __ATOMIC_RELAXED);
}

} // namespace hdtrace::mpi
