"""What led to an error that nobody handles is in the traces of all processes, also where the launcher kills them at once."""
import json
import subprocess

import pytest
from support.runs import BUILD, missed_by_the_launcher, run_with_tracer

WINDOW = ["Win_create", "Win_free"]
OPERATIONS = {"Init_thread", "Comm_dup", *WINDOW, "Send", "Recv"}


@pytest.mark.parametrize("args", [(), ("set",), ("threads",)], ids=lambda args: "".join(args))
def test_what_led_to_an_error_is_saved(tmp_path, args):
    settings = {"HDTRACE_FOR_CHECK": "1", "HDTRACE_ALL_FUNCTIONS": "1"}
    run = run_with_tracer("fatal", 2, tmp_path, env=settings, args=args, complete=False)
    assert run.returncode not in {0, 134} - missed_by_the_launcher()
    said = run.stderr.lower()
    is_lost = "orte_error_log" in said  # by Open MPI 4's launcher, when processes talk to it at the same time, traced or not
    assert ("invalid rank" in said or is_lost) and "internal error" not in said
    called = [[state.name for state in trace if state.name in OPERATIONS] for trace in run.traces]
    before = ["Init_thread", "Comm_dup", *(WINDOW if args != ("threads",) else [])]
    assert called == [[*before, "Send"], [*before, "Recv"]]
    last = [list(trace)[-1] for trace in run.traces]
    assert [state.get("unfinished") for state in last] == ["1", "1"]
    assert [state.get("rc") for state in last] == ["MPI_ERR_RANK", None]


def test_an_error_ends_a_paused_program_as_others(tmp_path):
    run = run_with_tracer("fatal", 2, tmp_path, env={"HDTRACE_FOR_CHECK": "1"}, args=("threads", "paused"), complete=False)
    assert run.returncode not in {0, 134} - missed_by_the_launcher()
    assert "Assertion" not in run.stderr
    assert [list(trace)[-1].name for trace in run.traces] == ["Pcontrol", "Pcontrol"]


def test_what_led_to_an_error_of_a_file_is_saved(tmp_path):
    run = run_with_tracer("fatal", 2, tmp_path, env={"HDTRACE_FOR_CHECK": "1"}, args=("file",), complete=False)
    assert run.returncode not in {0, 134} - missed_by_the_launcher()
    last = [list(trace)[-1] for trace in run.traces]
    assert {(state.name, state.get("rc")) for state in last} >= {("File_write", "MPI_ERR_COUNT")}


def test_check_names_it(tmp_path):
    run = run_with_tracer("fatal", 2, tmp_path, env={"HDTRACE_FOR_CHECK": "1"}, complete=False)
    found = json.loads(subprocess.run([BUILD / "bin/hdtrace", "check", "--json", run.trace_directory], capture_output=True, text=True, timeout=60).stdout)
    assert ("invalid-rank", "error", 0) in {(finding["kind"], finding["severity"], finding["rank"]) for finding in found}
