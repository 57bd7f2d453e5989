"""What programs have already becomes regions: the compiler's hooks, Kokkos Tools, ITT."""
import shutil

import pytest
from support.calls import Call
from support.runs import WRAPPER, preload, program

FUNCTIONS, KOKKOS, ITT = (WRAPPER.with_name(f"libhdtrace-{name}.so") for name in ("functions", "kokkos", "itt"))


def events(trace):
    """(kind, name) of the events on lines of their own, and the names of the calls between."""
    return [(state.get("kind", "mark"), state["name"]) if state.is_event else state.name for state in trace]


def test_functions(run_traced):
    hidden, recursive, throws = "shapes::hidden()", "long shapes::recursive<long>(long)", "shapes::throws()"
    for trace in run_traced("functions", 2, preload(FUNCTIONS)):
        own = events(trace)
        assert own[:own.index("Barrier")] == ["Init", ("begin", "find_place()"), ("end", "find_place()"), ("begin", hidden)]
        assert own[own.index("Barrier"):] == [
            "Barrier", ("end", hidden), *3 * [("begin", recursive)], *3 * [("end", recursive)], ("begin", throws), ("end", throws),
            ("begin", hidden), "Barrier", ("end", hidden), ("begin", "finish()"), "Finalize"]


def test_functions_of_libraries_in_the_place_of_others(run_traced, tmp_path):
    libraries = [shutil.copy(program(f"lib{name}.so"), tmp_path) for name in ("alpha", "omega")]
    own = events(run_traced("function_libraries", 1, preload(FUNCTIONS), tuple(libraries)).traces[0])
    assert own == ["Init", *((kind, name) for name in ("alpha", "omega") for kind in ("begin", "end")), "Finalize"]


def test_functions_are_quiet_where_nothing_is_traced(run_untraced):
    for env in ({}, preload(FUNCTIONS)):
        run = run_untraced("functions", 1, env)
        assert (run.returncode, run.stderr) == (0, "")


def test_functions_are_nothing_without_the_library(run_traced):
    assert events(run_traced("functions", 1).traces[0]) == ["Init", "Barrier", "Barrier", "Finalize"]


def test_kokkos_tools(run_traced):
    run = run_traced("kokkos_host", 1, {"KOKKOS_TOOLS_LIBS": str(KOKKOS)})
    long_name = "Kokkos parallel_reduce:" + 252 * "n" + "..."
    assert events(run.traces[0]) == [
        "Init", ("begin", "Kokkos:step"), ("begin", "Kokkos parallel_for:axpy"), ("begin", long_name),
        ("end", "Kokkos parallel_for:axpy"), ("end", long_name), ("begin", "Kokkos:first section"), ("begin", "Kokkos:second section"),
        ("end", "Kokkos:first section"), ("end", "Kokkos:second section"), ("begin", "Kokkos deep_copy:to"), ("count", "Kokkos:deep_copy"),
        ("end", "Kokkos deep_copy:to"), ("mark", "Kokkos:an event"), ("end", "Kokkos:step"), "Finalize"]
    assert Call("Event", name="Kokkos:deep_copy", value=4096) in run.traces[0]


@pytest.mark.skipif(not program("kokkos").exists(), reason="Kokkos is not installed")
def test_a_program_with_kokkos(run_traced):
    env = {variable: str(KOKKOS) for variable in ("KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY")}
    for trace in run_traced("kokkos", 2, env):
        own = events(trace)
        start = own.index(("begin", "Kokkos:step"))
        kernels = [event for event in own[start:] if event == "Allreduce" or event[1] in (
            "Kokkos:step", "Kokkos parallel_for:fill", "Kokkos parallel_reduce:sum")]
        assert kernels == [
            ("begin", "Kokkos:step"), ("begin", "Kokkos parallel_for:fill"), ("end", "Kokkos parallel_for:fill"),
            ("begin", "Kokkos parallel_reduce:sum"), ("end", "Kokkos parallel_reduce:sum"), "Allreduce", ("end", "Kokkos:step")]


def test_itt(run_traced):
    run = run_traced("itt_host", 1, {"INTEL_LIBITTNOTIFY64": str(ITT)})
    assert events(run.traces[0]) == [
        "Init", ("mark", "thread name"), ("begin", "solver:step"), ("begin", "solver:inner"), "Barrier", ("end", "solver:inner"),
        ("mark", "solver:half"), ("count", "solver:cells"), ("count", "solver:cells"), ("count", "solver:depth"), ("count", "solver:error"),
        ("end", "solver:step"), "Finalize"]
    assert [event["value"] for event in run.traces[0].find(Call("Event", kind="count"))] == ["1", "6", "-7", "2.5"]


@pytest.mark.skipif(not program("openmp").exists(), reason="LLVM's OpenMP library is not installed")
def test_a_library_that_carries_itt(run_traced):
    run = run_traced("openmp", 1, {"INTEL_LIBITTNOTIFY64": str(ITT)})
    names = {event["text"].split("#")[0] for trace in run.threads.values() for event in trace if event.is_event}
    assert names >= {"OMP Worker Thread "} and len(run.threads) == 3


@pytest.mark.parametrize("name, env", [("kokkos_host", {"KOKKOS_TOOLS_LIBS": str(KOKKOS)}), ("itt_host", {"INTEL_LIBITTNOTIFY64": str(ITT)})])
def test_the_libraries_are_quiet_where_nothing_is_traced(run_untraced, name, env):
    run = run_untraced(name, 1, env)
    assert (run.returncode, run.stderr) == (0, "")
