"""Counters of the system in programs that die, have many threads or start others."""
import re
import resource
import signal

import pytest
from conftest import PRELUDE
from support.calls import Call
from support.sanitizers import HAS_ADDRESS_SANITIZER

ALL = {"HDTRACE_COUNTERS": "*_time,page-faults,task-clock,resident,cpu_*", "HDTRACE_COUNTER_DELAY": "0"}
NAMES = {"user_time", "system_time", "cpu_time", "page-faults", "task-clock"}


def counted(victim, thread):
    return {event["name"] for event in victim.trace(thread=thread).find(Call("Event", kind="count"))}


def calls(victim, thread=0):
    return [name for name in victim.names(thread) if name != "Event"]


def test_a_thousand_threads_at_once(run):
    """Where descriptors are scarce, those of perf are left out, once and for all to see."""
    victim = run("threads", "thousand", env=ALL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
    assert victim.returncode == 0
    assert re.fullmatch(r"hdtrace: there are not enough descriptors for the counters of perf .*\n", victim.stderr), victim.stderr
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), 1: (0, 0), **{thread: (3, 0) for thread in range(2, 1002)}}
    for thread in range(2, 1002, 97):
        assert calls(victim, thread) == 3 * ["Bcast"]
        assert {"user_time", "system_time", "cpu_time"} <= counted(victim, thread) <= NAMES


def test_the_program_has_its_descriptors(run):
    victim = run("threads", "few_files", env=ALL)
    assert victim.returncode == 0, victim.stderr
    assert calls(victim, 200) == 3 * ["Bcast"]


@pytest.mark.parametrize("reuse", ["0", "1"])
def test_ten_thousand_threads(run, reuse):
    """Nothing is left of them but their files."""
    victim = run("threads", "ten_thousand", env={**ALL, "HDTRACE_REUSE_THREADS": reuse})
    assert (victim.returncode, victim.stderr) == (0, "")
    descriptors, memory = re.fullmatch(r"descriptors (-?\d+)\ngrew (-?\d+)\n", victim.stdout).groups()
    assert int(descriptors) <= 0
    assert int(memory) <= 512 or HAS_ADDRESS_SANITIZER
    assert victim.ends()[0] == (len(PRELUDE) + 1, 0)
    assert counted(victim, 2) == NAMES


def test_killed_beside_ended_threads(run):
    victim = run("threads", "killed_after", env={**ALL, "HDTRACE_FLUSH_SECONDS": "0"})
    assert victim.returncode == -signal.SIGKILL
    assert calls(victim, 2) == ["Bcast"] and counted(victim, 2) == NAMES
    assert "resident" in counted(victim, 1)


@pytest.mark.parametrize("way", ["fork_exit", "fork__exit", "fork_signal", "fork_exec", "vfork__exit", "vfork_exec", "spawn", "popen"])
def test_children_count_nothing(run, way):
    victim = run("children", way, env=ALL)
    assert (victim.returncode, victim.stdout) == (0, "finished\n"), victim.stderr
    assert calls(victim) == [*PRELUDE, "Bcast", "Finalize"]
    assert victim.ends() == {0: (len(PRELUDE) + 2, 0), 1: (0, 0)}


def test_processor_time_when_calls_are_left(run):
    """A call that longjmp() has left has none, and those around it have theirs."""
    victim = run("leave", "jump", env={"HDTRACE_CPU_TIME": "1"})
    for state in victim.trace():
        assert ("cpu" in state.attributes) == (state.get("unfinished") is None), state
