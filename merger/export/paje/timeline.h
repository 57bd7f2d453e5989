// What happens in a program, as events of Paje.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"
#include "merger/export/account.h"
#include "merger/export/paje/sorted_links.h"
#include "merger/export/processes.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter::paje {

/// What Paje's readers take for a name: they know no escapes, and no empty texts.
std::string name_of(std::string_view text);

/// Visits the calls of all processes in the order of time, and writes with them the messages, in one order.
/// Memory grows with what is under way.
class Timeline : public EventVisitor {
  public:
    /// All must outlive this. @p links are sorted.
    Timeline(const ObjectTable& objects, SortedLinks& links, TextOutput& output, Account& account)
        : m_links(links), m_output(output), m_account(account), m_volumes(objects)
    {
    }

    /// Defines the events and types; containers of threads and their variables follow.
    void begin(const Project& project, const NumberedTraces& numbered, std::int64_t origin);

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& event) override;
    /// Ends what is open, and the containers.
    void finish();

  private:
    using ThreadId = std::pair<std::int64_t, std::int64_t>; ///< rank and number
    struct Thread {
        ThreadId id;
        std::vector<std::int64_t> open;                               ///< values, the innermost last
        std::int64_t last = std::numeric_limits<std::int64_t>::min(); ///< when its last event was
    };
    enum class What : std::uint8_t { push, pop, bytes };
    struct Event {
        std::int64_t time;
        std::int64_t number; ///< in the order in which they are told
        const Thread* thread;
        std::int64_t value; ///< that is pushed, or bytes
        What what;
        bool operator>(const Event& other) const
        {
            return std::pair(time, number) > std::pair(other.time, other.number);
        }
    };
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Values = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;

    Thread& thread_of(const TraceFile& trace);
    void tell(What what, std::int64_t time, const Thread& thread, std::int64_t value = 0);
    void push(Thread& thread, std::int64_t value, std::int64_t time);
    void pop(Thread& thread, std::int64_t time);
    bool leave(Thread& thread, std::int64_t value, std::int64_t time);
    std::int64_t moved_bytes(const Call& call);
    Values& values_like(const Call& call);
    std::int64_t value_of(const Call& call);
    TextOutput& begin_line(std::string_view code, std::int64_t time);
    void write(std::string_view code, std::int64_t time, std::string_view text);
    void write(const Event& event);
    void write_links_until(std::int64_t time);
    /// What is before this time is complete.
    void write_before(std::int64_t time);

    SortedLinks& m_links;
    TextOutput& m_output;
    Account& m_account;
    Volumes m_volumes;
    Arrivals<std::monostate> m_arrivals; ///< whose bytes count when they come
    std::int64_t m_origin = 0, m_last = 0, m_events = 0;
    std::map<ThreadId, Thread> m_threads;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_waiting;
    Values m_values_of_calls, m_values_of_regions; ///< numbers of their names in the file
    std::vector<std::string> m_containers;         ///< type and name, in the order of their making
};

} // namespace hdtrace::exporter::paje
