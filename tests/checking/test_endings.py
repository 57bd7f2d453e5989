"""Which process ended the program, and how; others only followed. And calls where there is no MPI."""
import json
import re
import subprocess

import pytest
from support.runs import BUILD, run_with_tracer

SETTINGS = {"HDTRACE_FOR_CHECK": "1", "HDTRACE_ALL_FUNCTIONS": "2"}
# Of the other process: what it waited for, and what MPICH's launcher left it no time to save.
OF_OTHERS = ("collective-missing", "missing")


def findings(tmp_path, how, **settings):
    run = run_with_tracer("ends", 2, tmp_path, env=SETTINGS | settings, args=(how,), complete=False)
    found = subprocess.run([BUILD / "bin/hdtrace", "check", "--strict", "--json", run.trace_directory], capture_output=True, text=True, timeout=60)
    return [(one["kind"], one["rank"], one["text"].split(" at ")[0]) for one in json.loads(found.stdout) if one["kind"] not in OF_OTHERS]


def test_a_fault(tmp_path):
    assert findings(tmp_path, "fault") == [("killed-by-signal", 0, "SIGSEGV ended the process after its last call")]


@pytest.mark.parametrize(
    "how, where",
    [
        ("aborting-thread", "after the last call of thread 1"),
        ("aborting-worker", "in a thread that called no MPI; the last call of another one was"),
    ],
)
def test_a_fault_in_a_thread_while_others_go_on(tmp_path, how, where):
    """Handlers may take some time to tell where it was, and then end the process themselves."""
    assert ("killed-by-signal", 0, f"SIGABRT came {where}") in findings(tmp_path, how)


def test_a_thread_ends_all_while_another_one_waits(tmp_path):
    assert findings(tmp_path, "ending-thread") == [("aborted", 0, "the process ended all processes")]


def test_a_signal_from_outside(tmp_path):
    """Launchers send it to the others, too; one of them is told."""
    ((kind, _, text), *others) = findings(tmp_path, "terminated")
    assert (kind, text.split()[0]) == ("killed-by-signal", "SIGTERM")
    assert {kind for kind, _, _ in others} <= {"unfinished"}


def test_an_exit(tmp_path):
    ((kind, rank, _),) = findings(tmp_path, "exit")
    assert (kind, rank) == ("no-finalize", 0)


@pytest.mark.parametrize("how, name", [("twice", "Init"), ("behind", "Barrier")])
def test_calls_outside(tmp_path, how, name):
    found = findings(tmp_path, how)
    assert {("outside-mpi", 0, name), ("outside-mpi", 1, name)} & set(found)  # whoever is first ends the run
    assert {(kind, text) for kind, _, text in found} <= {("outside-mpi", name), ("call-failed", name)}, "MPICH refuses a second MPI_Init"


@pytest.mark.parametrize("how", ["behind", "resumed"])
def test_calls_that_may_be_made_at_any_time_are_not_told_of(tmp_path, how):
    run = run_with_tracer("ends", 2, tmp_path, env=SETTINGS, args=(how,), complete=False)
    counts = re.findall("Calls name='(Initialized|Finalized)'.*", "".join(path.read_text() for path in run.trace_directory.glob("*.info")))
    assert not counts


@pytest.mark.parametrize("checks", ["0", "1"])
def test_a_call_before_init(tmp_path, checks):
    """MPI libraries end the program, except an Open MPI that looks at no arguments: then all else is traced as ever."""
    found = findings(tmp_path, "early", OMPI_MCA_mpi_param_check=checks)
    assert found and {(kind, text) for kind, _, text in found} == {("outside-mpi", "Get_address")}


@pytest.mark.parametrize("how", ["well", "handled", "resumed"])
def test_good_ends(tmp_path, how):
    assert findings(tmp_path, how) == []


def test_who_was_not_traced_is_not_blamed(tmp_path):
    """A share of the processes may be traced only: what others gave and took is not known then."""
    run = run_with_tracer("ends", 2, tmp_path, env=SETTINGS, args=("nothing",))
    for path in run.trace_directory.iterdir():
        if not re.search(r"_0_0\.(trc|info)", path.name):
            path.unlink()
    found = subprocess.run([BUILD / "bin/hdtrace", "check", run.trace_directory], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0 and "nothing wrong was found" in found.stdout
    assert "there are files of 1 of 2 processes only" in found.stderr
