"""A call that never ends says what it waits for, however the program is ended."""
import signal
import time

import pytest
from conftest import wait_for_trace
from support.calls import Call

RECEIVE = Call("Recv", fromRank=-1, fromTag=99, count=3, cid=2, size=None, site=lambda site: site is not None, unfinished=1)
WAYS = {
    "receive": RECEIVE,
    "waitall": Call("Waitall", [Call("Pending", rid=0), Call("Pending", rid=1)], count=3, unfinished=1),
    "probe": Call("Probe", source=0, tag=-1, cid=2, unfinished=1),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_what_it_waits_for(start, way, number):
    victim = start("wait", way)
    victim.wait_for_line("waiting")
    if number == signal.SIGKILL:
        wait_for_trace(victim, lambda text: "unfinished=" in text)
    else:
        time.sleep(0.2)  # it may not have begun to wait
    victim.process.send_signal(number)
    assert victim.wait().returncode == -number
    assert WAYS[way] in victim.trace()


def test_what_several_threads_wait_for(start):
    victim = start("wait", "receive", "thread")
    victim.wait_for_line("waiting")
    wait_for_trace(victim, lambda text: "<Recv " in text)
    victim.process.send_signal(signal.SIGTERM)
    victim.wait()
    assert RECEIVE in victim.trace()
    assert Call("Ssend", toRank=0, toTag=7, count=2, size=8, cid=2, unfinished=1) in victim.trace(thread=1)


def test_what_a_call_inside_another_one_waits_for(start):
    victim = start("wait", "nested", env={"HDTRACE_NESTED": "1", "HDTRACE_ALL_FUNCTIONS": "2"})
    victim.wait_for_line("waiting")
    wait_for_trace(victim, lambda text: "<Recv " in text)
    victim.process.send_signal(signal.SIGTERM)
    victim.wait()
    trace = victim.trace()
    assert RECEIVE in trace
    assert Call("Reduce_local", count=1, op="USER", unfinished=1) in trace
