#include "hdtrace/checking/attached_memory.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "hdtrace/checking/call_buffers.h"

namespace hdtrace {

void AttachedMemory::add(const Call& call, const ObjectTable& objects)
{
    const std::int64_t size = call.state.integer("size").value_or(0);
    if (size <= 0)
        return;
    Memory& memory = m_memory[{objects.window(call.trace.rank, call.state), call.trace.rank}];
    std::string_view place = call.state.find("window").value_or("");
    const std::int64_t begin = place.empty() ? 0 : take_number(place);
    if (begin <= 0 || size > std::numeric_limits<std::int64_t>::max() - begin)
        memory.is_whole = false;
    else
        join(memory, begin, begin + size);
}

void AttachedMemory::join(Memory& memory, std::int64_t begin, std::int64_t end)
{
    auto next = memory.ends.upper_bound(begin);
    if (next != memory.ends.begin() && std::prev(next)->second >= begin)
        --next;
    while (next != memory.ends.end() && next->first <= end) {
        begin = std::min(begin, next->first);
        end = std::max(end, next->second);
        next = memory.ends.erase(next);
    }
    memory.ends[begin] = end;
}

bool AttachedMemory::lacks(const Window* window, std::int64_t rank, std::int64_t begin,
                           std::int64_t end) const
{
    const auto found = m_memory.find({window, rank});
    if (found == m_memory.end() || !found->second.is_whole)
        return false; // its calls are not in the trace, perhaps
    const auto& ends = found->second.ends;
    const auto behind = ends.upper_bound(begin);
    return behind == ends.begin() || std::prev(behind)->second < end;
}

} // namespace hdtrace
