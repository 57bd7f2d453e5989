// The file of one process: records, and behind them what tells about them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merger/dumpi/constants.h"
#include "merger/export/dumpi/bytes.h"

namespace hdtrace::exporter::dumpi {

/// How often each function was called, by labels.
using CallCounts = std::array<std::uint64_t, hdtrace::dumpi::label_count>;

/// What stands behind the records.
struct Description {
    std::int64_t start = 0; ///< of the run, in seconds since the epoch
    std::string host;
    std::string user;
    CallCounts ignored{};                                   ///< calls that were not recorded
    std::vector<std::pair<std::string, std::string>> notes; ///< one at most: readers can take no more
    std::vector<std::int32_t> datatype_sizes;
};

/// All functions throw what the sink throws.
class BinFile {
  public:
    using Sink = std::function<void(std::string_view)>;

    /// @p second: since the epoch; no time is before it.
    BinFile(Sink sink, std::int64_t second);

    /// @p arguments: as the files have them. Times are nanoseconds since the epoch.
    void record(std::uint16_t label, std::int64_t thread, std::int64_t time, std::int64_t end,
                std::string_view arguments);
    /// The program enters or leaves what it calls so.
    void region(std::uint16_t label, std::int64_t thread, std::int64_t time, const std::string& name);
    void finish(const Description& description);

  private:
    void prefix(std::uint16_t label, std::int64_t thread, std::int64_t time, std::int64_t end);
    void time(std::int64_t time);
    void flush();
    std::uint64_t place() const { return m_written + m_bytes.size(); }

    void header(const Description& description);
    void footer(const CallCounts& ignored);

    Sink m_sink;
    std::int64_t m_second;
    std::uint64_t m_written = 0;
    Bytes m_bytes;
    CallCounts m_recorded{};
    std::map<std::string, std::uint64_t> m_regions; ///< by their names the addresses that stand for them
};

} // namespace hdtrace::exporter::dumpi
