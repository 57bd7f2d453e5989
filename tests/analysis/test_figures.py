"""How large figures are, exactly: of traces of a few lines, whose times are known."""
import sys
from pathlib import Path

import hdtrace
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from projects_of_lines import add_thread, write_project  # noqa: E402

NAMES = ("parallel", "load_balance", "io", "communication", "serialisation", "transfer")


def call(name, begin, end, attributes="", children=""):
    return begin, end, name, attributes, children


def send(begin, end, to):
    return call("Send", begin, end, f"size='4' count='1' tid='0' toRank='{to}' toTag='0' cid='0'")


def receive(begin, end, source):
    return call("Recv", begin, end, f"fromRank='{source}' fromTag='0' size='4' cid='0' count='1' tid='0'")


def barrier(begin, end):
    return call("Barrier", begin, end, "cid='0'")


def line(one, scale):
    if isinstance(one, str):
        return one
    begin, end, name, attributes, children = one
    return f"<{name} {attributes} time='{begin * scale:.9f}' end='{end * scale:.9f}' >{children}</{name}>\n"


@pytest.fixture
def analyze(tmp_path):
    def analyze(*ranks, scale=1, windows=False):
        texts = ["".join(line(one, scale) for one in [call("Init", 0, 1), *calls]) for calls in ranks]
        path = write_project(tmp_path, *texts)
        if windows:
            members = "".join(f'<Rank global="{rank}" local="{rank}" wid="0" size="8" dispUnit="1"/>' for rank in range(len(ranks)))
            window = f'<WindowList><Window name="" uid="W/w1" communicator="W">{members}</Window></WindowList>'
            path.write_text(path.read_text().replace("</CommunicatorList>", f"</CommunicatorList>{window}"))
        with hdtrace.open(path) as project:
            return project.analyze()

    return analyze


def finalize(begin, end):
    return call("Finalize", begin, end)


def waits(analysis):
    return {(row["rank"], row["kind"]): round(row["seconds"], 9) for row in analysis.wait_states}


CHAIN = (
    [send(5, 5.5, 1), finalize(8, 9)],
    [receive(1, 6, 0), send(6, 6.5, 2), finalize(8, 9)],
    [receive(2, 7, 1), finalize(8, 9)],
)


def test_chain(analyze):
    analysis = analyze(*CHAIN)
    assert waits(analysis) == {(1, "late-sender"): 4, (2, "late-sender"): 4}
    (cause, rest) = analysis.causes
    assert (cause["rank"], cause["until"]["call"], cause["direct"], cause["waiting_ranks"]) == (0, "Send", 4, 1)
    # Rank 2 waits from 2 to 6 for rank 1, which was 4 late by waiting and 1 by the end of its receive.
    assert cause["propagated"] == pytest.approx(4 * 4 / 5)
    assert (rest["rank"], rest["activity"], rest["call"], rest["direct"]) == (1, "call", "Recv", pytest.approx(4 / 5))


def test_critical_path(analyze):
    (*first, _), (*second, _), third = CHAIN
    path = analyze([*first, finalize(7, 9)], [*second, finalize(7, 9)], third).critical_path
    assert path["seconds"] == 9
    # Back from the end of rank 0, which waits for rank 2 from 7 to 8.
    assert {row["rank"]: row["seconds"] for row in path["ranks"]} == {0: 6, 1: 1, 2: 2}
    parts = {(row["activity"], (row["until"] or row)["call"]): (row["seconds"], row["mean"]) for row in path["profile"]}
    assert parts == {
        ("call", "Init"): (1, 1), ("computation", "Send"): (4, pytest.approx(4 / 3)), ("call", "Recv"): (2, pytest.approx(2 / 3)),
        ("computation", "Finalize"): (1, pytest.approx(1 / 3)), ("call", "Finalize"): (1, 1),
    }


