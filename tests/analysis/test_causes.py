"""Real programs whose waiting has known causes; test_figures.py says how large the figures have to be."""
import subprocess
from collections import defaultdict

import pytest
from support.runs import BUILD

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
