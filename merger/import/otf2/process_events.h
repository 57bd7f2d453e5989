// The events of one process in an archive of OTF2, as calls and events of its trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <otf2/otf2.h>

#include "merger/import/otf2/callbacks.h"
#include "merger/import/otf2/definitions.h"
#include "merger/import/otf2/volumes.h"
#include "merger/import/otf2/writers.h"
#include "merger/import/source.h"
#include "merger/import/traces.h"

namespace hdtrace::importer::otf2 {

struct Marker {
    OTF2_TimeStamp ticks;
    std::string name, text;
};

/// By location, in the order of their times.
using Markers = std::unordered_map<OTF2_LocationRef, std::vector<Marker>>;

/// What an event tells of a collective operation.
struct CollectiveEvent {
    OTF2_CommRef communicator = OTF2_UNDEFINED_COMM;
    uint32_t root = OTF2_UNDEFINED_UINT32;
    std::uint64_t sent = 0, received = 0;
};

/// What is only told when a request is complete, for each request of a location in the order in which they
/// were started: an undefined communicator if that never comes.
struct Outcomes {
    /// What a receive got that did not block.
    struct Received {
        OTF2_CommRef communicator = OTF2_UNDEFINED_COMM;
        std::uint64_t size = 0;
    };

    std::vector<Received> receives;
    std::vector<CollectiveEvent> collectives;
    /// Which of its regions, in the order in which they were entered, were not left before one around them.
    std::set<std::uint64_t> never_left;
};

/// Reads the events a first time, for what comes too late.
class OutcomeReader {
  public:
    void start(OTF2_LocationRef location);
    void enter(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region);
    void leave(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region);
    void request_receive(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void receive(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t, OTF2_CommRef communicator, uint32_t,
                 uint64_t size, uint64_t request);
    void request_collective(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void complete_collective(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_CollectiveOp,
                             OTF2_CommRef communicator, uint32_t root, uint64_t sent, uint64_t received,
                             uint64_t request);

    const Outcomes& of(OTF2_LocationRef location) { return m_outcomes[location]; }

    static OTF2_EvtReaderCallbacks* callbacks();
    ExceptionKeeper keeper;

  private:
    using Place = std::pair<OTF2_LocationRef, std::size_t>;

    OTF2_LocationRef m_location = 0;
    std::uint64_t m_next_region = 0;
    std::vector<std::pair<OTF2_RegionRef, std::uint64_t>> m_entered; ///< with their numbers
    std::unordered_map<OTF2_LocationRef, Outcomes> m_outcomes;
    std::unordered_map<uint64_t, Place> m_receives, m_collectives; ///< that are not complete
};

/// Reads them the second time and writes the traces.
class ProcessEvents {
  public:
    /// All must outlive this.
    ProcessEvents(const Definitions& definitions, const Import& import, const Markers& markers,
                  OutcomeReader& outcomes, Writer writer, std::int64_t rank, ProcessTrace& process);

    void start(OTF2_LocationRef location, ThreadTrace& trace);
    /// What the location is still in never ends.
    void finish();

    static OTF2_EvtReaderCallbacks* callbacks();
    ExceptionKeeper keeper;

    // The events.
    void enter(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region);
    void leave(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RegionRef region);
    void send(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t receiver, OTF2_CommRef, uint32_t tag,
              uint64_t size);
    void start_send(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t receiver, OTF2_CommRef, uint32_t tag,
                    uint64_t size, uint64_t request);
    void complete_send(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void start_receive(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void receive(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t sender, OTF2_CommRef, uint32_t tag,
                 uint64_t size);
    void complete_receive(OTF2_TimeStamp, OTF2_AttributeList*, uint32_t sender, OTF2_CommRef, uint32_t tag,
                          uint64_t size, uint64_t request);
    void test(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void cancel(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void collective(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_CollectiveOp, OTF2_CommRef, uint32_t root,
                    uint64_t sent, uint64_t received);
    void start_collective(OTF2_TimeStamp, OTF2_AttributeList*, uint64_t request);
    void complete_collective(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_CollectiveOp, OTF2_CommRef,
                             uint32_t root, uint64_t sent, uint64_t received, uint64_t request);
    void count(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_MetricRef, uint8_t number, const OTF2_Type*,
               const OTF2_MetricValue*);
    void put_data(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RmaWinRef, uint32_t target, uint64_t size,
                  uint64_t id);
    void get_data(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RmaWinRef, uint32_t target, uint64_t size,
                  uint64_t id);
    void change_data(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_RmaWinRef, uint32_t target, OTF2_RmaAtomicType,
                     uint64_t sent, uint64_t received, uint64_t id);
    void open_file(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_IoHandleRef, OTF2_IoAccessMode,
                   OTF2_IoCreationFlag, OTF2_IoStatusFlag);
    void close_file(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_IoHandleRef);
    void access_file(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_IoHandleRef, OTF2_IoOperationMode,
                     OTF2_IoOperationFlag, uint64_t size, uint64_t id);
    void complete_access(OTF2_TimeStamp, OTF2_AttributeList*, OTF2_IoHandleRef, uint64_t size, uint64_t id);

  private:
    /// A region that was entered.
    struct Open {
        OTF2_RegionRef region;
        bool is_call;
        State state;                         ///< of a call
        const CallFacts* facts = nullptr;    ///< of a call
        std::string_view approximation = {}; ///< how it is approximated; empty: not at all
        bool is_never_left = false;          ///< then it lasts until the next one is entered or left
    };

    std::int64_t time_of(OTF2_TimeStamp ticks);
    void write_markers(OTF2_TimeStamp until);
    void write_event(State event);
    void close_call(Open call, std::int64_t end);
    void close_never_left(std::int64_t end);
    Open* innermost_call();
    /// Where a message stands: the call that the thread is in if that is one for it and has none yet, else a
    /// call inside it, which ends with end_message(). Null if the thread is in none.
    State* begin_message(std::string_view name, std::int64_t time, bool fits);
    void put_peer(State& call, std::string_view rank_name, std::string_view tag_name,
                  OTF2_CommRef communicator, uint32_t peer, uint32_t tag);
    std::int64_t peer_of(OTF2_CommRef communicator, uint32_t peer);
    void approximate(std::string_view how);
    std::int64_t rid_of(State& call, uint64_t request);
    Element* completion(uint64_t request);
    std::optional<std::int64_t> cid_of(OTF2_CommRef communicator);
    std::optional<std::int64_t> rank_in(OTF2_CommRef communicator, uint32_t rank) const;
    void put_collective(State& call, const CallFacts& facts, const CollectiveEvent& event, Open& open);
    void put_target(OTF2_RmaWinRef window, uint32_t target, uint64_t size, std::string_view name);
    std::optional<std::int64_t> fid_of(OTF2_IoHandleRef handle);
    void describe_region(const Region& region);
    void describe_counter(const MetricMember& member, OTF2_MetricScope scope);

    const Definitions& m_definitions;
    const Import& m_import;
    const Markers& m_markers;
    OutcomeReader& m_outcomes;
    Writer m_writer;
    std::int64_t m_rank;
    ProcessTrace& m_process;

    // Of the process.
    std::int64_t m_next_rid = 0;
    std::unordered_map<uint64_t, std::int64_t> m_rids;        ///< of requests that are not complete
    std::unordered_map<uint64_t, std::int64_t> m_access_rids; ///< of accesses to files, by their ids
    std::unordered_map<uint64_t, std::uint64_t> m_access_sizes;
    std::set<OTF2_CommRef> m_described;
    std::map<std::string, std::int64_t> m_fids;
    std::set<std::string> m_described_names; ///< regions and counters

    // Of the location.
    ThreadTrace* m_trace = nullptr;
    const std::vector<Marker>* m_location_markers = nullptr;
    std::size_t m_next_marker = 0;
    const Outcomes* m_location_outcomes = nullptr;
    std::size_t m_next_receive = 0, m_next_collective = 0;
    std::uint64_t m_next_region = 0;
    std::int64_t m_last = 0;
    bool m_has_told_order = false;
    std::vector<Open> m_open; ///< the innermost last
};

} // namespace hdtrace::importer::otf2
