// remote_reader.h - other processes that read traces, on machines that have more memory and cores together.
//
// A process that gives a project readers (Project::readers) gets the states of its traces from these, already
// in the order of time, and only looks at them. They all see the files under the same names. How questions
// and answers get from one process to the other is up to the program, for instance by MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace hdtrace {

/// Another process, in which a ReadingServer answers. Any number of threads may use it, but each stream is
/// used by one at a time.
class RemoteReader {
  public:
    RemoteReader() = default;
    virtual ~RemoteReader() = default;
    RemoteReader(const RemoteReader&) = delete;
    RemoteReader& operator=(const RemoteReader&) = delete;

    /// Hands a question to ReadingServer::answer() there. Does not wait for the answer.
    virtual void ask(std::uint32_t stream, std::string_view question) = 0;
    /// Waits for the answer to the question before. What it throws ends the reading.
    virtual std::string answer(std::uint32_t stream) = 0;

    /// Numbers of streams, from 1 on.
    std::uint32_t new_stream() { return ++m_streams; }

  private:
    std::atomic<std::uint32_t> m_streams = 0;
};

} // namespace hdtrace
