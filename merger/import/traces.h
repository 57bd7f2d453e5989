// The traces that are made of what is imported: files as the tracer writes them (docs/format.md), one .info
// for each process, one .trc for each of its threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "hdtrace/format/state.h"
#include "merger/export/output_directory.h"

namespace hdtrace::importer {

/// A program's run: where the files of its processes are written. They may be written one after the other or
/// side by side; none is kept open.
class Traces {
  public:
    /// @p directory must outlive this. @p program is its true name, @p file_base what the names of its files
    /// begin with.
    Traces(const exporter::OutputDirectory& directory, std::string program, std::string file_base);

    const exporter::OutputDirectory& directory() const { return m_directory; }
    const std::string& program() const { return m_program; }
    const std::string& file_base() const { return m_file_base; }

    /// Where the trace came from: the name of its format, the program that wrote it, and what its times are;
    /// both empty if they are not known, and the times if they are those of the run. @p lacks: what it does
    /// not tell of what the program did. To be set before the first process is made.
    void set_origin(std::string_view format, std::string_view creator, std::string_view times = {},
                    std::string_view lacks = {});
    const std::string& origin() const { return m_origin; }

    /// How many processes have been written.
    std::int64_t processes() const { return m_processes; }

  private:
    friend class ProcessTrace;

    const exporter::OutputDirectory& m_directory;
    std::string m_program;
    std::string m_file_base;
    std::string m_origin; ///< a line for each .info
    std::int64_t m_processes = 0;
};

/// A line of an .info: its kind, then keys with values in the order that docs/format.md shows.
class InfoText {
  public:
    explicit InfoText(std::string_view kind) : m_text(kind) {}

    InfoText& number(std::string_view key, std::int64_t value);
    /// Quotes and escapes it.
    InfoText& text(std::string_view key, std::string_view value);

    const std::string& line() const { return m_text; }

  private:
    std::string m_text;
};

/// One process and its .info.
class ProcessTrace {
  public:
    struct Facts {
        std::int64_t rank = 0; ///< in MPI_COMM_WORLD
        std::int64_t size = 0; ///< of MPI_COMM_WORLD
        std::string host;      ///< empty: not known
        /// The second since the epoch that times in the files count from; none is before it.
        std::int64_t base = 0;
    };

    /// Throws tools::FileError, as all functions that write.
    ProcessTrace(Traces& traces, Facts facts);

    const Facts& facts() const { return m_facts; }
    void write(const InfoText& line);
    /// WORLD, with the id 0, and its uid. Its members are all ranks.
    void write_world();
    /// A predefined datatype.
    void write_named_type(std::int64_t id, std::string_view name, std::int64_t size);
    /// Once, after all threads were closed.
    void close();

    /// The path of a file that belongs to it.
    std::string file_name(std::int64_t thread, std::string_view extension) const;

  private:
    friend class ThreadTrace;

    Traces& m_traces;
    Facts m_facts;
    std::string m_pending;
    exporter::DirectoryFile m_file;
};

/// One thread and its .trc. States come in the order in which they ended; events are moments among them.
class ThreadTrace {
  public:
    /// @p process must outlive this. Thread 0 is there in every process.
    ThreadTrace(ProcessTrace& process, std::int64_t thread);

    /// Writes a call, or an event if State::is_event, with what is nested in it. Times are nanoseconds since
    /// the epoch. Characters that XML cannot hold are replaced. Throws std::invalid_argument if names are no
    /// XML names, if a time is before the process's base, an end before its beginning, or the end before that
    /// of the last one.
    void write(const State& state);
    /// Ends the file. @p dropped: states that the source says were lost.
    void close(std::int64_t dropped = 0);

    std::int64_t thread() const { return m_thread; }
    /// When the last state or event ended; the process's base if there is none.
    std::int64_t last_end() const { return m_last_end; }

  private:
    void append(const State& state);
    void append_attributes(const Element& element);
    void append_time(std::string_view name, std::int64_t time);
    void flush();

    ProcessTrace& m_process;
    std::int64_t m_thread;
    std::int64_t m_base;
    std::int64_t m_last_end;
    std::int64_t m_states = 0;
    std::string m_pending;
    exporter::DirectoryFile m_file;
};

/// Adds an attribute.
inline void put(Element& element, std::string_view name, std::int64_t value)
{
    element.attributes.push_back(name, std::to_string(value));
}

} // namespace hdtrace::importer
