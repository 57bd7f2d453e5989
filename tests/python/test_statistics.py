"""Sums that several threads make of the traces of many processes."""
import os
import subprocess
import sys

import hdtrace
import pytest

from projects_of_lines import HEAD, write_project

PROCESSES = 40


def call(name, begin):
    """Each takes equally long."""
    return f"<{name} cid='0' time='{begin}.000000000' end='{begin + 1}.000000000' />\n"


def region(name, begin):
    return "".join(f"<Event kind='{kind}' name='{name}' time='{begin}.{digit}00000000' />\n" for kind, digit in (("begin", 1), ("end", 2)))


def marks(*events):
    return "".join(f"<Event kind='{kind}' name='{name}' time='{second}' />\n" for kind, name, second in events)


#: a from 1 to 5, b from 3 to 8, with calls of one second in a, in both and in b, around them c until 7.
OVERLAPPING = (marks(("begin", "c", 0), ("begin", "a", 1)) + call("Barrier", 2) + marks(("begin", "b", 3)) + call("Barrier", 4)
               + marks(("end", "a", 5)) + call("Barrier", 6) + marks(("end", "c", 7), ("end", "b", 8)))


def statistics_of(path):
    with hdtrace.open(path) as project:
        statistics = project.calls().statistics([["call"], ["region"], ["call", "rank"]])
        while statistics.read(100):
            pass
        return statistics


def test_regions_with_slashes_in_their_names_are_not_inside_others(tmp_path):
    begin, end = (f"<Event kind='{kind}' name='{{}}' time='{{}}' />\n".format for kind in ("begin", "end"))
    path = write_project(tmp_path, begin("I", 1) + begin("O", 1) + call("Bcast", 1) + end("O", 2) + end("I", 2) + begin("I/O", 2) + call("Barrier", 2) + end("I/O", 3))
    assert labels(statistics_of(path), "region") == ["I/O", "I\\/O", "I"]
    with hdtrace.open(path) as project:
        assert [row["region"] for row in project.analyze().time["region"]] == ["I/O", "I\\/O", "I", ""]
        assert [call.region for call in project.calls() if not call.is_event] == ["I/O", "I\\/O"]
        assert sorted(set(project.to_columns()["region"]) - {None}) == ["I", "I/O", "I\\/O"]


def receive(name, begin, size, attributes):
    end = f"time='{begin}.000000000' end='{begin}.500000000'"
    return f"<{name} fromRank='0' fromTag='1' cid='0' size='{size}' tid='0' {attributes} {end} />\n"


def completion(begin, *children, name="Wait"):
    return f"<{name} time='{begin}.000000000' end='{begin}.500000000' >{''.join(children)}</{name}>\n"


def came(rid, size):
    return f"<For rid='{rid}' fromRank='0' fromTag='1' size='{size}' />"


#: What is posted and what comes: a receive, one that waits, one that nothing is told of, one that is cancelled, a persistent one that is
#: started twice, the second time together with another one, and a file that ends early.
RECEIVES = "".join((
    receive("Irecv", 1, 1000, "rid='0'"), receive("Irecv", 2, 1000, "rid='1'"), completion(3, came(1, 10), came(0, 100), name="Waitall"),
    receive("Recv", 4, 7, ""), receive("Irecv", 5, 1000, "rid='2'"),
    receive("Irecv", 6, 1000, "rid='3'"), completion(7, "<For rid='3' cancelled='1' />"),
    receive("Recv_init", 8, 50, "rid='4'"), receive("Recv_init", 9, 60, "rid='5'"),
    "<Start rid='6' initRid='4' time='10.000000000' end='10.500000000' />\n", completion(11, came(6, 5)),
    completion(12, "<Start rid='7' initRid='4' />", "<Start rid='8' initRid='5' />", name="Startall"), completion(13, came(8, 3), came(7, 4), name="Testall"),
    "<File_iread fid='0' size='16' rid='9' offset='0' time='14.000000000' end='14.500000000' />\n", completion(15, "<For rid='9' actual='12' />")))


def received(project, **selection):
    with hdtrace.open(project) as opened:
        statistics = opened.calls(**selection).statistics([["call"], ["size"]])
        while statistics.read(100):
            pass
        frame = opened.calls(**selection).to_dataframe()
        by_call = {labels[0]: (totals.received, totals.posted) for labels, totals in statistics.groups(["call"])}
        sizes = {labels[0]: totals.calls for labels, totals in statistics.groups(["size"])}
    assert frame.groupby("name", observed=True).recv_bytes.sum().to_dict() == {name: of[0] for name, of in by_call.items()}
    assert (frame.bytes == frame.sent_bytes + frame.recv_bytes).all()
    return {name: of for name, of in by_call.items() if of != (0, 0)}, sizes


def test_no_time_is_the_own_time_of_two_regions_that_overlap(tmp_path):
    statistics = statistics_of(write_project(tmp_path, OVERLAPPING))
    own = {labels[0]: totals.exclusive for labels, totals in statistics.groups(["call"])}
    # In c alone from 0 to 1, in a alone from 1 to 3 and in b from 3 to 8, but for the calls.
    assert own == {"Barrier": 3 * 10**9, "a": 10**9, "b": 3 * 10**9, "c": 10**9}


