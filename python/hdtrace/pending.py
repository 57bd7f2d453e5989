"""What was going on at a moment of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ._hdtrace import Call, Collective, FatalSignal, InFlight, Message
from ._hdtrace import Project as _Project
from .streams import STATES_BETWEEN_PAUSES

LAST_CALLS = ("Finalize", "Abort")  # of a process


@dataclass(frozen=True)
class ThreadActivity:
    """What a thread is in.

    rank, thread: whose it is
    call: the innermost one that it is in, as its trace tells it, with what comes of it later; None between calls
    text: that call with its arguments, for people; between calls the name of the last one
    since: when it began; between calls, when the last one ended; of a process that ended without MPI_Finalize, when that was; in nanoseconds since the epoch
    state: "inside" a call, "computes" between calls, or "ended": behind MPI_Finalize or MPI_Abort, or without them
    region: of the program's own, as a path; empty outside
    signal: that ended the process by then, such as "SIGSEGV", as it seems; None if none is known
    """

    rank: int
    thread: int
    call: Call | None
    text: str
    since: int
    state: str
    region: str
    signal: FatalSignal | None = None

    def until(self, moment: int) -> int:
        """When that was over, of what is seen at the moment."""
        return max(self.signal.time, self.since) if self.signal else moment


@dataclass(frozen=True)
class PendingRequest:
    """An operation that was started and is not completed.

    call: what says what is done, with the times of the call that started it
    text: the same for people
    """

    call: Call
    text: str


@dataclass(frozen=True)
class Pending:
    """What was going on at a moment: `project.pending()` makes it.

    at: the moment, in nanoseconds since the epoch
    activities: of all threads that had made a call, but those that had ended; the first thread of a process is always there
    requests: operations that were started and not completed
    messages: that were sent and not received, each without `receive`; those of which it is not known are left out
    collectives: collective operations that some members had called and others, which are `missing`, had not; members in `without_calls` are always missing
    without_calls: ranks of which it is not known what they called: they have no trace, or were killed before anything was written to it
    cut_off: traces that were cut off before the moment
    """

    at: int
    activities: list[ThreadActivity]
    requests: list[PendingRequest]
    messages: list[Message]
    collectives: list[Collective]
    without_calls: list[int]
    cut_off: list[str]

    @staticmethod
    def read(project: _Project, at: int, progress: Callable[[int], None]) -> Pending:
        in_flight = InFlight.until(project, at)
        while in_flight.read(STATES_BETWEEN_PAUSES):
            progress(STATES_BETWEEN_PAUSES)
        activities, requests, messages, collectives, without_calls = in_flight.pending()
        threads = [_activity(*activity) for activity in activities]
        return Pending(
            in_flight.moment,
            list(_with_ends(threads, _ends_of_threads(project), in_flight.moment)),
            [PendingRequest(call, text) for call, text in requests],
            messages,
            collectives,
            without_calls,
            in_flight.missing,
        )


def _activity(rank: int, thread: int, call: Call | None, text: str, since: int, last: str, region: str, signal: FatalSignal | None) -> ThreadActivity:
    state = _state(call, last)
    return ThreadActivity(rank, thread, call, text if call else last, since, state, region, None if state == "ended" else signal)


def _state(call: Call | None, last: str) -> str:
    if call:
        return "inside"
    return "ended" if last in LAST_CALLS else "computes"


_Ends = dict[tuple[int, int], list[int]]  # of a rank and the number of a thread, which several threads may have had one behind another


def _ends_of_threads(project: _Project) -> _Ends:
    ends: _Ends = defaultdict(list)
    for process in project.run_processes:
        for thread in process.threads:
            if thread.end is not None:
                ends[process.rank, thread.number].append(thread.end)
    return ends


def _with_ends(threads: list[ThreadActivity], ends: _Ends, at: int) -> Iterator[ThreadActivity]:
    """Without those that had ended: but the first one of a process stays, so that the process is not lost."""
    for one in threads:
        end = next((end for end in ends.get((one.rank, one.thread), []) if one.since <= end <= at), None)
        if one.state != "computes" or end is None:
            yield one
        elif one.thread == 0:
            yield replace(one, state="ended", since=end, signal=None)
