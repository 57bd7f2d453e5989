// trc_reader.h - reads a .trc, one state at a time.
//
//     hdtrace::TrcReader reader("app_node01_0_0.trc");
//     hdtrace::State state;
//     while (reader.next(state))
//         ...
//     if (!reader.complete())
//         warn("app_node01_0_0.trc: " + reader.missing() + " is missing");
//
// A trace of which only the last part was kept is in several files, which are read as one.
//
// Lines as our writer writes them are read fast, all others by libxml2. Memory is bounded by the longest
// line. One reader must be used by one thread at a time; different readers are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/read_options.h"
#include "hdtrace/format/state.h"

namespace hdtrace {

class TrcReader {
  public:
    /// Opens the trace and reads its root. Throws OpenError, or ReadError if it is not a trace.
    explicit TrcReader(const std::string& path, const ReadOptions& options = {});
    ~TrcReader();
    TrcReader(TrcReader&&) noexcept;
    TrcReader& operator=(TrcReader&&) noexcept;

    /// The root's attributes. A trace that was cut off in its first line has none.
    const AttributeList& attributes() const;
    /// Nanoseconds since the epoch, already added to all times; 0 in traces with absolute times.
    std::int64_t time_adjustment() const;
    /// From the root, or from the file's name for traces that do not say.
    std::optional<int> rank() const;
    std::optional<int> thread() const;

    /// Reads the next state or event of the top level; @p state's memory is used again. False at the end.
    ///  A trace that was cut off ends after its last whole line, which is no error. Throws ReadError for what
    ///  is not a trace, and the same again if it is called again; where states do not stand on lines of their
    /// own, the last ones before a syntax error (less than a kilobyte) may be lost with it.
    bool next(State& state);

    /// Makes next() begin with the first state that ends at @p time or later. Has to be called before next().
    /// Finds the place in a trace of ours by binary search, reads all others from their beginning. States
    /// that are found have no line numbers. Throws as next().
    void seek(std::int64_t time);

    /// Whether the writer closed the trace. Valid once next() returned false.
    bool complete() const;
    /// What a trace that was cut off lacks, e.g. "the end of line 7 and </Program>"; else empty.
    const std::string& missing() const;
    /// Whether all lines that were read until now are as our writer writes them, and certainly as the schema
    /// says if the root is.
    bool has_only_plain_lines() const;
    /// Whether it is in several files, its segments. Its lines are counted through all of them.
    bool has_segments() const { return m_has_segments; }
    /// How many lines of a trace that was cut off hold all that next() returned and nothing that is not
    /// whole, if all of it was read.
    std::int64_t whole_lines() const;

  private:
    struct Reading;

    static std::unique_ptr<Reading> begin(const std::string& path, const ReadOptions& options);
    bool next_in_file(State& state);
    void go_on();

    std::unique_ptr<Reading> m_reading;
    ReadOptions m_options;
    bool m_has_segments = false;
    std::vector<std::string> m_later;               ///< the segments behind, the last one first
    std::int64_t m_begin;                           ///< as seek() was told
    std::optional<std::int64_t> m_lines_before = 0; ///< in those before; nothing if it is not known
    std::string m_missing;                          ///< of the segments before
    bool m_has_odd_lines = false;                   ///< likewise
};

} // namespace hdtrace
