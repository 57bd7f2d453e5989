#include "merger/united_worlds.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hdtrace::merger {

namespace {

/// The uids by which the two sides of a communicator call it, and those of what was made of it: they begin
/// with it.
class Aliases {
  public:
    struct Name {
        std::string uid;
        bool names_other_side = false; ///< `own` is the other side for who calls it so
    };

    void add(const std::string& from, const std::string& to, bool names_other_side)
    {
        m_uids[from] = {to, names_other_side};
        m_targets[to];
    }

    /// @p uid may be followed by a blank and more.
    Name name(std::string_view uid) const
    {
        Name name;
        while (!uid.empty()) {
            const std::size_t end = std::min(uid.find_first_of("/ ", 1), uid.size());
            name.uid += uid.substr(0, end);
            uid.remove_prefix(end);
            if (const auto found = m_uids.find(name.uid); found != m_uids.end())
                name = found->second;
            else if (m_targets.contains(name.uid))
                name.names_other_side = false;
        }
        return name;
    }

  private:
    std::map<std::string, Name> m_uids;
    std::map<std::string, bool> m_targets;
};

/// The members by their local ranks; nothing if two are in one place.
std::vector<RankRun> by_local_rank(const std::vector<const RankMap*>& maps)
{
    std::vector<RankRun> runs;
    for (const RankMap* map : maps)
        runs.insert(runs.end(), map->runs().begin(), map->runs().end());
    std::ranges::sort(runs, {}, &RankRun::local);
    const auto overlap = std::ranges::adjacent_find(
        runs, [](const RankRun& a, const RankRun& b) { return b.local < a.local + a.count; });
    return overlap == runs.end() ? runs : std::vector<RankRun>();
}

/// The numbers in @p run and the ranks of the members that are known.
void add_known(std::vector<RankRun>& known, const RankRun& run, const std::vector<RankRun>& members)
{
    const auto ends_before = [](const RankRun& member, std::int64_t local) {
        return member.local + member.count <= local;
    };
    for (auto member = std::lower_bound(members.begin(), members.end(), run.local, ends_before);
         member != members.end() && member->local < run.local + run.count; ++member) {
        const std::int64_t first = std::max(member->local, run.local);
        const std::int64_t last = std::min(member->local + member->count, run.local + run.count);
        known.push_back({run.world + first - run.local, member->world + first - member->local, last - first});
    }
}

class Uniter {
  public:
    Uniter(std::vector<MergedCommunicator>& communicators, Report& report)
        : m_communicators(communicators), m_report(report)
    {
    }

    UnitedWorlds run(std::vector<ForeignMembers> foreign)
    {
        m_result.positions.resize(m_communicators.size());
        std::iota(m_result.positions.begin(), m_result.positions.end(), std::size_t{0});
        if (std::ranges::all_of(m_communicators, &std::vector<WorldView>::empty, &MergedCommunicator::views))
            return std::move(m_result);
        m_is_swapped.resize(m_communicators.size());
        pair_ports();
        while (pair_leaders() || pair_mirrored()) {
        }
        move_communicators();
        m_members.resize(m_communicators.size());
        for (std::size_t i = 0; i < m_communicators.size(); ++i) {
            if (!m_communicators[i].views.empty())
                unite(i);
        }
        for (const ForeignMembers& members : foreign)
            add_foreign(members);
        for (ForeignRanks& ranks : m_result.foreign)
            std::ranges::sort(ranks.runs, {}, &RankRun::world);
        for (MergedCommunicator& communicator : m_communicators)
            communicator.order_sides();
        return std::move(m_result);
    }

  private:
    using Kind = Meeting::Kind;

    /// Several processes may use one port, and which of them met is not known; if there is one on each side,
    /// it is the order of their calls.
    void pair_ports()
    {
        struct Port {
            std::vector<std::size_t> accepts, connects;
        };
        std::map<std::string, Port> ports;
        for (std::size_t i = 0; i < m_communicators.size(); ++i) {
            const Meeting& meeting = m_communicators[i].meeting;
            if (meeting.kind == Kind::accepts)
                ports[meeting.where].accepts.push_back(i);
            else if (meeting.kind == Kind::connects)
                ports[meeting.where].connects.push_back(i);
        }
        for (const auto& [name, port] : ports) {
            if (port.accepts.size() != port.connects.size() || !are_of_one(port.accepts) ||
                !are_of_one(port.connects))
                continue;
            for (std::size_t i = 0; i < port.accepts.size(); ++i)
                add_alias(port.accepts[i], port.connects[i], false);
        }
    }

    bool are_of_one(const std::vector<std::size_t>& positions) const
    {
        return std::ranges::all_of(positions, [&](std::size_t position) {
            return m_communicators[position].meeting_rank == m_communicators[positions.front()].meeting_rank;
        });
    }

    /// What leaders call their meeting begins with a uid, which may be that of a side itself. Whether there
    /// is something new.
    bool pair_leaders()
    {
        std::map<std::string, std::vector<std::size_t>> meetings;
        for (std::size_t i = 0; i < m_communicators.size(); ++i) {
            const Meeting& meeting = m_communicators[i].meeting;
            if (meeting.kind == Kind::leaders && !m_paired[i])
                meetings[m_aliases.name(meeting.where).uid].push_back(i);
        }
        bool is_new = false;
        for (const auto& [name, positions] : meetings) {
            if (positions.size() == 2) {
                pair(positions[0], positions[1]);
                is_new = true;
            }
        }
        return is_new;
    }

