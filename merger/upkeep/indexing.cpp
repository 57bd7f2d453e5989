#include "merger/upkeep/indexing.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/trace_compressor.h"
#include "hdtrace/tools/file_error.h"
#include "merger/upkeep/temporary_file.h"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

constexpr std::int64_t blocks_between_snapshots = 8; // of all processes together

} // namespace

/// The index of one process while it is made.
class ProcessIndex {
  public:
    ProcessIndex(const std::shared_ptr<const OpenedProject>& project, const ProcessTraces& process,
                 std::int64_t states, std::vector<index_form::SnapshotText> snapshots)
        : m_trace(detail::place_of(detail::existing_name(process.front().path)).path),
          m_path(index_form::path_of(process)), m_file(m_path),
          m_compressor(Compression::zstd, [this](std::string_view bytes) {
              m_file.write(bytes);
              m_size += static_cast<std::int64_t>(bytes.size());
          })
    {
        try {
            m_builder =
                std::make_unique<IndexBuilder>(project, process, states, std::move(snapshots),
                                               [this](std::string_view text) { m_compressor.write(text); });
        } catch (const NoIndex& error) {
            m_refused = error.what();
        }
    }

    std::size_t read(std::size_t states)
    {
        if (!m_builder)
            return 0;
        try {
            return m_builder->read(states);
        } catch (const NoIndex& error) {
            m_refused = error.what();
            return 0;
        }
    }

    /// An index that was there is not true any more, if there is none now.
    void finish()
    {
        if (m_refused.empty())
            m_compressor.close();
        if (unlink(m_path.c_str()) != 0 && errno != ENOENT)
            throw tools::FileError(m_path, errno);
        if (m_refused.empty())
            m_file.take_place_with(m_trace);
    }

    std::int64_t size() const { return m_size; }
    const std::string& refused() const { return m_refused; }

  private:
    std::string m_trace;
    std::string m_path;
    TemporaryFile m_file;
    std::int64_t m_size = 0;
    TraceCompressor m_compressor;
    std::unique_ptr<IndexBuilder> m_builder;
    std::string m_refused;
};

Indexing::Indexing(std::shared_ptr<const OpenedProject> project, std::int64_t states)
    : m_snapshots(project, blocks_between_snapshots * states),
      m_processes(
          traces_by_process(project->existing_traces(), {}),
          [this, project, states](const ProcessTraces& traces) {
              return std::make_unique<ProcessIndex>(project, traces, states, m_snapshots.of(traces));
          },
          [this](std::size_t process, std::unique_ptr<ProcessIndex> index) {
              index->finish();
              if (!index->refused().empty()) {
                  m_refused[process] = index->refused();
                  return;
              }
              ++m_made;
              m_size += index->size();
          })
{
}

Indexing::~Indexing() = default;

bool Indexing::read(std::size_t states)
{
    if (m_has_snapshots)
        return m_processes.read(states);
    m_has_snapshots = !m_snapshots.read(states);
    return true;
}

std::vector<std::string> Indexing::refused() const
{
    std::vector<std::string> all;
    for (const auto& [process, why] : m_refused)
        all.push_back(why);
    return all;
}

std::vector<std::string> indexes_of(const OpenedProject& project)
{
    std::vector<std::string> paths;
    for (const TraceFile& trace : project.traces)
        if (std::string path = index_form::path_of({trace}); detail::is_file(path))
            paths.push_back(std::move(path));
    return paths;
}

} // namespace hdtrace::merger
