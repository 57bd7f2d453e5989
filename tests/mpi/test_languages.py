"""The same program in each language and binding has the same trace."""
import subprocess
from pathlib import Path

import pytest
from support.calls import Call
from support.runs import SETTINGS, SOURCE, link_options, only_with, ranks, run_with_tracer
from support.runs import run_untraced as run_anew

# Which predefined handle or numbering a binding uses for the same thing does not matter.
NOT_COMPARED = {"time", "end", "wtime", "site", "flags", "tid", "oldTid"}


def shape(run):
    """All calls with their attributes, types as their sizes."""
    def facts(element):
        return element.name, tuple((key, value) for key, value in element.attributes.items() if key not in NOT_COMPARED)

    return [[(facts(state), [facts(child) for child in state.children]) for state in trace] for trace in run]


@ranks(1, 2, 3, 4)
@pytest.mark.parametrize("name", SETTINGS["languages"][1:])
def test_each_binding_is_traced_like_c(run_traced, ranks, name):
    assert shape(run_traced(name, ranks)) == shape(run_traced("tour", ranks))


@ranks(1, 2, 3, 4)
@pytest.mark.parametrize("name", SETTINGS["languages"][1:])
def test_each_binding_prints_what_it_printed(run_traced, run_untraced, ranks, name):
    assert run_traced(name, ranks).stdout == run_untraced(name, ranks).stdout


@ranks(2, 3)
@pytest.mark.parametrize("name", SETTINGS["languages"])
def test_what_a_tour_logs(run_traced, ranks, name):
    run = run_traced(name, ranks)
    for trace in run:
        tid = run.tid(trace, "MPI_INTEGER")
        assert Call("Send", toRank=trace.right, toTag=7, size=4, tid=tid) in trace
        assert Call("Allreduce", inPlace=1, size=4) in trace
        assert Call("Sendrecv_replace", fromRank=trace.left, postedRank=-1, postedTag=-1, sendSize=12) in trace
        assert Call("Send", toRank=-2) in trace
        assert run.file_name(trace, Call("File_open", name="tour.data")) == str(run.directory.resolve() / "tour.data")
        assert trace.names()[0] == "Init" and trace.names()[-1] == "Finalize"


@pytest.mark.parametrize("name, compiler", [("tour.c", "mpicc"), ("tour_mpif.f", "mpif90"), ("tour_f08.f90", "mpif90")])
def test_programs_may_be_linked_with_the_tracer(run_traced, tmp_path, name, compiler):
    """With the archives, as the specification does it; the trace is the same as with the preloaded library.

    Calls from Fortran reach the tracer only through the MPI library, which comes later: it takes the whole archive.
    """
    compiler = SETTINGS["compiler"].replace("mpicc", compiler)
    if not Path(compiler).exists():
        pytest.skip(f"no {compiler}")
    source = SOURCE / "tests/mpi/programs/languages" / name
    executable = tmp_path / source.stem
    subprocess.run([compiler, "-o", executable, source, *link_options(whole_wrapper=name != "tour.c")], cwd=tmp_path, check=True)
    run = run_anew(executable, 3, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    run.paths = tuple(sorted(tmp_path.glob("*.trc")))
    assert shape(run) == shape(run_traced("tour", 3))


@only_with("Open MPI")  # Debian's mpi4py is made for it
def test_python_is_traced(tmp_path):
    program = tmp_path / "tour.py"
    program.write_text("from mpi4py import MPI\n"
                       "world = MPI.COMM_WORLD\n"
                       "right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size\n"
                       "assert world.sendrecv({'rank': world.rank}, right, 7, None, left, 7)['rank'] == left\n"
                       "world.Barrier()\n"
                       "if world.allreduce(1) == world.size and world.rank == 0:\n"
                       "    print('all is well')\n")
    run = run_with_tracer("/usr/bin/python3", 3, tmp_path, args=(program,))
    assert run.stdout == "all is well\n"
    for trace in run:
        assert trace.names()[0] == "Init_thread" and trace.names()[-1] == "Finalize"
        assert Call("Barrier", cid=0) in trace
        assert any(state.get("toRank") == str(trace.right) and state.get("toTag") == "7" for state in trace)
