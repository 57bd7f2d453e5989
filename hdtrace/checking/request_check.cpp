#include "hdtrace/checking/request_check.h"

#include <algorithm>
#include <sstream>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/partitions.h"
#include "hdtrace/calls/waits.h"

namespace hdtrace {
namespace {

std::int64_t rid_of(const Element& element)
{
    return element.integer("rid").value_or(-1);
}

/// Which partitions a call makes ready; of a range that goes too far one that does not exist.
std::vector<std::int64_t> partitions_of(const State& call, std::int64_t most)
{
    std::vector<std::int64_t> partitions;
    if (const auto one = call.integer("partition"))
        return {*one};
    const auto low = call.integer("partitionLow"), high = call.integer("partitionHigh");
    if (low && (*low < 0 || *low > most))
        return {*low};
    if (low && high)
        for (std::int64_t i = *low; i <= std::min(*high, most); ++i)
            partitions.push_back(i);
    else if (const auto list = call.find("partitions"))
        for (std::istringstream text{std::string(*list)}; text.good();)
            if (std::string number; std::getline(text, number, ';') && !number.empty())
                partitions.push_back(Element{"", {{"partition", number}}}.integer("partition").value_or(-1));
    return partitions;
}

/// Whether a call that waits was given no request that is active. Beside active ones MPI_REQUEST_NULL is
/// usual.
bool has_only_idle_requests(const State& call)
{
    const auto is_active = [](const Element& child) {
        return child.name == "For" || child.name == "Pending";
    };
    return call.integer("count").value_or(1) > 0 && std::ranges::none_of(call.children, is_active);
}

std::string quoted(std::int64_t rid)
{
    return " with rid " + std::to_string(rid);
}

} // namespace

void RequestCheck::leave(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.state.is_unfinished() && waits_for_all(call.facts))
        for (const Element& child : call.state.children)
            if (child.name == "Pending")
                m_awaited.insert({rank, rid_of(child)});
    if (call.state.is_unfinished() || call.has_failed())
        return;
    if (call.facts.life == LifeCycle::ends)
        m_ended.insert(rank);
    if (call.facts.progress == CallProgress::prepares && rid_of(call.state) >= 0 && !call.is_inside_call)
        m_persistent[{rank, rid_of(call.state)}] = {
            .made = place_of(m_findings.objects(), call),
            .call = call.state.name,
            .time = call.state.time,
            .partitions =
                call.facts.sends != SendMode::none ? call.state.integer("partitions").value_or(0) : 0,
            .ready = {}};
    if (call.facts.progress == CallProgress::activates) {
        start(call, call.state);
        for (const Element& child : call.state.children)
            if (child.name == "Start")
                start(call, child);
    }
    if (call.facts.progress == CallProgress::waits && has_only_idle_requests(call.state))
        m_idle_waits[rank] = call.state.time;
    if (tells_completion_of_kept(call))
        note_told(call);
    if (makes_partitions_ready(call.facts))
        make_ready(call);
    if (call.facts.progress == CallProgress::releases) {
        release(call);
        m_told.erase({rank, rid_of(call.state)});
    }
    if (call.facts.makes == ObjectKind::file || call.facts.frees == ObjectKind::file)
        follow_file(call);
}

void RequestCheck::note_told(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.state.has("rid") && !call.state.has("doubtful"))
        m_told.insert({rank, rid_of(call.state)});
    else
        m_some_told[rank] = call.state.time;
}

/// As far as the program can know.
bool RequestCheck::may_be_active(std::int64_t rank, std::int64_t rid, std::int64_t started) const
{
    const auto some_told = m_some_told.find(rank);
    const bool may_be_told = some_told != m_some_told.end() && some_told->second >= started;
    return !may_be_told && !m_told.contains({rank, rid});
}

void RequestCheck::follow_file(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    const ProjectFile* const file = m_findings.objects().file(rank, call.state);
    if (call.facts.frees == ObjectKind::file && !(file && m_open_files.handles(rank, *file) > 1))
        close(call);
    if (file && !call.is_inside_call)
        m_open_files.follow(call, *file);
}

