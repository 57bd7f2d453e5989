// message_check.h - that messages and receives fit.
#pragma once

#include "hdtrace/checking/endings.h"
#include "hdtrace/checking/open_ends.h"
#include "hdtrace/checking/type_signature.h"

namespace hdtrace {

class MessageCheck {
  public:
    /// Both must outlive it.
    MessageCheck(Findings& findings, Endings& endings)
        : m_findings(findings), m_endings(endings), m_signatures(findings.objects()),
          m_with_threads(findings.project().ranks_with_threads())
    {
    }

    /// Of a message with both ends.
    void check(const Message& message);
    /// Of what is left over, once it has been matched.
    void check_rest(const OpenEnds& open, const RequestTable& requests);

  private:
    /// True if the message is too large.
    bool check_pair(std::int64_t source, std::int64_t destination, const MessageEnd& send,
                    const MessageEnd& receive);
    void report_nearly_fitting(const OpenEnds& open);
    bool report_if_nearly_fitting(const OpenEnd& send, const OpenEnd& receive);
    std::string reason_of_difference(const OpenEnd& send, const OpenEnd& receive);
    bool is_always_posted(const OpenEnd& receive) const;
    void report_send(const OpenEnd& send);
    void report_receive(const OpenEnd& receive);
    void report_probed(const OpenEnd& receive);
    std::string where(const OpenEnd& open) const;

    Findings& m_findings;
    Endings& m_endings;
    TypeSignatures m_signatures;
    const std::set<std::int64_t> m_with_threads;
    std::set<const OpenEnd*> m_told;
};

} // namespace hdtrace
