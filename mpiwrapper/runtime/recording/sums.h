// What is kept of calls where only statistics are wanted (--statistics-only): sums over those that are alike,
// in the place of their states. In constant memory, for runs of any length.
#pragma once

#include "hdtrace/calls/volume.h"
#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/trace_writer.h"
#include "mpiwrapper/runtime/objects/ranks.h"
#include "mpiwrapper/runtime/recording/functions.h"
#include "mpiwrapper/runtime/regions/definitions.h"

namespace hdtrace::mpi {

/// What calls have in common that are added up together. Three words, since it is compared in every call.
struct SumKey {
    /// The function in 16 bits, 32 for the number of the site (ShortText), 8 for the size of what is moved, 8
    /// for the class of its error.
    uint64_t what;
    uint64_t objects; ///< 32 bits for the communicator, 32 for the file: their ids and 1, or 0
    uint64_t where;   ///< 32 bits for the peer, 1 that tells whether it is a sender, 31 for the regions

    bool operator==(const SumKey&) const = default;
};

/// Calls that are alike. Only its thread changes it; others may copy it.
struct alignas(64) Sum {
    SumKey key;
    const char* name;                ///< of their states
    const char* error;               ///< of calls that failed: its class
    int64_t calls;                   ///< changes first, and `whole` last
    int64_t time, shortest, longest; ///< in nanoseconds
    int64_t inside;                  ///< of the time: that of calls and regions inside them
    int64_t sent, received, posted;  ///< bytes, as Volume has them
    int64_t first, last;             ///< when the first one began and the last one ended
    int64_t whole;                   ///< as many as `calls` when all is there

    __attribute__((always_inline)) void add(int64_t begin, int64_t end, int64_t time_inside,
                                            const std::optional<Volume>& volume)
    {
        const int64_t now = calls + 1;
        put(calls, now);
        const int64_t one = end - begin;
        put(time, time + one);
        if (one < shortest)
            put(shortest, one);
        if (one > longest)
            put(longest, one);
        put(inside, inside + time_inside);
        if (volume) {
            put(sent, sent + volume->sent);
            put(received, received + volume->received);
            put(posted, posted + volume->posted);
        }
        if (begin < first)
            put(first, begin);
        put(last, end);
        put(whole, now);
    }
    /// What it is at the moment, for other threads and signal handlers.
    Sum seen() const;

  private:
    // Each stands behind those before it, for seen().
    static void put(int64_t& figure, int64_t value) { __atomic_store_n(&figure, value, __ATOMIC_RELEASE); }
};

/// What a call says of itself, next to its function, its site and its times.
struct Figures {
    int64_t communicator = -1;
    int64_t file = -1;
    std::optional<int64_t> receiver, sender; ///< ranks as they stand in traces
    std::optional<Volume> volume;            ///< of a call that succeeded
};

/// The sums of one thread, and their file. Functions belong to the thread, but for save() and close(), which
/// any thread and signal handlers may call.
class Sums {
  public:
    /// So many are kept apart. What comes later is added up by function alone.
    static constexpr size_t most_sums = 8192;
    static constexpr size_t most_paths = 1024; ///< of regions inside each other
    static constexpr int most_open_regions = 65536;

    /// All its memory is there from the beginning on, though the system only finds it when it is used. Null
    /// if memory is short.
    static Sums* make();
    static void destroy(Sums* sums);

    /// Creates the file. Returns 0 or a value of errno.
    int open(const char* path, int thread);
    /// Writes what there is, and what @p writer has open.
    void save(TraceWriter& writer);
    void close(TraceWriter& writer);
    /// Those that were added up.
    int64_t calls() const;

    // ---- calls ----

    /// A call ended that was in @p nesting others. @p name is that of its state, a constant.
    __attribute__((always_inline)) void add(Function function, const char* name, int site, int nesting,
                                            int rc, int64_t begin, int64_t end, const Figures& figures)
    {
        const SumKey key = key_of(function, site, figures);
        if (__builtin_expect(rc != MPI_SUCCESS, false))
            return add_failed(key, name, nesting, rc, begin, end);
        const int depth = m_regions_around_call + nesting;
        int64_t inside = m_inside[1];
        if (__builtin_expect((depth | inside) != 0, false))
            inside = time_inside(depth, end - begin);
        Sum* sum = m_recent[slot_of(key)];
        if (__builtin_expect(!(sum->key == key), false))
            sum = &find(key, name, rc);
        sum->add(begin, end, inside, figures.volume);
    }
    /// It was left by a longjmp() or an exception.
    void lose(const char* name, int nesting, int64_t begin, int64_t end);
    /// A persistent request that sends a message was started by a call of @p function.
    void add_message(Function function, const char* name, int64_t receiver, int64_t bytes);

    // ---- regions of the program's own ----

    /// @p is_in_call: it happens inside a call.
    void begin_region(const Definition& region, int64_t time, bool is_in_call);
    void end_region(const Definition& region, int64_t time, bool is_in_call);

