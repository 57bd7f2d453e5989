"""The program's own signal handlers work as they do without us."""
import signal

import pytest
from conftest import PRELUDE


@pytest.mark.parametrize("way, calls", [("returns", 1), ("recovers", 3), ("ignores", 1)])
def test_the_program_goes_on(run, way, calls):
    victim = run("handle", way)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
    assert victim.names() == [*PRELUDE, *calls * ["Bcast"], "Finalize"]


def test_a_handler_for_one_time(run):
    victim = run("handle", "once")
    assert victim.returncode == -signal.SIGUSR2
    assert victim.names() == PRELUDE


def test_a_handler_that_is_installed_later(run):
    victim = run("handle", "later")
    assert victim.returncode == 5
    assert victim.names() == PRELUDE
