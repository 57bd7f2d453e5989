"""What the processes of a run do now: the ends of traces that are being written."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from ._hdtrace import Project as _Project
from ._hdtrace import ends_of_trace, files_in, living_files, names_object, names_ranks, runs_in
from .pending import LAST_CALLS
from .project import MergeWarning, Project

_TAIL = 1 << 16  # bytes at the end of a trace's text that are looked at
_TRACE = re.compile(r"_(\d+)_(\d+)\.trc(\.(zst|gz|compact))?(\.\d)?$")
_START = re.compile(rb"timeAdjustment='(\d+)'")
_WHO = re.compile(rb"Process [^\n]* host='([^'\n]*)'[^\n]* pid=(\d{1,9})\b")  # the first line of an .info file
_ATTRIBUTE = re.compile(rb" (\w+)='([^']*)'")
_ONLY_PREPARES = re.compile(rb"<\w+_init(_c)? ")  # so MPI calls all that makes persistent requests of messages
_MOST_DIGITS = 19  # of a size
_NOBODY = b"-2"  # MPI_PROC_NULL in the place of a rank
_CHANGES = ("time", "end", "unfinished", "polls", "pollTime", "cpu", "threadCpu", "mixed")  # from one poll to the next
_DIFFERS = re.compile(rf" (?:{'|'.join(_CHANGES)})='[^']*'".encode())
_HIDDEN = (*_CHANGES, "site", "reads", "writes", "changed", "used", "window", "frames", "objects", "pointers", "wtime", "flag")  # of little use to people here
_OF_ANOTHER_WORLD = re.compile(r"-([5-9]|\d\d)")  # the number of a process, see docs/identity.md
_NANOSECONDS = 1_000_000_000
_RATES_OVER = 10 * _NANOSECONDS
_LATE = 2 * _NANOSECONDS  # calls that have returned stand in the trace after so long, unless HDTRACE_FLUSH_SECONDS is longer
_IDLE = 10_000  # nanoseconds that a loop of polls may need for itself
_LOCK = "@hhqqi0q"  # struct flock on 64-bit systems: type, whence, start, length, process


@dataclass(frozen=True)
class Rates:
    """What a thread did in each of the last ten seconds, or of as many as the end of its trace tells.

    calls: how many returned
    sent: bytes of messages to single processes, and of what goes into their windows; persistent requests are not in it
    accessed: bytes that it read from and wrote to files with MPI; of what does not block, those that it asked for
    """

    calls: float = 0.0
    sent: float = 0.0
    accessed: float = 0.0


@dataclass(frozen=True)
class Activity:
    """What a thread is doing, as far as its trace tells.

    rank, thread: whose it is
    call: the call that it is in, or was in last, with its arguments, and the names of objects once they are known; empty before the first one
    since: when it began; of one that has returned, when that was, in nanoseconds since the epoch
    state: "inside" the call, "polls" (the call has found nothing for some time, again and again), "computes" outside of MPI, or "ended"
    site: where it was called, such as "main (app.c:7)"; empty if that is not known
    rates: what it did lately
    may_compute: it polls, and nothing tells what it does between the polls, which takes a part of its time
    died: the state in which it was when its process was killed or died, if that is so; its state is "ended" then
    """

    rank: int
    thread: int
    call: str
    since: int
    state: str
    site: str = ""
    rates: Rates = Rates()
    may_compute: bool = False
    died: str = ""

    @property
    def waits(self) -> bool:
        """For something that others have to do, perhaps."""
        return self.state in ("inside", "polls") and not self.may_compute


def unfinished_processes(folder: str | os.PathLike[str]) -> list[tuple[str, int]]:
    """The .info files in a folder whose processes still write to it, and these processes, as far as locks tell: -1 is one of another host."""
    found = []
    for path in sorted(Path(folder).glob("*.info")):
        try:
            with open(path, "rb") as file:
                # Only asked for: a process that begins must not meet a lock of ours.
                answer = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except OSError:
            continue
        kind, _, _, _, process = struct.unpack(_LOCK, answer)
        if kind != fcntl.F_UNLCK:
            found.append((path.name, process if process > 0 else -1))
    for path in sorted(Path(folder).glob("*.node")):
        found += living_files(path, ".info")
    return found


@dataclass(frozen=True)
class _Number:
    """What an attribute of a call says; a project tells what that stands for.

    process: whose call it is, as the names of its files begin
    """

    process: str
    attribute: str
    value: str


class _Lives:
    """Which processes have ended, as far as that can be told. One that was killed does not say so."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._had_locks: set[str] = set()

    def living(self) -> set[str]:
        """Those that have locks. To be asked before the traces are read: what others have written is all that they will write."""
        found = {_process(Path(name).name) for name, _ in unfinished_processes(self._folder)}
        self._had_locks |= found
        return found

    def died(self, process: str) -> bool | None:
        """Of one that has no lock: whether it ended without a word. Nothing if it may live."""
        try:
            beginning, end, _ = ends_of_trace(self._folder / f"{process}_0.info", _TAIL)
        except (OSError, ValueError):
            return None
        who = _WHO.match(beginning)
        if not who or self._may_live(process, host=who[1], number=int(who[2])):
            return None
        return b"\nEnd " not in end

    def _may_live(self, process: str, host: bytes, number: int) -> bool:
        """Where descriptors are scarce it keeps no lock. Those of other hosts are not seen on some file systems, and copies of files never had any."""
        return _runs(number) if host == os.uname().nodename.encode() else process not in self._had_locks


