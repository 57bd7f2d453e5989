"""hdtrace stats"""

from __future__ import annotations

import csv
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from .._hdtrace import MessageMatrix, Statistics, Totals, printable
from ..profiles import mean, values
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .counters import counter_table, describe_counters
from .output import Progress, UsageError, behind_the_last_call, count_of_processes, counted, duration, message, print_json, say_that_nothing_fits, seconds, size, table, warn_of_missing
from .selection import filters
from .table import COUNTER

_HEADS = ["calls", "seconds", "own", "%", "shortest", "mean", "longest", "bytes"]
_REGION_HEADS = ["entered", "inside"]
_REGION = "region"
_DEFAULT = [["call"]]
_MOST_COLUMNS = 64  # of a matrix for people
_ALWAYS_APART = {"call", "class", "rank", "thread"}


def _region_values(totals: Totals) -> dict[str, int | float]:
    return {**values(totals), "entered": totals.entered, "inside": totals.inside / 1e9}


def _values_by(by: list[str]) -> Callable[[Totals], dict[str, int | float]]:
    return _region_values if _REGION in by else values


def _cells(totals: Totals, whole: Totals) -> list[int | str]:
    own, *times = [duration(time) if totals.calls else "" for time in (totals.exclusive, totals.shortest, mean(totals), totals.longest)]
    share = f"{100 * totals.exclusive / whole.exclusive:.1f}" if whole.exclusive else ""
    return [totals.calls, seconds(totals.time), own, share, *times, size(totals.bytes) if totals.bytes else ""]


def _region_cells(totals: Totals, whole: Totals) -> list[int | str]:
    of_region = [totals.entered, seconds(totals.inside)] if totals.entered else ["", ""]
    return [*_cells(totals, whole), *of_region]


def _labels(by: list[str], labels: tuple[str, ...]) -> list[str]:
    return ["(none)" if name == _REGION and not label else label for name, label in zip(by, labels)]


def _table(by: list[str], statistics: Statistics) -> str:
    if by == [COUNTER]:
        return counter_table(statistics.counters)
    cells, heads = (_region_cells, [*_HEADS, *_REGION_HEADS]) if _REGION in by else (_cells, _HEADS)
    rows = [[*_labels(by, labels), *cells(totals, statistics.totals)] for labels, totals in statistics.groups(by)]
    return table([*by, *heads], rows, heads)


def _describe(by: list[str], statistics: Statistics) -> dict[str, Any]:
    """For JSON: by the labels, one inside the other."""
    if by == [COUNTER]:
        return describe_counters(statistics.counters)
    described: dict[str, Any] = {}
    for labels, totals in statistics.groups(by):
        inner = described
        for label in labels[:-1]:
            inner = inner.setdefault(label, {})
        inner[labels[-1]] = _values_by(by)(totals)
    return described


def _write_csv(by: list[str], statistics: Statistics) -> None:
    figures = _values_by(by)
    output = csv.writer(sys.stdout, lineterminator="\n")
    output.writerow([*by, *figures(Totals())])
    output.writerows([*labels, *figures(totals).values()] for labels, totals in statistics.groups(by))


def _read(what: Statistics | MessageMatrix) -> None:
    with Progress("counting") as progress:
        while what.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)


def _check_sums(project: Project, arguments: Namespace) -> None:
    """What sums over a whole run cannot tell."""
    if not project.statistics_only:
        return
    if arguments.interval != (None, None):
        raise UsageError(f"--interval: {project.name} was recorded with --statistics-only, and its sums are those of the whole run")
    if [COUNTER] in arguments.by:
        raise UsageError(f"--by counter: {project.name} was recorded with --statistics-only, which has no counters")


def _check(arguments: Namespace) -> None:
    for by in arguments.by:
        if COUNTER in by and len(by) > 1:
            raise UsageError("--by counter is a table of its own")
        if len(set(by)) < len(by):
            raise UsageError(f"--by {','.join(by)} has a group twice")
    if arguments.csv and (len(arguments.by) > 1 or [COUNTER] in arguments.by):
        raise UsageError("--csv writes one table, and none of counters")


