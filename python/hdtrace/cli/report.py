"""hdtrace report"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..project import Project
from ..report.content import Content, collect
from ..report.document import html
from ..report.sums import sums_page
from .output import UsageError, warn_of_missing, write_whole
from .selection import several_projects


def _check_output(path: Path) -> None:
    """Only another page is replaced, or an empty file."""
    if not path.exists():
        return
    beginning = None
    if path.is_file():
        with path.open("rb") as file:
            beginning = file.read(len(_BEGINNING)).lower()
    if beginning not in (_BEGINNING, b""):
        raise UsageError(f"--output {path}: this is there, and no page: name another file, or remove it")


_BEGINNING = b"<!doctype html>"  # of a page
_PAGE = 200_000  # bytes of the page itself, about, and of the comparison for each run


def _contents(projects: list[Project], limit: int) -> list[Content]:
    """Each run has an equal part of the page."""
    return [collect(project, max(1, limit // len(projects) - _PAGE)) for project in projects]


def run(arguments: Namespace) -> int:
    _check_output(Path(arguments.output))
    projects = [Project(*paths, readers=arguments.readers) for paths in several_projects(arguments.project)]
    limit = arguments.limit * 1_000_000
    if any(project.statistics_only for project in projects):
        if len(projects) > 1:
            raise UsageError("report: runs that were recorded with --statistics-only have a page each")
        text = sums_page(projects[0])
    else:
        contents = _contents(projects, limit)
        text = html(contents)
        warn_of_missing(dict.fromkeys(one for content in contents for one in content.analysis.missing))
    if len(text) > limit:
        raise UsageError(f"--limit {arguments.limit}: the page of this run needs at least {-(-len(text) // 1_000_000)} megabytes")
    for project in projects:
        project.keep_private(arguments.output)
    write_whole(Path(arguments.output), text.encode())
    return 0
