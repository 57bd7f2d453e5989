// SimGrid's time-independent traces: what each process does, for its replay on another machine.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/requests.h"
#include "merger/export/collectives.h"
#include "merger/export/format.h"
#include "merger/export/output_directory.h"
#include "merger/export/rank_calls.h"
#include "merger/export/tit/actions.h"

namespace hdtrace::exporter {

namespace {

constexpr std::int64_t any = -1;     // source or tag
constexpr std::int64_t nobody = -2;  // MPI_PROC_NULL
constexpr std::int64_t unknown = -4; // a process of another world

const Communicator* find_world(const Project& project)
{
    const auto found = std::ranges::find(project.communicators, "WORLD", &Communicator::name);
    return found == project.communicators.end() ? nullptr : &*found;
}

// --- messages of which the trace has one end only ---

/// A send or receive of a process by the call that started it; rid is -1 for blocking ones.
struct MessageCall {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::int64_t line = 0;
    std::int64_t rid = -1;

    auto operator<=>(const MessageCall&) const = default;
};

/// The replay would wait for them for ever. Also those that were too large for their receive, which failed.
struct LonelyMessages {
    std::set<MessageCall> sends;
    std::set<MessageCall> receives;
};

/// Reads all traces.
LonelyMessages find_lonely_messages(const Project& project, const ObjectTable& objects)
{
    LonelyMessages lonely;
    const auto call = [](std::int64_t rank, const MessageEnd& end) {
        return MessageCall{rank, end.thread, end.line, end.rid};
    };
    MessageMatcher matcher(objects, [&](const Message& message) {
        const bool was_too_large =
            message.send && message.receive && message.receive->size == 0 && message.send->size > 0;
        if (message.send && (!message.receive || was_too_large))
            lonely.sends.insert(call(message.source, *message.send));
        if (message.receive && (!message.send || was_too_large))
            lonely.receives.insert(call(message.destination, *message.receive));
    });
    MergedTraces calls(traces_of(project));
    while (const State* state = calls.next())
        matcher.add(calls.trace(), *state);
    matcher.finish();
    return lonely;
}

/// What all processes share.
struct Replay {
    const Project& project;
    const ObjectTable objects{project};
    const Communicator* world = nullptr;
    ReplayTags tags{world};
    MessageBalance balance{};
    LonelyMessages lonely = find_lonely_messages(project, objects);
    /// In some process calls of different threads waited at the same time. One sequence of blocking calls
    /// could wait for ever then, so that all calls start where they began and are waited for where they
    /// ended.
    bool threads_overlap = false;
    std::set<std::int64_t> collectives{}; ///< how many each process takes part in; one number if all is well
    double speed;
    Account& account;
};

// --- what receives got ---

/// What a non-blocking receive got that did not say before what it would get.
struct Received {
    std::int64_t source = any;
    std::int64_t tag = any;
    std::int64_t size = 0;
    bool is_complete = false;
};

using ReceivedByRid = std::unordered_map<std::int64_t, Received>;

std::int64_t value_or(const Element& element, std::string_view name, std::int64_t otherwise)
{
    return element.integer(name).value_or(otherwise);
}

bool is_receive(const Element& call)
{
    return call.name == "Irecv" || call.name == "Imrecv" || call.name == "Recv_init" ||
           call.name == "Precv_init" || call.name.starts_with("Isendrecv");
}

bool is_partitioned(const Element& call)
{
    return call.name == "Psend_init" || call.name == "Precv_init";
}

Received posted(const Element& call)
{
    return {value_or(call, "fromRank", any), value_or(call, "fromTag", any),
            value_or(call, "recvSize", value_or(call, "size", 0))};
}

/// Only of those that the replay could not post as they were: any source, any tag, and the size of what is
/// split.
bool has_to_be_looked_up(const Received& receive)
{
    return receive.source == any || receive.tag == any || receive.size > ReplayActions::most_bytes;
}

/// Reads all calls of a process. Also has those that were cancelled or whose end the trace does not have.
ReceivedByRid look_up_receives(const std::vector<TraceFile>& traces)
{
    ReceivedByRid received;
    RequestTable requests;
    RankCalls calls(traces);
    while (const State* call = calls.next()) {
        for (const Completion& completion : requests.add(calls.trace(), *call).completed) {
            if (completion.operation == nullptr || !is_receive(completion.operation->call))
                continue;
            Received receive = posted(completion.operation->call);
            receive.is_complete = completion.outcome == Outcome::completed;
            if (receive.is_complete && !has_to_be_looked_up(receive))
                continue;
            receive.source = value_or(*completion.what, "fromRank", receive.source);
            receive.tag = value_or(*completion.what, "fromTag", receive.tag);
            receive.size = value_or(*completion.what, "size", receive.size);
            received[completion.rid] = receive;
        }
    }
    for (const OperationPointer& operation : requests.pending()) {
        if (is_receive(operation->call))
            received[operation->rid] = posted(operation->call);
    }
    return received;
}

// --- threads ---

/// The time of these calls is a part of the computation.
bool is_local(const State& call)
{
    if (call.name.starts_with("Pready") || call.name == "Parrived")
        return true;
    const CallClass of_call = class_of(call.name);
    const bool makes_communicator = call.find("newcid") != nullptr;
    return (of_call == CallClass::communicator && !makes_communicator) || of_call == CallClass::datatype ||
           of_call == CallClass::query || of_call == CallClass::event || of_call == CallClass::other;
}

/// Whether the replay of a call may wait for another process.
bool may_wait(const State& call)
{
    const CallClass of_call = class_of(call.name);
    if (of_call == CallClass::completion)
        return call.name.starts_with("Wait");
    const bool is_started = call.find("rid") != nullptr || call.name.starts_with("Start") ||
                            call.name == "Iprobe" || call.name == "Improbe";
    return (of_call == CallClass::point_to_point || of_call == CallClass::collective) && !is_started &&
           !is_local(call);
}

/// Whether calls of different threads of a process may have waited at the same time.
bool threads_overlap(const std::vector<TraceFile>& traces)
{
    struct Ended {
        std::int64_t thread = -1;
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
    };
    if (traces.size() < 2)
        return false;
    Ended last, last_of_another; // calls come in the order in which they ended
    RankCalls calls(traces);
    while (const State* call = calls.next()) {
        if (!may_wait(*call))
            continue;
        const std::int64_t thread = calls.trace().thread;
        if (last.thread != thread)
            last_of_another = last;
        if (call->time < last_of_another.end)
            return true;
        last = {thread, call->end};
    }
    return false;
}

// --- one process ---

enum class Fate { exact, approximated, dropped };

struct Result {
    Fate fate = Fate::exact;
    std::string_view what = {};
};

constexpr Result exact = {};
constexpr Result failed = {Fate::dropped, "calls that failed"};
constexpr Result lonely = {Fate::dropped, "messages whose other end the trace does not have"};
constexpr Result partitioned = {Fate::approximated,
                                "partitioned operations: as one message, sent where they are started"};
constexpr Result without_blocking = {Fate::approximated,
                                     "non-blocking collective operations: as messages between all members"};
constexpr Result among_threads = {
    Fate::approximated, "collective operations of a program whose threads wait at the same time: as "
                        "messages between all members"};
constexpr Result measured = {Fate::approximated,
                             "calls that the replay does not have: they take the time that they took"};

class RankReplay {
  public:
    RankReplay(Replay& replay, std::int64_t rank, ReceivedByRid received, TextOutput& output)
        : m_replay(replay), m_rank(rank), m_received(std::move(received)),
          m_actions(rank, output, replay.balance)
    {
        m_actions.add("init");
    }

