"""How a run uses its files, and what may be done better. docs/analyze.md has all thresholds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

Rows = list[dict[str, Any]]

SMALL = 4096  # bytes; as FileUse::small_size in hdtrace/explaining/file_uses.h
MANY = 0.5  # the part of accesses, bytes or time from which on something is told
FEWEST_SMALL = 100  # accesses; of collective ones those of a process
FEWEST_STRIDED = 10  # accesses
FEWEST_UNALIGNED = 10  # accesses
FEWEST_READ_BACK = 65536  # bytes
FEWEST_OPENS = 10  # of one process
FEWEST_FILES = 100
SHORTEST = 0.01  # of the run, for a process of those that make the calls


def files(uses: Rows, phases: Rows) -> Rows:
    """A row for each file: sums of what its calls do, and its phases, which have a bandwidth."""
    rows = []
    phases_of = _by_file(phases)
    for name, own in _by_file(uses).items():
        accesses = [use for use in own if use["access"] != "other"]
        own_phases = [_with_bandwidth(phase) for phase in phases_of.get(name, [])]
        busy = sum(phase["busy"] for phase in own_phases)
        read, written = (sum(use["bytes"] for use in own if use["access"] == access) for access in ("read", "write"))
        row = {
            "file": name,
            "processes": len({rank for use in own for rank in use["ranks"]}),
            "readers": _ranks(own, "read"),
            "writers": _ranks(own, "write"),
            "opens": sum(use["calls"] for use in own if use["opens"]),
            "read_bytes": read,
            "written_bytes": written,
            "busy": busy,
            "bandwidth": (read + written) / busy if busy > 0 else None,
            "seconds": sum(use["seconds"] for use in own),
            "metadata_seconds": sum(use["seconds"] for use in own if use["access"] == "other"),
            "collective_accesses": sum(use["accesses"] for use in accesses if use["collective"]),
            "phases": own_phases,
        }
        for figure in ("accesses", "small", "large", "unaligned", "placed", "strided", "consecutive", "read_back_bytes"):
            row[figure] = sum(use[figure] for use in accesses)
        rows.append(row)
    return sorted(rows, key=lambda row: -row["seconds"])


def _by_file(rows: Rows) -> dict[str, Rows]:
    of_files = defaultdict(list)
    for row in rows:
        of_files[row["file"]].append(row)
    return of_files


def _ranks(uses: Rows, access: str) -> int:
    return len({rank for use in uses if use["access"] == access for rank in use["ranks"]})


def _with_bandwidth(phase: dict[str, Any]) -> dict[str, Any]:
    bytes_of_both = phase["read_bytes"] + phase["written_bytes"]
    own = {name: value for name, value in phase.items() if name != "file"}
    return own | {"bandwidth": bytes_of_both / phase["busy"] if phase["busy"] > 0 else None}


def _finding(kind: str, uses: Rows, count: float, of: float, text: str, advice: str) -> dict[str, Any]:
    """Where it is: the use that contributes most comes first."""
    return {"kind": kind, "file": uses[0]["file"], "call": uses[0]["call"], "site": uses[0]["site"], "count": count, "of": of,
            "text": text, "try": advice}


def findings(uses: Rows, wait_states: Rows, seconds: float) -> Rows:
    """What may be done better, by file; each row says `count` of how many, and the call and site that contribute most."""
    rows = []
    for own in _by_file(uses).values():
        for access in ("write", "read"):
            same = [use for use in own if use["access"] == access]
            rows += _small(same, access)
            rows += _small_together(same, access)
            rows += _strided(same, access)
            rows += _unaligned(same, access)
        rows += _read_back(own)
        rows += _many_opens(own)
    return rows + _many_files(uses, seconds) + _waiting(uses, wait_states, seconds)


def _by(uses: Rows, figure: str) -> Rows:
    return sorted(uses, key=lambda use: -use[figure])


def _small(uses: Rows, access: str) -> Rows:
    independent = _by([use for use in uses if not use["collective"]], "small")
    count, of = sum(use["small"] for use in independent), sum(use["accesses"] for use in uses)
    if count < FEWEST_SMALL or count < MANY * of:
        return []
    text = f"{count / of:.0%} of {of:,} {access}s are below 4 KiB and independent"
    return [_finding("small-independent", independent, count, of, text, f"a buffer that is handed over when it is full, or one File_{access}_all for many of them")]


def _small_together(uses: Rows, access: str) -> Rows:
    collective = _by([use for use in uses if use["collective"]], "accesses")
    processes = len({rank for use in collective for rank in use["ranks"]})
    rounds = sum(use["accesses"] for use in collective) / processes if processes else 0
    moved = sum(use["bytes"] for use in collective)
    if rounds < FEWEST_SMALL or moved >= SMALL * rounds:
        return []
    text = f"{rounds:,.0f} collective {access}s move {moved / rounds:,.0f} bytes each, in the mean, of {processes} processes together"
    return [_finding("small-collective", collective, moved, rounds, text, "fewer of them, each with the data of several")]


def _strided(uses: Rows, access: str) -> Rows:
    independent = _by([use for use in uses if not use["collective"]], "strided")
    count, of = sum(use["strided"] for use in independent), sum(use["accesses"] for use in uses)
    if count < FEWEST_STRIDED or count < MANY * of:
        return []
    text = f"{count / of:.0%} of {of:,} {access}s are several pieces in the file each, and independent"
    return [_finding("strided-independent", independent, count, of, text, f"the collective call (File_{access}_all), which joins the pieces of processes")]


def _unaligned(uses: Rows, access: str) -> Rows:
    sorted_uses = _by(uses, "unaligned")
    count, of = sum(use["unaligned"] for use in uses), sum(use["large"] for use in uses)
    processes = {rank for use in uses for rank in use["ranks"]}
    if access != "write" or len(processes) < 2 or count < FEWEST_UNALIGNED or count < MANY * of:
        return []
    text = f"{count / of:.0%} of {of:,} large writes of {len(processes)} processes do not begin at a multiple of 4 KiB"
    return [_finding("unaligned", sorted_uses, count, of, text, "to begin at multiples of the file system's blocks or stripes, behind a padded header")]


def _read_back(uses: Rows) -> Rows:
    reads = _by([use for use in uses if use["access"] == "read"], "read_back_bytes")
    count, of = sum(use["read_back_bytes"] for use in reads), sum(use["bytes"] for use in reads)
    if count < FEWEST_READ_BACK or count < MANY * of:
        return []
    text = f"{count / of:.0%} of {of:,} bytes that are read were written by the run itself"
    return [_finding("read-back", reads, count, of, text, "to keep the data in memory, or to send it")]


def _many_opens(uses: Rows) -> Rows:
    opens = _by([use for use in uses if use["opens"]], "calls")
    count, processes = sum(use["calls"] for use in opens), len({rank for use in opens for rank in use["ranks"]})
    if not processes or count < FEWEST_OPENS * processes:
        return []
    text = f"opened {count / processes:,.0f} times by each of {processes} processes"
    return [_finding("many-opens", opens, count, processes, text, "to leave it open")]


def _many_files(uses: Rows, seconds: float) -> Rows:
    others = _by([use for use in uses if use["access"] == "other"], "seconds")
    count, of = sum(use["seconds"] for use in others), sum(use["seconds"] for use in uses)
    files, processes = len(_by_file(others)), len({rank for use in others for rank in use["ranks"]})
    if files < FEWEST_FILES or count < MANY * of or count <= SHORTEST * seconds * processes:
        return []
    text = f"{count / of:.0%} of {of:.3f} seconds in calls on {files:,} files is spent on opening, closing and the like, not on reading and writing"
    return [_finding("many-files", others, count, of, text, "fewer files: one for all processes, or for many steps")]


def _waiting(uses: Rows, wait_states: Rows, seconds: float) -> Rows:
    """Of a call that several files are accessed by, all of them together."""
    waits: dict[tuple[Any, str], float] = defaultdict(float)
    for wait in wait_states:
        if wait["kind"] == "wait-at-file":
            waits[wait["call"], str(wait["site"])] += wait["seconds"]
    calls = defaultdict(list)
    for use in uses:
        if use["collective"] and use["access"] != "other":
            calls[use["call"], str(use["site"])].append(use)
    rows = []
    for place, own in calls.items():
        waiting, whole = waits[place], sum(use["seconds"] for use in own)
        processes = len({rank for use in own for rank in use["ranks"]})
        if waiting < MANY * whole or waiting <= SHORTEST * seconds * processes:
            continue
        text = f"{waiting / whole:.0%} of {whole:.3f} seconds in these calls are waiting for the last process"
        rows.append(_finding("waiting-in-collective", _by(own, "seconds"), waiting, whole, text, "to balance what comes before: see the causes"))
    return rows
