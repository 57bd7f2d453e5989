"""What --for-check records of buffers, and what hdtrace check says of those that are used or changed too early."""
import json
import re
import subprocess

import pytest
from support.runs import BUILD, SOURCE, run_with_tracer

RANKS = 2
TEXT = (SOURCE / "tests/checking/buffers.c").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module", params=["nothing", "changes"])
def run(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    traced = run_with_tracer("buffers", RANKS, directory, args=[request.param], env={"HDTRACE_FOR_CHECK": "1"})
    traced.changes = request.param == "changes"
    return traced


def test_buffers_are_described(run):
    for trace in run.traces:
        told = {(state.name, use, re.sub(r"\d+:", "", state[use])) for state in trace for use in ("reads", "writes") if state.get(use)}
        (column,) = {state["tid"] for state in trace if state.name == "Send"}
        assert told == {
            ("Irecv", "writes", "32;"), ("Isend", "reads", "32;"), ("Send_init", "reads", "32;"), ("Put", "reads", "4;"),
            ("Recv", "writes", "32;"),
            ("Irecv", "writes", f"1x{column};"), ("Send", "reads", f"1x{column};"), ("Alltoall", "reads", "32;"), ("Alltoall", "writes", "32;")}


def test_what_was_changed_too_early_is_told_where_the_operation_ends(run):
    for trace in run.traces:
        ends = [(state.name, state["changed"].count(";")) for state in trace if state.get("changed")]
        assert ends == ([("Waitall", 2), ("Wait", 1), ("Win_fence", 1)] if run.changes else [])


def test_check_names_both_lines(run):
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--strict", "--json", "--only=buffer-conflict,buffer-modified", run.trace_directory],
                           capture_output=True, text=True, timeout=60)
    pairs = {(finding["kind"], call_at(finding["site"]), call_at(finding["other_site"])) for finding in json.loads(found.stdout)}
    assert pairs == ({
        ("buffer-modified", "MPI_Waitall", "MPI_Irecv"), ("buffer-modified", "MPI_Waitall", "MPI_Isend"),
        ("buffer-modified", "MPI_Wait", "MPI_Start"), ("buffer-modified", "MPI_Win_fence", "MPI_Put"),
        ("buffer-conflict", "MPI_Send", "MPI_Irecv")} if run.changes else set())
    assert found.returncode == (1 if run.changes else 0)


def call_at(site):
    """The function that the line of a site calls."""
    return re.match(r"\w+", TEXT[site["line"] - 1].strip()).group()
