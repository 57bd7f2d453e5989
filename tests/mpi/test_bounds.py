"""Traces of bounded size: the beginning of what a program did, or the end."""
import re
import signal
import subprocess
from collections import Counter

import hdtrace
import pytest
from support.runs import BUILD, TIMEOUT, run_with_tracer

ROUNDS = 4000  # of many_calls: 2 MB of trace
LIMIT, BUFFER = 1 << 20, 32 << 10


def opened(run, text):
    with pytest.warns(hdtrace.MergeWarning, match=text):
        return hdtrace.open(run.trace_directory)


def findings(project):
    checker = project.checker()
    while not checker.at_end:
        yield from checker.read(1000)


def size_of(run, rank):
    return sum(path.stat().st_size for path in run.trace_directory.glob(f"*_{rank}_*.trc*"))


# ---- the beginning ----

@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    env = {"HDTRACE_LIMIT": str(LIMIT), "HDTRACE_BUFFER_SIZE": str(BUFFER)}
    return run_with_tracer("many_calls", 2, tmp_path_factory.mktemp("limit"), env, args=(0, ROUNDS), leaves_out=True)


def test_the_beginning_is_kept_up_to_the_limit(limited):
    for rank, trace in enumerate(limited):
        assert LIMIT <= size_of(limited, rank) <= LIMIT + 2 * BUFFER, "what was in the buffer is written, too"
        assert trace.names()[0] == "Init" and "Finalize" not in trace.names()


def test_the_trace_says_where_it_ends(limited):
    project = opened(limited, "the recording of 2 processes ended when the traces had the size that is the limit, 1048576 bytes; [0-9,]+ calls are left out")
    calls = project.run.calls["Sendrecv"]
    assert calls.ignored > ROUNDS and calls.recorded + calls.ignored == 2 * ROUNDS
    assert not list(findings(project)), "what came later may have received the messages"


def test_a_limit_holds_for_a_process_that_is_killed(tmp_path):
    env = {"HDTRACE_LIMIT": str(LIMIT), "HDTRACE_BUFFER_SIZE": str(BUFFER)}
    run = run_with_tracer("many_calls", 1, tmp_path, env, args=(int(signal.SIGKILL), ROUNDS), complete=False, leaves_out=True)
    assert LIMIT <= size_of(run, 0) <= LIMIT + 2 * BUFFER
    assert [finding.kind for finding in findings(opened(run, "ended when the traces had the size"))] == ["killed-by-signal"]


# ---- the end ----

KEPT = 2 << 20
MANY_ROUNDS = 3 * ROUNDS


def kept(folder, ranks, last="2M", sent=0, rounds=MANY_ROUNDS, **env):
    env = {"HDTRACE_KEEP_LAST": last, **env}
    return run_with_tracer("many_calls", ranks, folder, env, args=(sent, rounds), complete=False, leaves_out=True)


def check_end(trace, rounds):
    """All calls from somewhere on, without a gap."""
    tags = [int(call["fromTag"]) for call in trace if call.name == "Irecv"]
    assert tags == [tag % 100 for tag in range(rounds - len(tags), rounds)]
    assert len(tags) > 1000 and trace.names()[0] != "Init"


@pytest.fixture(scope="module")
def windowed(tmp_path_factory):
    run = kept(tmp_path_factory.mktemp("keep-last"), 2)
    assert (run.returncode, run.stderr) == (0, "")
    return run


def test_the_end_is_kept_in_files_of_that_size(windowed):
    for rank, trace in enumerate(windowed):
        assert KEPT * 3 // 5 < size_of(windowed, rank) <= KEPT
        assert trace.names()[-1] == "Finalize"
        check_end(trace, MANY_ROUNDS)


def test_each_segment_is_a_trace(windowed):
    for path in windowed.paths:
        parts = [hdtrace.Trace(file) for file in path.parent.glob(path.name + ".*")]
        assert len(parts) == 3 and all(part.attributes["thread"] == "0" for part in parts)
        assert sorted(len(list(part)) for part in parts)[1] > 1000, "the newest one may have begun just now"
        whole = hdtrace.Trace(path)
        before = int(whole.attributes["before"])
        assert before == min(int(part.attributes["before"]) for part in [*parts, whole])
        (told,) = re.findall(r"^End thread=0 states=(\d+)", path.with_suffix(".info").read_text(), re.M)
        states = list(whole)
        assert before + len(states) == int(told)
        lines = [state.line for state in states]
        assert lines == sorted(set(lines)), "counted through all files"


def test_tools_say_that_the_beginning_is_missing(windowed):
    project = opened(windowed, "of 2 processes only the last 2M are kept")
    assert not list(findings(project)), "what is not there may have been the other side"
    statistics = project.calls().statistics()
    while statistics.read(100_000):
        pass
    assert statistics.totals.calls == sum(len(trace.states) for trace in windowed)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    return run_with_tracer("uneven_calls", 2, tmp_path_factory.mktemp("uneven"), {"HDTRACE_KEEP_LAST": "2M"}, args=(MANY_ROUNDS,), complete=False, leaves_out=True)


def test_messages_of_the_end_are_those_that_belong_together(uneven):
    project = opened(uneven, "of 2 processes only the last 2M are kept")
    messages = [message for message in project.messages() if message.send and message.receive]
    sent = [message.send.bytes for message in messages]
    assert len(sent) > 500 and sent == [message.receive.bytes for message in messages]
    assert max(message.receive.line for message in messages) > MANY_ROUNDS, "the last ones are among them"
    assert all(message.send.start <= message.receive.end for message in messages)


def test_collective_operations_of_the_end_are_those_that_belong_together(uneven):
    project = opened(uneven, "of 2 processes only the last 2M are kept")
    operations = [operation for operation in project.collectives() if len(operation.calls) > 1]
    assert len(operations) > 500
    for operation in operations:
        one, other = operation.calls
        assert one.bytes == other.bytes and one.start <= other.end and other.start <= one.end + 100_000_000


@pytest.mark.parametrize("form", ["tit", "otf2"])
def test_the_end_is_converted(windowed, tmp_path, form):
    assert windowed.project.process_count == 2
    command = [BUILD / "bin/hdtrace-convert", "--to", form, "-o", tmp_path / "out", *windowed.trace_directory.glob("*.proj")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and "of 2 processes only the last 2M are kept" in result.stdout, result


def test_what_lacks_its_other_end_is_not_replayed(uneven, tmp_path):
    assert uneven.project.process_count == 2
    command = [BUILD / "bin/hdtrace-convert", "--to", "tit", "-o", tmp_path / "out", *uneven.trace_directory.glob("*.proj")]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
    counts = [Counter(line.split()[1] for line in (tmp_path / f"out/rank-{rank}.txt").read_text().splitlines()) for rank in range(2)]
    assert counts[0]["send"] == counts[1]["recv"] > 500 and counts[0]["bcast"] == counts[1]["bcast"] > 500


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT], ids=lambda number: number.name)
def test_the_last_calls_before_a_death_are_whole(tmp_path, number):
    run = kept(tmp_path, 1, sent=int(number))
    assert size_of(run, 0) <= KEPT
    check_end(run.traces[0], MANY_ROUNDS)
    assert run.traces[0].names()[-1] == "Iprobe"


def test_a_time_is_kept(tmp_path):
    rounds = 20 * MANY_ROUNDS  # longer than that time on any machine
    run = kept(tmp_path, 1, last="30ms", rounds=rounds)
    (trace,) = run
    check_end(trace, rounds)
    assert trace.states[-1].end - trace.states[0].end >= 30_000_000
    assert len(list(run.trace_directory.glob("*.trc.*"))) == 3
