"""What a run is doing, and that it can never go on, while it lasts."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from conftest import BUILD, MPIRUN, compile_text, run

sys.path.insert(0, str(BUILD / "python"))
from hdtrace.cli.stuck import Watch  # noqa: E402
from hdtrace.cli.watch import _Page  # noqa: E402
from hdtrace.live import LiveRun, unfinished_processes  # noqa: E402

HDTRACE = BUILD / "bin/hdtrace"
USAGE = 2

PROGRAM = """
#include <mpi.h>
#include <string.h>
#include <unistd.h>
static int rank, value;
static void receive(int from) { MPI_Recv(&value, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
int main(int argc, char **argv)
{
    MPI_Comm family;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "circle") == 0)
        receive(1 - rank);
    if (strcmp(argv[1], "differs") == 0 && rank == 1)
        MPI_Gather(&value, 1, MPI_INT, (int[2]){0}, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (strcmp(argv[1], "differs") == 0 && rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "late") == 0) {
        if (rank == 1)
            receive(0);
        sleep(4); /* seconds: longer than calls are permitted to last */
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    }
    if (strcmp(argv[1], "spawns") == 0)
        MPI_Comm_spawn(argv[0], (char *[]){"child", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &family, MPI_ERRCODES_IGNORE);
    if (strcmp(argv[1], "child") == 0)
        MPI_Comm_get_parent(&family);
    if (strcmp(argv[1], "spawns") == 0 || strcmp(argv[1], "child") == 0)
        MPI_Recv(&value, 1, MPI_INT, 0, argv[1][0], family, MPI_STATUS_IGNORE);
    for (int found = 0; strcmp(argv[1], "polls") == 0 && rank == 0 && !found; usleep(1000))
        MPI_Iprobe(1, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    while (strcmp(argv[1], "polls") == 0)
        pause();
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_text("mpicc", tmp_path_factory.mktemp("watched") / "watched", PROGRAM, "-g", "-O1")


FORMS = {"xml": ["--form", "xml"], "compact": [], "zstd": ["--form", "xml", "--compress", "zstd"]}
forms = pytest.mark.parametrize("form", FORMS)


@contextmanager
def running(program, way, folder, form, processes=2):
    """Once its processes have written something."""
    with subprocess.Popen([HDTRACE, "record", "--quiet", "--check", "--follow", *FORMS[form], "-o", folder, MPIRUN, "-n", str(processes), program, way], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            yield
        finally:
            child.terminate()


def look(folder, wanted):
    """What the processes do once they do it: rank -> what."""
    for _ in range(200):
        if folder.is_dir():
            found = {one["rank"]: one for one in json.loads(run(HDTRACE, "watch", "--json", folder).stdout)}
            if {rank: one["state"] for rank, one in found.items()} == wanted:
                return found
        time.sleep(0.2)
    raise AssertionError(found)


@forms
def test_calls_in_progress(program, tmp_path, form):
    folder = tmp_path / "trace"
    with running(program, "circle", folder, form):
        found = look(folder, {0: "inside", 1: "inside"})
        assert found[0]["call"].startswith("Recv fromRank=1 fromTag=7") and "watched.c:6" in found[0]["site"]
        time.sleep(1)
        text = run(HDTRACE, "watch", "--once", "--stuck-seconds", "0.5", folder).stdout
    assert "2 processes, 2 inside MPI" in text and "can never go on" in text and "cid=WORLD" in text and "tid=MPI_INT" in text
    assert "rank 0 waits in Recv fromRank=1" in text and "rank 1 waits in Recv fromRank=0" in text


def test_processes_of_other_worlds_have_ranks_of_their_own(program, tmp_path):
    with running(program, "spawns", tmp_path / "trace", "compact", processes=1):
        found = look(tmp_path / "trace", {0: "inside", 1: "inside"})
    for rank, way in (0, "s"), (1, "c"):
        assert found[rank]["call"].startswith(f"Recv fromRank={1 - rank} fromTag={ord(way)}") and "watched.c:" in found[rank]["site"]


def test_what_is_wrong_where_processes_hang(program, tmp_path):
    with running(program, "differs", tmp_path / "trace", "compact"):
        look(tmp_path / "trace", {0: "inside", 1: "inside"})
        time.sleep(1)
        text = run(HDTRACE, "watch", "--once", "--stuck-seconds", "0.5", tmp_path / "trace").stdout
    assert "no process has moved" in text and "can never go on" not in text
    assert "collective-call-mismatch: collective operation 2 on WORLD is " in text


@forms
def test_polls_and_computation(program, tmp_path, form):
    folder = tmp_path / "trace"
    with running(program, "polls", folder, form):
        found = look(folder, {0: "polls", 1: "computes"})
        assert found[0]["call"].startswith("Iprobe source=1 tag=7") and found[1]["call"].startswith("Barrier")
        first, second = (look(folder, {0: "polls", 1: "computes"})[0]["since"] for _ in range(2))
        assert 0 < first and 0 < second
        result = run(HDTRACE, "check", "--json", folder)
        assert (json.loads(result.stdout), result.returncode) == ([], 0), "what is open may still come"


def test_a_run_that_can_never_go_on_is_ended(program, tmp_path):
    result = run(HDTRACE, "record", "--stuck-seconds", "1", "--end-stuck", "-o", tmp_path / "trace", MPIRUN, "-n", "2", program, "circle")
    assert "2 calls had not ended: hdtrace check and hdtrace pending tell of them" in result.stderr
    assert result.returncode != 0
    assert "rank 0 waits in Recv fromRank=1 fromTag=7" in result.stderr and "watched.c:6" in result.stderr
    assert result.stderr.count("the run is ended") == 1, "however long its end takes"
    assert list((tmp_path / "trace").glob("*.proj"))


POLLS = """
#include <mpi.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, value = 1, done = 0, computes = argc > 1;
    MPI_Request receive, send;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2) {
        MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &receive);
        for (const time_t begin = time(NULL); !done && time(NULL) < begin + 8; MPI_Test(&receive, &done, MPI_STATUS_IGNORE))
            for (const clock_t busy = clock(); computes && clock() < busy + CLOCKS_PER_SEC / 200;)
                ;
        MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &send);
        if (!done)
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def polling(tmp_path_factory):
    """Two processes ask for each other's message until they give up after some seconds, and send theirs."""
    return compile_text("mpicc", tmp_path_factory.mktemp("polling") / "polling", POLLS, "-g", "-O1")


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_who_polls_may_give_up(polling, tmp_path, options):
    """So nothing is ended, and what is said is said once."""
    result = run(HDTRACE, "record", *options, "--stuck-seconds", "1", "--end-stuck", "-o", tmp_path / "trace", MPIRUN, "-n", "3", polling)
    assert result.returncode == 0 and "can never go on" not in result.stderr and "is ended" not in result.stderr
    said = [line for line in result.stderr.splitlines() if "wait for each other:" in line or "no process has moved:" in line]
    assert said and len(set(said)) == len(said), result.stderr


def test_who_computes_between_polls_is_no_reason_to_say_anything(polling, tmp_path):
    result = run(HDTRACE, "record", "--stuck-seconds", "1", "-o", tmp_path / "trace", MPIRUN, "-n", "3", polling, "computes")
    assert result.returncode == 0 and "each other:" not in result.stderr and "has moved:" not in result.stderr


def end_stuck_with_launcher(program, tmp_path, text):
    """Of two processes that wait for each other."""
    launcher = tmp_path / "mpirun"
    launcher.write_text(f"#!/bin/sh\n{text}\n")
    launcher.chmod(0o755)
    return run(HDTRACE, "record", "--stuck-seconds", "1", "--end-stuck", "-o", tmp_path / "trace", launcher, "-n", "2", program, "circle")


def test_a_launcher_that_does_not_end_is_killed(program, tmp_path):
    """As one that hangs itself; what it had started is not left behind."""
    result = end_stuck_with_launcher(program, tmp_path, f'trap "" TERM\n{MPIRUN} "$@"')
    assert result.returncode == 128 + signal.SIGKILL and "goes on after SIGTERM: it is killed" in result.stderr
    assert "have not ended" not in result.stderr
    assert list((tmp_path / "trace").glob("*.proj"))


def test_a_launcher_that_says_all_went_well_is_not_believed(program, tmp_path):
    """As MPICH's, at random."""
    result = end_stuck_with_launcher(program, tmp_path, f'trap "kill \\$!; wait; exit 0" TERM\n{MPIRUN} "$@" &\nwait $!')
    assert result.returncode == 128 + signal.SIGTERM and "exit code 143" in result.stderr


def test_a_script_is_ended_in_a_later_run(program, tmp_path):
    """With all that it has started."""
    (tmp_path / "job.sh").write_text(f"{MPIRUN} -n 3 {program} none\n{MPIRUN} -n 2 {program} circle\necho never\n")
    result = run(HDTRACE, "record", "--follow", "--stuck-seconds", "1", "--end-stuck", "-o", tmp_path / "trace", "sh", tmp_path / "job.sh")
    assert result.returncode != 0 and "never" not in result.stdout
    assert "rank 0 waits in Recv fromRank=1 fromTag=7" in result.stderr and "the run is ended" in result.stderr
    assert "2 runs" in result.stderr and "have not ended" not in result.stderr


def test_a_run_that_only_waits_goes_on(program, tmp_path):
    result = run(HDTRACE, "record", "--stuck-seconds", "1", "--end-stuck", "-o", tmp_path / "trace", MPIRUN, "-n", "2", program, "late")
    assert result.returncode == 0 and "go on" not in result.stderr and "has moved" not in result.stderr


def test_calls_with_others_inside(tmp_path):
    (tmp_path / "app_node_0_0.trc").write_text(
        "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='1000' version='1' rank='0' thread='0'>\n"
        "<Nested><Allreduce cid='1' time='1.000000000' end='2.000000000' /></Nested><Comm_dup cid='0' newcid='1' time='0.500000000' end='3.000000000' />\n")
    (one,) = json.loads(run(HDTRACE, "watch", "--json", tmp_path).stdout)
    assert (one["call"], one["state"], one["since"]) == ("Comm_dup cid=0 newcid=1", "computes", 1003 * 10**9)


def test_rates_are_those_of_the_last_ten_seconds(tmp_path):
    """Calls of 14 seconds ago do not count, and the trace goes on while nothing is called."""
    began = int(time.time()) - 20
    message = "<Send size='1000' toRank='1' toTag='0' cid='0' count='1000' tid='0' time='{0}.000' end='{0}.500000000' />\n"
    access = "<Nested><Send size='5' toRank='1' time='19.1' end='19.2' /></Nested><File_write fid='0' size='300' count='300' tid='0' time='19.000000000' end='19.600000000' />\n"
    (tmp_path / "app_node_0_0.trc").write_text(
        f"<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='{began}' version='1' rank='0' thread='0'>\n"
        + message.format(5) * 7 + message.format(19) * 20 + access + "<Recv time='19.700000000' end='20.000000000' unfinished='1' />\n")
    (one,) = json.loads(run(HDTRACE, "watch", "--json", tmp_path).stdout)
    assert one["rates"] == {"calls": 2.1, "sent": 2000, "accessed": 30}
    assert "2 calls, 2.00 kB sent and 30 B of files accessed in a second" in run(HDTRACE, "watch", "--once", tmp_path).stdout


def rates_of(folder, calls):
    """Of calls that have returned one after the other in a second that is over."""
    (folder / "app_node_0_0.trc").write_text(
        f"<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='{int(time.time()) - 5}' version='1' rank='0' thread='0'>\n"
        + "".join(f"<{call} time='1.{place:09}' end='1.{place + 1:09}' />\n" for place, call in enumerate(calls))
        + "<Recv time='1.5' end='2.000000000' />\n")
    (one,) = LiveRun(folder).look()
    seconds = (len(calls) + 1) / one.rates.calls
    return round(one.rates.sent * seconds), round(one.rates.accessed * seconds)


@pytest.mark.parametrize("call, sent, accessed", [
    ("Send size='1000' toRank='1'", 1000, 0),
    ("Isend size='1000' toRank='-5' rid='0'", 1000, 0),  # to a process of another world
    ("Send size='1000' toRank='-2'", 0, 0),  # to MPI_PROC_NULL
    ("Send rc='MPI_ERR_RANK' size='1000' toRank='1'", 0, 0),
    ("Send size='1000' toRank='1' rc='MPI_ERR_RANK'", 0, 0),
    ("Send_init size='1000' toRank='1' rid='0'", 0, 0),
    ("Psend_init_c size='1000' toRank='1' rid='0'", 0, 0),
    ("Sendrecv_replace sendSize='1000' toRank='1' fromRank='1' size='3000' recvSize='10'", 1000, 0),
    ("Sendrecv_replace sendSize='1000' toRank='-2' fromRank='1' size='3000' recvSize='10'", 0, 0),
    ("Put size='1000' toRank='1' wid='0' tid='0'", 1000, 0),
    ("File_write fid='0' size='300' count='300' tid='0'", 0, 300),
    ("File_iread fid='0' rid='0' size='300' count='300' tid='0'", 0, 300),
    ("File_read_at fid='0' size='300' count='300' tid='0' actual='100'", 0, 100),
    ("File_read_at fid='0' size='300' count='300' tid='0' actual='0'", 0, 0),
    ("File_write fid='0' size='300' count='300' tid='0' rc='MPI_ERR_ACCESS'", 0, 0),
    ("File_set_size fid='0' size='300'", 0, 0),
    ("File_preallocate fid='0' size='300'", 0, 0),
    ("File_get_size fid='0' size='300'", 0, 0),
    pytest.param("Send size='1{}' toRank='1'".format("0" * 5000), 0, 0, id="no trace of ours"),
])
def test_rates_count_what_was_moved(tmp_path, call, sent, accessed):
    assert rates_of(tmp_path, [call]) == (sent, accessed)


def test_calls_of_long_ago_have_no_rates(tmp_path):
    (tmp_path / "app_node_0_0.trc").write_text(
        "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='1000' version='1' rank='0' thread='0'>\n"
        "<Send size='1000' toRank='1' time='1.0' end='1.500000000' />\n")
    (one,) = LiveRun(tmp_path).look()
    assert (one.rates.calls, one.rates.sent, one.rates.accessed) == (0, 0, 0)


def test_the_view_ends_with_the_run(program, tmp_path):
    folder = tmp_path / "trace"
    assert run(HDTRACE, "record", "--quiet", "-o", folder, MPIRUN, "-n", "2", program, "none").returncode == 0
    assert "ended after" in run(HDTRACE, "watch", folder).stdout


@pytest.mark.parametrize("options", [[], ["--files", "node"]], ids=["process", "node"])
def test_the_view_ends_when_all_are_dead(program, tmp_path, options):
    folder = tmp_path / "trace"
    with subprocess.Popen([HDTRACE, "record", "--quiet", *options, "-o", folder, MPIRUN, "-n", "2", program, "circle"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        look(folder, {0: "inside", 1: "inside"})
        for _, process in unfinished_processes(folder):
            os.kill(process, signal.SIGKILL)
        text = run(HDTRACE, "watch", folder, timeout=60).stdout
    assert "2 processes, 0 inside MPI, 2 died, at" in text and "died in" in text and "Recv fromRank=1" in text
    found = json.loads(run(HDTRACE, "watch", "--json", folder).stdout)
    assert [(one["rank"], one["state"], one["died"]) for one in found] == [(0, "ended", "inside"), (1, "ended", "inside")]


def trace_of(folder, process, host=os.uname().nodename, info="", threads=("<Recv time='1.5' end='2.000000000' unfinished='1' />",)):
    """Of a process that is in a call; its .info, to which nobody writes."""
    name = f"app_{re.sub('[^A-Za-z0-9.-]', '-', host)}_0"
    for thread, call in enumerate(threads):
        (folder / f"{name}_{thread}.trc").write_text(
            f"<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='1000' version='1' rank='0' thread='{thread}'>\n{call}\n")
    info_file = folder / f"{name}_0.info"
    number = f" pid={process}" if process else ""
    info_file.write_text(f"Process base='app' host='{host}' rank=0 size=1 thread=0 version=1 timeAdjustment=1000{number} program='/app'\n{info}")
    return info_file


def states(folder):
    return [(one.state, one.died) for one in LiveRun(folder).look()]


@pytest.fixture
def dead():
    """Nobody has waited for it."""
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        yield child.pid


def test_the_dead_are_known(tmp_path, dead):
    trace_of(tmp_path, dead)
    assert states(tmp_path) == [("ended", "inside")]
    trace_of(tmp_path, dead, info="CpuTime time=1.0 user=1.0 system=1.0\nEnd thread=0 states=1\n")
    assert states(tmp_path) == [("ended", "")], "it has ended in order, without MPI_Finalize"


def test_a_process_that_aborts_does_not_compute(tmp_path):
    trace_of(tmp_path, os.getpid(), threads=["<Abort cid='0' errorcode='1' time='1.5' end='2.000000000' />"])
    assert states(tmp_path) == [("ended", "")]


def test_a_page_says_who_died(tmp_path, dead):
    """And does not say that all have called MPI_Finalize."""
    trace_of(tmp_path, dead)
    page = _Page(tmp_path, Watch(LiveRun(tmp_path), 10), 0)
    page.follow()
    now = json.loads(page.answer("now")[1])
    assert (now["problem"], now["has_ended"], now["rows"][0][1]) == ("1 process died: rank 0", False, "died in")


def test_a_process_has_ended_with_all_its_threads(tmp_path, dead):
    trace_of(tmp_path, dead, info="End thread=0 states=1\n", threads=["<Finalize time='1.5' end='2.0' />", "<Send time='1.0' end='1.2' />"])
    assert states(tmp_path) == [("ended", ""), ("ended", "")]


def test_who_has_no_lock_may_live(tmp_path, dead):
    trace_of(tmp_path, os.getpid())
    assert states(tmp_path) == [("inside", "")], "where descriptors are scarce there is no lock"
    trace_of(tmp_path, None)
    assert states(tmp_path) == [("inside", "")], "its number is not known"
    for file in tmp_path.iterdir():
        file.unlink()
    trace_of(tmp_path, dead, host="elsewhere")
    assert states(tmp_path) == [("inside", "")], "its locks may not be seen here, and these may be copies"


LOCKS = "import fcntl, sys, time; file = open(sys.argv[1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX); print('locked', flush=True); time.sleep(600)"


def test_who_had_a_lock_on_another_host_and_has_none_is_dead(tmp_path):
    info = trace_of(tmp_path, os.getpid(), host="elsewhere")
    live = LiveRun(tmp_path)
    with subprocess.Popen([sys.executable, "-c", LOCKS, info], stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        before = live.look()
        child.kill()
    assert [(one.state, one.died) for one in before + live.look()] == [("inside", ""), ("ended", "inside")]


@pytest.mark.parametrize("words, text", [
    (["watch", "/nowhere/at/all"], "no folder with the traces of a run"), (["watch", "--every", "0", "."], "'0' is not SECONDS"),
    (["record", "--end-stuck", "true"], "--end-stuck needs --stuck-seconds")])
def test_wrong_usage(words, text):
    result = run(HDTRACE, *words)
    assert result.returncode == USAGE and text in result.stderr
