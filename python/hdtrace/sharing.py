"""Several processes of MPI that share the reading of traces: the first one has the others read for it. Needs mpi4py."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator

from ._hdtrace import ReadingServer

_DISMISSED = 0  # a tag; others are numbers of streams, which begin at 1
SIZE_OF_OPEN_MPI = "OMPI_COMM_WORLD_SIZE"
_SIZES = (SIZE_OF_OPEN_MPI, "PMI_SIZE")  # where launchers tell how many processes they start
_SIZE_WITH_PMIX = "SLURM_STEP_NUM_TASKS"  # srun tells it also where nothing is started for MPI


class SharingError(RuntimeError):
    """The processes cannot talk to each other."""


def processes_of_launcher() -> int:
    """How many processes the launcher says that it started with this one; 1 if there is none."""
    names = (*_SIZES, _SIZE_WITH_PMIX) if "PMIX_RANK" in os.environ else _SIZES
    told = next((os.environ[name] for name in names if name in os.environ), "1")
    return int(told) if told.isdecimal() else 1


def _pauses(longest: float) -> Iterator[None]:
    """MPI libraries wait with all of a core, which whoever has something to do needs."""
    pause = 20e-6
    while True:
        yield
        time.sleep(pause)
        pause = min(2 * pause, longest)


class _World:
    """All processes. Any thread may use it: MPI is called by one at a time."""

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise SharingError(f"several processes share the reading by mpi4py, which cannot be used: {error}") from error
        self._mpi = MPI
        self._lock = threading.Lock()
        self.communicator = MPI.COMM_WORLD
        self.size: int = self.communicator.size
        self.rank: int = self.communicator.rank

    def send(self, content: bytes, rank: int, tag: int) -> None:
        with self._lock:
            request = self.communicator.Isend([content, self._mpi.BYTE], rank, tag)
        for _ in _pauses(1e-3):
            with self._lock:
                if request.Test():
                    return

    def receive(self, rank: int, tag: int | None, longest_pause: float, is_wanted: Callable[[], bool] = lambda: True) -> tuple[int, bytes]:
        """The tag and the content of the next message; empty as soon as none is wanted."""
        status = self._mpi.Status()
        for _ in _pauses(longest_pause):
            with self._lock:
                if not is_wanted():
                    break
                message = self.communicator.Improbe(rank, self._mpi.ANY_TAG if tag is None else tag, status)
                if message is not None:
                    content = bytearray(status.Get_count(self._mpi.BYTE))
                    message.Recv([content, self._mpi.BYTE])
                    return status.Get_tag(), bytes(content)
        return _DISMISSED, b""

    def have_the_same(self, content: object) -> bool:
        """Whether it is the same in all processes. All of them call it."""
        return all(other == content for other in self.communicator.allgather(content))

    def abort(self) -> None:
        self.communicator.Abort(1)


class Reader:
    """Another process that reads, as `hdtrace/remote_reader.h` says: for Project(readers=…)."""

    def __init__(self, world: _World, rank: int) -> None:
        self._world = world
        self._rank = rank
        self._unanswered: Counter[int] = Counter()  # questions, by stream
        self._is_dismissed = False

    def ask(self, stream: int, question: bytes) -> None:
        if not self._is_dismissed:
            self._unanswered[stream] += 1
            self._world.send(question, self._rank, stream)

    def answer(self, stream: int) -> bytes:
        longest_pause = 200e-6
        _, content = self._world.receive(self._rank, stream, longest_pause, lambda: self._unanswered[stream] > 0)
        self._unanswered[stream] = max(self._unanswered[stream] - 1, 0)
        return content

    def dismiss(self) -> None:
        """Also when something went wrong in the middle of reading."""
        self._is_dismissed = True
        for stream in list(self._unanswered):
            while self._unanswered[stream] > 0:
                self.answer(stream)
        self._world.send(b"", self._rank, _DISMISSED)


def _serve(world: _World) -> None:
    """Reads for the first process until it dismisses this one."""
    server = ReadingServer()
    longest_pause = 1e-3
    try:
        while True:
            stream, question = world.receive(0, None, longest_pause)
            if stream == _DISMISSED:
                return
            world.send(server.answer(stream, question), 0, stream)
    except KeyboardInterrupt:
        world.abort()
    except Exception:  # the first process would wait for ever
        traceback.print_exc()
        world.abort()


def share(run: Callable[[list[Reader]], int]) -> int:
    """Has the first of all processes run it, with the others as readers, and answers what it answers; in these, 0. Those that have different
    arguments run it each alone."""
    world = _World()
    told = processes_of_launcher()
    if world.size < told:
        raise SharingError(f"mpi4py is for another MPI library than the launcher: it knows {world.size} of {told} processes")
    if not world.have_the_same((sys.argv, os.getcwd())):
        return run([])
    if world.rank > 0:
        _serve(world)
        return 0
    readers = [Reader(world, rank) for rank in range(1, world.size)]
    try:
        return run(readers)
    finally:
        for reader in readers:
            reader.dismiss()