def _runs(process: int) -> bool:
    """On this host. One that nobody has waited for yet is dead."""
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class _Names:
    """What numbers stand for, as far as the processes have told it. Their run is opened for it, for a tenth of the time at most."""

    def __init__(self, open_run: Callable[[], Project]) -> None:
        self._open = open_run
        self._known: dict[_Number, str] = {}
        self._next_time = 0.0  # of a clock

    def learn(self, numbers: set[_Number]) -> None:
        begin = time.monotonic()
        if numbers <= self._known.keys() or begin < self._next_time:
            return
        try:
            project = self._open()._project
        except (ValueError, RuntimeError, OSError):  # a description is being written
            return
        ranks = {_process(Path(thread.path).name): thread.rank for thread in project.threads}
        # A number is described before it stands in a trace, so what has no name now will have none.
        self._known |= {number: self._ask(project, ranks[number.process], number) for number in numbers if number.process in ranks}
        self._next_time = time.monotonic() + 9 * (time.monotonic() - begin)

    @staticmethod
    def _ask(project: _Project, rank: int, number: _Number) -> str:
        is_site = number.attribute == "site"
        if not is_site and not names_object(number.attribute):
            return project.ranks_in_project(rank, number.value)
        if not number.value.isdigit():
            return ""
        return str(project.call_site(rank, int(number.value)) or "") if is_site else project.object_label(rank, number.attribute, int(number.value))

    def name(self, number: _Number) -> str:
        """Empty if it is not known."""
        return self._known.get(number, "")

    def forget(self) -> None:
        self._known.clear()


def _words(element: ElementTree.Element, name_of: Callable[[str, str], str]) -> str:
    """name_of: what the value of an attribute stands for; empty if it stands for itself"""
    arguments = [f"{name}={name_of(name, value) or value}" for name, value in element.attrib.items() if name not in _HIDDEN]
    pending = [child.get("rid", "") for child in element if child.tag == "Pending"]
    return " ".join([element.tag, *arguments, *([f"rid={','.join(pending)}"] if pending else [])])


def _found_nothing(element: ElementTree.Element) -> bool:
    return element.get("flag") == "0" or (element.get("unfinished") is None and element.find("Pending") is not None)


def _process(name: str) -> str:
    """What all files of a process have in their names: program, host and rank."""
    return "_".join(name.split("_")[:3])


def _without_nested(line: bytes) -> bytes:
    """A call without those inside it, which stand before it."""
    return line.rpartition(b"</Nested>")[2]


def _first_size(attributes: dict[bytes, bytes], *names: bytes) -> int:
    """Of the first of these that is there."""
    found = next((attributes[name] for name in names if name in attributes), b"")
    return int(found) if found.isdigit() and len(found) <= _MOST_DIGITS else 0


def _sent_and_accessed(call: bytes) -> tuple[int, int]:
    """The bytes of a call that has returned, by its own attributes: those of its children stand behind them."""
    attributes = dict(_ATTRIBUTE.findall(call.partition(b">")[0]))
    if b"rc" in attributes or _ONLY_PREPARES.match(call):  # it has failed, or moves nothing itself
        return 0, 0
    sent = _first_size(attributes, b"sendSize", b"size") if attributes.get(b"toRank", _NOBODY) != _NOBODY else 0
    # What is read or written has a datatype; the size of a file that is set has none.
    accessed = _first_size(attributes, b"actual", b"size") if b"fid" in attributes and b"tid" in attributes else 0
    return sent, accessed


