"""Checks files against the schemas."""

from __future__ import annotations

import os

from ._hdtrace import ReadError, find_problems


def validate(path: str | os.PathLike[str]) -> None:
    """Checks a .trc or a .proj against its schema, which is chosen by the suffix.

    Raises ReadError with one line for each problem; its `problems` has them as objects of the class Problem. A trace that
    was cut off is not valid.
    """
    problems = find_problems(path)
    if problems:
        error = ReadError("\n".join(map(str, problems)))
        error.file = os.fspath(path)
        error.problems = problems
        raise error
