#include "hdtrace/checking/file_conflicts.h"

#include <algorithm>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/nearest_pairs.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_comparisons = 20'000'000;

bool reads_or_writes(const CallFacts& facts)
{
    return facts.file == FileAccess::read || facts.file == FileAccess::write;
}

} // namespace

void FileConflicts::accessed(const Call& call, const Operation& operation)
{
    if (call.is_inside_call || call.has_failed() || !reads_or_writes(*operation.facts) ||
        m_piece_count > most_pieces)
        return;
    const ProjectFile* file = m_findings.objects().file(operation.rank, *operation.call);
    const auto offset = operation.call->integer("offset");
    const bool has_unknown_view = m_with_unknown_views.contains(operation.rank);
    const FileView* view = file && !has_unknown_view ? m_views.find(operation.rank, *file) : nullptr;
    if (offset && file && !view && (has_unknown_view || m_views.has_several_handles(operation.rank, *file)))
        m_findings.set_incomplete(FindingKind::file_conflict);
    if (!offset || !view)
        return;
    const std::int64_t asked = operation.call->integer("size").value_or(0);
    const std::int64_t size = std::min(asked, operation.call->integer("actual").value_or(asked));
    std::vector<Piece>& pieces = m_pieces[file];
    view->visit_pieces(*offset, size, [&](std::int64_t begin, std::int64_t end) {
        if (++m_piece_count <= most_pieces)
            pieces.push_back({begin, end, m_accesses.size()});
    });
    if (operation.rid >= 0)
        m_pending[{operation.rank, operation.rid}] = m_accesses.size();
    else
        m_blocking[operation.rank] = m_accesses.size();
    m_accesses.push_back({operation.facts->file == FileAccess::write,
                          m_atomic.contains({operation.rank, file}), m_order.step(operation.rank), Moment(),
                          call.state.name, place_of(m_findings.objects(), call)});
}

void FileConflicts::leave(const Call& call)
{
    if (call.is_inside_call)
        return;
    if (const auto access = m_blocking.extract(call.trace.rank))
        m_accesses[access.mapped()].done = m_order.step(call.trace.rank);
    const ProjectFile* file = m_findings.objects().file(call.trace.rank, call.state);
    if (!file && call.facts.file == FileAccess::view)
        m_with_unknown_views.insert(call.trace.rank);
    if (!file || call.has_failed())
        return;
    m_views.follow(call, *file);
    const bool sets_mode = call.state.name == "File_set_atomicity";
    if (sets_mode && call.state.integer("flag") != 0)
        m_atomic.emplace(call.trace.rank, file);
    else if (sets_mode || call.facts.makes == ObjectKind::file)
        m_atomic.erase({call.trace.rank, file});
}

void FileConflicts::completed(const Call& call, const Completion& completion)
{
    if (const auto access = m_pending.extract({call.trace.rank, completion.rid}))
        m_accesses[access.mapped()].done = m_order.step(call.trace.rank);
}

/// Those that are ordered are sorted out later.
bool FileConflicts::conflict(std::size_t one, std::size_t other) const
{
    const Access& first = m_accesses[one];
    const Access& second = m_accesses[other];
    return first.place.rank != second.place.rank && (first.writes || second.writes) &&
           !(first.is_atomic && second.is_atomic);
}

void FileConflicts::add_pairs(const ProjectFile& file, std::vector<Piece>& pieces)
{
    std::ranges::sort(pieces, {}, &Piece::begin);
    std::vector<const Piece*> open; // those that may reach the next piece
    std::size_t comparisons = 0;
    NearestPairs nearest;
    const auto access_at = [&](std::size_t number) {
        const Access& access = m_accesses[number];
        return NearestPairs::Access{number, access.place.rank, access.place.site, access.done};
    };
    for (const Piece& piece : pieces) {
        comparisons += open.size();
        if (comparisons > most_comparisons)
            return m_findings.set_incomplete(FindingKind::file_conflict);
        std::erase_if(open, [&](const Piece* other) { return other->end <= piece.begin; });
        for (const Piece* other : open)
            if (conflict(other->access, piece.access))
                nearest.add(access_at(std::min(other->access, piece.access)),
                            access_at(std::max(other->access, piece.access)), piece.begin);
        open.push_back(&piece);
    }
    nearest.for_each([&](std::size_t one, std::size_t other, std::int64_t begin) {
        add_pair({one, other, &file, begin});
    });
}

void FileConflicts::add_pair(const Pair& pair)
{
    if (m_limit.add(m_accesses[pair.one].place.site, m_accesses[pair.other].place.site))
        m_pairs.push_back(pair);
    else
        m_findings.set_incomplete(FindingKind::file_conflict);
}

void FileConflicts::prepare()
{
    if (m_piece_count > most_pieces)
        return m_findings.set_incomplete(FindingKind::file_conflict);
    for (auto& [file, pieces] : m_pieces)
        add_pairs(*file, pieces);
    for (const Pair& pair : m_pairs) {
        m_order.keep(m_accesses[pair.one].issued);
        m_order.keep(m_accesses[pair.other].issued);
    }
}

void FileConflicts::finish()
{
    std::set<std::pair<const CallSite*, const CallSite*>> told;
    for (const Pair& pair : m_pairs) {
        const Access& first = m_accesses[pair.one];
        const Access& second = m_accesses[pair.other];
        const auto is_behind = [&](const Access& earlier, const Access& later) {
            return earlier.done.step > 0 && m_order.is_before(earlier.done, later.issued);
        };
        if (is_behind(first, second) || is_behind(second, first) ||
            !told.insert({first.place.site, second.place.site}).second)
            continue;
        m_findings.report(FindingKind::file_conflict, second.place,
                          second.name + at(second.place.site) + " of rank " +
                              std::to_string(second.place.rank) + " and " + first.name +
                              at(first.place.site) + " of rank " + std::to_string(first.place.rank) +
                              " access the same bytes of " + pair.file->name + ", from " +
                              std::to_string(pair.begin) + " on, and nothing orders them",
                          first.place.site);
    }
}

} // namespace hdtrace
