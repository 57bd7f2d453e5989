"""However a program ends, all calls that it has made are in its trace."""
import os
import resource
import signal
import time

import hdtrace
import pytest
from conftest import PRELUDE, unfinished, wait_for_trace
from support.calls import Call
from support.runs import SETTINGS, SOURCE
from support.sanitizers import HAS_ADDRESS_SANITIZER


@pytest.mark.parametrize("way", ["exit", "_exit", "_Exit", "quick_exit"])
def test_without_finalize(run, way):
    victim = run("die", way)
    assert (victim.returncode, victim.stderr) == (7, "")
    assert victim.names() == PRELUDE
    assert victim.ends() == {0: (len(PRELUDE), 0)}


@pytest.mark.parametrize("way", ["handler", "library", "quick_handler"])
def test_what_ends_mpi_when_the_program_ends(run, way):
    victim = run("late_end", way)
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names() == [*PRELUDE, "Barrier", "Finalize"]
    assert victim.ends() == {0: (len(PRELUDE) + 2, 0)}


@pytest.mark.skipif(SETTINGS["mpi"] != "MPICH", reason="Open MPI 4 has no sessions")
@pytest.mark.parametrize("for_check", ["0", "1"])
def test_a_session_outlives_finalize(run, for_check):
    victim = run("late_end", "session", env={"HDTRACE_FOR_CHECK": for_check})
    assert (victim.returncode, victim.stderr) == (0, "")
    names = victim.names()
    assert [name for name in names[names.index("Finalize"):] if "Group" not in name] == ["Finalize", "Bcast", "Comm_free", "Session_finalize"]
    assert list(victim.ends()) == [0]


@pytest.mark.filterwarnings("error::hdtrace.MergeWarning")
@pytest.mark.parametrize("for_check", ["0", "1"])
def test_an_end_without_a_word_behind_finalize_is_no_sudden_one(run, for_check):
    victim = run("late_end", "system_call", env={"HDTRACE_FOR_CHECK": for_check})
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names() == [*PRELUDE, "Finalize"]
    hdtrace.open(victim.trace_directory)


@pytest.mark.skipif(SETTINGS["mpi"] != "MPICH", reason="Open MPI 4 has no sessions")
def test_a_session_that_cannot_begin_is_the_last_call(run):
    victim = run("late_end", "bad_session")
    assert victim.returncode != 0
    assert unfinished("Session_init") in victim.trace()


@pytest.mark.parametrize("for_check", ["0", "1"])
def test_our_thread_ends_with_mpi(run, for_check):
    """Only a process with one thread may ask for some things, such as a user namespace of its own."""
    victim = run("late_end", "threads", env={"HDTRACE_FOR_CHECK": for_check})
    alone = run("late_end", "threads", traced=False)
    assert (victim.returncode, victim.stdout, victim.stderr) == (alone.returncode, alone.stdout, "")


@pytest.mark.parametrize("way", ["execl", "execlp", "execle", "execv", "execve", "execvp", "execvpe", "execveat"])
def test_another_program_takes_the_place(run, way):
    victim = run("die", way)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "one two\n", "")
    assert victim.names() == PRELUDE


def test_a_daemon_goes_on(run):
    """The process that was traced has ended."""
    victim = run("die", "daemon", env={"HDTRACE_FLUSH_SECONDS": "0"})
    assert (victim.returncode, victim.stderr) == (0, "")
    assert victim.names() == PRELUDE


def test_no_other_program_takes_the_place(run):
    victim = run("die", "exec_fails")
    assert victim.returncode == 7
    assert victim.names() == [*PRELUDE, "Bcast"]


# MPICH has handlers for SIGHUP and SIGUSR1.
SIGNALS = [signal.SIGINT, signal.SIGQUIT, signal.SIGUSR2, signal.SIGALRM, signal.SIGTERM, signal.SIGXCPU, signal.SIGVTALRM,
           signal.SIGRTMIN, signal.SIGRTMAX]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_that_is_sent(run, number):
    victim = run("die", int(number))
    assert (victim.returncode, victim.stderr) == (-number, "")
    assert victim.names() == PRELUDE
    assert victim.ends() == {}


# Nothing but the call that sends it can save the trace.
@pytest.mark.parametrize("way", ["raise", "kill"])
def test_a_signal_that_the_program_sends_itself(run, way):
    victim = run("die", way, env={"HDTRACE_FLUSH_SECONDS": "0"})
    assert (victim.returncode, victim.stderr) == (-signal.SIGKILL, "")
    assert victim.names() == PRELUDE


@pytest.mark.parametrize("way, number, flush_seconds", [
    ("tracer_saves", signal.SIGTERM, "1"), ("another_saves", signal.SIGTERM, "0"), ("interrupted", signal.SIGKILL, "0")])
def test_the_process_ends_however_long_a_write_takes(run, way, number, flush_seconds):
    victim = run("stuck", way, env={"HDTRACE_FLUSH_SECONDS": flush_seconds})
    assert (victim.returncode, victim.stderr) == (-number, "")


FAULTS = {"null": signal.SIGSEGV, "overflow": signal.SIGSEGV, "divide": signal.SIGFPE, "bus": signal.SIGBUS, "abort": signal.SIGABRT}


