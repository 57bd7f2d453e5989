// How the traces of a process are written.
#pragma once

namespace hdtrace {

enum class Compression { none, gzip, zstd };

struct TraceForm {
    int time_digits = 9; ///< behind the point of times, from 6 to 9
    Compression compression = Compression::none;
};

/// From the environment. Returns false if a value cannot be understood, and then the default holds for it.
bool read_trace_form(TraceForm& form);

/// What the environment said when this was asked for the first time: later the program may be changing it.
TraceForm usual_trace_form();

} // namespace hdtrace
