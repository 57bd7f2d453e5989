// reading_server.h - reads traces for another process, which has this one as its RemoteReader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace hdtrace {

/// Knows nothing of projects: questions say everything. Memory as that of MergedTraces for each stream. For
/// one thread at a time.
class ReadingServer {
  public:
    ReadingServer();
    ~ReadingServer();
    ReadingServer(const ReadingServer&) = delete;
    ReadingServer& operator=(const ReadingServer&) = delete;

    /// The answer, with what went wrong when a trace was read. Both processes have to be of the same version
    /// of hdtrace, on machines of the same kind. Throws std::logic_error if it is no question.
    std::string answer(std::uint32_t stream, std::string_view question);

  private:
    class Stream;
    std::map<std::uint32_t, std::unique_ptr<Stream>> m_streams;
};

} // namespace hdtrace
