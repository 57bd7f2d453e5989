#include "mpiwrapper/runtime/calls/call.h"

#include "mpiwrapper/runtime/buffers/active_buffers.h"
#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/counters/cpu_time.h"
#include "mpiwrapper/runtime/process/fatal_errors.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/regions/events.h"

#include <string.h>
#include <utility>

namespace hdtrace::mpi {

namespace {

// The first of them tells what is wrong.
constexpr int most_calls_outside = 100;

} // namespace

// Stacks grow downwards: calls in progress lie above us. One that was left lies below, or others have written
// over it; what is left of it may look as before where nobody has, so it is found a little later at times.
// Callbacks may run on stacks of their own, e.g. of coroutines; between two stacks addresses tell nothing,
// also where one of them is in a variable on the other.
__attribute__((no_sanitize("address"))) bool Call::was_left(const Thread& thread, int number,
                                                            const void* here, const void* frame)
{
    const void* const place = thread.place_of_call(number);
    if (place == nullptr)
        return true;
    if (!thread.is_on_stack(here) || !thread.is_on_stack(place))
        return false;
    const Call* const call = static_cast<const Call*>(place);
    if (call->m_thread != &thread || call->m_number != number || call->m_begin != thread.calls[number].begin)
        return true;
    return place <= here && thread.is_called_from_base(frame);
}

void Call::find_lost_calls(Thread& thread, const void* here)
{
    const void* const frame = __builtin_frame_address(0);
    find_left_event(thread, here, frame);
    for (int i = 0; i < thread.call_count; ++i) {
        if (was_left(thread, i, here, frame)) {
            lose_calls(thread, i);
            return;
        }
    }
}

void Call::start_slowly(Tracks tracks)
{
    Thread* thread = current_thread;
    if (thread == nullptr) {
        thread = enter_thread(!may_come_at_any_time(m_function));
        if (thread == nullptr)
            return;
    }
    if (thread->depth > 0)
        find_lost_calls(*thread, this);
    start_in(*thread, tracks);
    if (m_number > 0) // those around it may end first
        m_count_inside = watched_count;
}

void Call::start_in(Thread& thread, Tracks tracks)
{
    if (thread.depth >= __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) &&
        !is_end_inside_call(thread)) {
        if (thread.depth == 0 && has_waited_for_end())
            return start_in(thread, tracks);
        m_recording = Recording::none;
        if (decide_unrecorded(thread, tracks))
            enter(thread);
        return;
    }
    m_recording = gate.recording_of(m_function);
    if (m_recording == Recording::undecided)
        m_recording = decide(thread, m_function);
    record(thread);
}

// In a callback: it is told where all processes were ended, whatever else is told of calls inside others.
bool Call::is_end_inside_call(const Thread& thread) const
{
    return m_function == Function::MPI_Abort && thread.depth > 0 && thread.depth < TraceWriter::max_depth &&
           __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0;
}

bool Call::decide_unrecorded(Thread& thread, Tracks tracks)
{
    if (thread.depth > 0 && is_freed_in_callback(thread)) {
        m_recording = gate.recording_of(m_function);
        thread.counts.add(m_function, m_recording);
        return true;
    }
    // One that the MPI library makes is none of the program's. Behind the end of the trace, which another
    // thread may have reached, nobody has asked for calls to be left out.
    const bool is_of_program = thread.depth == 0 && current_state() == State::running;
    const char* const side = is_of_program ? side_of_outside_calls() : nullptr;
    if (side != nullptr)
        note_outside(thread, side);
    else if (is_of_program)
        note_ignored(thread);
    const bool may_put_off_error = settings.for_check && is_of_program && side == nullptr;
    return may_put_off_error || tracks == Tracks::communicators ||
           (tracks == Tracks::operations &&
            thread.depth < __atomic_load_n(&gate.tracking_depth, __ATOMIC_RELAXED));
}

