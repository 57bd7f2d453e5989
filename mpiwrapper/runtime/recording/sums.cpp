#include "mpiwrapper/runtime/recording/sums.h"

#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text.h"
#include "hdtrace/writer/text_buffer.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/process/trace_place.h"

#include <errno.h>
#include <new>
#include <stdlib.h>
#include <sys/mman.h>

namespace hdtrace::mpi {

namespace {

constexpr char footer[] = "</Statistics>\n";
// A line, without the name of a region.
constexpr size_t line_room = 800;
constexpr size_t name_room = (2 * HD_LONGEST_NAME + 1) * max_escape_length;
constexpr size_t open_states_room = 32 * 1024;

// The text of one file at a time.
pthread_mutex_t text_mutex = HDTRACE_MUTEX_INITIALIZER;
char* text = nullptr;
constexpr size_t text_room = (Sums::most_sums + 4 * function_count) * line_room +
                             Sums::most_paths * (line_room + name_room) + open_states_room;

// Zeros, of which only what is used takes memory.
void* reserve(size_t size)
{
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : nullptr;
}

bool has_text()
{
    const Lock lock(text_mutex);
    if (text == nullptr)
        text = static_cast<char*>(reserve(text_room));
    return text != nullptr;
}

template <size_t Size> char* put_attribute(char* out, const char (&start)[Size], int64_t number)
{
    return put_text(put_number(put_text(out, start), number), "'");
}

template <size_t Size> char* put_duration(char* out, const char (&start)[Size], int64_t nanoseconds)
{
    return put_text(put_seconds(put_text(out, start), nanoseconds), "'");
}

char* put_moments(char* out, int64_t first, int64_t last)
{
    out = put_duration(out, " first='", first - time_base());
    return put_duration(out, " last='", last - time_base());
}

char* put_open_state(char* out, const OpenState& state, int64_t now)
{
    const int64_t begin = state.begin();
    out = put_constant(put_text(out, "<"), state.form()->name);
    out = put_text(out, " unfinished='1' calls='1'");
    return put_text(put_moments(out, begin, now > begin ? now : begin), " />\n");
}

uint32_t low_half(uint64_t word)
{
    return static_cast<uint32_t>(word);
}

uint32_t high_half(uint64_t word)
{
    return static_cast<uint32_t>(word >> 32);
}

// Of a key whose other parts did not matter any more.
constexpr uint64_t rest = UINT64_MAX;

} // namespace

bool keeps_states = true;
bool keeps_sums = false;

namespace {

const char* ignored_option = nullptr; // the last one

} // namespace

void choose_sums()
{
    keeps_states = !settings.statistics_only;
    keeps_sums = settings.statistics_only || secure_getenv("HDT_TEST_STATES_AND_STATISTICS") != nullptr;
    if (keeps_states)
        return;
    for (const Option& option : options()) {
        if (!option.is_about_single_calls || !is_changed(settings, option))
            continue;
        reset(settings, option);
        ignored_option = option.variable;
    }
}

void say_what_sums_ignore()
{
    if (ignored_option != nullptr && is_first_rank())
        Diagnostic(incomplete_trace)
            .text(ignored_option)
            .text(" is ignored: with HDTRACE_STATISTICS_ONLY there are no single calls");
}

// ---- sums ----

Sum Sum::seen() const
{
    constexpr int most_attempts = 100; // a signal handler may have interrupted the thread that changes it
    // Each is read before those behind it: if none has changed since, `calls` has not either.
    const auto get = [](const int64_t& figure) { return __atomic_load_n(&figure, __ATOMIC_ACQUIRE); };
    Sum copy;
    copy.key = key;
    copy.name = name;
    copy.error = error;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        copy.whole = get(whole);
        copy.time = get(time);
        copy.shortest = get(shortest);
        copy.longest = get(longest);
        copy.inside = get(inside);
        copy.sent = get(sent);
        copy.received = get(received);
        copy.posted = get(posted);
        copy.first = get(first);
        copy.last = get(last);
        copy.calls = get(calls);
        if (copy.whole == copy.calls)
            break;
    }
    return copy;
}

Sums::Sums()
{
    Sum& none = m_sums[all_sums];
    none.key = {rest, rest, rest};
    for (Sum*& recent : m_recent)
        recent = &none;
}

Sums* Sums::make()
{
    void* const memory = has_text() ? reserve(sizeof(Sums)) : nullptr;
    return memory != nullptr ? new (memory) Sums : nullptr;
}

