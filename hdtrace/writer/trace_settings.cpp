#include "hdtrace/writer/trace_settings.h"

#include "hdtrace/settings/settings.h"

namespace hdtrace {

namespace {

Compression compression_of(const Settings& settings)
{
    if (settings.form == Form::compact)
        return settings.compress == Compress::zstd ? Compression::compact_zstd : Compression::compact;
    switch (settings.compress) {
    case Compress::none:
        break;
    case Compress::gzip:
        return Compression::gzip;
    case Compress::zstd:
        return Compression::zstd;
    }
    return Compression::none;
}

} // namespace

TraceSettings trace_settings_of(const Settings& settings)
{
    TraceSettings result;
    result.buffer_size = static_cast<size_t>(settings.buffer_size);
    result.force_flush = settings.force_flush;
    result.form = {settings.time_digits, compression_of(settings)};
    return result;
}

} // namespace hdtrace
