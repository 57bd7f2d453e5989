// The ends of messages in the order of time, of which there may be more than memory holds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

namespace hdtrace::exporter::paje {

/// One end of an arrow.
struct LinkEnd {
    std::int64_t time;   ///< nanoseconds since the epoch
    std::int64_t is_end; ///< 0 or 1
    std::int64_t number; ///< of the message
    std::int64_t rank, thread;
    std::int64_t bytes;

    auto operator<=>(const LinkEnd&) const = default;
};

/// Keeps so many in memory, and sorted runs of them in temporary files without names. All functions throw
/// ConvertError where such a file fails.
class SortedLinks {
  public:
    explicit SortedLinks(std::size_t most_in_memory = 1 << 20) : m_most(most_in_memory) {}

    void add(const LinkEnd& end);
    /// All are added.
    void sort();
    /// The first of those that are left, if it is not later than @p time.
    std::optional<LinkEnd> next_until(std::int64_t time);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    struct Run {
        std::unique_ptr<std::FILE, Close> file;
        LinkEnd first;
    };

    void spill();
    static bool read(Run& run);

    std::size_t m_most;
    std::vector<LinkEnd> m_ends; ///< sorted, those that are left from m_next on
    std::size_t m_next = 0;
    std::vector<Run> m_runs;
};

} // namespace hdtrace::exporter::paje
