#include "hdtrace/checking/collective_data.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

/// What a call gives to a member or takes from it.
struct Part {
    TypedData data;
    std::int64_t bytes = 0;
    bool is_known = true;

    bool operator==(const Part& other) const
    {
        return data.count == other.data.count && data.signature == other.data.signature &&
               bytes == other.bytes;
    }
};

/// Which attributes or child elements tell it.
struct Side {
    AttributeName count, tid, size;
    std::string_view children;
};
constexpr Side given{"count", "tid", "size", "Send"};
constexpr Side taken{"recvCount", "recvtid", "recvSize", "Recv"};

bool is_in_place(const CollectiveCall& call)
{
    return call.arguments->call.has("inPlace");
}

/// One may also have failed because its own arguments are wrong. MPICH calls other sizes MPI_ERR_OTHER.
bool may_be_compared(const CollectiveCall& call)
{
    if (!call.arguments || !call.has_failed)
        return call.arguments != nullptr;
    const auto error = call.arguments->call.find("rc");
    return error == "MPI_ERR_TRUNCATE" || error == "MPI_ERR_OTHER";
}

class Comparison {
  public:
    Comparison(const Collective& collective, TypeSignatures& signatures)
        : m_calls(collective.calls), m_facts(facts_of(m_calls.front().name)), m_signatures(signatures),
          m_has_two_groups(collective.communicator->is_inter())
    {
        if (!m_has_two_groups) {
            m_firsts.emplace(0, m_calls.data());
            return;
        }
        for (const CollectiveCall& call : m_calls) {
            const Communicator::Member* const member = collective.communicator->member(call.rank);
            m_groups.push_back(member ? member->group.value_or(0) : 0);
            m_firsts.try_emplace(m_groups.back(), &call);
        }
    }

    std::optional<DataMismatch> find()
    {
        if (!std::ranges::all_of(m_calls, may_be_compared))
            return std::nullopt;
        if (m_facts.reduces || (m_facts.collective == CollectiveKind::one_to_all && !m_facts.scatters))
            compare_alike();
        else if (m_facts.collective == CollectiveKind::one_to_all)
            compare_with_root(given, taken);
        else if (m_facts.collective == CollectiveKind::all_to_one)
            compare_with_root(taken, given);
        else if (m_facts.collective == CollectiveKind::all_to_all)
            compare_all();
        else if (m_facts.collective == CollectiveKind::neighbourhood)
            compare_neighbours();
        return m_found;
    }

  private:
    std::int64_t group_of(const CollectiveCall& call) const
    {
        return m_has_two_groups ? m_groups[static_cast<std::size_t>(&call - m_calls.data())] : 0;
    }

    /// Whether one has the data of the other one.
    bool are_partners(const CollectiveCall& call, const CollectiveCall& other) const
    {
        return !m_has_two_groups || group_of(call) != group_of(other);
    }

    const CollectiveCall& first_of_group(const CollectiveCall& call) const
    {
        return *m_firsts.at(group_of(call));
    }

    /// Of two groups, who is in that of the root and is not the root itself has no data.
    static bool takes_part(const CollectiveCall& call) { return call.root != proc_null; }

    /// All say the same: Bcast, and what reduces; but what is scattered each group reduces for itself
    /// (MPI 4.1, 6.10.2).
    void compare_alike()
    {
        const bool is_in_group = m_facts.collective == CollectiveKind::all_to_all && m_facts.scatters;
        const auto first = std::ranges::find_if(m_calls, takes_part);
        for (const CollectiveCall& call : m_calls) {
            if (!takes_part(call))
                continue;
            const CollectiveCall& model = is_in_group ? first_of_group(call) : *first;
            if (m_facts.lists_receives) {
                for (const CollectiveCall& of : m_calls)
                    compare(call, part(call, taken, of.rank), model, part(model, taken, of.rank), "has",
                            "has");
            } else {
                compare(call, plain(call, given), model, plain(model, given), "has", "has");
            }
        }
    }

    /// The root has a part for each member, who has it for the root.
    void compare_with_root(const Side& of_root, const Side& of_others)
    {
        const auto root = std::ranges::find_if(m_calls, [&](const CollectiveCall& call) {
            return m_has_two_groups ? call.root == mpi_root : call.rank == m_calls.front().root;
        });
        if (root == m_calls.end())
            return;
        const bool gives = of_root.count.text() == given.count.text();
        for (const CollectiveCall& call : m_calls)
            if (m_has_two_groups ? call.root == root->rank : &call != &*root || !is_in_place(call))
                compare(call, plain(call, of_others), *root, part(*root, of_root, call.rank),
                        gives ? "takes" : "gives", gives ? "gives" : "takes");
    }

    void compare_all()
    {
        const bool is_list = m_facts.lists_sends || m_facts.lists_receives;
        for (const CollectiveCall& call : m_calls) {
            if (is_in_place(call))
                continue;
            for (const CollectiveCall& other : m_calls) {
                if (!are_partners(call, other))
                    continue;
                if (!is_list && &other != &first_of_group(other) && &call != &first_of_group(call))
                    continue; // equal to what the first one takes and gives
                compare(call, m_facts.lists_sends ? part(call, given, other.rank) : plain(call, given), other,
                        part(other, taken, call.rank), "gives", "takes");
            }
        }
    }

