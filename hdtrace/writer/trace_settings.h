// How the traces of a process are written.
#pragma once

#include "hdtrace/trace_form.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace {

struct Settings;

struct TraceForm {
    int time_digits = 9; ///< behind the point of times, from 6 to 9
    Compression compression = Compression::none;
};

/// What becomes of a full buffer.
enum class WhenFull { write_out };

struct TraceSettings {
    /// Bytes in memory, at most 1 GiB: what is not written yet and, with compression, half of it for the
    /// other form.
    size_t buffer_size = 256 * 1024;
    WhenFull when_full = WhenFull::write_out;
    bool force_flush = false; ///< write every line at once
    TraceForm form;
    /// If not null or 0, only the last part is kept, in segments (segments.h): another one begins where the
    /// file would have more bytes, which any thread may change, or where so many nanoseconds have passed.
    const int64_t* segment_size = nullptr;
    int64_t segment_time = 0;
    /// Called when the first lines are given up for new ones. Like on_error().
    void (*on_overwritten)() = nullptr;
    /// Called with how many bytes each write has added to the file. Like on_error().
    void (*on_written)(int64_t bytes) = nullptr;
    /// Called once, when the first thing could not be written; from then on states are only counted. It must
    /// not use the writer, and no function that is not safe in signal handlers.
    void (*on_error)(const char* path, int error) = nullptr;
};

inline bool has_segments(const TraceSettings& settings)
{
    return settings.segment_size != nullptr || settings.segment_time > 0;
}

/// What the user's settings say of it.
TraceSettings trace_settings_of(const Settings& settings);

} // namespace hdtrace
