"""hdtrace stats"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .._hdtrace import Statistics, Totals, printable
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .counters import counter_table, describe_counters
from .output import Progress, print_json, seconds, table, warn_of_missing
from .selection import filters
from .table import COUNTER

_HEADS = ["calls", "seconds", "longest", "bytes"]
_REGION_HEADS = ["entered", "inside"]


def _values(totals: Totals) -> dict[str, int | float]:
    return {
        "calls": totals.calls,
        "seconds": totals.time / 1e9,
        "longest": totals.longest / 1e9,
        "bytes": totals.bytes,
        "sent": totals.sent,
        "received": totals.received,
    }


def _region_values(totals: Totals) -> dict[str, int | float]:
    return {**_values(totals), "entered": totals.entered, "inside": totals.inside / 1e9}


def _cells(totals: Totals) -> list[int | str]:
    return [totals.calls, seconds(totals.time), seconds(totals.longest), totals.bytes or ""]


def _table(by: str, statistics: Statistics) -> str:
    if by == COUNTER:
        return counter_table(statistics.counters)
    groups = statistics.groups(by)
    if by == "region":
        return _region_table(groups)
    return table([by, *_HEADS], [[label, *_cells(totals)] for label, totals in groups], _HEADS)


def _region_table(groups: list[tuple[str, Totals]]) -> str:
    def of_region(totals: Totals) -> list[int | str]:
        return [totals.entered, seconds(totals.inside)] if totals.entered else ["", ""]

    rows = [[label or "(none)", *_cells(totals), *of_region(totals)] for label, totals in groups]
    heads = [*_HEADS, *_REGION_HEADS]
    return table(["region", *heads], rows, heads)


def _describe(by: str, statistics: Statistics) -> dict[str, Any]:
    """For JSON."""
    if by == COUNTER:
        return describe_counters(statistics.counters)
    values = _region_values if by == "region" else _values
    return {label: values(totals) for label, totals in statistics.groups(by)}


def run(arguments: Namespace) -> int:
    project = Project(*arguments.project)
    statistics = project.calls(**filters(project, arguments)).statistics()
    with Progress("counting") as progress:
        while statistics.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)
    duration = statistics.end - statistics.begin
    if arguments.json:
        groups = {by: _describe(by, statistics) for by in arguments.by}
        print_json({"name": project.name, "duration": duration / 1e9, "total": _values(statistics.totals), "by": groups})
    else:
        counts = f"{project.process_count} processes, {statistics.totals.calls} calls"
        print(f"{printable(project.name)}: {counts} in {seconds(duration)} seconds\n")
        print("\n".join(_table(by, statistics) for by in dict.fromkeys(arguments.by)), end="")
    warn_of_missing(statistics.missing)
    return 0
