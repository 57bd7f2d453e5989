"""What calls, and regions of the program's own, need that come again and again: no memory, and locks and system calls only where a
full buffer is written."""
import json

import pytest
from support.runs import preload, program
from support.sanitizers import with_own_memory

ROUNDS, CALLS = 1000, 9 + 6  # MPI's, and the program's own events
COUNTER = preload(program("libsteady_counter.so"))

pytestmark = with_own_memory


@pytest.fixture
def added(run_traced, run_untraced):
    """What tracing adds to what the program and MPI ask the C library for."""
    traced, untraced = (json.loads(run("steady", 1, COUNTER).stdout) for run in (run_traced, run_untraced))
    return {key: traced[key] - untraced[key] for key in traced}


def test_nothing_is_allocated(added):
    assert added["allocations"] == 0


def test_only_full_buffers_are_written(added):
    assert 1 <= added["writes"] <= ROUNDS * CALLS * 200 // (256 * 1024) + 2
    assert 1 <= added["locks"] <= 3 * added["writes"]
