"""How programs start, use threads, switch tracing off, and end."""
import re
import shutil
import signal
import subprocess

import hdtrace
import pytest
from support.calls import Call
from support.runs import LAUNCHER, SETTINGS, SOURCE, missed_by_the_launcher, only_with_program, program, ranks, run_with_tracer
from support.runs import run_untraced as run_anew


@ranks(1, 2, 3, 4)
def test_init_without_arguments(run_traced, ranks):
    run = run_traced("init_null", ranks)
    for trace in run:
        assert trace.names()[0] == "Init" and trace.names()[-1] == "Finalize"
        assert trace.title.startswith("init-null_")
    assert len(run.threads) == ranks


@only_with_program("sessions_only")
@ranks(1, 2)
def test_a_program_without_init(run_traced, ranks):
    run = run_traced("sessions_only", ranks)
    for trace in run:
        assert trace.names()[0] == "Session_init" and trace.names()[-1] == "Session_finalize"
        assert Call("Allreduce", cid=trace.value(Call("Comm_create_from_group"), "newcid"), size=4) in trace
    assert len(run.threads) == ranks


@ranks(1, 2, 3)
def test_each_thread_has_its_own_trace(run_traced, ranks):
    run = run_traced("threads", ranks)
    assert sorted(run.threads) == [(rank, thread) for rank in range(ranks) for thread in range(4)]
    for rank in range(ranks):
        used = set()
        for thread in range(4):
            trace = run.threads[rank, thread]
            sends = trace.find(Call("Isend", toRank=trace.right))
            assert len(sends) == 25 and len(trace.find(Call("Recv", fromRank=trace.left))) == 25
            for send in sends:
                assert Call("Wait", [Call("For", rid=send["rid"])]) in trace
            used.add(sends[0]["cid"])
        assert len(used) == 4, "each thread has its communicator"
        assert Call("Init_thread", required=3, provided=3) in run.threads[rank, 0] or \
            Call("Init_thread", required="MPI_THREAD_MULTIPLE", provided="MPI_THREAD_MULTIPLE") in run.threads[rank, 0]


@ranks(1, 2)
def test_a_program_switches_tracing_off_and_on(run_traced, ranks):
    for trace in run_traced("pcontrol", ranks):
        assert [state["count"] for state in trace.find(Call("Bcast"))] == ["1", "3", "4"]
        assert Call("Send") not in trace
        rid = trace.value(Call("Irecv"), "rid")
        assert Call("Wait", [Call("For", rid=rid, fromRank=trace.left)]) in trace, "requests are followed all the time"


@ranks(1, 2, 3, 4)
def test_abort_leaves_whole_traces(run_traced, ranks):
    run = run_traced("abort", ranks, complete=False)
    assert run.returncode != 0
    assert run.threads[ranks - 1, 0].names() == ["Init", "Barrier", "Abort"]
    assert Call("Abort", errorcode=7) in run.threads[ranks - 1, 0]
    check_what_was_saved(run)


@ranks(1, 2)
def test_abort_inside_another_call_is_told(run_traced, ranks):
    run = run_traced("abort", ranks, args=("inside",), complete=False, env={"HDTRACE_ALL_FUNCTIONS": "2"})
    assert run.returncode != 0
    last = list(run.threads[ranks - 1, 0])[-1]
    assert last.name == "Comm_delete_attr" and last.get("unfinished") == "1"
    assert [(inner.name, inner.get("errorcode")) for inner in last.nested] == [("Abort", "7")]


@ranks(1, 2, 4)
def test_exit_without_finalize(run_traced, ranks):
    run = run_traced("exit_early", ranks, complete=False)
    # MPICH's mpiexec kills those that have not ended with the first one, and may report that.
    assert run.returncode in launcher_reports({3} if ranks == 1 else {3, signal.SIGKILL, 3 | signal.SIGKILL} | missed_by_the_launcher())
    check_what_was_saved(run)


def launcher_reports(codes):
    """Hydra 4.0 takes 1 for the status of a process that it waited for before it read that the connection is closed."""
    return codes | {1} if SETTINGS["mpi"] == "MPICH" else codes


def check_what_was_saved(run):
    """Both MPI libraries kill processes that do not end at once; what they had on disk is whole, though it may be less."""
    assert any(Call("Barrier") in trace for trace in run.threads.values())
    for trace in run.threads.values():
        assert trace.names()[:2] == ["Init", "Barrier"][:len(trace)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT])
def test_a_signal_leaves_whole_traces(run_traced, run_untraced, number):
    run = run_traced("raise", 1, args=(int(number),), complete=False)
    assert run.traces[0].names() == ["Init", "Barrier"]
    untraced = run_untraced("raise", 1, args=(int(number),))
    assert len({run.returncode, untraced.returncode} - launcher_reports(set())) <= 1


def test_the_program_finds_the_signal_actions_that_it_would_find_untraced(run_traced, run_untraced):
    """Some do something else where they find a handler; what they put back leaves ours where it is, which saves."""
    traced, untraced = run_traced("signal_actions", 1, args=("end",), complete=False), run_untraced("signal_actions", 1, args=("end",))
    told = [run.stdout.splitlines()[0] for run in (traced, untraced)]  # the launcher may tell of the end behind it
    assert told == 2 * ["default own ignored default own default default 1 own own default "]
    assert traced.traces[0].names() == ["Init", "Barrier"]
    (info,) = traced.trace_directory.glob("*.info")
    assert re.findall(r"^Signal name='(\w+)'", info.read_text(), re.M) == ["SIGTERM"]
    assert len({traced.returncode, untraced.returncode} - launcher_reports(set())) <= 1


