#include "mpiwrapper/runtime/objects/requests.h"

#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/request_table.h"
#include "mpiwrapper/runtime/objects/request_view.h"

namespace hdtrace::mpi {

namespace {

// Where several threads call MPI at the same time, the entries are spread by the addresses of their
// variables, so that threads meet only if their variables are neighbours. Whoever looks for a handle that was
// moved needs all parts.
struct alignas(64) Part {
    RequestTable table;
    SpinLock lock;
};

constexpr unsigned part_count_with_threads = 64;
Part parts[part_count_with_threads];
unsigned part_count = 1; // a single part needs no lock
alignas(64) int64_t rid_count = 0;

Part& part_of(const MPI_Request* variable)
{
    return parts[table_number_of(variable, part_count)];
}

// Access to one part at a time.
class PartAccess {
  public:
    PartAccess() = default;
    ~PartAccess() { unlock(); }
    PartAccess(const PartAccess&) = delete;
    PartAccess& operator=(const PartAccess&) = delete;

    /// The table that a variable's requests are in, until the next call. Null in a signal handler that has
    /// interrupted an access of this thread.
    RequestTable* table_of(const MPI_Request* variable)
    {
        if (part_count == 1)
            return &parts[0].table;
        Part& part = part_of(variable);
        return m_locked == &part || lock(part) ? &part.table : nullptr;
    }

  private:
    bool lock(Part& part)
    {
        unlock();
        if (!m_turn.begin(Spinning::requests))
            return false;
        part.lock.lock();
        m_locked = &part;
        return true;
    }
    void unlock()
    {
        if (m_locked == nullptr)
            return;
        m_locked->lock.unlock();
        m_locked = nullptr;
        m_turn.end();
    }

    SpinTurn m_turn;
    Part* m_locked = nullptr;
};

// Of a thread, with which its settlements begin: each has one of its own, which no other thread gets after it
// has ended.
constexpr unsigned settlement_bits = 40;

uint64_t& last_settlement_of_thread()
{
    static uint64_t thread_count = 0;
    static __thread uint64_t last = 0;
    if (last == 0)
        last = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED) << settlement_bits;
    return last;
}

uint64_t thread_of(uint64_t settlement)
{
    return settlement >> settlement_bits;
}

// All entries of a handle, from the oldest on: first those of this thread, since what another one has started
// just now is seldom what this one was given. Holds all locks; finds nothing where PartAccess does not.
class ByAge {
  public:
    ByAge()
        : m_is_locked(part_count > 1 && m_turn.begin(Spinning::requests)),
          m_count(part_count > 1 && !m_is_locked ? 0 : part_count),
          m_thread(thread_of(last_settlement_of_thread()))
    {
        for (unsigned i = 0; m_is_locked && i < part_count; ++i)
            parts[i].lock.lock();
    }
    ~ByAge()
    {
        for (unsigned i = 0; m_is_locked && i < part_count; ++i)
            parts[i].lock.unlock();
    }
    ByAge(const ByAge&) = delete;
    ByAge& operator=(const ByAge&) = delete;

    /// Goes back to the oldest one if the handle is another one than last time.
    void start_with(MPI_Request handle)
    {
        if (m_has_started && handle == m_handle)
            return;
        m_has_started = true;
        m_handle = handle;
        go_through(true);
    }

    /// Null if there is none left. @p table is where it is; it may be removed from there.
    RequestEntry* next(RequestTable** table)
    {
        RequestEntry* const entry = peek();
        const unsigned part = oldest_part();
        *table = &parts[part].table;
        if (entry != nullptr)
            m_next[part] = first_wanted(part, (*table)->next_with_same_handle(entry));
        return entry;
    }

    /// The one that next() will give; null if there is none left.
    RequestEntry* peek()
    {
        if (m_next[oldest_part()] == nullptr && m_wants_own)
            go_through(false);
        return m_next[oldest_part()];
    }

  private:
    void go_through(bool own)
    {
        m_wants_own = own;
        m_next[0] = nullptr; // there is one part at least, which compilers do not know
        for (unsigned i = 0; i < m_count; ++i)
            m_next[i] = first_wanted(i, parts[i].table.oldest_with(m_handle));
    }
    RequestEntry* first_wanted(unsigned part, RequestEntry* entry) const
    {
        while (entry != nullptr && (thread_of(entry->settlement) == m_thread) != m_wants_own)
            entry = parts[part].table.next_with_same_handle(entry);
        return entry;
    }
    unsigned oldest_part() const
    {
        unsigned oldest = 0;
        for (unsigned i = 1; i < m_count; ++i)
            if (m_next[i] != nullptr &&
                (m_next[oldest] == nullptr || m_next[i]->request.rid < m_next[oldest]->request.rid))
                oldest = i;
        return oldest;
    }

