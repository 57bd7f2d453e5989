"""hdtrace compress and uncompress"""

from __future__ import annotations

import os
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from .._hdtrace import Thread, change_form
from ..project import Project
from .output import Progress, counted, end_tidily, size, tell
from .selection import refuse_packed, several_projects


class _Ended(Exception):
    """Another trace could not be handled, or the user ends the command."""


def _change(project: Project, form: str, doing: str) -> list[tuple[int, int]]:
    """The sizes of each trace, before and after."""
    missing = {thread.path for thread in (*project.missing_traces, *project.summed_threads)}
    ended = Event()

    with Progress(doing, "bytes") as progress, ThreadPoolExecutor(os.cpu_count()) as pool:

        def add(count: int) -> None:
            if ended.is_set():
                raise _Ended
            progress.add(count)

        def change(thread: Thread) -> tuple[int, int]:
            return change_form(thread, form, add)

        try:
            return list(pool.map(change, (thread for thread in project.threads if thread.path not in missing)))
        except BaseException:
            ended.set()
            raise


def run(arguments: Namespace) -> int:
    end_tidily()
    form, doing = (arguments.form, "compressing") if arguments.command == "compress" else ("", "uncompressing")
    refuse_packed(arguments.project, "unpack it before")
    for paths in several_projects(arguments.project):
        project = Project(*paths)
        changed = [(before, after) for before, after in _change(project, form, doing) if before]
        before, after = (sum(sizes) for sizes in zip(*changed)) if changed else (0, 0)
        tell(f"{project.path}: {counted(len(changed), 'trace')}, {size(before)} became {size(after)}" if changed else f"{project.path}: nothing to do")
    return 0