def _show_matrix(project: Project, matrix: MessageMatrix, arguments: Namespace) -> None:
    what = arguments.matrix
    cells = {(sender, peer): {"messages": messages, "bytes": moved} for sender, peer, messages, moved in matrix.cells()}
    if arguments.json:
        print_json({"name": project.name, "matrix": [{"from": sender, "to": peer, **cell} for (sender, peer), cell in cells.items()]})
        return
    peers = sorted({peer for _, peer in cells})
    heads = [r"from \ to", *map(str, peers)]
    rows = ([sender, *(cells[sender, peer][what] if (sender, peer) in cells else "" for peer in peers)] for sender in sorted({s for s, _ in cells}))
    if arguments.csv:
        output = csv.writer(sys.stdout, lineterminator="\n")
        output.writerow(heads)
        output.writerows(rows)
        return
    if len(peers) > _MOST_COLUMNS:
        heads = ["from", "to", what]
        rows = ([sender, peer, cell[what]] for (sender, peer), cell in sorted(cells.items()))
    print(f"{printable(project.name)}: {count_of_processes(project)}, {what} of point-to-point communication\n")
    print(table(heads, list(rows), heads), end="")


def _not_in_sums(calls: int, why: str) -> str:
    return f"; {counted(calls, 'call')} {why}, and {'is' if calls == 1 else 'are'} in no sum" if calls else ""


def _show_tables(project: Project, statistics: Statistics, tables: list[list[str]], arguments: Namespace, is_everything: bool) -> None:
    time = statistics.end - statistics.begin
    if arguments.json:
        groups = {",".join(by): _describe(by, statistics) for by in tables}
        print_json({"name": project.name, "duration": time / 1e9, "total": values(statistics.totals), "by": groups})
    elif arguments.csv:
        _write_csv(tables[0], statistics)
    else:
        counts = f"{count_of_processes(project)}, {statistics.totals.calls} calls"
        left_out = _not_in_sums(statistics.unfinished, "had not ended") + _not_in_sums(statistics.begun_before, "had begun before")
        kind = "; there are only sums over them" if project.statistics_only else ""
        print(f"{printable(project.name)}: {counts} in {seconds(time)} seconds{kind}{left_out}")
        print("".join(f"{line}\n" for line in behind_the_last_call(project, statistics.end) if is_everything))
        print("\n".join(_table(by, statistics) for by in tables), end="")


def _say_not_apart(calls: int, what: str) -> None:
    if calls:
        message(f"{counted(calls, 'call')} {'is' if calls == 1 else 'are'} not in {what}: --statistics-only keeps only so many kinds of calls apart (docs/statistics.md)")


def run(arguments: Namespace) -> int:
    _check(arguments)
    project = Project(*arguments.project)
    _check_sums(project, arguments)
    chosen = filters(project, arguments)
    calls = project.calls(**chosen)
    if arguments.matrix:
        matrix = calls.message_matrix()
        _read(matrix)
        _show_matrix(project, matrix, arguments)
        _say_not_apart(matrix.not_apart, "the matrix")
        warn_of_missing(matrix.missing)
        return 0
    tables = [list(by) for by in dict.fromkeys(map(tuple, arguments.by or _DEFAULT))]
    statistics = calls.statistics([by for by in tables if by != [COUNTER]] or _DEFAULT, counters=[COUNTER] in tables)
    _read(statistics)
    _show_tables(project, statistics, tables, arguments, is_everything=all(value in (None, (None, None)) for value in chosen.values()))
    if not statistics.totals.calls and arguments.interval != (None, None) and tables != [[COUNTER]]:
        say_that_nothing_fits()
    if any(not set(by) <= _ALWAYS_APART for by in tables):
        _say_not_apart(statistics.not_apart, "tables that ask for more than call, class, rank and thread")
    warn_of_missing(statistics.missing)
    if statistics.unused_indexes:
        others = len(statistics.unused_indexes) - 1
        more = f", and so with {counted(others, 'other')}" if others else ""
        message(f"{statistics.unused_indexes[0]}{more}; the traces were read, and 'hdtrace index' makes it anew")
    return 0
