"""Traces, state by state."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ._hdtrace import ReadError, State, TrcReader
from .closing import Closing

_STATES_AT_ONCE = 512


class Trace(Closing):
    """The trace of one thread. Iterating yields its states and events in the order of the file, as often as wanted.

    Memory is bounded, and the file is open only while it is iterated. Iterations are independent of each other,
    also those in different threads.

    path: the file
    attributes: those of the root element
    rank, thread: whose trace this is; None if neither the root nor the file's name says it
    time_adjustment: nanoseconds since the epoch, already added to all times
    complete: whether the trace was closed by its writer; None until an iteration reached the end
    missing: what a trace that was cut off lacks at its end, in words
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        reader = TrcReader(self.path)
        self.attributes = reader.attributes
        self.rank = reader.rank
        self.thread = reader.thread
        self.time_adjustment = reader.time_adjustment
        self.complete: bool | None = None
        self.missing = ""
        self._closed = False

    def __iter__(self) -> Iterator[State]:
        if self._closed:
            raise ValueError(f"{self.path}: the trace is closed")
        reader = TrcReader(self.path)
        while states := reader.read_chunk(_STATES_AT_ONCE):
            yield from states
        self.complete = reader.complete
        self.missing = reader.missing

    def close(self) -> None:
        """Iterating is an error from now on."""
        self._closed = True

    def __repr__(self) -> str:
        return f"Trace({self.path!r})"


def read_trace(path: str | os.PathLike[str], allow_incomplete: bool = False) -> list[State]:
    """All states and events of a trace at once.

    Raises ReadError if the trace was cut off, unless allow_incomplete is true.
    """
    trace = Trace(path)
    states = list(trace)
    if not (trace.complete or allow_incomplete):
        raise ReadError(f"{trace.path}: {trace.missing} is missing: the trace was cut off")
    return states
