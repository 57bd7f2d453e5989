"""What hdtrace check says of buffers that are not what the variables are which they begin in; and that of all others it says nothing."""
import json
import re
import subprocess

import pytest
from support.runs import BUILD, SOURCE, only_with_program, run_with_tracer

KINDS = {"buffer-overrun", "buffer-type-mismatch"}
PROGRAMS = {"variables_unoptimised": "variables.c", "variables_optimised": "variables.c", "variables_fortran": "variables_fortran.f90"}


def findings(tmp_path, name, **settings):
    run = run_with_tracer(name, 2, tmp_path, env={"HDTRACE_FOR_CHECK": "1"} | settings)
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--strict", "--json", run.trace_directory], capture_output=True, text=True, timeout=60)
    return [one for one in json.loads(found.stdout) if one["kind"] in KINDS]


@pytest.mark.parametrize("name", [pytest.param(name, marks=only_with_program(name)) for name in PROGRAMS])
def test_marked_lines_are_found_and_no_others(tmp_path, name):
    lines = (SOURCE / "tests/checking" / PROGRAMS[name]).read_text(encoding="utf-8").splitlines()
    marks = [(number, re.search(r"[*!] (buffer-[a-z-]+)( unless optimised)?", line)) for number, line in enumerate(lines, 1)]
    marked = {(mark[1], number) for number, mark in marks if mark}
    may_be_missed = {(mark[1], number) for number, mark in marks if mark and mark[2] and name.endswith("_optimised")}
    assert {(one["kind"], one["site"]["line"]) for one in findings(tmp_path, name)} | may_be_missed == marked


def test_what_is_said(tmp_path):
    """Of each process; the root of MPI_Bcast, rank 0, reads, and the other one writes."""
    texts = {re.sub(r" \(variables.c:\d+\)", "", one["text"]) for one in findings(tmp_path, "variables_unoptimised")}
    assert texts >= {
        *(f"Allreduce at statics of rank {rank} reads 32 bytes of the variable constants (int[8], 32 bytes) from its byte 16 on" for rank in (0, 1)),
        "Recv at messages of rank 1 may write 32 bytes to the variable got (int[4], 16 bytes)",
        "Bcast at members of rank 0 reads a floating point number of 8 bytes at byte 5 of the variable one (16 bytes), where it has nothing",
        "Bcast at members of rank 1 writes a floating point number of 8 bytes at byte 5 of the variable one (16 bytes), where it has nothing",
        *(f"Bcast at pointers of rank {rank} {uses} values of another type (floating point number of 4 bytes) {place} what the variable numbers (double *) "
          "points to" for rank, uses, place in ((0, "reads", "from"), (1, "writes", "to"))),
        "Bcast at types of rank 0 reads values of another type (integer of 8 bytes) from the variable reals (real[2][2], 32 bytes)"}


def test_a_receive_that_was_ready_for_too_much_is_only_a_warning(tmp_path):
    assert {one["severity"] for one in findings(tmp_path, "variables_unoptimised") if one["text"].startswith("Recv")} == {"warning"}


def test_nothing_is_said_where_nothing_was_recorded_for_it(tmp_path):
    assert findings(tmp_path, "variables_unoptimised", HDTRACE_FOR_CHECK="0") == []
