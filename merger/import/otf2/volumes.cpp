#include "merger/import/otf2/volumes.h"

#include <limits>
#include <optional>
#include <string_view>

#include "merger/import/traces.h"

namespace hdtrace::importer::otf2 {

namespace {

/// The part of each of some members; nothing if it is not known.
std::optional<std::int64_t> part_of(std::uint64_t sum, std::int64_t members)
{
    const bool fits = sum <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (members < 1 || !fits || sum % static_cast<std::uint64_t>(members) != 0)
        return std::nullopt;
    return static_cast<std::int64_t>(sum) / members;
}

bool put_part(Element& call, std::string_view name, std::uint64_t sum, std::int64_t members)
{
    const auto part = part_of(sum, members);
    if (part)
        put(call, name, *part);
    return part.has_value();
}

/// What one of these gets is as long as what the other one gives: the process's own part is not told, but MPI
/// demands that it is as long as those of others.
bool put_both(Element& call, std::uint64_t sum, std::int64_t members)
{
    return put_part(call, "size", sum, members) && put_part(call, "recvSize", sum, members);
}

std::int64_t partners(const CollectiveVolume& volume, Counted counted)
{
    return counted == Counted::to_others ? volume.members - 1
           : counted == Counted::to_all  ? volume.members
                                         : 1;
}

bool put_scan(Element& call, const CollectiveVolume& volume, Counted counted)
{
    if (counted == Counted::argument_once)
        return put_part(call, "size", volume.sent, 1);
    const std::int64_t own = counted == Counted::to_all ? 1 : 0;
    const std::int64_t below = volume.me + own, above = volume.members - 1 - volume.me + own;
    return above > 0 ? put_part(call, "size", volume.sent, above)
                     : put_part(call, "size", volume.received, below);
}

} // namespace

bool put_volume(Element& call, const CallFacts& facts, const CollectiveVolume& volume, Counted counted)
{
    if (facts.collective == CollectiveKind::barrier)
        return true;
    // Without the lists of some members the sizes of others would seem to be wrong.
    if (counted == Counted::unknown || facts.lists_sends || facts.lists_receives)
        return false;
    const std::int64_t all = partners(volume, counted);
    switch (facts.collective) {
    case CollectiveKind::one_to_all:
        if (facts.scatters)
            return volume.is_root ? put_both(call, volume.sent, all) : put_both(call, volume.received, 1);
        return volume.is_root ? put_part(call, "size", volume.sent, all)
                              : put_part(call, "size", volume.received, 1);
    case CollectiveKind::all_to_one:
        if (!volume.is_root)
            return put_part(call, "size", volume.sent, 1);
        return facts.gathers ? put_both(call, volume.received, all)
                             : put_part(call, "size", volume.received, all);
    case CollectiveKind::all_to_all:
        if (facts.reduces)
            return put_part(call, "size", volume.sent, all);
        return put_part(call, "size", volume.sent, all) && put_part(call, "recvSize", volume.received, all);
    case CollectiveKind::scan:
        return put_scan(call, volume, counted);
    default:
        return false;
    }
}

} // namespace hdtrace::importer::otf2
