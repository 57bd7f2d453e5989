"""What a terminal shows: how wide it is, and colours where they are wanted (https://no-color.org)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
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


def shortened(text: str, width: int) -> str:
    """Without its middle, if it is longer: the ends of names and places tell most."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head):]}"