void Sums::destroy(Sums* sums)
{
    if (sums == nullptr)
        return;
    sums->~Sums();
    munmap(static_cast<void*>(sums), sizeof(Sums));
}

uint64_t Sums::class_of_error(int rc)
{
    constexpr int most = UINT8_MAX;
    const int error_class = error_class_of(rc);
    return error_class > 0 && error_class < most ? static_cast<uint64_t>(error_class) : most;
}

// It moves nothing, whatever it was to move.
void Sums::add_failed(SumKey key, const char* name, int nesting, int rc, int64_t begin, int64_t end)
{
    constexpr uint64_t all_of_width = uint64_t{UINT8_MAX} << width_place;
    if ((key.what & all_of_width) != 0)
        key.what = (key.what & ~all_of_width) | width_of_nothing << width_place;
    key.what |= class_of_error(rc) << error_place;
    const int64_t inside = time_inside(m_regions_around_call + nesting, end - begin);
    find(key, name, rc).add(begin, end, inside, {});
}

Sum* Sums::find_or_add(const SumKey& key, const char* name, int rc, size_t most)
{
    constexpr uint64_t spread = 0x9e3779b97f4a7c15;
    const uint64_t hash = ((key.what * spread ^ key.objects) * spread ^ key.where) * spread;
    size_t slot = (hash >> 32) % index_size;
    for (; m_index[slot] != 0; slot = (slot + 1) % index_size) {
        Sum& sum = m_sums[m_index[slot] - 1];
        if (sum.key == key)
            return &sum;
    }
    if (m_count >= most)
        return nullptr;
    Sum& sum = m_sums[m_count];
    sum.key = key;
    sum.name = name;
    sum.error = rc != MPI_SUCCESS ? error_class_name(rc) : nullptr;
    sum.shortest = sum.first = INT64_MAX;
    __atomic_store_n(&m_count, m_count + 1, __ATOMIC_RELEASE);
    m_index[slot] = static_cast<uint16_t>(m_count);
    return &sum;
}

int64_t Sums::time_inside(int depth, int64_t time)
{
    const int64_t below = m_inside[depth + 1];
    m_inside[depth + 1] = 0;
    if (depth > 0)
        m_inside[depth] += time;
    return below < time ? below : time;
}

int64_t Sums::overlapped_time_inside(int place, int64_t begin, int64_t end, bool is_in_call)
{
    const int64_t next = m_open[place].begin;
    const int64_t inside = time_inside(place, next - begin);
    const int around_call = m_regions_around_call > m_open_count ? m_regions_around_call : m_open_count;
    const int deepest = is_in_call ? around_call + TraceWriter::max_depth : m_open_count + 1;
    for (int depth = place + 1; depth <= deepest; ++depth)
        m_inside[depth] = m_inside[depth + 1];
    return inside + (end - next);
}

Sum& Sums::find(const SumKey& key, const char* name, int rc)
{
    if (static_cast<int>(key.where >> 33) != rest_path)
        if (Sum* const sum = find_or_add(key, name, rc, most_sums))
            return *(m_recent[slot_of(key)] = sum);
    constexpr uint64_t function_bits = UINT16_MAX;
    return *find_or_add({key.what & function_bits, rest, rest}, name, MPI_SUCCESS, all_sums);
}

void Sums::lose(const char* name, int nesting, int64_t begin, int64_t end)
{
    time_inside(m_regions_around_call + nesting, end - begin);
    const SumKey key = {lost, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(name)),
                        where(no_peer, false, 0)};
    find(key, name, MPI_SUCCESS).add(begin, end, 0, {});
}

void Sums::add_message(Function function, const char* name, int64_t receiver, int64_t bytes)
{
    const SumKey key = {message | static_cast<uint64_t>(function) << 16, 0, where(receiver, false, 0)};
    Sum& sum = find(key, name, MPI_SUCCESS);
    sum.add(0, 0, 0, Volume{.sent = bytes});
}

// ---- regions ----

int Sums::path_inside(int around, const Definition& region)
{
    if (around == rest_path)
        return rest_path;
    const uintptr_t mixed = reinterpret_cast<uintptr_t>(&region) / 16 + static_cast<uintptr_t>(around) * 31;
    uint16_t& recent = m_recent_paths[mixed % recent_count];
    if (recent == 0 || m_paths[recent].region != &region || m_paths[recent].around != around)
        recent = static_cast<uint16_t>(find_path(around, region));
    return recent;
}