    /// Along the edges of the topology. Of several between the same two nobody knows which is which.
    void compare_neighbours()
    {
        for (const CollectiveCall& taker : m_calls)
            for (const auto& [rank, takes] : parts_from(taker)) {
                const auto giver = std::ranges::find(m_calls, rank, &CollectiveCall::rank);
                if (giver == m_calls.end() || !are_alike(takes))
                    continue;
                if (!m_facts.lists_sends)
                    compare(*giver, plain(*giver, given), taker, takes.front(), "gives", "takes");
                else
                    compare_edges(*giver, parts_of(*giver, given, taker.rank), taker, takes);
            }
    }

    void compare_edges(const CollectiveCall& giver, const std::vector<Part>& gives,
                       const CollectiveCall& taker, const std::vector<Part>& takes)
    {
        if (gives.empty() && takes.size() == 1)
            compare(giver, left_out_of_list(giver), taker, takes.front(), "gives", "takes");
        else if (gives.size() == takes.size() && are_alike(gives))
            compare(giver, gives.front(), taker, takes.front(), "gives", "takes");
    }

    /// What a call takes from each neighbour that the trace names.
    std::map<std::int64_t, std::vector<Part>> parts_from(const CollectiveCall& call)
    {
        std::map<std::int64_t, std::vector<Part>> parts;
        if (m_facts.lists_receives) {
            for (const Element& child : call.arguments->children)
                if (child.name == taken.children)
                    parts[child.integer("rank").value_or(-1)].push_back(part_in(call, taken, child));
        } else if (const auto sources = call.arguments->call.find("sources")) {
            for (const std::int64_t rank : ranks_in(*sources, most_neighbours))
                parts[rank].push_back(plain(call, taken));
        }
        return parts;
    }

    std::vector<Part> parts_of(const CollectiveCall& call, const Side& side, std::int64_t rank)
    {
        std::vector<Part> parts;
        for (const Element& child : call.arguments->children)
            if (child.name == side.children && child.integer("rank") == rank)
                parts.push_back(part_in(call, side, child));
        return parts;
    }

    static bool are_alike(const std::vector<Part>& parts)
    {
        return std::ranges::all_of(parts, [&](const Part& part) { return part == parts.front(); });
    }

    Part plain(const CollectiveCall& call, const Side& side)
    {
        const Element& element = call.arguments->call;
        return {m_signatures.data(call.rank, element, side.count, side.tid),
                element.integer(side.size).value_or(0)};
    }

    /// The part for one member, which may stand in a list.
    Part part(const CollectiveCall& call, const Side& side, std::int64_t rank)
    {
        const bool is_list =
            side.count.text() == given.count.text() ? m_facts.lists_sends : m_facts.lists_receives;
        if (!is_list)
            return plain(call, side);
        const Element* const child = child_of(call, side, rank);
        return child ? part_in(call, side, *child) : left_out_of_list(call);
    }

    /// Lists leave out what is empty; of a call that has not ended there are none.
    static Part left_out_of_list(const CollectiveCall& call)
    {
        return {{0, nullptr}, 0, !call.arguments->call.has("unfinished")};
    }

    Part part_in(const CollectiveCall& call, const Side& side, const Element& child)
    {
        const std::int64_t tid =
            child.integer("tid").value_or(call.arguments->call.integer(side.tid).value_or(-1));
        return {{child.integer("count").value_or(0), m_signatures.find(call.rank, tid)},
                child.integer("size").value_or(0)};
    }

    const Element* child_of(const CollectiveCall& call, const Side& side, std::int64_t rank)
    {
        auto [found, is_new] = m_children.try_emplace({&call, side.children});
        if (is_new)
            for (const Element& child : call.arguments->children)
                if (child.name == side.children)
                    found->second.emplace(child.integer("rank").value_or(-1), &child);
        const auto child = found->second.find(rank);
        return child == found->second.end() ? nullptr : child->second;
    }

    void compare(const CollectiveCall& call, const Part& here, const CollectiveCall& other, const Part& there,
                 const std::string& does, const std::string& other_does)
    {
        if (m_found || !here.is_known || !there.is_known || (&call == &other && does == other_does))
            return;
        const auto with = [](const std::string& verb, const std::string& what) { return verb + " " + what; };
        if (const auto differs = difference(here.data, there.data))
            m_found = {true, &call, &other, with(does, differs->first), with(other_does, differs->second)};
        else if (here.bytes != there.bytes)
            m_found = {false, &call, &other, with(does, std::to_string(here.bytes) + " bytes"),
                       with(other_does, std::to_string(there.bytes) + " bytes")};
        if (m_found)
            m_found->there = other.name + " " + m_found->there;
    }

    const std::vector<CollectiveCall>& m_calls;
    const CallFacts& m_facts;
    TypeSignatures& m_signatures;
    bool m_has_two_groups;
    std::vector<std::int64_t> m_groups;                     ///< of each call, if there are two
    std::map<std::int64_t, const CollectiveCall*> m_firsts; ///< by group
    std::map<std::pair<const CollectiveCall*, std::string_view>, std::map<std::int64_t, const Element*>>
        m_children;
    std::optional<DataMismatch> m_found;
};

} // namespace

std::optional<DataMismatch> find_mismatch(const Collective& collective, TypeSignatures& signatures)
{
    return collective.calls.empty() ? std::nullopt : Comparison(collective, signatures).find();
}

} // namespace hdtrace
