// Writes an .info file (docs/format.md).
#pragma once

#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/text_buffer.h"

#include <pthread.h>

namespace hdtrace {

/// Thread-safe. Functions return 0 or a value of errno; after the first error everything is dropped.
class InfoWriter
{
  public:
    int open(const char* path);
    /// Adds whole lines; they may stay in memory until flush().
    int write(const char* lines, size_t size);
    int write(const TextBuffer& lines) { return lines.bad() ? out_of_memory() : write(lines.data(), lines.size()); }
    int flush();
    int close();

  private:
    static int out_of_memory();
    int flush_locked();

    static constexpr size_t flush_size = 16 * 1024;
    pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER;
    OutputFile m_file;
    TextBuffer m_pending;
    int m_error = 0;
};

} // namespace hdtrace
