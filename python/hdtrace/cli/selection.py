"""What the options that select calls mean."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from .._hdtrace import all_calls, is_call
from ..project import Project
from ..streams import Interval, without_prefix
from .output import UsageError
from .table import LARGEST, PACKED


def several_projects(paths: list[str]) -> list[list[str]]:
    """The paths of each: .proj files, packed ones and directories are projects of their own, other files are one together."""
    own = [path for path in paths if path.endswith((".proj", PACKED)) or os.path.isdir(path)]
    return [[path] for path in own] if len(own) == len(paths) else [paths]


def refuse_packed(paths: list[str], instead: str) -> None:
    """Of commands that change the files of a project."""
    for path in paths:
        if path.endswith(PACKED) and os.path.isfile(path):
            raise UsageError(f"{path}: this is one file: {instead}")


def absolute_interval(project: Project, arguments: Namespace) -> Interval:
    """In nanoseconds since the epoch."""
    def absolute(time: int | None) -> int | None:
        return None if time is None else max(-LARGEST, min(origin + time, LARGEST))

    begin, end = arguments.interval
    origin = project.start if arguments.interval != (None, None) else 0
    return absolute(begin), absolute(end)


def _did_you_mean(name: str) -> str:
    spellings = {known.lower(): known for known in all_calls()}
    near = get_close_matches(name.removeprefix("MPI_").lower(), spellings, n=1)
    return f"; did you mean {spellings[near[0]]}?" if near else ""


def _call_names(project: Project, names: Sequence[str]) -> list[str]:
    """With or without MPI_. Other names than those of MPI's functions must be in the traces: of regions, or of the program's own states."""
    wanted = [without_prefix(name) for name in names]
    for name in wanted:
        if not is_call(name) and not project.has_calls_named(name):
            raise UsageError(f"--call: nothing is called '{name}' here{_did_you_mean(name)}")
    return wanted


def _check_number(option: str, what: str, wanted: Sequence[int], known: Iterable[int]) -> None:
    there = sorted(set(known))
    if wanted and there and not set(there).intersection(wanted):
        known_ones = f"{there[0]} to {there[-1]}" if len(there) > 1 else there[0]
        raise UsageError(f"{option}: there is no {what} {wanted[0]}, only {known_ones}")


def filters(project: Project, arguments: Namespace) -> dict[str, Any]:
    """The arguments of Project.calls(). Raises UsageError for what is not in the project."""
    _check_number("--rank", "process", arguments.rank, (thread.rank for thread in project.threads))
    _check_number("--thread", "thread", arguments.thread, (thread.thread for thread in project.threads))
    return {
        "rank": arguments.rank or None,
        "thread": arguments.thread or None,
        "name": _call_names(project, arguments.call) or None,
        "call_class": getattr(arguments, "class") or None,
        "interval": absolute_interval(project, arguments),
    }
