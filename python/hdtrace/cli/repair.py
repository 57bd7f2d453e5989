"""hdtrace repair"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator

from .. import _hdtrace
from ..project import Project
from .output import message


def _traces(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        if file.endswith(".proj"):
            yield from Project(file).trace_paths
        else:
            yield file


def _repair(path: str) -> bool:
    """Whether the trace is whole now."""
    try:
        file, missing = _hdtrace.repair(path)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{path}: ")
        message(f"{path}: {reason}")
        return False
    if missing:
        print(f"{file}: {missing} was missing; closed, the original is {file}.orig")
    return True


def run(arguments: Namespace) -> int:
    results = [_repair(path) for path in _traces(arguments.file)]
    return 0 if all(results) else 1
