#include "hdtrace/checking/kinds.h"

#include <cstddef>

namespace hdtrace {
namespace {

constexpr KindFacts kinds[] = {
#include "hdtrace/checking/kinds_rows.inc"
};

} // namespace

std::span<const KindFacts> all_kinds()
{
    return kinds;
}

const KindFacts& facts_of(FindingKind kind)
{
    return kinds[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Severity severity)
{
    switch (severity) {
    case Severity::error:
        return "error";
    case Severity::warning:
        return "warning";
    case Severity::note:
        break;
    }
    return "note";
}

} // namespace hdtrace
