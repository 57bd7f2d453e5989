#include "merger/export/dumpi/process_records.h"

#include <algorithm>
#include <string_view>

namespace hdtrace::exporter::dumpi {

using namespace hdtrace::dumpi;

namespace {

constexpr std::string_view unknown = "calls that DUMPI does not know";
constexpr std::string_view as_twin = "calls that DUMPI does not know: as those that do nearly the same";
constexpr std::string_view as_blocking =
    "non-blocking and persistent collective operations: as blocking ones, where they are complete";
constexpr std::string_view as_two =
    "sends and receives at once that are not waited for: as a receive, and a send that is given up";
constexpr std::string_view without_arguments =
    "calls with arguments that traces do not have: as 0, or as empty lists";
constexpr std::string_view guessed =
    "calls with objects or requests that traces do not tell apart: as the last ones";
constexpr std::string_view cut = "calls with numbers that the files have no room for: as the largest ones";
constexpr std::string_view as_successful = "calls that failed: as if they had not";
constexpr std::string_view in_place =
    "collective operations in place: the arguments that MPI ignores are those of the other side";

/// Files have no record for a collective operation that a call starts, only for one that a call does.
bool is_collective_operation(const CallFacts& facts)
{
    return facts.collective != CollectiveKind::none && facts.file == FileAccess::none;
}

const Function* find_blocking(const CallFacts& facts)
{
    const Function* function = find_function(facts.operation);
    return function != nullptr ? function : find_twin(facts.operation);
}

std::string_view without_large_count(std::string_view name)
{
    constexpr std::string_view large = "_c";
    return name.ends_with(large) ? name.substr(0, name.size() - large.size()) : name;
}

bool completes(const CallFacts& facts)
{
    return facts.progress == CallProgress::waits || facts.progress == CallProgress::tests;
}

Losses operator|(const Losses& a, const Losses& b)
{
    return {a.is_missing || b.is_missing, a.is_guessed || b.is_guessed, a.is_cut || b.is_cut};
}

} // namespace

void ProcessRecords::enter(const Call& call)
{
    if (call.own_region != 0)
        m_file.region(label_enter, call.trace.thread, call.state.time, call.state.name);
    m_ended.clear();
    m_done.clear();
    m_over.clear();
    m_split_end = {};
}

void ProcessRecords::mark(const Call& call)
{
    if (call.state.find("kind") == "count")
        return;
    m_file.region(label_enter, call.trace.thread, call.state.time, call.state.text("name"));
    m_file.region(label_exit, call.trace.thread, call.state.time, call.state.text("name"));
}

void ProcessRecords::started(const Call& call, const Operation& operation)
{
    if (operation.rid < 0)
        return;
    const CallFacts& facts = *operation.facts;
    const bool is_known = !is_collective_operation(facts) && facts.access == WindowAccess::none &&
                          (find_function(facts.name) != nullptr || find_twin(facts.name) != nullptr ||
                           (facts.sends != SendMode::none && facts.receives != ReceiveKind::none));
    if (!is_known)
        m_process.numbers.hide(operation.rid);
    else if (call.facts.progress == CallProgress::activates)
        m_process.numbers.start(operation.rid, operation.call->integer("rid").value_or(operation.rid));
}

void ProcessRecords::completed(const Call& call, const Completion& completion)
{
    if (completion.rid < 0)
        return;
    m_over.push_back(completion.rid);
    const Operation* operation = completion.operation;
    OfferedRequest ended;
    ended.number = m_process.numbers.request(completion.rid);
    ended.identity =
        operation != nullptr ? operation->call->integer("rid").value_or(completion.rid) : completion.rid;
    ended.status = status_of(completion);
    if (completes(call.facts))
        m_ended.push_back(ended);
    if (operation == nullptr || operation->children == nullptr)
        return;
    const CallFacts& facts = *operation->facts;
    CallView view{.call = *operation->call, .children = *operation->children, .facts = facts};
    constexpr std::string_view begin = "_begin";
    if (facts.name.ends_with(begin) && facts.file != FileAccess::none) {
        const std::string name = std::string(facts.name.substr(0, facts.name.size() - begin.size())) + "_end";
        m_split_end.function = find_function(name);
        view.transferred = completion.what->integer("actual");
        if (m_split_end.function != nullptr) {
            append_arguments(*m_split_end.function, view);
            m_split_end.arguments = m_bytes.view();
        }
    } else if (is_collective_operation(facts) && completion.outcome == Outcome::completed) {
        if (const Function* function = find_blocking(facts)) {
            append_arguments(*function, view);
            m_done.push_back({completion.rid, function->label, std::string(m_bytes.view())});
        }
    }
}

/// That of a send or of a collective operation says nothing.
Status ProcessRecords::status_of(const Completion& completion) const
{
    const Operation* operation = completion.operation;
    if (completion.what->has("fromRank"))
        return m_arguments.status_of(*completion.what, "size",
                                     operation == nullptr ? nullptr
                                                          : m_process.communicator(*operation->call));
    Status status = m_arguments.status_of(*completion.what, "actual", nullptr);
    if (operation != nullptr && operation->facts->file != FileAccess::none && !completion.what->has("actual"))
        status.bytes = operation->call->integer("size").value_or(0);
    return status;
}

void ProcessRecords::leave(const Call& call)
{
    if (call.own_region != 0)
        m_file.region(label_exit, call.trace.thread, call.state.end, call.state.name);
    else if (!call.is_inside_call)
        write_call(call);
    for (const std::int64_t rid : m_over)
        m_process.numbers.forget(rid);
}

void ProcessRecords::write_call(const Call& call)
{
    const CallFacts& facts = call.facts;
    if (call.state.is_unfinished())
        return m_account.dropped("calls in which the process ended");
    if (facts.call_class == CallClass::other)
        return m_account.dropped("states that are no calls");
    if (prepares_or_starts_hidden(call)) {
        if (find_blocking(facts) != nullptr || facts.progress == CallProgress::activates)
            return m_account.approximated(as_blocking);
        return m_account.dropped(unknown);
    }
    if (facts.sends != SendMode::none && facts.receives != ReceiveKind::none &&
        facts.progress == CallProgress::starts)
        return write_both_messages(call);
    const std::string_view name = without_large_count(call.state.name);
    const Function* function = find_function(name);
    const bool is_twin = function == nullptr;
    if (is_twin)
        function = find_twin(name);
    // Of several sessions, which may overlap, the first beginning and the last end are those of MPI.
    if (name == "Session_init" && m_open_sessions++ == 0 && !m_has_begun)
        function = find_function("Init");
    if (name == "Session_finalize" && m_open_sessions > 0 && --m_open_sessions == 0 && !m_has_begun)
        function = find_function("Finalize");
    if (facts.life == LifeCycle::begins && name != "Session_init")
        m_has_begun = true;
    if (function == nullptr || (name == "Topo_test" && call.state.find("topology") == "MPI_DIST_GRAPH"))
        return m_account.dropped(unknown);
    if (completes(facts))
        return write_completion(call, *function);
    write(call, *function, is_twin);
}

/// Of collective operations that are not done at once: files have them where they are complete.
bool ProcessRecords::prepares_or_starts_hidden(const Call& call) const
{
    const CallFacts& facts = call.facts;
    if (facts.progress == CallProgress::starts || facts.progress == CallProgress::prepares)
        return is_collective_operation(facts);
    return facts.progress == CallProgress::activates && call.state.has("rid") &&
           m_process.numbers.is_hidden(call.state.integer("rid").value_or(-1));
}

void ProcessRecords::write(const Call& call, const Function& function, bool is_twin)
{
    const Losses losses = append_arguments(
        function, {.call = call.state, .children = call.state.children, .facts = call.facts});
    // DUMPI has the time when MPI has begun.
    const std::int64_t begin = call.facts.life == LifeCycle::begins ? call.state.end : call.state.time;
    m_file.record(function.label, call.trace.thread, begin, call.state.end, m_bytes.view());
    count(call, losses, is_twin);
}

void ProcessRecords::write_completion(const Call& call, const Function& function)
{
    if (m_split_end.function != nullptr) {
        m_file.record(m_split_end.function->label, call.trace.thread, call.state.time, call.state.end,
                      m_split_end.arguments);
        return m_account.exact();
    }
    std::vector<OfferedRequest> requests = m_ended;
    for (const Element& child : call.state.children) {
        const auto rid = child.integer("rid");
        if (child.name == "Pending" && rid) {
            const Number number = m_process.numbers.request(*rid);
            requests.push_back(
                {number, number == null_request ? *rid : static_cast<std::int64_t>(number), {}});
        }
    }
    for (std::size_t i = 0; i < m_ended.size(); ++i)
        if (requests[i].number != null_request)
            requests[i].identity = requests[i].number;
    constexpr std::int64_t most_empty = 1 << 16; // what a file says is not believed beyond this
    const std::int64_t count_told = std::max<std::int64_t>(call.state.integer("count").value_or(1),
                                                           static_cast<std::int64_t>(requests.size()));
    const auto count_used = static_cast<std::size_t>(
        std::min(count_told, static_cast<std::int64_t>(requests.size()) + most_empty));
    std::optional<std::size_t> index;
    if (const auto told = call.state.integer("index"); told && *told >= 0 && !m_ended.empty())
        index = static_cast<std::size_t>(*told);
    std::vector<std::size_t> places;
    const bool wants_all =
        call.facts.completes == WhichRequests::all || call.facts.completes == WhichRequests::one;
    const std::vector<OfferedRequest> offered =
        m_places.arrange(count_used, wants_all, index, requests, places);
    places.resize(m_ended.size());
    Losses losses = append_arguments(function, {.call = call.state,
                                                .children = call.state.children,
                                                .facts = call.facts,
                                                .offered = &offered,
                                                .ended = &places});
    losses.is_guessed = losses.is_guessed || !m_places.is_sure();
    const std::string arguments(m_bytes.view());
    write_done(call);
    m_file.record(function.label, call.trace.thread, m_done.empty() ? call.state.time : call.state.end,
                  call.state.end, arguments);
    count(call, losses, false);
}

/// In the order in which they were started.
void ProcessRecords::write_done(const Call& call)
{
    std::ranges::sort(m_done, {}, &Done::rid);
    for (const Done& done : m_done) {
        const bool is_first = &done == &m_done.front();
        m_file.record(done.label, call.trace.thread, is_first ? call.state.time : call.state.end,
                      call.state.end, done.arguments);
    }
}

/// The request is that of the receive.
void ProcessRecords::write_both_messages(const Call& call)
{
    constexpr Number of_sends = Number{1} << 30;
    Element receive = call.state;
    const auto rename = [&](const AttributeName& from, std::string_view to) {
        if (const auto value = receive.find(from)) {
            const std::string text(*value);
            if (const auto place = receive.attributes.find(to))
                receive.attributes.set_value(*place, text);
            else
                receive.attributes.push_back(to, text);
        }
    };
    rename("recvCount", "count");
    rename("recvtid", "tid");
    const Function& irecv = *find_function("Irecv");
    Losses losses = append_arguments(irecv, {receive, call.state.children, call.facts});
    m_file.record(irecv.label, call.trace.thread, call.state.time, call.state.end, m_bytes.view());
    const Number request = m_process.numbers.request(call.state.integer("rid").value_or(-1)) + of_sends;
    const Function& isend = *find_function("Isend");
    losses = losses | append_arguments(isend, {call.state, call.state.children, call.facts});
    Bytes send;
    send.append(m_bytes.view().substr(0, m_bytes.size() - sizeof request)).number(request);
    m_file.record(isend.label, call.trace.thread, call.state.end, call.state.end, send.view());
    send.clear();
    m_file.record(find_function("Request_free")->label, call.trace.thread, call.state.end, call.state.end,
                  send.number(request).view());
    m_account.approximated(losses.is_cut ? cut : as_two);
}

Losses ProcessRecords::append_arguments(const Function& function, const CallView& view)
{
    m_bytes.clear();
    return m_arguments.write(function, view, m_bytes);
}

void ProcessRecords::count(const Call& call, const Losses& losses, bool is_twin)
{
    if (call.has_failed())
        m_account.approximated(as_successful);
    else if (losses.is_cut)
        m_account.approximated(cut);
    else if (is_twin)
        m_account.approximated(as_twin);
    else if (losses.is_missing)
        m_account.approximated(without_arguments);
    else if (losses.is_guessed)
        m_account.approximated(guessed);
    else if (call.state.has("inPlace") && call.facts.collective != CollectiveKind::none &&
             call.facts.collective != CollectiveKind::barrier && !call.facts.reduces)
        m_account.approximated(in_place);
    else
        m_account.exact();
}

} // namespace hdtrace::exporter::dumpi
