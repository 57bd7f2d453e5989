#include "hdtrace/checking/buffer_check.h"

#include <algorithm>
#include <string_view>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/access_target.h"

namespace hdtrace {
namespace {

constexpr AttributeName changed = "changed", used = "used";

/// Only calls of programs that are recorded to be checked do.
bool names_memory(const State& call)
{
    return names_buffers(call) || call.attributes.may_have(changed.bits() | used.bits());
}

/// An access to a window that has no request.
bool is_open_access(const CallFacts& facts)
{
    return facts.access != WindowAccess::none && facts.progress != CallProgress::starts;
}

/// Of which persistent request a call starts an operation; -1: it starts one of its own.
std::int64_t persistent_request(const State& call, std::int64_t rid)
{
    if (call.integer("rid") == rid)
        return call.integer("initRid").value_or(-1);
    for (const Element& child : call.children)
        if (child.name == "Start" && child.integer("rid") == rid)
            return child.integer("initRid").value_or(-1);
    return -1;
}

/// Whether the program may use the buffers of its accesses again.
bool ends_accesses(const CallFacts& facts)
{
    switch (facts.synchronisation) {
    case WindowSynchronisation::fence:
    case WindowSynchronisation::complete:
    case WindowSynchronisation::unlock:
    case WindowSynchronisation::flush:
    case WindowSynchronisation::flush_local:
        return true;
    default:
        return facts.frees == ObjectKind::window;
    }
}

/// Whose buffered sends a call attaches memory for, or detaches it from (MPI 4.1, 3.6): all of the process,
/// or those of one communicator or of a session.
std::string owner_of_attached(const Call& call)
{
    const std::string_view name = call.facts.name;
    return std::string(name.substr(0, name.find('_'))) +
           std::to_string(call.state.integer("cid").value_or(-1));
}

/// Which MPI libraries do also while the process is in no call of MPI: in threads of their own (POSIX AIO).
bool is_file_read(std::string_view name)
{
    return facts_of(name).file == FileAccess::read;
}

std::string uses(bool is_written)
{
    return is_written ? " writes to" : " reads";
}

/// It writes into memory that is given back to it: what the program did wrong is that.
bool is_allocator(const CallSite* site)
{
    const SourceFunction* const function = site ? site->function() : nullptr;
    const CodePlace* const place = function ? site->places.front().get() : nullptr;
    if (!place || !place->object)
        return false;
    const std::string_view path = place->object->path;
    const bool is_c_library = path.substr(path.rfind('/') + 1).starts_with("libc.so");
    return is_c_library && (function->name.find("free") != std::string::npos ||
                            function->name.find("alloc") != std::string::npos);
}

} // namespace

void BufferCheck::enter(const Call& call)
{
    if (!names_memory(call.state) || call.is_inside_call || call.has_failed() || call.state.is_unfinished())
        return;
    Process& process = m_processes[call.trace.rank];
    report_early_uses(process, call);
    if (call.facts.progress == CallProgress::starts)
        return; // comes with what it has started
    std::vector<CallBuffer> ranges = m_buffers.of(call);
    if (ranges.empty())
        return;
    User user{.name = call.state.name,
              .place = place_of(m_findings.objects(), call),
              .only_sends = call.facts.sends != SendMode::none && call.facts.receives == ReceiveKind::none,
              .ranges = std::move(ranges)};
    check_own(user);
    if (call.facts.progress == CallProgress::prepares) {
        process.prepared[call.state.integer("rid").value_or(-1)] = std::move(user.ranges);
        return;
    }
    check_others(process, user);
    if (call.facts.attaches) {
        user.attached_to = owner_of_attached(call);
    } else if (is_open_access(call.facts)) {
        user.window = call.state.integer("wid").value_or(-1);
        user.target = target_of_access(call.state);
    } else {
        return;
    }
    if (!has_alike(process, user))
        add(process, std::move(user));
}

/// Whether a call of the same place uses the same memory until the same time: an epoch may have thousands.
bool BufferCheck::has_alike(const Process& process, const User& user)
{
    const auto [first, last] = process.by_begin.equal_range(user.ranges.front().begin);
    return std::any_of(first, last, [&](const auto& used) {
        const User& other = *used.second.user;
        return other.rid < 0 && other.place.site == user.place.site && other.name == user.name &&
               other.window == user.window && other.target == user.target &&
               other.attached_to == user.attached_to && other.ranges == user.ranges;
    });
}

void BufferCheck::started(const Call& call, const Operation& operation)
{
    if (operation.rid < 0 || call.is_inside_call || call.has_failed())
        return;
    if (m_processes.empty() && !names_memory(call.state))
        return;
    Process& process = m_processes[operation.rank];
    const auto prepared = process.prepared.find(persistent_request(call.state, operation.rid));
    std::vector<CallBuffer> ranges =
        prepared != process.prepared.end() ? prepared->second : m_buffers.of(call);
    if (ranges.empty())
        return;
    User user{.name = call.state.name,
              .place = place_of(m_findings.objects(), call),
              .rid = operation.rid,
              .window = operation.facts->access != WindowAccess::none
                            ? operation.call->integer("wid").value_or(-1)
                            : -1,
              .target = target_of_access(*operation.call),
              .only_receives =
                  operation.facts->receives != ReceiveKind::none && operation.facts->sends == SendMode::none,
              .ranges = std::move(ranges)};
    if (prepared == process.prepared.end())
        check_own(user);
    check_others(process, user);
    add(process, std::move(user));
}

void BufferCheck::completed(const Call& call, const Completion& completion)
{
    if (m_processes.empty())
        return;
    Process& process = m_processes[call.trace.rank];
    if (const auto found = process.by_rid.find(completion.rid); found != process.by_rid.end())
        remove(process, found->second);
    if (completion.what && completion.what->find("doubtful"))
        forget_equal(process);
}

/// An operation that was complete when it was started, as no receive is, has completed, but it is not known
/// which.
void BufferCheck::forget_equal(Process& process)
{
    remove_if(process, [](const User& user) { return user.rid >= 0 && !user.only_receives; });
}

/// What MPI_Request_get_status and its like call complete is the program's again (MPI 4.1, 3.7.6).
void BufferCheck::seen_complete(Process& process, const Call& call)
{
    const auto rid = call.state.integer("rid");
    if (!rid) // of several requests, of which the trace does not say which ones
        remove_if(process, [](const User& user) { return user.rid >= 0; });
    else if (const auto found = process.by_rid.find(*rid); found != process.by_rid.end())
        remove(process, found->second);
    if (call.state.find("doubtful"))
        forget_equal(process);
}

void BufferCheck::leave(const Call& call)
{
    if (call.facts.progress == CallProgress::releases)
        m_processes[call.trace.rank].prepared.erase(call.state.integer("rid").value_or(-1));
    if (call.state.is_unfinished())
        return;
    if (tells_completion_of_kept(call))
        seen_complete(m_processes[call.trace.rank], call);
    if (call.facts.detaches)
        remove_if(m_processes[call.trace.rank],
                  [owner = owner_of_attached(call)](const User& user) { return user.attached_to == owner; });
    const auto window = call.state.integer("wid");
    if (!window || !ends_accesses(call.facts))
        return;
    const std::int64_t target = call.state.integer("toRank").value_or(-1);
    remove_if(m_processes[call.trace.rank], [&](const User& user) {
        return user.window == *window && (target == -1 || user.target == target);
    });
}

/// Two buffers of one call, one of which it writes to; both are the same if that overlaps itself.
std::optional<std::pair<const CallBuffer*, const CallBuffer*>>
BufferCheck::find_own_overlap(const std::vector<CallBuffer>& ranges)
{
    std::vector<const CallBuffer*> by_begin;
    by_begin.reserve(ranges.size());
    for (const CallBuffer& range : ranges)
        by_begin.push_back(&range);
    std::ranges::sort(by_begin, {}, &CallBuffer::begin);
    for (auto one = by_begin.begin(); one != by_begin.end(); ++one) {
        if ((*one)->is_written && overlap_each_other((*one)->pieces))
            return {{*one, *one}};
        for (auto other = one + 1; other != by_begin.end() && (*other)->begin < (*one)->end; ++other)
            if (((*one)->is_written || (*other)->is_written) && overlap(**one, **other))
                return {{*one, *other}};
    }
    return {};
}

/// No call may write to a place twice, or read and write there, except with MPI_IN_PLACE
/// (MPI 4.1, 2.3, 3.2.2).
void BufferCheck::check_own(const User& user)
{
    const auto found = find_own_overlap(user.ranges);
    if (!found || !m_told.insert({user.place.rank, user.place.site, user.place.site}).second)
        return;
    const bool are_written = found->first->is_written && found->second->is_written;
    m_findings.report(FindingKind::buffer_conflict, user.place,
                      user.name + at(user.place.site) + " of rank " + std::to_string(user.place.rank) +
                          (are_written ? " writes twice to the same memory"
                                       : " reads memory and writes to it: its buffers overlap"));
}

void BufferCheck::check_others(Process& process, User& user)
{
    for (const CallBuffer& range : user.ranges)
        for (auto used = process.by_begin.lower_bound(range.begin - process.longest);
             used != process.by_begin.end() && used->first < range.end; ++used) {
            const CallBuffer& other = *used->second.range;
            if ((!range.is_written && !other.is_written) || !overlap(range, other))
                continue;
            User& first = *used->second.user;
            user.has_conflict = first.has_conflict = true;
            const std::string claim = first.attached_to.empty()
                                          ? uses(other.is_written) + " and that is not complete"
                                          : " has given to MPI for buffered sends";
            const std::string text = user.name + at(user.place.site) + " of rank " +
                                     std::to_string(user.place.rank) + uses(range.is_written) +
                                     " memory that " + first.name + at(first.place.site) + claim;
            if (user.only_sends && user.rid < 0 && first.only_receives)
                put_off(user, first, text);
            else if (m_told.insert({user.place.rank, first.place.site, user.place.site}).second)
                m_findings.report(FindingKind::buffer_conflict, user.place, text, first.place.site);
        }
}

void BufferCheck::put_off(const User& send, const User& receive, const std::string& text)
{
    constexpr std::size_t most_of_a_place = 20;
    if (++m_undecided_at[{send.place.rank, receive.place.site, send.place.site}] <= most_of_a_place)
        m_undecided.push_back({send.place, receive.place, receive.rid, text});
}

void BufferCheck::add(Process& process, User user)
{
    const auto added = process.users.insert(process.users.end(), std::move(user));
    for (const CallBuffer& range : added->ranges) {
        process.by_begin.insert({range.begin, {&range, added}});
        process.longest = std::max(process.longest, range.end - range.begin);
    }
    if (added->rid >= 0)
        process.by_rid[added->rid] = added;
}

void BufferCheck::remove(Process& process, Users::iterator user)
{
    for (const CallBuffer& range : user->ranges) {
        const auto [first, last] = process.by_begin.equal_range(range.begin);
        for (auto used = first; used != last; ++used)
            if (used->second.range == &range) {
                process.by_begin.erase(used);
                break;
            }
    }
    if (user->rid >= 0)
        process.by_rid.erase(user->rid);
    process.users.erase(user);
}

template <class Test> void BufferCheck::remove_if(Process& process, Test test)
{
    for (auto user = process.users.begin(); user != process.users.end();) {
        const auto next = std::next(user);
        if (test(*user))
            remove(process, user);
        user = next;
    }
}

const BufferCheck::User* BufferCheck::user_of(const Process& process, std::int64_t at, std::int64_t rid)
{
    if (rid >= 0) {
        const auto found = process.by_rid.find(rid);
        return found != process.by_rid.end() ? &*found->second : nullptr;
    }
    const auto [first, last] = process.by_begin.equal_range(at);
    for (auto used = first; used != last; ++used)
        if (used->second.user->window >= 0)
            return &*used->second.user;
    return nullptr;
}

void BufferCheck::report_early_uses(Process& process, const Call& call)
{
    for (const std::string_view item : items_of(call.state, changed))
        report_early_use(process, call, item, FindingKind::buffer_modified);
    for (const std::string_view item : items_of(call.state, used))
        report_early_use(process, call, item, FindingKind::buffer_accessed);
}

/// Another call that writes there is found as what it is.
void BufferCheck::report_early_use(Process& process, const Call& call, std::string_view item,
                                   FindingKind kind)
{
    const std::int64_t begin = take_number(item), rid = take_number(item), number = take_number(item);
    const User* user = user_of(process, begin, rid);
    if (!user || user->has_conflict)
        return;
    const CallPlace end = place_of(m_findings.objects(), call);
    CallPlace place = end;
    if (number >= 0)
        place.site = SiteOfCall(m_findings.objects(), place.rank, number);
    const auto range = std::ranges::find(user->ranges, begin, &CallBuffer::begin);
    if (range != user->ranges.end() && !range->pieces.empty())
        return; // perhaps it was in a gap
    const bool is_written = range != user->ranges.end() && range->is_written;
    if ((number < 0 && is_written && is_file_read(user->name)) ||
        !m_told.insert({place.rank, user->place.site, place.site}).second)
        return;
    m_findings.report(kind, place,
                      "rank " + std::to_string(place.rank) +
                          (kind == FindingKind::buffer_modified ? " changed memory" : " used memory") +
                          (number >= 0 ? at(place.site) : "") +
                          (is_allocator(place.site) ? ", as it had freed it," : "") + " that " + user->name +
                          at(user->place.site) + uses(is_written) + ", before " +
                          name_of_end(user->name, call.state) + at(end.site) + " completed it",
                      user->place.site);
}

} // namespace hdtrace
