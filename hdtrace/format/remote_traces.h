// remote_traces.h - traces that another process reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/format/remote_messages.h"
#include "hdtrace/format/remote_reader.h"

namespace hdtrace::detail {

/// What MergedTraces hands out there. The reader sends some states ahead.
class RemoteTraces {
  public:
    /// Asks the reader to open the traces.
    RemoteTraces(std::shared_ptr<RemoteReader> reader, ReadingJob job);
    ~RemoteTraces();
    RemoteTraces(const RemoteTraces&) = delete;
    RemoteTraces& operator=(const RemoteTraces&) = delete;

    /// Waits until they are open. Throws OpenError, ReadError.
    void wait_until_open();
    /// The next state; @p state's memory is used again. False behind the last one. Throws ReadError,
    /// OpenError.
    bool next(State& state);
    /// Whose state next() returned last.
    const TraceFile& trace() const { return m_traces[m_current]; }
    /// Known at the end.
    const std::vector<MissingEnd>& missing() const { return m_missing; }
    const std::vector<std::string>& with_odd_lines() const { return m_odd; }

  private:
    void ask(Question question);
    void ask(const std::string& question);
    void get_answer();
    void take_end();

    std::shared_ptr<RemoteReader> m_reader;
    std::vector<TraceFile> m_traces;
    std::uint32_t m_stream;
    bool m_is_asked = false; ///< the reader has not answered yet
    bool m_at_end = false;
    std::string m_answer; ///< of which is left:
    ByteReader m_rest;
    StateReader m_states;
    std::size_t m_current = 0;
    std::vector<MissingEnd> m_missing;
    std::vector<std::string> m_odd;
};

} // namespace hdtrace::detail
