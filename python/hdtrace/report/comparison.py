"""How several runs of a program differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis import Analysis, Rows, scaling

_MOST_SITES = 1000
_TIMES = ("seconds", "computation", "mpi", "waiting")

Place = tuple[str, str | None, str | None, int | None]  # call, function, file, line


def labels(analyses: Sequence[tuple[str, Analysis]]) -> list[str]:
    """Of runs, each with its name: a text for each that no other one has."""
    return [f"{number}: {name}, {one.processes} process{'' if one.processes == 1 else 'es'}" for number, (name, one) in enumerate(analyses, 1)]


def _times_of(rows: Rows) -> dict[Place, dict[str, float]]:
    """Of each place in the program, whatever led there: the mean time of a process."""
    places: dict[Place, dict[str, float]] = {}
    for row in rows:
        site = row["site"]
        place = row["call"], site and site.function, site and site.file, site and site.line
        times = places.setdefault(place, dict.fromkeys((*_TIMES, "calls"), 0))
        for name in times:
            times[name] += row[name]
    return places


def _sites(analyses: Sequence[Analysis]) -> Rows:
    """A row for each place: its times in each run, None in a run that does not come there; what differs most comes first."""
    runs = [_times_of(analysis.time["site"]) for analysis in analyses]
    places = dict.fromkeys(place for run in runs for place in run)

    def per_process(place: Place, number: int) -> dict[str, float] | None:
        times = runs[number].get(place)
        return times and {name: value if name == "calls" else value / analyses[number].processes for name, value in times.items()}

    rows = []
    for place in places:
        call, function, file, line = place
        site = None if (function, file, line) == (None, None, None) else {"function": function, "file": file, "line": line}
        rows.append({"call": call, "site": site, "runs": [per_process(place, number) for number in range(len(runs))]})
    return sorted(rows, key=lambda row: -_spread(row["runs"]))


def _spread(runs: Sequence[dict[str, float] | None]) -> float:
    times = [run["seconds"] if run else 0.0 for run in runs]
    return max(times) - min(times)


def compare(analyses: Sequence[Analysis]) -> dict[str, Any]:
    sites = _sites(analyses)
    return scaling(list(analyses)) | {"sites": sites[:_MOST_SITES], "left_out": len(sites[_MOST_SITES:])}
