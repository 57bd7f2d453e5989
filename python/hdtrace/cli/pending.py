"""hdtrace pending"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._hdtrace import Collective, printable
from ..pending import Pending, ThreadActivity
from ..project import Project
from .output import Progress, UsageError, counted, duration, message, print_json, seconds, site_fields, table, warn_of_missing
from .stuck import rank_list
from .table import LARGEST

_WHAT = {"inside": "in", "computes": "computes since", "ended": "ended after"}
_WHAT_UNTIL_A_SIGNAL = {"inside": "died in", "computes": "died after"}
_MOST_ROWS = 20  # of a table


def _activity_rows(pending: Pending) -> Iterator[list[object]]:
    """Those who are in the same, together; who has been there longest comes first."""
    groups: dict[tuple[str, str, str, str, str], list[ThreadActivity]] = {}
    for one in pending.activities:
        site = str(one.call.site or "") if one.call else ""
        groups.setdefault((one.state, one.text, site, one.region, one.signal.name if one.signal else ""), []).append(one)
    for (state, text, site, region, signal), members in sorted(groups.items(), key=lambda group: min(one.since for one in group[1])):
        yield [
            rank_list([one.rank for one in members]),
            (_WHAT_UNTIL_A_SIGNAL if signal else _WHAT)[state],
            _durations([one.until(pending.at) - one.since for one in members]),
            text or "(nothing yet)",
            site,
            region,
            signal,
            _durations([pending.at - one.until(pending.at) for one in members]) if signal else "",
        ]


def _durations(times: Sequence[int]) -> str:
    shortest, longest = duration(min(times)), duration(max(times))
    return longest if longest == shortest else f"{shortest} to {longest}"


def _request_rows(pending: Pending) -> Iterator[list[object]]:
    for request in pending.requests:
        call = request.call
        yield [call.rank, duration(pending.at - call.time), request.text, call.site or ""]


def _message_rows(pending: Pending) -> Iterator[list[object]]:
    for message in pending.messages:
        if message.send:
            yield [
                message.source,
                message.destination,
                message.tag,
                message.send.bytes,
                message.communicator or "",
                duration(pending.at - message.send.start),
                message.send.site or "",
            ]


def _missing_in(collective: Collective, pending: Pending) -> list[int]:
    """Those of which it is known that they had not called."""
    return sorted(set(collective.missing) - set(pending.without_calls))


def _collective_rows(pending: Pending) -> Iterator[list[object]]:
    for one in pending.collectives:
        names = sorted({call.name for call in one.calls})
        since = min(call.start for call in one.calls)
        yield [
            ", ".join(names),
            one.communicator or "",
            rank_list([call.rank for call in one.calls]),
            rank_list(_missing_in(one, pending)),
            duration(pending.at - since),
            one.calls[0].site or "",
        ]


def _part(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[str], is_all: bool) -> Iterator[str]:
    """A table, unless it has no rows."""
    every = list(rows)
    if not every:
        return
    shown = every if is_all else every[:_MOST_ROWS]
    used = [place for place, head in enumerate(heads) if any(str(row[place]) for row in every)]
    yield f"\n{title}\n" if title else "\n"
    yield table([heads[place] for place in used], [[row[place] for place in used] for row in shown], numbers)
    if len(shown) < len(every):
        yield f"and {len(every) - len(shown):,} more; --all shows them\n"


def _heading(project: Project, pending: Pending) -> str:
    ranks = {one.rank for one in pending.activities}
    inside = {one.rank for one in pending.activities if one.call}
    silent = pending.without_calls
    processes = f"{counted(len(ranks) + len(silent), 'process', 'es')}, {len(inside)} inside MPI"
    left_nothing = f", {len(silent):,} left no calls (rank{'' if len(silent) == 1 else 's'} {rank_list(silent)})" if silent else ""
    return f"{printable(str(project.path))} at {seconds(pending.at - project.start)} s: {processes}{left_nothing}\n"


def _text(project: Project, pending: Pending, is_all: bool) -> Iterator[str]:
    yield _heading(project, pending)
    yield from _part("", ["ranks", "what", "for", "call", "where", "region", "ended by", "ago"], _activity_rows(pending), ["for", "ago"], is_all)
    title = f"{counted(len(pending.requests), 'operation')} not completed:"
    yield from _part(title, ["rank", "for", "operation", "started at"], _request_rows(pending), ["rank", "for"], is_all)
    title = f"{counted(len(pending.messages), 'message')} sent and not received:"
    heads = ["from", "to", "tag", "bytes", "communicator", "for", "sent at"]
    yield from _part(title, heads, _message_rows(pending), [*heads[:4], "for"], is_all)
    title = f"{counted(len(pending.collectives), 'collective operation')} not called by all members:"
    yield from _part(title, ["call", "communicator", "by", "not by", "for", "where"], _collective_rows(pending), ["for"], is_all)


def _json(project: Project, pending: Pending) -> dict[str, Any]:
    def after_start(time: int) -> float:
        return (time - project.start) / 1e9

    return {
        "version": 1,
        "project": str(project.path),
        "at": after_start(pending.at),
        "threads": [
            {
                "rank": one.rank,
                "thread": one.thread,
                "state": one.state,
                "since": after_start(one.since),
                "call": one.text,
                "site": site_fields(one.call.site) if one.call else None,
                "region": one.region,
                "signal": one.signal and {"name": one.signal.name, "at": after_start(one.signal.time)},
            }
            for one in pending.activities
        ],
        "requests": [
            {
                "rank": request.call.rank,
                "thread": request.call.thread,
                "since": after_start(request.call.time),
                "operation": request.text,
                "site": site_fields(request.call.site),
            }
            for request in pending.requests
        ],
        "messages": [
            {
                "source": message.source,
                "destination": message.destination,
                "tag": message.tag,
                "bytes": message.send.bytes,
                "communicator": message.communicator,
                "since": after_start(message.send.start),
                "site": site_fields(message.send.site),
            }
            for message in pending.messages
            if message.send
        ],
        "collectives": [
            {
                "calls": [{"rank": call.rank, "call": call.name, "since": after_start(call.start), "site": site_fields(call.site)} for call in one.calls],
                "communicator": one.communicator,
                "missing": _missing_in(one, pending),
            }
            for one in pending.collectives
        ],
        "without_calls": pending.without_calls,
    }


def run(arguments: Namespace) -> int:
    project = Project(*arguments.project)
    if arguments.at is not None and arguments.at < 0:
        raise UsageError("--at: the run begins at 0 seconds")
    at = LARGEST if arguments.at is None else min(project.start + arguments.at, LARGEST)
    with Progress("reading") as progress:
        pending = project.pending(at, progress=progress.add)
    if arguments.json:
        print_json(_json(project, pending))
    else:
        print("".join(_text(project, pending, arguments.all)), end="")
    if arguments.at is not None and pending.at < at:
        message(f"--at: the run ends at {seconds(pending.at - project.start)} seconds, which is what is shown")
    warn_of_missing(pending.cut_off)
    return 0