int Sums::find_path(int around, const Definition& region)
{
    for (size_t i = 1; i < m_path_count; ++i)
        if (m_paths[i].region == &region && m_paths[i].around == around)
            return static_cast<int>(i);
    if (m_path_count == most_paths)
        return rest_path;
    m_paths[m_path_count] = {&region, around};
    __atomic_store_n(&m_path_count, m_path_count + 1, __ATOMIC_RELEASE);
    return static_cast<int>(m_path_count) - 1;
}

void Sums::begin_region(const Definition& region, int64_t time, bool is_in_call)
{
    if (m_open_count == most_open_regions) {
        ++m_regions_left_out;
        return;
    }
    const int path = path_inside(m_path, region);
    m_open[m_open_count++] = {&region, time, m_path, path};
    m_path = path;
    if (!is_in_call)
        m_regions_around_call = m_open_count;
}

// An end belongs to the last beginning of its name; those that overlap with it go on without it.
void Sums::end_region(const Definition& region, int64_t time, bool is_in_call)
{
    if (m_regions_left_out > 0) {
        --m_regions_left_out;
        return;
    }
    int place = m_open_count - 1;
    while (place >= 0 && m_open[place].region != &region)
        --place;
    if (place < 0)
        return;
    const OpenRegion ended = m_open[place];
    --m_open_count;
    int around = ended.around;
    for (int i = place; i < m_open_count; ++i) {
        m_open[i] = m_open[i + 1];
        m_open[i].around = around;
        around = m_open[i].path = path_inside(around, *m_open[i].region);
    }
    m_path = around;
    if (!is_in_call)
        m_regions_around_call = m_open_count;
    const int64_t inside = place < m_open_count ? overlapped_time_inside(place, ended.begin, time, is_in_call)
                                                : time_inside(place, time - ended.begin);
    find({Special::region, 0, where(no_peer, false, ended.path)}, region.xml, MPI_SUCCESS)
        .add(ended.begin, time, inside, {});
}

// ---- the file ----

int Sums::open(const char* path, int thread)
{
    TextBuffer head;
    head.text("<?xml version='1.0' encoding='UTF-8'?>\n<Statistics timeAdjustment='").number(base_second());
    head.text("' version='1' rank='").number(this_process().rank);
    head.text("' thread='").number(thread).text("'>\n");
    if (head.bad())
        return ENOMEM;
    if (const int error = m_file.open(path, {footer, sizeof footer - 1}))
        return error;
    const Lock lock(text_mutex);
    return m_file.write({head.data(), head.size()}, lock.undisturbed());
}

int64_t Sums::calls() const
{
    int64_t all = 0;
    for (size_t i = 0, count = __atomic_load_n(&m_count, __ATOMIC_ACQUIRE); i < count; ++i)
        all += __atomic_load_n(&m_sums[i].calls, __ATOMIC_RELAXED);
    return all;
}

void Sums::save(TraceWriter& writer)
{
    const Lock lock(text_mutex);
    if (lock.held() && !m_is_closed)
        write(writer, lock.undisturbed());
}

void Sums::close(TraceWriter& writer)
{
    const Lock lock(text_mutex);
    if (!lock.held() || m_is_closed)
        return;
    const int error = write(writer, lock.undisturbed());
    const int close_error = m_file.close();
    m_is_closed = true;
    if (error == 0 && close_error != 0)
        report_write_error(m_file.path(), close_error);
}

// All in one write, over what was there before: the file is whole before and after it.
int Sums::write(TraceWriter& writer, const Undisturbed& undisturbed)
{
    const int64_t all_calls = calls();
    const bool has_open_states = writer.depth() > 0;
    if (all_calls == m_written_calls && !has_open_states && !m_had_open_states)
        return 0;
    info_file().flush(); // describes what the sums name
    const size_t size = static_cast<size_t>(put_all(text, writer) - text);
    const int error = m_file.write({}, {text, size}, {footer, sizeof footer - 1}, undisturbed);
    if (error != 0)
        report_write_error(m_file.path(), error);
    m_written_calls = all_calls;
    m_had_open_states = has_open_states;
    return error;
}