@dataclass(frozen=True)
class _Seen:
    """What a thread does, in numbers.

    process: as the names of its files begin
    rank: in its own world
    call: the last one in its trace; None before the first one
    """

    process: str
    rank: int
    thread: int
    call: ElementTree.Element | None
    since: int
    state: str
    rates: Rates = Rates()
    may_compute: bool = False
    died: str = ""

    def numbers(self) -> set[_Number]:
        """Those that names stand for."""
        attributes = self.call.attrib if self.call is not None else {}
        found = {_Number(self.process, name, value) for name, value in attributes.items() if name == "site" or names_object(name) or self._names_others(name, value)}
        return found | {self._own_rank()} if self._is_of_later_world() else found

    def activity(self, names: _Names) -> Activity:
        def name_of(attribute: str, value: str) -> str:
            return names.name(_Number(self.process, attribute, value))

        rank = int(names.name(self._own_rank()) or self.rank)
        if self.call is None:
            return Activity(rank, self.thread, "", self.since, self.state, died=self.died)
        site = name_of("site", self.call.get("site", ""))
        return Activity(rank, self.thread, _words(self.call, name_of), self.since, self.state, site, self.rates, self.may_compute, self.died)

    def _own_rank(self) -> _Number:
        return _Number(self.process, "rank", str(self.rank))

    def _is_of_later_world(self) -> bool:
        return "-world" in self.process

    def _names_others(self, attribute: str, value: str) -> bool:
        """By ranks that the project gives other numbers, since it has several worlds."""
        return self.call is not None and names_ranks(self.call.tag, attribute) and (self._is_of_later_world() or _OF_ANOTHER_WORLD.search(value) is not None)


