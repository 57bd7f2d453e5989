"""Makes a project of a part of another one."""

from __future__ import annotations

import errno
import os
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ._hdtrace import Project as _Project
from ._hdtrace import InFlight, Selection, Thread, project_text, write_part
from .packing import check_folder_of
from .streams import STATES_BETWEEN_PAUSES, Interval

_Labels = tuple[str, ...]
_TREES = (("Node", "name"), ("Label", "value"))  # the topology is there twice
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Part:
    """What is selected; what is empty selects all."""

    ranks: list[int]
    threads: list[int]
    names: list[str]
    classes: list[str]
    interval: Interval
    origin: int = 0  # what times in words count from

    def has(self, thread: Thread) -> bool:
        return (not self.ranks or thread.rank in self.ranks) and (not self.threads or thread.thread in self.threads)

    @property
    def selection(self) -> Selection:
        return Selection([], [], self.names, self.classes, *self.interval, True)

    @property
    def words(self) -> str:
        parts = [("ranks", _numbers(self.ranks)), ("threads", _numbers(self.threads)), ("calls", self.names), ("classes", self.classes)]
        words = [f"{what} {', '.join(values)}" for what, values in parts if values]
        return "; ".join([*words, *self._time_words()]) or "all"

    def _time_words(self) -> Iterator[str]:
        times = ["" if time is None else _time(time - self.origin) for time in self.interval]
        if any(times):
            yield f"seconds {times[0]}..{times[1]}"


def _numbers(numbers: Iterable[int]) -> list[str]:
    return [str(first) if first == last else f"{first}..{last}" for first, last in _ranges(numbers)]


def _keep_leaves(around: ElementTree.Element, tag: str, attribute: str, kept: Collection[_Labels], path: _Labels = ()) -> None:
    """Removes what leads to no trace that is kept."""
    for node in around.findall(tag):
        here = (*path, node.get(attribute, ""))
        is_leaf = node.find(tag) is None
        _keep_leaves(node, tag, attribute, kept, here)
        if (here not in kept) if is_leaf else node.find(tag) is None:
            around.remove(node)


def _keep_datatypes(root: ElementTree.Element, ranks: Collection[int]) -> None:
    for datatypes in root.findall("Datatypes"):
        for rank in datatypes.findall("Rank"):
            if int(rank.get("name", -1)) not in ranks:
                datatypes.remove(rank)


def _ranges(ranks: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last ones of those that follow each other."""
    ordered = sorted(set(ranks))
    begins = [rank for rank, before in zip(ordered, [None, *ordered]) if before is None or rank != before + 1]
    ends = [rank for rank, behind in zip(ordered, [*ordered[1:], None]) if behind is None or behind != rank + 1]
    return zip(begins, ends)


def _time(nanoseconds: int) -> str:
    sign, size = "-" if nanoseconds < 0 else "", abs(nanoseconds)
    return f"{sign}{size // _SECOND}.{size % _SECOND:09d}"


def _add_part(root: ElementTree.Element, ranks: Collection[int], part: Part) -> None:
    run = root.find("Run")
    if run is None:
        run = ElementTree.SubElement(root, "Run")
    times = {name: _time(time) for name, time in zip(("begin", "end"), part.interval) if time is not None}
    element = ElementTree.SubElement(run, "Part", {**times, "selected": part.words})
    for first, last in _ranges(rank for rank in ranks if rank >= 0):
        ElementTree.SubElement(element, "Ranks", first=str(first), last=str(last))


def _project_of_part(text: bytes, threads: Collection[Thread], part: Part) -> bytes:
    root = ElementTree.fromstring(text)
    ranks = {thread.rank for thread in threads}
    for topology in root.findall("Topology"):
        for tag, attribute in _TREES:
            _keep_leaves(topology, tag, attribute, {tuple(thread.labels) for thread in threads})
    for files in root.iterfind("WorldList//Files"):
        files.attrib.pop("directory", None)  # all traces are beside the project
    _keep_datatypes(root, ranks)
    _add_part(root, ranks, part)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"


def _check_place(destination: Path) -> None:
    """It must not be there, unless as an empty folder; but the folder of it must."""
    check_folder_of(destination)
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise FileExistsError(errno.EEXIST, "exists already; the part needs a folder of its own", str(destination))


def extract(
    project: _Project, paths: list[str | os.PathLike[str]], destination: Path, part: Part, progress: Callable[[int], None]
) -> list[str]:
    """Writes the part into a folder, which is there only once it is whole. Returns which traces were cut off, and what they lack."""
    _check_place(destination)
    threads = [thread for thread in project.threads if part.has(thread)]
    if not threads:
        raise ValueError("no trace has what is selected")
    path, text = project_text(paths)
    unfinished = destination.parent / f".{destination.name}.unfinished-{os.getpid()}"
    unfinished.mkdir()

    in_flight = InFlight.all_before(project, part.interval[0])

    def write(thread: Thread) -> str:
        missing = write_part(project, thread, part.selection, in_flight, unfinished / Path(thread.path).name)
        progress(1)
        return f"{thread.path}: {missing} is missing" if missing else ""

    try:
        (unfinished / Path(path).name).write_bytes(_project_of_part(text, threads, part))
        while in_flight.read(STATES_BETWEEN_PAUSES):
            pass
        there = {thread.path for thread in threads} - {thread.path for thread in project.missing_traces}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            missing = list(pool.map(write, (thread for thread in threads if thread.path in there)))
        unfinished.rename(destination)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return [text for text in missing if text]
