// What is asked of the dynamic loader once.
#pragma once

#include <pthread.h>

namespace hdtrace::mpi {

/// Keeps in @p known what @p find returns, which asks the loader, unless that has been done. Several threads
/// may ask at the same time, and find the same. Whoever asks must hold nothing that others wait for: they may
/// be constructors of a library that the loader is loading, for which it waits itself.
template <typename Found, typename Find> void find_once(Found& known, bool& is_known, Find find)
{
    if (__atomic_load_n(&is_known, __ATOMIC_ACQUIRE))
        return;
    const Found found = find();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    if (!is_known)
        known = found;
    __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
}

} // namespace hdtrace::mpi
