"""A scheduler of the program's suspends what is inside an MPI call, lets something else go on or takes it to another thread:
calls end in another order, or in another thread, than they began. Later ones are not inside them."""
import pytest
from support.sanitizers import HAS_ADDRESS_SANITIZER
from test_left_calls import BCASTS, FLAT, NESTED, shape

FORMS = {"flat": FLAT, "nested": NESTED, "sums": {"HDTRACE_STATISTICS_ONLY": "1"}, "check": {"HDTRACE_FOR_CHECK": "1"},
         "reused": {"HDTRACE_REUSE_THREADS": "1"}}
REST = ["Sendrecv", "Comm_free"]  # of a round, behind the call that was suspended
pytestmark = pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="AddressSanitizer warns of other stacks")


@pytest.fixture
def take_turns(run):
    """take_turns(way, env) -> the program, which ran as without us."""
    def run_well(way, env):
        victim = run("turns", way, env=env)
        assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
        return victim
    return run_well


def shapes(victim, count):
    """Of the threads but the first."""
    return [shape(victim.trace(thread=1 + i)) for i in range(count)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", ["overlap", "ended_threads", "waits", "two_threads"])
def test_calls_are_suspended(take_turns, way, form):
    take_turns(way, FORMS[form])


INSIDE = {"flat": ([], ["Comm_free"]), "nested": (["Comm_dup?"], [*REST, "Comm_dup?"])}


@pytest.mark.parametrize("form", INSIDE)
def test_calls_end_in_another_order(take_turns, form):
    """What others do meanwhile is inside."""
    first, later = [("Comm_dup", inside) if inside else "Comm_dup" for inside in INSIDE[form]]
    states = shape(take_turns("overlap", FORMS[form]).trace())
    assert states[states.index("Comm_set_attr") + 1:] == [first, *REST, later, *REST, later, *REST, *REST, *BCASTS, "Finalize"]


@pytest.mark.parametrize("form", ["flat", "nested", "check"])
def test_calls_end_in_another_thread(take_turns, form):
    victim = take_turns("two_threads", FORMS[form])
    assert shapes(victim, 2) == [["Comm_dup?", *REST, "Comm_dup?", *BCASTS], [*REST, "Comm_dup?", *REST, *BCASTS]]
    suspended, later = (list(victim.trace(thread=thread))[0] for thread in (1, 2))
    assert suspended.end <= later.time


@pytest.mark.parametrize("form", ["flat", "reused"])
def test_calls_end_in_another_thread_behind_the_end_of_theirs(take_turns, form):
    victim = take_turns("ended_threads", FORMS[form])
    assert shapes(victim, 3) == [["Comm_dup?"], [*REST, "Comm_dup?"], [*REST, "Comm_dup?"]]
    assert [thread[-1] for thread in shapes(take_turns("waits", FORMS[form]), 3)] == 3 * ["Waitall?"]
