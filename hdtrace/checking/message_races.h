// message_races.h - receives from any process that could have got another message.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"

namespace hdtrace {

class MessageRaces : public EventVisitor {
  public:
    /// Both must outlive it.
    MessageRaces(Findings& findings, CausalOrder& order) : m_findings(findings), m_order(order) {}

    /// Of a probe.
    void leave(const Call& call) override;

    /// A message, before it is told to the order; also one that nobody received.
    void add(const Message& message);

    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    using Mailbox = std::pair<const Communicator*, std::int64_t>; ///< of a destination

    /// A receive or a probe that names no source.
    struct Taker {
        Moment begin;
        Moment end;
        std::int64_t tag = -1; ///< -1 is any
        /// Of the message that it got.
        std::int64_t source = -1, got_tag = -1;
        CallPlace place;
    };
    struct Sent {
        Moment begin;
        std::int64_t tag = 0;
        Moment taken; ///< when the receive began that got it; nobody has step 0
        /// What that receive asked for; -1 is any.
        std::int64_t asked_source = -1, asked_tag = -1;
        CallPlace place;
    };
    struct Candidate {
        const Taker* taker;
        const Sent* sent;
        std::int64_t source;
        bool is_only_order; ///< the receive that got the other message could have got this one
    };
    struct Messages {
        std::vector<Taker> takers;
        std::map<std::int64_t, std::vector<Sent>> sent; ///< by source, in its order
        /// By source, the first time that a probe from any source told of a message: receives behind it that
        /// name the source do so because of that.
        std::map<std::int64_t, Moment> probed;

        bool could_have_got(const Sent& other, std::int64_t source, const Taker& taker) const;
    };

    void add_candidates(Messages& messages);
    void set_incomplete();

    Findings& m_findings;
    CausalOrder& m_order;
    std::map<Mailbox, Messages> m_mailboxes;
    std::vector<Candidate> m_candidates;
};

} // namespace hdtrace
