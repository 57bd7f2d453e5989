// What a call of the program gives to MPI to read from and to write to (settings.for_check): as attributes of
// its state, and as what may not change until the operation is complete.
#pragma once

#include "mpiwrapper/runtime/buffers/active_buffers.h"
#include "mpiwrapper/runtime/calls/call.h"

namespace hdtrace::mpi {

/// Describes the buffers of one call, which has succeeded, as attributes:
///
///     reads='140732:4000:2;'  so many bytes from this address on, which hold values of the datatype 2
///     reads='0:4000;'       a null pointer; not all calls look at their buffers
///     writes='140732:4x9;'  four elements of the datatype 9, which has gaps, of a buffer at this address
///     changed='140732:12;'  what was changed before the operation with this request was complete
///     changed='140732:12:7;'  the same, and where: site 7
///     used='140732:12:7;'  where the program read or wrote what the operation writes to
///     window='140732:4000;'  memory that becomes part of a window
///     frames='140800:8;'  a buffer is in the frame, with this canonical address, of the function of site 8
///     objects='94032:8;'  one is in the object file of site 8, loaded so far behind where it is linked to be
///     pointers='140732:140780;'  of a buffer elsewhere: a word, in one of the frames, that holds its address
///
/// Parts of one buffer that touch each other are one. There is room for some 25; others are left out.
class Buffers {
  public:
    explicit Buffers(Call& call);
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    const Comm& comm(MPI_Comm handle) { return m_call.comm(handle); }

    /// Those that come next are used until the operation is complete.
    void until(const Request& started)
    {
        m_operation.rid = started.rid;
        m_operation.is_prepared = started.is_persistent && !started.is_active;
        m_is_active = true;
    }
    /// The same of an access to @p rank of the window's communicator.
    void until_synchronised(MPI_Win window, int rank)
    {
        const Window found = m_call.window(window);
        m_operation.window = found.id;
        m_operation.target = found.comm != nullptr ? world_rank(*found.comm, rank) : rank;
        m_is_active = rank >= 0;
    }

    /// @p count elements; MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC are no buffers.
    void reads(const void* buffer, int64_t count, MPI_Datatype type)
    {
        flush(BufferUse::reads);
        add(BufferUse::reads, buffer, count, type);
    }
    void writes(const void* buffer, int64_t count, MPI_Datatype type)
    {
        flush(BufferUse::writes);
        add(BufferUse::writes, buffer, count, type);
    }
    /// Memory of a window, which the call does not use: accesses to the window tell what they use.
    void becomes_window(const void* memory, int64_t size);
    /// A part for each of @p n members; @p displacements are in extents of the datatype or, where each has
    /// one of its own, in bytes. No parts of @p partners that are no processes, if there are partners.
    template <typename Count, typename Displacement, typename Types>
    void reads_each(const void* buffer, const Count* counts, const Displacement* displacements, Types types,
                    int n, const int* partners = nullptr)
    {
        flush(BufferUse::reads);
        add_each(BufferUse::reads, buffer, counts, displacements, types, n, partners);
    }
    template <typename Count, typename Displacement, typename Types>
    void writes_each(const void* buffer, const Count* counts, const Displacement* displacements, Types types,
                     int n, const int* partners = nullptr)
    {
        flush(BufferUse::writes);
        add_each(BufferUse::writes, buffer, counts, displacements, types, n, partners);
    }
    /// A part of @p count elements for each of @p n partners that is a process, one behind the other.
    void reads_parts(const void* buffer, int64_t count, MPI_Datatype type, int n, const int* partners)
    {
        flush(BufferUse::reads);
        add_parts(BufferUse::reads, buffer, count, type, n, partners);
    }
    void writes_parts(const void* buffer, int64_t count, MPI_Datatype type, int n, const int* partners)
    {
        flush(BufferUse::writes);
        add_parts(BufferUse::writes, buffer, count, type, n, partners);
    }

