"""hdtrace analyze"""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from .._hdtrace import CallSite, printable
from ..analysis import Analysis, Rows, scaling
from ..project import Project
from ..report.comparison import labels
from .output import Progress, behind_the_last_call, clock_table, counted, duration, print_json, say_that_nothing_fits, site_fields, size, table, warn_of_missing
from .selection import absolute_interval, several_projects

VERSION = 1  # of the JSON
_MOST_ROWS = 10
_MOST_PLACES = 5  # and outliers of a phase


def _analyze(project: Project, arguments: Namespace) -> Analysis:
    with Progress("analyzing") as progress:
        return Analysis.read(project._project, absolute_interval(project, arguments), progress)


# As JSON


def _plain(value: Any) -> Any:
    if isinstance(value, CallSite):
        return site_fields(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def describe(name: str, analysis: Analysis) -> dict[str, Any]:
    """All figures."""
    return {
        "version": VERSION,
        "name": name,
        "seconds": analysis.seconds,
        "processes": analysis.processes,
        "activities": analysis.activities,
        "time": _plain(analysis.time),
        "wait_states": _plain(analysis.wait_states),
        "causes": _plain(analysis.causes),
        "critical_path": _plain(analysis.critical_path),
        "efficiencies": analysis.efficiencies,
        "phases": _plain(analysis.phases),
        "io": _plain(analysis.io),
        "clocks": analysis.clocks,
        "reversed_messages": analysis.reversed_messages,
        "unfinished": analysis.unfinished,
    }


# As text


def _seconds(value: float) -> str:
    return f"{value:.6f}"


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole > 0 else ""


def _border(row: dict[str, Any]) -> str:
    """Rows that add up several of them do not tell which."""
    if "left" not in row:
        return "a region"
    return f"the end of region {row['left']}" if row["left"] is not None else f"region {row['region']}" if row["region"] else "the beginning"


def _place(row: dict[str, Any]) -> str:
    """Send at solve (solver.cpp:42), or where a region begins or ends."""
    call = row["call"] or _border(row)
    return (f"{call} at {row['site']}" if row["site"] else call) + row.get("apart", "")


def _region(place: dict[str, Any]) -> str:
    return f", in region {place['region']}" if place.get("region") else ""


def _communicator(place: dict[str, Any]) -> str:
    return f", on {place['communicator']}" if place.get("communicator") else ""


def _caller(depth: int, place: dict[str, Any]) -> str:
    frames = place["site"].frames if place["site"] else []
    return f", called by {frames[depth]}" if depth < len(frames) else ""


_DETAILS = (_region, _communicator, *(partial(_caller, depth) for depth in range(1, 8)))


def told_apart(rows: Rows) -> Rows:
    """Where several rows read the same, `apart` of the places in them is what tells them apart."""
    copies = [row | {end: dict(row[end]) for end in ("until", "cause") if row.get(end)} for row in rows]
    ends = [[place for place in (row, row.get("until"), row.get("cause")) if place] for row in copies]
    for end, detail in product((0, -1), _DETAILS):
        alike: dict[tuple[str, ...], list[Rows]] = defaultdict(list)
        for places in ends:
            alike[tuple(map(_place, places))].append(places)
        for group in alike.values():
            details = [detail(places[end]) for places in group]
            for places, text in zip(group, details if len(set(details)) > 1 else ()):
                places[end]["apart"] = places[end].get("apart", "") + text
    return copies


_ACTIVITIES = {"waiting": "waiting, in these calls"}  # a part of the others, and below them


def _activities(analysis: Analysis) -> str:
    whole = sum(row["seconds"] for row in analysis.time["rank"])
    rows = [
        [_ACTIVITIES.get(row["activity"], row["activity"]), _seconds(row["seconds"]), _percent(row["seconds"], whole),
         _seconds(row["minimum"]), row["minimum_rank"], _seconds(row["mean"]), _seconds(row["maximum"]), row["maximum_rank"]]
        for row in sorted(analysis.activities, key=lambda row: row["activity"] in _ACTIVITIES)
    ]
    heads = ["activity", "seconds", "share", "minimum", "of rank", "mean", "maximum", "of rank"]
    return table(heads, rows, heads[1:])


def _wait_kinds(analysis: Analysis) -> str:
    whole = sum(row["seconds"] for row in analysis.time["rank"])
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for row in analysis.wait_states:
        sums[row["kind"]] += row["seconds"]
        counts[row["kind"]] += row["count"]
    rows = [[kind, _seconds(time), _percent(time, whole), counts[kind]] for kind, time in sorted(sums.items(), key=lambda one: -one[1])]
    heads = ["wait state", "seconds", "share", "count"]
    return table(heads, rows, heads[1:])


def _longest_waits(rows: Rows) -> str:
    def cause(row: dict[str, Any]) -> tuple[object, str]:
        return (row["cause"]["rank"], _place(row["cause"])) if row["cause"] else ("", "")

    cells = [[_seconds(row["seconds"]), row["kind"], row["rank"], _place(row), *cause(row)] for row in rows]
    return table(["seconds", "wait state", "rank", "where", "for rank", "which came to"], cells, ["seconds", "rank", "for rank"])


def _activity(row: dict[str, Any]) -> str:
    if row["activity"] == "call":
        return _place(row)
    return f"computation from {_place(row)} to {_place(row['until'])}" if row["until"] else "before the first recorded call"


def _causes(rows: Rows) -> str:
    cells = [[_seconds(row["seconds"]), _seconds(row["direct"]), row["waiting_ranks"], row["rank"], _activity(row)] for row in rows]
    heads = ["cost", "direct", "processes", "of rank", "cause"]
    return table(heads, cells, heads[:-1])


def _critical_path(rows: Rows, whole: float) -> str:
    cells = [[_seconds(row["seconds"]), _percent(row["seconds"], whole), _seconds(row["imbalance"]), row["rank"], _activity(row)] for row in rows]
    heads = ["seconds", "share", "imbalance", "of rank", "on the critical path"]
    return table(heads, cells, heads[:-1])


_EFFICIENCIES = {
    "parallel": "parallel efficiency",
    "load_balance": "  load balance",
    "io": "  I/O efficiency",
    "communication": "  communication efficiency",
    "serialisation": "    serialisation efficiency",
    "transfer": "    transfer efficiency",
}


_SCALING = {"computational_scalability": "computational scalability", "global_efficiency": "global efficiency"}


def _efficiencies(named: list[tuple[str, Analysis]]) -> str:
    """A column for each run, with its name where several have as many processes; with several ones, how well computation scales from the first one on. Of no time nothing is known."""
    analyses = [analysis for _, analysis in named]
    runs = [analysis.efficiencies for analysis in analyses]
    heads = [counted(run["processes"], "process", "es") for run in runs]
    if len(set(heads)) < len(heads):
        heads = labels(named)
    known = [run["seconds"] > 0 for run in runs]
    figures = [(text, [run[name] for run in runs]) for name, text in _EFFICIENCIES.items()]
    if runs[1:]:
        figures += [(text, scaling(analyses)[name]) for name, text in _SCALING.items()]
    rows = [[text, *(f"{one:.3f}" if is_known else "unknown" for one, is_known in zip(values, known))] for text, values in figures]
    rows.append(["seconds", *(_seconds(run["seconds"]) for run in runs)])
    return table(["efficiency", *heads], rows, heads)


def _phase(row: dict[str, Any], most: int) -> str:
    seconds = row["end"] - row["begin"]
    lines = [f"{row['iterations']:,} iterations from {_seconds(row['begin'])} to {_seconds(row['end'])} seconds"]
    lines.append(f"  typical {duration(1e9 * row['typical'])}, from {duration(1e9 * row['shortest'])} to {duration(1e9 * row['longest'])}")
    if drift := row["drift"]:
        change = f" ({100 * (drift['last'] / drift['first'] - 1):+.0f} %)" if drift["first"] > 0 else ""
        lines.append(f"  drift from {duration(1e9 * max(drift['first'], 0))} to {duration(1e9 * max(drift['last'], 0))}{change}")
    outliers = sorted(row["outliers"], key=lambda one: -one["excess"])
    for one in outliers[:most]:
        why = "" if one["rank"] is None else f", of which rank {one['rank']} computed {duration(1e9 * one['computation_excess'])} longer"
        lines.append(f"  iteration {one['iteration']} took {duration(1e9 * one['seconds'])}, {duration(1e9 * one['excess'])} longer than typical{why}")
    if len(outliers) > most:
        rest = sum(one["excess"] for one in outliers[most:])
        lines.append(f"  {len(outliers) - most:,} more took {duration(1e9 * rest)} longer together ({_percent(rest, seconds)})")
    lines.extend(f"  {_place(call)}" for call in row["calls"][:most])
    if len(row["calls"]) > most:
        lines.append(f"  and {counted(len(row['calls']) - most, 'more place')}")
    return "".join(printable(line) + "\n" for line in lines)


def _files(rows: Rows) -> str:
    def part(row: dict[str, Any], figure: str) -> str:
        return _percent(row[figure], row["placed"]) if row["placed"] or not row["accesses"] else "unknown"

    cells = [
        [printable(row["file"]), row["processes"], size(row["read_bytes"]), size(row["written_bytes"]), _seconds(row["seconds"]),
         _seconds(row["metadata_seconds"]), "" if row["bandwidth"] is None else f"{size(round(row['bandwidth']))}/s", row["accesses"],
         _percent(row["small"], row["accesses"]), _percent(row["collective_accesses"], row["accesses"]), part(row, "strided"), part(row, "consecutive")]
        for row in rows
    ]
    heads = ["file", "processes", "read", "written", "seconds", "metadata", "bandwidth", "accesses", "small", "collective", "strided", "consecutive"]
    return table(heads, cells, heads[1:])


def _findings(rows: Rows) -> str:
    return "".join(f"{printable(row['file'])}: {row['text']}: {_place(row)}\n  try {row['try']}\n" for row in rows)


def _clocks(analysis: Analysis, is_all: bool) -> str:
    reversed_ones = analysis.reversed_messages
    return clock_table(analysis.clocks, is_all) + (f"{reversed_ones:,} messages seem to be received before they are sent\n" if reversed_ones else "")


def _time_by(by: str, rows: Rows) -> str:
    def label(row: dict[str, Any]) -> object:
        return _place(row) if by == "site" else "(none)" if row[by] in (None, "") else row[by]

    figures = ["seconds", "computation", "mpi", "waiting"]
    cells = [[label(row), *(_seconds(row[figure]) for figure in figures), row["calls"]] for row in rows]
    return table([by, *figures, "calls"], cells, [*figures, "calls"])


def _first(rows: Rows, arguments: Namespace) -> Rows:
    return rows if arguments.all else rows[:_MOST_ROWS]


def _text(project: Project, analysis: Analysis, arguments: Namespace) -> Iterator[str]:
    yield f"{printable(project.name)}: {counted(analysis.processes, 'process', 'es')}, {_seconds(analysis.seconds)} seconds\n"
    yield from (f"{printable(line)}\n" for line in project.run.oversubscription)
    if arguments.interval == (None, None):
        yield from (f"{line}\n" for line in behind_the_last_call(project, project.start + round(analysis.seconds * 1e9)))
    if analysis.unfinished:
        yield f"{counted(analysis.unfinished, 'call')} had not ended; what they wait for is in no wait state: see hdtrace check and hdtrace pending\n"
    yield _activities(analysis)
    if analysis.wait_states:
        yield _wait_kinds(analysis)
        yield _longest_waits(told_apart(_first(analysis.wait_states, arguments)))
        yield _causes(told_apart(_first(analysis.causes, arguments)))
    yield _critical_path(told_apart(_first(analysis.critical_path["profile"], arguments)), analysis.seconds)
    yield _efficiencies([(project.name, analysis)])
    for phase in analysis.phases:
        yield _phase(phase, len(phase["calls"]) + len(phase["outliers"]) if arguments.all else _MOST_PLACES)
    if analysis.io["files"]:
        yield _files(_first(analysis.io["files"], arguments))
    if analysis.io["findings"]:
        yield _findings(analysis.io["findings"])
    if analysis.clocks[1:]:
        yield _clocks(analysis, arguments.all)
    for by in dict.fromkeys(arguments.by):
        rows = _first(analysis.time[by], arguments)
        yield _time_by(by, told_apart(rows) if by == "site" else rows)


def run(arguments: Namespace) -> int:
    results = []
    for paths in several_projects(arguments.project):
        project = Project(*paths, readers=arguments.readers)
        results.append((project, _analyze(project, arguments)))
    if arguments.json:
        described = [describe(project.name, analysis) for project, analysis in results]
        several = {"version": VERSION, "projects": described, **scaling([analysis for _, analysis in results])}
        print_json(described[0] if len(described) == 1 else several)
    else:
        texts = [text for project, analysis in results for text in _text(project, analysis, arguments)]
        if results[1:]:
            texts.append(_efficiencies([(project.name, analysis) for project, analysis in results]))
        print("\n".join(texts), end="")
    if arguments.interval != (None, None) and not any(row["calls"] for _, analysis in results for row in analysis.time["rank"]):
        say_that_nothing_fits()
    warn_of_missing(dict.fromkeys(text for _, analysis in results for text in analysis.missing))
    return 0
