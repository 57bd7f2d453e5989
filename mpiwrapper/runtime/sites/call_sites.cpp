#include "mpiwrapper/runtime/sites/call_sites.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/program_path.h"
#include "mpiwrapper/runtime/sites/python_frames.h"

#include <dlfcn.h>
#include <elf.h>
#include <initializer_list>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

namespace hdtrace::mpi {

constinit uint32_t unloaded_objects = 0;

namespace {

constexpr int most_frames = 64;
constexpr int64_t most_described = 1'000'000; // of each kind; beyond it a program makes them

/// An object file that was described, where it was loaded then.
struct RecentObject {
    const void* begin;
    uint32_t unloaded; ///< how many had been unloaded
    int64_t id;
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for the tables
constinit NumbersByName objects, sources, sites;   // ids by what describes them
RecentObject recent_objects[64];
int64_t object_count = 0, source_count = 0, site_count = 0;

const char* name_of(const char* path)
{
    const char* const slash = strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

bool has_beginning(const char* name, std::initializer_list<const char*> beginnings)
{
    for (const char* const beginning : beginnings)
        if (strncmp(name, beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

/// Whether an object file is the MPI library, a binding of it for another language, or ourselves.
bool belongs_to_mpi(const char* path)
{
    return has_beginning(name_of(path),
                         {"libmpi.", "libmpi_", "libmpich", "libmpicxx", "libmpifort", "libpmpi",
                          "libopen-rte", "libopen-pal", "libfmpich", "libHDTraceMPIWrapper"});
}

/// Whether an MPI library communicates by it: its parts that are loaded later, and libraries of networks.
bool moves_data(const char* path)
{
    return has_beginning(name_of(path),
                         {"mca_", "libmca_", "libucp", "libuct", "libucs", "libucm", "libfabric", "libpsm",
                          "libibverbs", "librdmacm", "libmlx", "libefa", "libxpmem"});
}

bool is_c_library(const char* path)
{
    return has_beginning(name_of(path), {"libc.so", "libc-", "ld-", "libm.so", "libm-", "libmvec"});
}

constexpr uintptr_t no_address = uintptr_t{1} << (sizeof(uintptr_t) * 8 - 1);

uintptr_t joined(uintptr_t hash, uintptr_t part)
{
    return ((hash ^ part) * 0x9e3779b97f4a7c15u) | no_address;
}

uintptr_t hash_of(const void* const* addresses, int count)
{
    uintptr_t hash = 0;
    for (int i = 0; i < count; ++i)
        hash = joined(hash, reinterpret_cast<uintptr_t>(addresses[i]));
    return hash;
}

/// The build id that linkers put into a file; empty if there is none.
void put_build_id(TextBuffer& line, const link_map& object)
{
    struct Search {
        ElfW(Addr) base;
        TextBuffer& line;
    } search = {object.l_addr, line};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            const Search& wanted = *static_cast<Search*>(data);
            if (info->dlpi_addr != wanted.base)
                return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& segment = info->dlpi_phdr[i];
                if (segment.p_type != PT_NOTE)
                    continue;
                const char* note = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
                for (const char* const end = note + segment.p_memsz; note + sizeof(ElfW(Nhdr)) <= end;) {
                    ElfW(Nhdr) head;
                    memcpy(&head, note, sizeof head);
                    const char* const name = note + sizeof head;
                    const char* const bytes = name + (head.n_namesz + 3) / 4 * 4;
                    if (bytes + head.n_descsz > end)
                        break;
                    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                        wanted.line.text(" buildId='");
                        for (uint32_t k = 0; k < head.n_descsz; ++k) {
                            constexpr char digits[] = "0123456789abcdef";
                            const auto byte = static_cast<uint8_t>(bytes[k]);
                            wanted.line.bytes(&digits[byte >> 4], 1).bytes(&digits[byte & 15], 1);
                        }
                        wanted.line.text("'");
                        return 1;
                    }
                    note = bytes + (head.n_descsz + 3) / 4 * 4;
                }
            }
            return 1;
        },
        &search);
}

/// The path of a loaded file as the system resolves it: the program itself has no name there. Not on the
/// stack, which is small in some threads.
class ObjectPath {
  public:
    explicit ObjectPath(const link_map& object) : m_name(object.l_name)
    {
        if (*m_name == '\0') {
            m_name = program_path();
            return;
        }
        m_path = static_cast<char*>(own_malloc(PATH_MAX));
        if (m_path != nullptr && realpath(m_name, m_path) != nullptr)
            m_name = m_path;
    }
    ~ObjectPath() { own_free(m_path); }
    ObjectPath(const ObjectPath&) = delete;
    ObjectPath& operator=(const ObjectPath&) = delete;

