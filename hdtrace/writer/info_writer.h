// Writes an .info file (docs/format.md).
#pragma once

#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/text.h"
#include "hdtrace/writer/text_buffer.h"

namespace hdtrace {

/// Thread-safe, and safe in signal handlers: memory is never asked for. Functions return 0 or a value of
/// errno. What could not be written is kept as far as there is room for it, and tried again with each
/// flush(); a line `Lost` in the file tells how many lines were not kept.
class InfoWriter {
  public:
    /// Is told the file and why it could not be written.
    using OnError = void (*)(const char* path, int error);

    InfoWriter() = default;
    InfoWriter(const InfoWriter&) = delete;
    InfoWriter& operator=(const InfoWriter&) = delete;

    int open(const char* path, OnError on_error = nullptr);
    /// Adds whole lines; they may stay in memory until flush(). An error if they are lost.
    int write(const char* lines, size_t size);
    int write(const TextBuffer& lines)
    {
        return lines.bad() ? out_of_memory() : write(lines.data(), lines.size());
    }
    /// A short line that says what becomes of the process: it does not wait for others that there is no room
    /// for. The first line of all comes by write().
    int write_ahead(const char* line, size_t size);
    int flush();
    int close();

  private:
    static constexpr size_t lost_line_room = sizeof "Lost lines=\n" + max_number_length;

    /// Lines that wait to be written, with room for one more behind them.
    template <size_t capacity> struct Lines {
        bool has_room_for(size_t more) const { return more <= capacity - size; }
        void add(const char* lines, size_t more)
        {
            memcpy(text + size, lines, more);
            size += more;
        }

        size_t size = 0;
        char text[capacity + lost_line_room];
    };

    static int out_of_memory();
    int set_error(int error);
    int write_out(const char* lines, size_t size, const Lock& lock);
    int write_usual(const Lock& lock);
    int write_what_is_ahead(const Lock& lock);
    int flush(const Lock& lock);
    void lose(const char* lines, size_t size);
    void publish();

    pthread_mutex_t m_mutex = HDTRACE_MUTEX_INITIALIZER;
    OutputFile m_file;
    OnError m_on_error = nullptr;
    int m_error = 0;           // of the last attempt
    bool m_is_waiting = false; // whether there is anything to write
    int64_t m_lost = 0;        // lines that the file does not tell of yet
    Lines<16 * 1024> m_usual;
    Lines<4 * 1024> m_ahead;
};

} // namespace hdtrace
