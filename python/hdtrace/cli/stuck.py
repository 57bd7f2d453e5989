"""Which processes of a run have waited too long, and whether they can ever go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, time_ns
from typing import Any

from .._hdtrace import Finding
from ..live import Activity, LiveRun
from ..streams import STATES_BETWEEN_PAUSES
from .check import waiting_fields
from .output import duration

_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Stuck:
    """lines: who waits for whom; is_forever: they can never go on; waiting: all that is known of each of them, if they wait for each other: where one
    of these polls, it may give that up"""

    lines: list[str]
    is_forever: bool
    waiting: list[dict[str, Any]] = field(default_factory=list)


def rank_list(ranks: Sequence[int]) -> str:
    """0..3,7"""
    parts: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}..{last}" for first, last in parts)


def waiting_lines(activities: Sequence[Activity], time: int) -> list[str]:
    """What they are in, those who are in the same together."""
    groups: dict[tuple[str, str, str], list[Activity]] = {}
    for activity in activities:
        groups.setdefault((activity.state, activity.call, activity.site), []).append(activity)
    lines = []
    for (state, call, site), members in groups.items():
        ranks = rank_list([member.rank for member in members])
        is_one = len({member.rank for member in members}) == 1
        what = {"inside": "in", "polls": "polling", "computes": "computing since", "ended": "ended"}[state]
        waited = duration(time - max(member.since for member in members))
        lines.append(f"rank{'' if is_one else 's'} {ranks} {what} {call or 'no call yet'}{f' at {site}' if site else ''} for {waited}")
    return lines


def error_lines(errors: Sequence[Finding]) -> list[str]:
    """What is wrong in the calls until now, and may be why: the first of each kind."""
    first = {finding.kind: finding for finding in reversed(errors)}
    return [f"{kind}: {first[kind].text}" for kind in dict.fromkeys(finding.kind for finding in errors)]


def stuck_lines(stuck: Stuck | None) -> list[str]:
    """For people; none if nothing is stuck."""
    if stuck is None:
        return []
    heading = "these processes can never go on" if stuck.is_forever else "these processes wait for each other" if stuck.waiting else "no process has moved"
    return [f"{heading}:", *(f"  {line}" for line in stuck.lines)]


def _can_never_go_on(deadlock: Finding) -> bool:
    """Those that are waited for, if any, only wait themselves."""
    circle = [process for process in deadlock.waiting if process["in_circle"]] or deadlock.waiting
    return not any(process["polls"] for process in circle)


def _is_still_in(before: Activity, now: Activity | None) -> bool:
    """A process that polls may be in one of its polls just now."""
    if now is None or now.state not in ("inside", "polls"):
        return False
    return now.call.split()[:1] == before.call.split()[:1] if before.state == "polls" else now.since == before.since


class Watch:
    """Looks at a run from time to time. activities: what was seen last; now: what was found last, until processes move again."""

    def __init__(self, run: LiveRun, seconds: float) -> None:
        self._run = run
        self._longest = int(seconds * _SECOND)
        self._looked_into: frozenset[tuple[int, int, int]] = frozenset()
        self._errors: list[Finding] = []  # that were found then
        self._next_look = 0.0  # of a clock
        self.activities: list[Activity] = []
        self.now: Stuck | None = None
        self._told: list[Activity] = []  # of these, until one of them has moved

    def look(self) -> Stuck | None:
        """Something that was not told yet."""
        time = time_ns()
        activities = self.activities = self._run.look()
        too_long = [one for one in activities if one.waits and time - one.since >= self._longest]
        # Since when a process polls is not known for certain, and moves on.
        calls = frozenset((one.rank, one.thread, -1 if one.state == "polls" else one.since) for one in too_long)
        threads = {(one.rank, one.thread): one for one in activities}
        if not all(_is_still_in(told, threads.get((told.rank, told.thread))) for told in self._told):
            self._told, self.now = [], None
        is_told = {(one.rank, one.thread) for one in too_long} <= {(told.rank, told.thread) for told in self._told}
        # Only after some time it is known that a process does nothing but poll.
        may_be_more = self.now is not None and not self.now.waiting and any(one.state == "polls" for one in too_long)
        if is_told and not may_be_more:
            return None
        self._look_into(calls, is_told)
        errors = self._errors if calls <= self._looked_into else []  # else these are of an earlier time
        if deadlocks := [finding for finding in errors if finding.kind == "deadlock"]:
            lines = [line for finding in deadlocks for line in finding.text.split("; ")]
            self.now = Stuck(lines, is_forever=any(map(_can_never_go_on, deadlocks)), waiting=[process for finding in deadlocks for process in waiting_fields(finding)])
        elif not is_told and calls <= self._looked_into and all(one in too_long or one.state == "ended" for one in activities):
            self.now = Stuck([*waiting_lines(activities, time), *error_lines(errors)], is_forever=False)
        else:
            return None  # others go on; perhaps they will not, later
        self._told = too_long
        return self.now

    def _look_into(self, calls: frozenset[tuple[int, int, int]], again: bool) -> None:
        """All traces are read for it, so only if other calls have lasted too long than the last time, or again, and for a tenth of the time at most."""
        begin = monotonic()
        if (calls <= self._looked_into and not again) or begin < self._next_look:
            return
        try:
            checker = self._run.project().checker()
            found = []
            while not checker.at_end:
                found += checker.read(STATES_BETWEEN_PAUSES)
        except (ValueError, RuntimeError, OSError):  # what is being written just now
            return
        self._looked_into = calls
        self._errors = [finding for finding in found if finding.severity == "error"]
        self._next_look = monotonic() + 9 * (monotonic() - begin)
