"""hdtrace check"""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .._hdtrace import find_problems, printable
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .output import Progress, print_json, site_fields


@dataclass(frozen=True)
class Finding:
    kind: str
    file: str
    line: int | None
    text: str
    because: str | None = None
    """The trace that is not whole, if that is why."""
    site: dict[str, Any] | None = None
    other_site: dict[str, Any] | None = None
    """Where the call is, and the one that it differs from, if that is known."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.kind}: {self.text}"


def _against_schemas(project: Project) -> Iterator[Finding]:
    for path in (project.path, *project.trace_paths):
        try:
            problems = find_problems(path)
        except FileNotFoundError:
            continue  # which is also found when the traces are read
        for problem in problems:
            if problem.kind != "cut-off":  # which is also found when the traces are read
                yield Finding("schema", path, problem.line or None, problem.text)


def _across_traces(project: Project) -> Iterator[Finding]:
    checker = project.checker()
    with Progress("checking") as progress:
        while not checker.at_end:
            findings = checker.read(STATES_BETWEEN_PAUSES)
            progress.add(STATES_BETWEEN_PAUSES)
            for finding in findings:
                sites = site_fields(finding.site), site_fields(finding.other_site)
                yield Finding(finding.kind, finding.file, finding.line or None, finding.text, finding.because or None, *sites)


_FIRST = ("deadlock",)
_NOT_WHOLE = ("missing", "cut-off", "unfinished")  # kinds of findings of which others follow
_MOST_TRACES = 10  # of one kind


def find(project: Project, schemas: bool = True) -> Iterator[Finding]:
    """All that is wrong: who can never go on, then, after what the schemas tell, the traces that are not whole."""
    across = list(_across_traces(project))
    yield from (finding for finding in across if finding.kind in _FIRST)
    if schemas:
        yield from _against_schemas(project)
    yield from sorted((finding for finding in across if finding.kind not in _FIRST), key=lambda finding: finding.kind not in _NOT_WHOLE)


def summary(findings: Iterable[Finding]) -> Iterator[str]:
    """Lines with all findings that follow of no other, and below each the first of each kind that follows of it."""
    following: dict[str, list[Finding]] = defaultdict(list)
    traces: dict[str, list[Finding]] = {kind: [] for kind in _NOT_WHOLE}
    others: list[Finding] = []
    for finding in findings:
        if finding.because:
            following[finding.because].append(finding)
        elif finding.kind in _FIRST:
            first, *others_in_it = str(finding).split("; ")
            yield first
            yield from (f"  {one}" for one in others_in_it)
        else:
            traces.get(finding.kind, others).append(finding)

    left_out = 0
    for kind, of_kind in traces.items():
        for trace in of_kind[:_MOST_TRACES]:
            yield str(trace)
            for consequences in _by_kind(following.pop(trace.file, [])):
                left_out += len(consequences) - 1
                yield f"  {consequences[0]}" + (f" (and {len(consequences) - 1:,} more)" if consequences[1:] else "")
        if rest := len(of_kind[_MOST_TRACES:]):
            left_out += rest
            yield f"and {rest:,} more: {kind}"
    yield from map(str, others)
    if left_out or following:
        yield f"{left_out + sum(map(len, following.values())):,} left out; --all shows all"


def _by_kind(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    kinds: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        kinds[finding.kind].append(finding)
    return kinds.values()


def run(arguments: Namespace) -> int:
    findings = list(find(Project(*arguments.project), schemas=not arguments.no_schemas))
    if arguments.json:
        print_json([asdict(finding) for finding in findings])
    else:
        for line in findings if arguments.all else summary(findings):
            print(printable(str(line)))
    return 1 if findings else 0
