#include "mpiwrapper/runtime/recording/scratch.h"

#include "hdtrace/writer/own_memory.h"

#include <stdlib.h>

namespace hdtrace::mpi {

Scratch::~Scratch()
{
    own_free(m_memory);
}

void* Scratch::take(size_t size)
{
    if (m_is_taken)
        return own_malloc(size);
    m_is_taken = true;
    if (size > m_size) {
        own_free(m_memory);
        m_size = 2 * size;
        m_memory = own_malloc(m_size);
        if (m_memory == nullptr)
            m_size = 0;
    }
    return m_memory;
}

void Scratch::give_back(void* memory)
{
    if (memory == m_memory)
        m_is_taken = false;
    else
        own_free(memory);
}

} // namespace hdtrace::mpi
