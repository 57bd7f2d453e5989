#include "merger/export/chrome/timeline.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "hdtrace/matching/regions.h"
#include "hdtrace/matching/saturated.h"
#include "hdtrace/matching/volumes.h"

namespace hdtrace::exporter::chrome {
namespace {

constexpr std::string_view ends_with_its_call = "regions that overlap with a call: they end together with it";

Track track_of_rank(std::int64_t rank, std::int64_t thread)
{
    return {rank + 1, thread + 1};
}

/// That of what the whole process does.
Track first_track_of(std::int64_t rank)
{
    return track_of_rank(rank, 0);
}

std::string hexadecimal(std::int64_t number)
{
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(number), 16);
    return "0x" + std::string(digits, end.ptr);
}

/// What the operation moves, as far as its arguments say. What is persistent says it in another call.
std::int64_t asked_bytes(const ObjectTable& objects, const Call& call, const Operation& operation)
{
    const auto asked = [](const std::optional<Volume>& volume) {
        return volume ? saturated_sum(volume->moved(), volume->posted) : 0;
    };
    if (operation.call == &call.state)
        return asked(volume_of(objects, call));
    State described;
    static_cast<Element&>(described) = *operation.call;
    if (operation.children)
        described.children = *operation.children;
    return asked(volume_of(objects, {.trace = call.trace, .state = described, .facts = *operation.facts}));
}

/// What was received may be less than there was room for.
std::int64_t moved_bytes(std::int64_t asked, const Completion& completion)
{
    const CallFacts& facts = *completion.operation->facts;
    const bool only_receives = facts.receives != ReceiveKind::none && facts.sends == SendMode::none;
    const auto got = only_receives && completion.what ? completion.what->integer("size") : std::nullopt;
    return got ? std::clamp<std::int64_t>(*got, 0, asked) : asked;
}

} // namespace

Track track_of(const TraceFile& trace)
{
    return track_of_rank(trace.rank, trace.thread);
}

Timeline::Timeline(const Project& project, const ObjectTable& objects, TraceEvents& events, Account& account)
    : m_objects(objects), m_events(events), m_account(account), m_counter_facts(project.run, "Counter")
{
}

Timeline::Thread& Timeline::thread_of(const Call& call)
{
    return process_of(call).threads[track_of(call.trace).thread];
}

// --- calls and regions ---

void Timeline::enter(const Call& call)
{
    const Track track = track_of(call.trace);
    Thread& here = thread_of(call);
    if (call.own_region != RegionPaths::outside) {
        here.open.push_back({call.state.name, false, false});
        here.last = std::max(here.last, call.state.time);
        return begin_region(track, call.state.name, call.state.time);
    }
    here.open.push_back({});
    here.last = std::max(here.last, call.state.end);
    m_events.begin("X", call.state.name, track, call.state.time)
        .text<"cat">(class_name(call.facts.call_class))
        .microseconds<"dur">(
            std::max<std::int64_t>(0, saturated_difference(call.state.end, call.state.time)));
    write_arguments(call);
    m_events.end();
}

void Timeline::write_arguments(const Call& call)
{
    m_events.open_object<"args">().attributes(call.state.attributes);
    const std::int64_t rank = call.trace.rank;
    if (const CallSite* site = m_objects.call_site(rank, call.state))
        m_events.text<"source">(to_string(*site));
    if (const Communicator* communicator = m_objects.communicator(rank, call.state))
        m_events.text<"communicator">(communicator->name);
    if (const ProjectFile* file = m_objects.file(rank, call.state))
        m_events.text<"file">(file->name);
    if (!call.state.children.empty()) {
        m_events.open_list<"children">();
        for (const Element& child : call.state.children)
            m_events.open_object().text<"name">(child.name).attributes(child.attributes).close_object();
        m_events.close_list();
    }
    m_events.close_object();
}

void Timeline::begin_region(const Track& track, const std::string& name, std::int64_t time)
{
    m_events.begin("B", name, track, time).text<"cat">("region").end();
}

void Timeline::leave(const Call& call)
{
    if (call.own_region != RegionPaths::outside)
        leave_region(call);
    else
        leave_call(call);
}

