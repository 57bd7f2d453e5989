import gc
import os
import subprocess
import sys
import threading

import hdtrace
import pytest

SECOND = 10**9
LINES = """\
<Init time='0.000000001' end='0.000000002' />
<Send size='8' toRank='1' time='1.000000000' end='1.500000000' />
<Wait time='2.000000000' end='3.000000000' ><For rid='7' /></Wait>
<Nested><Barrier cid='0' time='4.100000000' end='4.200000000' /></Nested>\
<Comm_dup cid='0' time='4.000000000' end='5.000000000' />
<Event name='here &amp; now' time='6.000000000' />
"""


def test_states_in_order(write_trace):
    states = hdtrace.read_trace(write_trace(LINES))
    assert [state.name for state in states] == ["Init", "Send", "Wait", "Comm_dup", "Event"]
    assert [state.line for state in states] == [3, 4, 5, 6, 7]
    assert [state.is_event for state in states] == [False] * 4 + [True]


def test_times_are_nanoseconds_since_the_epoch(write_trace):
    init, send, *_, event = hdtrace.read_trace(write_trace(LINES))
    assert (init.time, init.end) == (100 * SECOND + 1, 100 * SECOND + 2)
    assert send.end - send.time == SECOND // 2
    assert event.time == event.end == 106 * SECOND


def test_attributes(write_trace):
    send = hdtrace.read_trace(write_trace(LINES))[1]
    assert list(send.attributes.items()) == [("size", "8"), ("toRank", "1")]
    assert send["toRank"] == "1"
    assert "toRank" in send and "time" not in send
    assert send.get("tid") is None
    assert send.get("tid", 5) == 5
    with pytest.raises(KeyError, match="tid"):
        send["tid"]


@pytest.mark.parametrize(
    "older, name",
    [
        ("file", "fid"),
        ("aid", "rid"),
        ("type", "tid"),
        ("comm", "cid"),
        ("root", "rootRank"),
        ("source", "fromRank"),
    ],
)
def test_older_spellings(write_trace, older, name):
    (state,) = hdtrace.read_trace(write_trace(f"<A {older}='4' time='1' end='2' ><For {older}='5' /></A>\n"))
    assert name in state and state[name] == state[older] == state.get(name) == "4"
    assert state.children[0][name] == "5"
    assert list(state.attributes) == [older]


def test_children_and_nested_states(write_trace):
    states = hdtrace.read_trace(write_trace(LINES))
    assert [(child.name, child.attributes) for child in states[2].children] == [("For", {"rid": "7"})]
    assert [inner.name for inner in states[3].nested] == ["Barrier"]
    assert states[3].nested[0].time == 104 * SECOND + SECOND // 10
    assert states[0].children == [] == states[0].nested


def test_parts_live_as_long_as_they_are_used(write_trace):
    barrier = hdtrace.read_trace(write_trace(LINES))[3].nested[0]
    gc.collect()
    assert barrier["cid"] == "0"


def test_states_compare_by_value(write_trace):
    path = write_trace(LINES)
    assert hdtrace.read_trace(path) == hdtrace.read_trace(path)
    assert hdtrace.read_trace(path)[0] != hdtrace.read_trace(path)[1]


def test_repr_is_short_and_tells_the_place(write_trace):
    assert repr(hdtrace.read_trace(write_trace(LINES))[1]) == "<Send size='8' toRank='1'> in line 4"


def test_facts_about_the_trace(write_trace):
    path = write_trace(LINES)
    with hdtrace.Trace(path) as trace:
        assert trace.path == str(path)
        assert trace.attributes == {"timeAdjustment": "100", "version": "1", "rank": "3", "thread": "1"}
        assert (trace.rank, trace.thread) == (3, 1)
        assert trace.time_adjustment == 100 * SECOND
        assert trace.complete is None
        assert len(list(trace)) == 5
        assert trace.complete is True
        assert trace.missing == ""


def test_rank_and_thread_from_the_name(write):
    trace = hdtrace.Trace(write("my_app_host_12_34.trc", "<Program>\n</Program>\n"))
    assert (trace.rank, trace.thread) == (12, 34)
    trace = hdtrace.Trace(write("solver.trc", "<Program>\n</Program>\n"))
    assert (trace.rank, trace.thread) == (None, None)


def test_a_trace_can_be_iterated_again(write_trace):
    trace = hdtrace.Trace(write_trace(LINES))
    first, second = iter(trace), iter(trace)
    assert next(first) == next(second)
    assert len(list(first)) == len(list(second)) == 4
    assert len(list(trace)) == 5


