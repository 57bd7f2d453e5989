"""hdtrace repair"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator

from .. import _hdtrace
from .._hdtrace import ReadError
from ..project import Project
from .output import message, reason, tell
from .selection import refuse_packed


def _traces(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        if file.endswith((".proj", ".info")) or os.path.isdir(file):
            project = Project(file)
            summed = {thread.path for thread in project.summed_threads}  # whole at every moment
            yield from (path for path in project.trace_paths if path not in summed)
        else:
            yield file


def _repair(path: str) -> bool:
    """Whether the trace is whole now."""
    try:
        file, missing = _hdtrace.repair(path)
    except OSError as error:
        message(reason(error))
        return False
    except ReadError as error:
        message(str(error))
        return False
    except RuntimeError as error:
        message(f"{path}: {error}")
        return False
    if missing:
        tell(f"{file}: {missing} was missing; closed, the original is {file}.orig")
    return True


def run(arguments: Namespace) -> int:
    refuse_packed(arguments.file, "unpack it before")
    results = [_repair(path) for path in _traces(arguments.file)]
    return 0 if all(results) else 1
