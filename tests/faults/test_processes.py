"""Processes and libraries beside the traced program."""
import subprocess
import sys

import pytest
from conftest import LIBRARY, PRELUDE, PROGRAMS, wait_for_trace
from support.runs import LAUNCHER, MERGER, NO_TRACE, SOURCE, WRAPPER, merge, need_several_programs, only_with, preload

WAYS = ["fork_exit", "fork__exit", "fork_signal", "fork_exec", "vfork__exit", "vfork_exec", "vfork_exec_fails", "vfork_signal",
        "spawn", "popen", "system"]


@pytest.mark.parametrize("way", WAYS)
def test_children_leave_the_trace_alone(run, way):
    victim = run("children", way)
    assert (victim.returncode, victim.stdout) == (0, "finished\n"), victim.stderr
    assert victim.names() == [*PRELUDE, "Bcast", "Finalize"]
    assert victim.ends() == {0: (len(PRELUDE) + 2, 0)}
    assert len(list(victim.trace_directory.iterdir())) == 2


@pytest.mark.skipif(subprocess.run(["unshare", "-u", "true"], capture_output=True).returncode != 0, reason="names of hosts cannot be simulated here")
def test_a_host_without_a_name(run):
    take_the_name_away = "import os, socket, sys; socket.sethostname(''); os.execvp(sys.argv[1], sys.argv[1:])"
    victim = run("calls", launcher=["unshare", "-u", sys.executable, "-c", take_the_name_away])
    assert (victim.returncode, victim.path().name.split("_")[1]) == (0, "localhost")


def test_a_child_becomes_another_mpi_program(run):
    """It runs by itself, beside its parent, and is traced only if that is wanted."""
    for follow in "01":
        victim = run("children", "fork_exec_mpi", PROGRAMS / "with_tool", env={"HDTRACE_FOLLOW": follow})
        assert (victim.returncode, victim.stdout, victim.stderr) == (0, "the tool saw 10\nfinished\n", "")
        assert names_of_programs(victim) == ({"children"} if follow == "0" else {"children", "with-tool"})
        assert victim.names(program="children") == [*PRELUDE, "Bcast", "Finalize"]
        assert follow == "0" or victim.names(program="with-tool") == [*PRELUDE, "Finalize"]


def check_other_name(victim, name):
    """The one warning says where the trace is."""
    (line,) = victim.stderr.splitlines()
    begin = f"hdtrace: a program of the same name, host and rank is still running; the files of this one are {victim.trace_directory}/"
    assert line.startswith(begin + name + "_") and line.endswith("_*")


@pytest.mark.parametrize("way, output, calls", [
    ("fork_exec_mpi", "the tool saw 10\nfinished\n", ["Bcast", "Finalize"]), ("exec_mpi", "the tool saw 10\n", ["Bcast"])])
def test_another_program_of_the_same_name(run, way, output, calls):
    victim = run("children", way, PROGRAMS / "with_tool", env={"HDTRACE_FOLLOW": "1", "HDTRACE_NAME": "same"})
    assert (victim.returncode, victim.stdout) == (0, output)
    check_other_name(victim, "same-2")
    assert victim.names(program="same") == [*PRELUDE, *calls]
    assert victim.names(program="same-2") == [*PRELUDE, "Finalize"]


def test_a_program_runs_twice_at_once(start, tmp_path):
    """In one directory. A name is free again when its process has ended, however."""
    def begin(*args):
        victim = start(*args, env={"HDTRACE_DIRECTORY": str(tmp_path / "traces")})
        victim.trace_directory = tmp_path / "traces"
        return victim

    first = begin("die", "wait")
    first.wait_for_line("waiting")
    second = begin("die", "exit").wait()
    check_other_name(second, "die-2")
    assert second.names(program="die-2") == PRELUDE
    wait_for_trace(first, lambda text: "Recv" in text, program="die")
    first.process.kill()
    first.wait()
    assert first.names(program="die") == [*PRELUDE, "Recv"]
    third = begin("die", "exit").wait()
    assert third.stderr == ""
    assert third.names(program="die") == PRELUDE


def test_two_runs_at_once(start, tmp_path):
    """All processes of the second one agree on the name."""
    def begin(*args, **env):
        victim = start(*args, env={"HDTRACE_DIRECTORY": str(tmp_path / "traces"), **env}, launcher=(SOURCE / "scripts/mpirun", "-n", "2"))
        victim.trace_directory = tmp_path / "traces"
        return victim

    first = begin("die", "wait")
    assert [first.process.stdout.readline() for _ in range(2)] == 2 * ["waiting\n"]
    second = begin("calls", HDTRACE_NAME="die").wait()
    assert second.returncode == 0 and len(second.stderr.splitlines()) == 2
    assert merge(second.trace_directory / "die-2.proj", *second.trace_directory.glob("die-2_*.info")) == []
    for rank in range(2):
        assert second.trace(rank, program="die-2").names() == [*PRELUDE, "Finalize"]
        assert first.trace(rank, program="die").names()[-1:] != ["Finalize"]


