#include "mpiwrapper/runtime/buffers/watchpoints.h"

#include "hdtrace/writer/descriptor.h"
#include "hdtrace/writer/program_memory.h"
#include "mpiwrapper/runtime/process/perf_event.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <iterator>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

// What is told of each use; beyond so many the memory is no longer watched, and a loop that polls it goes on
// at its own speed.
constexpr int most_uses = 64;

constexpr int64_t longest_watched = 8;

size_t page_size()
{
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The kernel's head, and a page for what it tells.
size_t ring_size()
{
    return 2 * page_size();
}

// A processor can only watch what is aligned.
uint64_t watched_length(uintptr_t address, int64_t size)
{
    uint64_t length = longest_watched;
    while (length > static_cast<uint64_t>(size) || address % length != 0)
        length /= 2;
    return length;
}

perf_event_attr attributes_of(uintptr_t address, int64_t size, BufferUse use)
{
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.bp_type = use == BufferUse::reads ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
    attributes.bp_addr = address;
    attributes.bp_len = watched_length(address, size);
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return attributes;
}

// Vector instructions with a mask may be taken for one that uses what the mask leaves out. An instruction
// cannot be read from behind, so whatever may be such a one is: those of AVX-512 begin with 62, the masked
// ones and gathers of AVX with C4 and have their number three bytes behind.
bool may_be_masked([[maybe_unused]] uintptr_t behind)
{
#ifdef __x86_64__
    constexpr size_t longest = 15;
    unsigned char code[longest];
    if (!copy_from_program(code, reinterpret_cast<const void*>(behind - longest), longest))
        return true;
    for (size_t i = 0; i < longest; ++i) {
        if (code[i] == 0x62)
            return true;
        const unsigned char number = code[i] == 0xc4 && i + 3 < longest ? code[i + 3] : 0;
        if ((number >= 0x2c && number <= 0x2f) || (number >= 0x8c && number <= 0x93))
            return true;
    }
#endif
    return false;
}

// As return addresses are: Arm processors stop before the instruction.
uintptr_t behind_instruction(uint64_t address)
{
#ifdef __aarch64__
    return address + 4;
#else
    return address;
#endif
}

} // namespace

int Watchpoints::set(const Memory& memory, BufferUse use, int32_t site)
{
    if (m_is_refused || !is_its_turn(site))
        return none;
    for (int number = 0; number < settings.watchpoints; ++number)
        if (m_watchpoints[number].is_free())
            return set(m_watchpoints[number], memory, use) ? number : none;
    return none;
}

bool Watchpoints::is_its_turn(int32_t site)
{
    constexpr uint32_t always = 32, later_one_of = 1024;
    const uint32_t before = m_from_sites[static_cast<uint32_t>(site) % std::size(m_from_sites)]++;
    return before < always || before % later_one_of == 0;
}

bool Watchpoints::set(Watchpoint& watchpoint, const Memory& memory, BufferUse use)
{
    const auto address = reinterpret_cast<uintptr_t>(memory.begin);
    perf_event_attr attributes = attributes_of(address, memory.size, use);
    m_is_refused = (watchpoint.descriptor < 0 && !open(watchpoint)) ||
                   !is_still_perf_event(watchpoint.descriptor, watchpoint.id) ||
                   ioctl(watchpoint.descriptor, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes) != 0 ||
                   ioctl(watchpoint.descriptor, PERF_EVENT_IOC_REFRESH, most_uses) != 0;
    if (m_is_refused)
        return false;
    watchpoint.address = address;
    watchpoint.use = use;
    mark(watchpoint, true);
    return true;
}

void Watchpoints::mark(Watchpoint& watchpoint, bool is_set)
{
    __atomic_store_n(&watchpoint.is_set, is_set, __ATOMIC_RELEASE);
    __atomic_fetch_add(&m_set_count, is_set ? 1 : -1, __ATOMIC_RELAXED);
}