    const char* text() const { return m_name; }

  private:
    const char* m_name;
    char* m_path = nullptr;
};

/// The id of what is described by @p details, to which the .info gets a line if it is new; -1 without memory,
/// or if there are too many. Whoever calls it holds the mutex.
int64_t describe(NumbersByName& table, int64_t& count, const char* kind, TextBuffer& details)
{
    int64_t* const id = details.bad()            ? nullptr
                        : count < most_described ? table.find_or_add(details.c_string(), -1)
                                                 : table.find(details.c_string());
    if (id == nullptr)
        return -1;
    if (*id < 0) {
        *id = count++;
        TextBuffer line;
        line.string(kind).text(" id=").number(*id).text(" ").string(details.c_string()).text("\n");
        write_info(line);
    }
    return *id;
}

/// The id of a loaded object file.
int64_t object_id(const link_map& object, const void* begin)
{
    constexpr size_t count = sizeof recent_objects / sizeof *recent_objects;
    RecentObject& recent = recent_objects[reinterpret_cast<uintptr_t>(begin) / 4096 % count];
    const uint32_t unloaded = __atomic_load_n(&unloaded_objects, __ATOMIC_RELAXED);
    if (recent.begin == begin && recent.unloaded == unloaded)
        return recent.id;
    TextBuffer details;
    details.text("path='").info_escaped(ObjectPath(object).text()).text("'");
    put_build_id(details, object);
    recent = {begin, unloaded, describe(objects, object_count, "Object", details)};
    return recent.id;
}

/// "0+4711;": which object file, and where in it; -1 if the address is in none.
void put_frame(TextBuffer& frames, const void* address)
{
    dl_find_object found;
    int64_t object = -1;
    uintptr_t base = 0;
    if (_dl_find_object(const_cast<void*>(address), &found) == 0) {
        object = object_id(*found.dlfo_link_map, found.dlfo_map_start);
        base = found.dlfo_link_map->l_addr;
    }
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base;
    frames.number(object).text("+").number(static_cast<int64_t>(offset)).text(";");
}

/// A place in a source file.
struct SourceLine {
    const char* path;
    const char* function;
    int line;

