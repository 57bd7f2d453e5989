"""What a terminal shows: how wide it is, and colours where they are wanted (https://no-color.org)."""

from __future__ import annotations

import os
import shutil
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TextIO

from ..sharing import SIZE_OF_OPEN_MPI

_BOLD = "1"
OF_SEVERITIES = {"error": "1;31", "warning": "1;33", "note": "1;36"}  # red, yellow, cyan
_SHORTEST = 16  # column that is made narrower


def is_terminal(stream: TextIO | None) -> bool:
    """That of a person: mpirun of Open MPI gives processes one of their own, wherever its output goes."""
    return stream is not None and stream.isatty() and SIZE_OF_OPEN_MPI not in os.environ


def has_colours(stream: TextIO | None) -> bool:
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def styled(text: str, style: str, stream: TextIO | None) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if has_colours(stream) else text


def bold(text: str, stream: TextIO | None) -> str:
    return styled(text, _BOLD, stream)


def fitting_widths(widths: Sequence[int], is_text: Sequence[bool], gap: int, stream: TextIO | None) -> list[int]:
    """Of columns: where a line would not fit into the terminal, the widest columns of text become narrower."""
    fitting = list(widths)
    if not is_terminal(stream):
        return fitting
    excess = sum(fitting) + gap * (len(fitting) - 1) - shutil.get_terminal_size().columns
    while excess > 0:
        widest = max((width for width, text in zip(fitting, is_text) if text), default=0)
        if widest <= _SHORTEST:
            break
        fitting[next(i for i, width in enumerate(fitting) if is_text[i] and width == widest)] -= 1
        excess -= 1
    return fitting


def width_of(text: str) -> int:
    """In columns of a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, width: int, is_right: bool = False) -> str:
    """With blanks up to that width."""
    blanks = " " * (width - width_of(text))
    return blanks + text if is_right else text + blanks


def shortened(text: str, width: int) -> str:
    """Without its middle, if it is wider: the ends of names and places tell most."""
    if width_of(text) <= width:
        return text
    ends = list(accumulate(map(_columns, text), initial=0))
    head = bisect_right(ends, (width - 1) // 2) - 1
    left_out = ends[-1] - (width - 1 - ends[head])
    tail = bisect_right(ends, ends[bisect_left(ends, left_out)]) - 1  # behind what is combined with a character that is left out
    return f"{text[:head]}…{text[tail:]}"


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