  private:
    static constexpr size_t recent_count = 1024;
    static constexpr size_t index_size = 4 * most_sums;
    static constexpr int rest_path = most_paths; // of regions for which there was no room
    // What is no function, but has sums.
    enum Special : uint16_t { region = function_count, message, lost, special_end };
    // Behind those that are kept apart: one for each function.
    static constexpr size_t all_sums = most_sums + 2 * special_end;
    static_assert(all_sums < UINT16_MAX);

    struct OpenRegion {
        const Definition* region;
        int64_t begin;
        int around; // the path of those that it began in
        int path;   // with itself
    };
    struct Path {
        const Definition* region; // the innermost one
        int around;
    };

    static constexpr int64_t no_peer = INT32_MIN; // special ranks are a little below 0

    Sums();
    __attribute__((always_inline)) static uint64_t where(int64_t peer, bool is_sender, int path)
    {
        return static_cast<uint32_t>(peer) | uint64_t{is_sender} << 32 | static_cast<uint64_t>(path) << 33;
    }
    static constexpr int width_place = 48, error_place = 56; // in SumKey::what
    static constexpr uint64_t width_of_nothing = 1;
    // 1 and how many bits the largest of the sizes has; 0: it moves no data.
    __attribute__((always_inline)) static uint64_t width_of(const std::optional<Volume>& volume)
    {
        if (!volume)
            return 0;
        const int64_t moved = volume->sent > volume->received ? volume->sent : volume->received;
        const int64_t largest = moved > volume->posted ? moved : volume->posted;
        return largest == 0 ? width_of_nothing
                            : static_cast<uint64_t>(65 - __builtin_clzll(static_cast<uint64_t>(largest)));
    }
    __attribute__((always_inline)) SumKey key_of(Function function, int site, const Figures& figures) const
    {
        const bool is_sent = figures.receiver && *figures.receiver != no_process;
        const bool is_received = !is_sent && figures.sender && *figures.sender != no_process;
        const int64_t peer = is_sent ? *figures.receiver : is_received ? *figures.sender : no_peer;
        const uint64_t what = static_cast<uint64_t>(function) | uint64_t{static_cast<uint32_t>(site)} << 16 |
                              width_of(figures.volume) << width_place;
        const auto communicator = static_cast<uint32_t>(figures.communicator + 1);
        const auto file = static_cast<uint32_t>(figures.file + 1);
        return {what, communicator | uint64_t{file} << 32, where(peer, is_received, m_path)};
    }
    /// @p key: as if it had succeeded.
    __attribute__((noinline, cold)) void add_failed(SumKey key, const char* name, int nesting, int rc,
                                                    int64_t begin, int64_t end);
    static uint64_t class_of_error(int rc);
    __attribute__((always_inline)) static size_t slot_of(const SumKey& key)
    {
        return ((key.what >> 16) + (key.what >> 45) + key.where * 5) % recent_count;
    }
    Sum& find(const SumKey& key, const char* name, int rc);
    Sum* find_or_add(const SumKey& key, const char* name, int rc, size_t most);
    // As the readers of traces compute it: what ended one level below since the last one on this one. Where
    // there is nothing below, and nothing around that wants to know, nothing is to be done.
    int64_t time_inside(int depth, int64_t time);
    // Of a region that ended while another one goes on that began in it and stands in its place now: the time
    // from then on is that of the other one.
    int64_t overlapped_time_inside(int place, int64_t begin, int64_t end, bool is_in_call);
    int path_inside(int around, const Definition& region);
    int find_path(int around, const Definition& region);

    char* put_all(char* out, TraceWriter& writer) const;
    char* put(char* out, const Sum& sum) const;
    int write(TraceWriter& writer, const Undisturbed& undisturbed);

    int m_path = 0;                // of the regions that the thread is in
    int m_regions_around_call = 0; // or, outside of calls, that are open
    int m_open_count = 0;
    int m_regions_left_out = 0; // that are open, beyond those that have room
    size_t m_path_count = 1;    // 0 is outside of all
    size_t m_count = 0;
    int64_t m_written_calls = -1;
    bool m_had_open_states = false;
    bool m_is_closed = false;
    OutputFile m_file;

    // Zeros.
    Sum* m_recent[recent_count];
    int64_t m_inside[most_open_regions + TraceWriter::max_depth + 2]; // by depth
    OpenRegion m_open[most_open_regions];
    Path m_paths[most_paths + 1];
    uint16_t m_recent_paths[recent_count];
    uint16_t m_index[index_size]; // one more than the place of a sum; 0 is none
    Sum m_sums[all_sums + 1];     // the last one is none, with a key that no call has
};

/// Whether calls and regions become states and events of traces, too. Only with the tests' setting there are
/// both: they compare them.
extern bool keeps_states;
/// Whether there are sums.
extern bool keeps_sums;
/// From the settings. What sums cannot tell is not looked at.
void choose_sums();
void say_what_sums_ignore();

/// What a persistent request does whenever it is started.
struct PreparedTransfer {
    std::optional<Volume> volume;
    std::optional<int64_t> receiver; ///< of a message
};

/// Of all threads.
void remember_prepared(int64_t rid, const PreparedTransfer& transfer);
void forget_prepared(int64_t rid);
/// Nothing is known of requests that move no data.
PreparedTransfer find_prepared(int64_t rid);

} // namespace hdtrace::mpi
