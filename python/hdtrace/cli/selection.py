"""What the options that select calls mean."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..project import Project
from ..streams import Interval
from .table import LARGEST


def absolute_interval(project: Project, arguments: Namespace) -> Interval:
    """In nanoseconds since the epoch."""
    def absolute(time: int | None) -> int | None:
        return None if time is None else max(-LARGEST, min(origin + time, LARGEST))

    begin, end = arguments.interval
    origin = project.start if arguments.interval != (None, None) else 0
    return absolute(begin), absolute(end)


def filters(project: Project, arguments: Namespace) -> dict[str, Any]:
    """The arguments of Project.calls()."""
    return {
        "rank": arguments.rank,
        "thread": arguments.thread,
        "name": arguments.call,
        "call_class": getattr(arguments, "class"),
        "interval": absolute_interval(project, arguments),
    }
