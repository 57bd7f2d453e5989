"""Real programs whose waiting has known causes; test_figures.py says how large the figures have to be."""
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import hdtrace
import pytest
from exact_runs import barrier, compute, exchange, lines_of, receive, send, send_and_receive
from support.runs import BUILD

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from projects_of_lines import write_project  # noqa: E402

RANKS = 4


@pytest.fixture
def explained(trace):
    """explained(way) -> the analysis, and how many seconds each rank said that it computed."""
    def explained(way):
        run, project = trace("causes", RANKS, way)
        computed = defaultdict(float)
        for line in run.stdout.splitlines():
            computed[int(line.split()[0])] += float(line.split()[1])
        return project.analyze(), computed

    return explained


def most_of(seconds):
    """What others on the machine leave of it at least: those who wait may come late themselves."""
    return seconds * 0.5


def planted(rows, function):
    """Those of a function of the program."""
    return [row for row in rows if row["until"] and row["until"]["site"] and row["until"]["site"].function == function]


def waits_in(analysis, function):
    return {row["rank"]: row for row in analysis.wait_states if row["site"] and row["site"].function == function}


def test_chain(explained):
    analysis, computed = explained("chain")
    assert {rank: row["cause"]["rank"] for rank, row in waits_in(analysis, "chain").items()} == {1: 0, 2: 1, 3: 2}
    (cause, *_) = planted(analysis.causes, "chain")
    assert (cause["rank"], cause["activity"], cause["until"]["call"]) == (0, "computation", "Send")
    assert cause["direct"] >= most_of(computed[0]), "the next one waits for it"
    assert cause["propagated"] >= most_of(computed[0] * 2), "and all behind that one"
    (on_path, *_) = planted(analysis.critical_path["profile"], "chain")
    assert on_path["rank"] == 0 and on_path["seconds"] >= computed[0] * 0.9
    assert analysis.efficiencies["load_balance"] < 0.7, "nobody works beside another one"


def test_two_causes(explained):
    analysis, computed = explained("two_causes")
    first, second = sorted(planted(analysis.causes, "two_causes"), key=lambda row: -row["seconds"])[:2]
    assert {first["rank"], second["rank"]} == {0, 1}
    waits = waits_in(analysis, "two_causes")
    assert waits[1]["seconds"] >= most_of(computed[0]) and waits[2]["seconds"] >= most_of(computed[0] + computed[1])
    path = sorted(planted(analysis.critical_path["profile"], "two_causes"), key=lambda row: -row["seconds"])[:2]
    assert {row["rank"] for row in path} == {0, 1}


def test_imbalance(explained):
    analysis, computed = explained("imbalance")
    costs = planted(analysis.causes, "imbalance")
    others = sum(computed[rank] for rank in range(RANKS) if rank != 1)
    assert costs[0]["rank"] == 1
    assert sum(row["seconds"] for row in costs if row["rank"] == 1) >= most_of(computed[1] * (RANKS - 1) - others)
    assert analysis.efficiencies["load_balance"] < 0.8


def test_several_runs(trace):
    paths = [trace("causes", ranks, "balanced")[1].path for ranks in (2, RANKS)]
    result = subprocess.run([BUILD / "bin/hdtrace", "analyze", *paths], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    table = result.stdout[result.stdout.rindex("\nefficiency "):].strip().splitlines()
    assert "2 processes" in table[0] and "4 processes" in table[0]
    (scalability,) = [line.split()[-2:] for line in table if line.startswith("computational scalability")]
    assert float(scalability[0]) == 1 and 0.25 < float(scalability[1]) < 1


def tolerated(seconds):
    return pytest.approx(seconds, abs=0.02 * seconds + 0.001)


ALL = range(RANKS)
STEPS = range(20)


def neighbours(rank):
    return (rank - 1) % RANKS, (rank + 1) % RANKS


def stencil(rank):
    return [step for _ in STEPS for step in (exchange(*neighbours(rank)), compute(0.3 if rank == 2 else 0.1))]


def ring(rank):
    return [step for _ in STEPS for step in (compute(0.3 if rank == 2 else 0.1), send_and_receive((rank + 1) % RANKS, (rank - 1) % RANKS))]


def pipeline(rank):
    steps = [[receive(rank - 1)] * (rank > 0) + [compute(0.3 if rank == 2 else 0.1)] + [send(rank + 1)] * (rank + 1 < RANKS) for _ in STEPS]
    return [step for one in steps for step in one]


def farm(rank):
    """The master's part of each task takes longest."""
    if rank == 2:
        return [step for _ in STEPS for worker in (0, 1, 3) for step in (receive(worker), compute(0.1), send(worker))]
    return [step for _ in STEPS for step in (send(2), receive(2), compute(0.01))]


@pytest.mark.parametrize("program, others", [(stencil, 0), (ring, 0), (farm, 0), (pipeline, 0.5)], ids=lambda value: getattr(value, "__name__", ""))
def test_one_late_rank_costs_all_waiting(program, others, tmp_path):
    """Whatever the way in which others depend on it, also by others again; a pipeline has to be filled first."""
    with hdtrace.open(write_project(tmp_path, *lines_of(*map(program, ALL)))) as project:
        analysis = project.analyze()
    assert {row["kind"] for row in analysis.wait_states if row["seconds"] > 0.01} <= {"late-sender", "wait-at-finalize"}
    waiting = sum(row["seconds"] for row in analysis.wait_states if row["cause"])
    planted = sum(row["seconds"] for row in analysis.causes if row["rank"] == 2 and row["activity"] == "computation")
    assert waiting > 3 and waiting - planted <= others + 0.02 * waiting + 0.001


def test_two_late_ranks_share_the_cost(tmp_path):
    """Rank 1 is late in each step; rank 3 in one by more."""
    programs = [[step for number in STEPS for step in (compute(0.1 + 0.05 * (rank == 1) + 0.4 * (rank == 3 and number == 5)), barrier())] for rank in ALL]
    with hdtrace.open(write_project(tmp_path, *lines_of(*programs))) as project:
        analysis = project.analyze()
    cost = defaultdict(float)
    for row in analysis.causes:
        if row["activity"] == "computation":
            cost[row["rank"]] += row["seconds"]
    assert cost[1] == tolerated(0.05 * 3 * 19) and cost[3] == tolerated(0.4 * 2 + 0.35)


def test_neighbours_that_are_ahead_are_no_wrong_order(tmp_path):
    with hdtrace.open(write_project(tmp_path, *lines_of(*map(stencil, ALL)))) as project:
        assert "wrong-order" not in {row["kind"] for row in project.analyze().wait_states}
