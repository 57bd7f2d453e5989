#include "hdtrace/explaining/wait_kinds.h"

namespace hdtrace {
namespace {

/// In the order of the enumeration.
constexpr WaitKindFacts kinds[wait_kind_count] = {
    {"late-sender"},
    {"wrong-order"},
    {"late-receiver"},
    {"wait-at-barrier", Awaited::all, WaitKind::barrier_completion},
    {"barrier-completion"},
    {"wait-at-nxn", Awaited::all, WaitKind::nxn_completion},
    {"nxn-completion"},
    {"early-reduce", Awaited::others},
    {"early-gather", Awaited::others},
    {"late-broadcast", Awaited::root},
    {"late-scatter", Awaited::root},
    {"wait-at-prefix", Awaited::lower},
    {.name = "wait-at-creation", .awaited = Awaited::all, .may_return_early = true},
    {.name = "wait-at-file", .awaited = Awaited::all, .may_return_early = true},
    {.name = "wait-at-window", .awaited = Awaited::all, .may_return_early = true},
    {"late-post"},
    {"early-wait"},
    {"lock-contention"},
    {.name = "wait-at-init", .awaited = Awaited::all, .may_return_early = true},
    {.name = "wait-at-finalize", .awaited = Awaited::all, .may_return_early = true},
    {"wait-at-neighbours", Awaited::sources},
};

} // namespace

const WaitKindFacts& facts_of(WaitKind kind)
{
    return kinds[static_cast<std::size_t>(kind)];
}

std::optional<WaitKind> wait_kind_of(const CallFacts& call)
{
    if (call.progress == CallProgress::prepares)
        return {};
    switch (call.collective) {
    case CollectiveKind::barrier:
        return WaitKind::wait_at_barrier;
    case CollectiveKind::all_to_all:
        return WaitKind::wait_at_nxn;
    case CollectiveKind::all_to_one:
        return call.reduces ? WaitKind::early_reduce : WaitKind::early_gather;
    case CollectiveKind::one_to_all:
        return call.scatters ? WaitKind::late_scatter : WaitKind::late_broadcast;
    case CollectiveKind::scan:
        return WaitKind::wait_at_prefix;
    case CollectiveKind::object:
        return call.call_class == CallClass::file        ? WaitKind::wait_at_file
               : call.call_class == CallClass::one_sided ? WaitKind::wait_at_window
                                                         : WaitKind::wait_at_creation;
    case CollectiveKind::file:
        return WaitKind::wait_at_file;
    case CollectiveKind::window:
        return WaitKind::wait_at_window;
    case CollectiveKind::neighbourhood:
        return WaitKind::wait_at_neighbours;
    case CollectiveKind::none:
        break;
    }
    return {};
}

} // namespace hdtrace
