"""Processes and libraries beside the traced program."""
import pytest
from conftest import LIBRARY, PRELUDE, PROGRAMS

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


def test_another_tool_comes_first(run):
    """It is preloaded by the program's user, ours before it."""
    victim = run("die", "exit", env={"LD_PRELOAD": str(PROGRAMS / "tool.so")})
    assert victim.returncode == 7
    assert victim.names() == PRELUDE


def test_a_library_that_is_loaded_privately(run):
    victim = run("open_library", LIBRARY)
    alone = run("open_library", LIBRARY, traced=False)
    assert (victim.returncode, victim.stdout, victim.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert victim.stdout == "init 0\nfinalize 0\n"