def test_critical_path_of_threads(tmp_path):
    """It comes from a thread that sends, and before that begins to call from the thread of its process that called first."""
    def text(*calls):
        return "".join(line(one, 1) for one in calls)

    path = write_project(tmp_path, text(call("Init_thread", 0, 1), receive(2, 6, 1), finalize(8, 9)), text(call("Init_thread", 0, 1), barrier(6, 8), finalize(8, 9)))
    add_thread(path, 1, text(call("Comm_rank", 2, 2.5, "cid='0'"), send(5, 5.5, 0)))
    with hdtrace.open(path) as project:
        analysis = project.analyze()
    assert {row["rank"]: row["seconds"] for row in analysis.critical_path["ranks"]} == {0: 4, 1: 5}
    parts = {(row["rank"], row["activity"], row["call"]): row["seconds"] for row in analysis.critical_path["profile"]}
    assert parts == {(1, "call", "Init_thread"): 1, (1, "computation", "Init_thread"): 1, (1, "call", "Comm_rank"): 0.5, (1, "computation", "Comm_rank"): 2.5,
                     (0, "call", "Recv"): 1, (0, "computation", "Recv"): 2, (0, "call", "Finalize"): 1}


def test_efficiencies(analyze):
    found = analyze(*CHAIN).efficiencies
    # Rank 0 computes 4 and 2.5, rank 1 1.5, rank 2 1 and 1; on an ideal network rank 1 and 2 have their messages at 5.
    assert (found["seconds"], found["most_computation"], found["computation"]) == (7, 6.5, pytest.approx((6.5 + 1.5 + 2) / 3))
    assert found["ideal_seconds"] == 6.5
    assert found["serialisation"] == 1 and found["transfer"] == pytest.approx(6.5 / 7)


def write(begin, end, name="File_write"):
    return call(name, begin, end, "fid='0' size='4' count='1' tid='0'")


def test_files_are_not_blamed_on_waiting(analyze):
    """Both compute 1 and write for 4; then both compute 1, and one of them writes for 4 while the other waits."""
    found = analyze([write(2, 6), finalize(6, 7)], [write(2, 6), finalize(6, 7)]).efficiencies
    assert found["io"] == pytest.approx(1 / 5)
    assert [found[name] for name in ("load_balance", "communication", "serialisation", "transfer")] == [1, 1, 1, 1]
    found = analyze([write(2, 6), barrier(6, 6), finalize(6, 7)], [barrier(2, 6), finalize(6, 7)]).efficiencies
    assert (found["io"], found["load_balance"], found["communication"]) == (pytest.approx(1 / 5), 1, 1)


def test_writing_in_turn_is_waiting(analyze):
    """Each computes 1 and writes 4, but the second only when the first has: it waits as long as it writes."""
    found = analyze([write(2, 6), send(6, 6, 1), barrier(6, 10), finalize(10, 11)],
                    [receive(2, 6, 0), write(6, 10), barrier(10, 10), finalize(10, 11)]).efficiencies
    assert (found["io"], found["serialisation"], found["transfer"]) == (pytest.approx(1 / 5), pytest.approx(5 / 9), 1)


def test_balanced_run_is_efficient(analyze):
    analysis = analyze(*[[barrier(3, 3), barrier(5, 5), finalize(6, 7)]] * 4)
    assert all(analysis.efficiencies[name] == 1 for name in NAMES)
    assert not analysis.wait_states and not analysis.causes


def test_twice_the_time_is_as_efficient(analyze):
    once, twice = analyze(*CHAIN).efficiencies, analyze(*CHAIN, scale=2).efficiencies
    assert {name: twice[name] for name in NAMES} == pytest.approx({name: once[name] for name in NAMES})
    assert twice["seconds"] == 2 * once["seconds"]


def test_two_late_processes(analyze):
    """Rank 2 comes last, rank 1 before it: all wait for rank 2 only, and the time is shared as it took longer."""
    analysis = analyze([barrier(2, 6), finalize(7, 8)], [barrier(4, 6), finalize(7, 8)], [barrier(5, 6), finalize(7, 8)])
    assert waits(analysis) == {(0, "wait-at-barrier"): 3, (1, "wait-at-barrier"): 1}
    (cause,) = analysis.causes
    assert (cause["rank"], cause["seconds"], cause["propagated"], cause["waiting_ranks"]) == (2, 4, 0, 2)
    (imbalance,) = [row for row in analysis.critical_path["profile"] if row["activity"] == "computation" and row["until"]["call"] == "Barrier"]
    assert imbalance["imbalance"] == pytest.approx(4 - (1 + 3 + 4) / 3)


