"""What the options that select calls mean."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..project import Project


def filters(project: Project, arguments: Namespace) -> dict[str, Any]:
    """The arguments of Project.calls()."""
    begin, end = arguments.interval
    origin = project.start if arguments.interval != (None, None) else 0
    return {
        "rank": arguments.rank,
        "thread": arguments.thread,
        "name": arguments.call,
        "call_class": getattr(arguments, "class"),
        "interval": (None if begin is None else origin + begin, None if end is None else origin + end),
    }
