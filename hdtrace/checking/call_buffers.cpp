#include "hdtrace/checking/call_buffers.h"

#include <algorithm>
#include <charconv>

namespace hdtrace {
namespace {

constexpr AttributeName reads = "reads", writes = "writes";
constexpr std::int64_t most_bytes = TypeMap::most_bytes; // places beyond come from damaged traces

/// To the tracer a datatype has no gaps if it has as many bytes as there are from its first to its last one:
/// one that overlaps itself has some all the same. Of one that does not only the order differs.
Pieces pieces_of_dense(const TypeMapPointer& map, std::int64_t begin, std::int64_t bytes)
{
    const MappedType type{map, map->size()};
    const std::int64_t origin = begin - map->begin();
    return overlap_each_other(pieces_of(type, origin, 1)) ? pieces_of(type, origin, bytes / map->size())
                                                          : Pieces();
}

} // namespace

bool names_buffers(const State& call)
{
    return call.attributes.may_have(reads.bits() | writes.bits());
}

std::vector<std::string_view> items_of(const State& call, const AttributeName& list)
{
    std::vector<std::string_view> items;
    const auto text = call.find(list);
    for (std::string_view rest = text ? std::string_view(*text) : std::string_view(); !rest.empty();) {
        const auto end = rest.find(';');
        items.push_back(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return items;
}

std::int64_t take_number(std::string_view& item)
{
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc())
        return -1;
    item.remove_prefix(std::min<std::size_t>(item.size(), static_cast<std::size_t>(end - item.data()) + 1));
    return number;
}

std::vector<CallBuffer> CallBuffers::of(const Call& call)
{
    std::vector<CallBuffer> buffers;
    for (const bool is_written : {false, true})
        for (const std::string_view item : items_of(call.state, is_written ? writes : reads))
            if (CallBuffer found = buffer(call.trace.rank, item); found.begin < found.end) {
                found.is_written = is_written;
                buffers.push_back(std::move(found));
            }
    return buffers;
}

const MappedType* CallBuffers::type(std::int64_t rank, std::int64_t tid)
{
    return m_types.find_possible(rank, tid);
}

/// "140732:4000:2", older traces without the type; "140732:4x9" if it has gaps.
CallBuffer CallBuffers::buffer(std::int64_t rank, std::string_view item)
{
    const bool has_gaps = item.find('x') != std::string_view::npos;
    const std::int64_t at = take_number(item), count = take_number(item), type = take_number(item);
    CallBuffer found;
    found.type = type;
    if (at < 0 || at > most_bytes || count <= 0 || count > most_bytes)
        return found;
    if (!has_gaps && at == 0) // a null pointer is no memory
        return found;
    const MappedType* const mapped = this->type(rank, type);
    if (!has_gaps) {
        found.begin = at;
        found.end = at + count;
        if (mapped && !mapped->map->is_ascending())
            found.pieces = pieces_of_dense(mapped->map, at, count);
        return found;
    }
    std::int64_t last = 0; // where the last element is
    if (!mapped || mapped->map->size() == 0 || __builtin_mul_overflow(count - 1, mapped->extent, &last) ||
        last < -most_bytes || last > most_bytes)
        return found;
    found.begin = at + std::min<std::int64_t>(last, 0) + mapped->map->begin();
    found.end = at + std::max<std::int64_t>(last, 0) + mapped->map->end();
    found.pieces = pieces_of(*mapped, at, count);
    return found;
}

} // namespace hdtrace
