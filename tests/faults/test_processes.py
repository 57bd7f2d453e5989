"""Processes and libraries beside the traced program."""
import pytest
from conftest import LIBRARY, PRELUDE, PROGRAMS
from support.runs import WRAPPER

WAYS = ["fork_exit", "fork__exit", "fork_signal", "fork_exec", "vfork__exit", "vfork_exec", "vfork_exec_fails", "vfork_signal",
        "spawn", "popen", "system"]


@pytest.mark.parametrize("way", WAYS)
def test_children_leave_the_trace_alone(run, way):
    victim = run("children", way)
    assert (victim.returncode, victim.stdout) == (0, "finished\n"), victim.stderr
    assert victim.names() == [*PRELUDE, "Bcast", "Finalize"]
    assert victim.ends() == {0: (len(PRELUDE) + 2, 0)}
    assert len(list(victim.trace_directory.iterdir())) == 2


def test_a_program_without_mpi_leaves_no_files(run):
    victim = run("no_init")
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "0 0\n", "")
    assert not victim.trace_directory.exists()


TOOL = str(PROGRAMS / "tool.so")


def check_beside_tool(victim, calls_seen):
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, f"the tool saw {calls_seen}\n", "")
    assert victim.names() == [*PRELUDE, "Finalize"]


def test_a_tool_is_preloaded(run):
    check_beside_tool(run("calls", env={"LD_PRELOAD": TOOL}), 10)


def test_a_tool_is_in_the_program(run):
    check_beside_tool(run("with_tool"), 10)


def test_a_tool_is_preloaded_behind_us(run):
    """Against what hdtrace-run does: it sees nothing, as it would behind any other tool."""
    victim = run("calls", traced=False, env={"LD_PRELOAD": f"{WRAPPER}:{TOOL}"})
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "", "")
    assert victim.names() == [*PRELUDE, "Finalize"]


def test_a_library_that_is_loaded_privately(run):
    victim = run("open_library", LIBRARY)
    alone = run("open_library", LIBRARY, traced=False)
    assert (victim.returncode, victim.stdout, victim.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert victim.stdout == "init 0\nfinalize 0\n"
