"""Random datatypes: the project alone tells which bytes MPI takes, in which order, as the program has seen it."""
import pytest
from support.extents import FileViews, _merge
from support.runs import SETTINGS

COUNT = 60


def read_log(path):
    """number -> (size, lb, extent, true lb, true extent, [(begin, end), ...] in the order of the data)"""
    for line in path.read_text().splitlines():
        words = line.split()
        numbers = [int(word) for word in words[:6]]
        yield numbers[0], (*numbers[1:], [tuple(map(int, word.split(":"))) for word in words[6:]])


class TypeMaps(FileViews):
    """Looks at each type once, since there are types of a thousand blocks made of such types."""

    def __init__(self, project, rank):
        super().__init__(project, rank)
        self._known = {}

    def _extents(self, tid):
        if tid not in self._known:
            self._known[tid] = _merge(piece for piece in super()._extents(tid) if piece[0] < piece[1])
        return self._known[tid]

    def _repeat(self, tid, place, count):
        return super()._repeat(tid, place, count) if count > 0 else []


def from_project(run, maps, rank, tid):
    """The same from the type's description."""
    datatype = run.project.datatype(rank, tid)
    pieces = maps._extents(tid)
    first, last = (min(begin for begin, _ in pieces), max(end for _, end in pieces)) if pieces else (0, 0)
    size = sum(end - begin for begin, end in pieces)
    assert datatype.tag == "DARRAY" or int(datatype.get("size")) == size
    return size, int(datatype.get("lb")), int(datatype.get("extent")), first, last - first, pieces


def without_true_extent(description):
    return description[:3] + description[5:]


# MPICH 4.0 lets parts without data count in MPI_Type_get_true_extent, also without the tracer.
comparable = without_true_extent if SETTINGS["mpi"] == "MPICH" else tuple


@pytest.mark.parametrize("seed", range(5))
def test_the_project_knows_the_bytes_of_each_type(run_traced, seed):
    run = run_traced("identity_types", 1, args=(seed, COUNT))
    for trace in run:
        tids = {state["name"]: state["tid"] for state in trace if state.name == "Type_set_name"}
        expected = dict(read_log(run.directory / f"log-{trace.rank}"))
        assert len(expected) == COUNT
        maps = TypeMaps(run.project, trace.rank)
        wrong = {number: run.project.datatype(trace.rank, tids[str(number)]).attrib for number, seen in expected.items()
                 if comparable(from_project(run, maps, trace.rank, tids[str(number)])) != comparable(seen)}
        assert not wrong