class _Tail:
    """The end of one trace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._origin: int | None = None
        self._poll: tuple[bytes, int] | None = None  # what it asks, and since when

    def _read(self) -> list[bytes]:
        """Whole lines with calls; a line may be missing that is being written."""
        beginning, end, has_more = ends_of_trace(self.path, _TAIL)
        if self._origin is None:
            start = _START.search(beginning)
            self._origin = int(start[1]) * _NANOSECONDS if start else None
        lines = end.split(b"\n")
        whole = lines[1:] if has_more else lines
        return [
            _without_nested(line) for line in whole if line.startswith(b"<") and line.endswith(b">") and not line.startswith((b"<?", b"<Program", b"</Program", b"<Event"))
        ]

    def _time(self, line: bytes, name: str) -> int:
        found = re.search(rf" {name}='(\d+)\.(\d+)'".encode(), line)
        return (self._origin or 0) + int(found[1]) * _NANOSECONDS + int(found[2]) if found else 0

    def look(self, rank: int, thread: int, now: int) -> _Seen | None:
        """Nothing if the end is being written just now."""
        lines = self._read()
        if not lines:
            return _Seen(_process(self.path.name), rank, thread, None, self._origin or 0, "computes")
        try:
            last = ElementTree.fromstring(lines[-1])
            if self._is_just_asking(lines, last, now):
                lines = lines[:-1]
                last = ElementTree.fromstring(lines[-1])
        except ElementTree.ParseError:
            return None
        state, since = "computes", self._time(lines[-1], "end")
        if last.get("unfinished") is not None:
            state, since = "inside", self._time(lines[-1], "time")
        elif last.tag in LAST_CALLS:
            state = "ended"
        asked_since = self._polls_since(lines, last)
        if asked_since is not None:
            state, since = "polls", asked_since
        return _Seen(_process(self.path.name), rank, thread, last, since, state, self._rates(lines, now), state == "polls" and self._may_compute(lines))

    def _is_just_asking(self, lines: list[bytes], last: ElementTree.Element, now: int) -> bool:
        """It is in a call like the one before, which found nothing, and has not been so for long: the answer may be on its way."""
        is_like_before = last.get("unfinished") is not None and len(lines) > 1 and lines[-2].startswith(b"<" + last.tag.encode() + b" ")
        return is_like_before and now - self._time(lines[-1], "time") < _LATE and _found_nothing(ElementTree.fromstring(lines[-2]))

    def _may_compute(self, lines: list[bytes]) -> bool:
        """Between its polls, of which two stand at the end. A trace for checking has its processor time, and the checker looks at that."""
        if any(b" threadCpu=" in line for line in lines):
            return False
        between = self._time(lines[-1], "time") - self._time(lines[-2], "end")
        inside = self._time(lines[-1], "end") - self._time(lines[-1], "time")
        return between > _IDLE and between > inside

    def _rates(self, lines: list[bytes], now: int) -> Rates:
        returned = [line for line in lines if b" unfinished=" not in line]
        if not returned:
            return Rates()
        last = self._time(returned[-1], "end")
        until = last if now - last < _LATE else now
        begin = max(until - _RATES_OVER, self._time(returned[0], "time"))
        seconds = (until - begin) / _NANOSECONDS
        if seconds <= 0:
            return Rates()
        lately = list(takewhile(lambda call: self._time(call, "end") > begin, reversed(returned)))
        moved = [_sent_and_accessed(call) for call in lately]
        sent, accessed = (sum(call[which] for call in moved) for which in (0, 1))
        return Rates(len(lately) / seconds, sent / seconds, accessed / seconds)

    def _polls_since(self, lines: list[bytes], last: ElementTree.Element) -> int | None:
        """When it began to ask what it asks still; nothing if it does not ask again and again. Before the first line of all that
        was looked at it may have asked the same, and did if it had asked it the last time."""
        question = _DIFFERS.sub(b"", lines[-1])
        same = 0
        while same < len(lines) and _DIFFERS.sub(b"", lines[-1 - same]) == question:
            same += 1
        if not _found_nothing(last) or same < 2:
            self._poll = None
            return None
        began = self._time(lines[-same], "time")
        if self._poll and self._poll[0] == question and same == len(lines):
            began = self._poll[1]
        self._poll = question, began
        return began


class LiveRun:
    """The run that is being traced into a folder, the latest one if there are others. What each process does is as old as HDTRACE_FLUSH_SECONDS."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._tails: dict[Path, _Tail] = {}
        self._names = _Names(self.project)
        self._lives = _Lives(self.folder)
        self._infos: frozenset[str] = frozenset()
        self._runs: list[list[str]] = []
        self._current: list[str] = []

    def project(self) -> Project:
        """As far as it is written."""
        run = self._latest_run(files_in(self.folder))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MergeWarning)
            return Project(*run) if run else Project(self.folder)

    def _latest_run(self, files: list[tuple[str, int, int]]) -> list[str]:
        """Its .info files, if there are several runs: the one whose trace was changed last."""
        if len({name.partition("_")[0] for name, _, _ in files if _TRACE.search(name)}) < 2:
            return []
        infos = frozenset(name for name, _, _ in files if name.endswith(".info"))
        if infos != self._infos:
            self._infos, self._runs = infos, runs_in(self.folder)
        if len(self._runs) < 2:
            return []
        run_of = {_process(Path(info).name): run for run in self._runs for info in run}
        _, latest = max(((modified, _process(name)) for name, _, modified in files if _process(name) in run_of), default=(0, ""))
        run = run_of.get(latest, [])
        if run != self._current:
            self._current = run
            self._names.forget()
        return run

    def _newest(self) -> Iterator[tuple[int, int, Path]]:
        """Of traces in segments, the one that is written to."""
        newest: dict[tuple[int, int, str], tuple[int, Path]] = {}
        files = files_in(self.folder)
        processes = {_process(Path(info).name) for info in self._latest_run(files)}
        for name, size, modified in files:
            found = _TRACE.search(name)
            if found and size > 0 and (not processes or _process(name) in processes):
                key = int(found[1]), int(found[2]), name[: found.start()]
                path = self.folder / name
                newest[key] = max(newest.get(key, (0, path)), (modified, path))
        for (rank, thread, _), (_, path) in sorted(newest.items()):
            yield rank, thread, path

    def _with_ends(self, seen: list[_Seen], living: set[str]) -> Iterator[_Seen]:
        """Also of those that have ended without MPI_Finalize, and of the other threads of a process that has called it."""
        deaths = {process: self._lives.died(process) for process in {one.process for one in seen if one.state != "ended"} - living}
        for one in seen:
            died = deaths.get(one.process)
            yield one if died is None or one.state == "ended" else replace(one, state="ended", died=one.state if died else "")

    def look(self) -> list[Activity]:
        """By rank and thread."""
        now = time.time_ns()
        living = self._lives.living()
        looks = [self._tails.setdefault(path, _Tail(path)).look(rank, thread, now) for rank, thread, path in self._newest()]
        seen = list(self._with_ends([one for one in looks if one], living))
        self._names.learn({number for one in seen for number in one.numbers()})
        return sorted((one.activity(self._names) for one in seen), key=lambda one: (one.rank, one.thread))
