// argument_rules.h - what MPI's standard does not permit as arguments, as far as a call's line tells them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hdtrace/checking/findings.h"

namespace hdtrace {

/// What is wrong with an argument.
struct WrongArgument {
    FindingKind kind{};
    std::string text; ///< "sends to rank 99, which WORLD does not have"
};

/// What rules need to know besides the call. Follows all calls.
class ArgumentContext : public EventVisitor {
  public:
    /// @p project must outlive it.
    explicit ArgumentContext(const OpenedProject& project) : m_project(project) {}

    void leave(const Call& call) override;
    void made(const Call& call, ObjectKind kind, std::int64_t id) override;
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override;

    const OpenedProject& project() const { return m_project; }
    bool has_member(const Communicator& communicator, std::int64_t rank) const
    {
        return is_among(communicator.members, rank);
    }
    bool has_member(const Window& window, std::int64_t rank) const { return is_among(window.members, rank); }
    /// The process made it and did not commit it.
    bool is_uncommitted(std::int64_t rank, std::int64_t tid) const
    {
        return m_uncommitted.contains({rank, tid});
    }
    bool has_uncommitted() const { return !m_uncommitted.empty(); }
    /// Which rules concern a function, as bits.
    std::uint32_t rules_of(const CallFacts& facts, bool is_refused) const;
    bool has_freed(std::int64_t rank, ObjectKind kind) const { return m_freed.contains({rank, kind}); }
    /// Bytes of the memory that was attached for buffered sends of the process in a communicator, if they are
    /// known.
    std::optional<std::int64_t> attached_bytes(std::int64_t rank, std::int64_t cid) const;
    /// MPI_TAG_UB, if the process asked for it.
    std::optional<std::int64_t> largest_tag(std::int64_t rank) const;

  private:
    template <class Member> bool is_among(const std::vector<Member>& members, std::int64_t rank) const
    {
        if (detail::member_at_its_rank(members, rank))
            return true;
        const auto [found, is_new] = m_members.try_emplace(&members);
        for (std::size_t i = 0; is_new && i < members.size(); ++i)
            found->second.insert(members[i].global);
        return found->second.contains(rank);
    }

    void note_attached(const Call& call);
    void note_attribute(const Call& call);

    struct RuleSet {
        std::uint32_t always = 0;
        std::uint32_t if_refused = 0; ///< those and others
    };

    const OpenedProject& m_project;
    mutable std::unordered_map<const CallFacts*, RuleSet> m_rules;
    mutable std::unordered_map<const void*, std::unordered_set<std::int64_t>> m_members; ///< by their list
    std::set<std::pair<std::int64_t, std::int64_t>> m_uncommitted;                       ///< rank and tid
    std::set<std::pair<std::int64_t, ObjectKind>> m_freed;
    std::map<std::int64_t, std::int64_t> m_largest_tag; ///< by rank
    /// Bytes, by rank and the communicator that they are for, -1: for all.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_attached;
};

/// The first argument of a call that is wrong. @p call may have succeeded: MPI libraries let much pass.
std::optional<WrongArgument> find_wrong_argument(const Call& call, const ArgumentContext& context);

} // namespace hdtrace
