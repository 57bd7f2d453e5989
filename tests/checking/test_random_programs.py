"""Correct programs of random steps: they run as without the tracer, and nothing in them is found wrong. Some have several threads that
call MPI at the same time.

RANDOM_PROGRAMS=FIRST:LAST tries others than the few that are tried here, e.g. RANDOM_PROGRAMS=100:400.
"""
import json
import os
import subprocess

import pytest
from support.runs import BUILD, run_with_tracer

FIRST, LAST = map(int, os.environ.get("RANDOM_PROGRAMS", "1:4").split(":"))
STEPS = 150
FOR_CHECK = {"HDTRACE_FOR_CHECK": "1", "HDTRACE_ALL_FUNCTIONS": "2"}


def run_and_check(tmp_path, processes, *args):
    run = run_with_tracer("random_program", processes, tmp_path, env=FOR_CHECK, args=args, complete=False)
    assert (run.returncode, run.stderr) == (0, ""), "it compares what it gets with what was sent"
    check = subprocess.run([BUILD / "bin/hdtrace", "check", "--json", run.trace_directory], capture_output=True, text=True, timeout=120)
    assert [finding for finding in json.loads(check.stdout) if finding["severity"] != "note"] == []


@pytest.mark.parametrize("seed", range(FIRST, LAST + 1))
def test_nothing_is_found(tmp_path, seed):
    run_and_check(tmp_path, 2 + seed % 3, str(seed), str(STEPS))


@pytest.mark.parametrize("seed", range(FIRST, LAST + 1))
def test_nothing_is_found_where_threads_call(tmp_path, seed):
    run_and_check(tmp_path, 2, str(seed), str(STEPS // 2), "3")
