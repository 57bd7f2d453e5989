"""Which calls are said to wait, why, for whom and how long."""
import json
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import hdtrace
import pytest
from support.runs import BUILD

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from projects_of_lines import write_project  # noqa: E402

RANKS = 4
LATE = 0.1  # seconds

Waiting = namedtuple("Waiting", "kind ranks call late late_call")
WAYS = {
    "late_sender": Waiting("late-sender", {0}, "Recv", 1, "Send"),
    "late_sender_nonblocking": Waiting("late-sender", {0}, "Waitall", 1, "Isend"),
    "wrong_order": Waiting("wrong-order", {0}, "Recv", 1, "Send"),
    "late_receiver": Waiting("late-receiver", {0}, "Ssend", 1, "Recv"),
    "late_receiver_nonblocking": Waiting("late-receiver", {0}, "Wait", 1, "Recv"),
    "probe": Waiting("late-sender", {0}, "Probe", 1, "Send"),
    "barrier": Waiting("wait-at-barrier", {0, 1, 3}, "Barrier", 2, "Barrier"),
    "allreduce": Waiting("wait-at-nxn", {0, 2, 3}, "Allreduce", 1, "Allreduce"),
    "iallreduce": Waiting("wait-at-nxn", {0, 2, 3}, "Wait", 1, "Iallreduce"),
    "reduce": Waiting("early-reduce", {0}, "Reduce", 2, "Reduce"),
    "gather": Waiting("early-gather", {0}, "Gather", 1, "Gather"),
    "broadcast": Waiting("late-broadcast", {1, 2, 3}, "Bcast", 0, "Bcast"),
    "scatter": Waiting("late-scatter", {1, 2, 3}, "Scatter", 0, "Scatter"),
    "scan": Waiting("wait-at-prefix", {2, 3}, "Scan", 1, "Scan"),
    "neighbours": Waiting("wait-at-neighbours", {0, 2}, "Neighbor_allgatherv", 1, "Neighbor_allgatherv"),
    "neighbours_nonblocking": Waiting("wait-at-neighbours", {0, 2}, "Wait", 1, "Ineighbor_alltoallv"),
    "between_groups": Waiting("wait-at-nxn", {2, 3}, "Allreduce", 1, "Allreduce"),
    "broadcast_to_group": Waiting("late-broadcast", {2, 3}, "Bcast", 1, "Bcast"),
    "reduce_from_group": Waiting("early-reduce", {2}, "Wait", 1, "Ireduce"),
    "file": Waiting("wait-at-file", {0, 2, 3}, "File_write_at_all", 1, "File_write_at_all"),
    "post": Waiting("late-post", {0}, ("Win_start", "Win_complete"), 1, "Win_post"),
    "complete": Waiting("early-wait", {0}, "Win_wait", 1, "Win_complete"),
    "fence": Waiting("wait-at-window", {0, 2, 3}, "Win_fence", 1, "Win_fence"),
}


@pytest.fixture(scope="session")
def project(trace):
    return trace("waits", RANKS, *WAYS, "persistent")[1]


@pytest.fixture(scope="session")
def analysis(project):
    return project.analyze()


def longest_waits(analysis, function, calls):
    """By rank; completions depend on the MPI library."""
    waits = {}
    for row in reversed(analysis.wait_states):  # the longest come first
        if row["site"] and row["site"].function == function and row["call"] in calls and not row["kind"].endswith("-completion"):
            waits[row["rank"]] = row
    return waits


@pytest.mark.parametrize("way", WAYS)
def test_wait_state(analysis, project, way):
    """Whoever comes before the late one waits until that comes; on a machine that is busy others may be late, too."""
    kind, ranks, calls, late, late_call = WAYS[way]
    calls = [calls] if isinstance(calls, str) else calls
    begins = {(one.rank, one.site.line): one.time for one in project.calls(name=[*calls, late_call]) if one.site and one.site.function == way}
    found = {rank: row for rank, row in longest_waits(analysis, way, calls).items() if row["seconds"] > LATE / 4}
    assert found and set(found) <= ranks
    for rank, row in found.items():
        cause = row["cause"]
        assert (row["kind"], cause["rank"], cause["call"]) == (kind, late, late_call)
        waited = begins[late, cause["site"].line] - begins[rank, row["site"].line]
        assert (row["count"], row["seconds"]) == (1, pytest.approx(waited / 1e9, abs=1e-9))


@pytest.mark.parametrize("topology", ["cartesian", "subgrid", "graph", "adjacent", "distributed", "copied"])
def test_neighbours_that_only_the_topology_names(trace, topology):
    """On the way to process 0 and 2 as a ring of four of them; traces for checks name the neighbours themselves."""
    for for_check in ("0", "1"):
        _, project = trace("waits", RANKS, topology, HDTRACE_FOR_CHECK=for_check)
        waits = longest_waits(project.analyze(), "exchange_on", ["Neighbor_allgather"])
        assert {rank for rank, row in waits.items() if row["seconds"] > LATE / 4} == {0, 2}
        assert {row["kind"] for row in waits.values()} == {"wait-at-neighbours"}