@pytest.mark.parametrize("rounds, recorded", [(1, 1), (2, 2), (4, 3)])
def test_a_thread_is_one_however_late_it_calls(run_traced, rounds, recorded):
    """The last round of destructors comes behind ours, when nobody would close what was opened."""
    run = run_traced("thread_ends", 1, args=(rounds,))
    assert sorted(run.threads) == [(0, thread) for thread in range(1 + 3)]
    assert [run.threads[0, thread].names() for thread in (1, 2, 3)] == 3 * [recorded * ["Send"]]


def test_the_first_call_of_a_thread_is_no_cancellation_point(run_traced):
    assert "Comm_compare" in run_traced("thread_ends", 1, {"HDTRACE_ALL_FUNCTIONS": "2"}, args=(0,)).threads[0, 1].names()


SENDS_FOR_TWO_SECONDS = """#include <mpi.h>
#include <unistd.h>
int main(void)
{
    MPI_Init(0, 0);
    for (int i = 0; i < 2000; ++i) {
        MPI_Sendrecv(0, 0, MPI_INT, 0, 0, 0, 0, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("sanitizer, compress, is_behind_script",
                         [("address,undefined", "none", True), ("address,undefined", "zstd", False), ("thread", "none", False), ("thread", "zstd", False)])
def test_a_program_with_a_sanitizer_runs(tmp_path, sanitizer, compress, is_behind_script):
    """Its library ends programs in which another one comes first, and looks at what the C library does for the tracer's threads."""
    source, executable, script = (tmp_path / name for name in ("sends.c", "sanitized", "script"))
    source.write_text(SENDS_FOR_TWO_SECONDS)
    script.write_text(f"#!/bin/sh\nexec {executable}\n")
    script.chmod(0o755)
    compiled = subprocess.run([SETTINGS["compiler"], f"-fsanitize={sanitizer}", "-o", executable, source], capture_output=True, text=True)
    if compiled.returncode:
        pytest.skip(f"the compiler has no sanitizer: {compiled.stderr}")
    options = {"ASAN_OPTIONS": "detect_leaks=0", "HDTRACE_FORM": "compact", "HDTRACE_COMPRESS": compress}
    if run_anew(executable, 1, tmp_path, options).returncode:
        pytest.skip("it does not run untraced")
    assert run_with_tracer(script if is_behind_script else executable, 1, tmp_path, env=options).traces[0].names()[0] == "Init"


UNSET_WORDS = """#include <mpi.h>
#include <stdlib.h>
static void receive(void* buffer)
{
    volatile long unset[100];
    unset[0] = 0;
    MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_SELF);
}
int main(void)
{
    MPI_Init(0, 0);
    void* const buffer = malloc(sizeof(int));
    receive(buffer);
    free(buffer);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.skipif(bool(SETTINGS["sanitizers"]), reason="Valgrind runs no program with a sanitizer")
def test_valgrind_finds_nothing_in_the_tracer(tmp_path):
    """Also where it looks for pointers on the program's stack."""
    if shutil.which("valgrind") is None:
        pytest.skip("no Valgrind")
    source, executable, script, log = (tmp_path / name for name in ("unset.c", "unset", "script", "log"))
    source.write_text(UNSET_WORDS)
    subprocess.run([SETTINGS["compiler"], "-O0", "-g", "-o", executable, source], check=True)
    script.write_text(f"#!/bin/sh\nexec valgrind --log-file={log} {executable}\n")
    script.chmod(0o755)
    run = run_with_tracer(script, 1, tmp_path, env={"HDTRACE_FOR_CHECK": "1", "HDTRACE_FOLLOW": "1", "HWLOC_COMPONENTS": "-x86,-opencl"})
    assert run.traces[0].names()[0] == "Init"
    assert "ERROR SUMMARY" in log.read_text() and "hdtrace" not in log.read_text()


def test_nothing_is_lost_without_buffers(tmp_path):
    """After _exit nobody can close the trace, but every call is in it."""
    env = {"HDTRACE_DIRECTORY": str(tmp_path), "HDTRACE_FORCE_FLUSH": "1"}
    run = run_anew(LAUNCHER, 1, tmp_path, env, args=(program("exit_early"), "_exit"))
    assert run.returncode in launcher_reports({3})
    (path,) = tmp_path.glob("*.trc")
    assert [state.name for state in hdtrace.read_trace(path, allow_incomplete=True)] == ["Init", "Barrier"]


@ranks(1, 2)
def test_calls_by_profiling_names_are_traced(run_traced, ranks):
    for trace in run_traced("profiling_names", ranks):
        assert trace.names()[0] == "Init" and trace.names()[-1] == "Finalize"
        assert Call("Sendrecv", toRank=trace.right, fromRank=trace.left, size=4) in trace
        assert len(trace.find(Call("Barrier"))) == 1


@pytest.fixture(scope="module")
def locale_with_comma(tmp_path_factory):
    """A folder with the locale de_DE, whose decimal sign is a comma."""
    folder = tmp_path_factory.mktemp("locales")
    result = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True, text=True)
    if not (folder / "de_DE.UTF-8").exists():
        pytest.skip(f"no locale with a comma: {result.stderr}")
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}


def test_the_locale_does_not_change_numbers(run_traced, run_untraced, locale_with_comma):
    run = run_traced("locale", 2, locale_with_comma)
    assert run.stdout == run_untraced("locale", 2, locale_with_comma).stdout
    assert "a half is 0,5" in run.stdout
    for path in run.trace_directory.glob("*.trc"):
        assert "," not in path.read_text()
