"""What a report tells: figures as the other commands have them, and the packed timeline."""

from __future__ import annotations

import time
from base64 import b64encode
from dataclasses import asdict, dataclass
from typing import Any

from .._hdtrace import CALL_CLASSES, WAIT_KINDS, CallSite, Explanation, Lane, TimelineReader
from ..analysis import Analysis
from ..cli import analyze, check
from ..cli.output import Progress
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES

_MOST_ROWS = 1000
_MOST_POINTS = 2000  # of a phase
_MOST_FINDINGS = 2000


@dataclass(frozen=True)
class Content:
    """Facts become JSON; sections are by name, in base64."""

    facts: dict[str, Any]
    sections: dict[str, bytes]


def _read(what: Explanation | TimelineReader, doing: str) -> None:
    with Progress(doing) as progress:
        while what.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)


def _site(site: CallSite) -> dict[str, Any]:
    return {"text": str(site), "file": site.file, "line": site.line}


def _with_points(phase: dict[str, Any]) -> dict[str, Any]:
    """With as many iterations as can be seen: number, beginning and time of the longest in each group of neighbours."""
    times, begins = phase["times"], phase["begins"]
    width = -(-len(times) // _MOST_POINTS)
    longest = [max(range(first, min(first + width, len(times))), key=times.__getitem__) for first in range(0, len(times), width)]
    kept = {key: value for key, value in phase.items() if key not in ("times", "begins")}
    return kept | {"points": [[i + 1, begins[i], times[i]] for i in longest], "outliers": sorted(phase["outliers"], key=lambda one: -one["excess"])[:_MOST_ROWS]}


def _shortened(analysis: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Pages need not have all rows: those of least time go."""

    def first(rows: list[Any], what: str) -> list[Any]:
        if len(rows) > _MOST_ROWS:
            notes.append(f"Of {len(rows):,} {what} only the first {_MOST_ROWS:,}; 'hdtrace analyze --json' has all.")
        return rows[:_MOST_ROWS]

    path = analysis["critical_path"]
    return analysis | {
        "wait_states": first(analysis["wait_states"], "sums of wait states"),
        "causes": first(analysis["causes"], "causes of waiting"),
        "critical_path": path | {"profile": first(path["profile"], "parts of the critical path")},
        "phases": [_with_points(phase) for phase in analysis["phases"]],
        "io": {name: first(rows, f"rows of {name} in I/O") for name, rows in analysis["io"].items()},
        "time": {by: first(rows, f"rows of time by {by}") for by, rows in analysis["time"].items()},
    }


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


def _chosen(lanes: list[Lane], analysis: dict[str, Any], limit: int, notes: list[str]) -> set[int]:
    """The lanes of which single calls are told: as many as fit, those that are longest on the critical path first."""
    on_path = {row["rank"]: row["seconds"] for row in analysis["critical_path"]["ranks"]}
    order = sorted(range(len(lanes)), key=lambda i: (-on_path.get(lanes[i].rank, 0), i))
    chosen = set()
    for number in order:
        lane = lanes[number]
        size = sum(len(part) for part in (lane.calls, lane.messages, lane.waits, lane.regions)) * 4 // 3
        if size > limit:
            break
        limit -= size
        chosen.add(number)
    if len(chosen) < len(lanes):
        notes.append(
            f"Single calls, messages and wait states of {len(lanes) - len(chosen):,} of {len(lanes):,} threads, for the size of the file (--limit): "
            "of these the timeline shows how much of their time they spent in which class of calls."
        )
    return chosen


def _findings(project: Project, notes: list[str]) -> list[dict[str, Any]]:
    findings = [asdict(one) for one in check.find(project, project.checker(), schemas=False)]
    if len(findings) > _MOST_FINDINGS:
        notes.append(f"Of {len(findings):,} findings only the first {_MOST_FINDINGS:,}; 'hdtrace check --all' shows all.")
    return findings[:_MOST_FINDINGS]


def collect(project: Project, limit: int) -> Content:
    """Reads the traces. What would make the file larger than so many bytes is left out."""
    notes: list[str] = []
    explanation = Explanation(project._project, None, None)
    _read(explanation, "analyzing")
    analysis = _shortened(analyze.describe(project.name, Analysis.of(project._project, explanation)), notes)
    timeline = explanation.timeline()
    _read(timeline, "drawing")
    findings = _findings(project, notes)
    matrix = project.calls().message_matrix()
    while matrix.read(STATES_BETWEEN_PAUSES):
        pass
    gatherings, names = timeline.gatherings()
    lanes = list(timeline.lanes)
    sections = {"shares": timeline.shares(), "path": timeline.path(), "gatherings": gatherings}
    chosen = _chosen(lanes, analysis, limit - sum(map(len, sections.values())) * 4 // 3, notes)
    for number in sorted(chosen):
        lane = lanes[number]
        sections |= {f"calls-{number}": lane.calls, f"messages-{number}": lane.messages, f"waits-{number}": lane.waits, f"regions-{number}": lane.regions}
    notes += [f"{text}: the trace was cut off." for text in explanation.missing]
    kinds = {one["kind"] for one in findings}
    facts = {
        "name": project.name,
        "processes": project.process_count,
        "duration": timeline.duration,
        "parts": timeline.parts,
        "about": _about(project),
        "notes": notes,
        "call_count": sum(lane.call_count for lane in lanes),
        "analysis": analysis,
        "findings": findings,
        "kinds": {name: {"title": kind.title, "means": kind.means, "do": kind.what_to_do} for name, kind in check.KINDS.items() if name in kinds},
        "matrix": [{"from": sender, "to": peer, "messages": messages, "bytes": size} for sender, peer, messages, size in matrix.cells()],
        "lanes": [[lane.rank, lane.thread, lane.host, lane.call_count, lane.message_count, number in chosen] for number, lane in enumerate(lanes)],
        "classes": CALL_CLASSES,
        "wait_kinds": WAIT_KINDS,
        "phrases": timeline.phrases(),
        "names": timeline.names(),
        "gathering_names": names,
        "sites": [_site(site) for site in project.call_sites],
        "communicators": [
            {"name": label, "ranks": [member.global_rank for member in one.members] if len(one.members) < project.process_count else None}
            for one, label in zip(project.communicators, project.communicator_labels)
        ],
    }
    return Content(facts, {name: b64encode(section) for name, section in sections.items()})
