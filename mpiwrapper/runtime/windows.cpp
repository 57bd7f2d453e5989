#include "mpiwrapper/runtime/windows.h"

#include "mpiwrapper/runtime/communicators.h"
#include "mpiwrapper/runtime/lock.h"
#include "mpiwrapper/runtime/process.h"

#include <glib.h>
#include <stdlib.h>

namespace hdtrace::mpi {

constinit Generations<MPI_Win> window_generations;

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // for the table and the ids
GHashTable* windows = nullptr;                     // handle -> Window
int64_t next_id = 0;

// Whoever calls it holds the mutex.
const Window* lookup(MPI_Win handle)
{
    return windows != nullptr ? static_cast<const Window*>(g_hash_table_lookup(windows, key_of(handle))) : nullptr;
}

} // namespace

void created_window(MPI_Win handle, const Comm& comm, int64_t size, int64_t displacement_unit)
{
    // All members of the communicator take part, as if they made a communicator from it.
    const int number = count_creation(comm);
    Window* const window = static_cast<Window*>(calloc(1, sizeof(Window)));
    if (window == nullptr)
        return;
    add_reference(comm);
    const MutexLock lock(mutex);
    *window = {next_id++, &comm};
    if (windows == nullptr)
        windows = g_hash_table_new_full(g_direct_hash, g_direct_equal, nullptr, free);
    g_hash_table_replace(windows, key_of(handle), window);
    window_generations.end(handle);
    TextBuffer line;
    line.text("Win id=").number(window->id).text(" cid=").number(comm.id);
    if (comm.uid != nullptr)
        line.text(" uid='").info_escaped(comm.uid).text("/w").number(number).text("'");
    line.text(" size=").number(size).text(" dispUnit=").number(displacement_unit);
    write_info(line.text("\n"));
}

Window find_window(MPI_Win handle)
{
    const MutexLock lock(mutex);
    const Window* const window = lookup(handle);
    return window != nullptr ? *window : Window{-1, &null_comm};
}

void freed_window(MPI_Win handle, const Window& window)
{
    if (window.id < 0)
        return;
    {
        const MutexLock lock(mutex);
        const Window* const present = lookup(handle);
        if (present != nullptr && present->id == window.id)
            g_hash_table_remove(windows, key_of(handle));
        window_generations.end(handle);
    }
    drop_reference(*window.comm);
}

void name_window(const Window& window, const char* name)
{
    if (window.id < 0 || name == nullptr)
        return;
    TextBuffer line;
    write_info(line.text("WinName id=").number(window.id).text(" name='").info_escaped(name).text("'\n"));
}

} // namespace hdtrace::mpi
