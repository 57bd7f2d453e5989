#include "hdtrace/explaining/file_uses.h"

#include <algorithm>

#include "hdtrace/format/host_clock.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

// Traces may hold any times and sizes: sums of differences of these fit into 64 bits.
std::int64_t known_time(std::int64_t time)
{
    return std::clamp(time, -HostClock::latest, HostClock::latest);
}

/// Ends a visit of pieces, which may be as many as a hostile trace says.
struct TooManyPieces {};

bool reads_or_writes(const CallFacts& facts)
{
    return facts.file == FileAccess::read || facts.file == FileAccess::write;
}

} // namespace

FileUse* FileUses::use_of(const Call& call, std::int64_t rank, const Element& names_file,
                          const CallFacts& facts)
{
    const ProjectFile* const file = m_project.objects.file(rank, names_file);
    if (!file || call.is_inside_call || call.state.time >= m_interval.end ||
        call.state.end <= m_interval.begin)
        return nullptr;
    const CallSite* const site = m_project.objects.call_site(rank, call.state);
    const std::int32_t site_number = site ? position_in(m_project.project.call_sites, *site) : -1;
    const std::int32_t file_number = position_in(m_project.project.files, *file);
    FileUse& use = m_uses[{file_number, &facts, site_number}];
    use.call = &facts;
    use.site = site_number;
    use.file = file_number;
    use.ranks.insert(rank);
    return &use;
}

void FileUses::leave(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    const ProjectFile* const file = call.is_inside_call ? nullptr : m_project.objects.file(rank, call.state);
    if (!file)
        return;
    m_views.follow(call, *file);
    if (call.facts.makes == ObjectKind::file)
        m_next.erase({rank, position_in(m_project.project.files, *file)});
    if (FileUse* const use = use_of(call, rank, call.state, call.facts)) {
        ++use->calls;
        use->time = saturated_sum(use->time, known_time(call.state.end) - known_time(call.state.time));
    }
}

void FileUses::accessed(const Call& call, const Operation& operation)
{
    if (call.has_failed() || !reads_or_writes(*operation.facts))
        return;
    FileUse* const use = use_of(call, operation.rank, *operation.call, call.facts);
    if (!use)
        return;
    const std::int64_t asked = std::max<std::int64_t>(operation.call->integer("size").value_or(0), 0);
    const std::int64_t size =
        std::clamp<std::int64_t>(operation.call->integer("actual").value_or(asked), 0, asked);
    const Access access = {operation.time, operation.end, size, operation.facts->file == FileAccess::write};
    const std::optional<Place> where = place(*use, operation, size);
    if (operation.rid >= 0)
        m_pending.insert_or_assign({operation.rank, operation.rid}, Pending{use, access, where});
    else
        add(*use, operation.rank, access, where);
}

void FileUses::completed(const Call&, const Completion& completion)
{
    if (!completion.operation)
        return;
    const auto found = m_pending.extract({completion.operation->rank, completion.rid});
    if (!found || completion.outcome == Outcome::failed)
        return;
    Access& access = found.mapped().access;
    access.bytes =
        std::clamp<std::int64_t>(completion.what->integer("actual").value_or(access.bytes), 0, access.bytes);
    access.end = std::max(access.end, completion.end);
    add(*found.mapped().use, completion.operation->rank, access, found.mapped().place);
}

void FileUses::add(FileUse& use, std::int64_t rank, const Access& access, const std::optional<Place>& place)
{
    ++use.accesses;
    use.bytes = saturated_sum(use.bytes, access.bytes);
    use.small += access.bytes > 0 && access.bytes < FileUse::small_size;
    m_accesses[use.file].push_back(access);
    if (!place || access.bytes == 0)
        return;
    ++use.placed;
    use.strided += place->pieces > 1;
    use.consecutive += place->is_consecutive;
    use.large += place->is_large;
    use.unaligned += place->is_unaligned;
    move_bytes(use, rank, access, *place);
}

const FileView* FileUses::view_of(const FileUse& use, std::int64_t rank) const
{
    return m_views.find(rank, m_project.project.files[static_cast<std::size_t>(use.file)]);
}

