"""Functions that MPI 3 removed and an mpi.h may hide: old programs and the bindings of Fortran still call them."""
import pytest
from support.calls import ANY, Call
from support.runs import SETTINGS, run_with_tracer


def members_of(run, trace, tid):
    """What the project says about a struct's members."""
    return [(run.project.datatype(trace.rank, member.get("id")).get("name"), member.get("displacement"), member.get("blocklen"))
            for member in run.project.datatype(trace.rank, tid)]


def test_a_c_program_that_declares_them_itself(run_traced):
    run = run_traced("removed", 2, {"HDTRACE_ALL_FUNCTIONS": "2"})
    for trace in run:
        for name, size in (("Type_hvector", 8), ("Type_hindexed", 12)):
            call = trace.only(Call(name))
            assert run.project.datatype(trace.rank, call["tid"]).get("size") == str(size)
            assert run.project.datatype(trace.rank, call["oldTid"]).get("name") == "MPI_INT"
        tid = trace.value(Call("Type_struct"), "tid")
        assert members_of(run, trace, tid) == [("MPI_INT", "0", "2"), ("MPI_DOUBLE", "16", "1")]
        assert Call("Address", address=ANY) in trace
        assert Call("Type_lb", tid=tid, displacement=0) in trace
        assert Call("Type_ub", tid=tid, displacement=24) in trace
        assert Call("Type_extent", tid=tid, extent=24) in trace
        cid = trace.value(Call("Comm_dup"), "newcid")
        assert Call("Errhandler_create") in trace
        assert Call("Errhandler_set", cid=cid) in trace and Call("Errhandler_get", cid=cid) in trace


@pytest.mark.skipif("tour_mpif" not in SETTINGS["languages"], reason="no compiler for Fortran")
def test_a_fortran_program(tmp_path):
    run = run_with_tracer("removed_mpif", 2, tmp_path, {"HDTRACE_ALL_FUNCTIONS": "2"})
    assert run.stdout.split() == ["size", "16", "extent", "16"]
    for trace in run:
        assert len(trace.find(Call("Address", address=ANY))) == 3
        tid = trace.value(Call("Type_struct"), "tid")
        (double, *first), (integer, *second) = members_of(run, trace, tid)
        assert (first, second) == (["0", "1"], ["8", "2"])
        assert {double, integer} <= {"MPI_DOUBLE_PRECISION", "MPI_INTEGER"}
        assert Call("Bcast", tid=tid, size=16) in trace and Call("Type_extent", tid=tid, extent=16) in trace