void RequestCheck::start(const Call& call, const Element& start)
{
    const std::int64_t rank = call.trace.rank;
    const auto found = m_persistent.find({rank, start.integer("initRid").value_or(-1)});
    if (found == m_persistent.end())
        return;
    Persistent& request = found->second;
    const CallPlace place = place_of(m_findings.objects(), call);
    if (request.active >= 0)
        m_findings.report(FindingKind::request_started_twice, place,
                          call.state.name + at(place.site) + " starts the request of " + request.call +
                              at(request.made.site) + " again, which was started" + at(request.last_start) +
                              " and is not complete",
                          request.last_start);
    else
        check_partitions(request);
    m_request_of.erase({rank, request.last});
    request.was_started = true;
    request.active = request.last = rid_of(start);
    request.last_start = place.site;
    request.last_start_time = call.state.time;
    request.ready.clear();
    m_request_of[{rank, request.active}] = found->first.second;
}

void RequestCheck::started(const Call& call, const Operation& operation)
{
    const auto fid = operation.call->integer("fid");
    if (fid && operation.rid >= 0 && !call.is_inside_call)
        m_accesses[{operation.rank, operation.rid}] = {*fid, operation.call->name,
                                                       place_of(m_findings.objects(), operation).site};
}

/// Files may be closed by all while one of them has an access in flight, which is found where it completes.
void RequestCheck::close(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    const auto fid = call.state.integer("fid");
    for (auto open = m_accesses.lower_bound({rank, 0}); open != m_accesses.end() && open->first.first == rank;
         ++open)
        if (open->second.fid == fid && !open->second.closed)
            open->second.closed = place_of(m_findings.objects(), call);
}

void RequestCheck::check_access(const Call& call, const Completion& completion)
{
    const auto found = m_accesses.extract(RequestId{call.trace.rank, completion.rid});
    if (!found || !found.mapped().closed)
        return;
    const Access& access = found.mapped();
    m_findings.report(FindingKind::request_not_completed, *access.closed,
                      "File_close" + at(access.closed->site) + " closes the file of " + access.call +
                          at(access.site) + ", which is not complete before " +
                          name_of_end(access.call, call.state) +
                          at(place_of(m_findings.objects(), call).site),
                      access.site);
}

void RequestCheck::completed(const Call& call, const Completion& completion)
{
    check_access(call, completion);
    if (completion.outcome == Outcome::freed || completion.outcome == Outcome::perhaps_cancelled)
        return check_given_up(call, completion);
    m_told.erase({call.trace.rank, completion.rid});
    const auto of_start = m_request_of.find({call.trace.rank, completion.rid});
    if (of_start == m_request_of.end())
        return;
    const auto request = m_persistent.find({call.trace.rank, of_start->second});
    if (request != m_persistent.end() && request->second.active == completion.rid)
        request->second.active = -1;
}

/// Of a send that is complete in time nobody needs to know.
void RequestCheck::check_given_up(const Call& call, const Completion& completion)
{
    const Operation* operation = completion.operation;
    const bool is_persistent = m_request_of.contains({call.trace.rank, completion.rid});
    if (!operation || is_persistent || completion.outcome != Outcome::freed ||
        (operation->facts->receives == ReceiveKind::none &&
         operation->facts->collective == CollectiveKind::none) ||
        !may_be_active(call.trace.rank, completion.rid, operation->time))
        return;
    const CallPlace made = place_of(m_findings.objects(), *operation);
    const CallPlace place = place_of(m_findings.objects(), call);
    m_findings.report(FindingKind::request_freed_early, place,
                      "Request_free" + at(place.site) + " gives up the request of " + operation->call->name +
                          at(made.site) + ", which is active",
                      made.site);
}

void RequestCheck::make_ready(const Call& call)
{
    const std::int64_t rid = rid_of(call.state);
    const auto of_start = m_request_of.find({call.trace.rank, rid});
    const auto found =
        m_persistent.find({call.trace.rank, of_start == m_request_of.end() ? rid : of_start->second});
    if (found == m_persistent.end())
        return;
    Persistent& request = found->second;
    for (const std::int64_t partition : partitions_of(call.state, request.partitions)) {
        if (partition >= 0 && partition < request.partitions && request.ready.insert(partition).second)
            continue;
        const CallPlace place = place_of(m_findings.objects(), call);
        m_findings.report(FindingKind::partition_invalid, place,
                          call.state.name + at(place.site) + " makes partition " + std::to_string(partition) +
                              " ready, which " +
                              (request.ready.contains(partition) ? "was ready already" : "does not exist"),
                          request.made.site);
        return;
    }
}