def test_a_mixture_of_runs(start):
    """Half of the files are of one run, half of another of as many processes."""
    first, second = (start("calls", launcher=(SOURCE / "scripts/mpirun", "-n", "2", "sh", "-c", '"$@"; exit', "sh")).wait() for _ in range(2))
    mixture = [next(victim.trace_directory.glob(f"*_{rank}_0.info")) for rank, victim in enumerate([first, second])]
    result = subprocess.run([MERGER, "-o", first.trace_directory / "mixed.proj", *mixture], capture_output=True, text=True)
    assert result.returncode == 1 and "the inputs are of 2 runs: " in result.stderr
    for victim in (first, second):
        assert merge(victim.trace_directory / "calls.proj", *victim.trace_directory.glob("*.info")) == []


def names_of_programs(victim):
    return {path.name.split("_")[0] for path in victim.trace_directory.iterdir()}


def test_two_programs_in_one_run(start):
    """mpirun -n 1 calls : -n 1 with_tool"""
    need_several_programs()
    env = {"HDTRACE_NAME": "both"}
    second = (":", "-n", "1", LAUNCHER, PROGRAMS / "with_tool")
    victim = start("calls", *second, launcher=(SOURCE / "scripts/mpirun", "-n", "1"), env=env).wait()
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "the tool saw 10\n", "")
    for rank in range(2):
        assert victim.trace(rank).names() == [*PRELUDE, "Finalize"]
    assert merge(victim.trace_directory / "both.proj", *victim.trace_directory.glob("*.info")) == []


PYTHON_PROGRAM = """
from mpi4py import MPI
import multiprocessing, os, subprocess
MPI.COMM_WORLD.Barrier()
fork = multiprocessing.get_context("fork")
with fork.Pool(2) as pool:
    assert pool.map(abs, range(-100, 0)) == list(range(100, 0, -1))
child = fork.Process(target=os._exit, args=(3,))
child.start()
MPI.COMM_WORLD.Barrier()
child.join()
assert child.exitcode == 3
assert subprocess.run(["sh", "-c", "exit 4"]).returncode == 4
assert b"HDTrace" not in subprocess.run("echo $LD_PRELOAD", shell=True, capture_output=True, preexec_fn=os.getpid).stdout
assert os.popen("echo hello").read() == "hello\\n" and os.system("exit 5") == 5 << 8
MPI.COMM_WORLD.Barrier()
print("finished")
"""


@only_with("Open MPI")  # Debian's mpi4py is made for it
def test_processes_from_python(run):
    victim = run("/usr/bin/python3", "-c", PYTHON_PROGRAM)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert [name for name in victim.names() if name in ("Barrier", "Finalize")] == ["Barrier", "Barrier", "Barrier", "Finalize"]
    assert len(victim.ends()) == 1 and len(list(victim.trace_directory.iterdir())) == 2


def test_a_program_without_mpi_leaves_no_files(run):
    victim = run("no_init")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "0 0\n", f"hdtrace: no_init {NO_TRACE}")
    assert not victim.trace_directory.exists()


def test_a_parent_waits_for_the_child_that_uses_mpi(run):
    victim = run("no_init", "fork")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "", "")
    assert victim.names() == [*PRELUDE, "Finalize"]


TOOL = PROGRAMS / "tool.so"


def check_beside_tool(victim, calls_seen):
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, f"the tool saw {calls_seen}\n", "")
    assert victim.names() == [*PRELUDE, "Finalize"]


def test_a_tool_is_preloaded(run):
    check_beside_tool(run("calls", env=preload(TOOL)), 10)


def test_a_tool_is_in_the_program(run):
    check_beside_tool(run("with_tool"), 10)


def test_a_tool_is_preloaded_behind_us(run):
    """Against what hdtrace-run does: it sees nothing, as it would behind any other tool."""
    victim = run("calls", traced=False, env=preload(WRAPPER, TOOL))
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "", "")
    assert victim.names() == [*PRELUDE, "Finalize"]


def test_a_tool_is_a_library_of_the_program(run):
    """It comes behind us, unless it is preloaded as well."""
    assert run("with_tool_library", traced=False).stdout == "the tool saw 10\n"
    check_beside_tool(run("with_tool_library", env=preload(PROGRAMS / "libtool.so")), 10)
    unseen = run("with_tool_library")
    assert (unseen.returncode, unseen.stdout, unseen.stderr) == (0, "", "")
    assert unseen.names() == [*PRELUDE, "Finalize"]


def test_a_library_that_is_loaded_privately(run):
    victim = run("open_library", LIBRARY)
    alone = run("open_library", LIBRARY, traced=False)
    assert (victim.returncode, victim.stdout, victim.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert victim.stdout == "init 0\nfinalize 0\n"
    assert victim.names() == ["Init", "Finalize"]