char* Sums::put_all(char* out, TraceWriter& writer) const
{
    const size_t count = __atomic_load_n(&m_count, __ATOMIC_ACQUIRE);
    for (size_t i = 1, paths = __atomic_load_n(&m_path_count, __ATOMIC_ACQUIRE); i < paths; ++i) {
        const Path& path = m_paths[i];
        out = put_attribute(put_text(out, "<Path"), " id='", static_cast<int64_t>(i));
        out = put_attribute(out, " around='", path.around);
        out = put_text(out, " name='");
        memcpy(out, path.region->xml, path.region->xml_length);
        out = put_text(out + path.region->xml_length, "' />\n");
    }
    for (size_t i = 0; i < count; ++i)
        out = put(out, m_sums[i].seen());
    const int64_t now = Clock().now();
    writer.tell_open_states([&](const OpenState& state) { out = put_open_state(out, state, now); });
    return out;
}

char* Sums::put(char* out, const Sum& sum) const
{
    if (sum.calls == 0)
        return out;
    const SumKey& key = sum.key;
    const auto function = static_cast<uint16_t>(key.what);
    const bool is_rest = key.objects == rest && key.where == rest;
    const auto peer = static_cast<int32_t>(low_half(key.where));
    out = put_text(out, "<");
    out = function == Special::region ? put_text(out, "Region")
          : function == message       ? put_text(out, "Message")
                                      : put_constant(out, sum.name);
    if (is_rest)
        out = put_text(out, " rest='1'");
    if (function == message)
        out = put_text(put_constant(put_text(out, " by='"), sum.name), "'");
    else if (const auto site = low_half(key.what >> 16); site > 0 && !is_rest && function < region)
        out = put_attribute(out, " site='", int64_t{site} - 1);
    if (peer != no_peer && !is_rest)
        out = put_number(
            high_half(key.where) % 2 != 0 ? put_text(out, " fromRank='") : put_text(out, " toRank='"), peer),
        out = put_text(out, "'");
    if (function == lost)
        out = put_text(out, " unfinished='1'");
    if (function < region && !is_rest) {
        if (const uint32_t communicator = low_half(key.objects); communicator > 0)
            out = put_attribute(out, " cid='", int64_t{communicator} - 1);
        if (const uint32_t file = high_half(key.objects); file > 0)
            out = put_attribute(out, " fid='", int64_t{file} - 1);
        if (const int width = key.what >> width_place & UINT8_MAX; width > 0)
            out = put_attribute(out, " size='", width == 1 ? 0 : int64_t{1} << (width - 2));
    }
    if (sum.error != nullptr)
        out = put_text(put_constant(put_text(out, " rc='"), sum.error), "'");
    if (const auto path = static_cast<int64_t>(key.where >> 33); path > 0 && !is_rest)
        out = put_attribute(out, " region='", path);
    out = put_attribute(out, " calls='", sum.calls);
    if (function != message && function != lost) {
        out = put_duration(out, " total='", sum.time);
        out = put_duration(out, " exclusive='", sum.time - sum.inside);
        out = put_duration(out, " shortest='", sum.shortest);
        out = put_duration(out, " longest='", sum.longest);
    }
    if (function != message)
        out = put_moments(out, sum.first, sum.last);
    if (sum.sent > 0)
        out = put_attribute(out, " sent='", sum.sent);
    if (sum.received > 0)
        out = put_attribute(out, " received='", sum.received);
    if (sum.posted > 0)
        out = put_attribute(out, " posted='", sum.posted);
    return put_text(out, " />\n");
}

// ---- persistent requests ----

namespace {

struct Prepared : TableEntry<Prepared> {
    PreparedTransfer transfer;
};

pthread_mutex_t prepared_mutex = HDTRACE_MUTEX_INITIALIZER;
constinit ObjectTable<Prepared> prepared;

} // namespace

void remember_prepared(int64_t rid, const PreparedTransfer& transfer)
{
    void* const memory = own_malloc(sizeof(Prepared));
    if (memory == nullptr)
        return;
    auto* const made = new (memory) Prepared;
    made->transfer = transfer;
    const MutexLock lock(prepared_mutex);
    if (lock.held())
        prepared.add(static_cast<uintptr_t>(rid), made);
    else
        own_free(made);
}

void forget_prepared(int64_t rid)
{
    const MutexLock lock(prepared_mutex);
    Prepared* const known = lock.held() ? prepared.find(static_cast<uintptr_t>(rid)) : nullptr;
    if (known == nullptr)
        return;
    prepared.remove(known);
    own_free(known);
}

PreparedTransfer find_prepared(int64_t rid)
{
    const MutexLock lock(prepared_mutex);
    const Prepared* const known = lock.held() ? prepared.find(static_cast<uintptr_t>(rid)) : nullptr;
    return known != nullptr ? known->transfer : PreparedTransfer();
}

} // namespace hdtrace::mpi
