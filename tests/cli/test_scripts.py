"""The small commands in scripts/, and that the README tells the truth about them."""
import json
import os
import re

import pytest
from conftest import BUILD, SOURCE, run, run_well

SUMMARY = SOURCE / "scripts/summary"

PROJECT = """<?xml version="1.0" encoding="UTF-8"?>
<Application name="my_app" processCount="2" version="1">
  <FileList>
    <File name="/data/out"><InitialSize>16</InitialSize><Rank global="0" thread="0" fid="0"/></File>
  </FileList>
  <Topology>
    <Node name="node01"><Node name="0"><Node name="0"/></Node><Node name="1"><Node name="0"/></Node></Node>
  </Topology>
  <CommunicatorList>
    <Communicator name="WORLD"><Rank global="0" local="0" cid="0"/><Rank global="1" local="1" cid="0"/></Communicator>
  </CommunicatorList>
  <Datatypes>
    <Rank name="0" thread="0"><NAMED id="0" name="MPI_INT" size="4" extent="4"/></Rank>
    <Rank name="1" thread="0"><NAMED id="3" name="MPI_INT" size="4" extent="4"/></Rank>
  </Datatypes>
</Application>
"""
TRACE = """<?xml version='1.0' encoding='UTF-8'?>
<Program timeAdjustment='100' version='1' rank='0' thread='0'>
<Send size='4' time='0.100000000' end='0.200000000' />
<Nested><Send size='8' time='0.300000000' end='0.400000000' /></Nested><Wait time='0.300000000' end='0.600000000' ><For rid='1' /></Wait>
"""


@pytest.fixture
def project(tmp_path):
    """A project of two processes."""
    (tmp_path / "app.proj").write_text(PROJECT)
    for rank in range(2):
        (tmp_path / f"my-app_node01_{rank}_0.trc").write_text(TRACE + "</Program>\n")
    return tmp_path / "app.proj"


def test_summary(project):
    assert run_well(SUMMARY, project) == f"""\
my_app: 2 processes, 1 host(s), 2 thread(s), 6 calls in 0.500 seconds

function  calls   seconds  bytes
Wait          2  0.600000
Send          4  0.400000     24

communicator  processes
WORLD                 2

file       initial size  processes
/data/out            16          1

datatype  combiner  size  extent  processes
MPI_INT   NAMED        4       4          2

The project is {project}, its traces (.trc) are beside it.
"""


def test_summary_of_a_trace_that_was_cut_off(project):
    cut_off = project.parent / "my-app_node01_1_0.trc"
    cut_off.write_text(TRACE)
    result = run(SUMMARY, project)
    assert result.returncode == 0 and "6 calls" in result.stdout
    assert result.stderr.startswith(f"summary: {cut_off}: ") and result.stderr.endswith(": the rest is left out\n")


def test_summary_names_what_is_missing(project):
    assert run(SUMMARY).returncode == 2
    result = run(SUMMARY, "nowhere.proj")
    assert (result.returncode, result.stdout) == (1, "") and result.stderr.startswith("summary: nowhere.proj: ")
    trace = project.parent / "my-app_node01_1_0.trc"
    trace.unlink()
    result = run(SUMMARY, project)
    assert (result.returncode, result.stdout) == (1, "") and str(trace) in result.stderr


def test_the_readme_s_commands_and_links_exist():
    readme = (SOURCE / "README.md").read_text()
    for command in re.findall(r"^(scripts/\S+)", readme, re.MULTILINE):
        assert (SOURCE / command).stat().st_mode & 0o111
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (SOURCE / target).exists()


def test_what_has_to_pass_is_the_readme_s_test_command():
    assert re.search(r"^scripts/test\b", (SOURCE / "README.md").read_text(), re.MULTILINE)
    assert "/scripts/test" in (SOURCE / ".ci/run").read_text()


def test_benchmark_compares_tracers():
    """Times of so few calls say nothing; that there is a trace of them does."""
    results = json.loads(run_well(SOURCE / "scripts/benchmark", "--build", os.path.relpath(BUILD), "--json", "--repetitions", "1", "--scale", "0.001",
                                  "--loop", "ping-pong", "--loop", "8-threads"))
    assert [(result["loop"], result["tracer"]) for result in results] == [
        (loop, tracer) for loop in ("ping-pong", "8-threads") for tracer in ("untraced", "hdtrace")]
    for result in results:
        assert result["nanoseconds"] > 0
        assert (result["bytes"] > 50) == (result["tracer"] == "hdtrace")


@pytest.mark.parametrize("arguments, message", [
    (["--with", "nothing"], "benchmark: nothing is not a known tracer that is installed; NAME=LIBRARY preloads any other"),
    (["--build", "/missing"], "benchmark: /missing/bin/hdtrace-run does not exist: build it"),
    (["--compiler", "false"], "benchmark: false -O2")])
def test_benchmark_says_what_is_wrong(arguments, message):
    result = run(SOURCE / "scripts/benchmark", *["--build", BUILD, *arguments])
    assert result.returncode == 1 and message in result.stderr