/// Of its last start, once nothing can come any more: what other threads have made ready is told behind the
/// beginning of the call that waits for it. If it is complete and nothing was, the trace does not tell that.
void RequestCheck::check_partitions(const Persistent& request)
{
    const auto missing = request.partitions - static_cast<std::int64_t>(request.ready.size());
    const bool is_told = request.active >= 0 || !request.ready.empty();
    if (request.partitions == 0 || !is_told || missing <= 0)
        return;
    m_findings.report(FindingKind::partition_missing, request.made,
                      std::to_string(missing) + " of " + std::to_string(request.partitions) +
                          " partitions of " + request.call + at(request.made.site) +
                          " were never made ready");
    m_endings.explain_waiting(request.made.rank, request.active);
}

void RequestCheck::release(const Call& call)
{
    const std::int64_t rid = rid_of(call.state);
    const auto persistent = m_persistent.find({call.trace.rank, rid});
    const CallPlace place = place_of(m_findings.objects(), call);
    if (persistent == m_persistent.end())
        return;
    const Persistent& request = persistent->second;
    if (!request.was_started)
        report_not_started(request);
    if (request.active >= 0 && may_be_active(call.trace.rank, request.active, request.last_start_time))
        m_findings.report(FindingKind::request_freed_early, place,
                          "Request_free" + at(place.site) + " gives up the request of " + request.call +
                              at(request.made.site) + ", which is active",
                          request.made.site);
    else
        check_partitions(request);
    m_told.erase({call.trace.rank, request.last});
    m_request_of.erase({call.trace.rank, request.last});
    m_persistent.erase(persistent);
}

/// What is made and freed again may be as it is meant.
void RequestCheck::report_not_started(const Persistent& request)
{
    const auto waited = m_idle_waits.find(request.made.rank);
    if (waited == m_idle_waits.end() || waited->second < request.time)
        return;
    m_findings.report(FindingKind::request_not_started, request.made,
                      "the request of " + request.call + at(request.made.site) +
                          " was waited for, but never started");
}

/// The request that a call has started, as this operation; null if it was made by the call.
const RequestCheck::Persistent* RequestCheck::started_by(std::int64_t rank, std::int64_t rid) const
{
    const auto of_start = m_request_of.find({rank, rid});
    const auto found =
        of_start == m_request_of.end() ? m_persistent.end() : m_persistent.find({rank, of_start->second});
    return found == m_persistent.end() ? nullptr : &found->second;
}

void RequestCheck::finish(const RequestTable& requests)
{
    for (const OperationPointer& operation : requests.pending()) {
        const bool is_cancelled = requests.is_cancelled(operation->rank, operation->rid);
        const CallPlace place = place_of(m_findings.objects(), *operation);
        const Persistent* const persistent = started_by(operation->rank, operation->rid);
        const std::string made = persistent ? at(persistent->made.site) + ", started" : "";
        m_findings.report(
            FindingKind::request_not_completed, place,
            operation->call->name + made + at(place.site) + quoted(operation->rid) +
                (is_cancelled ? " was cancelled, but not completed then" : " was never completed"),
            nullptr, m_endings.reason_of(operation->rank));
    }
    const std::set<std::int64_t> with_threads = m_findings.project().ranks_with_threads();
    for (const auto& [id, request] : m_persistent) {
        const bool has_ended = m_ended.contains(id.first);
        const bool waits_for_ever =
            m_awaited.contains({id.first, request.active}) && !with_threads.contains(id.first);
        if (!request.was_started)
            report_not_started(request);
        if (request.active < 0 || has_ended || waits_for_ever)
            check_partitions(request);
        if (!has_ended)
            continue;
        m_findings.report(FindingKind::request_not_freed, request.made,
                          "the request of " + request.call + at(request.made.site) + " was never freed");
    }
}

} // namespace hdtrace
