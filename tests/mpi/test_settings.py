"""What the environment changes."""
import pytest
from support.calls import Call
from support.runs import only_with, ranks

ORDINARY = {"Init", "Finalize"}
QUERIES = {"Comm_rank", "Comm_size"}


@pytest.mark.parametrize("level, logged, not_logged", [
    (0, set(), ORDINARY | QUERIES), (1, ORDINARY, QUERIES), (2, ORDINARY | QUERIES, set())])
def test_all_functions(run_traced, level, logged, not_logged):
    for trace in run_traced("send_modes", 2, {"HDTRACE_ALL_FUNCTIONS": str(level)}):
        names = set(trace.names())
        assert logged <= names and not names & not_logged
        assert {"Wait", "Ssend"} <= names, "what has attributes or completes something is always there"


def test_split_ends_are_no_ordinary_functions(run_traced):
    for trace in run_traced("io_explicit", 2, {"HDTRACE_ALL_FUNCTIONS": "0"}):
        begins = [state["rid"] for state in trace if state.name.endswith("_begin")]
        waits = [child["rid"] for state in trace.find(Call("Wait")) for child in state.children]
        assert len(begins) == 2 and set(begins) <= set(waits)


@ranks(1, 2, 3)
def test_nested_calls_are_logged_on_demand(run_traced, ranks):
    for trace in run_traced("nested", ranks, {"HDTRACE_NESTED": "1"}):
        dup = trace.only(Call("Comm_dup"))
        assert [inner.name for inner in dup.nested if inner.name == "Barrier"] == ["Barrier"]
        assert "Barrier" not in trace.names()
    for trace in run_traced("nested", ranks):
        assert Call("Comm_dup") in trace and Call("Barrier") not in trace


@only_with("MPICH")
def test_calls_inside_the_mpi_library(run_traced):
    for trace in run_traced("io_views", 2, {"HDTRACE_NESTED": "1"}):
        assert trace.only(Call("File_open")).nested


@only_with("Open MPI")
def test_calls_inside_romio(run_traced):
    for trace in run_traced("io_views", 2, {"HDTRACE_NESTED": "1"}, mpirun=("--mca", "io", "romio321")):
        assert any(state.nested for state in trace if state.name.startswith("File_"))


def test_the_trace_is_the_same_without_buffering(run_traced):
    def shape(run):
        return [[(state.name, len(state.children)) for state in trace] for trace in run]

    assert shape(run_traced("send_modes", 2)) == shape(run_traced("send_modes", 2, {"HDTRACE_FORCE_FLUSH": "1"}))


def test_the_name_of_the_trace(run_traced):
    run = run_traced("init_null", 1, {"HDTRACE_NAME": "my app"})
    assert [path.name.split("_")[0] for path in run.trace_directory.glob("*.trc")] == ["my-app"]