    /// MPI_Start made @p started of a persistent request.
    void started(const Request& started)
    {
        if (started.rid >= 0)
            watch_started_buffers(started.init_rid, started.rid, m_call.starter());
    }
    void ended(int64_t rid) { end_buffers(rid, uses()); }
    void freed(const Request& request)
    {
        forget_buffers(request.rid); // of a persistent request that is active, too
        forget_buffers(request.init_rid);
    }
    /// MPI has said that it is complete: the program may use its buffers, though the request still exists.
    void seen_complete(MPI_Request handle);
    void seen_complete(const MPI_Request* handles, int64_t count)
    {
        for (int64_t i = 0; i < count; ++i)
            seen_complete(handles[i]);
    }
    /// All accesses to a window are complete, as far as the program's buffers go.
    void synchronised(MPI_Win window) { end_buffers_of_window(m_call.window(window).id, -1, uses()); }
    /// Those to a rank in its communicator.
    void synchronised(MPI_Win window, int rank)
    {
        const Window found = m_call.window(window);
        if (found.comm != nullptr && rank >= 0)
            end_buffers_of_window(found.id, world_rank(*found.comm, rank), uses());
    }

    /// Writes the attributes; returns their end.
    char* put(char* out);

    template <typename Count> static int64_t sum(const Count* counts, int n)
    {
        int64_t all = 0;
        for (int i = 0; i < n; ++i)
            all += counts[i];
        return all;
    }

  private:
    EarlyUses uses() { return {m_kept.changed, m_kept.used}; }
    static bool is_none(const void* buffer)
    {
#ifdef MPI_BUFFER_AUTOMATIC
        if (buffer == MPI_BUFFER_AUTOMATIC)
            return true;
#endif
        return buffer == MPI_IN_PLACE;
    }
    void add(BufferUse use, const void* buffer, int64_t count, MPI_Datatype type);
    void add_null(BufferUse use, int64_t size);
    void add_parts(BufferUse use, const void* buffer, int64_t count, MPI_Datatype type, int n,
                   const int* partners);
    int64_t extent_of(MPI_Datatype type) const;
    static bool is_no_process(const int* partners, int number)
    {
        return partners != nullptr && partners[number] == no_process;
    }

    template <typename Count, typename Displacement>
    void add_each(BufferUse use, const void* buffer, const Count* counts, const Displacement* displacements,
                  MPI_Datatype type, int n, const int* partners)
    {
        if (is_none(buffer))
            return;
        int64_t extent = -1; // a datatype for nothing at all need not be one
        for (int i = 0; i < n; ++i) {
            if (counts[i] <= 0 || is_no_process(partners, i))
                continue;
            if (extent < 0)
                extent = extent_of(type);
            add(use, static_cast<const char*>(buffer) + displacements[i] * extent, counts[i], type);
        }
    }
    template <typename Count, typename Displacement>
    void add_each(BufferUse use, const void* buffer, const Count* counts, const Displacement* displacements,
                  const MPI_Datatype* types, int n, const int* partners)
    {
        if (is_none(buffer))
            return;
        for (int i = 0; i < n; ++i) {
            if (!is_no_process(partners, i))
                add(use, static_cast<const char*>(buffer) + displacements[i], counts[i], types[i]);
        }
    }

    /// What may go on in the next part.
    struct LastPart {
        Memory memory = {};
        int64_t type = -1;

        bool goes_on_in(const Memory& next, int64_t next_type) const
        {
            return type == next_type && static_cast<const char*>(memory.begin) + memory.size == next.begin;
        }
    };
    /// Different ones, in the order in which they were found.
    struct Anchors {
        static constexpr int most = 8;
        Anchor found[most];
        int count = 0; ///< `most`: there may be others

        bool hold(uintptr_t place) const;
        bool add(const Anchor& anchor);
    };

    void flush(BufferUse use);
    bool locate(uintptr_t address);
    void locate_or_find_pointers(uintptr_t address)
    {
        if (!locate(address))
            find_pointers(address);
    }
    void find_pointers(uintptr_t address);
    template <size_t Size>
    static char* put_anchors(char* out, const char (&start)[Size], const Anchors& anchors);

    Call& m_call;
    KeptBuffers& m_kept;
    LastPart m_last[2]; // of each use
    Anchors m_frames;
    Anchors m_objects;
    Operation m_operation = {};
    bool m_is_active = false; // the operation goes on behind the call
};

/// For Call: writes what describe(buffers) says as attributes.
template <typename Describe>
__attribute__((noinline, cold)) char* describe_buffers(Call& call, char* out, Describe describe)
{
    Buffers buffers(call);
    describe(buffers);
    return buffers.put(out);
}

} // namespace hdtrace::mpi