def test_completion(analyze):
    analysis = analyze([barrier(2, 6)], [barrier(4, 7)], [barrier(5, 9)])
    assert waits(analysis) == {(0, "wait-at-barrier"): 3, (1, "wait-at-barrier"): 1, (1, "barrier-completion"): 1, (2, "barrier-completion"): 3}


def test_completion_is_a_part_of_its_call_on_the_critical_path(analyze):
    path = analyze([barrier(2, 6)], [barrier(4, 7)], [barrier(5, 9)]).critical_path
    parts = {(row["activity"], (row["until"] or row)["call"]): (row["seconds"], row["mean"]) for row in path["profile"]}
    assert parts == {
        ("call", "Init"): (1, 1), ("computation", "Barrier"): (4, pytest.approx((1 + 3 + 4) / 3)),
        ("call", "Barrier"): (4, pytest.approx((1 + 2 + 4) / 3)),
    }


def test_waiting_ends_with_the_call(analyze):
    """Where clocks do not agree, a message seems to come before it is sent."""
    analysis = analyze([send(5, 6, 1)], [receive(1, 3, 0)])
    assert waits(analysis) == {(1, "late-sender"): 2}
    assert analysis.critical_path["seconds"] == 6


def test_only_the_latest_counts(analyze):
    wait = call("Waitall", 2, 8, "count='2'", "<For rid='0' fromRank='0' fromTag='0' size='4' /><For rid='1' fromRank='1' fromTag='0' size='4' />")
    starts = [call("Irecv", 1, 1, f"fromRank='{source}' fromTag='0' cid='0' rid='{source}' size='4' count='1' tid='0'") for source in (0, 1)]
    analysis = analyze([send(4, 5, 2)], [send(7, 7.5, 2)], [*starts, wait])
    assert waits(analysis) == {(2, "late-sender"): 5}
    assert analysis.wait_states[0]["cause"]["rank"] == 1


def test_interval(analyze, tmp_path):
    """The first barrier is before it in rank 0 only; it is none of those that are in it."""
    analyze([barrier(1, 2), barrier(4, 6)], [barrier(2, 3), barrier(5, 6)])
    second = 1_000_000_000
    with hdtrace.open(tmp_path / "app.proj") as project:
        analysis = project.analyze(interval=(project.start + 2 * second + 1, None))
    assert waits(analysis) == {(0, "wait-at-barrier"): 1}
    assert analysis.critical_path["seconds"] == analysis.seconds == 4


def test_lock_contention(analyze):
    """Rank 2 asks while rank 1 holds the lock, rank 0 when nobody does."""
    analysis = analyze(*[[call("Win_lock", begin, end, "wid='0' toRank='0' lockType='MPI_LOCK_EXCLUSIVE'"), call("Win_unlock", last, last + 0.5, "wid='0' toRank='0'")]
                         for begin, end, last in ((9, 9.1, 9.5), (1, 1.5, 4), (2, 4.6, 5))], windows=True)
    assert waits(analysis) == {(2, "lock-contention"): 2}


def locked(lock, *, flush=None, unlock, exclusive=True):
    """The calls of a process that locks rank 0, with when they begin and end."""
    kind = "MPI_LOCK_EXCLUSIVE" if exclusive else "MPI_LOCK_SHARED"
    target = "wid='0' toRank='0'"
    flushes = [call("Win_flush", *flush, target)] if flush else []
    return [call("Win_lock", *lock, f"{target} lockType='{kind}'"), *flushes, call("Win_unlock", *unlock, target)]