    SpinTurn m_turn;
    const bool m_is_locked;
    const unsigned m_count; // of the parts
    const uint64_t m_thread;
    MPI_Request m_handle = MPI_REQUEST_NULL;
    bool m_has_started = false;
    bool m_wants_own = true;
    RequestEntry* m_next[part_count_with_threads];
};

// Nobody knows which of several was meant: neither of the one that is taken nor of that which is taken next
// time.
void doubt(RequestEntry& taken, RequestEntry* next)
{
    if (next != nullptr)
        taken.request.is_doubtful = next->request.is_doubtful = true;
}

// A handle whose variable went with the frame of its function was moved, maybe to where an equal one had
// been. Neither of the two is known then.
void doubt_if_moved(RequestTable& table, RequestEntry& found, const void* frame)
{
    constexpr int most = 16; // there are more only of programs that have many requests at once
    constexpr uintptr_t longest = 1 << 20;
    const uintptr_t end_of_dead = reinterpret_cast<uintptr_t>(frame);
    RequestEntry* other = table.oldest_with(found.handle);
    for (int i = 0; i < most && other != nullptr; ++i, other = table.next_with_same_handle(other))
        if (end_of_dead - reinterpret_cast<uintptr_t>(other->variable) - 1 < longest && other != &found)
            found.request.is_doubtful = other->request.is_doubtful = true;
}

// Calls use(table, entry, next) for the entry of a handle, with the next older one if the handle was moved
// and there are others; false if there is none.
template <typename Use>
bool use_entry(MPI_Request handle, const MPI_Request* variable, const void* frame, Use use)
{
    {
        PartAccess access;
        RequestTable* const table = access.table_of(variable);
        RequestEntry* const entry = table != nullptr ? table->find_exact(handle, variable) : nullptr;
        if (entry != nullptr) {
            if (frame != nullptr)
                doubt_if_moved(*table, *entry, frame);
            use(*table, *entry, nullptr);
            return true;
        }
    }
    ByAge by_age;
    by_age.start_with(handle);
    RequestTable* table;
    RequestEntry* const entry = by_age.next(&table);
    if (entry != nullptr)
        use(*table, *entry, by_age.peek());
    return entry != nullptr;
}

void fill(RequestEntry& entry, Request& request, int64_t rid)
{
    // It is copied before it is changed: the processor waits where it copies more than was just stored.
    entry.request = request;
    entry.request.rid = request.rid = rid;
    if (part_count > 1)
        entry.settlement = thread_of(last_settlement_of_thread()) << settlement_bits;
    if (request.is_persistent)
        entry.request.init_rid = request.init_rid = rid;
    // Where ranks are world ranks there is nothing to look up later.
    if (request.comm != nullptr && request.comm->peers() == nullptr)
        entry.request.comm = nullptr;
    if (entry.request.comm != nullptr)
        add_reference(*entry.request.comm);
}

// One completion call. No entry is found twice in it.
class Settlement {
  public:
    Settlement() : m_number(++last_settlement_of_thread()) {}

    void settle(Offer& offer, RequestTable& table, RequestEntry& entry)
    {
        entry.settlement = m_number;
        offer.is_known = true;
        offer.request = entry.request;
        if (!offer.has_ended)
            return;
        if (entry.request.is_persistent)
            entry.request.is_active = entry.request.is_cancelled = false;
        else
            table.remove(&entry);
    }

    /// For a handle that the program has moved.
    void settle(Offer& offer, ByAge& by_age)
    {
        by_age.start_with(offer.handle);
        RequestTable* table;
        RequestEntry* entry;
        do
            entry = by_age.next(&table);
        while (entry != nullptr && entry->settlement == m_number);
        if (entry == nullptr) {
            offer.request = Request();
            return;
        }
        doubt(*entry, by_age.peek());
        settle(offer, *table, *entry);
    }

  private:
    const uint64_t m_number;
};

} // namespace

void set_requests_shared_by_threads()
{
    part_count = part_count_with_threads;
}

int64_t next_rid()
{
    return part_count > 1 ? __atomic_fetch_add(&rid_count, 1, __ATOMIC_RELAXED) : rid_count++;
}

void add_request(MPI_Request handle, const MPI_Request* variable, Request& request)
{
    if (handle != MPI_REQUEST_NULL) {
        PartAccess access;
        RequestTable* const table = access.table_of(variable);
        RequestEntry* const entry = table != nullptr ? table->add(handle, variable) : nullptr;
        RequestEntry* const older = entry != nullptr ? table->older_in_same_place(*entry) : nullptr;
        if (older != nullptr && older->request.depth > request.depth) {
            // A nested call has made it for this one.
            table->remove(entry);
            if (older->request.comm != nullptr)
                drop_reference(*older->request.comm);
            fill(*older, request, older->request.rid);
            return;
        }
        if (entry != nullptr) {
            fill(*entry, request, next_rid());
            return;
        }
    }
    request.rid = next_rid();
}

