"""All programs together call every function that is traced, and each logs what the specification says."""
import sys

import pytest
from appendix_a import ATTRIBUTES, SPLIT_ENDS
from support.calls import Call, show
from support.runs import SETTINGS, SOURCE, only_with_program, starts_several_programs

sys.path.append(str(SOURCE / "mpiwrapper"))
from generate import header, tables  # noqa: E402

# They do not end by returning from main; test_life_cycle.py looks at them.
ENDS_EARLY = {"abort", "exit_early", "raise"}
# What only these programs call.
SPAWNING = {"Comm_spawn", "Comm_spawn_multiple", "Comm_get_parent"}
CONNECTING = {"Comm_accept", "Comm_connect", "Comm_join", "Open_port", "Close_port", "Publish_name", "Lookup_name", "Unpublish_name"}
if SETTINGS["mpi"] == "MPICH":  # Debian's can neither open ports nor start processes
    LEFT_OUT = {"connect": CONNECTING, "spawn": SPAWNING}
else:
    LEFT_OUT = {} if starts_several_programs() else {"spawn": SPAWNING}


@pytest.fixture(scope="module")
def states(run_traced):
    """All states of all programs by name."""
    found = {}
    left_out = ENDS_EARLY | set(LEFT_OUT)
    for name in SETTINGS["names"]:
        if name not in left_out:
            for trace in run_traced(name, 2, {"HDTRACE_ALL_FUNCTIONS": "2"}):
                for state in trace.everything():
                    found.setdefault(state.name, []).append(state)
    return found


def traced_elements():
    """The elements of all functions that are in the tables and in this MPI library."""
    present = {*header.prototypes(header.preprocess(SETTINGS["compiler"], [])), *header.exported(SETTINGS["library"])}
    return {function.logged.element for function in tables.only(tables.with_all_forms(tables.load(SOURCE / "mpiwrapper/api")), present).functions}


def test_every_function_is_called(states):
    missing = traced_elements() - set(states) - {"Abort"}
    assert missing.difference(*LEFT_OUT.values()) == set()


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_appendix_a(states, name):
    """All attributes are there, in their order, before what we add; some may be missing where MPI defines no value."""
    wanted = ATTRIBUTES[name]
    calls = [state for state in states[name] if "rc" not in state]
    assert any(all(key in state for key in wanted) for state in calls), f"none has all of {wanted}: {show(calls[0])}"
    for state in calls:
        found = [key for key in state.attributes if key not in ("time", "end")]
        specified = [key for key in wanted if key in found]
        assert found[:len(specified)] == specified, f"not in the order {wanted}: {show(state)}"


@pytest.mark.parametrize("name", SPLIT_ENDS)
def test_the_end_of_a_split_collective_is_a_wait(states, name):
    assert name not in states
    assert f"{name.removesuffix('_end')}_begin" in states


def test_constants_of_mpi_are_the_same_whatever_the_library(run_traced):
    run = run_traced("undefined", 2, {"HDTRACE_ALL_FUNCTIONS": "2"})
    for trace in run:
        assert Call("Group_rank", rank=-1) in trace
        assert Call("Group_translate_ranks", ranks1=f"{trace.rank};-2;", ranks2="-1;-2;") in trace
        assert Call("Comm_split", color=-1, key=3, newcid=-1) in trace
        assert Call("Get_count", count=-1) in trace
        shift, asked, of_window, made, freed = (trace.only(Call(name)) for name in (
            "Cart_shift", "Comm_get_attr", "Win_get_attr", "Comm_create_keyval", "Comm_free_keyval"))
        assert (shift["rank_source"], shift["rank_dest"]) == ("-2", "-2")
        assert (asked["comm_keyval"], of_window["win_keyval"]) == ("MPI_TAG_UB", "MPI_WIN_SIZE")
        assert freed["comm_keyval"] == made["comm_keyval"] and int(made["comm_keyval"]) != 0
    assert "integers='6;-1;'" in next(run.trace_directory.glob("*_0_0.info")).read_text()


@only_with_program("abi")
def test_the_binary_interface(run_traced):
    for trace in run_traced("abi", 2, {"HDTRACE_ALL_FUNCTIONS": "2"}):
        version, booleans = (trace.only(Call(f"Abi_get_{what}")) for what in ("version", "fortran_booleans"))
        assert int(version["major"]) >= -1 and int(version["minor"]) >= -1  # -1: not the standard one
        assert (booleans["logicalSize"], booleans["isSet"]) in (("4", "0"), ("4", "1"))


def test_answers_are_recorded_as_far_as_they_go(run_traced):
    """Of arrays what MPI has filled in; of MPI's own attributes their values, of infos their keys."""
    everything = {"HDTRACE_ALL_FUNCTIONS": "2"}
    for trace in run_traced("topologies", 2, everything):
        assert Call("Graph_get", index="1;2;", edges="1;0;") in trace
        assert Call("Graph_neighbors", neighbors=f"{trace.right};") in trace
        assert Call("Dist_graph_neighbors", sources=f"{trace.left};", sourceweights=None, destinations=f"{trace.right};") in trace
    for trace in run_traced("attributes", 2, everything):
        values = [state.get("value") for state in trace.find(Call("Comm_get_attr"))]
        assert values[0] is None and int(values[1]) >= 32767
    for trace in run_traced("undefined", 2, everything):
        assert Call("Win_get_attr", value=4) in trace
    for trace in run_traced("info", 2, everything):
        assert Call("Info_set", key="colour", value="blue") in trace
        assert Call("Info_get_nkeys", nkeys=2) in trace
        assert Call("Info_get", key="colour", flag=1) in trace