def test_lock_that_returns_before_it_is_got(analyze):
    """The holder gives it up at 4."""
    holder = locked((1, 1.1), flush=(1.1, 1.2), unlock=(4, 4.1))
    analysis = analyze(holder, locked((2, 2.1), flush=(3, 4.5), unlock=(5, 5.5)), windows=True)
    assert waits(analysis) == {(1, "lock-contention"): 1}
    assert analysis.wait_states[0]["call"] == "Win_flush" and analysis.wait_states[0]["cause"]["call"] == "Win_unlock"
    analysis = analyze(holder, locked((2, 2.1), unlock=(2.5, 5)), windows=True)
    assert waits(analysis) == {(1, "lock-contention"): 1.5}
    assert analysis.wait_states[0]["call"] == "Win_unlock"
    everywhere = [call("Win_lock", 2, 2.1, "wid='0' toRank='0' lockType='MPI_LOCK_SHARED'"), call("Win_flush_all", 3, 4.5, "wid='0'"), call("Win_unlock", 5, 5.5, "wid='0' toRank='0'")]
    assert waits(analyze(holder, everywhere, windows=True)) == {(1, "lock-contention"): 1}


def test_flush_that_waits_for_no_lock(analyze):
    """Data takes its time: both share the lock; the other one waits for it; it is another flush than the first one."""
    shared = {"exclusive": False}
    assert not waits(analyze(locked((1, 1.1), unlock=(4, 4.1), **shared), locked((2, 2.1), flush=(3, 4.5), unlock=(5, 5.5), **shared), windows=True))
    later = analyze(locked((2.5, 2.6), unlock=(4, 5.8)), locked((2, 2.1), flush=(3, 4.5), unlock=(5, 5.5)), windows=True)
    assert waits(later) == {(0, "lock-contention"): 1}
    second = locked((1, 1.1), flush=(1.1, 1.2), unlock=(5, 5.5))
    second.insert(2, call("Win_flush", 3, 4.5, "wid='0' toRank='0'"))
    assert not waits(analyze(locked((1, 1.1), unlock=(4, 4.1)), second, windows=True))


@pytest.mark.parametrize("seconds, polling", [("2.500000000", 2.7), ("9.000000000", 3.1)])
@pytest.mark.parametrize("behind", ["Test", "Wait"])
def test_polls_that_were_left_out(analyze, behind, seconds, polling):
    """They are no computation. Not more than there is room for."""
    analysis = analyze([call("Test", 2, 2.1, "flag='0'"), call(behind, 5, 5.1, f"flag='1' pollTime='{seconds}'"), finalize(6, 7)])
    (row,) = analysis.time["rank"]
    assert row["calls"] == 4, "their number is in no trace"
    assert row["mpi"] == pytest.approx(polling + 2) and row["computation"] == pytest.approx(7 - 2 - polling)


def region(name, begin, end, *calls):
    return [f"<Event name='{name}' kind='begin' time='{begin}' />\n", *calls, f"<Event name='{name}' kind='end' time='{end}' />\n"]


def test_region_without_calls(analyze):
    analysis = analyze([*region("solve", "2.0", "5.0"), finalize(6, 7)])
    assert {row["region"]: (row["computation"], row["mpi"]) for row in analysis.time["region"]} == {"": (2, 2), "solve": (3, 0)}
    assert analysis.critical_path["seconds"] == 7


def test_borders_of_regions_are_told_apart(analyze):
    """Computation begins at one's beginning or behind one's end; before the first call there is none."""
    analysis = analyze([*region("solve", "2.0", "5.0"), finalize(6, 7)])
    path = {(row["call"], row["region"], row["left"]): row["seconds"] for row in analysis.critical_path["profile"] if row["activity"] == "computation"}
    assert path == {("Init", "", None): 1, (None, "solve", None): 3, (None, "", "solve"): 1}


def test_what_is_repeated_with_regions_is_one_phase(analyze):
    """Each iteration begins and ends a region; before it another one ended."""
    steps = [line for step in range(3, 23) for line in region("step", f"{step}.1", f"{step}.9", barrier(step + 0.2, step + 0.3))]
    analysis = analyze([*region("set up", "2.0", "2.5"), *steps, finalize(24, 25)])
    (phase,) = analysis.phases
    assert phase["iterations"] == 20
    assert {(call["call"], call["region"], call["left"]) for call in phase["calls"]} == {(None, "step", None), ("Barrier", "step", None), (None, "", "step")}