@pytest.mark.parametrize("size", [4, 0])
def test_a_grid_has_borders(tmp_path, size):
    """Of two rows of three processes, wrapped only in the rows, 0 has 3 below it and 1 and 2 beside it. Nobody waits for nothing."""
    begin = "<Cart_create cid='0' newcid='1' ndims='2' dims='2;3;' periods='0;1;' reorder='0' time='1' end='2' />\n"
    states = [f"{begin}<Neighbor_allgather cid='1' size='{size}' recvSize='{size}' time='{3 + rank}' end='10' />\n" for rank in range(6)]
    path = write_project(tmp_path, *states)
    members = "".join(f'<Rank global="{rank}" local="{rank}" cid="1"/>' for rank in range(6))
    path.write_text(path.read_text().replace("</CommunicatorList>", f'<Communicator name="CART" uid="W/1">{members}</Communicator></CommunicatorList>'))
    with hdtrace.open(path) as project:
        latest = {row["rank"]: row["cause"]["rank"] for row in project.analyze().wait_states if row["kind"] == "wait-at-neighbours"}
    assert latest == ({0: 3, 1: 4, 2: 5, 3: 5, 4: 5} if size else {})


def test_persistent_collective_operation(analysis, project):
    if not any(one.site and one.site.function == "persistent" for one in project.calls(name="Start")):
        pytest.skip("the MPI library has none")
    found = {rank: row for rank, row in longest_waits(analysis, "persistent", ["Wait"]).items() if row["seconds"] > LATE / 4}
    assert found and set(found) <= {0, 2, 3}
    assert {(row["kind"], row["cause"]["rank"], row["cause"]["call"]) for row in found.values()} == {("wait-at-nxn", 1, "Start")}


def test_starts_of_persistent_collective_operations(tmp_path):
    """The same start of all members belongs together, whatever the order in which each starts what it has prepared."""
    prepare = "<Allreduce_init size='4' cid='0' count='1' tid='0' rid='1' time='1' end='2' /><Bcast_init size='4' rootRank='0' cid='0' count='1' tid='0' rid='2' time='2' end='3' />"

    def start(rid, prepared, time):
        return f"<Start rid='{rid}' initRid='{prepared}' time='{time}' end='{time}.5' />"

    def wait(rid, time, end):
        return f"<Wait time='{time}' end='{end}' ><For rid='{rid}' /></Wait>"

    first = [prepare, start(3, 1, 4), wait(3, 5, 10), start(4, 2, 15), wait(4, 16, 17), start(5, 1, 20), wait(5, 21, 31)]
    second = [prepare, start(3, 2, 7), start(4, 1, 9), wait(4, 9.6, 10), wait(3, 11, 17), start(5, 1, 30), wait(5, 30.6, 31)]
    with hdtrace.open(write_project(tmp_path, *("\n".join(lines).replace("/><", "/>\n<") + "\n" for lines in (first, second)))) as project:
        waits = project.analyze().wait_states
    assert [(row["kind"], row["rank"], row["count"], row["seconds"], row["cause"] and row["cause"]["rank"]) for row in waits] == [
        ("wait-at-nxn", 0, 2, 13.0, 1), ("late-broadcast", 1, 1, 4.0, 0)]


def test_operations_of_one_startall(tmp_path):
    """Each ends in the call that completes it: here in the order in which they do not stand, and the second one a second later."""
    prepare = "<Allreduce_init size='4' cid='0' count='1' tid='0' rid='1' time='1' end='2' />\n<Bcast_init size='4' rootRank='1' cid='0' count='1' tid='0' rid='2' time='2' end='3' />\n"
    start = "<Startall count='2' time='{0}' end='{0}.5' ><Start rid='3' initRid='1' /><Start rid='4' initRid='2' /></Startall>\n"
    early = prepare + start.format(4) + "<Wait time='5' end='9' ><For rid='4' /></Wait>\n<Wait time='9' end='10' ><For rid='3' /></Wait>\n"
    late = prepare + start.format(8) + "<Wait time='9' end='9.5' ><For rid='3' /></Wait>\n<Wait time='9.5' end='10' ><For rid='4' /></Wait>\n"
    with hdtrace.open(write_project(tmp_path, early, late)) as project:
        waits = project.analyze().wait_states
    assert [(row["kind"], row["rank"], row["seconds"]) for row in waits if row["cause"]] == [("late-broadcast", 0, 3.0)]
    neighbours = early.replace("Allreduce", "Neighbor_allgather"), late.replace("Allreduce", "Neighbor_allgather")
    with hdtrace.open(write_project(tmp_path, *neighbours)) as project:
        assert [row["kind"] for row in project.analyze().wait_states if row["cause"]] == ["late-broadcast"]


