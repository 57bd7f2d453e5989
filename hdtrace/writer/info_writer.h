// Writes an .info file (docs/format.md).
#pragma once

#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

/// Thread-safe, and safe in signal handlers: memory is never asked for. Functions return 0 or a value of
/// errno; after a failed write everything is dropped.
class InfoWriter {
  public:
    InfoWriter() = default;
    InfoWriter(const InfoWriter&) = delete;
    InfoWriter& operator=(const InfoWriter&) = delete;

    int open(const char* path);
    /// Adds whole lines; they may stay in memory until flush().
    int write(const char* lines, size_t size);
    int write(const TextBuffer& lines)
    {
        return lines.bad() ? out_of_memory() : write(lines.data(), lines.size());
    }
    int flush();
    int close();

  private:
    static int out_of_memory();
    int set_error(int error);
    int write_out(const char* lines, size_t size, const Lock& lock);
    int flush(const Lock& lock);
    bool is_empty() const { return __atomic_load_n(&m_pending_size, __ATOMIC_ACQUIRE) == 0; }

    pthread_mutex_t m_mutex = HDTRACE_MUTEX_INITIALIZER;
    OutputFile m_file;
    int m_error = 0;
    size_t m_pending_size = 0;
    char m_pending[16 * 1024];
};

} // namespace hdtrace
