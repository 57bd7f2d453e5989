"""The program's own signal handlers work as they do without us."""
import signal

import pytest
from conftest import PRELUDE, wait_for_trace
from support.checks import read_info


@pytest.mark.parametrize("way, calls", [("returns", 1), ("recovers", 3), ("ignores", 1), ("changes", 1), ("value", 1)])
def test_the_program_goes_on(run, way, calls):
    victim = run("handle", way)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert victim.names() == [*PRELUDE, *calls * ["Bcast"], "Finalize"]


def names_with_events(victim):
    return [state["name"] if state.is_event else state.name for state in victim.trace()]


def test_a_handler_leaves_an_event(run):
    """What it left is lost, and what follows is recorded."""
    victim = run("handle", "leaves_event")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert names_with_events(victim) == [*PRELUDE, "mark", "Bcast", "Finalize"]


@pytest.mark.parametrize("form", ["xml", "compact"])
def test_handlers_leave_events_at_any_place(run, form):
    victim = run("handle", "leaves_events", env={"HDTRACE_FORM": form})
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    names = names_with_events(victim)
    assert names[:len(PRELUDE)] == PRELUDE and names[-2:] == ["Bcast", "Finalize"]
    assert set(names[len(PRELUDE):-2]) == {"mark"} and names.count("mark") > 1000


def test_a_handler_on_the_stack_for_handlers_has_as_much_as_a_thread(run):
    victim = run("handle", "needs_much")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert victim.names(thread=1) == ["Bcast"]


def test_what_ends_others_or_nobody_is_no_end_of_the_process(run):
    victim = run("handle", "harmless")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    (info,) = victim.trace_directory.glob("*.info")
    assert "Signal" not in [kind for kind, _ in read_info(info)]


def test_handlers_of_timers_cost_nothing(run):
    """Profilers have a thousand in a second: they save nothing, which a system call that ends the process shows."""
    victim = run("handle", "timer", env={"HDTRACE_FLUSH_SECONDS": "0"})
    assert (victim.returncode, len(victim.trace())) == (0, 0)


@pytest.mark.parametrize("way, faults", [("guards", 1), ("guards_on_stack", 1), ("guards_often", 1000), ("guards_often_on_stack", 1000)])
def test_a_fault_behind_others_that_were_survived(run, way, faults):
    """All calls are there, and few of the many faults have cost a write, which the program looks at."""
    victim = run("handle", way, env={"HDTRACE_FLUSH_SECONDS": "0"})
    assert (victim.returncode, victim.stderr) == (-signal.SIGSEGV, "")
    assert victim.names() == [*PRELUDE, *(faults + 7) * ["Bcast"]]
    (info,) = victim.trace_directory.glob("*.info")
    first, last = [float(values["time"]) for kind, values in read_info(info) if kind == "Signal"]
    ends = [state.end for state in victim.trace()]
    assert last - first > (ends[-1] - ends[len(PRELUDE)]) / 1e9, "all calls behind the first fault lie between the two that are told"


def test_a_handler_for_one_time(run):
    victim = run("handle", "once")
    assert victim.returncode == -signal.SIGUSR2
    assert victim.names() == PRELUDE


def test_a_handler_that_is_installed_later(run):
    victim = run("handle", "later")
    assert victim.returncode == 5
    assert victim.names() == PRELUDE


@pytest.mark.parametrize("way", ["sends_again", "sends_again_once"])
def test_a_later_handler_sends_the_signal_again(run, way):
    victim = run("handle", way, env={"HDTRACE_FLUSH_SECONDS": "0"})
    assert (victim.returncode, victim.stderr) == (-signal.SIGTERM, "")
    assert victim.names() == PRELUDE


def test_nothing_handles_the_signal_any_more(start):
    """What was there a second before is saved."""
    victim = start("handle", "default")
    victim.wait_for_line("default")
    wait_for_trace(victim, lambda text: text.count("<Bcast") == 10)
    victim.process.terminate()
    victim.wait()
    assert victim.returncode == -signal.SIGTERM
    assert victim.names() == PRELUDE
