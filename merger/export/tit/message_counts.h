// Whether messages have both ends, as far as that can be seen without the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace::exporter {

/// Counts the messages of processes with one thread each. Where all goes well, as in most runs, nobody need
/// match them: as many were received as were sent between each two processes with each tag, and nothing
/// failed or was given up. Anything else is a doubt. Without one, find_unmatched_operations() finds nothing.
///
/// Visits the calls of one process; others are added.
class MessageCounts : public EventVisitor {
  public:
    /// @p objects must outlive this.
    explicit MessageCounts(const ObjectTable& objects) : m_objects(objects) {}

    void enter(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// Behind the last call of the process.
    void finish() { m_is_doubtful = m_is_doubtful || m_receives_in_flight != 0; }
    /// Another process, which has finished. Counts that are even need no memory any more.
    void add(const MessageCounts& other);

    /// Nothing that follows can change it.
    bool is_doubtful() const { return m_is_doubtful; }
    /// Once all processes are there.
    bool all_have_both_ends() const { return !m_is_doubtful && m_channels.empty(); }

  private:
    /// The messages among which the order holds.
    struct Channel {
        const Communicator* communicator = nullptr;
        std::int64_t source = 0;
        std::int64_t destination = 0;
        std::int64_t tag = 0;
        bool is_partitioned = false;

        bool operator==(const Channel&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Channel& channel) const;
    };
    struct Count {
        std::int64_t sent_and_not_received = 0;
        bool has_sent_data = false;
        bool has_received_nothing = false;
    };

    void send(const Operation& operation);
    void receive(const Operation& operation, const Completion& completion);
    Count* count_of(const Operation& operation, std::int64_t source, std::int64_t destination,
                    std::int64_t tag);
    void doubt() { m_is_doubtful = true; }

    const ObjectTable& m_objects;
    std::unordered_map<Channel, Count, Hash> m_channels;
    std::int64_t m_receives_in_flight = 0;
    bool m_is_doubtful = false;
};

} // namespace hdtrace::exporter