void Timeline::leave_region(const Call& region)
{
    const Track track = track_of(region.trace);
    Thread& here = thread_of(region);
    here.last = std::max(here.last, region.state.end);
    bool is_in_call = false;
    for (std::size_t place = here.open.size(); place-- > 0;) {
        Open& open = here.open[place];
        is_in_call |= open.is_call;
        if (open.is_call || open.has_ended || open.region != region.state.name)
            continue;
        if (is_in_call) {
            open.has_ended = true;
            return m_account.approximated(ends_with_its_call);
        }
        end_region(track, here, place, region.state.end, &region.state);
        return m_account.exact();
    }
    m_account.dropped("ends of regions whose beginning is not in the trace, or in a call that has ended");
}

void Timeline::leave_call(const Call& call)
{
    const Track track = track_of(call.trace);
    Thread& here = thread_of(call);
    for (; !here.open.back().is_call; m_account.approximated(ends_with_its_call))
        end_region(track, here, here.open.size() - 1, call.state.end);
    here.open.pop_back();
    for (std::size_t place = here.open.size(); place-- > 0 && !here.open[place].is_call;)
        if (here.open[place].has_ended)
            end_region(track, here, place, call.state.end);
    if (!call.is_inside_call)
        m_account.exact();
}

void Timeline::end_region(const Track& track, Thread& thread, std::size_t place, std::int64_t time,
                          const State* end)
{
    std::vector<Open>& open = thread.open;
    for (std::size_t i = open.size(); i-- > place;) {
        m_events.begin("E", open[i].region, track, time);
        if (i == place && end != nullptr && !end->attributes.empty())
            m_events.open_object<"args">().attributes(end->attributes).close_object();
        m_events.end();
    }
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t i = place; i < open.size(); ++i)
        begin_region(track, open[i].region, time);
}

// --- marks and counters of the program's own ---

void Timeline::mark(const Call& event)
{
    const Track track = track_of(event.trace);
    Thread& here = thread_of(event);
    here.last = std::max(here.last, event.state.time);
    if (event_kind(event.state) == EventKind::count)
        return count(event);
    const std::string name = event.state.text("name");
    m_events.begin("i", name.empty() ? event.state.name : name, track, event.state.time)
        .text<"s">("t")
        .text<"cat">("mark")
        .open_object<"args">()
        .attributes(event.state.attributes)
        .close_object()
        .end();
    m_account.exact();
}

/// Counters of viewers are of processes.
void Timeline::count(const Call& event)
{
    const double value = counter_value(event.state);
    const Track track = track_of(event.trace);
    std::string name = event.state.text("name");
    if (name.empty() || !std::isfinite(value))
        return m_account.dropped("values of counters without a name, or that are no finite numbers");
    const Element* const fact = m_counter_facts.find(name);
    if (fact != nullptr && fact->text("scope") == "thread")
        name += ", thread " + std::to_string(event.trace.thread);
    const std::string unit = fact ? fact->text("unit") : "";
    m_events.begin("C", name, track, event.state.time)
        .open_object<"args">()
        .named_number(unit.empty() ? "value" : unit, value)
        .close_object()
        .end();
    m_account.exact();
}

// --- requests ---

void Timeline::started(const Call& call, const Operation& operation)
{
    if (operation.rid >= 0) {
        m_events.begin("b", operation.call->name, track_of(call.trace), call.state.time)
            .text<"cat">("request")
            .open_object<"id2">()
            .text<"local">(hexadecimal(operation.rid))
            .close_object()
            .open_object<"args">()
            .attributes(operation.call->attributes)
            .close_object()
            .end();
    }
    if (!call.is_inside_call)
        begin_transfer(call, operation);
}

void Timeline::completed(const Call& call, const Completion& completion)
{
    const Operation* const operation = completion.operation;
    if (operation == nullptr)
        return;
    if (completion.rid >= 0) {
        const Track track = track_of(call.trace);
        m_events.begin("e", operation->call->name, track, completion.end)
            .text<"cat">("request")
            .open_object<"id2">()
            .text<"local">(hexadecimal(completion.rid))
            .close_object()
            .end();
        if (operation->thread != call.trace.thread && operation->facts->receives != ReceiveKind::none)
            m_receivers[{operation->rank, operation->thread, operation->line, operation->rid}] =
                call.trace.thread;
    }
    if (!call.is_inside_call)
        end_transfer(call, completion);
}

// --- bytes ---

