#include "hdtrace/report/file_accesses.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace hdtrace::report {
namespace {

/// Ends a visit of pieces, which may be as many as a hostile trace says.
struct EnoughPieces {};

/// False if there are more than are kept.
bool add_pieces(const FileView& view, std::int64_t offset, std::int64_t size,
                std::vector<FileAccesses::Piece>& pieces)
try {
    view.visit_pieces(offset, size, [&](std::int64_t begin, std::int64_t end) {
        if (pieces.size() == FileAccesses::most_of_an_access)
            throw EnoughPieces();
        pieces.push_back({begin, end});
    });
    return true;
} catch (const EnoughPieces&) {
    return false;
}

/// Those of the first bytes.
void cut_off(std::vector<FileAccesses::Piece>& pieces, std::int64_t size)
{
    std::size_t kept = 0;
    for (; kept < pieces.size() && size > 0; ++kept) {
        FileAccesses::Piece& piece = pieces[kept];
        piece.end = std::min(piece.end, piece.begin + size);
        size -= piece.end - piece.begin;
    }
    pieces.resize(kept);
}

} // namespace

void FileAccesses::OfFile::add(Access access, std::size_t most)
{
    if (seen++ % step != 0)
        return;
    pieces += access.pieces.size();
    accesses.push_back(std::move(access));
    while (pieces > most && accesses.size() > 1) {
        pieces = 0;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < accesses.size(); i += 2) {
            pieces += accesses[i].pieces.size();
            if (i > 0)
                accesses[kept] = std::move(accesses[i]);
            ++kept;
        }
        accesses.resize(kept);
        step *= 2;
    }
}

Packed FileAccesses::OfFile::packed() const
{
    Packed begins, durations, ranks, kinds, counts, gaps, lengths;
    std::int64_t last_begin = 0, last_end = 0;
    for (const Access& access : accesses) {
        begins.add_signed(access.begin - last_begin);
        last_begin = access.begin;
        durations.add(static_cast<std::uint64_t>(access.end - access.begin));
        ranks.add(static_cast<std::uint64_t>(access.rank));
        kinds.add_byte(static_cast<std::uint8_t>((access.is_write ? 1 : 0) | (access.is_collective ? 2 : 0)));
        counts.add(access.pieces.size());
        for (const Piece& piece : access.pieces) {
            gaps.add_signed(piece.begin - last_end);
            lengths.add(static_cast<std::uint64_t>(piece.end - piece.begin));
            last_end = piece.end;
        }
    }
    Packed result;
    result.add(accesses.size());
    for (const Packed* const column : {&begins, &durations, &ranks, &kinds, &counts, &gaps, &lengths})
        result.add_all(*column);
    return result;
}

const ProjectFile* FileAccesses::file_of(const Call& call, std::int64_t rank, const Element& names_file) const
{
    return call.is_inside_call ? nullptr : m_project.objects.file(rank, names_file);
}

void FileAccesses::leave(const Call& call)
{
    if (const ProjectFile* const file = file_of(call, call.trace.rank, call.state))
        m_views.follow(call, *file);
}

void FileAccesses::accessed(const Call& call, const Operation& operation)
{
    const FileAccess what = operation.facts->file;
    if (call.has_failed() || (what != FileAccess::read && what != FileAccess::write))
        return;
    const ProjectFile* const file = file_of(call, operation.rank, *operation.call);
    if (!file)
        return;
    const auto number = static_cast<std::size_t>(position_in(m_project.project.files, *file));
    const std::int64_t asked = std::max<std::int64_t>(operation.call->integer("size").value_or(0), 0);
    const std::int64_t size =
        std::clamp<std::int64_t>(operation.call->integer("actual").value_or(asked), 0, asked);
    const std::optional<std::int64_t> offset = operation.call->integer("offset");
    const FileView* const view = m_views.find(operation.rank, *file);
    OfFile& of_file = m_files[number];
    of_file.file = number;
    if (size == 0)
        return;
    Access access = {.begin = operation.time,
                     .end = operation.end,
                     .rank = operation.rank,
                     .is_write = what == FileAccess::write,
                     .is_collective = operation.facts->members == CollectiveMembers::file,
                     .pieces = {}};
    if (offset && view)
        of_file.is_cut |= !add_pieces(*view, *offset, size, access.pieces);
    if (operation.rid >= 0)
        m_pending.insert_or_assign({operation.rank, operation.rid}, Pending{number, std::move(access)});
    else
        add(number, std::move(access));
}

void FileAccesses::completed(const Call&, const Completion& completion)
{
    if (!completion.operation)
        return;
    auto found = m_pending.extract({completion.operation->rank, completion.rid});
    if (!found || completion.outcome == Outcome::failed)
        return;
    const auto actual = completion.what->integer("actual");
    if (actual && *actual <= 0)
        return;
    Access& access = found.mapped().access;
    if (actual)
        cut_off(access.pieces, *actual);
    access.end = std::max(access.end, completion.end);
    add(found.mapped().file, std::move(access));
}

void FileAccesses::add(std::size_t file, Access access)
{
    if (access.pieces.empty()) { // of none its place is known
        ++m_files[file].unplaced;
        return;
    }
    const std::size_t most =
        std::clamp<std::size_t>(most_of_all / std::max<std::size_t>(m_files.size(), 1), 100, most_pieces);
    m_files[file].add(std::move(access), most);
}

void FileAccesses::finish(const std::function<std::int64_t(std::int64_t, std::int64_t)>& shown)
{
    for (auto& [ignored, pending] : m_pending) // no call tells when they ended
        add(pending.file, std::move(pending.access));
    m_pending.clear();
    for (auto& [ignored, file] : m_files) {
        for (Access& access : file.accesses) {
            access.begin = shown(access.rank, access.begin);
            access.end = std::max(access.begin, shown(access.rank, access.end));
        }
        std::ranges::sort(file.accesses, {}, &Access::begin);
    }
}

} // namespace hdtrace::report
