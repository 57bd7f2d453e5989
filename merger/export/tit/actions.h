// The lines of one process for SimGrid's replay. Volumes are in bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter {

/// The replay has one communicator, so what tells messages apart has to be in their tags. One process numbers
/// them as it comes to them, from first_new on.
class ReplayTags {
  public:
    using Key = std::pair<const Communicator*, std::int64_t>;

    static constexpr std::int64_t first_new = 1 << 20;

    /// Tags of @p world stay as they are, if they are not large.
    explicit ReplayTags(const Communicator* world) : m_world(world) {}

    std::int64_t of(const Communicator* communicator, std::int64_t tag);
    /// Of the messages of a collective operation that takes place at once.
    std::int64_t of_collective(const Communicator* communicator) { return of(communicator, -1); }
    /// Of those of a non-blocking one: others have other tags, unless a thousand were started in between.
    std::int64_t of_collective(const Communicator* communicator, std::int64_t number)
    {
        return of(communicator, -2 - number % 1024);
    }

    /// Partitioned operations meet each other only.
    std::int64_t of_partitioned(const Communicator* communicator, std::int64_t tag)
    {
        return of(communicator, -2048 - tag);
    }

    /// What has new numbers, in their order.
    const std::vector<Key>& numbered() const { return m_numbered; }

  private:
    const Communicator* m_world;
    std::map<Key, std::int64_t> m_new;
    std::vector<Key> m_numbered;
};

/// What one process calls a tag, and what all of them call it: the same, if it was not numbered anew.
class TagNumbers {
  public:
    TagNumbers() = default;
    explicit TagNumbers(std::vector<std::int64_t> common) : m_common(std::move(common)) {}

    std::int64_t common(std::int64_t own) const
    {
        return own < ReplayTags::first_new ? own : m_common[static_cast<std::size_t>(own - first)];
    }
    bool are_all_the_same() const;

  private:
    static constexpr std::int64_t first = ReplayTags::first_new;

    std::vector<std::int64_t> m_common; ///< by the process's own, from the first new one on
};

/// Numbers what the processes have numbered, one process after the other.
class CommonTags {
  public:
    TagNumbers numbers_for(const ReplayTags& tags);

  private:
    std::map<ReplayTags::Key, std::int64_t> m_new;
};

/// Whether each message that is sent is received.
class MessageBalance {
  public:
    void add(std::int64_t source, std::int64_t destination, std::int64_t tag, std::int64_t count);
    /// Another one, of a process.
    void add(const MessageBalance& of_process, const TagNumbers& numbers);
    bool is_unequal() const { return !m_unequal.empty(); }

  private:
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> m_unequal;
};

/// What a request has to wait for: one message.
struct ReplayWait {
    std::int64_t source = 0;
    std::int64_t destination = 0;
    std::int64_t tag = 0;
    std::int64_t number = -1; ///< of those from the process to one other with this tag; -1: of a receive
};

/// The replay knows its requests by source, destination and tag only, and waits for the first that was
/// started. Of receives that is right: what comes later was sent later. But an earlier send may have to wait
/// for what the other process does later, so nothing waits before it is waited for, too.
class ReplayActions {
  public:
    ReplayActions(std::int64_t rank, TextOutput& output, MessageBalance& balance)
        : m_rank(rank), m_output(output), m_balance(balance)
    {
    }

    /// One line: the action and its arguments.
    void add(std::string_view action, std::span<const std::int64_t> arguments);
    void add(std::string_view action, std::initializer_list<std::int64_t> arguments = {});
    /// Computations that follow each other are one.
    void compute(std::int64_t operations) { m_operations += std::max<std::int64_t>(0, operations); }
    void sleep(std::int64_t nanoseconds);

    /// Messages that are too large for the replay become several, here and on the other side. These four
    /// throw ConvertError if one is larger than 2^50 bytes.
    void send(std::int64_t destination, std::int64_t tag, std::int64_t size);
    void receive(std::int64_t source, std::int64_t tag, std::int64_t size);
    /// Both append what is to be waited for.
    void start_send(std::int64_t destination, std::int64_t tag, std::int64_t size,
                    std::vector<ReplayWait>& waits);
    void start_receive(std::int64_t source, std::int64_t tag, std::int64_t size,
                       std::vector<ReplayWait>& waits);
    void wait(const std::vector<ReplayWait>& waits);
    /// Nothing but the end will wait for these.
    void leave_alone(const std::vector<ReplayWait>& waits);
    void wait_for_rest();

    std::int64_t rank() const { return m_rank; }

    /// Counts are ints in the replay, and MPI_BYTE has this number there.
    static constexpr std::int64_t most_bytes = 1 << 30;
    static constexpr std::int64_t bytes = 6;

  private:
    /// Sends to one process with one tag, and of messages to itself the receives, too.
    struct Started {
        std::int64_t count = 0;
        std::int64_t waited = 0; ///< for so many of them, the first ones
        std::set<std::int64_t> put_off = {};
        bool is_left_alone = false; ///< one of them; then it is never known which the replay would wait for
    };
    using DestinationAndTag = std::pair<std::int64_t, std::int64_t>;

    void begin(std::string_view action);
    void wait(const ReplayWait& message);
    void wait_in_order(const ReplayWait& message);

    std::int64_t m_rank;
    std::map<DestinationAndTag, Started> m_started; ///< as far as not all of them were waited for
    TextOutput& m_output;
    MessageBalance& m_balance;
    std::int64_t m_operations = 0; ///< that have no line yet
};

} // namespace hdtrace::exporter
