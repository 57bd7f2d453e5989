// The events of one process in an archive of OTF2.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <otf2/otf2.h>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"
#include "merger/export/account.h"
#include "merger/export/otf2/markers.h"
#include "merger/export/otf2/process_definitions.h"
#include "merger/export/otf2/received_sizes.h"
#include "merger/export/otf2/windows.h"

namespace hdtrace::exporter::otf2 {

/// Visits the calls of the process, those of each thread in the order of their times. Throws ConvertError.
class ProcessEvents : public EventVisitor {
  public:
    /// All must outlive this.
    ProcessEvents(std::int64_t rank, const ObjectTable& objects, const ReceivedSizes& sizes,
                  ProcessDefinitions& definitions, Markers& markers, Account& account)
        : m_rank(rank), m_objects(objects), m_sizes(sizes), m_definitions(definitions), m_markers(markers),
          m_account(account), m_windows(rank, objects, definitions)
    {
    }

    /// Whose events follow.
    void set_location(OTF2_LocationRef location, OTF2_EvtWriter* writer)
    {
        m_location = location;
        m_writer = writer;
        m_entered = &m_entered_by[location];
    }
    /// Leaves what the current location is still in, at the time of its last event.
    void finish();

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void sent(const Call& call, const Operation& operation) override;
    void received(const Call& call, const Completion& completion) override;
    void accessed(const Call& call, const Operation& operation) override;
    void made(const Call& call, ObjectKind kind, std::int64_t id) override;
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override;

  private:
    /// What an event tells about a collective operation.
    struct Collective {
        OTF2_CollectiveOp operation;
        OTF2_CommRef communicator;
        uint32_t root;
        uint64_t sent;
        uint64_t received;
    };
    struct Access {
        OTF2_IoHandleRef file;
        uint64_t size;
        uint64_t id;
    };
    /// A call that has begun.
    struct OpenCall {
        std::string_view approximation; ///< how it is approximated; empty: not at all
        std::optional<Collective> collective;
        std::optional<Access> access; ///< that it waits for
        std::optional<Access> issued;
    };

    /// What a thread has entered, the innermost last.
    struct Entered {
        std::vector<OTF2_RegionRef> regions;
        OTF2_TimeStamp last = 0;
    };

    void enter(OTF2_RegionRef region, OTF2_TimeStamp when, const OTF2_AttributeList* attributes = nullptr);
    void write_leave(OTF2_RegionRef region, OTF2_TimeStamp when);
    bool leave(OTF2_RegionRef region, OTF2_TimeStamp when);
    void tell(Recorded recorded);
    void count(const State& event);
    std::optional<Collective> describe(const Operation& operation);
    void complete_message(const Completion& completion, OTF2_TimeStamp when);
    Definitions::FileHandle last_handle(const ProjectFile* file) const;
    void end_access(const Access& access, const Completion& completion);
    void complete_access(const Access& access, const Element& what, OTF2_TimeStamp when);

    std::int64_t m_rank;
    const ObjectTable& m_objects;
    const ReceivedSizes& m_sizes;
    ProcessDefinitions& m_definitions;
    Markers& m_markers;
    Account& m_account;
    OTF2_LocationRef m_location = 0;
    OTF2_EvtWriter* m_writer = nullptr;
    std::unordered_map<OTF2_LocationRef, Entered> m_entered_by;
    Entered* m_entered = nullptr;                        ///< of the current location
    std::vector<OpenCall> m_open;                        ///< the innermost last
    std::unordered_set<uint64_t> m_sends;                ///< by request
    std::unordered_map<std::int64_t, Access> m_accesses; ///< by rid, as the others
    std::unordered_map<std::int64_t, Collective> m_collectives;
    uint64_t m_next_access = 0;
    std::unordered_map<const ProjectFile*, std::size_t> m_handles; ///< how many are open
    WindowEvents m_windows;
};

} // namespace hdtrace::exporter::otf2
