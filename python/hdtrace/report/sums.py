"""The page of a run that was recorded without single calls (--statistics-only): tables, and what they cannot tell."""

from __future__ import annotations

from html import escape

from .._hdtrace import Totals, printable
from ..cli.output import count_of_processes, duration, seconds, size
from ..profiles import mean
from ..project import Project
from ..streams import read_all

_TABLES = {
    "Calls": ["call"],
    "Processes": ["rank"],
    "Places in the program": ["call", "site"],
    "Communicators": ["communicator", "call"],
    "Sizes": ["call", "size"],
    "Files": ["file", "call"],
    "Regions": ["region"],
}
_MOST_ROWS = 200
_HEADS = ["calls", "seconds", "own", "shortest", "mean", "longest", "bytes"]
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; margin: .5rem 0 2rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .8rem; text-align: right; border-bottom: 1px solid #d8dee4; white-space: nowrap; }
.label { text-align: left; white-space: normal; overflow-wrap: anywhere; }
p.note { color: #57606a; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } th, td { border-color: #30363d; } p.note { color: #8d96a0; } }
"""
_CANNOT = (
    "The run was recorded with --statistics-only: these are sums over its calls. When calls were, what they waited for and what was wrong "
    "only a trace can tell, so there is no timeline, no analysis and no check."
)


def _cells(totals: Totals) -> list[str]:
    times = [duration(time) if totals.calls else "" for time in (totals.exclusive, totals.shortest, mean(totals), totals.longest)]
    return [f"{totals.calls:,}", seconds(totals.time), *times, size(totals.bytes) if totals.bytes else ""]


def _row(labels: list[str], cells: list[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} class="label">{escape(printable(one))}</{tag}>' for one in labels) + "".join(f"<{tag}>{escape(one)}</{tag}>" for one in cells) + "</tr>"


def _table(title: str, heads: list[str], labels: int, rows: list[tuple[list[str], list[str]]]) -> str:
    if not rows:
        return ""
    shown = "\n".join(_row(*row) for row in rows[:_MOST_ROWS])
    rest = f'<p class="note">{len(rows) - _MOST_ROWS:,} more rows: hdtrace stats has all.</p>' if len(rows) > _MOST_ROWS else ""
    return f"<h2>{escape(title)}</h2>\n<table>\n{_row(heads[:labels], heads[labels:], 'th')}\n{shown}\n</table>{rest}"


def sums_page(project: Project) -> str:
    """HTML without scripts."""
    calls = project.calls()
    statistics, matrix = read_all(calls.statistics(_TABLES.values())), read_all(calls.message_matrix())
    tables = [
        _table(title, [*by, *_HEADS], len(by), [([label or "(none)" for label in labels], _cells(totals)) for labels, totals in statistics.groups(by)])
        for title, by in _TABLES.items()
    ]
    cells = sorted(matrix.cells(), key=lambda cell: -cell[3])
    tables.append(_table("Messages", ["from", "to", "messages", "bytes"], 2, [([str(sender), str(peer)], [f"{count:,}", size(moved)]) for sender, peer, count, moved in cells]))
    notes = [_CANNOT]
    if statistics.unfinished:
        notes.append(f"{statistics.unfinished:,} calls had not ended; they are in no sum.")
    if statistics.not_apart:
        notes.append(f"{statistics.not_apart:,} calls are only in the tables of calls and processes: too many kinds of calls were to be kept apart.")
    head = f"{count_of_processes(project)}, {statistics.totals.calls:,} calls in {seconds(statistics.end - statistics.begin)} seconds"
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    name = escape(printable(project.name))
    parts = [f"<h1>{name}</h1>", f"<p>{escape(head)}. {escape(printable(project.run.command))}</p>", *(f'<p class="note">{escape(note)}</p>' for note in notes), *tables]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="generator" content="hdtrace">\n<title>{name}: hdtrace report</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n" + "\n".join(filter(None, parts)) + "\n</body>\n</html>\n"
    )