    /// Where no leader tells of the meeting, but a world has processes on both sides: all of them have seen
    /// all that these made, in the same order.
    bool pair_mirrored()
    {
        std::map<std::string, std::vector<std::size_t>> by_shape;
        for (std::size_t i = 0; i < m_communicators.size(); ++i) {
            const MergedCommunicator& communicator = m_communicators[i];
            if (communicator.side != Side::own || m_paired[i] || communicator.views.empty())
                continue;
            const WorldView& view = communicator.views.front();
            if (!view.map.runs().empty() && !view.remote.runs().empty())
                by_shape[to_string(view.map) + "|" + to_string(view.remote)].push_back(i);
        }
        bool is_new = false;
        for (const auto& [shape, positions] : by_shape) {
            const WorldView& view = m_communicators[positions.front()].views.front();
            const auto others = by_shape.find(to_string(view.remote) + "|" + to_string(view.map));
            if (others == by_shape.end() || others->first < shape ||
                others->second.size() != positions.size())
                continue;
            for (std::size_t i = 0; i < positions.size(); ++i)
                pair(positions[i], others->second[i]);
            is_new = true;
        }
        return is_new;
    }

    void pair(std::size_t a, std::size_t b)
    {
        add_alias(a, b, true);
        m_paired[a] = m_paired[b] = true;
    }

    void add_alias(std::size_t a, std::size_t b, bool names_other_side)
    {
        const auto [first, second] = std::minmax(a, b);
        const std::string from = m_aliases.name(m_communicators[second].uid).uid;
        const std::string to = m_aliases.name(m_communicators[first].uid).uid;
        if (from != to)
            m_aliases.add(from, to, names_other_side);
    }

    void move_communicators()
    {
        std::map<std::string, std::size_t> position_of_uid;
        for (std::size_t i = 0; i < m_communicators.size(); ++i) {
            MergedCommunicator& communicator = m_communicators[i];
            if (communicator.uid.empty())
                continue;
            Aliases::Name name = m_aliases.name(communicator.uid);
            communicator.uid = std::move(name.uid);
            m_is_swapped[i] = communicator.side == Side::own && name.names_other_side;
            if (m_is_swapped[i]) {
                for (WorldView& view : communicator.views)
                    std::swap(view.map, view.remote);
            }
            const auto [known, is_new] = position_of_uid.try_emplace(communicator.uid, i);
            m_result.positions[i] = known->second;
            if (!is_new)
                move(communicator, m_communicators[known->second]);
        }
    }

    void move(MergedCommunicator& from, MergedCommunicator& to)
    {
        for (WorldView& view : from.views) {
            const auto known = std::ranges::find(to.views, view.world, &WorldView::world);
            if (known == to.views.end())
                to.views.push_back(std::move(view));
            else if (known->map != view.map || known->remote != view.remote)
                fail(from, to);
        }
        std::vector<std::pair<std::int64_t, std::int64_t>> ids;
        std::ranges::merge(to.ids, from.ids, std::back_inserter(ids));
        to.ids = std::move(ids);
        from = MergedCommunicator();
    }

    void fail(const MergedCommunicator& one, const MergedCommunicator& other) const
    {
        m_report.error(one.place,
                       "communicator '" + one.uid + "' has other members than in " + to_string(other.place));
    }

    void unite(std::size_t position)
    {
        MergedCommunicator& communicator = m_communicators[position];
        const std::vector<WorldView>& views = communicator.views;
        for (const WorldView& view : views) {
            m_result.links.emplace_back(views.front().world, view.world);
            if (view.map.size_of_all() != views.front().map.size_of_all() ||
                view.remote.size_of_all() != views.front().remote.size_of_all())
                return fail(communicator, communicator);
        }
        communicator.map = unite(communicator, &WorldView::map, m_members[position].map);
        communicator.remote = unite(communicator, &WorldView::remote, m_members[position].remote);
    }

    RankMap unite(const MergedCommunicator& communicator, RankMap WorldView::*side,
                  std::vector<RankRun>& members) const
    {
        std::vector<const RankMap*> maps;
        bool has_members = false;
        for (const WorldView& view : communicator.views) {
            maps.push_back(&(view.*side));
            has_members = has_members || !maps.back()->runs().empty();
        }
        members = by_local_rank(maps);
        if (members.empty() && has_members)
            fail(communicator, communicator);
        try {
            return RankMap(members, {});
        } catch (const std::invalid_argument&) {
            fail(communicator, communicator);
            return {};
        }
    }

    void add_foreign(const ForeignMembers& members)
    {
        const Members& known = m_members[m_result.positions[members.communicator]];
        const bool is_remote = members.is_remote != m_is_swapped[members.communicator];
        std::vector<RankRun> runs;
        for (const RankRun& run : members.runs)
            add_known(runs, run, is_remote ? known.remote : known.map);
        if (runs.empty())
            return;
        if (m_result.foreign.empty() || m_result.foreign.back().rank != members.rank)
            m_result.foreign.push_back({members.rank, {}});
        std::ranges::move(runs, std::back_inserter(m_result.foreign.back().runs));
    }

    /// By their local ranks.
    struct Members {
        std::vector<RankRun> map, remote;
    };

    std::vector<MergedCommunicator>& m_communicators;
    Report& m_report;
    Aliases m_aliases;
    std::map<std::size_t, bool> m_paired;
    std::vector<bool> m_is_swapped;
    std::vector<Members> m_members; ///< by position
    UnitedWorlds m_result;
};

} // namespace

UnitedWorlds unite_worlds(std::vector<MergedCommunicator>& communicators, std::vector<ForeignMembers> foreign,
                          Report& report)
{
    return Uniter(communicators, report).run(std::move(foreign));
}

} // namespace hdtrace::merger
