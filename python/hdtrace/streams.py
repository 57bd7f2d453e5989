"""What is read from the traces of a project, one by one in bounded memory, or all at once as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ._hdtrace import (
    Call,
    CallReader,
    CallTable,
    Collective,
    CollectiveReader,
    CollectiveTable,
    CounterTable,
    MarkTable,
    Message,
    MessageMatrix,
    MessageReader,
    MessageTable,
    RequestTable,
    Selection,
    Statistics,
    is_call,
)
from ._hdtrace import Project as _Project

if TYPE_CHECKING:
    import dask.dataframe
    import numpy
    import pandas

Interval = tuple[int | None, int | None]
_T = TypeVar("_T")

_OBJECTS_AT_ONCE = 512
STATES_BETWEEN_PAUSES = 65536  # in a pause Python can be interrupted


class _Reader(Protocol):
    def read(self, states: int) -> Any: ...


_R = TypeVar("_R", bound=_Reader)


def read_all(reader: _R) -> _R:
    """Of what says with its read() whether there is more."""
    while reader.read(STATES_BETWEEN_PAUSES):
        pass
    return reader


def one_or_more(value: _T | Iterable[_T] | None) -> list[_T]:
    """A value, several ones, or None for no choice, as a list. None of them at all is no choice that one could mean."""
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]  # type: ignore[list-item]
    several = list(value)
    if not several:
        raise ValueError("nothing is selected: an empty list; None selects all")
    return several


def without_prefix(name: str) -> str:
    """The name that the traces have for a function of MPI, which may be given as MPI_Send; other names are the program's own."""
    short = name.removeprefix("MPI_")
    return short if is_call(short) else name


def in_order(interval: Interval) -> Interval:
    begin, end = interval
    if begin is not None and end is not None and end < begin:
        raise ValueError(f"interval: it ends at {end}, before it begins at {begin}")
    return begin, end


def select(
    ranks: Iterable[int] = (),
    threads: Iterable[int] = (),
    names: Iterable[str] = (),
    classes: Iterable[str] = (),
    begin: int | None = None,
    end: int | None = None,
    unfinished: bool = False,
) -> Selection:
    """What is wanted of the calls; what is empty selects all."""
    return Selection(list(ranks), list(threads), list(names), list(classes), begin, end, unfinished)


class _Table(Protocol):
    @property
    def missing(self) -> list[str]: ...
    def read(self, calls: int) -> bool: ...
    def take(self) -> dict[str, Any]: ...


class _Tabular:
    """Whatever can be read as columns.

    missing: what traces lack that were cut off, in words; known when all was read
    """

    _project: _Project

    def __init__(self) -> None:
        self.missing: list[str] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._project.path}>"

    def _table(self) -> _Table:
        raise NotImplementedError

    def _read(self) -> dict[str, Any]:
        table = self._table()
        while table.read(STATES_BETWEEN_PAUSES):
            pass
        self.missing = table.missing
        return table.take()

    def to_columns(self) -> dict[str, numpy.ndarray]:
        """A NumPy array for each column, all of the same length.

        Times are nanoseconds since the epoch. Numbers that not every row has are masked arrays (numpy.ma); texts are
        str, or None where there is none.
        """
        import numpy

        def array(column: Any) -> numpy.ndarray:
            if not isinstance(column, tuple):
                return column
            codes, texts = column
            return numpy.array([*texts, None], dtype=object)[codes]  # -1 is the last one

        return {name: array(column) for name, column in self._read().items()}

    def to_dataframe(self) -> pandas.DataFrame:
        """The columns as a DataFrame: texts are categories, numbers that not every row has are of type Int64."""
        import numpy
        import pandas

        def series(column: Any) -> Any:
            if isinstance(column, tuple):
                return pandas.Categorical.from_codes(*column)
            if isinstance(column, numpy.ma.MaskedArray):
                return pandas.arrays.IntegerArray(column.data, column.mask)
            return column

        return pandas.DataFrame({name: series(column) for name, column in self._read().items()}, copy=False)


