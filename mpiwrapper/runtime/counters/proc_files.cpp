#include "mpiwrapper/runtime/counters/values.h"

#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

/// The lines of a file, without their ends. What is longer than the buffer is cut off. None without memory:
/// at the end they are read on the stack of whoever ends the process, which may be small.
class Lines {
  public:
    explicit Lines(const char* path)
        : m_text(static_cast<char*>(own_malloc(text_room))),
          m_descriptor(m_text != nullptr ? open(path, O_RDONLY | O_CLOEXEC) : -1)
    {
    }
    ~Lines()
    {
        own_free(m_text);
        if (m_descriptor >= 0)
            close(m_descriptor);
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// Null behind the last one. Valid until the next call.
    const char* next()
    {
        char* end = find_end();
        if (end == nullptr && fill())
            end = find_end();
        if (end == nullptr) {
            if (m_begin == m_end)
                return nullptr;
            end = m_text + m_end;
        }
        const char* const line = m_text + m_begin;
        m_begin = static_cast<size_t>(end - m_text) + (end != m_text + m_end ? 1 : 0);
        *end = '\0';
        return line;
    }

  private:
    static constexpr size_t text_room = 4096;

    char* find_end()
    {
        return m_begin < m_end ? static_cast<char*>(memchr(m_text + m_begin, '\n', m_end - m_begin))
                               : nullptr;
    }
    bool fill()
    {
        if (m_text == nullptr)
            return false;
        memmove(m_text, m_text + m_begin, m_end - m_begin);
        m_end -= m_begin;
        m_begin = 0;
        ssize_t length = 0;
        do {
            length = m_descriptor >= 0 ? read(m_descriptor, m_text + m_end, text_room - 1 - m_end) : 0;
            m_end += length > 0 ? static_cast<size_t>(length) : 0;
        } while (length > 0 && find_end() == nullptr && m_end < text_room - 1);
        return length > 0;
    }

    char* const m_text;
    const int m_descriptor;
    size_t m_begin = 0, m_end = 0;
};

constexpr const char* separators = " \t:";

const char* skip(const char* line, int columns)
{
    line += strspn(line, separators);
    for (; columns > 0; --columns) {
        line += strcspn(line, separators);
        line += strspn(line, separators);
    }
    return line;
}

int64_t number_at(const char* text)
{
    int64_t number = 0;
    for (; *text >= '0' && *text <= '9'; ++text)
        number =
            static_cast<int64_t>(static_cast<uint64_t>(number) * 10 + static_cast<uint64_t>(*text - '0'));
    return number;
}

// The sum of those columns that the bits name.
int64_t sum_of(const char* line, uint64_t columns)
{
    int64_t sum = 0;
    const char* at = skip(line, 0);
    for (; columns != 0 && *at != '\0'; columns >>= 1) {
        if ((columns & 1) != 0)
            sum += number_at(at);
        at = skip(at, 1);
    }
    return sum;
}

/// Whether a line counts.
enum class Counts {
    no,
    alone, ///< if no other line says yes
    yes
};

Counts always(const char*)
{
    return Counts::yes;
}

// Whether /sys has a device for what the column names: a disk or a network card, not a part or a bundle of
// some.
bool has_device(const char* folder, const char* name)
{
    const size_t length = strcspn(name, separators);
    char path[256];
    if (strlen(folder) + length + sizeof "/device" > sizeof path)
        return false;
    char* end = put_constant(path, folder);
    memcpy(end, name, length);
    for (char* character = end; character != end + length; ++character)
        *character = *character == '/' ? '!' : *character;
    *put_text(end + length, "/device") = '\0';
    return access(path, F_OK) == 0;
}

Counts of_disk(const char* line)
{
    return has_device("/sys/block/", skip(line, 2)) ? Counts::yes : Counts::no;
}

// In containers there are only virtual ones.
Counts of_network_device(const char* line)
{
    const char* const name = skip(line, 0);
    if (strchr(line, '|') != nullptr || strncmp(name, "lo:", 3) == 0)
        return Counts::no;
    return has_device("/sys/class/net/", name) ? Counts::yes : Counts::alone;
}

int64_t once()
{
    return 1;
}

int64_t nanoseconds_per_tick()
{
    return nanoseconds_per_second / sysconf(_SC_CLK_TCK);
}

int64_t bytes_per_page()
{
    return sysconf(_SC_PAGESIZE);
}

struct File {
    Source source;
    const char* path;
    Counts (*counts)(const char* line);
    int64_t (*unit)(); ///< of its numbers
};

constexpr File files[] = {
    {Source::process_memory, "/proc/self/statm", always, bytes_per_page},
    {Source::process_io, "/proc/self/io", always, once},
    {Source::processors, "/proc/stat", always, nanoseconds_per_tick},
    {Source::disks, "/proc/diskstats", of_disk, once},
    {Source::network, "/proc/net/dev", of_network_device, once},
    {Source::memory, "/proc/meminfo", always, once},
};

bool is_in(const char* line, const SampledCounter& counter)
{
    return counter.key == nullptr || strncmp(line, counter.key, strlen(counter.key)) == 0;
}

void add_line(const File& file, const char* line, const Sample& sample)
{
    for (size_t i = 0; i < sample.counters.size(); ++i) {
        const SampledCounter& counter = *sample.counters[i];
        if (counter.source != file.source || !is_in(line, counter))
            continue;
        int64_t& value = sample.values[i];
        value = (value == no_value ? 0 : value) + sum_of(line, counter.code) * counter.factor * file.unit();
    }
}

void clear(const File& file, const Sample& sample)
{
    for (size_t i = 0; i < sample.counters.size(); ++i) {
        if (sample.counters[i]->source == file.source)
            sample.values[i] = no_value;
    }
}

bool is_wanted(const File& file, const Sample& sample)
{
    for (const SampledCounter* const counter : sample.counters) {
        if (counter->source == file.source)
            return true;
    }
    return false;
}

void read(const File& file, const Sample& sample)
{
    Lines lines(file.path);
    Counts best = Counts::no;
    while (const char* const line = lines.next()) {
        const Counts counts = file.counts(line);
        if (counts == Counts::no || counts < best)
            continue;
        if (counts > best)
            clear(file, sample); // what was added of lines that count less
        best = counts;
        add_line(file, line, sample);
    }
}

} // namespace

void read_proc_files(const Sample& sample)
{
    for (const File& file : files) {
        if (is_wanted(file, sample)) {
            clear(file, sample);
            read(file, sample);
        }
    }
}

} // namespace hdtrace::mpi
