"""What a process tells about itself and its objects, line by line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ._hdtrace import read_info


@dataclass(frozen=True)
class InfoLine:
    """One line: `Comm map='0->0;' id=0 name='WORLD'` has the kind Comm.

    Escapes in values are undone. Bytes that are not UTF-8 are surrogate escapes, as in file names.
    """

    kind: str
    values: dict[str, str]
    line: int


class Info:
    """The .info file of one process.

    path: the file
    lines: all its lines; the values of a line of an unknown kind that is not made of key=value are empty
    process: the values of its Process line; older files have none
    cut_off_line: the number of the last line if it was cut off and is therefore not among the lines, else None
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        lines, cut_off_line = read_info(self.path)
        self.lines = [InfoLine(*line) for line in lines]
        self.process: dict[str, str] = next((line.values for line in self.lines if line.kind == "Process"), {})
        self.cut_off_line: int | None = cut_off_line or None

    def __repr__(self) -> str:
        return f"Info({self.path!r})"
