"""hdtrace index"""

from __future__ import annotations

import os
from argparse import Namespace

from .._hdtrace import Indexing, indexes_of
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .output import Progress, UsageError, counted, end_tidily, message, size, tell
from .selection import refuse_packed, several_projects


def _make(project: Project, calls: int) -> int:
    if not os.path.isfile(project.path):
        raise UsageError(f"{project.path}: an index belongs to a .proj file; project-merger makes one")
    if project.statistics_only:
        raise UsageError(f"{project.path}: there are only sums over the calls, which need no index")
    indexing = Indexing(project._project, calls)
    with Progress("indexing") as progress:
        while indexing.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)
    for why in indexing.refused:
        message(why)
    tell(f"{project.path}: {counted(indexing.made, 'index', 'es')}, {size(indexing.size)}")
    return 1 if indexing.refused else 0


def _remove(project: Project) -> int:
    paths = indexes_of(project._project)
    for path in paths:
        os.unlink(path)
    tell(f"{project.path}: {counted(len(paths), 'index', 'es')} removed")
    return 0


def run(arguments: Namespace) -> int:
    end_tidily()
    refuse_packed(arguments.project, "unpack it before")
    projects = [Project(*paths) for paths in several_projects(arguments.project)]
    return max(_remove(project) if arguments.remove else _make(project, arguments.calls) for project in projects)
