"""hdtrace check"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from .._hdtrace import find_problems
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .output import Progress, print_json


@dataclass(frozen=True)
class Finding:
    kind: str
    file: str
    line: int | None
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.kind}: {self.text}"


_CUT_OFF = "the trace is cut off"  # which is also found by reading the trace


def _against_schemas(project: Project) -> Iterator[Finding]:
    for path in (project.path, *project.trace_paths):
        for problem in find_problems(path):
            if _CUT_OFF in problem:
                continue
            place = re.fullmatch(r"(?s)(\d+): (.*)", problem.removeprefix(f"{path}:"))
            line, text = (int(place[1]), place[2]) if place else (None, problem.removeprefix(f"{path}: "))
            yield Finding("schema", path, line, text)


def _across_traces(project: Project) -> Iterator[Finding]:
    checker = project.checker()
    with Progress("checking") as progress:
        while not checker.at_end:
            findings = checker.read(STATES_BETWEEN_PAUSES)
            progress.add(STATES_BETWEEN_PAUSES)
            for finding in findings:
                yield Finding(finding.kind, finding.file, finding.line or None, finding.text)


def find(project: Project, schemas: bool = True) -> Iterator[Finding]:
    """All that is wrong, as it is found."""
    if schemas:
        yield from _against_schemas(project)
    yield from _across_traces(project)


def run(arguments: Namespace) -> int:
    findings = find(Project(arguments.project), schemas=not arguments.no_schemas)
    if arguments.json:
        found = [asdict(finding) for finding in findings]
        print_json(found)
        return 1 if found else 0
    count = 0
    for count, finding in enumerate(findings, 1):
        print(finding, flush=sys.stderr.isatty())
    return 1 if count else 0
