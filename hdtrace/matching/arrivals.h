// arrivals.h - what operations moved that did not block: the calls tell it that complete them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "hdtrace/matching/requests.h"
#include "hdtrace/matching/volumes.h"

namespace hdtrace {

/// Leads from calls that complete receives and accesses to files to those that started them. The user gives
/// to each of these a Row: whatever finds it again. Memory grows with the operations in flight. For one
/// thread at a time.
template <class Row> class Arrivals {
  public:
    /// Of a call that has ended and whose volume has something posted. How many operations that are; other
    /// calls of the process complete them.
    std::size_t add(const Call& call, const Row& row)
    {
        const Open open = {row, call.facts.file, call.state.integer("size").value_or(0)};
        std::size_t count = add(call.trace.rank, call.state, open);
        for (const Element& child : call.state.children)
            if (child.name == "Start")
                count += add(call.trace.rank, child, open);
        return count;
    }

    /// To be asked about every call that has ended, before add(): calls @p change(row, moved) for each
    /// operation that it completes, with what that moved.
    template <class Change> void complete(const Call& call, Change change)
    {
        if (m_open.empty())
            return;
        for (const Element& child : call.state.children) {
            if (child.name != "For")
                continue;
            const auto [first, last] = m_open.equal_range(request(call.trace.rank, child));
            for (auto completed = first; completed != last; ++completed)
                change(completed->second.row, told(call, child, completed->second));
            m_open.erase(first, last);
        }
    }

    /// Calls @p give(row) for each operation that no call has completed, in no order.
    template <class Give> void finish(Give give)
    {
        for (const auto& [request, operation] : m_open)
            give(operation.row);
        m_open.clear();
    }

  private:
    struct Open {
        Row row;
        FileAccess access;
        std::int64_t asked; ///< of the file
    };
    using Request = std::pair<std::int64_t, std::int64_t>; // rank and rid
    struct Hash {
        std::size_t operator()(const Request& request) const
        {
            return static_cast<std::size_t>(request.first) * 0x9e3779b97f4a7c15 +
                   static_cast<std::size_t>(request.second);
        }
    };

    static Request request(std::int64_t rank, const Element& what)
    {
        return {rank, what.integer("rid").value_or(-1)};
    }

    std::size_t add(std::int64_t rank, const Element& what, const Open& open)
    {
        const Request started = request(rank, what);
        if (started.second < 0)
            return 0;
        m_open.emplace(started, open);
        return 1;
    }

    static Volume told(const Call& call, const Element& completion, const Open& operation)
    {
        const auto moved = [&](const AttributeName& attribute, std::int64_t otherwise) {
            return std::max<std::int64_t>(completion.integer(attribute).value_or(otherwise), 0);
        };
        if (!transfers(operation.access))
            return {.received = moved("size", 0)};
        if (is_of_failed_access(call, completion))
            return {};
        const std::int64_t bytes = moved("actual", operation.asked);
        return operation.access == FileAccess::write ? Volume{.sent = bytes} : Volume{.received = bytes};
    }

    /// Several have one request where the call that started it is inside another one that did.
    std::unordered_multimap<Request, Open, Hash> m_open;
};

} // namespace hdtrace
