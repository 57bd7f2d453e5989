"""Error handlers and other callbacks leave MPI calls by longjmp() or an exception: these are unfinished, later ones are not
inside them."""
import pytest
from conftest import PRELUDE
from support.runs import only_with
from support.sanitizers import HAS_ADDRESS_SANITIZER

FLAT = {"HDTRACE_ALL_FUNCTIONS": "2"}
NESTED = {**FLAT, "HDTRACE_NESTED": "1"}
SENDS = 100 * ["Send?"]
BCASTS = 2 * ["Bcast"]
BEFORE = [*PRELUDE, "Comm_create_errhandler", "Comm_set_errhandler"]
AFTER = ["Errhandler_free", "Finalize"]


def shape(states):
    """Names, with "?" behind those that are unfinished; those with calls inside are pairs."""
    names = [state.name + "?" * ("unfinished" in state.attributes) for state in states]
    return [(name, shape(state.nested)) if state.nested else name for name, state in zip(names, states)]


@pytest.fixture
def leave(run):
    """leave(way, env) -> what the trace holds between the first calls and the last."""
    def run_well(way, env):
        victim = run("leave", way, env=env)
        assert (victim.returncode, victim.stdout, victim.stderr) == (0, "finished\n", "")
        states = shape(victim.trace())
        assert states[:len(BEFORE)] == BEFORE and states[-len(AFTER):] == AFTER
        assert victim.ends()[0] == (sum(1 for _ in victim.trace().everything()), 0)
        return victim, states[len(BEFORE):-len(AFTER)]
    return run_well


@pytest.mark.parametrize("env", [FLAT, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("way", ["jump", "throw"])
def test_calls_are_left(leave, way, env):
    _, states = leave(way, env)
    assert states == SENDS + BCASTS


@only_with("Open MPI")  # MPICH with threads asserts that nobody leaves
def test_calls_of_a_thread_are_left(leave):
    victim, _ = leave("thread", FLAT)
    assert shape(victim.trace(thread=1)) == SENDS + BCASTS


INSIDE = {"inside": ["Send?"], "inside_and_on": SENDS + BCASTS}


@pytest.mark.parametrize("way", INSIDE)
def test_the_call_around_goes_on(leave, way):
    """Also if there is none inside it later."""
    assert leave(way, NESTED)[1] == ["Op_create", ("Reduce_local", INSIDE[way])]
    assert leave(way, FLAT)[1] == ["Op_create", "Reduce_local"]


def test_two_calls_are_left_at_once(leave):
    assert leave("two", FLAT)[1] == ["Op_create", "Reduce_local?", *BCASTS]
    inside = ["Op_create", ("Reduce_local?", ["Bcast"])]
    assert leave("two", NESTED)[1] == ["Op_create", ("Reduce_local?", inside), *BCASTS]


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="AddressSanitizer warns of other stacks")
def test_calls_on_other_stacks_are_inside(leave):
    victim, _ = leave("thread_stacks", NESTED)
    assert shape(victim.trace(thread=1)) == ["Op_create", ("Reduce_local", BCASTS)]


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="AddressSanitizer warns of other stacks")
@pytest.mark.parametrize("way", ["inner_stack", "signal_stack"])
def test_a_stack_may_be_in_a_variable_of_who_called(leave, way):
    """Its addresses are above those of the call that it is in, which still goes on."""
    assert leave(way, NESTED)[1] == ["Op_create", ("Reduce_local", ["Bcast"])]
    assert leave(way, FLAT)[1] == ["Op_create", "Reduce_local"]
