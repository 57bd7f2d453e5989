"""Threads that are busy, many, or all that is left when the program ends."""
import re
import resource
import signal
import sys

import hdtrace
import pytest
from conftest import PRELUDE, PROGRAMS, unfinished
from support.checks import read_info
from support.runs import LAUNCHER, WRAPPER, preload
from support.sanitizers import HAS_ADDRESS_SANITIZER


@pytest.mark.parametrize("way, returncode", [("exit", 7), ("abort", -signal.SIGABRT)])
def test_a_thread_is_inside_a_call(run, way, returncode):
    victim = run("threads", way, env={"HDTRACE_ALL_FUNCTIONS": "2"})
    assert victim.returncode == returncode
    assert victim.names() == PRELUDE
    assert victim.names(thread=1) == ["Op_create", "Reduce_local"]
    assert unfinished("Reduce_local") in victim.trace(thread=1)
    assert victim.ends() == ({0: (len(PRELUDE), 0), 1: (2, 0)} if way == "exit" else {})


@pytest.mark.parametrize("form", ["xml", "compact"])
def test_who_calls_while_another_thread_gets_the_signal(run, tmp_path, form):
    """All calls that returned are there, the last one perhaps as one that did not; and the signal ended the process."""
    for _ in range(3):
        victim = run("threads", "terminated", tmp_path / "returned", env={"HDTRACE_FORM": form})
        returned = int.from_bytes((tmp_path / "returned").read_bytes(), sys.byteorder)
        assert victim.returncode == -signal.SIGTERM
        assert victim.names().count("Bcast") >= PRELUDE.count("Bcast") + returned
        with hdtrace.open(victim.trace_directory) as project:
            assert [one.signal.name for one in project.pending(2**62).activities] == ["SIGTERM"]


def test_calls_behind_the_end_of_the_trace_are_not_left_out_by_rules(run):
    """As where the launcher is gone, and a thread of Open MPI ends the process while the program goes on calling."""
    victim = run("threads", "exit_busy")
    path, = victim.trace_directory.glob("*_0_0.info")
    ignored = [(values["name"], values["ignored"]) for kind, values in read_info(path) if kind == "Calls" and values["ignored"] != "0"]
    assert ignored == []


def test_many_threads(run):
    victim = run("threads", "many")
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names() == [*PRELUDE, "Finalize"]
    assert all(victim.names(thread) == 3 * ["Bcast"] for thread in range(1, 201))
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), **{thread: (3, 0) for thread in range(1, 201)}}


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="its functions need larger stacks")
@pytest.mark.parametrize("compress", ["none", "gzip", "zstd"])
def test_a_thread_with_the_smallest_stack(run, compress):
    victim = run("threads", "small_stack", env={"HDTRACE_COMPRESS": compress})
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names(thread=1) == ["Bcast"]


def test_no_key_is_left_for_the_ends_of_threads(run):
    """They are told when the process ends, and no other key is used in its place."""
    victim = run("threads", "no_keys", env=preload(PROGRAMS / "no_keys.so"))
    assert victim.returncode == 0
    (line,) = victim.stderr.splitlines()
    assert line.startswith("hdtrace: the program has used up all keys")
    assert victim.names(thread=1) == ["Bcast"]
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), 1: (1, 0)}


def test_more_threads_than_descriptors(run):
    """The program gets those that it wants, and the trace is complete."""
    victim = run("threads", "few_files")
    assert (victim.returncode, victim.stderr) == (0, "")
    assert all(victim.names(thread) == 3 * ["Bcast"] for thread in range(1, 201))


def test_our_thread_is_never_the_last(run):
    victim = run("last_thread", traced=False)
    assert (victim.returncode, victim.stderr) == (0, "")


def test_a_thousand_threads_at_once(run):
    """With the usual limit on descriptors."""
    victim = run("threads", "thousand", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), **{thread: (3, 0) for thread in range(1, 1001)}}
    assert all(victim.names(thread) == 3 * ["Bcast"] for thread in range(1, 1001, 97))


def test_ten_thousand_threads(run):
    """One after the other. Each leaves its files and nothing else."""
    victim = run("threads", "ten_thousand")
    assert (victim.returncode, victim.stderr) == (0, "")
    descriptors, memory = re.fullmatch(r"descriptors (-?\d+)\ngrew (-?\d+)\n", victim.stdout).groups()
    assert int(descriptors) <= 0
    assert int(memory) <= 512 or HAS_ADDRESS_SANITIZER  # which keeps what was freed for a while
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), **{thread: (1, 0) for thread in range(1, 10001)}}
    assert all(victim.names(thread) == ["Bcast"] for thread in range(1, 10001, 997))


def test_ten_thousand_threads_with_one_number(run):
    """Nothing grows with their count but the trace that they share."""
    victim = run("threads", "ten_thousand", env={"HDTRACE_REUSE_THREADS": "1"})
    assert (victim.returncode, victim.stderr) == (0, "")
    descriptors, memory = re.fullmatch(r"descriptors (-?\d+)\ngrew (-?\d+)\n", victim.stdout).groups()
    assert int(descriptors) <= 0
    assert int(memory) <= 512 or HAS_ADDRESS_SANITIZER
    assert len(list(victim.trace_directory.iterdir())) == 3
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), 1: (10000, 0)}
    assert victim.names(1) == 10000 * ["Bcast"]


def test_a_killed_program_keeps_what_ended_threads_did(run):
    victim = run("threads", "killed_after", env={"HDTRACE_REUSE_THREADS": "1", "HDTRACE_FLUSH_SECONDS": "0"})
    assert victim.returncode == -signal.SIGKILL
    assert victim.names(1) == 3 * ["Bcast"]


def test_a_thread_that_ends_inside_a_call_leaves_its_number_to_others(run):
    """The call is unfinished, and what follows stands behind it."""
    victim = run("threads", "ends_inside", env={"HDTRACE_REUSE_THREADS": "1", "HDTRACE_ALL_FUNCTIONS": "2"})
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names(1) == ["Op_create", "Reduce_local", "Bcast"]
    assert [state.name for state in victim.trace(thread=1) if state.get("unfinished")] == ["Reduce_local"]


@pytest.mark.parametrize("launcher", [(), (LAUNCHER, "/bin/sh", "-c", 'exec "$@"', "sh")], ids=["known", "chosen"])
def test_the_first_call_while_another_thread_loads_a_library_that_calls_mpi(run, launcher):
    """The MPI library is known from the program's file, or only from its first call."""
    victim = run("loading", "init", PROGRAMS / "loading.so", traced=not launcher, launcher=launcher)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "loaded\n", "")
    assert victim.names(program="loading")[-1] == "Finalize"


def test_functions_are_entered_while_another_thread_loads_a_library(run):
    victim = run("loading", "function", PROGRAMS / "loading.so", env=preload(WRAPPER.with_name("libhdtrace-functions.so")))
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "loaded\n", "")
    assert "enter_function" in [state["name"] for state in victim.trace() if state.is_event]


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="it has a heap of its own")
def test_functions_of_the_heap_are_entered(run):
    """So nobody may ask it for memory. A handler interrupts it, too."""
    victim = run("own_heap", env=preload(WRAPPER.with_name("libhdtrace-functions.so")))
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert {"malloc", "enter_heap", "search_heap", "_ZN8handlers4lookEi"} <= {state["name"] for state in victim.trace() if state.is_event}
