// The calls of one process as records of DUMPI.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/matching/events.h"
#include "merger/export/account.h"
#include "merger/export/dumpi/arguments.h"
#include "merger/export/dumpi/bin_file.h"

namespace hdtrace::exporter::dumpi {

class ProcessRecords : public EventVisitor {
  public:
    ProcessRecords(Process& process, BinFile& file, Account& account)
        : m_process(process), m_file(file), m_account(account), m_arguments(process)
    {
    }

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

  private:
    /// A collective operation that the current call has completed.
    struct Done {
        std::int64_t rid;
        std::uint16_t label;
        std::string arguments;
    };
    /// The end of a split collective access to a file, which is a call of its own.
    struct SplitEnd {
        const hdtrace::dumpi::Function* function = nullptr;
        std::string arguments;
    };

    void write_call(const Call& call);
    void write(const Call& call, const hdtrace::dumpi::Function& function, bool is_twin);
    void write_completion(const Call& call, const hdtrace::dumpi::Function& function);
    void write_done(const Call& call);
    void write_both_messages(const Call& call);
    bool prepares_or_starts_hidden(const Call& call) const;
    Losses append_arguments(const hdtrace::dumpi::Function& function, const CallView& view);
    void count(const Call& call, const Losses& losses, bool is_twin);
    Status status_of(const Completion& completion) const;

    Process& m_process;
    BinFile& m_file;
    Account& m_account;
    ArgumentWriter m_arguments;
    RequestPlaces m_places;
    Bytes m_bytes;

    // Of the current call.
    std::vector<OfferedRequest> m_ended;
    std::vector<Done> m_done;
    std::vector<std::int64_t> m_over; ///< rids that nobody names any more
    SplitEnd m_split_end;

    bool m_has_begun = false;
    std::int64_t m_open_sessions = 0;
};

} // namespace hdtrace::exporter::dumpi