def test_no_iteration_after_the_end_of_the_context(write_trace):
    with hdtrace.Trace(write_trace(LINES)) as trace:
        pass
    with pytest.raises(ValueError, match="closed"):
        next(iter(trace))


def test_traces_hold_no_files_open(write_trace):
    path = write_trace(LINES)
    before = len(os.listdir("/proc/self/fd"))
    traces = [hdtrace.Trace(path) for _ in range(50)]
    for trace in traces:
        list(trace)
    assert len(os.listdir("/proc/self/fd")) == before


def test_cut_off_at_every_byte(write, write_trace):
    whole = write_trace(LINES).read_bytes()
    every_state = hdtrace.read_trace(write_trace(LINES))
    for size in range(len(whole)):
        trace = hdtrace.Trace(write("cut_host_0_0.trc", whole[:size]))
        states = list(trace)
        whole_lines = whole[:size].count(b"\n")
        assert states == every_state[: max(0, whole_lines - 2)], size
        assert trace.complete == (size >= whole.index(b"</Program>") + len("</Program>")), size
        assert bool(trace.missing) != trace.complete


def test_read_trace_wants_complete_traces(write):
    path = write("cut_host_0_0.trc", "<Program>\n<A time='1' end='2' />\n<B")
    with pytest.raises(hdtrace.ReadError) as error:
        hdtrace.read_trace(path)
    assert str(error.value) == f"{path}: the end of line 3 and </Program> is missing: the trace was cut off"
    assert [state.name for state in hdtrace.read_trace(path, allow_incomplete=True)] == ["A"]


def test_syntax_errors_name_their_place(write_trace):
    path = write_trace(LINES * 100 + "<A></B>\n")
    states = []
    with pytest.raises(hdtrace.ReadError) as error:
        for state in hdtrace.Trace(path):
            states.append(state)
    assert (error.value.file, error.value.line, error.value.column) == (str(path), 503, 8)
    assert str(error.value) == f"{path}:503:8: Opening and ending tag mismatch: A line 503 and B"
    assert len(states) > 450


def test_wrong_content_names_its_line(write_trace):
    path = write_trace("<A time='1' end='soon' />\n")
    with pytest.raises(hdtrace.ReadError, match="end='soon' is not a time") as error:
        hdtrace.read_trace(path)
    assert (error.value.line, error.value.column) == (3, 0)


def test_external_entities_are_refused(write):
    secret = write("secret.txt", "the secret")
    entity = f"<!DOCTYPE Program [<!ENTITY e SYSTEM '{secret}'>]>\n"
    path = write("a.trc", entity + "<Program>\n<A time='1' end='2' >&e;</A>\n</Program>\n")
    with pytest.raises(hdtrace.ReadError, match="DOCTYPE"):
        hdtrace.read_trace(path)


def test_growing_entities_are_refused(write):
    entities = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>\n" for i in range(1, 20))
    path = write("a.trc", f"<!DOCTYPE Program [<!ENTITY e0 'ha'>\n{entities}]>\n<Program a='&e19;'>\n</Program>\n")
    with pytest.raises(hdtrace.ReadError):
        hdtrace.read_trace(path)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        hdtrace.Trace(tmp_path / "none.trc")
    assert error.value.filename == str(tmp_path / "none.trc")
    with pytest.raises(IsADirectoryError):
        hdtrace.read_trace(tmp_path)


def test_file_names_may_be_any_bytes(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9_host_0_0.trc"
    with open(name, "wb") as file:
        file.write(b"<Program>\n<A />\n</Program>\n")
    with pytest.raises(hdtrace.ReadError) as error:
        hdtrace.read_trace(os.fsdecode(name))
    assert error.value.file == os.fsdecode(name)


def test_threads_read_at_the_same_time(write_trace):
    path = write_trace(LINES * 2000)
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(len(hdtrace.read_trace(path)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [10000] * 4


def test_memory_does_not_grow_with_the_trace(write_trace):
    path = write_trace(LINES * 40000)
    script = (
        "import hdtrace, resource, sys\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "assert sum(1 for state in hdtrace.Trace(sys.argv[1])) == 200000\n"
        "print(peak() - before)\n"
    )
    result = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 8 * 1024, f"{result.stdout} KiB for a trace of {path.stat().st_size} bytes"
