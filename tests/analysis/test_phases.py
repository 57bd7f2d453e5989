"""What programs repeat: that it is found, and which of the times were longer."""
import json
import subprocess

import pytest
from support.runs import BUILD

RANKS = 4
# By way: how many iterations, and the calls in each.
PHASES = {
    "one_is_late": [(100, ["Allreduce"])],
    "drift": [(60, ["Allreduce"])],
    "solver": [(20, ["Bcast"])],
    "output": [(6, ["Barrier"]), (60, ["Allreduce"])],
    "ring": [(30, ["Send", "Recv"])],
    "neighbours": [(40, ["Waitall"])],
    "two_loops": [(25, ["Allreduce"]), (25, ["Barrier"])],
    "nothing": [],
}


@pytest.fixture(scope="session", params=PHASES)
def way(request):
    return request.param


@pytest.fixture(scope="session")
def phases_of(trace):
    return lambda way: trace("phases", RANKS, way)[1].analyze().phases


def test_what_is_repeated(phases_of, way):
    found = [(phase["iterations"], [call["call"] for call in phase["calls"]]) for phase in phases_of(way)]
    assert sorted(found) == sorted(PHASES[way])


def test_iterations_fill_the_phase(phases_of, way):
    for phase in phases_of(way):
        assert len(phase["times"]) == len(phase["begins"]) == phase["iterations"]
        assert phase["begins"] == sorted(phase["begins"])
        assert sum(phase["times"]) <= (phase["end"] - phase["begin"]) * 1.001
        assert phase["shortest"] == min(phase["times"]) <= phase["typical"] <= max(phase["times"]) == phase["longest"]
        assert {one["iteration"] for one in phase["outliers"]} <= set(range(1, phase["iterations"] + 1))


def test_an_iteration_that_takes_longer(phases_of):
    (phase,) = phases_of("one_is_late")
    longest = max(phase["outliers"], key=lambda one: one["excess"])
    assert (longest["iteration"], longest["rank"]) == (37, 2)
    assert longest["excess"] >= 0.05 and longest["computation_excess"] >= 0.05
    assert longest["seconds"] == phase["times"][36] == pytest.approx(phase["typical"] + longest["excess"])


def test_iterations_that_become_longer(phases_of):
    (phase,) = phases_of("drift")
    assert phase["drift"]["last"] - phase["drift"]["first"] == pytest.approx(5.9e-3, rel=0.5)


def test_the_text(trace):
    project = trace("phases", RANKS, "one_is_late")[1]
    text = subprocess.run([BUILD / "bin/hdtrace", "analyze", project.path], capture_output=True, text=True, check=True).stdout
    assert "100 iterations from " in text
    assert "  iteration 37 took " in text and "of which rank 2 computed " in text


def test_as_json(trace):
    project = trace("phases", RANKS, "two_loops")[1]
    result = subprocess.run([BUILD / "bin/hdtrace", "analyze", "--json", project.path], capture_output=True, text=True, check=True)
    first, second = json.loads(result.stdout)["phases"]
    assert first["end"] <= second["end"] and first["calls"][0]["site"]["function"] == "sum_up"
