"""Which accesses of two processes to a file are found to be in conflict."""
import json
import subprocess

import pytest
from support.runs import BUILD, run_with_tracer


@pytest.mark.parametrize("how, function", [
    ("together", "File_write_all"), ("nonblocking", "File_iwrite_at"), ("disjoint", None), ("ordered", None), ("interleaved", None), ("twice", None), ("atomic", None)])
def test_conflicts(tmp_path, how, function):
    run = run_with_tracer("file_conflicts", 2, tmp_path, args=(how, tmp_path / "data"))
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--json", "--only=file-conflict", run.trace_directory], capture_output=True, text=True, timeout=60)
    texts = [finding["text"] for finding in json.loads(found.stdout)]
    if function is None:
        assert texts == []
    else:
        (text,) = texts
        assert text.startswith(function) and f"access the same bytes of {tmp_path / 'data'}, from 0 on" in text


def test_a_second_handle_may_be_closed_at_any_time(tmp_path):
    """While an access with the other one is in flight."""
    run = run_with_tracer("file_conflicts", 2, tmp_path, args=("closed", tmp_path / "data"))
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--json", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert [finding["kind"] for finding in json.loads(found.stdout)] == []


def test_many_accesses_in_order_hide_no_conflict(tmp_path):
    run = run_with_tracer("file_conflicts", 2, tmp_path, args=("often", tmp_path / "data"))
    found = subprocess.run([BUILD / "bin/hdtrace", "check", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert "file-conflict: File_write_all" in found.stdout and "from 0 on" in found.stdout
    assert "may not have been found" not in found.stderr


@pytest.mark.parametrize("how", ["in_pieces", "twice"])
def test_what_is_not_compared_is_told(tmp_path, how):
    """More than a million pieces, and a file that is open twice, with a view of which nobody knows for which accesses it holds."""
    run = run_with_tracer("file_conflicts", 2, tmp_path, args=(how, tmp_path / "data"))
    found = subprocess.run([BUILD / "bin/hdtrace", "check", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert "some of file-conflict may not have been found" in found.stderr