def test_neighbours_that_a_persistent_operation_lists(tmp_path):
    prepare = "<{0}_init cid='0' tid='0' recvtid='0' rid='1' time='1' end='2' ><Send rank='{1}' size='4' count='1' tid='0' /><Recv rank='{1}' size='4' count='1' tid='0' /></{0}_init>\n"
    start = "<Start rid='2' initRid='1' time='{0}' end='{0}.5' />\n<Wait time='{0}.5' end='10' ><For rid='2' /></Wait>\n"
    for name in ("Neighbor_alltoallv", "Neighbor_alltoallw"):
        with hdtrace.open(write_project(tmp_path, *(prepare.format(name, 1 - rank) + start.format(time) for rank, time in enumerate((4, 9))))) as project:
            waits = project.analyze().wait_states
        assert [(row["kind"], row["rank"], row["cause"]["rank"]) for row in waits if row["cause"]] == [("wait-at-neighbours", 0, 1)]


def test_neighbours_of_a_process_that_calls_something_else(tmp_path):
    """It is wrong, and analyzed all the same."""
    exchange = "<Neighbor_alltoallv cid='0' tid='0' recvtid='0' time='1' end='3' ><Send rank='1' size='4' count='1' tid='0' displ='0' /><Recv rank='1' size='4' count='1' tid='0' displ='0' /></Neighbor_alltoallv>\n"
    with hdtrace.open(write_project(tmp_path, exchange, "<Barrier cid='0' time='2' end='3' />\n")) as project:
        waits = project.analyze().wait_states
    assert not [row for row in waits if row["kind"] == "wait-at-neighbours"]


def test_finalize(analysis):
    assert {row["cause"]["rank"] for row in analysis.wait_states if row["kind"] == "wait-at-finalize"} == {1}


def test_command_tells_the_same(analysis, project):
    output = subprocess.run([BUILD / "bin/hdtrace", "analyze", "--json", project.path], capture_output=True, text=True, check=True, timeout=60).stdout
    told = json.loads(output)
    assert told["version"] == 1 and told["seconds"] == analysis.seconds
    assert told["activities"] == analysis.activities
    assert [row["seconds"] for row in told["wait_states"]] == [row["seconds"] for row in analysis.wait_states]
    assert told["wait_states"][0]["site"]["file"].endswith("waits.c")


def test_tables(analysis):
    waits = analysis.to_dataframe()
    assert waits["seconds"].sum() == pytest.approx(sum(row["waiting"] for row in analysis.time["rank"]))
    assert {"kind", "rank", "site", "cause_rank", "cause_site"} <= set(waits.columns)
    ranks = analysis.to_dataframe("rank").set_index("rank")
    assert ranks["mpi_collective"].sum() == pytest.approx(next(row["seconds"] for row in analysis.activities if row["activity"] == "collective"))
    assert list(ranks.index) == list(range(RANKS))


def waits_of(tmp_path, *lines_of_ranks):
    with hdtrace.open(write_project(tmp_path, *("".join(f"{line}\n" for line in lines) for lines in lines_of_ranks))) as project:
        return sorted((row["rank"], row["call"], row["kind"], row["seconds"], row["cause"]["rank"], row["cause"]["call"])
                      for row in project.analyze().wait_states if row["cause"])


def send_to_first(tag, time):
    return f"<Send size='4' count='1' tid='0' toRank='0' toTag='{tag}' cid='0' time='{time}' end='{time}.5' />"


def receive_of(source, tag, time, end):
    return f"<Recv fromRank='{source}' fromTag='{tag}' cid='0' size='4' count='1' tid='0' time='{time}' end='{end}' />"


LOOKED_FOR = "source='1' tag='5' cid='0' fromRank='1' fromTag='5' size='4'"
PROBE = f"<Probe {LOOKED_FOR} time='1' end='4' />"
MPROBE = f"<Mprobe {LOOKED_FOR} mid='0' time='1' end='4' />"
COUNT = "<Get_count time='4.1' end='4.2' />"
START_OF_RECEIVE = "fromRank='1' fromTag='5' cid='0' size='4' count='1' tid='0' rid='0' time='5' end='5.1' />"
WAIT = "<Wait time='5.2' end='5.3' ><For rid='0' fromRank='1' fromTag='5' size='4' /></Wait>"
RECEIVES = {
    "next": [PROBE, receive_of(1, 5, 5, 6)],
    "behind_a_query": [PROBE, COUNT, receive_of(1, 5, 5, 6)],
    "behind_another_probe": [PROBE, f"<Probe {LOOKED_FOR} time='4.1' end='4.2' />", receive_of(1, 5, 5, 6)],
    "behind_a_send": [PROBE, "<Send size='4' count='1' tid='0' toRank='1' toTag='1' cid='0' time='4.1' end='4.2' />", receive_of(1, 5, 5, 6)],
    "nonblocking": [PROBE, f"<Irecv {START_OF_RECEIVE}", WAIT],
    "of_a_taken_message": [MPROBE, f"<Imrecv mid='0' {START_OF_RECEIVE}", WAIT],
}