// ROMIO frees what it has made by the functions that programs call. Elsewhere it is the program: where a
// callback ends with a call, as those that delete attributes, the compiler leaves nothing of it on the stack.
bool Call::is_freed_in_callback(Thread& thread) const
{
    const bool is_recording = __atomic_load_n(&gate.record_depth, __ATOMIC_RELAXED) > 0;
    if (!is_recording || !frees_an_object(m_function) || thread.call_count == 0 ||
        !has(gate.recording_of(m_function), Recording::plain))
        return false;
    const auto* const outer = static_cast<const Call*>(thread.place_of_call(thread.call_count - 1));
    if (outer == nullptr || !outer->is_recorded())
        return false;
    const char* const name = ruled_functions()[static_cast<size_t>(outer->m_function)].name;
    return strncmp(name, "MPI_File_", strlen("MPI_File_")) != 0 ||
           thread.sites.is_in_callback(m_frame, outer->frame());
}

void Call::note_ignored(Thread& thread) const
{
    thread.counts.add(m_function, Recording::none);
    if (gate.recording_of(m_function) == Recording::undecided)
        count_for_rules(m_function);
}

/// Of calls that may be made there nothing is told: they are none of those that are left out.
void Call::note_outside(Thread& thread, const char* side) const
{
    if (may_come_at_any_time(m_function) || gate.recording_of(m_function) != Recording::undecided)
        return;
    static int shown = 0;
    const bool is_shown = shown++ < most_calls_outside;
    thread.counts.add(m_function, is_shown ? Recording::plain : Recording::none);
    if (!is_shown)
        return;
    const char* const name = ruled_functions()[static_cast<size_t>(m_function)].name + strlen("MPI_");
    const int64_t now = thread.clock.now();
    thread.writer.enter();
    write_element(thread.writer, [&](auto& element) {
        element.text("<").name(name).site_and_times(thread.sites.find(m_frame), now, now);
        element.text(" unfinished='1' outside='").name(side).text("'").end(name);
    });
    save_all_threads();
}

void Call::prepare_slowly()
{
    if (has(m_recording, Recording::checked)) {
        look_at_new_buffers();
        if (m_number == 0 && m_thread->watchpoints.are_set())
            look_at_watchpoints(m_thread->watchpoints);
    }
    if (has(m_recording, Recording::watched))
        m_thread->counters.call_begins();
}

// Rules wanted to know the arguments first.
void Call::decide_now()
{
    m_recording = decide_late(*m_thread, m_function, *m_state);
    if (is_recorded())
        return;
    m_thread->counts.leave_out(m_function);
    m_state = nullptr;
}

// The processor's time is read inside the times of the call, so it never is more than these say.
void Call::begin_slowly()
{
    if (has(m_recording, Recording::late))
        decide_now();
    if (has(m_recording, Recording::timed) || m_thread->watchpoints.are_set())
        m_count_inside = watched_count;
    if (!is_recorded())
        return;
    m_thread->writer.enter(*m_state, m_begin);
    m_wants_cpu_time =
        settings.cpu_time || (has(m_recording, Recording::checked) && m_thread->polls.is_next_told());
    if (m_wants_cpu_time) {
        m_count_inside = watched_count;
        m_cpu_time = thread_cpu_time();
    }
}

// What a program runs in turns may end a call after the one that was around it, which took it for one that
// was left. It is told as such.
void Call::be_lost()
{
    m_recording = Recording::none;
    let_go(*m_thread, this);
    const int count = m_thread->call_count;
    m_depth = count > 0 ? m_thread->calls[count - 1].depth + 1 : 0;
    m_number = count;
}

Thread& Call::go_on_elsewhere()
{
    m_recording = Recording::none;
    m_is_elsewhere = true;
    m_first_thread = m_thread;
    m_first_number = m_number;
    m_thread = nullptr;
    if (Thread* const thread = current_thread != nullptr ? current_thread : enter_thread()) {
        find_lost_calls(*thread, this);
        enter(*thread);
    }
    if (m_thread == nullptr) // nothing is traced any more, or it would be too deep
        enter(*make_stand_in());
    m_thread->calls[m_number].begin = m_begin;
    return *m_thread;
}

void Call::leave_elsewhere()
{
    if (m_thread == current_thread)
        leave();
    else
        drop_hold(m_thread);
    end_elsewhere(m_first_thread, m_first_number, this, m_end);
}

void Call::end_slowly()
{
    if (m_thread->call_count <= m_number || m_thread->place_of_call(m_number) != this)
        return be_lost();
    if (settings.for_check)
        end_by_put_off_error();
    if (has(m_recording, Recording::timed))
        m_thread->counts.add_time(m_function, m_thread->clock.now() - m_begin);
    else if (m_wants_cpu_time)
        m_cpu_time = thread_cpu_time() - m_cpu_time;
    if (m_number == 0)
        m_thread->watchpoints.skip();
    if (m_thread->call_count == m_number + 1)
        return;
    lose_calls(*m_thread, m_number + 1);
    m_thread->depth = own_depth;
}

