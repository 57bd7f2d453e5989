"""hdtrace dump"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from .._hdtrace import Call, State, printable_lines
from ..project import Project
from ..streams import Calls
from .output import say_that_nothing_fits, site_fields, warn_of_missing
from .selection import filters
from .terminal import is_terminal


def _site(project: Project, rank: int, state: State) -> dict[str, Any]:
    return {"site": site_fields(project.call_site(rank, state))} if "site" in state else {}


def _state(project: Project, rank: int, state: State) -> dict[str, Any]:
    return {
        "name": state.name,
        "start": state.time,
        "end": state.end,
        "line": state.line,
        **_site(project, rank, state),
        "attributes": state.attributes,
        "children": [{"name": child.name, "attributes": child.attributes} for child in state.children],
        "nested": [_state(project, rank, nested) for nested in state.nested],
    }


def _call(project: Project, call: Call) -> dict[str, Any]:
    return {"rank": call.rank, "thread": call.thread, "class": call.call_class, "region": call.region, **_state(project, call.rank, call)}


def _xml(calls: Calls, last: int) -> Iterator[str]:
    yield "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1'>\n"
    yield from calls.lines("xml", last=last)
    yield "</Program>\n"


def run(arguments: Namespace) -> int:
    project = Project(*arguments.project)
    last = arguments.last or 0
    calls = project.calls(**filters(project, arguments), unfinished=arguments.unfinished or last > 0)
    if arguments.json:
        lines: Iterator[str] = (json.dumps(_call(project, call)) + "\n" for call in calls.last(last))
    else:
        lines = _xml(calls, last) if arguments.xml else calls.lines("text", project.start, last)
    if is_terminal(sys.stdout):
        lines = map(printable_lines, lines)  # also of XML
    written = 0
    for line in lines:
        sys.stdout.write(line)
        written += 1
    if not (written or arguments.xml):
        say_that_nothing_fits()
    warn_of_missing(calls.missing)
    return 0
