"""Projects: a run with all its processes, their objects, and what they did."""

from __future__ import annotations

import errno
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import profiles
from ._hdtrace import Call, CallSite, Checker, Communicator, Datatype, ProjectFile, State, Thread, Window, World, read_project, restrict_umask
from .analysis import Analysis
from .closing import Closing
from .figures import Figures
from .pending import Pending
from .run import Run
from .streams import Calls, Collectives, Counters, Interval, Marks, Messages, Requests, in_order, one_or_more, read_all, select, without_prefix

if TYPE_CHECKING:
    import numpy
    import pandas

    from .sharing import Reader


_MISSING = "this trace is missing"


class MergeWarning(UserWarning):
    """What is missing or does not fit together in the traces of a project, or in traces that were merged in memory."""


@dataclass(frozen=True)
class Process:
    """A process of a run: its rank in the project, which is that in MPI_COMM_WORLD if there is one world, the host it ran on, and its threads that called MPI."""

    rank: int
    host: str
    threads: list[Thread]


def _call_names(name: str | Iterable[str] | None) -> list[str]:
    return [without_prefix(one) for one in one_or_more(name)]


class Project(Closing, Figures):
    """A .proj file, with the traces that it describes. `hdtrace.open()` makes one.

    path: the file; where it would be, if the traces were merged in memory
    name: the program
    process_count: the number of processes
    description: what the user said about the run
    files: the files that the program used
    communicators: the communicators, with their members
    windows: the windows for one-sided communication, with their members
    worlds: those with an MPI_COMM_WORLD of their own, where processes have spawned others; ranks are those in the project
    clocks: what is added to the times of each `host`, as in `analyze().clocks`: all times are corrected already
    file_labels, communicator_labels, window_labels: a name for each of them that no other one has; calls, messages
        and columns name them so
    datatypes: by rank, then by id
    call_sites: where the program calls MPI
    levels: what the parts of leaves are, e.g. Hostname, Rank, Thread
    leaves: for each trace the labels in its file's name
    trace_paths: the files of these traces
    threads: the traces by rank and thread

    With `readers`, other processes read the traces for this one (hdtrace.sharing).
    """

    def __init__(self, *paths: str | os.PathLike[str], readers: Sequence[Reader] = ()) -> None:
        self._paths = list(paths)
        self._absolute_paths = tuple(map(os.path.abspath, paths))
        project, texts = read_project(self._paths, list(readers))
        self._project = project
        self._closed = False
        self.path: str = project.path
        self.name: str = project.name
        self.process_count: int = project.process_count
        self.description: str = project.description
        self.files: list[ProjectFile] = project.files
        self.communicators: list[Communicator] = project.communicators
        self.windows: list[Window] = project.windows
        self.worlds: list[World] = project.worlds
        self.clocks: list[dict[str, Any]] = project.clocks
        self.file_labels: list[str] = project.file_labels
        self.communicator_labels: list[str] = project.communicator_labels
        self.window_labels: list[str] = project.window_labels
        self.call_sites: list[CallSite] = project.call_sites
        self.levels: list[str] = project.levels
        self.leaves: list[list[str]] = project.leaves
        self.trace_paths: list[str] = project.trace_paths
        self.threads: list[Thread] = project.threads
        for text in (*texts, *self._missing_traces(texts)):
            warnings.warn(text, MergeWarning, stacklevel=2)

    def _missing_traces(self, said: list[str]) -> Iterator[str]:
        """In words, but only a few; none if merging has told of them."""
        most = 20
        missing = [] if any(_MISSING in text for text in said) else [thread.path for thread in self.missing_traces]
        yield from (f"{path}: {_MISSING}" for path in missing[:most])
        if rest := len(missing[most:]):
            yield f"{self.path}: {rest} more traces are missing"

    @cached_property
    def datatypes(self) -> dict[int, dict[int, Datatype]]:
        datatypes: dict[int, dict[int, Datatype]] = {}
        for of_rank in self._project.datatypes:
            datatypes.setdefault(of_rank.rank, {}).update({datatype.id: datatype for datatype in of_rank.types})
        return datatypes

    @cached_property
    def missing_traces(self) -> list[Thread]:
        """Those of which there is no file; what they had is in no call, message or sum."""
        return self._project.missing_traces

    @cached_property
    def summed_threads(self) -> list[Thread]:
        """Those of which there are only sums over the calls; see statistics_only."""
        return self._project.summed_threads

    @cached_property
    def statistics_only(self) -> bool:
        """Whether it was recorded with --statistics-only: reading calls is a ReadError, but for Calls.statistics() and Calls.message_matrix()."""
        return bool(self.summed_threads)

    @cached_property
    def run(self) -> Run:
        """Who ran what, with which settings, and what became of it."""
        return Run(self._project.run_facts, self._project.run_processes, self._project.oversubscribed_hosts)

    @cached_property
    def processes(self) -> list[Process]:
        """The processes by rank."""
        host = self.levels.index("Hostname") if "Hostname" in self.levels else 0
        processes: dict[int, Process] = {}
        for thread in self.threads:
            process = processes.setdefault(thread.rank, Process(thread.rank, thread.labels[host], []))
            process.threads.append(thread)
        return list(processes.values())

    @cached_property
    def start(self) -> int:
        """When the first call began, in nanoseconds since the epoch; 0 if there is none."""
        if self.statistics_only:
            return read_all(self.calls().statistics([["call"]])).begin
        first = next(iter(self.calls(unfinished=True)), None)
        return first.time if first else 0

    def calls(
        self,
        *,
        rank: int | Iterable[int] | None = None,
        thread: int | Iterable[int] | None = None,
        name: str | Iterable[str] | None = None,
        call_class: str | Iterable[str] | None = None,
        interval: Interval = (None, None),
        unfinished: bool = False,
    ) -> Calls:
        """The calls that fit everything that is given, of all threads in the order in which they began.

        name: "Send", "File_write_all", ..., with or without MPI_; what was called inside a call that fits comes with it. What no call has is no error
        call_class: one of hdtrace.CALL_CLASSES; a call that has one of the names or one of the classes fits
        interval: calls that are at least partly in it, (begin, end) in nanoseconds since the epoch; None is open
        unfinished: also the calls in which a process ended, which have no attributes
        """
        self._check_readable()
        begin, end = in_order(interval)
        choice = {
            "ranks": one_or_more(rank),
            "threads": one_or_more(thread),
            "names": _call_names(name),
            "classes": one_or_more(call_class),
            "begin": begin,
            "end": end,
            "unfinished": unfinished,
        }
        return Calls(self._project, self._absolute_paths, choice)

    def has_calls_named(self, name: str) -> bool:
        """Whether there are any; also regions, and the program's own states."""
        calls = self.calls(name=name, unfinished=True)
        if not self.statistics_only and next(iter(calls), None) is not None:
            return True
        statistics = read_all(calls.statistics([["call"]]))  # a region is no call, but its events
        return statistics.totals.calls + statistics.unfinished > 0

    def to_columns(self) -> dict[str, numpy.ndarray]:
        """All calls as NumPy arrays; see Calls.to_columns()."""
        return self.calls(unfinished=True).to_columns()

    def to_dataframe(self) -> pandas.DataFrame:
        """All calls as a DataFrame; see Calls.to_columns()."""
        return self.calls(unfinished=True).to_dataframe()

    def counters(
        self,
        *,
        rank: int | Iterable[int] | None = None,
        thread: int | Iterable[int] | None = None,
        interval: Interval = (None, None),
    ) -> Counters:
        """The values of the program's counters that fit everything that is given, as columns."""
        self._check_readable()
        begin, end = in_order(interval)
        return Counters(self._project, select(ranks=one_or_more(rank), threads=one_or_more(thread), begin=begin, end=end))

    def marks(
        self,
        *,
        rank: int | Iterable[int] | None = None,
        thread: int | Iterable[int] | None = None,
        interval: Interval = (None, None),
    ) -> Marks:
        """What the program marked, as far as it fits everything that is given, as columns."""
        self._check_readable()
        begin, end = in_order(interval)
        return Marks(self._project, select(ranks=one_or_more(rank), threads=one_or_more(thread), begin=begin, end=end))

    def messages(self) -> Messages:
        """The messages between processes with both their ends."""
        self._check_open()
        return Messages(self._project)

    def requests(self) -> Requests:
        """What did not block, as columns: a row for each operation, with the call that started it and the one that completed it."""
        self._check_readable()
        return Requests(self._project)

    def collectives(self) -> Collectives:
        """The collective operations with the calls of all members; persistent ones where they are prepared, not at each start."""
        self._check_open()
        return Collectives(self._project)

    def pending(self, at: int, *, progress: Callable[[int], None] | None = None) -> Pending:
        """What was going on at a moment: the calls that threads were in, operations that were not completed, messages that were not received.

        All traces are read until then; with an index (hdtrace index) from shortly before it on.

        at: in nanoseconds since the epoch; what lies behind the end of the run means its end
        progress: is called with the number of calls that were read since it was called last
        """
        self._check_readable()
        return Pending.read(self._project, operator.index(at), progress or (lambda _: None))

    def checker(self) -> Checker:
        """Looks for what does not fit together, step by step with its read()."""
        self._check_open()
        return Checker(self._project)

    def analyze(self, *, interval: Interval = (None, None)) -> Analysis:
        """Why the run took the time that it took: reads all traces and computes everything that docs/analyze.md describes.

        interval: only calls that are at least partly in it, (begin, end) in nanoseconds since the epoch; None is open
        """
        self._check_open()
        return Analysis.read(self._project, in_order(interval))

    def flat_profile(self, by: profiles.Grouping = "call") -> pandas.DataFrame:
        """What `hdtrace stats --by` shows: of each group of calls how many there are, their times in seconds and bytes; the longest first.

        by: one of hdtrace.GROUPINGS, or several
        """
        return profiles.flat_profile(self, by)

    def load_imbalance(self, by: str = "call") -> pandas.DataFrame:
        """How evenly the processes spend time: of each group of calls the `mean` and the `maximum` of a process in seconds, without what is inside,
        the `rank` that has it, and `imbalance`, the maximum divided by the mean: 1 is even.
        """
        return profiles.load_imbalance(self, by)

    def communication_matrix(self, what: str = "bytes", ranks_together: int = 1) -> numpy.ndarray:
        """How many "bytes", or "messages", each process (row) sent to each other one (column).

        ranks_together: so many ranks that follow each other share a row and a column; the memory of the array grows with the square of the number of rows
        """
        return profiles.communication_matrix(self, what, ranks_together)

    def communication_by_process(self) -> pandas.DataFrame:
        """What each process sent and received: messages and bytes. Where there are only sums (statistics_only), what was sent to it counts as received."""
        return profiles.communication_by_process(self)

    def message_sizes(self) -> pandas.DataFrame:
        """How many messages are how large: those `below` each power of two and not below the one before it, and their bytes."""
        return profiles.message_sizes(self)

    def communication_over_time(self, bins: int = 100) -> pandas.DataFrame:
        """How many messages and bytes were sent in each of so many equal parts of the time until the last one was sent."""
        return profiles.communication_over_time(self, bins)

    def time_profile(self, bins: int = 100) -> pandas.DataFrame:
        """What all threads did in each of so many equal parts of the run: the seconds of each class of calls, and of `computation` outside of them."""
        return profiles.time_profile(self, bins)

    def idle_time(self) -> pandas.Series:
        """The seconds that each process waited for others inside its calls, the longest first. docs/analyze.md says what waiting is."""
        return profiles.idle_time(self)

    def extract(
        self,
        destination: str | os.PathLike[str],
        *,
        rank: int | Iterable[int] | None = None,
        thread: int | Iterable[int] | None = None,
        name: str | Iterable[str] | None = None,
        call_class: str | Iterable[str] | None = None,
        interval: Interval = (None, None),
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Makes a project of what fits everything that is given, with its traces, in a new folder.

        Calls are kept whole: those that are partly in the interval, and those with one of the names or classes in them. What the project describes is
        kept, but for datatypes of other processes. Sums over the part are those over the interval. Returns which traces were cut off.

        progress: is called in any thread with the number of traces that were written
        """
        from .extraction import Part, extract  # with its modules only once it is needed

        self._check_readable()
        return extract(
            self._project, self._paths, Path(destination),
            Part(one_or_more(rank), one_or_more(thread), _call_names(name), one_or_more(call_class), in_order(interval), self.start),
            progress or (lambda _: None),
        )

    def communicator(self, call: Call, attribute: str = "cid") -> Communicator | None:
        """The communicator that a call names; None if it names none that the project describes."""
        return self._project.communicator_of(call, attribute)

    def file(self, call: Call, attribute: str = "fid") -> ProjectFile | None:
        """The file that a call names."""
        return self._project.file_of(call, attribute)

    def datatype(self, call: Call, attribute: str = "tid") -> Datatype | None:
        """The datatype that a call names."""
        return self._project.datatype_of(call, attribute)

    def window(self, call: Call, attribute: str = "wid") -> Window | None:
        """The window that a call names."""
        return self._project.window_of(call, attribute)

    def call_site(self, rank: int, state: State) -> CallSite | None:
        """Where a process made a call that is nested in another; others have it as `call.site`."""
        return self._project.call_site(rank, state)

    def keep_private(self, output: str | os.PathLike[str]) -> None:
        """What this process makes from now on, such as the output, can be read by nobody who may not read the traces."""
        restrict_umask(self._project, output)

    def close(self) -> None:
        """Reading calls is an error from now on. No file is open unless something is being read."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"{self.path}: the project is closed")

    def _check_readable(self) -> None:
        self._check_open()
        if self.threads and len(self.missing_traces) == len(self.threads):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.threads[0].path)

    def __repr__(self) -> str:
        return f"Project({self.path!r})"


def open(*paths: str | os.PathLike[str]) -> Project:
    """Opens a .proj file with the traces beside it, or merges traces in memory.

    paths: a .proj file, or a packed project; or a directory, .info and .trc files, or names of programs without extension, as project-merger takes them
        (a directory's own .proj file is opened, if there is one and it was made of the traces as they are)

    Raises OSError if something cannot be opened, ReadError if it is not what it should be, ValueError if these are not the traces of one
    run. What is only doubtful, such as missing traces, is a MergeWarning.
    """
    return Project(*paths)