bool find_request(MPI_Request handle, const MPI_Request* variable, Request* request, const void* frame)
{
    return use_entry(handle, variable, frame,
                     [request](RequestTable&, const RequestEntry& entry, const RequestEntry* next) {
                         *request = entry.request;
                         request->is_doubtful |= next != nullptr;
                     });
}

void for_all_requests(MPI_Request handle, void (*use)(const Request& request))
{
    ByAge by_age;
    by_age.start_with(handle);
    RequestTable* table;
    while (const RequestEntry* const entry = by_age.next(&table))
        use(entry->request);
}

void settle_requests(Offer* offers, const MPI_Request* variables, int count, const void* frame)
{
    Settlement settlement;
    int moved = 0;
    {
        PartAccess access;
        for (int i = 0; i < count; ++i) {
            offers[i].is_known = false;
            if (offers[i].handle == MPI_REQUEST_NULL)
                continue;
            RequestTable* const table = access.table_of(&variables[i]);
            RequestEntry* const entry =
                table != nullptr ? table->find_exact(offers[i].handle, &variables[i]) : nullptr;
            if (entry == nullptr) {
                ++moved;
                continue;
            }
            if (frame != nullptr)
                doubt_if_moved(*table, *entry, frame);
            settlement.settle(offers[i], *table, *entry);
        }
    }
    if (moved == 0)
        return;
    ByAge by_age;
    for (int i = 0; i < count; ++i)
        if (offers[i].handle != MPI_REQUEST_NULL && !offers[i].is_known)
            settlement.settle(offers[i], by_age);
}

Request start_request(MPI_Request before, MPI_Request handle, const MPI_Request* variable)
{
    Request started;
    started.rid = next_rid();
    bool was_replaced = false;
    use_entry(before, variable, nullptr, [&](RequestTable& table, RequestEntry& entry, RequestEntry*) {
        entry.request.rid = started.rid;
        entry.request.is_active = true;
        started = entry.request;
        was_replaced = handle != before;
        if (was_replaced)
            table.remove(&entry);
    });
    if (was_replaced) {
        PartAccess access;
        RequestTable* const table = access.table_of(variable);
        if (RequestEntry* const entry = table != nullptr ? table->add(handle, variable) : nullptr)
            entry->request = started;
    }
    return started;
}

bool remove_request(MPI_Request handle, const MPI_Request* variable, Request* request)
{
    return use_entry(handle, variable, nullptr,
                     [request](RequestTable& table, RequestEntry& entry, RequestEntry* next) {
                         doubt(entry, next);
                         *request = entry.request;
                         table.remove(&entry);
                     });
}

void mark_cancelled(MPI_Request handle, const MPI_Request* variable)
{
    use_entry(handle, variable, nullptr,
              [](RequestTable&, RequestEntry& entry, RequestEntry*) { entry.request.is_cancelled = true; });
}

namespace {

// The oldest one that is younger than `rid`.
bool look_for_younger(MPI_Request handle, int64_t rid, Request& oldest)
{
    bool is_found = false;
    for (unsigned i = 0; i < part_count; ++i) {
        Request request;
        if (!parts[i].table.look_for_younger(handle, rid, request) || (is_found && request.rid > oldest.rid))
            continue;
        oldest = request;
        is_found = true;
    }
    return is_found;
}

// The same entry that settle_requests() would find, but for those of other threads.
bool look_for(MPI_Request handle, const MPI_Request* variable, int64_t equal, Request& request)
{
    if (handle == MPI_REQUEST_NULL)
        return false;
    if (part_of(variable).table.look_for_exact(handle, variable, request))
        return true;
    bool is_found = true;
    int64_t rid = -1;
    for (int64_t i = 0; is_found && i <= equal; ++i) {
        is_found = look_for_younger(handle, rid, request);
        rid = request.rid;
    }
    return is_found;
}

Request look_for(const void* handle, const void* variable, int64_t equal)
{
    MPI_Request request_handle;
    memcpy(&request_handle, handle, sizeof request_handle);
    Request request;
    return look_for(request_handle, static_cast<const MPI_Request*>(variable), equal, request) ? request
                                                                                               : Request();
}

} // namespace

int64_t find_itself(const void* rid, const void*, int64_t)
{
    int64_t number;
    memcpy(&number, rid, sizeof number);
    return number;
}

int64_t find_rid(const void* handle, const void* variable, int64_t equal)
{
    return look_for(handle, variable, equal).rid;
}

int64_t find_active_rid(const void* handle, const void* variable, int64_t equal)
{
    const Request request = look_for(handle, variable, equal);
    return request.is_active ? request.rid : -1;
}

int64_t find_init_rid(const void* handle, const void* variable, int64_t equal)
{
    return look_for(handle, variable, equal).init_rid;
}

int64_t find_own_rid(const void* handle, const void* variable, int64_t equal)
{
    const Request request = look_for(handle, variable, equal);
    return request.is_persistent ? request.init_rid : request.rid;
}

} // namespace hdtrace::mpi
