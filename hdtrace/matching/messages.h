// messages.h - which receive gets what which send has sent.
//
//     hdtrace::MergedTraces calls(hdtrace::traces_of(project));
//     hdtrace::MessageMatcher matcher(objects, [](const hdtrace::Message& message) { ... });
//     hdtrace::EventWalk({&matcher}).add_all(calls);
//     matcher.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// A send or a receive. Times are nanoseconds since the epoch.
struct MessageEnd {
    std::int64_t thread = 0;
    std::int64_t time = 0; ///< when the call began that started it
    /// When the data had been received: the end of the blocking call, or of the call that completed it. Of a
    /// send: when the call returned that started it.
    std::int64_t end = 0;
    std::int64_t line = 0; ///< of the call that started it
    /// Bytes; 0 if the receive failed because the message was too large for it. Those of the send where the
    /// receive tells none, as in traces of the original tool, or of MPI_Isendrecv with MPICH 4.0.
    std::int64_t size = 0;
    std::int64_t rid = -1;          ///< -1 if it was blocking
    const CallSite* site = nullptr; ///< of that call; null if it is not known
    std::int64_t tid = -1;          ///< the datatype of the process; -1 if the call names none
    std::int64_t count = -1;        ///< elements of it: of a receive those that there is room for; or unknown
    bool size_is_known = true;      ///< whether the call or its completion tells it
    bool is_complete =
        true; ///< false of a receive that got nothing as far as is known: it only asks for `size`
    /// False of a receive whose request the program gave up (`Request_free`): `end` is when it did that, and
    /// the data came before or after it.
    bool end_is_known = true;
    bool waits_for_receive = false; ///< of a send: the call returned once the receive had begun (Ssend)
    bool is_ready = false;          ///< of a send: the receive must have begun before (Rsend)
    std::int64_t probe_line = 0;    ///< of a receive of a probed message: where the probe stands
    std::int64_t probe_thread = -1; ///< and in which trace
    /// Of a message that a probe has taken and no receive has fetched the probe itself is the receive.
    bool is_only_probed() const { return probe_line > 0 && probe_line == line; }
    /// What a receive asked for, unless a probe had chosen the message before; -1 is any.
    bool is_posted = false;
    std::int64_t asked_source = -1, asked_tag = -1;
    /// Of a start of a persistent request: where the call is that made the request and has the arguments.
    const CallSite* prepared_site = nullptr;
    std::int64_t number = -1; ///< Call::number of the call that started it

    /// Where the call is that has the arguments.
    const CallSite* argument_site() const { return prepared_site ? prepared_site : site; }
};

/// A message, or what there is of it: without `receive` nobody received it, without `send` nobody sent it.
struct Message {
    const Communicator* communicator = nullptr; ///< null if the project does not describe it
    std::int64_t source = 0;                    ///< rank in MPI_COMM_WORLD; -1: of a receive from any source
    std::int64_t destination = 0;
    std::int64_t tag = 0; ///< -1: of a receive with any tag
    std::optional<MessageEnd> send;
    std::optional<MessageEnd> receive;
};

/// When the data of a message that has both ends had been received; if that is not known, when it can have
/// been there first.
std::int64_t arrival_of(const Message& message);

/// What a process did to what another one can receive.
struct SendingStep {
    enum class What : std::uint8_t {
        sent,
        cancelled,
        in_doubt, ///< nothing tells whether that send was cancelled, or it failed
    };

    What what = What::sent;
    const Communicator* communicator = nullptr; ///< null if the project does not describe it
    std::int64_t cid = -1;                      ///< of one that it does not describe
    bool partitioned = false;                   ///< partitioned operations meet only each other
    std::int64_t source = 0;
    std::int64_t destination = 0;
    std::int64_t tag = 0;
    MessageEnd end;
};

/// Matches sends with receives as MPI does: messages of one communicator, source, destination and tag are
/// received in the order in which they were sent, by receives in the order in which they were started
/// (MPI 4.0, 3.5). What a receive from any source or with any tag got is told by the call that completed it.
///
/// Calls must come in the order of time in each process, as MergedTraces hands them out; the clocks of
/// processes need not agree. Memory grows with the messages in flight; a receive from any source that is not
/// completed holds back those which were started after it and could get the same messages. If it never is,
/// it has got one of which nothing tells which, and the others are matched in finish(). Messages to and
/// from processes of other worlds and calls that failed are left out, except receives of messages that were
/// too large (`MPI_ERR_TRUNCATE`). For one thread at a time.
///
/// To and from processes whose first calls were given up for later ones (`--keep-last`) messages are counted
/// from the end, in finish(), and memory grows with them. If nothing tells which belong together
/// (beginnings.h), both ends are handed out by themselves, and so are those whose other end was given up.
/// Where rules leave out one side of messages (one_sided_rules.h) all ends are, at once.
class MessageMatcher : public EventVisitor {
  public:
    using OnMessage = std::function<void(const Message&)>;

    /// @p on_message gets each message once both ends are known, whatever comes of those before it;
    /// @p objects must outlive the matcher.
    MessageMatcher(const ObjectTable& objects, OnMessage on_message);
    ~MessageMatcher() override;
    MessageMatcher(MessageMatcher&&) noexcept;
    MessageMatcher& operator=(MessageMatcher&&) noexcept;

    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;

    /// Hands out what has no other end, by communicator, destination, source and tag.
    void finish();

    using IsElsewhere = std::function<bool(std::int64_t rank)>;
    using OnStep = std::function<void(const SendingStep&)>;
    /// From now on another matcher gets the calls of the processes that are @p elsewhere: what they can
    /// receive is not put to what this one knows, but given to @p on_step. It takes what is given to others.
    void leave_elsewhere(IsElsewhere elsewhere, OnStep on_step);
    /// Those of a process in the order in which they were given.
    void take(const SendingStep& step);

  private:
    struct Matching;
    std::unique_ptr<Matching> m_matching;
};

} // namespace hdtrace
