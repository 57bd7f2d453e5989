"""What programs repeat: that it is found, and which of the times were longer."""
import json
import subprocess
import sys
from pathlib import Path

import hdtrace
import pytest
from support.runs import BUILD

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from projects_of_lines import write_project  # noqa: E402

RANKS = 4
# By way: how many iterations, and the calls in each.
PHASES = {
    "one_is_late": [(100, ["Allreduce"])],
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
    assert longest["excess"] >= 0.05 - phase["typical"] and longest["computation_excess"] >= 0.05 - phase["typical"], "on a busy machine all take long"
    assert longest["seconds"] == phase["times"][36] == pytest.approx(phase["typical"] + longest["excess"])


MILLISECOND = 1_000_000


def phases_of_computation(directory, *milliseconds):
    """Of a run in which processes compute for so long and then wait for each other, again and again; a list for each process."""
    lines, begin = ["" for _ in milliseconds], 1000 * MILLISECOND
    for iteration in zip(*milliseconds):
        end = begin + round(max(iteration) * MILLISECOND) + 1000
        for rank, time in enumerate(iteration):
            lines[rank] += f"<Barrier cid='0' time='{(begin + round(time * MILLISECOND)) / 1e9:.9f}' end='{end / 1e9:.9f}' />\n"
        begin = end
    with hdtrace.open(write_project(directory, *lines)) as project:
        return project.analyze().phases


def test_iterations_that_become_longer(tmp_path):
    (phase,) = phases_of_computation(tmp_path, [2 + 0.1 * i for i in range(60)], [2] * 60)
    assert phase["outliers"] == []
    # The first one begins with its call.
    assert (phase["drift"]["first"], phase["drift"]["last"]) == pytest.approx((2e-3, 7.9e-3), abs=2e-4)


def test_iterations_that_take_no_time_do_not_drift(tmp_path):
    """As in projects that are imported without times."""
    with hdtrace.open(write_project(tmp_path, *["<Barrier cid='0' time='1' end='1' />\n" * 40] * 2)) as project:
        (phase,) = project.analyze().phases
    assert phase["iterations"] == 40 and phase["drift"] is None


def test_iterations_that_vary_do_not_drift(tmp_path):
    (phase,) = phases_of_computation(tmp_path, [2 + (0.5 if i % 3 else 0) for i in range(60)], [2] * 60)
    assert phase["drift"] is None and phase["outliers"] == []


def test_whose_computation_made_an_iteration_longer(tmp_path):
    slow = [2] * 50
    slow[17] = 12
    (phase,) = phases_of_computation(tmp_path, [2] * 50, slow, [1.5] * 50)
    (outlier,) = phase["outliers"]
    assert (outlier["iteration"], outlier["rank"]) == (18, 1)
    assert (outlier["excess"], outlier["computation_excess"], phase["typical"]) == pytest.approx((10e-3, 10e-3, 2e-3), rel=1e-2)


def test_no_rank_is_blamed_where_all_are_in_the_calls(tmp_path):
    """Nobody computes longer: the communication took the time."""
    lines = ["", ""]
    begin = 10**9
    for i in range(30):
        end = begin + (20 if i == 9 else 1) * MILLISECOND
        for rank in (0, 1):
            lines[rank] += f"<Barrier cid='0' time='{(begin + 1000) / 1e9:.9f}' end='{end / 1e9:.9f}' />\n"
        begin = end
    with hdtrace.open(write_project(tmp_path, *lines)) as project:
        (phase,) = project.analyze().phases
    (outlier,) = phase["outliers"]
    assert (outlier["iteration"], outlier["rank"]) == (10, None)


def test_four_times_are_no_phase(tmp_path):
    assert phases_of_computation(tmp_path, [2] * 4, [2] * 4) == []


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