class Calls(_Tabular):
    """Calls of a project. Iterating yields them in the order in which they began, as often as wanted.

    What was called inside a call is in its `nested`. As columns each of these has a row of its own, before its owner, in which the
    column `nested` is true; regions of the program have a row, too. `depth` is how many calls and regions are around a row; names and
    classes select rows at any depth.
    """

    def __init__(self, project: _Project, paths: tuple[str, ...], choice: dict[str, Any]) -> None:
        """paths: what the project was opened with; choice: arguments of select()"""
        super().__init__()
        self._project = project
        self._paths = paths
        self._choice = choice
        self._selection = select(**choice)

    def __iter__(self) -> Iterator[Call]:
        return self.last(0)

    def last(self, count: int) -> Iterator[Call]:
        """The last ones of each thread, so many of each, in the order in which they began; 0 is all of them. All are read for that."""
        reader = self._reader(count, regions=True)
        while calls := reader.read(_OBJECTS_AT_ONCE):
            yield from calls
        self.missing = reader.missing

    def _reader(self, last: int, regions: bool) -> CallReader:
        reader = CallReader(self._project, self._selection, regions, last)
        while reader.look_ahead(STATES_BETWEEN_PAUSES):
            pass
        return reader

    def lines(self, form: str = "xml", origin: int = 0, last: int = 0) -> Iterator[str]:
        """The calls as text, many lines at once: "xml", or "text" with times in seconds after `origin`. last: as for last()"""
        reader = self._reader(last, regions=False)

        def read() -> str:
            if form == "xml":
                return reader.read_xml(_OBJECTS_AT_ONCE)
            return reader.read_lines(_OBJECTS_AT_ONCE, origin)

        while text := read():
            yield text
        self.missing = reader.missing

    def statistics(self, tables: Iterable[Sequence[str]] = (), counters: bool = True) -> Statistics:
        """Sums over the calls, which are read step by step with its read().

        tables: by what each is grouped, e.g. [["call"], ["call", "rank"]]; none: by each of hdtrace.GROUPINGS
        counters: whether values of counters are wanted, which an index (hdtrace index) does not tell
        """
        return Statistics(self._project, self._selection, [list(by) for by in tables], counters)

    def message_matrix(self) -> MessageMatrix:
        """How many messages and bytes went from each process to each other, which is read like statistics().

        Its cells() are (sender, receiver, messages, bytes); cells_by_communicator() have the communicator behind the receiver, by its position in
        Project.communicators, -1 where it is unknown, as of what persistent requests sent in a run with --statistics-only.
        """
        return MessageMatrix(self._project, self._selection)

    def to_dask(self) -> dask.dataframe.DataFrame:
        """The DataFrame of to_dataframe() as one of Dask, with a partition for each process that is read when it is needed, in any process of
        Dask's that finds the traces under the same names: for traces that are larger than the memory. Rows stand in the order of ranks."""
        from .partitions import dask_frame

        return dask_frame(self._project, self._paths, self._choice)

    def _table(self) -> CallTable:
        return CallTable(self._project, self._selection)


class _Events(_Tabular):
    """Events of the program's own in the order of time, as columns."""

    def __init__(self, project: _Project, selection: Selection) -> None:
        super().__init__()
        self._project = project
        self._selection = selection


class Counters(_Events):
    """The values of the program's counters."""

    def _table(self) -> CounterTable:
        return CounterTable(self._project, self._selection)


class Marks(_Events):
    """What the program marked."""

    def _table(self) -> MarkTable:
        return MarkTable(self._project, self._selection)


class Messages(_Tabular):
    """The messages of a project. Iterating yields each once both its ends are known, and last those that lack one."""

    def __init__(self, project: _Project) -> None:
        super().__init__()
        self._project = project

    def __iter__(self) -> Iterator[Message]:
        reader = MessageReader(self._project)
        while not reader.at_end:
            yield from reader.read(_OBJECTS_AT_ONCE)
        self.missing = reader.missing

    def _table(self) -> MessageTable:
        return MessageTable(self._project)


class Requests(_Tabular):
    """What did not block: each operation with the call that started it and the one that completed it, as columns."""

    def __init__(self, project: _Project) -> None:
        super().__init__()
        self._project = project

    def _table(self) -> RequestTable:
        return RequestTable(self._project)


class Collectives(_Tabular):
    """The collective operations of a project. Iterating yields each once all members have called, and last those that
    lack members. As columns each call has a row; equal numbers in `operation` belong together.
    """

    def __init__(self, project: _Project) -> None:
        super().__init__()
        self._project = project

    def __iter__(self) -> Iterator[Collective]:
        reader = CollectiveReader(self._project)
        while not reader.at_end:
            yield from reader.read(_OBJECTS_AT_ONCE)
        self.missing = reader.missing

    def _table(self) -> CollectiveTable:
        return CollectiveTable(self._project)
