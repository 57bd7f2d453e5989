#include "hdtrace/writer/info_writer.h"

#include <errno.h>

namespace hdtrace {

int InfoWriter::open(const char* path, OnError on_error)
{
    const Lock lock(m_mutex);
    m_on_error = on_error;
    return set_error(m_file.claim(path));
}

// While the file cannot be written, only flush() tries: not every call that makes an object. What comes
// behind lines that were lost may name what they described, so the file must tell of them before.
int InfoWriter::write(const char* lines, size_t size)
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    if (!m_file.is_open())
        return m_error;
    if (!m_usual.has_room_for(size) && m_error == 0)
        write_usual(lock);
    int error = m_error;
    if (m_lost == 0 && m_usual.has_room_for(size)) {
        m_usual.add(lines, size);
        error = 0;
    } else if (error == 0)
        error = write_out(lines, size, lock);
    if (error != 0)
        lose(lines, size);
    publish();
    return error;
}

int InfoWriter::write_ahead(const char* line, size_t size)
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    if (!m_file.is_open())
        return m_error;
    if (!m_ahead.has_room_for(size))
        flush(lock);
    const bool is_kept = m_ahead.has_room_for(size);
    if (is_kept)
        m_ahead.add(line, size);
    else
        lose(line, size);
    publish();
    return is_kept ? 0 : m_error;
}

int InfoWriter::out_of_memory()
{
    return ENOMEM;
}

int InfoWriter::set_error(int error)
{
    __atomic_store_n(&m_error, error, __ATOMIC_RELAXED);
    return error;
}

int InfoWriter::flush()
{
    if (!__atomic_load_n(&m_is_waiting, __ATOMIC_ACQUIRE))
        return __atomic_load_n(&m_error, __ATOMIC_RELAXED);
    const Lock lock(m_mutex);
    return lock.held() ? flush(lock) : EDEADLK;
}

int InfoWriter::flush(const Lock& lock)
{
    const int error = write_usual(lock);
    const int other_error = write_what_is_ahead(lock);
    publish();
    return error != 0 ? set_error(error) : other_error;
}

int InfoWriter::write_usual(const Lock& lock)
{
    const int error = write_out(m_usual.text, m_usual.size, lock);
    if (error == 0)
        m_usual.size = 0;
    return error;
}

// The first line of all is no such line, and says whose file it is.
int InfoWriter::write_what_is_ahead(const Lock& lock)
{
    if (m_file.size() == 0)
        return m_error;
    char* end = m_ahead.text + m_ahead.size;
    if (m_lost > 0)
        end = put_text(put_number(put_text(end, "Lost lines="), m_lost), "\n");
    const int error = write_out(m_ahead.text, static_cast<size_t>(end - m_ahead.text), lock);
    if (error == 0) {
        m_ahead.size = 0;
        m_lost = 0;
    }
    return error;
}

int InfoWriter::write_out(const char* lines, size_t size, const Lock& lock)
{
    if (size == 0)
        return 0;
    const int error = m_file.write({lines, size}, lock.undisturbed());
    if (error != 0 && m_error == 0 && m_on_error != nullptr)
        m_on_error(m_file.path(), error);
    return set_error(error);
}

void InfoWriter::lose(const char* lines, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        m_lost += lines[i] == '\n' ? 1 : 0;
}

void InfoWriter::publish()
{
    __atomic_store_n(&m_is_waiting, m_usual.size + m_ahead.size > 0 || m_lost > 0, __ATOMIC_RELEASE);
}

int InfoWriter::close()
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    const int error = m_file.is_open() ? flush(lock) : m_error;
    if (m_usual.size > 0) {
        lose(m_usual.text, m_usual.size);
        m_usual.size = 0;
        write_what_is_ahead(lock);
    }
    const int close_error = m_file.close();
    return error != 0 ? error : close_error;
}

} // namespace hdtrace
