// message_races.h - receives from any process that could have got another message.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"

namespace hdtrace {

class MessageRaces : public EventVisitor {
  public:
    /// Both must outlive it.
    MessageRaces(Findings& findings, CausalOrder& order) : m_findings(findings), m_order(order) {}

    void started(const Call& call, const Operation& operation) override;
    /// Of a probe.
    void leave(const Call& call) override;

    /// A message, before it is told to the order; also one that nobody received.
    void add(const Message& message);

    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    using Key =
        std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>; ///< rank, thread, line, rid
    using Mailbox = std::pair<const Communicator*, std::int64_t>;           ///< of a destination

    /// A receive or a probe that names no source.
    struct Taker {
        Moment begin;
        Moment end;
        std::int64_t tag = -1; ///< -1 is any
        std::int64_t source = -1;
        CallPlace place;
    };
    struct Sent {
        Moment begin;
        std::int64_t tag = 0;
        Moment taken; ///< when the receive began that got it; nobody has step 0
        CallPlace place;
    };
    struct Candidate {
        const Taker* taker;
        const Sent* sent;
        std::int64_t source;
    };
    struct Messages {
        std::vector<Taker> takers;
        std::map<std::int64_t, std::vector<Sent>> sent; ///< by source, in its order
    };

    void add_candidates(Messages& messages);

    Findings& m_findings;
    CausalOrder& m_order;
    std::map<Key, std::int64_t> m_any_source; ///< the tag that such a receive asks for
    std::map<Mailbox, Messages> m_mailboxes;
    std::vector<Candidate> m_candidates;
};

} // namespace hdtrace
