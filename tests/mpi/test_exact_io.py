"""The trace alone tells which bytes of a file each call touched: exactly those that are in the file.

Each write of the program has its own byte, 1 + 60 * rank + how many writes came before; no byte is written twice.
"""
from collections import Counter

import pytest
from support.calls import Call
from support.extents import WITHOUT_DATA_SIEVING, FileViews
from support.runs import ranks

VALUES_PER_RANK = 60
VIEWS = 5
WRITES_OF_A_VIEW = 10
COMBINERS = {"NAMED", "CONTIGUOUS", "RESIZED", "STRUCT", "SUBARRAY", "VECTOR", "HVECTOR", "DUP", "INDEXED", "HINDEXED",
             "INDEXED_BLOCK", "HINDEXED_BLOCK", "DARRAY"}
everywhere = ranks(2, 3, 4)


@pytest.fixture
def run(run_traced, ranks):
    return run_traced("exact_io", ranks, mpirun=WITHOUT_DATA_SIEVING)


def is_access(state):
    return state.name.startswith(("File_write", "File_read", "File_iwrite", "File_iread"))


def accesses(trace):
    """The calls that write or read bytes."""
    return list(filter(is_access, trace))


def is_write(state):
    return "write" in state.name


def is_shared(state):
    return "shared" in state.name or "ordered" in state.name


def values_of_writes(trace):
    """[(state, value), ...]"""
    writes = filter(is_write, accesses(trace))
    return [(state, 1 + VALUES_PER_RANK * trace.rank + number) for number, state in enumerate(writes)]


def with_places(run, trace):
    """[(state, the bytes it touched), ...] of all accesses with an offset."""
    views, found = FileViews(run.project, trace.rank), []
    for state in trace:
        views.follow(state)
        if "offset" in state and is_access(state):
            found.append((state, {place for begin, end in views.touched(state) for place in range(begin, end)}))
    return found


@everywhere
def test_each_write_touched_the_bytes_that_hold_its_value(run, ranks):
    found = {}
    for place, value in enumerate((run.directory / "views.data").read_bytes()):
        found.setdefault(value, set()).add(place)
    found.pop(0)  # never written
    expected = {}
    for trace in run:
        values = {state.line: value for state, value in values_of_writes(trace)}
        expected |= {values[state.line]: places for state, places in with_places(run, trace) if is_write(state)}
    assert len(expected) == ranks * VIEWS * WRITES_OF_A_VIEW
    wrong = [value for value in found | expected if found.get(value) != expected.get(value)]
    assert not wrong, [divmod(value - 1, VALUES_PER_RANK) for value in wrong]


@everywhere
def test_each_read_touched_the_bytes_of_one_write(run):
    content = (run.directory / "views.data").read_bytes()
    for trace in run:
        reads = [(state, places) for state, places in with_places(run, trace) if not is_write(state)]
        assert len(reads) == VIEWS * WRITES_OF_A_VIEW
        for state, places in reads:
            values = {content[place] for place in places}
            assert len(values) == 1 and (values.pop() - 1) // VALUES_PER_RANK == trace.rank, state


class Pointer:
    """Where the individual file pointer of one process stands, in bytes of data; independent of all logged offsets of accesses."""

    def __init__(self, run, trace):
        self.views = FileViews(run.project, trace.rank)
        self._size_of = lambda tid: int(run.project.datatype(trace.rank, tid).get("size"))
        self._etype = 1
        self._bytes = 0

    def first_byte(self, state):
        """Has to see all states in their order; returns what `offset` has to be, if there is one."""
        self.views.follow(state)
        if state.name in ("File_set_view", "File_open"):
            self._etype = self._size_of(state["etid"]) if "etid" in state else 1
            self._bytes = 0
        elif state.name == "File_seek":
            relative = int(state["relative-offset"]) * self._etype
            self._bytes = relative + (self._bytes if state["whence"] == "MPI_SEEK_CUR" else 0)
            return self.views.place(state["fid"], self._bytes)
        elif "etOffset" in state:
            return self.views.place(state["fid"], int(state["etOffset"]) * self._etype)
        elif "offset" in state:
            self._bytes += int(state["size"])
            return self.views.place(state["fid"], self._bytes - int(state["size"]))
        return None


@everywhere
def test_offset_is_the_first_byte(run):
    for trace in run:
        pointer, places = Pointer(run, trace), {state.line: places for state, places in with_places(run, trace)}
        for state in trace:
            expected = pointer.first_byte(state)
            if expected is not None:
                assert int(state["offset"]) == expected, state
            if state.line in places:
                assert min(places[state.line]) == expected, state


@everywhere
def test_size_is_what_the_datatype_says(run):
    for trace in run:
        for state in accesses(trace):
            assert int(state["size"]) == int(state["count"]) * int(run.project.datatype(trace.rank, state["tid"]).get("size"))


@everywhere
def test_shared_and_ordered_writes_have_the_size_of_what_is_in_the_file(run, ranks):
    expected = {value: int(state["size"]) for trace in run for state, value in values_of_writes(trace) if is_shared(state)}
    assert len(expected) == 4 * ranks
    assert Counter((run.directory / "shared.data").read_bytes()) == expected


@everywhere
def test_all_kinds_of_types_and_calls_are_there(run):
    assert COMBINERS <= {datatype.tag for datatype in run.project.datatypes.values()}
    kinds = ["", "_all", "_at", "_at_all", "_all_begin", "_at_all_begin"]
    for trace in run:
        for name in [f"File_{way}{kind}" for way in ("write", "read") for kind in kinds]:
            assert Call(name) in trace
        for name in [f"File_{way}{kind}" for way in ("iwrite", "iread") for kind in kinds[:4]]:
            assert Call(name) in trace
