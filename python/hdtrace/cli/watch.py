"""hdtrace watch"""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from .._hdtrace import files_in, printable
from ..live import Activity, LiveRun
from .output import UsageError, counted, duration, print_json, size, table
from ..report.document import watch_html
from ..report.server import Answer
from .stuck import Watch, rank_list, stuck_lines
from .terminal import is_terminal
from .view import open_server, serve

_CLEAR = "\x1b[H\x1b[2J"
_WHAT = {"inside": "in", "polls": "polls", "computes": "computes since", "ended": "ended after"}
_DIED = {"inside": "died in", "polls": "died in", "computes": "died after"}
_HEADS = ["ranks", "what", "for", "calls/s", "call", "where"]
_MOST_ROWS = 40
_MOST_PAGE_ROWS = 500


def _rows(activities: Sequence[Activity], until: int) -> Iterable[list[object]]:
    """Those who are in the same call, together; who has waited longest comes first."""
    groups: dict[tuple[str, str, str], list[Activity]] = {}
    for one in activities:
        groups.setdefault((_DIED[one.died] if one.died else _WHAT[one.state], one.call, one.site), []).append(one)
    for (what, call, site), members in sorted(groups.items(), key=lambda group: min(one.since for one in group[1])):
        longest, shortest = (duration(max(0, until - since)) for since in (min(one.since for one in members), max(one.since for one in members)))
        calls = sum(one.rates.calls for one in members)
        yield [rank_list([one.rank for one in members]), what, longest if longest == shortest else f"{shortest} to {longest}", f"{calls:,.0f}", call or "(nothing yet)", site]


def _rates(activities: Sequence[Activity]) -> str:
    calls, sent, accessed = (sum(getattr(one.rates, name) for one in activities) for name in ("calls", "sent", "accessed"))
    return f"{counted(round(calls), 'call')}, {size(round(sent))} sent and {size(round(accessed))} of files accessed in a second"


def _view(folder: Path, activities: Sequence[Activity]) -> str:
    rows = list(_rows(activities, time.time_ns()))
    ranks = {one.rank for one in activities}
    waiting = {one.rank for one in activities if one.waits}
    dead = _dead(activities)
    died = f", {len(dead)} died" if dead else ""
    head = f"{folder}: {len(ranks)} processes, {len(waiting)} inside MPI{died}, at {time.strftime('%H:%M:%S')}\n{_rates(activities)}\n"
    more = f"and {len(rows) - _MOST_ROWS} more rows\n" if len(rows) > _MOST_ROWS else ""
    return head + table(_HEADS, rows[:_MOST_ROWS], _HEADS[3:4]) + more


def _dead(activities: Sequence[Activity]) -> set[int]:
    """Their ranks."""
    return {one.rank for one in activities if one.died}


def _death_notice(activities: Sequence[Activity]) -> str:
    dead = _dead(activities)
    return f"{counted(len(dead), 'process', 'es')} died: rank{'' if len(dead) == 1 else 's'} {rank_list(list(dead))}" if dead else ""


def _has_ended(activities: Sequence[Activity]) -> bool:
    return bool(activities) and all(one.state == "ended" for one in activities)


class _Page:
    """What a browser shows of the run; it is looked at in a thread of its own until it has ended."""

    def __init__(self, folder: Path, watch: Watch, every: float) -> None:
        self._watch = watch
        self._every = every
        self._html = watch_html().encode()
        self._known: dict[str, Any] = {"folder": str(folder), "processes": [], "rates": "", "heads": _HEADS, "rows": [], "stuck": None, "has_ended": False, "problem": ""}

    def follow(self) -> None:
        while not _has_ended(self._watch.activities):
            try:
                self._look()
            except OSError as error:
                self._known = self._known | {"problem": str(error)}
            time.sleep(self._every)

    def _look(self) -> None:
        self._watch.look()
        activities, now = self._watch.activities, self._watch.now
        self._known = self._known | {
            "time": time.strftime("%H:%M:%S"),
            "processes": [[one.rank, one.state] for one in activities],
            "rates": _rates(activities),
            "rows": list(_rows(activities, time.time_ns()))[:_MOST_PAGE_ROWS],
            "stuck": now and asdict(now),
            "has_ended": _has_ended(activities) and not _dead(activities),  # well, as the page says
            "problem": _death_notice(activities),
        }

    def answer(self, path: str) -> Answer | None:
        if path == "":
            return "text/html; charset=utf-8", self._html
        return ("application/json", json.dumps(self._known).encode()) if path == "now" else None


def _show_page(folder: Path, watch: Watch, arguments: Namespace) -> NoReturn:
    page = _Page(folder, watch, arguments.every)
    server = open_server(page.answer, arguments.port)
    Thread(target=page.follow, daemon=True).start()
    serve(server, str(folder))


def run(arguments: Namespace) -> int:
    folder = Path(arguments.folder)
    if not folder.is_dir():
        raise UsageError(f"watch: {folder} is no folder with the traces of a run")
    names = [name for name, _, _ in files_in(folder)]
    if any(name.endswith(".stats") for name in names) and not any(".trc" in name for name in names):
        raise UsageError(f"watch: {folder} has statistics only (--statistics-only), which do not tell what a process does now")
    live = LiveRun(folder)
    if arguments.json:
        print_json([asdict(one) for one in live.look()])
        return 0
    watch = Watch(live, arguments.stuck_seconds)
    if arguments.page:
        _show_page(folder, watch, arguments)
    clear = _CLEAR if is_terminal(sys.stdout) and not arguments.once else ""
    while True:
        watch.look()
        print(clear + _view(folder, watch.activities) + "".join(f"{printable(line)}\n" for line in stuck_lines(watch.now)), flush=True)
        if arguments.once or _has_ended(watch.activities):
            return 0
        time.sleep(arguments.every)
