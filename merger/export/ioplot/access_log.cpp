#include "merger/export/ioplot/access_log.h"

#include <string>
#include <utility>

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/matching/saturated.h"
#include "merger/export/format.h"

namespace hdtrace::exporter {

namespace {

bool reads_or_writes(const CallFacts& facts)
{
    return facts.file == FileAccess::read || facts.file == FileAccess::write;
}

} // namespace

void AccessLog::leave(const Call& call)
{
    if (call.facts.life == LifeCycle::begins || call.facts.makes == ObjectKind::session)
        note_clock(call);
    if (call.state.is_unfinished() && !call.is_inside_call && reads_or_writes(call.facts))
        return m_account.dropped("accesses in which the process ended, of whatever file");
    Logs::value_type* const log = log_of(call);
    if (log == nullptr)
        return;
    if (call.has_failed() && reads_or_writes(call.facts))
        m_account.dropped("accesses that failed");
    else if (call.facts.file == FileAccess::view && !call.has_failed())
        set_view(m_views[{call.trace.rank, log->first}], call.trace.rank, call.state);
    else if (call.facts.makes == ObjectKind::file)
        m_views.erase({call.trace.rank, log->first});
}

void AccessLog::accessed(const Call& call, const Operation& operation)
{
    Logs::value_type* const log = log_of(call);
    if (log != nullptr && !call.has_failed() && reads_or_writes(*operation.facts))
        start(*log, operation);
}

void AccessLog::completed(const Call& call, const Completion& completion)
{
    const auto found = m_pending.extract({call.trace.rank, completion.rid});
    if (!found)
        return;
    if (completion.outcome == Outcome::failed || completion.outcome == Outcome::cancelled)
        return m_account.dropped("accesses that failed");
    Access& access = found.mapped().access;
    access.size = std::min(access.size, completion.what->integer("actual").value_or(access.size));
    write_and_count(access, completion.end);
}

void AccessLog::finish()
{
    for (const auto& [ignored, pending] : m_pending) {
        write(pending.access, pending.end);
        m_account.approximated(
            "accesses of which no call tells the end: until the call that started them returned");
    }
}

Logs::value_type* AccessLog::log_of(const Call& call) const
{
    const auto found =
        call.is_inside_call ? m_logs.end() : m_logs.find(m_objects.file(call.trace.rank, call.state));
    return found == m_logs.end() ? nullptr : &*found;
}

// `wtime` is what MPI_Wtime said when the call returned.
void AccessLog::note_clock(const Call& call)
{
    const auto wtime = call.state.find("wtime");
    const std::optional<std::int64_t> nanoseconds = wtime ? parse_time(*wtime) : std::nullopt;
    if (nanoseconds)
        m_wtime_zero.try_emplace(call.trace.rank, saturated_distance(call.state.end, *nanoseconds));
}

void AccessLog::set_view(View& view, std::int64_t rank, const State& call)
{
    const MappedType* type = m_types.find(rank, call.integer("filetid").value_or(-1));
    const auto representation = call.find("representation");
    view = {type ? std::optional(FileView(call.integer("offset").value_or(0), *type)) : std::nullopt,
            !representation || *representation == "native" || *representation == "NATIVE"};
}

void AccessLog::start(Logs::value_type& log, const Operation& operation)
{
    const Element& call = *operation.call;
    const std::optional<std::int64_t> offset = call.integer("offset");
    const View& view = m_views[{operation.rank, log.first}];
    if (!offset)
        return m_account.dropped(
            "accesses with the shared file pointer, since the trace does not tell their offset");
    if (!view.of_file)
        return m_account.dropped("accesses through a view whose file type is not described");
    if (!view.of_file->is_regular())
        return m_account.dropped("accesses through a file type that overlaps itself or goes backwards");
    const std::int64_t asked = call.integer("size").value_or(0);
    const Access access = {
        operation.rank, &log.second,   operation.facts->file == FileAccess::write,
        *view.of_file,  *offset,       std::min(asked, call.integer("actual").value_or(asked)),
        operation.time, view.is_native};
    if (operation.rid >= 0)
        m_pending.insert_or_assign({operation.rank, operation.rid}, Pending{access, operation.end});
    else
        write_and_count(access, operation.end);
}

void AccessLog::write_and_count(const Access& access, std::int64_t end)
{
    write(access, end);
    if (access.is_native)
        m_account.exact();
    else
        m_account.approximated("accesses in another data representation: with the sizes in memory");
}

void AccessLog::write(const Access& access, std::int64_t end)
{
    const std::int64_t shown_begin = shown_time(access.rank, access.time);
    const std::int64_t shown_end = shown_time(access.rank, end);
    const auto write_line = [&](std::int64_t offset, std::int64_t length) {
        access.log->number(access.rank).text(access.is_write ? " w " : " r ");
        access.log->number(offset).text(" ").number(length).text(" ");
        access.log->seconds(shown_begin).text(" ").seconds(shown_end).text("\n");
    };
    if (m_form.one_line_per_operation)
        return write_line(access.offset, access.size);
    bool is_first = true;
    access.view.visit_pieces(access.offset, access.size, [&](std::int64_t begin, std::int64_t piece_end) {
        if (!std::exchange(is_first, false) && ++m_pieces > m_form.most_pieces)
            throw ConvertError("there are more than " + std::to_string(m_form.most_pieces) +
                               " pieces: --most-pieces=N allows more, --lines=operations needs none");
        write_line(begin, piece_end - begin);
    });
}

std::int64_t AccessLog::shown_time(std::int64_t rank, std::int64_t time) const
{
    if (!m_form.as_wtime)
        return saturated_distance(time, *m_start);
    const auto zero = m_wtime_zero.find(rank);
    if (zero == m_wtime_zero.end())
        throw ConvertError("the trace of rank " + std::to_string(rank) +
                           " does not tell MPI_Wtime: take --times=run");
    return saturated_distance(time, zero->second);
}

} // namespace hdtrace::exporter