def test_a_receive_counts_what_came_and_not_what_there_was_room_for(tmp_path):
    project = write_project(tmp_path, RECEIVES)
    by_call, sizes = received(project)
    assert by_call == {"Irecv": (110, 4000), "Recv": (7, 0), "Start": (5, 50), "Startall": (7, 110), "File_iread": (12, 16)}
    assert sizes == {"0": 2, "4..7": 3, "8..15": 2, "64..127": 1}
    assert received(project, name="Irecv")[0] == {"Irecv": (110, 4000)}
    assert received(project, interval=(101_600_000_000, 103_900_000_000))[0] == {"Irecv": (10, 1000)}
    assert received(project, interval=(101_000_000_000, 102_900_000_000))[0] == {"Irecv": (0, 2000)}, "before it came"


def test_another_thread_may_complete_a_receive(tmp_path):
    project = write_project(tmp_path, receive("Irecv", 1, 1000, "rid='0'"))
    for thread in ('<Node name="0"/>', '<Label value="0"/>'):
        project.write_text(project.read_text().replace(thread, thread + thread.replace("0", "1")))
    (tmp_path / "app_node01_0_1.trc").write_text(
        HEAD.format(rank=0).replace("thread='0'", "thread='1'") + completion(2, came(0, 10)) + "</Program>\n")
    assert received(project)[0] == received(project, thread=0)[0] == {"Irecv": (10, 1000)}
    assert received(project, thread=1)[0] == {}


def labels(statistics, by):
    return [labels[0] for labels, _ in statistics.groups([by])]


def test_groups_that_took_equally_long_stand_in_the_order_of_time(tmp_path):
    """Whichever process was read first: a process that comes later in the project begins earlier."""
    names = [f"State{rank}" for rank in range(PROCESSES)]
    traces = [call(name, 100 - rank) + region(name, 200 - rank) + call("Barrier", 300) * 2 for rank, name in enumerate(names)]
    statistics = statistics_of(write_project(tmp_path, *traces))
    assert labels(statistics, "call") == ["Barrier", *reversed(names)]
    assert labels(statistics, "region") == ["", *reversed(names)]
    assert statistics.groups(["call"])[0][1].calls == 2 * PROCESSES
    assert len(statistics.groups(["call", "rank"])) == 2 * PROCESSES


def test_what_is_in_several_processes_is_one_group(tmp_path):
    statistics = statistics_of(write_project(tmp_path, *[region("solve", rank) + call("Barrier", 50) for rank in range(PROCESSES)]))
    (_, outside), (_, solve) = statistics.groups(["region"])
    assert (outside.calls, solve.entered) == (PROCESSES, PROCESSES)
    ((_, barrier),) = statistics.groups(["call"])[:1]
    assert (barrier.calls, barrier.time, barrier.shortest, barrier.longest) == (PROCESSES, PROCESSES * 10**9, 10**9, 10**9)


def test_the_first_broken_trace_is_told(tmp_path):
    """It breaks behind more states than the others, which are read by then."""
    good, broken = call("Barrier", 1), "<broken\n"
    path = write_project(tmp_path, *[good] * 3, good * 5000 + broken, *[good + broken] * 3)
    for _ in range(5):
        with pytest.raises(hdtrace.ReadError, match="_3_0.trc"):
            statistics_of(path)


def test_traces_that_are_cut_off_are_told_in_their_order(tmp_path):
    path = write_project(tmp_path, *[call("Barrier", 100 - rank) for rank in range(PROCESSES)], closing="")
    missing = statistics_of(path).missing
    assert [text.split("_")[-2] for text in missing] == [str(rank) for rank in range(PROCESSES)]


COUNTERS_OF = """
import gc, sys, hdtrace
from hdtrace.streams import read_all
counters = read_all(hdtrace.open(sys.argv[1]).calls().statistics()).counters
gc.collect()
print([(one.definition["unit"], one.sum) for one in counters])
"""


def test_what_is_known_of_counters_outlives_their_project(tmp_path):
    """In a process of its own, where memory is overwritten when it is freed."""
    path = write_project(tmp_path, "<Event name='copied' kind='count' value='7' time='1' />\n")
    counter = '<Counter name="copied" type="integer" unit="B" scope="process" valid="point"><Ranks first="0" last="0"/></Counter>'
    path.write_text(path.read_text().replace("</Application>", f"<Run>{counter}</Run></Application>"))
    shown = subprocess.run([sys.executable, "-c", COUNTERS_OF, path], env={**os.environ, "MALLOC_PERTURB_": "165"}, capture_output=True, text=True)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "[('B', 7)]\n", "")


SUMS_IN_THREADS = """
import sys, threading, time, hdtrace
from hdtrace import _hdtrace
calls = hdtrace.open(sys.argv[1]).calls()
sys.setswitchinterval(1e-6)
end = time.monotonic() + 1
def make(new):
    while time.monotonic() < end:
        kept = [new() for _ in range(20)]
threads = [threading.Thread(target=make, args=(new,)) for new in (lambda: calls.statistics([["call"]]), _hdtrace.Totals) * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_sums_are_made_in_several_threads(tmp_path):
    """While others make objects of the module, too; in a process of its own, which must not die."""
    path = write_project(tmp_path, call("Barrier", 1))
    made = subprocess.run([sys.executable, "-c", SUMS_IN_THREADS, path], capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
