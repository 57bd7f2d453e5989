"""Sums that several threads make of the traces of many processes."""
import hdtrace
import pytest

from projects_of_lines import write_project

PROCESSES = 40


def call(name, begin):
    """Each takes equally long."""
    return f"<{name} cid='0' time='{begin}.000000000' end='{begin + 1}.000000000' />\n"


def region(name, begin):
    return "".join(f"<Event kind='{kind}' name='{name}' time='{begin}.{digit}00000000' />\n" for kind, digit in (("begin", 1), ("end", 2)))


def statistics_of(path):
    with hdtrace.open(path) as project:
        statistics = project.calls().statistics([["call"], ["region"], ["call", "rank"]])
        while statistics.read(100):
            pass
        return statistics


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
