#include "mpiwrapper/runtime/buffers/buffers.h"

#include "mpiwrapper/runtime/objects/requests.h"

#include <algorithm>

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

// As many items as there is room for until @p end; nothing if there are none.
template <size_t Size>
char* put_list(char* out, const char* end, const char (&start)[Size], const TextBuffer& items)
{
    constexpr ptrdiff_t most = 600;
    const ptrdiff_t room = std::clamp<ptrdiff_t>(end - out - Size, 0, most);
    size_t size = items.size();
    while (size > static_cast<size_t>(room) || (size > 0 && items.data()[size - 1] != ';'))
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
    m_kept.window.clear();
    m_kept.pointers.clear();
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
    const int64_t type_id = m_call.type(type).id;
    if (shape.length != shape.size || (count > 1 && shape.extent != shape.size)) {
        list_of(m_kept, use).number(static_cast<int64_t>(at)).text(":").number(count).text("x");
        list_of(m_kept, use).number(type_id).text(";");
        locate_or_find_pointers(begin);
        return;
    }
    const Memory memory = {reinterpret_cast<const void*>(begin), count * shape.size};
    LastPart& last = m_last[static_cast<int>(use)];
    if (last.goes_on_in(memory, type_id)) {
        last.memory.size += memory.size;
    } else {
        flush(use);
        last = {memory, type_id};
        locate_or_find_pointers(begin);
    }
    if (m_is_active)
        watch_buffer(m_operation, use, memory, m_call.starter());
}

void Buffers::add_parts(BufferUse use, const void* buffer, int64_t count, MPI_Datatype type, int n,
                        const int* partners)
{
    if (is_none(buffer) || count <= 0)
        return;
    const int64_t part = count * extent_of(type);
    for (int i = 0, next = 0; i < n; i = next) {
        for (next = i + 1; next < n && is_no_process(partners, next) == is_no_process(partners, i);)
            ++next;
        if (!is_no_process(partners, i))
            add(use, static_cast<const char*>(buffer) + i * part, (next - i) * count, type);
    }
}

void Buffers::add_null(BufferUse use, int64_t size)
{
    list_of(m_kept, use).text("0:").number(size).text(";");
}

void Buffers::seen_complete(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return;
    // Those that have one handle are all complete.
    for_all_requests(handle, [](const Request& request) {
        if (request.is_active)
            forget_buffers(request.rid);
    });
}

void Buffers::becomes_window(const void* memory, int64_t size)
{
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
    if (size <= 0)
        return;
    if (begin < first_address)
        return add_null(BufferUse::writes, size);
    m_kept.window.number(static_cast<int64_t>(begin)).text(":").number(size).text(";");
    locate(begin);
}

bool Buffers::locate(uintptr_t address)
{
    CallSites& sites = m_call.thread().sites;
    if (m_frames.hold(address) || m_objects.hold(address))
        return true;
    if (m_call.thread().is_on_stack(reinterpret_cast<const void*>(address)))
        return m_frames.add(sites.find_frame_around(address, m_call.frame()));
    return m_objects.add(sites.find_object_around(address, m_call.frame()));
}

void Buffers::find_pointers(uintptr_t address)
{
    constexpr int most = 4;
    int count = 0;
    const auto add = [&](uintptr_t place) {
        if (count++ < most)
            m_kept.pointers.number(static_cast<int64_t>(address))
                .text(":")
                .number(static_cast<int64_t>(place))
                .text(";");
    };
    const Anchor frame = m_call.thread().sites.find_words(address, m_call.frame(), add);
    if (count > 0)
        m_frames.add(frame);
}

bool Buffers::Anchors::hold(uintptr_t place) const
{
    return std::any_of(found, found + count, [&](const Anchor& anchor) { return anchor.holds(place); });
}

bool Buffers::Anchors::add(const Anchor& anchor)
{
    if (anchor.site >= 0 && count < most && !hold(anchor.begin))
        found[count++] = anchor;
    return anchor.site >= 0;
}

// All or none: a buffer may be in a frame that is missing, and then another one would be taken for it.
template <size_t Size>
char* Buffers::put_anchors(char* out, const char (&start)[Size], const Anchors& anchors)
{
    if (anchors.count == 0 || anchors.count == Anchors::most)
        return out;
    out = put_text(out, start);
    for (int i = 0; i < anchors.count; ++i) {
        out = put_text(put_number(out, static_cast<int64_t>(anchors.found[i].address)), ":");
        out = put_text(put_number(out, anchors.found[i].site), ";");
    }
    return put_text(out, "'");
}

void Buffers::flush(BufferUse use)
{
    LastPart& last = m_last[static_cast<int>(use)];
    if (last.memory.size > 0) {
        list_of(m_kept, use).number(address_of(last.memory)).text(":").number(last.memory.size);
        list_of(m_kept, use).text(":").number(last.type).text(";");
    }
    last = {};
}

char* Buffers::put(char* out)
{
    flush(BufferUse::reads);
    flush(BufferUse::writes);
    // The element has room for as much again, and for its own arguments.
    const char* const end = out + TraceWriter::element_room / 3;
    out = put_list(out, end, " changed='", m_kept.changed);
    out = put_list(out, end, " used='", m_kept.used);
    out = put_list(out, end, " window='", m_kept.window);
    out = put_list(out, end, " reads='", m_kept.reads);
    out = put_list(out, end, " writes='", m_kept.writes);
    out = put_list(out, end, " pointers='", m_kept.pointers);
    return put_anchors(put_anchors(out, " frames='", m_frames), " objects='", m_objects);
}

} // namespace hdtrace::mpi
