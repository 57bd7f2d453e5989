// Where the program calls MPI. A call site is a list of return addresses, the innermost first, outside the
// MPI library and its bindings; each new one is described in the .info.
#pragma once

#include "hdtrace/writer/open_state.h"
#include "hdtrace/writer/valgrind.h"
#include "mpiwrapper/runtime/sites/frame_rules.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

/// The attribute of a call's state; empty if the site is not known.
using SiteText = ShortText;

/// A place that the program itself tells: of a line in a source file.
SiteText site_of_source(const char* path, const char* function, int line);
/// The place of the instruction that ends before @p address. Empty if that is part of the MPI library, or of
/// what it uses to communicate; or, unless @p may_be_library, of the C library.
SiteText site_of_instruction(const void* address, bool may_be_library);

/// Where a part of the memory is in this process that debug information counts the places of variables from.
struct Anchor {
    uintptr_t address = 0;
    int32_t site = -1; ///< the id of a place in that function or object file; -1: nothing was found
    uintptr_t begin = 0, end = 0; ///< the memory of the frame or the file

    bool holds(uintptr_t place) const { return begin <= place && place < end; }
};

/// Goes up whenever an object file was unloaded: addresses may mean something else now.
extern uint32_t unloaded_objects;

/// The sites of one thread, which it has seen lately.
class CallSites {
  public:
    /// @p depth: how many callers a site consists of; 0 if sites are not wanted. The stack is that of the
    /// thread; null if it is not known.
    void open(int depth, const void* stack_begin, const void* stack_end)
    {
        m_depth = depth;
        m_stack_begin = reinterpret_cast<uintptr_t>(stack_begin);
        m_stack_end = reinterpret_cast<uintptr_t>(stack_end);
    }

    bool are_wanted() const { return m_depth > 0; }

    /// Of the call whose wrapper's __builtin_frame_address(0) is @p frame. It stays until the next one is
    /// looked for.
    const SiteText& find(const void* frame)
    {
        if (m_depth == 0)
            return m_none;
        const auto address = reinterpret_cast<uintptr_t>(Frame::of_caller(frame).return_address);
        const Entry& entry = m_entries[slot_of(address)];
        const bool is_known =
            entry.key == address && m_unloaded == __atomic_load_n(&unloaded_objects, __ATOMIC_RELAXED);
        return __builtin_expect(is_known, 1) ? entry.site : find_slowly(Frame::of_caller(frame));
    }

    /// Whether the program makes the call with @p frame, in a callback of the one with @p outer: not the MPI
    /// library itself. Also if that cannot be known. Frames as for find().
    bool is_in_callback(const void* frame, const void* outer);

    /// Of the function on the stack in whose frame @p address is: its canonical frame address. @p frame as
    /// for find().
    Anchor find_frame_around(uintptr_t address, const void* frame);
    /// Of the object file in which @p address is: the difference to how it is linked. Only files are known
    /// whose functions are on the stack.
    Anchor find_object_around(uintptr_t address, const void* frame);
    /// Calls add(place) for the words that hold @p value in the frame of the function that called MPI, if it
    /// is the program's; of a large frame in the last ones only. Returns where the frame is.
    template <typename Add> Anchor find_words(uintptr_t value, const void* frame, Add add)
    {
        constexpr uintptr_t most = 4096;
        const Anchor anchor = find_own_frame(frame);
        const NotReported comparing_words_that_are_not_set;
        uintptr_t place = anchor.end - anchor.begin > most ? anchor.end - most : anchor.begin;
        for (; place < anchor.end; place += sizeof value)
            if (*reinterpret_cast<const uintptr_t*>(place) == value)
                add(place);
        return anchor;
    }

  private:
    static constexpr size_t entry_count = 256;

    /// In which object file a return address lies.
    enum class Place : uint8_t {
        program, ///< it, or a library that it uses
        mpi,     ///< the MPI library, or a binding of it
        mpi4py,
    };

    /// By the return address where that is all of a site, else by a hash of several, which is no address of a
    /// program.
    struct Entry {
        uintptr_t key;
        SiteText site;

        void change_to(uintptr_t new_key, const SiteText& new_site)
        {
            key = new_key;
            site.change_to(new_site);
        }
    };
    /// What is known of a return address.
    struct KnownFrame {
        uintptr_t key; ///< the address
        FrameRule rule;
        Place place;
    };

    static size_t slot_of(uintptr_t key) { return (key ^ key >> 8) % entry_count; }
    template <typename Kept> static Kept& place_of(Kept (&table)[entry_count], uintptr_t key);
    const SiteText& find_slowly(Frame caller);
    void forget_unloaded();
    const KnownFrame& known_frame(const void* return_address);
    bool is_on_stack(const Frame& frame) const
    {
        return m_stack_begin <= frame.stack_pointer && frame.stack_pointer < m_stack_end;
    }
    Place leave_mpi(Frame& frame);
    int walk(Frame frame, const void** addresses);
    const SiteText* find_in_python();
    const SiteText& site_of(const void* const* addresses, int count, uintptr_t key);
    int32_t site_in(const Frame& function);
    Anchor find_own_frame(const void* frame);
    static Place place_of_object(const void* return_address);

    int m_depth = 0;
    uint32_t m_unloaded = 0;
    uintptr_t m_stack_begin = 0, m_stack_end = 0;
    Entry m_entries[entry_count] = {};
    KnownFrame m_frames[entry_count] = {};
    SiteText m_passing = {}; ///< of a place that is not kept
    const SiteText m_none = {};
};

} // namespace hdtrace::mpi