@pytest.mark.parametrize("way", RECEIVES)
def test_who_probes_waits_for_the_message_that_it_finds(tmp_path, way):
    assert waits_of(tmp_path, RECEIVES[way], [send_to_first(5, 3)]) == [(0, RECEIVES[way][0].split()[0][1:], "late-sender", 2.0, 1, "Send")]


def test_who_probes_waits_for_nobody_whose_message_comes_later(tmp_path):
    """Though it receives that first."""
    lines = [PROBE, receive_of(2, 6, 5, 8), receive_of(1, 5, 8, 9)]
    assert waits_of(tmp_path, lines, [send_to_first(5, 3)], [send_to_first(6, 7)]) == [
        (0, "Probe", "late-sender", 2.0, 1, "Send"), (0, "Recv", "wrong-order", 2.0, 2, "Send")]


def test_a_message_in_partitions_waits_for_the_last_of_them(tmp_path):
    """Of that start: the next one is ready before the receiver has noticed that this one has come."""
    init = "{0} cid='0' rid='0' size='16' count='2' tid='0' partitions='2' time='1' end='1.1' />"
    rounds = [line for rid, time in ((1, 2), (2, 6)) for line in (
        f"<Start rid='{rid}' initRid='0' time='{time}' end='{time}.1' />", f"<Pready rid='{rid}' partition='1' time='{time + 1}' end='{time + 1}.1' />",
        f"<Pready rid='{rid}' partition='0' time='{time + 2}' end='{time + 2}.1' />", f"<Wait time='{time + 2}.2' end='{time + 2}.3' ><For rid='{rid}' /></Wait>")]
    received = [line for rid, time in ((1, 2.5), (2, 9.2)) for line in (
        f"<Start rid='{rid}' initRid='0' time='{time}' end='{time + 0.1:.1f}' />",
        f"<Wait time='{time + 0.5:.1f}' end='{time + 6.5:.1f}' ><For rid='{rid}' fromRank='0' fromTag='3' size='16' /></Wait>")]
    assert waits_of(tmp_path, [init.format("<Psend_init toRank='1' toTag='3'"), *rounds], [init.format("<Precv_init fromRank='0' fromTag='3'"), *received]) == [
        (1, "Wait", "late-sender", 1.0, 0, "Pready")]


def bcast(size, time, end):
    return f"<Bcast size='{size}' cid='0' count='{size}' tid='0' rootRank='0' time='{time}' end='{end}' />"


def gatherv(size, time, end, received=""):
    return f"<Gatherv size='{size}' cid='0' count='{size}' tid='0' rootRank='0' time='{time}' end='{end}' >{received}</Gatherv>"


def test_nobody_waits_for_empty_data(tmp_path):
    for size, waits in ((4, [(1, "Bcast", "late-broadcast", 0.5, 0, "Bcast")]), (0, [])):  # with data, clocks were not exact
        assert waits_of(tmp_path, [bcast(size, 5, 5.1)], [bcast(size, 1, 1.5)]) == waits
    assert waits_of(tmp_path, [bcast(0, 2, 2.1)], [bcast(0, 1, 2.2)]) == [(1, "Bcast", "late-broadcast", 1.0, 0, "Bcast")]


def test_the_root_waits_for_those_who_give_it_data(tmp_path):
    """The empty part of rank 2 comes after the root has ended; times on an ideal network do not hold it either."""
    lines = [[gatherv(4, 1, 3.1, "<Recv rank='0' size='4' /><Recv rank='1' size='4' />")], [gatherv(4, 3, 3.1)], [gatherv(0, 7, 7.1)]]
    assert waits_of(tmp_path, *lines) == [(0, "Gatherv", "early-gather", 2.0, 1, "Gatherv")]
    lines[0].append("<Barrier cid='0' time='7.2' end='7.3' />")
    for line in lines[1:]:
        line.append("<Barrier cid='0' time='7.2' end='7.3' />")
    with hdtrace.open(write_project(tmp_path, *("".join(f"{line}\n" for line in lines_of) for lines_of in lines))) as project:
        efficiencies = project.analyze().efficiencies
    assert efficiencies["ideal_seconds"] == pytest.approx(6.1)