void Timeline::begin_transfer(const Call& call, const Operation& operation)
{
    const std::int64_t bytes = asked_bytes(m_objects, call, operation);
    if (bytes == 0)
        return;
    const Transfer transfer = {traffic_kind(*operation.facts), bytes, call.state.time};
    Process& process = process_of(call);
    if (operation.rid >= 0)
        process.transfers.insert_or_assign(operation.rid, transfer);
    else
        thread_of(call).transfer = transfer;
    tell_bytes_in_flight(call.trace.rank, process, transfer.begin);
    process.in_flight.change(transfer.begin, transfer.kind, bytes);
}

void Timeline::end_transfer(const Call& call, const Completion& completion)
{
    Process& process = process_of(call);
    std::optional<Transfer> ended;
    if (completion.rid < 0)
        ended = std::exchange(thread_of(call).transfer, std::nullopt);
    else if (const auto found = process.transfers.extract(completion.rid))
        ended = found.mapped();
    if (!ended)
        return;
    const auto [kind, bytes, begin] = *ended;
    process.in_flight.change(std::max(begin, completion.end), kind, -bytes);
    if (completion.outcome != Outcome::completed)
        return;
    if (!process.bandwidth)
        process.bandwidth.emplace(m_events.origin());
    process.bandwidth->add(kind, begin, completion.end, moved_bytes(bytes, completion));
}

void Timeline::tell_bytes_in_flight(std::int64_t rank, Process& process, std::int64_t before)
{
    process.in_flight.tell_before(before, [&](std::int64_t time, TrafficKind kind, std::int64_t bytes) {
        const std::string name = "bytes in flight: " + std::string(traffic_name(kind));
        m_events.begin("C", name, first_track_of(rank), time)
            .open_object<"args">()
            .number<"bytes">(bytes)
            .close_object()
            .end();
    });
}

// --- messages ---

void Timeline::draw(const Message& message)
{
    if (!message.send || !message.receive) {
        ++m_without_arrow;
        return;
    }
    const MessageEnd& receive = *message.receive;
    const auto moved = m_receivers.extract({message.destination, receive.thread, receive.line, receive.rid});
    const std::int64_t receiver = moved && receive.end_is_known ? moved.mapped() : receive.thread;
    const std::string id = std::to_string(++m_messages);
    m_events.begin("s", "message", track_of_rank(message.source, message.send->thread), message.send->time)
        .text<"cat">("message")
        .text<"id">(id)
        .open_object<"args">()
        .number<"bytes">(message.send->size)
        .number<"tag">(message.tag)
        .number<"from">(message.source)
        .number<"to">(message.destination)
        .close_object()
        .end();
    // Just before the end, which belongs to what follows the call.
    const std::int64_t arrival = arrival_of(message) - (receive.end_is_known ? 1 : 0);
    m_events.begin("f", "message", track_of_rank(message.destination, receiver), arrival)
        .text<"cat">("message")
        .text<"id">(id)
        .text<"bp">("e")
        .end();
}

void Timeline::finish()
{
    m_processes.for_each([&](std::int64_t rank, Process& process) {
        for (auto& [number, thread] : process.threads)
            while (!thread.open.empty())
                end_region({first_track_of(rank).process, number}, thread, thread.open.size() - 1,
                           thread.last);
    });
    m_processes.for_each([&](std::int64_t rank, Process& process) {
        tell_bytes_in_flight(rank, process, std::numeric_limits<std::int64_t>::max());
    });
    m_processes.for_each([&](std::int64_t rank, const Process& process) {
        if (process.bandwidth)
            tell_bandwidth(rank, *process.bandwidth);
    });
    if (m_without_arrow > 0)
        m_account.note(std::to_string(m_without_arrow) +
                       " sends and receives have no arrow: the trace does not have the other end");
}

void Timeline::tell_bandwidth(std::int64_t rank, const Bandwidth& bandwidth)
{
    bandwidth.tell([&](std::int64_t time, TrafficKind kind, double bytes) {
        const std::string name = "bandwidth: " + std::string(traffic_name(kind));
        m_events.begin("C", name, first_track_of(rank), time)
            .open_object<"args">()
            .named_number("bytes/s", bytes)
            .close_object()
            .end();
    });
}

} // namespace hdtrace::exporter::chrome
