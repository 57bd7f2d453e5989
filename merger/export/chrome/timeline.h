// What happens in a program, as events of the trace-event format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/rank_table.h"
#include "merger/export/account.h"
#include "merger/export/chrome/trace_events.h"
#include "merger/export/chrome/traffic.h"

namespace hdtrace::exporter::chrome {

/// The numbers of a thread in the file. Both begin at 1: viewers take 0 for what a processor does when it is
/// idle.
Track track_of(const TraceFile& trace);

/// Visits the calls of all processes in the order of time. Calls are slices of their thread, complete when
/// they begin, so that one that begins at the same time as what is inside it stands first. Regions have
/// beginnings and ends, which have to nest with the calls. Memory grows with what is under way.
class Timeline : public EventVisitor {
  public:
    /// All must outlive this.
    Timeline(const Project& project, const ObjectTable& objects, TraceEvents& events, Account& account);

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    /// An arrow from the call that started to send to the one that had received it. Messages are told after
    /// the completions of their receives.
    void draw(const Message& message);
    /// Ends what is open.
    void finish();

  private:
    /// A call, or a region of the program's own.
    struct Open {
        std::string region; ///< empty: a call
        bool is_call = true;
        bool has_ended = false; ///< inside a call that lasts longer
    };
    struct Transfer {
        TrafficKind kind;
        std::int64_t bytes;
        std::int64_t begin;
    };
    struct Thread {
        std::vector<Open> open;           ///< the innermost last
        std::int64_t last = 0;            ///< when its last event was
        std::optional<Transfer> transfer; ///< of a call that blocks
    };
    struct Process {
        std::map<std::int64_t, Thread> threads;               ///< by their numbers in the file
        std::unordered_map<std::int64_t, Transfer> transfers; ///< by rid
        BytesInFlight in_flight;
        std::optional<Bandwidth> bandwidth; ///< if it has moved anything
    };
    /// rank, thread, line and rid of the call that started a receive.
    using Receive = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

    Process& process_of(const Call& call) { return m_processes[call.trace.rank]; }
    Thread& thread_of(const Call& call);
    void leave_region(const Call& region);
    void leave_call(const Call& call);
    /// Ends the region at this place of those that are open; those inside it go on after it.
    void end_region(const Track& track, Thread& thread, std::size_t place, std::int64_t time,
                    const State* end = nullptr);
    void begin_region(const Track& track, const std::string& name, std::int64_t time);
    void write_arguments(const Call& call);
    void count(const Call& event);
    void begin_transfer(const Call& call, const Operation& operation);
    void end_transfer(const Call& call, const Completion& completion);
    void tell_bandwidth(std::int64_t rank, const Bandwidth& bandwidth);
    void tell_bytes_in_flight(std::int64_t rank, Process& process, std::int64_t before);

    const ObjectTable& m_objects;
    TraceEvents& m_events;
    Account& m_account;
    FactsByName m_counter_facts;
    RankTable<Process> m_processes;
    std::map<Receive, std::int64_t> m_receivers; ///< threads that completed receives of other threads
    std::int64_t m_messages = 0;
    std::int64_t m_without_arrow = 0;
};

} // namespace hdtrace::exporter::chrome
