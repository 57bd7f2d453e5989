// In which forms a trace is written, and what their files are called.
#pragma once

namespace hdtrace {

enum class Compression {
    none,
    gzip,
    zstd,
    compact,     ///< records in place of text (compact_form.h)
    compact_zstd ///< the same, compressed
};

/// Those of which files have other names than plain ones.
inline constexpr Compression compressed_forms[] = {Compression::zstd, Compression::gzip,
                                                   Compression::compact};

/// What the names of its files end with, behind `.trc`.
constexpr const char* suffix_of(Compression form)
{
    switch (form) {
    case Compression::zstd:
        return ".zst";
    case Compression::gzip:
        return ".gz";
    case Compression::compact:
    case Compression::compact_zstd:
        return ".compact";
    case Compression::none:
        break;
    }
    return "";
}

} // namespace hdtrace