void Watchpoints::clear(int number)
{
    Watchpoint& watchpoint = m_watchpoints[number];
    if (watchpoint.is_free())
        return;
    if (is_still_perf_event(watchpoint.descriptor, watchpoint.id))
        ioctl(watchpoint.descriptor, PERF_EVENT_IOC_DISABLE, 0);
    mark(watchpoint, false);
}

// Of the calling thread.
bool Watchpoints::open(Watchpoint& watchpoint)
{
    static const char somewhere[longest_watched] = {};
    perf_event_attr attributes =
        attributes_of(reinterpret_cast<uintptr_t>(somewhere), sizeof somewhere, BufferUse::reads);
    constexpr int any_processor = -1, no_group = -1;
    const int found = static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, 0, any_processor, no_group, PERF_FLAG_FD_CLOEXEC));
    if (found < 0)
        return false;
    const int descriptor = move_up(found);
    const bool is_first = m_ring == nullptr;
    const bool is_open = !is_scarce(descriptor) && (is_first ? map_ring(descriptor)
                                                             : ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT,
                                                                     m_watchpoints[0].descriptor) == 0);
    if (!is_open) {
        ::close(descriptor);
        return false;
    }
    watchpoint.descriptor = descriptor;
    watchpoint.id = id_of_perf_event(descriptor);
    return true;
}

bool Watchpoints::map_ring(int descriptor)
{
    void* const ring = mmap(nullptr, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (ring == MAP_FAILED)
        return false;
    m_ring = ring;
    return true;
}

void Watchpoints::skip()
{
    if (m_ring == nullptr)
        return;
    auto* const head = static_cast<perf_event_mmap_page*>(m_ring);
    __atomic_store_n(&head->data_tail, __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

// Reads what the kernel tells as the words that it consists of: a record may begin at the end of the page and
// go on at its beginning.
bool Watchpoints::next(Access& access)
{
    if (m_ring == nullptr)
        return false;
    auto* const head = static_cast<perf_event_mmap_page*>(m_ring);
    const auto* const words =
        reinterpret_cast<const uint64_t*>(static_cast<const char*>(m_ring) + page_size());
    const uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = head->data_tail;
    const auto word = [&](uint64_t number) { return words[(at / 8 + number) % (page_size() / 8)]; };
    bool is_found = false;
    while (!is_found && at < end) {
        perf_event_header record;
        const uint64_t first = word(0);
        memcpy(&record, &first, sizeof record);
        if (record.size < sizeof record)
            at = end; // never seen
        if (record.type == PERF_RECORD_SAMPLE && at < end) {
            access = {behind_instruction(word(1)), number_of(word(2))};
            is_found = access.number != none;
        }
        at += at < end ? record.size : 0;
    }
    __atomic_store_n(&head->data_tail, at, __ATOMIC_RELEASE);
    return is_found;
}

// It may have been set for something else since.
int Watchpoints::number_of(uintptr_t address) const
{
    for (int number = 0; number < most; ++number)
        if (!m_watchpoints[number].is_free() && m_watchpoints[number].address == address)
            return number;
    return none;
}

// None if that was not the program, or may not have been meant: functions of the C library read more than
// they are asked to.
SiteText Watchpoints::site_of(const Access& access) const
{
    const bool is_any_use = m_watchpoints[access.number].use == BufferUse::writes;
    if (is_any_use && may_be_masked(access.behind))
        return {};
    return site_of_instruction(reinterpret_cast<const void*>(access.behind), !is_any_use);
}

void Watchpoints::close()
{
    for (Watchpoint& watchpoint : m_watchpoints) {
        if (is_still_perf_event(watchpoint.descriptor, watchpoint.id))
            ::close(watchpoint.descriptor);
        watchpoint = {};
    }
    if (m_ring != nullptr)
        munmap(m_ring, ring_size());
    forget();
    m_is_refused = false;
}

void Watchpoints::forget()
{
    for (Watchpoint& watchpoint : m_watchpoints)
        watchpoint = {};
    m_set_count = 0;
    m_ring = nullptr;
    m_is_refused = true;
}

} // namespace hdtrace::mpi
