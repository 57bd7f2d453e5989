"""The project alone tells which bytes MPI takes of each datatype, in which order, as the program has seen it."""
import re
import sys

import pytest
from support.extents import FileViews, _merge
from support.project import Project
from support.runs import SETTINGS, SOURCE, merge

sys.path.append(str(SOURCE / "mpiwrapper"))
from generate import header, tables  # noqa: E402

RANDOM_TYPES = 60
# Only what Fortran made with functions that MPI 3 removed has them; there is no function that makes them now.
REMOVED_COMBINERS = {"HVECTOR_INTEGER", "HINDEXED_INTEGER", "STRUCT_INTEGER"}
# Old names of constructors, which make what the new ones make; test_more_programs.py calls them with MPICH.
REMOVED_CONSTRUCTORS = {"Type_hvector", "Type_hindexed", "Type_struct"}


def read_log(path):
    """name -> (size, lb, extent, true lb, true extent, [(begin, end), ...] in the order of the data)"""
    for line in path.read_text().splitlines():
        name, *words = line.split()
        yield name, (*map(int, words[:5]), [tuple(map(int, word.split(":"))) for word in words[5:]])


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


def from_project(project, maps, rank, tid):
    """The same from the type's description."""
    datatype = project.datatype(rank, tid)
    pieces = maps._extents(tid)
    first, last = (min(begin for begin, _ in pieces), max(end for _, end in pieces)) if pieces else (0, 0)
    size = sum(end - begin for begin, end in pieces)
    assert datatype.tag == "DARRAY" or int(datatype.get("size")) == size
    return size, int(datatype.get("lb")), int(datatype.get("extent")), first, last - first, pieces


def without_true_extent(description):
    return description[:3] + description[5:]


# MPICH 4.0 lets parts without data count in MPI_Type_get_true_extent, also without the tracer.
comparable = without_true_extent if SETTINGS["mpi"] == "MPICH" else tuple


def wrong_types(run, project):
    """{name: what the project says} of the types whose bytes are others, and how many types there are."""
    wrong, count = {}, 0
    for trace in run:
        tids = {state["name"]: state["tid"] for state in trace if state.name == "Type_set_name"}
        maps = TypeMaps(project, trace.rank)
        for name, seen in read_log(run.directory / f"log-{trace.rank}"):
            count += 1
            if comparable(from_project(project, maps, trace.rank, tids[name])) != comparable(seen):
                wrong[name] = project.datatype(trace.rank, tids[name]).attrib
    return wrong, count


@pytest.mark.parametrize("seed", range(5))
def test_the_project_knows_the_bytes_of_random_types(run_traced, seed):
    run = run_traced("identity_types", 1, args=(seed, RANDOM_TYPES))
    assert wrong_types(run, run.project) == ({}, RANDOM_TYPES)


@pytest.fixture
def listed(run_traced):
    return run_traced("identity_listed_types", 1)


@pytest.fixture
def many(run_traced):
    run = run_traced("identity_listed_types", 1, args=("many",), complete=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run


def test_the_project_knows_the_bytes_of_each_kind_of_type(listed):
    wrong, count = wrong_types(listed, listed.project)
    assert not wrong
    assert count > 1800


def test_the_project_knows_the_bytes_of_types_of_many_blocks(many):
    """Without a check against the schema, for which libxml2 takes ten seconds for a struct of so many members."""
    info, = many.trace_directory.glob("*.info")
    project = info.with_name(info.name.split("_")[0] + ".proj")
    assert merge(project, info) == []
    wrong, count = wrong_types(many, Project(project))
    assert not wrong
    assert count >= 24


def test_blocks_at_equal_distances_are_written_once(many):
    info, = many.trace_directory.glob("*.info")
    contents = re.findall(r"HINDEXED_BLOCK' name='' integers='10000;2;' addresses='([^']*)'", info.read_text())
    assert contents and all(re.fullmatch(r"-1\+\d+\*10000;", addresses) for addresses in contents)


def known_combiners():
    """All that the wrapper and the merger have in their tables."""
    wrapper, merger = ((SOURCE / path).read_text() for path in ("mpiwrapper/runtime/objects/type_contents.cpp", "merger/combiners.cpp"))
    return set(re.findall(r'{MPI_COMBINER_\w+, "(\w+)"}', wrapper)) | set(re.findall(r'^    {"(\w+)",', merger, re.MULTILINE))


def test_each_combiner_is_in_the_list(listed):
    assert len(known_combiners()) > 15
    found = {datatype.tag for datatype in listed.project.datatypes.values()}
    assert known_combiners() - REMOVED_COMBINERS == found


def test_each_constructor_is_in_the_list(listed):
    declared = header.prototypes(header.preprocess(SETTINGS["compiler"], []))
    functions = tables.only(tables.load(SOURCE / "mpiwrapper/api"), declared).functions
    constructors = {function.logged.element for function in functions
                    if any(parameter.name == "newtype" and parameter.is_written for parameter in function.parameters)}
    assert len(constructors) > 10
    assert constructors - REMOVED_CONSTRUCTORS <= {state.name for trace in listed for state in trace}


def test_each_constructor_is_used_in_each_shape_and_on_each_level(listed, many):
    """A name is SHAPE/CONSTRUCTOR or nested/INNERMOST/MIDDLE/OUTERMOST."""
    names = [name.split("/") for run in (listed, many) for name, _ in read_log(run.directory / "log-0")]
    makeable = known_combiners() - REMOVED_COMBINERS - {"NAMED", "F90_REAL", "F90_COMPLEX", "F90_INTEGER"}
    for shape in ("usual", "nothing", "backwards", "many"):
        assert {name[1] for name in names if name[0] == shape} == makeable
    for level in (1, 2, 3):
        assert {name[level] for name in names if name[0] == "nested"} == makeable
