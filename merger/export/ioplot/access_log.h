// The reads and writes of a run as lines of a log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/matching/file_view.h"
#include "hdtrace/matching/walk.h"
#include "merger/export/account.h"
#include "merger/export/text_output.h"

namespace hdtrace::exporter {

struct LogForm {
    bool one_line_per_operation = false;   ///< else for each contiguous piece of it
    std::int64_t most_pieces = 10'000'000; ///< of all operations together, besides the first of each
    bool as_wtime = false; ///< times are those of MPI_Wtime, else since the first call of the run
};

/// Where the lines of each wanted file go.
using Logs = std::map<const ProjectFile*, TextOutput>;

/// Visits all calls in the order of time. Writes `rank op offset length start_time end_time`, as the ioplots
/// tools read it.
class AccessLog : public EventVisitor {
  public:
    /// All must outlive this.
    AccessLog(const ObjectTable& objects, LogForm form, Logs& logs, Account& account)
        : m_objects(objects), m_types(objects), m_form(form), m_logs(logs), m_account(account)
    {
    }

    void enter(const Call& call) override { m_start = m_start.value_or(call.state.time); }
    void mark(const Call& call) override { m_start = m_start.value_or(call.state.time); }
    void leave(const Call& call) override;
    void accessed(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// Writes those of which no call told the end.
    void finish();

  private:
    /// What a process sees of a file.
    struct View {
        std::optional<FileView> of_file = FileView(); ///< nothing if its type is not described
        bool is_native = true;
    };
    /// What is known about an access when it is started.
    struct Access {
        std::int64_t rank;
        TextOutput* log;
        bool is_write;
        FileView view;
        std::int64_t offset;
        std::int64_t size;
        std::int64_t time;
        bool is_native;
    };
    struct Pending {
        Access access;
        std::int64_t end; ///< of the call that started it
    };

    /// The log that a call belongs to; null if none. What the MPI library does inside a call is part of that
    /// call.
    Logs::value_type* log_of(const Call& call) const;
    void note_clock(const Call& call);
    void set_view(View& view, std::int64_t rank, const State& call);
    void start(Logs::value_type& log, const Operation& operation);
    /// Throws ConvertError if there are too many pieces.
    void write(const Access& access, std::int64_t end);
    /// The same, of one whose end is known.
    void write_and_count(const Access& access, std::int64_t end);
    /// Throws ConvertError if the process did not tell MPI_Wtime.
    std::int64_t shown_time(std::int64_t rank, std::int64_t time) const;

    const ObjectTable& m_objects;
    TypeMaps m_types;
    LogForm m_form;
    Logs& m_logs;
    Account& m_account;
    std::int64_t m_pieces = 0;
    std::optional<std::int64_t> m_start;               ///< of the first call of the run
    std::map<std::int64_t, std::int64_t> m_wtime_zero; ///< when MPI_Wtime was 0, by rank
    std::map<std::pair<std::int64_t, const ProjectFile*>, View> m_views;
    std::map<std::pair<std::int64_t, std::int64_t>, Pending> m_pending; ///< by rank and rid
};

} // namespace hdtrace::exporter