    /// Takes all calls of the process, each where it begins and where it ends, or both at its end.
    void begin(const TraceFile& trace, const State& call)
    {
        m_end = m_end.value_or(call.time);
        if (is_local(call))
            return;
        if (m_open.empty())
            compute(call.time - *m_end);
        m_thread = trace.thread;
        std::vector<ReplayWait> waits;
        const Result result = replay(trace, call, waits);
        m_open[trace.thread] = {result, std::move(waits)};
    }

    void end(const TraceFile& trace, const State& call)
    {
        if (is_local(call))
            return m_replay.account.exact();
        m_end = std::max(*m_end, call.end);
        OpenCall open = std::exchange(m_open[trace.thread], {});
        m_open.erase(trace.thread);
        m_actions.wait(open.waits);
        if (class_of(call.name) == CallClass::completion)
            open.result = complete(call, m_requests.add(trace, call));
        if (open.result.what == measured.what)
            m_actions.sleep(call.end - call.time);
        count(open.result, trace);
    }

    void finish()
    {
        m_actions.add("finalize");
        m_replay.collectives.insert(m_collectives);
    }

  private:
    /// A call that has begun.
    struct OpenCall {
        Result result;
        std::vector<ReplayWait> waits; ///< what it waits for itself
    };

    void compute(std::int64_t nanoseconds)
    {
        m_actions.compute(std::llround(static_cast<double>(nanoseconds) * 1e-9 * m_replay.speed));
    }

