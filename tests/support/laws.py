"""What holds for the analysis of every run."""
import hdtrace
import pytest

_MOST_BYTES = 30_000_000  # of traces, which are read again


def check_analysis(run):
    if sum(trace.stat().st_size for trace in run.paths) > _MOST_BYTES:
        return
    with hdtrace.open(next(run.trace_directory.glob("*.proj"))) as project:
        analysis = project.analyze()
    whole = analysis.time["rank"]
    for row in whole:
        assert row["seconds"] == pytest.approx(row["computation"] + row["mpi"]), row
        assert row["mpi"] == pytest.approx(sum(row["classes"].values())), row
        waiting = sum(wait["seconds"] for wait in analysis.wait_states if wait["rank"] == row["rank"])
        assert row["waiting"] == pytest.approx(waiting), row
    for rows in analysis.time.values():
        assert all(row["waiting"] <= row["mpi"] + 1e-9 for row in rows), rows
        for figure in ("seconds", "computation", "mpi", "waiting", "calls"):
            assert sum(row[figure] for row in rows) == pytest.approx(sum(row[figure] for row in whole)), figure
    for row in analysis.activities:
        assert row["minimum"] <= row["mean"] + 1e-9 and row["mean"] <= row["maximum"] + 1e-9 and row["seconds"] >= 0, row
    assert all(wait["seconds"] > 0 for wait in analysis.wait_states)
    _check_path(analysis)
    _check_efficiencies(analysis.efficiencies)
    caused = sum(wait["seconds"] for wait in analysis.wait_states if wait["cause"])
    assert sum(cause["seconds"] for cause in analysis.causes) == pytest.approx(caused)
    assert all(cause["direct"] >= 0 and cause["propagated"] >= 0 for cause in analysis.causes)


def _check_path(analysis):
    path = analysis.critical_path
    for seconds in (path["seconds"], *(sum(row["seconds"] for row in path[part]) for part in ("profile", "ranks"))):
        assert seconds == pytest.approx(analysis.seconds), "the critical path is as long as the run"


def _check_efficiencies(all_of_them):
    one = {name: all_of_them[name] for name in ("parallel", "load_balance", "communication", "serialisation", "transfer", "io")}
    assert all(0 <= efficiency <= 1 + 1e-9 for efficiency in one.values()), one
    assert one["parallel"] == pytest.approx(one["load_balance"] * one["io"] * one["communication"])
    assert one["communication"] == pytest.approx(one["serialisation"] * one["transfer"])
