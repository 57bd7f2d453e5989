#include "mpiwrapper/runtime/buffers/active_buffers.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/program_memory.h"
#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/runtime/objects/lock.h"

#include <string.h>

#include <algorithm>
#include <iterator>

namespace hdtrace::mpi {

namespace {

constexpr uint32_t no_entry = UINT32_MAX;

// Entries are found in two lists.
enum List : uint8_t { of_request, of_window };

struct Links {
    uint32_t previous;
    uint32_t next;
};

// Memory of one operation.
struct Entry {
    Operation operation;
    Memory memory;
    BufferUse use;
    bool is_new;     // no other call has begun since
    bool has_sum;    // its contents are compared
    bool has_change; // the program or MPI has written to it
    uint64_t sum;    // when the operation began, or of the change
    Links links[2];  // those that are free are linked as of_request
    bool is_used;
    Watchpoints* watchpoints; // of the thread that has one there, or null
    int watchpoint;
    int32_t used_at; // the site where the program used it; 0: it has not been seen to
};

SpinLock lock;
bool is_shared = false;
Entry* entries = nullptr;
uint32_t* buckets = nullptr; // the first ones by request; as many as entries
uint32_t windows[64];        // the first ones by window, once there are entries
uint32_t capacity = 0;
uint32_t first_free = no_entry;

// The entries that are new; those for which there is no place are not looked at.
uint32_t new_entries[16];
uint32_t new_count = 0;

class Locked {
  public:
    Locked() : m_is_held(m_turn.begin(Spinning::buffers))
    {
        if (m_is_held)
            lock.lock();
    }
    ~Locked()
    {
        if (m_is_held)
            lock.unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    /// False in a signal handler that has interrupted who holds it.
    bool is_held() const { return m_is_held; }

  private:
    SpinTurn m_turn;
    const bool m_is_held;
};

bool is_in(List list, const Operation& operation)
{
    return (list == of_request ? operation.rid : operation.window) >= 0;
}

uint32_t& first_in(List list, const Operation& operation)
{
    return list == of_request ? buckets[static_cast<uint32_t>(operation.rid) & (capacity - 1)]
                              : windows[static_cast<uint32_t>(operation.window) % std::size(windows)];
}

void link(List list, uint32_t index)
{
    Entry& entry = entries[index];
    if (!is_in(list, entry.operation))
        return;
    uint32_t& first = first_in(list, entry.operation);
    entry.links[list] = {no_entry, first};
    if (first != no_entry)
        entries[first].links[list].previous = index;
    first = index;
}

void unlink(List list, uint32_t index)
{
    const Entry& entry = entries[index];
    if (!is_in(list, entry.operation))
        return;
    const auto [previous, next] = entry.links[list];
    (previous != no_entry ? entries[previous].links[list].next : first_in(list, entry.operation)) = next;
    if (next != no_entry)
        entries[next].links[list].previous = previous;
}

// Twice as many. False if memory is short, and then all is as before.
bool grow()
{
    const uint32_t wanted = capacity == 0 ? 64 : 2 * capacity;
    Entry* const more = static_cast<Entry*>(own_realloc(entries, wanted * sizeof(Entry)));
    if (more == nullptr)
        return false;
    entries = more;
    uint32_t* const more_buckets = static_cast<uint32_t*>(own_realloc(buckets, wanted * sizeof(uint32_t)));
    if (more_buckets == nullptr)
        return false;
    buckets = more_buckets;
    if (capacity == 0)
        std::fill(std::begin(windows), std::end(windows), no_entry);
    for (uint32_t i = capacity; i < wanted; ++i) {
        entries[i].is_used = false;
        entries[i].links[of_request].next = first_free;
        first_free = i;
    }
    const uint32_t count = capacity;
    capacity = wanted;
    for (uint32_t i = 0; i < capacity; ++i)
        buckets[i] = no_entry;
    for (uint32_t i = 0; i < count; ++i)
        if (entries[i].is_used)
            link(of_request, i);
    return true;
}

void clear_watchpoint(Entry& entry)
{
    if (entry.watchpoints != nullptr)
        entry.watchpoints->clear(entry.watchpoint);
    entry.watchpoints = nullptr;
}

void add(Entry entry)
{
    if (first_free == no_entry && !grow())
        return clear_watchpoint(entry);
    const uint32_t index = first_free;
    first_free = entries[index].links[of_request].next;
    entries[index] = entry;
    entries[index].is_used = true;
    link(of_request, index);
    link(of_window, index);
    if (entry.is_new && new_count < sizeof new_entries / sizeof *new_entries)
        new_entries[new_count++] = index;
}

void remove(uint32_t index)
{
    clear_watchpoint(entries[index]);
    unlink(of_request, index);
    unlink(of_window, index);
    entries[index].is_used = false;
    entries[index].links[of_request].next = first_free;
    first_free = index;
}

// Calls use(index) for each entry of a list of which is_it(operation); it may remove this one.
template <typename Test, typename Use>
void for_each_in(List list, const Operation& operation, Test is_it, Use use)
{
    if (capacity == 0 || !is_in(list, operation))
        return;
    uint32_t index = first_in(list, operation);
    while (index != no_entry) {
        const uint32_t next = entries[index].links[list].next;
        if (is_it(entries[index].operation))
            use(index);
        index = next;
    }
}

template <typename Use> void for_request(int64_t rid, Use use)
{
    for_each_in(
        of_request, {.rid = rid}, [rid](const Operation& it) { return it.rid == rid; }, use);
}

// False if it cannot be read: the program may use what only a device can.
bool find_sum(const Memory& memory, uint64_t& sum)
{
    constexpr int64_t most_at_once = 2048; // threads and signal handlers may have small stacks
    constexpr uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    uint64_t words[most_at_once / sizeof(uint64_t)];
    sum = static_cast<uint64_t>(memory.size);
    for (int64_t done = 0; done < memory.size; done += most_at_once) {
        const int64_t size = memory.size - done < most_at_once ? memory.size - done : most_at_once;
        const size_t count = (static_cast<size_t>(size) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
        words[count - 1] = 0;
        if (!copy_from_program(words, static_cast<const char*>(memory.begin) + done,
                               static_cast<size_t>(size)))
            return false;
        for (size_t i = 0; i < count; ++i) {
            sum = (sum ^ words[i]) * odd;
            sum ^= sum >> 29;
        }
    }
    return true;
}

// Longer messages may arrive in parts.
constexpr int64_t longest_written = 1024;

bool is_worth_comparing(BufferUse use, const Memory& memory)
{
    return use == BufferUse::reads || (memory.size <= longest_written && !is_shared);
}

// The operation begins. False if nothing can be known of the memory.
bool start(Entry& entry, const Starter& starter)
{
    entry.has_change = false;
    entry.used_at = 0;
    entry.has_sum = is_worth_comparing(entry.use, entry.memory) && find_sum(entry.memory, entry.sum);
    entry.is_new = entry.has_sum && entry.use == BufferUse::writes;
    entry.watchpoint = starter.watchpoints.set(entry.memory, entry.use, starter.site);
    entry.watchpoints = entry.watchpoint != Watchpoints::none ? &starter.watchpoints : nullptr;
    return entry.has_sum || entry.watchpoints != nullptr;
}

bool has_been_changed(const Entry& entry)
{
    if (entry.used_at > 0 && entry.use == BufferUse::reads)
        return true;
    uint64_t sum;
    if (entry.operation.is_prepared || !entry.has_sum || !find_sum(entry.memory, sum))
        return false;
    return (entry.use == BufferUse::reads || entry.has_change) && sum != entry.sum;
}

void tell(TextBuffer& uses, const Entry& entry)
{
    uses.number(static_cast<int64_t>(reinterpret_cast<uintptr_t>(entry.memory.begin)));
    if (entry.operation.rid >= 0 || entry.used_at > 0)
        uses.text(":").number(entry.operation.rid);
    if (entry.used_at > 0)
        uses.text(":").number(entry.used_at - 1); // as the attribute `site` has it
    uses.text(";");
}

void end(uint32_t index, const EarlyUses& uses)
{
    const Entry& entry = entries[index];
    if (has_been_changed(entry))
        tell(uses.changed, entry);
    else if (entry.used_at > 0)
        tell(uses.used, entry);
    remove(index);
}

} // namespace

void set_buffers_shared_by_threads()
{
    is_shared = true;
}

void watch_buffer(const Operation& operation, BufferUse use, const Memory& memory, const Starter& starter)
{
    if (memory.size <= 0)
        return;
    Entry entry = {};
    entry.operation = operation;
    entry.memory = memory;
    entry.use = use;
    if (!operation.is_prepared && !start(entry, starter))
        return;
    const Locked locked;
    if (locked.is_held())
        add(entry);
    else
        clear_watchpoint(entry);
}

void watch_started_buffers(int64_t init_rid, int64_t rid, const Starter& starter)
{
    const Locked locked;
    if (!locked.is_held())
        return;
    // Adding one may move the others and make them belong to other buckets.
    for (int part = 0;; ++part) {
        int number = 0;
        Entry found = {};
        bool is_found = false;
        for_request(init_rid, [&](uint32_t index) {
            if (entries[index].operation.is_prepared && number++ == part) {
                found = entries[index];
                is_found = true;
            }
        });
        if (!is_found)
            return;
        found.operation.rid = rid;
        found.operation.is_prepared = false;
        if (start(found, starter))
            add(found);
    }
}

void forget_buffers(int64_t rid)
{
    const Locked locked;
    if (locked.is_held())
        for_request(rid, remove);
}

void look_at_new_buffers()
{
    if (__atomic_load_n(&new_count, __ATOMIC_RELAXED) == 0)
        return;
    const Locked locked;
    if (!locked.is_held())
        return;
    for (uint32_t i = 0; i < new_count; ++i) {
        Entry& entry = entries[new_entries[i]];
        uint64_t sum;
        if (!entry.is_used || !entry.is_new || !find_sum(entry.memory, sum))
            continue;
        entry.is_new = false;
        entry.has_change = sum != entry.sum;
        entry.sum = sum;
    }
    new_count = 0;
}

void look_at_watchpoints(Watchpoints& watchpoints)
{
    watchpoints.take([&](int number, const SiteText& site) {
        const Locked locked;
        for (uint32_t i = 0; locked.is_held() && i < capacity; ++i) {
            Entry& entry = entries[i];
            if (entry.is_used && entry.watchpoints == &watchpoints && entry.watchpoint == number &&
                entry.used_at == 0)
                entry.used_at = site.number;
        }
    });
}

void close_watchpoints(Watchpoints& watchpoints)
{
    const Locked locked;
    for (uint32_t i = 0; locked.is_held() && i < capacity; ++i)
        if (entries[i].is_used && entries[i].watchpoints == &watchpoints)
            clear_watchpoint(entries[i]);
    watchpoints.close();
}

void end_buffers(int64_t rid, const EarlyUses& uses)
{
    const Locked locked;
    if (!locked.is_held())
        return;
    for_request(rid, [&](uint32_t index) {
        if (!entries[index].operation.is_prepared)
            end(index, uses);
    });
}

void end_buffers_of_window(int64_t window, int64_t target, const EarlyUses& uses)
{
    const Locked locked;
    if (!locked.is_held())
        return;
    const auto is_it = [=](const Operation& it) {
        return it.window == window && (target == -1 || it.target == target);
    };
    for_each_in(of_window, {.window = window}, is_it, [&](uint32_t index) { end(index, uses); });
}

} // namespace hdtrace::mpi
