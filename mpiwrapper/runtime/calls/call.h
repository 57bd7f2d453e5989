// One MPI call of the program, from its wrapper's first line to its last.
#pragma once

#include "hdtrace/writer/element.h"
#include "mpiwrapper/runtime/buffers/active_buffers.h"
#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/library/export.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"
#include "mpiwrapper/runtime/recording/rules.h"
#include "mpiwrapper/runtime/recording/state.h"

#include <stdint.h>

#define HDT_LIKELY(condition) __builtin_expect(!!(condition), 1)

namespace hdtrace::mpi {

/// What must be followed even if the call is not recorded.
enum class Tracks : uint8_t {
    nothing,
    operations,   ///< requests, files and messages: also while recording is paused
    communicators ///< and windows: also inside other calls, since members count what is made of a
                  ///< communicator
};

/// Decides what happens with a call, keeps its times and finds the objects that it names.
class Call {
  public:
    /// In the wrapper itself, whose frame is @p frame.
    Call(Function function, Tracks tracks, const void* frame = __builtin_frame_address(0))
        : m_frame(frame), m_function(function)
    {
        Thread* const thread = current_thread;
        if (HDT_LIKELY(thread != nullptr && thread->depth == 0 &&
                       __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0)) {
            m_recording = gate.recording_of(function);
            if (HDT_LIKELY(m_recording != Recording::undecided)) {
                record(*thread);
                return;
            }
        }
        start_slowly(tracks);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call()
    {
        if (m_thread == nullptr)
            return;
        if (HDT_LIKELY(!m_is_elsewhere))
            leave();
        else
            leave_elsewhere();
    }

    /// A longjmp() or an exception may have left calls that the thread seems to be in: they become unfinished
    /// states. @p here is on the caller's stack.
    static void find_lost_calls(Thread& thread, const void* here);

    /// Nothing is to be done but to call the real function.
    bool passes() const { return m_thread == nullptr; }
    /// The call becomes a state of the trace, and nothing else is to be done about it.
    bool is_plain() const { return HDT_LIKELY(m_recording == Recording::plain); }
    /// The call becomes a state of the trace.
    bool is_recorded() const { return has(recording(), Recording::plain); }
    /// It is added up by sum().
    bool is_summed() const { return has(recording(), Recording::summed); }
    /// It asked whether something has happened, and is left out if has_found_nothing().
    template <typename HasFoundNothing> bool is_empty_poll(HasFoundNothing has_found_nothing)
    {
        return !is_plain() && has(recording(), Recording::successes) && has_found_nothing() &&
               leave_out_poll();
    }
    /// It is recorded, and the program is checked.
    bool is_checked() const
    {
        return !HDT_LIKELY(m_recording == Recording::plain) && has(m_recording, Recording::checked);
    }
    bool succeeded() const { return m_rc == MPI_SUCCESS; }
    /// A completion call failed, and its answers tell for which requests.
    bool failed_in_status() const;
    Function function() const { return m_function; }
    int rc() const { return m_rc; }
    /// The calls that it is in.
    int depth() const { return m_depth; }

    /// Whether the program may be checked: then a call with buffers tells of them before it begins.
    bool wants_buffers() const { return !is_plain() && has(recording(), Recording::checked); }
    /// If the call succeeds, describe(buffers) will tell which they are (runtime/buffers/buffers.h). It is
    /// copied, so that the arguments need not be kept elsewhere.
    template <typename Describe> __attribute__((noinline, cold)) void keep_buffers(Describe describe)
    {
        if (has(recording(), Recording::checked))
            m_thread->buffers.keep(m_number, describe);
    }
    /// MPI_Startall: the buffers of the persistent request are in use.
    void follow_started(const Request& started) const
    {
        if (has(recording(), Recording::checked))
            watch_started_buffers(started.init_rid, started.rid, starter());
    }
    /// The real function comes next. set_arguments(state) starts the state, whose form is @p form, and sets
    /// what is known of its arguments: not of a call that is only added up.
    template <typename SetArguments>
    __attribute__((always_inline)) void begin(const StateForm& form, SetArguments set_arguments)
    {
        if (!is_plain()) {
            if (is_only_summed())
                return begin_summed(form);
            prepare_slowly();
        }
        if (HDT_LIKELY(has(m_recording, Recording::plain))) {
            m_state = &m_thread->writer.next_state();
            set_arguments(*m_state);
            m_state->set_site(m_thread->sites.find(m_frame));
        }
        m_begin = m_thread->clock.now();
        m_thread->calls[m_number].begin = m_begin;
        if (is_plain())
            m_thread->writer.enter(*m_state, m_begin);
        else
            begin_slowly();
        __atomic_signal_fence(__ATOMIC_RELEASE); // what signal handlers record from now on is inside
        m_thread->depth = m_depth + 1;
    }
    /// The same where there are no arguments. @p form is a constant.
    void begin(const StateForm& form)
    {
        begin(form, [&form](OpenState& state) { state.start(&form, 0); });
    }
    /// The real function returned @p rc; returns it.
    __attribute__((always_inline)) int end(int rc)
    {
        Thread* thread = thread_of_now();
        if (!HDT_LIKELY(thread == m_thread))
            thread = &go_on_elsewhere();
        thread->depth = own_depth;
        __atomic_signal_fence(__ATOMIC_ACQUIRE);
        if (!HDT_LIKELY(thread->call_count == m_count_inside))
            end_slowly();
        m_end = thread->clock.now();
        m_rc = rc;
        return rc;
    }

    /// The arguments of a call that is recorded and has ended. Handles that nobody knew are looked up now:
    /// before the call succeeded MPI cannot be asked about them.
    template <typename SetArguments>
    __attribute__((always_inline)) const OpenState& arguments(SetArguments set_arguments)
    {
        if (!HDT_LIKELY(!m_state->is_to_be_asked_again()))
            set_again(set_arguments);
        return *m_state;
    }
    /// Of set_arguments(): a communicator that is needed after the call.
    void keep(const Comm& comm) { m_kept = &comm; }
    const Comm& kept_comm() const { return *m_kept; }
    /// The same where the call may not be recorded, and so nothing was kept.
    const Comm& kept_comm(MPI_Comm handle)
    {
        return HDT_LIKELY(m_kept != nullptr && m_kept != &null_comm) ? *m_kept : comm(handle);
    }

    /// The one that it is in now.
    Thread& thread() { return *m_thread; }
    /// The one that it began in, which stays until the call is over.
    Thread& first_thread() { return m_is_elsewhere ? *m_first_thread : *m_thread; }
    /// The wrapper's __builtin_frame_address(0).
    const void* frame() const { return m_frame; }
    /// An error handler leaves it to the call's end to end the program (end_by_put_off_error()).
    void end_program_behind_it() { m_count_inside = watched_count; }
    Starter starter() const { return {m_thread->watchpoints, m_state->site().number}; }
    /// Writes its element by build(element), which gets one of the two kinds (element.h).
    template <typename Build> __attribute__((always_inline)) void write(Build build)
    {
        write_element(m_thread->writer, build);
    }

    const Comm& comm(MPI_Comm handle)
    {
        const uint64_t generation = comm_generations.of(handle);
        const Comm* const* const known = m_thread->comms.find(handle, generation);
        return HDT_LIKELY(known != nullptr) ? **known : find_comm_slowly(handle, generation);
    }
    Type type(MPI_Datatype handle)
    {
        const uint64_t generation = type_generations.of(handle);
        const Type* const known = m_thread->types.find(handle, generation);
        return HDT_LIKELY(known != nullptr) ? *known : find_type_slowly(handle, generation);
    }
    Window window(MPI_Win handle)
    {
        const uint64_t generation = window_generations.of(handle);
        const Window* const known = m_thread->windows.find(handle, generation);
        return HDT_LIKELY(known != nullptr) ? *known : find_window_slowly(handle, generation);
    }
    File file(MPI_File handle)
    {
        const uint64_t generation = file_generations.of(handle);
        const File* const known = m_thread->files.find(handle, generation);
        return HDT_LIKELY(known != nullptr) ? *known : find_file_slowly(handle, generation);
    }

    /// Writes the attributes that all calls have, behind the function's own.
    template <typename Element> __attribute__((always_inline)) Element& finish_attributes(Element& element)
    {
        put_common_attributes(element);
        if (!is_plain())
            element.written_by([this](char* out) { return put_more(out); });
        return element;
    }
    /// The same of a call that has kept its buffers. @p operations are those that use them behind the call.
    template <typename Element, typename... Operations>
    __attribute__((always_inline)) Element& finish_with_buffers(Element& element,
                                                                const Operations&... operations)
    {
        put_common_attributes(element);
        if (!is_plain())
            element.written_by([this, operations...](char* out) {
                return put_buffers(put_more(out), [this, operations...](auto& buffers) {
                    (buffers.until(operations), ...);
                    m_thread->buffers.describe(m_number, buffers);
                });
            });
        return element;
    }
    /// The same of a call that only learns now what becomes of buffers: describe(buffers) tells it.
    template <typename Element, typename Describe>
    __attribute__((always_inline)) Element& finish_describing(Element& element, Describe describe)
    {
        put_common_attributes(element);
        if (!is_plain())
            element.written_by([this, describe](char* out) { return put_buffers(put_more(out), describe); });
        return element;
    }

    /// Whether its state is to be written. Where it is to be added up that is done, with get_figures().
    template <typename GetFigures> bool is_to_be_written(GetFigures get_figures)
    {
        return is_plain() || (is_recorded() && !(is_summed() && sum(get_figures())));
    }
    bool is_to_be_written()
    {
        return is_to_be_written([] { return Figures(); });
    }
    /// Adds up a call that is_summed(). False if it becomes a state as well.
    __attribute__((always_inline)) bool sum(const Figures& figures)
    {
        TraceWriter& writer = m_thread->writer;
        m_thread->sums->add(m_function, m_state->form()->name, m_state->site().number, writer.depth() - 1,
                            m_rc, m_begin, m_end, figures);
        if (keeps_states)
            return false;
        writer.forget_state();
        return true;
    }

  private:
    /// It is to be recorded, as m_recording says.
    __attribute__((always_inline)) void record(Thread& thread)
    {
        thread.counts.add(m_function, m_recording);
        enter(thread);
    }
    /// From here on the thread is in the call.
    __attribute__((always_inline)) void enter(Thread& thread)
    {
        m_number = thread.call_count;
        if (!HDT_LIKELY(m_number < TraceWriter::max_depth)) {
            m_recording = Recording::none;
            return;
        }
        m_thread = &thread;
        m_depth = thread.depth;
        thread.depth = own_depth;
        thread.calls[m_number] = {this, m_depth, thread.writer.depth(), 0};
        thread.call_count = m_count_inside = m_number + 1;
    }
    __attribute__((always_inline)) void leave()
    {
        m_thread->depth = m_depth;
        m_thread->call_count = m_number;
    }
    /// The first call of a thread, one inside another one, one that rules ask more of, or one while recording
    /// is paused.
    __attribute__((noinline, cold)) void start_slowly(Tracks tracks);
    void start_in(Thread& thread, Tracks tracks);
    bool is_end_inside_call(const Thread& thread) const;
    /// Of a call inside another one, or while recording is paused. False if it only passes through.
    bool decide_unrecorded(Thread& thread, Tracks tracks);
    /// Functions that programs attach to objects free others; a check that does not see it takes these for
    /// leaks.
    bool is_freed_in_callback(Thread& thread) const;
    template <typename Element> __attribute__((always_inline)) void put_common_attributes(Element& element)
    {
        if (!HDT_LIKELY(succeeded()))
            element.text(" rc='").name(error_class_name(m_rc)).text("'");
        element.site_and_times(m_state->site(), m_begin, m_end);
    }
    template <typename Describe> char* put_buffers(char* out, Describe describe)
    {
        return has(recording(), Recording::checked) && succeeded() ? describe_buffers(*this, out, describe)
                                                                   : out;
    }
    /// Read again, so that is_plain() compares it where it is: nothing else wants it in a register.
    Recording recording() const
    {
        Recording& place = const_cast<Recording&>(m_recording);
        asm("" : "+m"(place));
        return place;
    }
    void note_ignored(Thread& thread) const;
    void note_outside(Thread& thread, const char* side) const;
    bool is_only_summed() const
    {
        return recording() == (Recording::plain | Recording::summed) && !keeps_states;
    }
    /// The name is told while the call lasts, so that it is seen where a process died.
    __attribute__((always_inline)) void begin_summed(const StateForm& form)
    {
        m_state = &m_thread->writer.next_state();
        m_state->start(&form, 0);
        m_state->set_site(m_thread->sites.find(m_frame));
        m_begin = m_thread->clock.now();
        m_thread->calls[m_number].begin = m_begin;
        m_thread->writer.enter(*m_state, m_begin);
        __atomic_signal_fence(__ATOMIC_RELEASE);
        m_thread->depth = m_depth + 1;
    }
    void prepare_slowly();
    void begin_slowly();
    void end_slowly();
    void be_lost();
    /// It has been taken to another thread of the system. There it is followed, but what it looks like in the
    /// trace belongs to the first one, which may do something else by now.
    __attribute__((noinline, cold)) Thread& go_on_elsewhere();
    __attribute__((noinline, cold)) void leave_elsewhere();
    bool leave_out_poll();
    uint64_t question() const;
    void decide_now();
    char* put_more(char* out) const;
    char* put_polls(char* out) const;
    static bool was_left(const Thread& thread, int number, const void* here, const void* frame);
    const Comm& find_comm_slowly(MPI_Comm handle, uint64_t generation);
    Type find_type_slowly(MPI_Datatype handle, uint64_t generation);
    Window find_window_slowly(MPI_Win handle, uint64_t generation);
    File find_file_slowly(MPI_File handle, uint64_t generation);
    void ask_again(bool is_unsure);
    template <typename SetArguments>
    __attribute__((noinline, cold)) void set_again(SetArguments set_arguments)
    {
        OpenState found = {};
        set_arguments(found);
        m_state->take_arguments(found);
    }

    // The thread's depth while the wrapper works: the calls that the MPI library makes to answer it are not
    // the program's, and deeper than any that is recorded or followed.
    static constexpr int own_depth = 1 << 20;

    // No number of calls: more is to be done when the call ends.
    static constexpr int watched_count = -1;

    Thread* m_thread = nullptr;
    const void* m_frame; // of the wrapper
    Function m_function;
    OpenState* m_state = nullptr; // if it is recorded and has begun
    const Comm* m_kept = nullptr;
    int m_depth = 0;
    int m_number = 0; // of the calls that the thread is in
    // How many calls the thread is in when the real function returns; another number makes us look closer.
    int m_count_inside = 0;
    Recording m_recording = Recording::none;
    bool m_is_elsewhere = false;
    bool m_wants_cpu_time = false;
    bool m_is_told_poll = false; // it found out that nothing has happened, and becomes a state all the same
    int m_rc = ~MPI_SUCCESS;     // until it is known, handles may be invalid
    int64_t m_begin = 0;
    int64_t m_end = 0;
    int64_t m_cpu_time; // of watched calls: the thread's when it began, then what it has used
    // If it is elsewhere: the thread that it began in, and its number there.
    Thread* m_first_thread;
    int m_first_number;
};

} // namespace hdtrace::mpi