    void count(const Result& result, const TraceFile& trace)
    {
        if (result.fate == Fate::dropped)
            m_replay.account.dropped(result.what);
        else if (result.fate == Fate::approximated)
            m_replay.account.approximated(result.what);
        else if (trace.thread > 0)
            m_replay.account.approximated(
                "calls of further threads: in one sequence with those of the first");
        else
            m_replay.account.exact();
    }

    /// What a call does at its beginning.
    Result replay(const TraceFile& trace, const State& call, std::vector<ReplayWait>& waits)
    {
        if (class_of(call.name) == CallClass::completion)
            return exact;
        const Progress& progress = m_requests.add(trace, call);
        if (call.find("rc") != nullptr)
            return failed;
        if (progress.started.empty())
            return at_once(call, waits);
        Result result = exact;
        for (const OperationPointer& operation : progress.started)
            result = start(*operation, call);
        return result;
    }

    /// What calls do that complete operations.
    Result complete(const State& call, const Progress& progress)
    {
        bool is_known = true;
        for (const Completion& completion : progress.completed)
            is_known = complete(completion) && is_known;
        if (!is_known || !progress.started.empty()) // Grequest_start is of this class
            return measured;
        if (call.find("rc") != nullptr)
            return failed;
        if (progress.completed.empty() && call.name.starts_with("Test"))
            return {Fate::dropped, "tests that found nothing complete"};
        return exact;
    }

    // --- messages ---

    bool is_lonely(const std::set<MessageCall>& ends, std::int64_t line, std::int64_t rid = -1) const
    {
        return !ends.empty() && ends.contains({m_rank, m_thread, line, rid});
    }

    std::int64_t tag(const Element& call, std::int64_t tag) const
    {
        if (is_partitioned(call))
            return m_replay.tags.of_partitioned(m_replay.objects.communicator(m_rank, call), tag);
        return m_replay.tags.of(m_replay.objects.communicator(m_rank, call), tag);
    }

    Result at_once(const State& call, std::vector<ReplayWait>& waits)
    {
        const std::string& name = call.name;
        if (name == "Init" || name == "Init_thread" || name == "Finalize")
            return exact;
        if (name == "Send" || name == "Ssend" || name == "Bsend" || name == "Rsend")
            return send(call, waits);
        if (name == "Recv" || name == "Mrecv")
            return receive(call, waits);
        if (name.starts_with("Sendrecv"))
            return send_and_receive(call, waits);
        if (name == "Probe" || name == "Iprobe" || name == "Mprobe" || name == "Improbe")
            return {Fate::approximated, "probes: the receives wait instead"};
        if (name.ends_with("_init"))
            return exact;
        const std::string kind = collective_kind(name);
        return kind.empty() ? measured : collective(call, kind, waits);
    }

    Result send(const State& call, std::vector<ReplayWait>& waits)
    {
        const std::int64_t to = value_or(call, "toRank", nobody);
        if (to == unknown)
            return measured;
        if (is_lonely(m_replay.lonely.sends, call.line))
            return lonely;
        const std::int64_t size = value_or(call, "size", 0);
        if (to != nobody)
            send_now(to, tag(call, value_or(call, "toTag", 0)), size, waits);
        if (call.name != "Send")
            return {Fate::approximated, "synchronous, buffered and ready sends: as usual ones"};
        return exact;
    }

    Result receive(const State& call, std::vector<ReplayWait>& waits)
    {
        const std::int64_t from = value_or(call, "fromRank", nobody);
        if (from == unknown || from == any)
            return measured;
        if (is_lonely(m_replay.lonely.receives, call.line))
            return lonely;
        const std::int64_t size = value_or(call, "size", 0);
        if (from != nobody)
            receive_now(from, tag(call, value_or(call, "fromTag", 0)), size, waits);
        return exact;
    }

    /// Blocking ones, unless other threads must go on meanwhile.
    void send_now(std::int64_t to, std::int64_t tag, std::int64_t size, std::vector<ReplayWait>& waits)
    {
        if (m_replay.threads_overlap)
            m_actions.start_send(to, tag, size, waits);
        else
            m_actions.send(to, tag, size);
    }

    void receive_now(std::int64_t from, std::int64_t tag, std::int64_t size, std::vector<ReplayWait>& waits)
    {
        if (m_replay.threads_overlap)
            m_actions.start_receive(from, tag, size, waits);
        else
            m_actions.receive(from, tag, size);
    }

