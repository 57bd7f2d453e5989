"""Writes traces from programs in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from . import _hdtrace
from .closing import Closing


class TraceWriter(Closing):
    """A trace that this program writes: a .trc with states and events, and an .info beside it.

        with hdtrace.TraceWriter("adder", {"Host": "node01", "Worker": "0"}) as trace:
            with trace.state("Step", number=1):
                trace.element("Result", value=499500)
            trace.event("all sums are known")

    The files are named after the program and the labels, here adder_node01_0.trc. With the levels Hostname, Rank and Thread
    and numbers as the last two labels all tools work on the trace. One trace is for one thread at a time.

    Values of attributes are written as str() tells. Names are XML names. Wrong use raises ValueError, a disk that is full
    OSError. The environment says where and how files are written, e.g. HDTRACE_DIRECTORY (docs/options.md).

    name: the name of the files without suffix
    """

    def __init__(self, program: str, place: Mapping[str, object], *, force_flush: bool | None = None) -> None:
        """place: the label of each level. force_flush: whether each line goes to the file at once."""
        self._writer = _hdtrace.TraceWriter(program, list(place), [str(label) for label in place.values()])
        self.name = self._writer.name
        if force_flush is not None:
            self._writer.set_force_flush(force_flush)

    @property
    def enabled(self) -> bool:
        """Whether states and events are recorded. A state keeps the setting with which it began."""
        return self._writer.enabled

    @enabled.setter
    def enabled(self, on: bool) -> None:
        self._writer.enabled = on

    @contextmanager
    def state(self, name: str, /, **attributes: object) -> Iterator[None]:
        """Records a state around a block, or around all calls of a function if it is used as a decorator."""
        self._writer.start_state(name)
        try:
            self.set(**attributes)
            yield
        finally:
            self._writer.end_state()

    def set(self, **attributes: object) -> None:
        """Adds attributes to the innermost open state."""
        for key, value in attributes.items():
            self._writer.attribute(key, str(value))

    def element(self, name: str, /, **attributes: object) -> None:
        """Adds a child element to the innermost open state."""
        self._writer.element(name, " ".join(f"{key}={_quoted(value)}" for key, value in attributes.items()))

    def event(self, name: str) -> None:
        """Marks this moment."""
        self._writer.event(name)

    def info(self, kind: str, **values: object) -> None:
        """Writes a line to the .info; numbers as they are, everything else as text."""
        self._writer.info(" ".join([kind, *(f"{key}={_info_value(value)}" for key, value in values.items())]))

    def flush(self) -> None:
        """Writes what is buffered to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Ends states that are open and closes the files. The trace is safe in the file if this raises nothing."""
        self._writer.close()

    def __repr__(self) -> str:
        return f"TraceWriter({self.name!r})"


def _quoted(value: object) -> str:
    from xml.sax.saxutils import quoteattr  # with it come a quarter of all modules: not before something is written

    return quoteattr(str(value))


def _info_value(value: object) -> str:
    """As docs/format.md says."""
    if isinstance(value, int):
        return str(int(value))
    return "'" + "".join(map(_escaped, str(value))) + "'"


def _escaped(character: str) -> str:
    escapes = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if character in escapes:
        return escapes[character]
    is_control = character < " " or character == "\x7f"
    return f"\\x{ord(character):02x}" if is_control else character
