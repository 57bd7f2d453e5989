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
    if (__atomic_load_n(&m_is_taken, __ATOMIC_ACQUIRE))
        return own_malloc(size);
    __atomic_store_n(&m_is_taken, true, __ATOMIC_RELAXED);
    if (size > m_size) {
        own_free(m_memory);
        m_size = 2 * size;
        __atomic_store_n(&m_memory, own_malloc(m_size), __ATOMIC_RELAXED);
        if (m_memory == nullptr)
            m_size = 0;
    }
    return m_memory;
}

void Scratch::give_back(void* memory)
{
    if (memory == __atomic_load_n(&m_memory, __ATOMIC_RELAXED))
        take_back();
    else
        own_free(memory);
}

} // namespace hdtrace::mpi
