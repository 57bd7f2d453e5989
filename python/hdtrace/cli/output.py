"""What commands print."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import Any, NoReturn, TextIO

from .._hdtrace import CallSite, is_in_node_file, printable
from ..project import Project
from .terminal import bold, fitting_widths, is_terminal, padded, shortened, width_of


class UsageError(Exception):
    """The command was given something that it cannot do."""


def beside_this(program: str) -> Path:
    """Another command of ours, which is beside this one."""
    return Path(sys.argv[0]).resolve().parent / program


def end_tidily() -> None:
    """Lets a request to end remove what is not finished."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup has one ignored
            signal.signal(number, end)


def die_of(number: signal.Signals) -> NoReturn:
    """As whoever does not expect it. At once: threads that go on in C++ would make Python's own end an abort."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # where it is blocked


def message(text: str) -> None:
    """On standard error."""
    print(f"hdtrace: {printable(text)}", file=sys.stderr)


def forget_output() -> None:
    """What is in buffers, too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """What was done, on standard output. Where nobody reads it, it is done all the same, and there may be more to do."""
    try:
        print(printable(text), flush=True)
    except OSError:
        forget_output()


def say_that_nothing_fits() -> None:
    message("no call fits what is asked for")


def reason(error: Exception) -> str:
    """What went wrong, and with which file."""
    if not isinstance(error, OSError):
        return str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename is not None else str(error.strerror or error)


@contextmanager
def about(path: str | Path) -> Iterator[None]:
    """Errors of the system in it that name no file, as where the disk is full, name this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """The file appears when it is whole. Errors name it, not the one that it was until then."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=".hdtrace-", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                umask = os.umask(0)
                os.umask(umask)
                os.chmod(file.name, 0o666 & ~umask)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def counted(count: int, what: str, plural: str = "s") -> str:
    return f"{count:,} {what}{'' if count == 1 else plural}"


def in_ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of those that follow each other."""
    rows = [[number for _, number in row] for _, row in groupby(enumerate(sorted(numbers)), lambda one: one[1] - one[0])]
    return [(row[0], row[-1]) for row in rows]


def ranges_text(ranges: Sequence[tuple[int, int]]) -> str:
    """0-2, 5; the first of many."""
    most = 4
    told = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:most]]
    return ", ".join(told) + (", ..." if len(ranges) > most else "")


def count_of_processes(project: Project) -> str:
    """4 processes; those without a trace are not counted."""
    lost = {thread.path for thread in project.missing_traces}
    there = {thread.rank for thread in project.threads if thread.path not in lost}
    missing = 0 if -1 in there else project.process_count - len(there)
    return f"{project.process_count - missing} of {counted(project.process_count, 'process', 'es')}" if missing else counted(project.process_count, "process", "es")


def warn_of_missing(missing: Iterable[str]) -> None:
    """Says which traces were cut off."""
    for text in missing:
        path, _, _ = text.rpartition(": ")
        message(f"{text}: the trace was cut off" + ("" if is_in_node_file(path) else "; 'hdtrace repair' closes it"))


def print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2)
    print()


def site_fields(site: CallSite | None) -> dict[str, Any] | None:
    """For JSON."""
    if site is None:
        return None
    frames = [{name: getattr(frame, name) for name in _FRAME} for frame in site.frames]
    return {"function": site.function, "file": site.file, "line": site.line, "frames": frames}


_FRAME = ("function", "file", "line", "is_inlined", "object", "offset")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[str] = (), stream: TextIO | None = sys.stdout) -> str:
    """Rows in columns as wide as needed; the columns in `numbers` are aligned at the right. Fit for the stream, if that is a terminal."""
    right = set(numbers)
    lines = [list(heads), *([printable(str(cell)) for cell in row] for row in rows)]
    widths = fitting_widths([max(map(width_of, column)) for column in zip(*lines)], [head not in right for head in heads], len(_GAP), stream)

    def line(cells: Sequence[str]) -> str:
        aligned = (padded(cell, width, True) if head in right else padded(shortened(cell, width), width) for cell, head, width in zip(cells, heads, widths))
        return _GAP.join(aligned).rstrip()

    return "".join([bold(line(lines[0]), stream) + "\n", *(line(cells) + "\n" for cells in lines[1:])])


_GAP = "  "  # between columns


_MOST_CLOCKS = 20


def clock_table(clocks: Sequence[dict[str, Any]], is_all: bool) -> str:
    """What is added to the times of each host, or of those with the most."""

    def drift(parts: list[dict[str, Any]]) -> str:
        drifts = [f"{drift * 1e6:+.3f}" for drift in sorted(part["drift"] for part in parts)]
        return drifts[0] if drifts[0] == drifts[-1] else f"{drifts[0]} to {drifts[-1]}"

    most_shifted = sorted(range(len(clocks)), key=lambda i: -abs(clocks[i]["offset"]))[: None if is_all else _MOST_CLOCKS]
    shown = [clocks[i] for i in sorted(most_shifted)]
    rows = [
        [clock["host"], f"{clock['offset']:+.9f}", drift(clock["parts"]), sum(part["jump"] != 0 for part in clock["parts"]) or "",
         "unknown" if clock["uncertainty"] is None else f"{clock['uncertainty']:.9f}"]
        for clock in shown
    ]
    heads = ["clock of host", "seconds added", "drift in ppm", "times set", "uncertainty"]
    more = len(clocks) - len(shown)
    return table(heads, rows, heads[1:]) + (f"and {counted(more, 'more host')}, whose times are shifted less; --all shows all\n" if more else "")


def seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.6f}"


def behind_the_last_call(project: Project, end: int) -> list[str]:
    """What is said if a signal ended the program long after the last call, at `end` in nanoseconds since the epoch."""
    latest = project._project.latest_signal
    if latest is None or latest.time - end < _LEAST_BEHIND:
        return []
    return [f"{latest.name} came {duration(latest.time - end)} after the last call, where these figures end: hdtrace pending tells what the program was doing"]


_LEAST_BEHIND = 10_000_000  # nanoseconds
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_SIZES = ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def _in_units(value: float, units: Sequence[tuple[float, str]], smallest: str) -> str:
    """In a unit that people read, with three digits."""
    for factor, unit in units:
        if value >= 0.9995 * factor:
            scaled = value / factor
            return f"{scaled:.{max(0, 2 - (scaled >= 9.995) - (scaled >= 99.95))}f} {unit}"
    return f"{value:.0f} {smallest}"


def duration(nanoseconds: float) -> str:
    return _in_units(nanoseconds, _TIMES, "ns")


def size(count: int) -> str:
    """Of bytes, in powers of ten."""
    return _in_units(count, _SIZES, "B")


class Progress:
    """A line on a terminal that says how far a command is; nothing elsewhere."""

    def __init__(self, doing: str, what: str = "calls") -> None:
        self._doing = doing
        self._what = what
        self._count = 0
        self._shown = 0.0
        self._on_terminal = is_terminal(sys.stderr)

    def add(self, count: int) -> None:
        self._count += count
        now = time.monotonic()
        if self._on_terminal and now - self._shown > 0.1:
            self._shown = now
            print(f"\rhdtrace: {self._doing}: {self._count:,} {self._what}\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