    /// Both at the same time. `size` of Sendrecv_replace is that of the buffer.
    Result send_and_receive(const State& call, std::vector<ReplayWait>& waits)
    {
        const std::int64_t to = value_or(call, "toRank", nobody), from = value_or(call, "fromRank", nobody);
        if (to == unknown || from == unknown || from == any)
            return measured;
        const std::int64_t sent = value_or(call, "sendSize", value_or(call, "size", 0));
        if (to != nobody && !is_lonely(m_replay.lonely.sends, call.line))
            m_actions.start_send(to, tag(call, value_or(call, "toTag", 0)), sent, waits);
        if (from != nobody && !is_lonely(m_replay.lonely.receives, call.line))
            m_actions.start_receive(from, tag(call, value_or(call, "fromTag", 0)),
                                    value_or(call, "recvSize", 0), waits);
        return exact;
    }

    // --- operations with requests ---

    Result start(const Operation& operation, const State& call)
    {
        const Element& what = operation.call;
        std::vector<ReplayWait> waits;
        Result result = exact;
        if (what.name.starts_with("Isendrecv"))
            start_send(operation, waits);
        if (is_receive(what))
            result = start_receive(operation, waits);
        else if (what.name.ends_with("send") || what.name.ends_with("end_init"))
            result = start_send(operation, waits);
        else if (const std::string kind = collective_kind(what.name); !kind.empty())
            result = start_collective(what, kind, what.name == call.name ? &call.children : nullptr,
                                      without_blocking, waits);
        else
            result = measured;
        if (result.what != measured.what)
            m_pending[operation.rid] = std::move(waits);
        return result;
    }

    Result start_send(const Operation& operation, std::vector<ReplayWait>& waits)
    {
        const Element& what = operation.call;
        const std::int64_t to = value_or(what, "toRank", nobody);
        if (to == unknown)
            return measured;
        if (is_lonely(m_replay.lonely.sends, operation.line, operation.rid))
            return lonely;
        if (to != nobody)
            m_actions.start_send(to, tag(what, value_or(what, "toTag", 0)), value_or(what, "size", 0), waits);
        if (is_partitioned(what))
            return partitioned;
        if (what.name != "Isend" && what.name != "Send_init" && !what.name.starts_with("Isendrecv"))
            return {Fate::approximated, "synchronous, buffered and ready sends: as usual ones"};
        return exact;
    }

    Result start_receive(const Operation& operation, std::vector<ReplayWait>& waits)
    {
        Received receive = posted(operation.call);
        if (const auto found = m_received.find(operation.rid); found != m_received.end()) {
            receive = found->second;
            m_received.erase(found);
            if (!receive.is_complete)
                return {Fate::dropped, "receives that were cancelled or never completed"};
        }
        if (receive.source == unknown || receive.source == any)
            return measured;
        if (is_lonely(m_replay.lonely.receives, operation.line, operation.rid))
            return lonely;
        if (receive.source != nobody)
            m_actions.start_receive(receive.source, tag(operation.call, receive.tag), receive.size, waits);
        return is_partitioned(operation.call) ? partitioned : exact;
    }

    /// False if it is not known what has to be waited for.
    bool complete(const Completion& completion)
    {
        const auto found = m_pending.find(completion.rid);
        if (found == m_pending.end())
            return false;
        if (completion.outcome == Outcome::completed)
            m_actions.wait(found->second);
        m_pending.erase(found);
        return true;
    }

    // --- collective operations ---

    bool is_everyone(const Members& members) const
    {
        return members.ranks.size() == static_cast<std::size_t>(m_replay.project.process_count);
    }

    /// Then there is nothing to send, as in MPI_COMM_SELF.
    static bool is_alone(const Members& members) { return members.ranks.size() == 1; }

    Result collective(const State& call, const std::string& kind, std::vector<ReplayWait>& waits)
    {
        if (m_replay.threads_overlap)
            return start_collective(call, kind, &call.children, among_threads, waits);
        const Communicator* communicator = m_replay.objects.communicator(m_rank, call);
        const std::optional<Members> members = members_of(communicator, m_rank);
        if (!members)
            return measured;
        const CollectiveCall what = {kind, call, &call.children};
        if (const auto line = replay_collective(what, *members); line && is_everyone(*members)) {
            m_actions.add(line->action, line->arguments);
            ++m_collectives;
            return exact;
        }
        if (is_alone(*members))
            return exact;
        const auto rounds = message_rounds(what, *members);
        if (!rounds)
            return measured;
        for (const Exchange& round : *rounds)
            m_actions.wait(exchange(round, m_replay.tags.of_collective(communicator)));
        return {Fate::approximated,
                "collective operations of a part of the processes, or with volumes of their own "
                "for each: as messages"};
    }

