"""hdtrace check"""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from .._hdtrace import Checker, Finding as CheckerFinding, find_problems, finding_kinds, printable
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .check_choice import Choice
from .output import Progress, count_of_processes, counted, in_ranges, message, print_json, ranges_text, site_fields
from .sarif import sarif
from .terminal import OF_SEVERITIES, styled

KINDS = {kind.name: kind for kind in finding_kinds()}  # in the order of the output
_NOT_WHOLE = ("killed-by-signal", "missing", "cut-off", "no-finalize", "aborted", "unfinished")  # kinds of findings of which others follow
_ORDER = {name: place for place, name in enumerate(KINDS)}


@dataclass(frozen=True)
class Finding:
    kind: str
    severity: str
    rank: int | None
    file: str
    line: int | None
    text: str
    because: str | None = None
    """The trace that is not whole, if that is why."""
    site: dict[str, Any] | None = None
    other_site: dict[str, Any] | None = None
    """Where the call is, and the one that it differs from, if that is known."""
    waiting: list[dict[str, Any]] | None = None
    """Of a deadlock: each process that can never go on because of it, with its `call`, the `operations` that this waits for, and whom it `awaits`:
    the first hundred of `awaits_count`; `any` of them would do; `in_circle` if it is awaited as well."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {'' if self.is_error else f'{self.severity}: '}{self.kind}: {self.text}"

    @property
    def is_error(self) -> bool:
        return self.severity == "error"


def _against_schema(path: str, only_root: bool) -> list[Finding]:
    try:
        problems = find_problems(path, only_root)
    except FileNotFoundError:
        return []  # which is also found when the traces are read
    return [
        Finding("schema", KINDS["schema"].severity, None, path, problem.line or None, problem.text)
        for problem in problems
        if problem.kind not in ("cut-off", "no-schema")  # the one is also found when the traces are read, the other is no error of the file
    ]


def _across_traces(checker: Checker) -> Iterator[Finding]:
    with Progress("checking") as progress:
        while not checker.at_end:
            findings = checker.read(STATES_BETWEEN_PAUSES)
            progress.add(STATES_BETWEEN_PAUSES)
            for found in findings:
                yield Finding(found.kind, found.severity, None if found.rank < 0 else found.rank, found.file, found.line or None, found.text,
                              found.because or None, site_fields(found.site), site_fields(found.other_site), waiting_fields(found) or None)


def waiting_fields(found: CheckerFinding) -> list[dict[str, Any]]:
    """The processes of a deadlock, for JSON."""
    return [
        process
        | {"site": site_fields(process["site"]), "operations": [started | {"site": site_fields(started["site"])} for started in process["operations"]]}
        for process in found.waiting
    ]


def alike(findings: Iterable[Finding]) -> list[tuple[Finding, list[int]]]:
    """Those that say the same, of whatever rank and request, once: that of the lowest rank, and the ranks of the others. Not of kinds of which others follow."""
    same: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.because or finding.rank is None or finding.kind in _NOT_WHOLE:
            same[len(same),] = [finding]
        else:
            text = re.sub(rf"\brank {finding.rank}\b", "rank", re.sub(r" with rid [0-9]+\b", "", finding.text))
            same[finding.kind, finding.severity, text].append(finding)
    by_rank = (sorted(group, key=lambda finding: finding.rank or 0) for group in same.values())
    return [(first, [finding.rank for finding in others if finding.rank is not None]) for first, *others in by_rank]


def is_once_each(first: Finding, ranks: Sequence[int]) -> bool:
    """Whether no rank did twice what is told once."""
    return len({first.rank, *ranks}) == 1 + len(ranks)


def likewise(first: Finding, ranks: Sequence[int]) -> str:
    """How often else it was found, and of whom; empty if it was not."""
    if not ranks:
        return ""
    others = set(ranks)
    who = f"{'ranks' if len(others) > 1 else 'rank'} {ranges_text(in_ranges(others))}"
    if is_once_each(first, ranks):
        return f"likewise {who}"
    times = f"{len(ranks):,} more time{'s' if ranks[1:] else ''}"
    return times if others == {first.rank} else f"{times}, of {who}"


_MOST_TRACES = 10  # of one kind


def find(project: Project, checker: Checker, schemas: bool = True) -> list[Finding]:
    """All that is wrong: what explains most comes first, what follows of another finding last."""
    findings = list(_across_traces(checker))
    if schemas:
        plain = set(project.trace_paths) - set(checker.doubtful_traces)
        paths = (project.path, *project.trace_paths)
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            findings += chain.from_iterable(pool.map(_against_schema, paths, [path in plain for path in paths]))
        finally:
            pool.shutdown(cancel_futures=True)
    return sorted(findings, key=lambda finding: (finding.because is not None, _ORDER[finding.kind]))


def summary(findings: Iterable[Finding], limit: int) -> Iterator[str]:
    """Lines with all findings that follow of no other, and below each the first of each kind that follows of it."""
    following: dict[str, list[Finding]] = defaultdict(list)
    causes: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.because:
            following[finding.because].append(finding)
        else:
            causes[finding.kind].append(finding)

    left_out = 0
    for kind, of_kind in causes.items():
        most = _MOST_TRACES if kind in _NOT_WHOLE else limit
        told = alike(of_kind)
        for finding, ranks in told[:most]:
            first, *others_in_it = str(finding).split("; ") if kind == "deadlock" else [str(finding)]
            yield first + (f" ({likewise(finding, ranks)})" if ranks else "")
            left_out += 0 if is_once_each(finding, ranks) else len(ranks)
            yield from (f"  {one}" for one in others_in_it)
            for consequences in _by_kind(following.pop(finding.file, [])) if kind in _NOT_WHOLE else ():
                left_out += len(consequences) - 1
                yield _with_more(consequences)
        if rest := sum(1 + len(ranks) for _, ranks in told[most:]):
            left_out += rest
            yield f"and {rest:,} more: {kind}"
    if following:
        yield "perhaps only because the traces end there:"
    for consequences in _by_kind(finding for of_file in following.values() for finding in of_file):
        left_out += len(consequences) - 1
        yield _with_more(consequences)
    if left_out:
        yield f"{left_out:,} left out; hdtrace check --all shows all"


def _with_more(consequences: list[Finding]) -> str:
    return f"  {consequences[0]}" + (f" (and {len(consequences) - 1:,} more)" if consequences[1:] else "")


def _by_kind(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    kinds: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        kinds[finding.kind].append(finding)
    return kinds.values()


def _not_compared(checker: Checker, is_asked_for: Callable[[str], bool]) -> Iterator[str]:
    if kinds := [kind for kind in checker.incomplete if is_asked_for(kind)]:
        yield f"not all that there was to compare was compared: some of {', '.join(kinds)} may not have been found"


def unknown(project: Project, checker: Checker, is_asked_for: Callable[[str], bool] = KINDS.__contains__) -> Iterator[str]:
    """Sentences on what may be wrong all the same, in kinds that are asked for. Old traces do not tell how they were recorded."""
    yield from _not_compared(checker, is_asked_for)
    if checker.goes_on:
        yield "processes were still running: what is open may still come, and is not told"
    setting = project.run.settings.get("HDTRACE_FOR_CHECK")
    kinds = [kind.name for kind in KINDS.values() if kind.needs_check and is_asked_for(kind.name)]
    if setting and setting.value == "0" and kinds:
        yield f"the run was not recorded with 'hdtrace record --check', so nothing is known of {', '.join(kinds)}"


_KIND = re.compile(rf"(?:^|: )((?:warning: |note: )?({'|'.join(map(re.escape, KINDS))})): ")


def _with_colours(line: str) -> str:
    """The kind of a finding, in a line that tells of one, in the colour of its severity."""
    found = _KIND.search(line)
    if not found:
        return line
    begin, end = found.span(1)
    return line[:begin] + styled(found[1], OF_SEVERITIES[KINDS[found[2]].severity], sys.stdout) + line[end:]


def run(arguments: Namespace) -> int:
    choice = Choice(arguments.only, getattr(arguments, "not"), arguments.suppress, tuple(KINDS))
    project = Project(*arguments.project, readers=arguments.readers)
    checker = project.checker()
    findings = [finding for finding in find(project, checker, schemas=not arguments.no_schemas) if choice.has(finding)]
    if arguments.json:
        print_json([asdict(finding) for finding in findings])
    elif arguments.sarif:
        print_json(sarif(findings, KINDS.values()))
    else:
        for line in findings if arguments.all else summary(findings, arguments.limit):
            print(_with_colours(printable(str(line))))
        if not (findings or arguments.quiet):
            what = "nothing of what was asked for was found" if choice.is_partial else "nothing wrong was found"
            print(f"{printable(project.name)}: {what}; {counted(checker.calls, 'call')} of {count_of_processes(project)} {'was' if checker.calls == 1 else 'were'} checked")

    def is_asked_for(kind: str) -> bool:
        return kind in (arguments.only or KINDS) and kind not in getattr(arguments, "not")

    is_terse = arguments.json or arguments.sarif or arguments.quiet
    for text in _not_compared(checker, is_asked_for) if is_terse else unknown(project, checker, is_asked_for):
        message(text)
    return 1 if any(finding.is_error or (arguments.strict and finding.severity == "warning") for finding in findings) else 0
