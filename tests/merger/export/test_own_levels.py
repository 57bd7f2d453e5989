"""Traces of programs without MPI: each is a process that is called after its levels, and there are no others."""
import csv
import json
import re

import pytest
from archives import events, print_silently
from conversions import call, convert

WORKERS = ["reader", "writer"]
STEP = "<Step time='{}.0' end='{}.0' />\n"
NAMES = {worker: f"Process (node01 {worker})" for worker in WORKERS}


@pytest.fixture
def project(run, tmp_path):
    """Of two workers that do something at the same time."""
    for number, worker in enumerate(WORKERS):
        stem = tmp_path / f"solver_node01_{worker}"
        stem.with_suffix(".info").write_text(f"Process base='solver' levels='Host;Worker;' path='node01;{worker};' version=1 timeAdjustment=5\n")
        steps = STEP.format(1 + number, 3 + number) + STEP.format(5 + number, 7 + number)
        stem.with_suffix(".trc").write_text(f"<Program timeAdjustment='5'>\n{steps}</Program>\n")
    run.merge_cleanly("solver", output="solver.proj")
    return tmp_path / "solver.proj"


def test_otf2(project, tmp_path):
    convert(project, "otf2", tmp_path / "otf2")
    print_silently(tmp_path / "otf2/traces.otf2")
    entered = [location.group.name for location, _ in events(tmp_path / "otf2/traces.otf2", "Enter")]
    assert sorted(entered) == sorted([*NAMES.values()] * 2)


def test_csv(project, tmp_path):
    convert(project, "csv", tmp_path / "csv")
    processes = list(csv.DictReader((tmp_path / "csv/processes.csv").open()))
    assert [(process["host"], process["has_trace"]) for process in processes] == [(f"node01 {worker}", "1") for worker in WORKERS]


def test_paje(project, tmp_path):
    convert(project, "paje", tmp_path / "paje")
    names = re.findall(r'^5 \S+ \S+ PROCESS \S+ "(.*)"', (tmp_path / "paje").read_text(), re.MULTILINE)
    assert names == [*NAMES.values()]


def test_chrome(project, tmp_path):
    convert(project, "chrome", tmp_path / "chrome")
    made = json.loads((tmp_path / "chrome").read_text())
    named = made["traceEvents"] if isinstance(made, dict) else made
    assert [event["args"]["name"] for event in named if event["name"] == "process_name"] == [*NAMES.values()]


def test_a_replay_is_of_ranks_only(project, tmp_path):
    result = call("--to", "tit", "-o", tmp_path / "tit", project)
    assert result.returncode == 1 and "a replay needs the traces of MPI processes" in result.stderr
