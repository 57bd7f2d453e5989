#include "hdtrace/writer/info_writer.h"

#include <errno.h>

namespace hdtrace {

namespace {

class Lock
{
  public:
    explicit Lock(pthread_mutex_t& mutex) : m_mutex(mutex) { pthread_mutex_lock(&m_mutex); }
    ~Lock() { pthread_mutex_unlock(&m_mutex); }

  private:
    pthread_mutex_t& m_mutex;
};

} // namespace

int InfoWriter::out_of_memory()
{
    return ENOMEM;
}

int InfoWriter::open(const char* path)
{
    const Lock lock(m_mutex);
    return m_error = m_file.open(path);
}

int InfoWriter::write(const char* lines, size_t size)
{
    const Lock lock(m_mutex);
    if (m_error != 0)
        return m_error;
    m_pending.bytes(lines, size);
    if (m_pending.bad())
        return m_error = ENOMEM;
    return m_pending.size() < flush_size ? 0 : flush_locked();
}

int InfoWriter::flush()
{
    const Lock lock(m_mutex);
    return flush_locked();
}

int InfoWriter::flush_locked()
{
    if (m_error == 0 && m_pending.size() > 0)
        m_error = m_file.write(m_pending.data(), m_pending.size());
    m_pending.clear();
    return m_error;
}

int InfoWriter::close()
{
    const Lock lock(m_mutex);
    flush_locked();
    const int error = m_file.close();
    return m_error != 0 ? m_error : error;
}

} // namespace hdtrace
