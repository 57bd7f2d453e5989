#include "mpiwrapper/runtime/buffers/buffers.h"

#include "mpiwrapper/runtime/objects/requests.h"

namespace hdtrace::mpi {

namespace {

constexpr uintptr_t first_address = 4096; // the first page of the memory is nobody's

// What a datatype covers, in bytes.
struct Shape {
    MPI_Count size = 0;
    MPI_Count extent = 0;
    MPI_Count begin = 0;  ///< of its first byte
    MPI_Count length = 0; ///< from its first byte to behind its last one
};

bool find_shape(MPI_Datatype type, Shape& shape)
{
    MPI_Count lower_bound;
    return type != MPI_DATATYPE_NULL && real.MPI_Type_size_x(type, &shape.size) == MPI_SUCCESS &&
           real.MPI_Type_get_extent_x(type, &lower_bound, &shape.extent) == MPI_SUCCESS &&
           real.MPI_Type_get_true_extent_x(type, &shape.begin, &shape.length) == MPI_SUCCESS;
}

int64_t address_of(const Memory& memory)
{
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.begin));
}

TextBuffer& list_of(KeptBuffers& kept, BufferUse use)
{
    return use == BufferUse::reads ? kept.reads : kept.writes;
}

// As many items as there is room for; nothing if there are none.
template <size_t Size> char* put_list(char* out, const char (&start)[Size], const TextBuffer& items)
{
    constexpr size_t most = 600;
    size_t size = items.size();
    while (size > most || (size > 0 && items.data()[size - 1] != ';'))
        --size;
    if (size == 0)
        return out;
    out = put_text(out, start);
    memcpy(out, items.data(), size);
    return put_text(out + size, "'");
}

} // namespace

Buffers::Buffers(Call& call) : m_call(call), m_kept(call.thread().buffers)
{
    m_kept.reads.clear();
    m_kept.writes.clear();
    m_kept.changed.clear();
    m_kept.used.clear();
}

int64_t Buffers::extent_of(MPI_Datatype type) const
{
    Shape shape;
    return find_shape(type, shape) ? shape.extent : 0;
}

void Buffers::add(BufferUse use, const void* buffer, int64_t count, MPI_Datatype type)
{
    Shape shape;
    if (is_none(buffer) || count <= 0 || !find_shape(type, shape) || shape.size <= 0)
        return;
    const uintptr_t at = reinterpret_cast<uintptr_t>(buffer);
    const uintptr_t begin = at + static_cast<uintptr_t>(shape.begin);
    if (begin < first_address) { // wrong, except where MPI does not look at the buffer
        add_null(use, count * shape.size);
        return;
    }
    if (shape.length != shape.size || (count > 1 && shape.extent != shape.size)) {
        list_of(m_kept, use).number(static_cast<int64_t>(at)).text(":").number(count).text("x");
        list_of(m_kept, use).number(m_call.type(type).id).text(";");
        return;
    }
    const Memory memory = {reinterpret_cast<const void*>(begin), count * shape.size};
    Memory& last = m_last[static_cast<int>(use)];
    if (static_cast<const char*>(last.begin) + last.size != memory.begin)
        flush(use);
    last = {last.size == 0 ? memory.begin : last.begin, last.size + memory.size};
    if (m_is_active)
        watch_buffer(m_operation, use, memory, m_call.starter());
}

void Buffers::add_null(BufferUse use, int64_t size)
{
    list_of(m_kept, use).text("0:").number(size).text(";");
}

void Buffers::seen_complete(MPI_Request handle)
{
    Request request;
    if (handle != MPI_REQUEST_NULL && find_request(handle, nullptr, &request) && request.is_active)
        forget_buffers(request.rid);
}

void Buffers::becomes_window(const void* memory, int64_t size)
{
    if (size > 0 && reinterpret_cast<uintptr_t>(memory) < first_address)
        add_null(BufferUse::writes, size);
}

void Buffers::flush(BufferUse use)
{
    Memory& last = m_last[static_cast<int>(use)];
    if (last.size > 0)
        list_of(m_kept, use).number(address_of(last)).text(":").number(last.size).text(";");
    last = {};
}

char* Buffers::put(char* out)
{
    flush(BufferUse::reads);
    flush(BufferUse::writes);
    out = put_list(out, " reads='", m_kept.reads);
    out = put_list(out, " writes='", m_kept.writes);
    out = put_list(out, " changed='", m_kept.changed);
    return put_list(out, " used='", m_kept.used);
}

} // namespace hdtrace::mpi