    Result start_collective(const Element& call, const std::string& kind,
                            const std::vector<Element>* children, const Result& as_messages,
                            std::vector<ReplayWait>& waits)
    {
        const Communicator* communicator = m_replay.objects.communicator(m_rank, call);
        const std::optional<Members> members = members_of(communicator, m_rank);
        const std::optional<Exchange> messages =
            members ? direct_messages({kind, call, children}, *members) : std::nullopt;
        if (!messages)
            return measured;
        if (is_alone(*members))
            return exact;
        waits = exchange(*messages, m_replay.tags.of_collective(communicator, m_started[communicator]++));
        return as_messages;
    }

    std::vector<ReplayWait> exchange(const Exchange& round, std::int64_t tag)
    {
        std::vector<ReplayWait> waits;
        for (const auto& [rank, size] : round.receives)
            m_actions.start_receive(rank, tag, size, waits);
        for (const auto& [rank, size] : round.sends)
            m_actions.start_send(rank, tag, size, waits);
        return waits;
    }

    Replay& m_replay;
    std::int64_t m_rank;
    std::int64_t m_thread = 0; ///< of the call that is being taken
    ReceivedByRid m_received;
    ReplayActions m_actions;
    RequestTable m_requests;
    std::unordered_map<std::int64_t, OpenCall> m_open;                   ///< by thread
    std::unordered_map<std::int64_t, std::vector<ReplayWait>> m_pending; ///< by rid
    std::unordered_map<const Communicator*, std::int64_t> m_started;     ///< non-blocking collectives
    std::int64_t m_collectives = 0;                                      ///< in which all processes take part
    std::optional<std::int64_t> m_end;                                   ///< of the last call
};

/// The traces of each process.
std::vector<std::vector<TraceFile>> traces_by_rank(const Project& project)
{
    std::vector<std::vector<TraceFile>> by_rank(static_cast<std::size_t>(project.process_count));
    for (TraceFile& trace : traces_of(project)) {
        if (trace.rank < 0 || trace.rank >= project.process_count)
            throw ConvertError("a replay needs the traces of MPI processes; " + trace.path + " is of none");
        by_rank[static_cast<std::size_t>(trace.rank)].push_back(std::move(trace));
    }
    return by_rank;
}

void convert_rank(Replay& replay, std::int64_t rank, const std::vector<TraceFile>& traces, TextOutput& output)
{
    RankReplay actions(replay, rank, look_up_receives(traces), output);
    RankCalls calls(traces);
    if (replay.threads_overlap) {
        for (CallMoment moment; (moment = calls.next_moment()).call != nullptr;)
            moment.begins ? actions.begin(calls.trace(), *moment.call)
                          : actions.end(calls.trace(), *moment.call);
    } else {
        while (const State* call = calls.next()) {
            actions.begin(calls.trace(), *call);
            actions.end(calls.trace(), *call);
        }
    }
    actions.finish();
}

/// What is left of a run in which not all processes came to the end.
void note_what_stops_the_replay(const Replay& replay)
{
    if (replay.collectives.size() > 1 || replay.balance.is_unequal())
        replay.account.note(
            "not all processes took part in all collective operations: the replay will stop at the first "
            "of these");
}

} // namespace

void convert_to_tit(const Project& project, const Options& options, Account& account)
{
    Replay replay{
        .project = project, .world = find_world(project), .speed = options.speed, .account = account};
    const std::vector<std::vector<TraceFile>> traces = traces_by_rank(project);
    replay.threads_overlap = std::ranges::any_of(traces, threads_overlap);
    OutputDirectory directory(options.output);
    DirectoryFile list(directory, "replay.txt");
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        const std::string name = "rank-" + std::to_string(rank) + ".txt";
        DirectoryFile file(directory, name);
        TextOutput output([&](std::string_view text) { file.write(text); });
        convert_rank(replay, static_cast<std::int64_t>(rank), traces[rank], output);
        output.flush();
        file.close();
        list.write((directory.path() / name).string() + "\n");
    }
    list.close();
    note_what_stops_the_replay(replay);
    directory.commit();
}

} // namespace hdtrace::exporter
