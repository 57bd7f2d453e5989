"""What --for-check records of buffers, and what hdtrace check says of those that are used or changed too early."""
import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from support.runs import BUILD, SOURCE, run_with_tracer
from support.watchpoints import has_watchpoints

RANKS = 2
TEXT = (SOURCE / "tests/checking/buffers.c").read_text(encoding="utf-8").splitlines()


class Run(NamedTuple):
    changes: bool
    watchpoints: int
    traces: list
    directory: Path


@pytest.fixture(scope="module", params=[("nothing", 3), ("changes", 0), ("changes", 3)], ids=str)
def run(request, tmp_path_factory):
    argument, watchpoints = request.param
    if watchpoints and not has_watchpoints():
        pytest.skip("the system lets nobody watch memory: see kernel.perf_event_paranoid")
    directory = tmp_path_factory.mktemp(argument)
    traced = run_with_tracer("buffers", RANKS, directory, args=[argument], env={"HDTRACE_FOR_CHECK": "1", "HDTRACE_WATCHPOINTS": str(watchpoints)})
    return Run(argument == "changes", watchpoints, traced.traces, traced.trace_directory)


def test_buffers_are_described(run):
    for trace in run.traces:
        told = {(state.name, use, re.sub(r"(\d+):(\w+)(:\d+)?", r"\2", state[use])) for state in trace for use in ("reads", "writes") if state.get(use)}
        (column,) = {state["tid"] for state in trace if state.name == "Send"}
        assert told == {
            ("Irecv", "writes", "32;"), ("Isend", "reads", "32;"), ("Send_init", "reads", "32;"), ("Put", "reads", "4;"),
            ("Recv", "writes", "32;"),
            ("Irecv", "writes", f"1x{column};"), ("Send", "reads", f"1x{column};"), ("Alltoall", "reads", "32;"), ("Alltoall", "writes", "32;")}


def test_what_was_changed_too_early_is_told_where_the_operation_ends(run):
    for trace in run.traces:
        ends = [(state.name, state["changed"].count(";")) for state in trace if state.get("changed")]
        assert ends == ([("Waitall", 2), ("Wait", 1), ("Win_fence", 1)] if run.changes else [])
        assert not any(state.get("used") for state in trace)


def test_check_names_both_lines(run):
    """Where the program changed the memory if a watchpoint was there, else where the operation ended."""
    found = subprocess.run(
        [BUILD / "bin/hdtrace", "check", "--strict", "--json", "--only=buffer-conflict,buffer-modified,buffer-accessed", run.directory],
        capture_output=True, text=True, timeout=60)
    pairs = {(finding["kind"], start_of(finding["site"]), start_of(finding["other_site"])) for finding in json.loads(found.stdout)}
    received, sent, put = ("received[0]", "++sent[1]", "++sent[0]") if run.watchpoints else ("MPI_Waitall", "MPI_Waitall", "MPI_Win_fence")
    assert {finding["rank"] for finding in json.loads(found.stdout)} == (set(range(RANKS)) if run.changes else set())
    assert pairs == ({
        ("buffer-modified", received, "MPI_Irecv"), ("buffer-modified", sent, "MPI_Isend"),
        ("buffer-modified", "MPI_Wait", "MPI_Start"), ("buffer-modified", put, "MPI_Put"),
        ("buffer-conflict", "MPI_Send", "MPI_Irecv")} if run.changes else set())
    assert found.returncode == (1 if run.changes else 0)


def start_of(site):
    """What the line of a site calls or changes."""
    return re.match(r"[\w+[\]]+", TEXT[site["line"] - 1].strip()).group()


@pytest.mark.parametrize("distances", ["regular", "irregular"])
@pytest.mark.parametrize("place, kinds", [("apart", []), ("overlap", ["buffer-conflict"])])
def test_datatypes_of_very_many_blocks(tmp_path, distances, place, kinds):
    """Which ints belong to them is known one by one, and messages fit although one side has them in one block."""
    run = run_with_tracer("many_blocks", RANKS, tmp_path, args=[distances, place], env={"HDTRACE_FOR_CHECK": "1"})
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--strict", "--json", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert [finding["kind"] for finding in json.loads(found.stdout)] == kinds


@pytest.mark.parametrize("place, kinds", [("apart", []), ("overlap", ["buffer-conflict"])])
def test_a_gap_of_a_datatype_that_overlaps_itself(tmp_path, place, kinds):
    """It has as many bytes as it would have without the gap."""
    run = run_with_tracer("gap_in_overlap", RANKS, tmp_path, args=[place], env={"HDTRACE_FOR_CHECK": "1"})
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--strict", "--json", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert sorted({finding["kind"] for finding in json.loads(found.stdout)}) == kinds


def test_the_first_of_an_exclusive_scan_is_given_nothing(tmp_path):
    """Its receive buffer is not significant (MPI 4.1, 6.11.2)."""
    traced = run_with_tracer("collectives", RANKS, tmp_path, env={"HDTRACE_FOR_CHECK": "1"})
    uses = [sorted(use for use in ("reads", "writes") if state.get(use)) for trace in traced.traces for state in trace if state.name == "Exscan"]
    assert uses == [["reads"], ["reads", "writes"]]


def test_parts_of_nobody_are_not_used(tmp_path):
    """At the ends of a line there is one neighbour, and MPI_PROC_NULL (MPI 4.1, 8.6)."""
    traced = run_with_tracer("neighbourhood", RANKS, tmp_path, args=["open"], env={"HDTRACE_FOR_CHECK": "1"})
    for trace in traced.traces:
        calls = [state for state in trace if "eighbor_" in state.name]
        sizes = {(state.name, re.sub(r"\d+:(\d+)(:\d+)?;", r"\1 ", state["reads"] + state["writes"])) for state in calls}
        assert len(sizes) == 10 and {size for _, size in sizes} == {"4 4 "}
