#include "hdtrace/writer/info_writer.h"

#include <errno.h>

namespace hdtrace {

int InfoWriter::open(const char* path)
{
    const Lock lock(m_mutex);
    return set_error(m_file.claim(path));
}

int InfoWriter::write(const char* lines, size_t size)
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    if (size > sizeof m_pending - m_pending_size)
        flush(lock);
    if (size > sizeof m_pending)
        return write_out(lines, size, lock);
    if (m_error == 0) {
        memcpy(m_pending + m_pending_size, lines, size);
        __atomic_store_n(&m_pending_size, m_pending_size + size, __ATOMIC_RELEASE);
    }
    return m_error;
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
    if (is_empty())
        return __atomic_load_n(&m_error, __ATOMIC_RELAXED);
    const Lock lock(m_mutex);
    return lock.held() ? flush(lock) : EDEADLK;
}

int InfoWriter::flush(const Lock& lock)
{
    write_out(m_pending, m_pending_size, lock);
    __atomic_store_n(&m_pending_size, 0, __ATOMIC_RELEASE);
    return m_error;
}

int InfoWriter::write_out(const char* lines, size_t size, const Lock& lock)
{
    if (m_error == 0 && size > 0)
        set_error(m_file.write({lines, size}, lock.undisturbed()));
    return m_error;
}

int InfoWriter::close()
{
    const Lock lock(m_mutex);
    if (!lock.held())
        return EDEADLK;
    flush(lock);
    const int error = m_file.close();
    return m_error != 0 ? m_error : error;
}

} // namespace hdtrace