    void put(TextBuffer& details) const
    {
        details.text("path='").info_escaped(path).text("' function='").info_escaped(function);
        details.text("' line=").number(line);
    }
};

/// "s3;": of a SourceLine or a PythonFrame.
template <typename Place> void put_frame(TextBuffer& frames, const Place& place)
{
    TextBuffer details;
    place.put(details);
    const int64_t id = describe(sources, source_count, "Source", details);
    if (id >= 0)
        frames.text("s").number(id).text(";");
    else
        frames.text("-1+0;");
}

/// The id of a site; -1 without memory, or if there are too many.
template <typename Frame> int64_t site_id(const Frame* frames, int count)
{
    const Lock lock(mutex);
    TextBuffer details;
    details.text("frames='");
    for (int i = 0; i < count; ++i)
        put_frame(details, frames[i]);
    return describe(sites, site_count, "Site", details.text("'"));
}

SiteText text_of(int64_t id)
{
    SiteText site = {};
    if (id >= 0) {
        site.length =
            static_cast<uint8_t>(put_text(put_number(put_text(site.text, " site='"), id), "'") - site.text);
        site.number = static_cast<int32_t>(id + 1);
    }
    return site;
}

} // namespace

SiteText site_of_source(const char* path, const char* function, int line)
{
    const SourceLine place = {path, function, line};
    return text_of(site_id(&place, 1));
}

SiteText site_of_instruction(const void* address, bool may_be_library)
{
    dl_find_object found;
    if (_dl_find_object(const_cast<void*>(address), &found) == 0) {
        const ObjectPath path(*found.dlfo_link_map);
        if (belongs_to_mpi(path.text()) || moves_data(path.text()) ||
            (!may_be_library && is_c_library(path.text())))
            return {};
    }
    return text_of(site_id(&address, 1));
}

/// Where a key is, or should be: in its slot, or beside it if that is taken, so that a few with the same slot
/// do not drive each other out in every call.
template <typename Kept> Kept& CallSites::place_of(Kept (&table)[entry_count], uintptr_t key)
{
    constexpr size_t group = 4;
    const size_t slot = slot_of(key);
    Kept* found = nullptr;
    for (size_t i = 0; i < group; ++i) {
        Kept& kept = table[slot ^ i];
        if (kept.key == key)
            return kept;
        if (found == nullptr && kept.key == 0)
            found = &kept;
    }
    return found != nullptr ? *found : table[slot];
}

CallSites::Place CallSites::place_of_object(const void* return_address)
{
    dl_find_object found;
    if (_dl_find_object(const_cast<void*>(return_address), &found) != 0)
        return Place::program;
    const ObjectPath path(*found.dlfo_link_map);
    return strstr(path.text(), "/mpi4py/") != nullptr               ? Place::mpi4py
           : belongs_to_mpi(path.text()) || moves_data(path.text()) ? Place::mpi
                                                                    : Place::program;
}

const CallSites::KnownFrame& CallSites::known_frame(const void* return_address)
{
    const auto address = reinterpret_cast<uintptr_t>(return_address);
    KnownFrame& known = place_of(m_frames, address);
    if (known.key != address)
        known = {address, find_frame_rule(return_address), place_of_object(return_address)};
    return known;
}

/// Goes to the first frame that is not the MPI library's. Else only MPI is known to have called, and the
/// frame stays.
CallSites::Place CallSites::leave_mpi(Frame& frame)
{
    Frame outside = frame;
    for (int i = 0; i < most_frames; ++i) {
        const KnownFrame& known = known_frame(outside.return_address);
        if (known.place != Place::mpi) {
            frame = outside;
            return known.place;
        }
        if (!outside.go_to_caller(known.rule, m_stack_end))
            break;
    }
    return Place::mpi;
}

bool CallSites::is_in_callback(const void* inner, const void* outer)
{
    Frame frame = Frame::of_caller(inner);
    if (!is_on_stack(frame))
        return true;
    forget_unloaded();
    if (leave_mpi(frame) == Place::mpi)
        return false;
    // Else it is the wrapper of the outer call, or who called that.
    const Frame caller_of_outer = Frame::of_caller(outer);
    return !frame.go_to_caller(known_frame(frame.return_address).rule, m_stack_end) ||
           frame.stack_pointer < caller_of_outer.stack_pointer;
}

/// How many return addresses there are, from the frame on.
int CallSites::walk(Frame frame, const void** addresses)
{
    addresses[0] = frame.return_address;
    int count = 1;
    while (count < m_depth && is_on_stack(frame) &&
           frame.go_to_caller(known_frame(frame.return_address).rule, m_stack_end))
        addresses[count++] = frame.return_address;
    return count;
}

/// Null if the interpreter does not tell.
const SiteText* CallSites::find_in_python()
{
    PythonFrame frames[most_frames];
    const int count = find_python_frames(frames, m_depth);
    if (count == 0)
        return nullptr;
    uintptr_t key = 0;
    bool has_files = true;
    for (int i = 0; i < count; ++i) {
        key = joined(key, frames[i].key());
        has_files = has_files && frames[i].has_file();
    }
    if (!has_files) {
        m_passing.change_to(text_of(site_id(frames, count)));
        return &m_passing;
    }
    Entry& entry = place_of(m_entries, key);
    if (entry.key != key)
        entry.change_to(key, text_of(site_id(frames, count)));
    return &entry.site;
}

void CallSites::forget_unloaded()
{
    const uint32_t unloaded = __atomic_load_n(&unloaded_objects, __ATOMIC_RELAXED);
    if (m_unloaded == unloaded)
        return;
    m_unloaded = unloaded;
    for (Entry& entry : m_entries)
        entry.change_to(0, {});
    memset(static_cast<void*>(m_frames), 0, sizeof m_frames);
}

const SiteText& CallSites::find_slowly(Frame caller)
{
    forget_unloaded();
    const auto caller_address = reinterpret_cast<uintptr_t>(caller.return_address);
    if (const Entry& known = place_of(m_entries, caller_address); known.key == caller_address)
        return known.site;
    Frame frame = caller;
    const Place place = is_on_stack(frame) ? leave_mpi(frame) : known_frame(frame.return_address).place;
    if (place == Place::mpi4py) {
        if (const SiteText* const site = find_in_python())
            return *site;
    }
    const void* addresses[most_frames];
    const int count = walk(frame, addresses);
    const bool is_all_of_it =
        m_depth == 1 && place == Place::program && frame.return_address == caller.return_address;
    return site_of(addresses, count, is_all_of_it ? caller_address : hash_of(addresses, count));
}

const SiteText& CallSites::site_of(const void* const* addresses, int count, uintptr_t key)
{
    Entry& entry = place_of(m_entries, key);
    if (entry.key != key)
        entry.change_to(key, text_of(site_id(addresses, count)));
    return entry.site;
}

int32_t CallSites::site_in(const Frame& function)
{
    return site_of(&function.return_address, 1, hash_of(&function.return_address, 1)).number - 1;
}

Anchor CallSites::find_frame_around(uintptr_t address, const void* frame)
{
    Frame caller = Frame::of_caller(frame);
    if (m_depth == 0 || address < caller.stack_pointer || address >= m_stack_end || !is_on_stack(caller))
        return {};
    forget_unloaded();
    for (int i = 0; i < most_frames; ++i) {
        const Frame inside = caller;
        if (!caller.go_to_caller(known_frame(inside.return_address).rule, m_stack_end))
            break;
        if (address < caller.stack_pointer)
            return {caller.stack_pointer, site_in(inside), inside.stack_pointer, caller.stack_pointer};
    }
    return {};
}

Anchor CallSites::find_own_frame(const void* frame)
{
    Frame caller = Frame::of_caller(frame);
    if (m_depth == 0 || !is_on_stack(caller))
        return {};
    forget_unloaded();
    if (leave_mpi(caller) != Place::program)
        return {};
    const Frame inside = caller;
    if (!caller.go_to_caller(known_frame(inside.return_address).rule, m_stack_end))
        return {};
    return {caller.stack_pointer, site_in(inside), inside.stack_pointer, caller.stack_pointer};
}

Anchor CallSites::find_object_around(uintptr_t address, const void* frame)
{
    dl_find_object object, other;
    Frame caller = Frame::of_caller(frame);
    if (m_depth == 0 || !is_on_stack(caller) ||
        _dl_find_object(reinterpret_cast<void*>(address), &object) != 0)
        return {};
    forget_unloaded();
    for (int i = 0; i < most_frames; ++i) {
        if (_dl_find_object(const_cast<void*>(caller.return_address), &other) == 0 &&
            other.dlfo_link_map == object.dlfo_link_map)
            return {object.dlfo_link_map->l_addr, site_in(caller),
                    reinterpret_cast<uintptr_t>(object.dlfo_map_start),
                    reinterpret_cast<uintptr_t>(object.dlfo_map_end)};
        if (!caller.go_to_caller(known_frame(caller.return_address).rule, m_stack_end))
            break;
    }
    return {};
}

} // namespace hdtrace::mpi