std::optional<FileUses::Place> FileUses::place(const FileUse& use, const Operation& operation,
                                               std::int64_t size)
{
    const std::int64_t offset = operation.call->integer("offset").value_or(-1);
    const FileView* const view = view_of(use, operation.rank);
    if (size == 0 || offset < 0 || !view || has_too_many_pieces())
        return {};
    std::int64_t first = -1, last_end = -1, pieces = 0;
    try {
        view->visit_pieces(offset, size, [&](std::int64_t begin, std::int64_t end) {
            first = pieces++ == 0 ? begin : first;
            if (pieces > 1 && ++m_pieces >= most_pieces)
                throw TooManyPieces();
            last_end = end;
        });
    } catch (const TooManyPieces&) {
        return {};
    }
    const bool is_large = size >= FileUse::large_size;
    std::int64_t& next = m_next[{operation.rank, use.file}];
    return Place{.offset = offset,
                 .pieces = pieces,
                 .is_consecutive = first == std::exchange(next, last_end),
                 .is_large = is_large,
                 .is_unaligned = is_large && first % FileUse::block_size != 0};
}

void FileUses::move_bytes(FileUse& use, std::int64_t rank, const Access& access, const Place& place)
{
    const FileView* const view = view_of(use, rank);
    if (!view || has_too_many_pieces())
        return;
    Written& written = m_written[use.file];
    std::int64_t pieces = 0;
    const auto move_piece = [&](std::int64_t begin, std::int64_t end) {
        if (pieces++ == place.pieces) // another view was set before it was over, which MPI forbids
            throw TooManyPieces();
        if (access.is_write)
            add_written(written, begin, end);
        else
            use.read_back_bytes = saturated_sum(use.read_back_bytes, bytes_written(written, begin, end));
    };
    try {
        view->visit_pieces(place.offset, access.bytes, move_piece);
    } catch (const TooManyPieces&) {
    }
}

void FileUses::add_written(Written& written, std::int64_t begin, std::int64_t end)
{
    auto next = written.upper_bound(begin);
    if (next != written.begin() && std::prev(next)->second >= begin)
        --next;
    while (next != written.end() && next->first <= end) {
        begin = std::min(begin, next->first);
        end = std::max(end, next->second);
        next = written.erase(next);
    }
    written.emplace_hint(next, begin, end);
}

std::int64_t FileUses::bytes_written(const Written& written, std::int64_t begin, std::int64_t end)
{
    auto piece = written.upper_bound(begin);
    if (piece != written.begin())
        --piece;
    std::int64_t bytes = 0;
    for (; piece != written.end() && piece->first < end; ++piece)
        bytes += std::max<std::int64_t>(0, std::min(end, piece->second) - std::max(begin, piece->first));
    return bytes;
}

void FileUses::finish(std::int64_t run_time)
{
    for (const auto& [key, pending] : m_pending) // no call tells when they ended
        add(*pending.use, key.first, pending.access, pending.place);
    m_pending.clear();
    for (auto& [file, accesses] : m_accesses) {
        for (Access& access : accesses) {
            access.begin = known_time(access.begin);
            access.end = std::max(access.begin, known_time(access.end));
        }
        std::ranges::sort(accesses, {}, &Access::begin);
        std::vector<FilePhase>& phases = m_phases[file];
        for (const Access& access : accesses) {
            if (phases.empty() || access.begin - phases.back().end > run_time / 100)
                phases.push_back({access.begin, access.begin});
            FilePhase& phase = phases.back();
            phase.busy += std::max<std::int64_t>(0, access.end - std::max(access.begin, phase.end));
            phase.end = std::max(phase.end, access.end);
            std::int64_t& bytes = access.is_write ? phase.written_bytes : phase.read_bytes;
            bytes = saturated_sum(bytes, access.bytes);
        }
    }
    m_accesses.clear();
}

std::vector<const FileUse*> FileUses::uses() const
{
    std::vector<const FileUse*> uses;
    for (const auto& [ignored, use] : m_uses)
        uses.push_back(&use);
    // The key has an address, which says nothing.
    std::ranges::sort(uses, {},
                      [](const FileUse* use) { return std::tuple(use->file, use->call->name, use->site); });
    return uses;
}

const std::vector<FilePhase>& FileUses::phases(std::int32_t file) const
{
    static const std::vector<FilePhase> none;
    const auto found = m_phases.find(file);
    return found == m_phases.end() ? none : found->second;
}

} // namespace hdtrace
