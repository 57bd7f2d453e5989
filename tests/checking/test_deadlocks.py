"""Programs that hang are ended, and what hdtrace check says of them is who waited for whom."""
import json
import os
import re
import signal
import subprocess
import time
from collections import namedtuple

import hdtrace
import pytest
from support.runs import BUILD, LAUNCHER, SETTINGS, SOURCE, program

RANKS = 3
Expected = namedtuple("Expected", "circle behind", defaults=(set(),))
ALL = Expected({0, 1, 2})

STUCK = {
    "receive_first": ALL, "send_first": ALL, "large_sends": ALL, "from_any": ALL, "wait_for_all": ALL, "wait_for_any": ALL, "wait_for_send": ALL,
    "probe": ALL, "other_tag": Expected({0, 1}), "other_communicator": Expected({0, 1}), "barrier_and_receive": Expected({0, 1}, {2}),
    "two_orders": ALL, "wait_for_barrier": Expected({0, 1}, {2}), "finalize_and_receive": Expected({0, 1}, {2}), "from_oneself": Expected({0}),
    "one_outside": Expected({0, 1}, {2}), "fence_and_receive": Expected({0, 1}, {2}), "polls": ALL, "persistent_barrier": Expected({0, 1}, {2}), "polls_for_requests": ALL, "polls_for_status": ALL,
    "locks_crosswise": ALL, "start_without_post": Expected({0, 1}, {2}), "post_without_complete": Expected({0, 1}, {2}),
    "bcast_from_waiting_root": ALL, "scan_behind_waiting_one": ALL,
    "create_group_without_one": Expected({0, 1}, {2}), "create_from_group_without_one": Expected({0, 1}, {2}), "intercomm_without_one": Expected({0, 2}, {1}), "intercomm_of_two_tags": Expected({0, 1}, {2}),
}
OF_MPI_4 = {"persistent_barrier", "create_from_group_without_one"}
CAN_GO_ON = ["one_computes", "intercomm_while_one_computes", "any_may_come", "one_of_two_may_come", "barrier_without_one", "message_is_there", "polls_and_computes", "computes_between_polls", "lock_is_held",
             "bcast_from_busy_root", "ibcast_from_busy_root", "gather_to_busy_root", "scan_behind_busy_one", "neighbour_of_busy_one"]


# Some of those of which the last calls tell all.
STUCK_AT_END = ["receive_first", "send_first", "from_any", "wait_for_any", "other_communicator", "barrier_and_receive", "finalize_and_receive", "polls_for_requests"]
GOING_AT_END = ["one_computes", "any_may_come", "barrier_without_one", "message_is_there", "bcast_from_busy_root", "lock_is_held"]


def run_until_it_hangs(way, directory, *options, messages=0):
    """Ends the program when its processes have had time to call what they wait in."""
    command = [SOURCE / "scripts/mpirun", "-n", str(RANKS), LAUNCHER, "--for-check", *options, "-d", directory, program("deadlocks"), way, str(messages)]
    environment = {**os.environ, "MPIEXEC": SETTINGS["mpiexec"]}
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, cwd=directory) as run:
        heard = ""
        while heard.count("here") < RANKS:  # the launcher may put the line ends elsewhere
            line = run.stdout.readline()
            assert line
            heard += line
        least = 2 if "poll" in way or options else 1  # polls of less than a second may end
        time.sleep(max(least, time.monotonic() - began))  # longer on a machine that is busy
        run.send_signal(signal.SIGTERM)
        try:
            run.communicate(timeout=30)
        except subprocess.TimeoutExpired:  # Open MPI 4's launcher may lock itself out at its end, when the processes are gone
            run.kill()


def findings(directory):
    result = subprocess.run([BUILD / "bin/hdtrace", "check", "--json", "--no-schemas", directory], capture_output=True, text=True, timeout=60)
    return json.loads(result.stdout)


def deadlocks(found):
    return [finding for finding in found if finding["kind"] == "deadlock"]


def kinds(found):
    return {finding["kind"] for finding in found}


def check_deadlock(found, way):
    (finding,) = deadlocks(found)
    parts = finding["text"].split("; ")
    circle = {int(re.match(r"rank (\d+) waits in \w+.* for .*rank", part)[1]) for part in parts if " waits in " in part}
    behind = {int(number) for part in parts if part.endswith("for them") for number in re.findall(r"\d+", part)}
    assert (circle, behind) == STUCK[way]
    assert finding["severity"] == "error"
    assert finding["site"]["file"].endswith("deadlocks.c")
    assert "killed-by-signal" not in kinds(found), "who ended the run did it because of the deadlock"


@pytest.mark.parametrize("way", STUCK)
def test_who_waits_for_whom(tmp_path, way):
    if way in OF_MPI_4 and SETTINGS["mpi"] == "Open MPI":
        pytest.skip("Open MPI 4 is of MPI 3.1")
    run_until_it_hangs(way, tmp_path)
    check_deadlock(findings(tmp_path), way)


KEPT = ("--keep-last", "2M")
MANY = 15000  # messages, of which fewer are kept


@pytest.mark.parametrize("way", STUCK_AT_END)
def test_who_waits_for_whom_if_only_the_end_is_there(tmp_path, way):
    run_until_it_hangs(way, tmp_path, *KEPT, messages=MANY)
    with pytest.warns(hdtrace.MergeWarning, match="of 3 processes only the last 2M are kept"):
        hdtrace.open(tmp_path)
    check_deadlock(findings(tmp_path), way)


@pytest.mark.parametrize("way", GOING_AT_END)
def test_who_can_go_on_if_only_the_end_is_there(tmp_path, way):
    run_until_it_hangs(way, tmp_path, *KEPT, messages=MANY)
    assert deadlocks(findings(tmp_path)) == []


def test_analysis_tells_that_calls_never_ended(tmp_path):
    run_until_it_hangs("receive_first", tmp_path)
    command = [BUILD / "bin/hdtrace", "analyze", tmp_path]
    assert json.loads(subprocess.run([*command, "--json"], capture_output=True, timeout=60).stdout)["unfinished"] == RANKS
    assert "3 calls had not ended; " in subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    project = hdtrace.open(tmp_path)
    assert project.analyze(interval=(None, min(call.time for call in project.calls()))).unfinished == 0, "none of them had begun"


@pytest.mark.parametrize("way", CAN_GO_ON)
def test_who_can_go_on(tmp_path, way):
    run_until_it_hangs(way, tmp_path)
    assert deadlocks(findings(tmp_path)) == []


@pytest.mark.parametrize("way", ["other_call", "other_order"])
def test_calls_that_do_not_belong_together(tmp_path, way):
    """Nothing more is told of how the processes ended that never come out of them."""
    run_until_it_hangs(way, tmp_path)
    assert kinds(findings(tmp_path)) - {"request-not-completed"} == {"collective-call-mismatch"}