// A number for the function and what is known of its arguments.
uint64_t Call::question() const
{
    uint64_t sum = static_cast<uint64_t>(m_function);
    const auto add = [&](int64_t value) {
        sum = (sum ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
        sum ^= sum >> 32;
    };
    const std::span<const Argument> arguments = m_state->form()->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (!m_state->has(static_cast<int>(i)))
            continue;
        const bool is_list = arguments[i].kind == Argument::Kind::children;
        const int value = arguments[i].value + (is_list ? 1 : 0); // where the program has it
        add(m_state->value(value));
        if (is_list)
            add(m_state->value(value + 1));
    }
    return sum;
}

// Not if there is something in it.
bool Call::leave_out_poll()
{
    m_is_told_poll = has(m_recording, Recording::checked) && m_thread->polls.add(question());
    if (m_is_told_poll || !m_thread->writer.abandon_state())
        return false;
    m_thread->counts.leave_out_poll(m_function, m_end - m_begin);
    if (m_number == 0 && has(m_recording, Recording::checked))
        m_thread->poll_time += m_end - m_begin;
    m_recording = Recording::none;
    return true;
}

char* Call::put_more(char* out) const
{
    if (m_wants_cpu_time && (settings.cpu_time || m_is_told_poll))
        out = put_cpu_time(put_text(out, " cpu='"), m_cpu_time);
    if (has(m_recording, Recording::successes))
        out = put_polls(out);
    if (m_number == 0 && m_thread->poll_time > 0)
        out = put_text(put_seconds(put_text(out, " pollTime='"), std::exchange(m_thread->poll_time, 0)), "'");
    if (has(m_recording, Recording::checked) && !m_is_told_poll && level_of(m_function) != local_query)
        m_thread->polls.end();
    return out;
}

// What the thread does between polls shows whether it only waits.
char* Call::put_polls(char* out) const
{
    const int64_t left_out = m_thread->counts.take_polls(m_function);
    if (left_out > 0)
        out = put_text(put_number(put_text(out, " polls='"), left_out), "'");
    if (!m_is_told_poll)
        return out;
    out = put_cpu_time(put_text(out, " threadCpu='"), thread_cpu_time());
    return m_thread->polls.is_mixed() ? put_text(out, " mixed='1'") : out;
}

// A handle could not be looked up as it will be when the call has succeeded.
void Call::ask_again(bool is_unsure)
{
    if (m_state == nullptr || succeeded())
        return;
    if (is_unsure)
        m_state->set_unsure();
    else
        m_state->set_again();
}

const Comm& Call::find_comm_slowly(MPI_Comm handle, uint64_t generation)
{
    const Comm& comm = find_comm(handle, succeeded());
    if (&comm == &null_comm) {
        ask_again(handle != MPI_COMM_NULL);
        return comm;
    }
    describe(comm);
    if (__atomic_load_n(&comm.is_attached, __ATOMIC_RELAXED)) {
        add_reference(comm); // another thread may free it while this one is in the call
        if (const Comm* const replaced = m_thread->comms.store(handle, generation, &comm))
            drop_reference(*replaced);
    } else {
        ask_again(false);
    }
    return comm;
}

Type Call::find_type_slowly(MPI_Datatype handle, uint64_t generation)
{
    const Type type = find_type(handle, succeeded());
    if (type.id >= 0)
        m_thread->types.store(handle, generation, type);
    else if (handle != MPI_DATATYPE_NULL)
        ask_again(true);
    return type;
}

Window Call::find_window_slowly(MPI_Win handle, uint64_t generation)
{
    const Window window = find_window(handle);
    if (window.id >= 0)
        m_thread->windows.store(handle, generation, window);
    return window;
}

File Call::find_file_slowly(MPI_File handle, uint64_t generation)
{
    const File file = find_file(handle);
    if (file.id >= 0)
        m_thread->files.store(handle, generation, file);
    return file;
}

bool Call::failed_in_status() const
{
    return !succeeded() && error_class_of(m_rc) == MPI_ERR_IN_STATUS;
}

} // namespace hdtrace::mpi