@pytest.mark.parametrize("way", FAULTS)
def test_a_fault(run, way):
    victim = run("die", way)
    alone = run("die", way, traced=False)
    assert victim.returncode == alone.returncode == -FAULTS[way]
    if not HAS_ADDRESS_SANITIZER:  # it shows how Open MPI's handler is called
        assert len(victim.stderr.splitlines()) == len(alone.stderr.splitlines()), "Open MPI says more than we do"
    assert victim.names() == PRELUDE


def test_a_stack_overflow_of_a_thread(run):
    victim = run("die", "overflow_in_thread")
    assert victim.returncode == -signal.SIGSEGV
    assert victim.names() == PRELUDE
    assert victim.names(thread=1) == ["Bcast"]


def test_an_exception(run):
    victim = run("terminate")
    assert victim.returncode == -signal.SIGABRT
    assert "nobody catches this" in victim.stderr
    assert victim.names() == PRELUDE


def test_a_core_is_dumped_as_without_us(start):
    def status(traced):
        victim = start("die", "null", traced=traced,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, 2 * [resource.getrlimit(resource.RLIMIT_CORE)[1]]))
        victim.process.stderr.read()
        return os.waitpid(victim.process.pid, 0)[1]

    assert status(traced=True) == status(traced=False)


def test_an_error_that_the_library_does_not_forgive(run):
    victim = run("die", "fatal")
    alone = run("die", "fatal", traced=False)
    assert victim.returncode == alone.returncode != 0
    assert victim.names() == [*PRELUDE, "Send"]
    assert unfinished("Send") in victim.trace()


def test_inside_a_call(run):
    victim = run("die", "in_a_call", env={"HDTRACE_ALL_FUNCTIONS": "2"})
    assert victim.returncode == -signal.SIGTERM
    assert victim.names() == [*PRELUDE, "Op_create", "Reduce_local"]
    assert unfinished("Reduce_local") in victim.trace()


def test_inside_nested_calls(run):
    """Calls that have ended inside one that has not are in it."""
    victim = run("die", "in_a_call", env={"HDTRACE_NESTED": "1", "HDTRACE_ALL_FUNCTIONS": "2"})
    assert victim.names() == [*PRELUDE, "Op_create", "Reduce_local"]
    assert [state.name for state in victim.trace().only(unfinished("Reduce_local")).nested] == ["Type_size"]


# What nobody can notice inside the process: it must be in the file before.
@pytest.mark.parametrize("way, line, last", [("compute", "computing", ["Bcast"]), ("wait", "waiting", ["Recv"])])
def test_killed(start, way, line, last):
    victim = start("die", way)
    victim.wait_for_line(line)
    wait_for_trace(victim, lambda text: f"<{last[0]} " in text and text.count("<Bcast") == 10)
    victim.process.kill()
    victim.wait()
    assert victim.returncode == -signal.SIGKILL
    assert victim.names()[:11] == PRELUDE
    assert victim.names()[-1:] == last
    assert (unfinished("Recv") in victim.trace()) == (way == "wait")


@pytest.mark.parametrize("compress, size", [("none", 200000), ("zstd", 20000), ("gzip", 20000)])
def test_killed_at_any_moment(start, compress, size):
    """Also in the middle of a write, which may leave half of it: what stands before the last lines or the last block is whole."""
    for delay in range(5):
        victim = start("die", "call", env={"HDTRACE_BUFFER_SIZE": "4K", "HDTRACE_COMPRESS": compress})
        victim.wait_for_line("calling")
        while victim.path().stat().st_size < size:
            time.sleep(0.001)
        time.sleep(delay / 997)
        victim.process.kill()
        victim.wait()
        names = [state.name for state in hdtrace.read_trace(victim.path(), allow_incomplete=True)]
        assert len(names) > 1000 and names == [PRELUDE[0], *(len(names) - 1) * ["Bcast"]]


def test_nothing_is_written_in_between_if_not_wanted(start):
    victim = start("die", "system_call", env={"HDTRACE_FLUSH_SECONDS": "0"})
    victim.wait()
    assert victim.returncode == 7
    assert len(victim.trace()) == 0


@pytest.mark.parametrize("way", ["abort", "fatal", "kill"])
def test_another_process_ends_the_run(start, way):
    victim = start("ranks", way, "trace/ranks", launcher=(SOURCE / "scripts/mpirun", "-n", "2"))
    victim.wait()
    # Hydra 4.2 sometimes says that all is well after a SIGKILL, with untraced programs, too.
    assert victim.returncode != 0 or (SETTINGS["mpi"], way) == ("MPICH", "kill")
    trace = victim.trace(rank=0)
    assert trace.names() == [*PRELUDE, "Recv"]
    assert unfinished("Recv") in trace
    assert victim.trace(rank=1).names()[:11] == PRELUDE
    assert way != "abort" or Call("Abort", errorcode=7) in victim.trace(rank=1)


def test_the_launcher_is_interrupted(start):
    victim = start("die", "wait", launcher=(SOURCE / "scripts/mpirun", "-n", "1"))
    victim.wait_for_line("waiting")
    wait_for_trace(victim, lambda text: "unfinished" in text)
    victim.process.terminate()
    victim.wait()
    assert victim.names() == [*PRELUDE, "Recv"]
