#include "mpiwrapper/runtime/objects/windows.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <stdlib.h>

namespace hdtrace::mpi {

constinit Generations<MPI_Win> window_generations;

namespace {

struct KnownWindow : TableEntry<KnownWindow> {
    Window window;
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for the table and the ids
constinit ObjectTable<KnownWindow> windows;        // by handle
int64_t next_id = 0;

// Whoever calls it holds the mutex.
void forget(KnownWindow* known)
{
    windows.remove(known);
    own_free(known);
}

} // namespace

void created_window(MPI_Win handle, const Comm& comm, int64_t size, int64_t displacement_unit)
{
    // All members of the communicator take part, as if they made a communicator from it.
    const int number = count_creation(comm);
    KnownWindow* const made = static_cast<KnownWindow*>(own_malloc(sizeof(KnownWindow)));
    if (made == nullptr)
        return;
    const Lock lock(mutex);
    if (!lock.held()) {
        own_free(made);
        return;
    }
    add_reference(comm);
    if (KnownWindow* const older = windows.find(handle_bits(handle)))
        forget(older);
    made->window = {next_id++, &comm};
    windows.add(handle_bits(handle), made);
    window_generations.end(handle);
    TextBuffer line;
    line.text("Win id=").number(made->window.id).text(" cid=").number(comm.id);
    if (comm.uid != nullptr)
        line.text(" uid='").info_escaped(comm.uid).text("/w").number(number).text("'");
    line.text(" size=").number(size).text(" dispUnit=").number(displacement_unit);
    write_info(line.text("\n"));
}

Window find_window(MPI_Win handle)
{
    const MutexLock look(mutex);
    const KnownWindow* const known = windows.find(handle_bits(handle));
    return known != nullptr ? known->window : Window{-1, &null_comm};
}

void freed_window(MPI_Win handle, const Window& window)
{
    if (window.id < 0)
        return;
    {
        const Lock lock(mutex);
        if (!lock.held())
            return;
        KnownWindow* const present = windows.find(handle_bits(handle));
        if (present != nullptr && present->window.id == window.id)
            forget(present);
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
