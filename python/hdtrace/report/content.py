"""What a report tells: figures as the other commands have them, and the packed timeline."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from operator import add
from typing import Any, TypeVar

from .._hdtrace import CALL_CLASSES, WAIT_KINDS, CallSite, Explanation, MessageMatrix, TimelineReader
from ..analysis import Analysis
from ..cli import analyze, check
from ..cli.output import Progress, counted
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES, read_all
from . import objects
from .inert import inert

_MOST_ROWS = (1000, 200, 40, 8)  # of a table: the first that is small enough
_CELLS = 20  # of a matrix, for each of these rows
_PIXELS = 520  # of the picture of a matrix, in python/page/src/pages/communication.js
_MOST_POINTS = 2000  # of a phase
_MOST_FILES = 50  # whose accesses are drawn
_FOR_FILES = 0.25  # of the size that is left for what is drawn

Section = Callable[[], bytes]


@dataclass(frozen=True)
class Content:
    """What a page tells of a run: facts become JSON; sections by name give streams of zlib when they are wanted."""

    facts: dict[str, Any]
    sections: dict[str, Section]
    analysis: Analysis
    least: int
    """How many bytes the page needs at least, if nothing else may be left out."""


def _read(what: Explanation | TimelineReader, doing: str) -> None:
    with Progress(doing) as progress:
        while what.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)


def _site(site: CallSite) -> dict[str, Any]:
    return {"text": str(site), "file": site.file, "line": site.line}


def _with_points(phase: dict[str, Any], most_outliers: int = _MOST_ROWS[0]) -> dict[str, Any]:
    """With as many iterations as can be seen: number, beginning and time of the longest in each group of neighbours."""
    times, begins = phase["times"], phase["begins"]
    width = -(-len(times) // _MOST_POINTS)
    longest = [max(range(first, min(first + width, len(times))), key=times.__getitem__) for first in range(0, len(times), width)]
    kept = {key: value for key, value in phase.items() if key not in ("times", "begins")}
    return kept | {"points": [[i + 1, begins[i], times[i]] for i in longest], "outliers": sorted(phase["outliers"], key=lambda one: -one["excess"])[:most_outliers]}


class _Rows:
    """Tables that pages have need not have all rows; it is noted what goes."""

    def __init__(self, most: int, notes: list[str]) -> None:
        self.most = most
        self.notes = notes

    def first(self, rows: list[Any], what: str, all_have: str = "hdtrace analyze --json", most: int | None = None) -> list[Any]:
        most = most or self.most
        if len(rows) > most:
            self.notes.append(f"Of {len(rows):,} {what} only the first {most:,}; '{all_have}' has all.")
        return rows[:most]

    def analysis(self, name: str, all_of_it: Analysis) -> dict[str, Any]:
        path = all_of_it.critical_path
        first = replace(
            all_of_it,
            wait_states=analyze.told_apart(self.first(all_of_it.wait_states, "sums of wait states")),
            causes=analyze.told_apart(self.first(all_of_it.causes, "causes of waiting")),
            critical_path=path | {"profile": self.first(path["profile"], "parts of the critical path")},
            phases=[_with_points(phase, self.most) for phase in self.first(all_of_it.phases, "phases")],
            io={name: self.first(rows, f"rows of {name} in I/O") for name, rows in all_of_it.io.items()},
            time={by: self.first(rows, f"rows of time by {by}") for by, rows in all_of_it.time.items()},
        )
        return analyze.describe(name, first)

    def matrix(self, matrix: MessageMatrix) -> list[dict[str, int]]:
        cells = self._largest(matrix.cells(), "pairs of ranks", "hdtrace stats --matrix bytes")
        return [{"from": sender, "to": peer, "messages": messages, "bytes": size} for sender, peer, messages, size in cells]

    def matrix_by_communicator(self, matrix: MessageMatrix) -> list[dict[str, int]]:
        """Empty if all messages are on the same one."""
        cells = matrix.cells_by_communicator()
        if len({communicator for _, _, communicator, _, _ in cells}) < 2:
            return []
        cells = self._largest(cells, "pairs of ranks on a communicator", "message_matrix() in Python")
        return [{"from": sender, "to": peer, "communicator": number, "messages": messages, "bytes": size} for sender, peer, number, messages, size in cells]

    def _largest(self, cells: list[Any], what: str, all_have: str) -> list[Any]:
        return self.first(sorted(cells, key=lambda cell: -cell[-1]), what, all_have, self.most * _CELLS)


_Key = TypeVar("_Key")


def _sums(rows: Iterable[tuple[_Key, Sequence[float]]]) -> dict[_Key, list[Any]]:
    """Of rows with keys and numbers: these of each key."""
    sums: dict[_Key, list[Any]] = {}
    for key, numbers in rows:
        seen = sums.setdefault(key, [0] * len(numbers))
        seen[:] = map(add, seen, numbers)
    return sums


def _picture(read: _Traces, most_rows: int) -> dict[str, Any] | None:
    """Who sends to whom and waits for whom among groups of neighbouring ranks, if the tables lack some of it."""
    most = most_rows * _CELLS
    if len(read.sent) <= most and len(read.analysis.wait_states) <= most_rows:
        return None

    def grouped(cells: list[Any]) -> dict[tuple[int, int, Any], list[Any]]:
        return _sums(((one // width, other // width, communicator), numbers) for one, other, communicator, *numbers in cells)

    width = -(-read.project.process_count // _PIXELS)
    while len(sent := grouped(read.sent)) + len(waits := grouped(read.waits)) > most and width < read.project.process_count:
        width *= 2
    return {
        "width": width,
        "sent": [{"from": one, "to": other, "communicator": number, "messages": messages, "bytes": size} for (one, other, number), (messages, size) in sent.items()],
        "waits": [{"from": one, "to": other, "communicator": name, "seconds": seconds} for (one, other, name), (seconds,) in waits.items()],
    }


def _host_matrix(read: _Traces, rows: _Rows) -> list[dict[str, Any]]:
    largest = rows.first(read.between_hosts, "pairs of hosts", "hdtrace stats --matrix bytes")
    return [{"from": sender, "to": peer, "messages": messages, "bytes": size} for (sender, peer), (messages, size) in largest]


def _about(project: Project) -> list[tuple[str, str]]:
    """The run for people: what is known of it."""
    run = project.run
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(project.start // 1_000_000_000))
    hosts: dict[str, int] = {}
    for process in project.processes:
        hosts[process.host] = hosts.get(process.host, 0) + 1
    known = [
        ("program", project.name),
        ("command", run.command),
        ("began", began),
        ("hosts", ", ".join(f"{host} ({count})" for host, count in list(hosts.items())[:20]) + (" …" if len(hosts) > 20 else "")),
        ("user", run.user),
        ("MPI library", run.library),
        ("project", project.path),
    ]
    return [(name, str(value)) for name, value in known if value]


class _Traces:
    """All that is read."""

    def __init__(self, project: Project) -> None:
        self.project = project
        # First what needs memory only while it reads.
        checker = project.checker()
        self.findings = [
            asdict(one) | {"likewise": check.likewise(one, ranks), "count": 1 + len(ranks)}
            for one, ranks in check.alike(check.find(project, checker, schemas=False))
            if one.severity != "note"
        ]
        self.unknown = list(check.unknown(project, checker))
        self.matrix = read_all(project.calls().message_matrix())
        self.explanation = Explanation(project._project, None, None)
        _read(self.explanation, "analyzing")
        self.analysis = Analysis.of(project._project, self.explanation)
        self.timeline = self.explanation.timeline()
        _read(self.timeline, "drawing")
        self.lanes = list(self.timeline.lanes)
        self.gatherings, self.gathering_names = self.timeline.gatherings()

    @cached_property
    def whole(self) -> float:
        """Seconds of all processes."""
        return sum(row["seconds"] for row in self.analysis.time["rank"])

    @cached_property
    def sent(self) -> list[tuple[int, int, int, int, int]]:
        """From and to which rank, on which communicator: messages and bytes."""
        return self.matrix.cells_by_communicator()

    @cached_property
    def waits(self) -> list[tuple[int, int, str | None, float]]:
        """Which rank for which, on which communicator: seconds."""
        return [(row["rank"], row["cause"]["rank"], row["communicator"], row["seconds"]) for row in self.analysis.wait_states if row["cause"]]

    @cached_property
    def between_hosts(self) -> list[tuple[tuple[str, str], list[int]]]:
        """From and to which host: messages and bytes; the most bytes first."""
        hosts = {process.rank: process.host for process in self.project.processes}
        sums = _sums(((hosts.get(sender, ""), hosts.get(peer, "")), numbers) for sender, peer, *numbers in self.matrix.cells())
        return sorted(sums.items(), key=lambda one: -one[1][1])


def _facts(read: _Traces, rows: _Rows) -> dict[str, Any]:
    """All but what belongs to single calls."""
    project, timeline = read.project, read.timeline
    findings = rows.first(read.findings, "findings", "hdtrace check --all", 2 * rows.most)
    kinds = {one["kind"] for one in findings}
    return {
        "name": project.name,
        "processes": project.process_count,
        "duration": timeline.duration,
        "parts": timeline.parts,
        "about": _about(project),
        "oversubscription": project.run.oversubscription,
        "call_count": sum(lane.call_count for lane in read.lanes),
        "whole": read.whole,
        "analysis": rows.analysis(project.name, read.analysis),
        "findings": findings,
        "unknown": read.unknown,
        "kinds": {name: {"title": kind.title, "means": kind.means, "do": kind.what_to_do} for name, kind in check.KINDS.items() if name in kinds},
        "matrix": rows.matrix(read.matrix),
        "matrix_by_communicator": rows.matrix_by_communicator(read.matrix),
        "picture": _picture(read, rows.most),
        "host_matrix": _host_matrix(read, rows),
        "objects": objects.describe(project, rows.most, rows.notes),
        "classes": CALL_CLASSES,
        "wait_kinds": WAIT_KINDS,
        "names": timeline.names(),
        "gathering_names": read.gathering_names,
        "sites": [_site(site) for site in project.call_sites],
        "communicators": [
            {"name": label, "ranks": [member.global_rank for member in one.members] if len(one.members) < project.process_count else None}
            for one, label in zip(project.communicators, project.communicator_labels)
        ],
    }


class _Room:
    """How many bytes are left in a page; there may be no limit."""

    def __init__(self, limit: int | None) -> None:
        self.left = limit

    def take(self, size: int) -> bool:
        if self.left is not None and size > self.left:
            return False
        if self.left is not None:
            self.left -= size
        return True

    def part(self, share: float) -> _Room:
        """What is left of that belongs to this one."""
        return _Room(None if self.left is None else int(self.left * share))


def _packed_size(*sections: Section) -> int:
    """In base64, with the element that holds it."""
    return sum(len(section()) * 4 // 3 + 80 for section in sections)


def _files(read: _Traces, room: _Room, sections: dict[str, Section], notes: list[str]) -> list[dict[str, Any]]:
    """The files whose accesses can be drawn, those with most of them first; adds a section for each."""
    files = sorted(read.timeline.file_accesses(), key=lambda file: -file["accesses"])
    rows: list[dict[str, Any]] = []
    for file in files[:_MOST_FILES]:
        section = partial(bytes, file.pop("bytes"))
        if not room.take(_packed_size(section)):
            break
        sections[f"file-{len(rows)}"] = section
        rows.append(file)
    if rest := len(files) - len(rows):
        notes.append(f"Where the accesses of {rest:,} of {len(files):,} files are, those with the fewest ones or too many for the size of the file (--limit).")
    return rows


def _ranks(read: _Traces, room: _Room, sections: dict[str, Section], facts: dict[str, Any], notes: list[str]) -> None:
    """Adds the section with the time of each place in each rank."""
    sites = read.explanation.use_of_sites_by_rank(len(facts["analysis"]["time"]["site"]))
    section = partial(bytes, zlib.compress(inert(sites).encode()))
    if room.take(_packed_size(section)):
        sections["ranks"] = section
    else:
        notes.append("The time of places in the program for single ranks, for the size of the file (--limit).")


def _detailed(read: _Traces, room: _Room, sections: dict[str, Section], notes: list[str]) -> set[int]:
    """The groups of lanes of which single calls are told: as many as fit, those with the longest parts of the critical path first; adds their sections."""
    on_path = {row["rank"]: row["seconds"] for row in read.analysis.critical_path["ranks"]}
    longest: dict[int, float] = {}
    for lane in read.lanes:
        longest[lane.group] = max(longest.get(lane.group, 0), on_path.get(lane.rank, 0))
    detailed = set()
    for number in sorted(longest, key=lambda group: (-longest[group], group)):
        section = partial(read.timeline.group, number)
        if room.left is not None and not room.take(_packed_size(section)):
            break
        sections[f"lanes-{number}"] = section
        detailed.add(number)
    if rest := sum(lane.group not in detailed for lane in read.lanes):
        notes.append(
            f"Single calls, messages and wait states of {rest:,} of {len(read.lanes):,} threads, for the size of the file (--limit): "
            "of these the timeline shows how much of their time they spent in which class of calls."
        )
    return detailed


def _unfinished(count: int) -> list[str]:
    return [f"{counted(count, 'call')} had not ended; what they wait for is in no wait state: see Checks."] if count else []


def collect(project: Project, limit: int | None) -> Content:
    """Reads the traces. What would make the page larger than so many bytes is left out; nothing if there is no limit."""
    read = _Traces(project)
    whole = {"shares": read.timeline.shares(), "path": read.timeline.path(), "gatherings": read.gatherings}
    sections: dict[str, Section] = {name: partial(bytes, packed) for name, packed in whole.items()}
    for most in _MOST_ROWS:
        notes: list[str] = []
        facts = _facts(read, _Rows(most, notes))
        least = len(inert(facts)) + _packed_size(*sections.values())
        if limit is None or least <= limit // 2:
            break
    room = _Room(None if limit is None else max(0, limit - least))
    files = _files(read, room.part(_FOR_FILES), sections, notes)
    room.take(_packed_size(*(sections[f"file-{number}"] for number in range(len(files)))))
    _ranks(read, room, sections, facts, notes)
    phrases = read.timeline.phrases()
    has_phrases = limit is None or room.take(len(inert(phrases)))
    detailed = _detailed(read, room if has_phrases else _Room(0), sections, notes)
    facts |= {
        "file_accesses": files,
        "has_ranks": "ranks" in sections,
        "phrases": phrases if has_phrases else [],
        "lanes": [[lane.rank, lane.thread, lane.host, lane.call_count, lane.message_count, lane.group if lane.group in detailed else None] for lane in read.lanes],
        "notes": _unfinished(read.explanation.unfinished) + notes + [f"{text}: the trace was cut off." for text in read.explanation.missing],
    }
    return Content(facts, sections, read.analysis, least)
