// kinds.h - the kinds of findings. They come from kinds.toml.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hdtrace {

enum class FindingKind : std::uint8_t {
#include "hdtrace/checking/kinds_enumeration.inc"
};

enum class Severity : std::uint8_t { error, warning, note };

/// What a run must be for a kind to be shown.
enum class Needs : std::uint8_t {
    nothing,
    check, ///< recorded for checking (HDTRACE_FOR_CHECK)
    end    ///< over: before that, what is open may still come
};

/// What is known about a kind. The texts live forever.
struct KindFacts {
    std::string_view name;
    std::string_view title;
    std::string_view means;
    std::string_view what_to_do;
    Severity severity;
    Needs needs;
};

/// In the order of the enumeration, which is that of the output.
std::span<const KindFacts> all_kinds();

const KindFacts& facts_of(FindingKind kind);

std::string_view name_of(Severity severity);

} // namespace hdtrace
