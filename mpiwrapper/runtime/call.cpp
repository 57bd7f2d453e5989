#include "mpiwrapper/runtime/call.h"

#include "mpiwrapper/runtime/values.h"

namespace hdtrace::mpi {

// Stacks grow downwards: what is in progress lies above us. Callbacks may run on stacks of their own, e.g. of coroutines;
// between two stacks addresses tell nothing.
void Call::find_lost_calls(Thread& thread) const
{
    const auto is_on_stack = [&](const void* frame) { return thread.stack_begin <= frame && frame < thread.stack_end; };
    if (!is_on_stack(this))
        return;
    for (int i = 0; i < thread.call_count; ++i) {
        if (is_on_stack(thread.calls[i].frame) && thread.calls[i].frame <= this) {
            lose_calls(thread, i);
            return;
        }
    }
}

const Comm& Call::find_comm_slowly(MPI_Comm handle, uint64_t generation)
{
    const Comm& comm = find_comm(handle, succeeded());
    if (&comm == &null_comm)
        return comm;
    describe(comm);
    m_thread->comms.store(handle, generation, &comm);
    return comm;
}

Type Call::find_type_slowly(MPI_Datatype handle, uint64_t generation)
{
    const Type type = find_type(handle, succeeded());
    if (type.id >= 0)
        m_thread->types.store(handle, generation, type);
    return type;
}

Window Call::find_window_slowly(MPI_Win handle, uint64_t generation)
{
    const Window window = find_window(handle);
    if (window.id >= 0)
        m_thread->windows.store(handle, generation, window);
    return window;
}

File Call::find_file_slowly(MPI_File handle, uint64_t generation)
{
    const File file = find_file(handle);
    if (file.id >= 0)
        m_thread->files.store(handle, generation, file);
    return file;
}

void Call::write_error(Element& element)
{
    element.text(" rc='").name(error_class_name(m_rc)).text("'");
}

} // namespace hdtrace::mpi
