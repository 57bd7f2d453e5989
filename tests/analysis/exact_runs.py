"""Runs of made-up programs whose times are exact: calls take a microsecond, messages nothing."""
from collections import defaultdict, deque

CALL = 1e-6
WORLD = "cid='0' size='4' count='1' tid='0'"


def compute(seconds):
    return ("compute", seconds)


def send(to):
    return ("send", to)


def receive(source):
    return ("receive", source)


def send_and_receive(to, source):
    return ("exchange", [to], [source], "Sendrecv")


def exchange(*others):
    """Irecv and Isend with each of them, and Waitall."""
    return ("exchange", others, others, "Waitall")


def barrier():
    return ("barrier",)


class _Rank:
    def __init__(self, number, steps):
        self.number, self.steps = number, deque(steps)
        self.time, self.lines, self.requests, self.computed = 1.0, [], 0, 0.0
        self.started = None  # when it came to the call that it is in

    def write(self, name, begin, end, attributes="", children=""):
        self.lines.append(f"<{name} {attributes} time='{begin:.9f}' end='{end:.9f}' >{children}</{name}>\n")


class _Run:
    def __init__(self, programs):
        self.ranks = [_Rank(number, steps) for number, steps in enumerate(programs)]
        self.messages = defaultdict(deque)  # when they were sent, by source and destination
        self.waiting = []  # in the barrier

    def finish(self):
        while any([self.advance(rank) for rank in self.ranks]):
            pass
        assert not any(rank.steps for rank in self.ranks), "it hangs"

    def advance(self, rank):
        """Whether it could go on."""
        if not rank.steps:
            return False
        kind, *what = rank.steps[0]
        if not getattr(self, "_" + kind)(rank, *what):
            return False
        rank.steps.popleft()
        return True

    def _compute(self, rank, seconds):
        rank.time += seconds
        return True

    def _end(self, rank, end, *line):
        begin, rank.started = rank.started, None
        rank.time = max(end, begin) + CALL
        rank.write(line[0], begin, rank.time, *line[1:])

    def _send(self, rank, to):
        rank.started = rank.time
        self.messages[rank.number, to].append(rank.time)
        self._end(rank, rank.time, "Send", f"toRank='{to}' toTag='0' {WORLD}")
        return True

    def _receive(self, rank, source):
        if not self.messages[source, rank.number]:
            return False
        rank.started = rank.time
        self._end(rank, self.messages[source, rank.number].popleft(), "Recv", f"fromRank='{source}' fromTag='0' {WORLD}")
        return True

    def _exchange(self, rank, to, sources, call):
        if rank.started is None:
            for other in sources if call == "Waitall" else ():
                self._start(rank, "Irecv", f"fromRank='{other}' fromTag='0'")
            for other in to:
                self.messages[rank.number, other].append(rank.time)
                if call == "Waitall":
                    self._start(rank, "Isend", f"toRank='{other}' toTag='0'")
            rank.started = rank.time
        if not all(self.messages[source, rank.number] for source in sources):
            return False
        last = max(self.messages[source, rank.number].popleft() for source in sources)
        if call == "Sendrecv":
            self._end(rank, last, call, f"size='4' count='1' tid='0' toRank='{to[0]}' toTag='0' cid='0' fromRank='{sources[0]}' fromTag='0' recvcount='1' recvtid='0' recvsize='4'")
            return True
        first = rank.requests - 2 * len(to)
        done = [f"<For rid='{first + i}' fromRank='{source}' fromTag='0' size='4' />" for i, source in enumerate(sources)]
        done += [f"<For rid='{first + len(sources) + i}' />" for i in range(len(to))]
        self._end(rank, last, call, f"count='{len(done)}'", "".join(done))
        return True

    def _start(self, rank, name, peer):
        rank.write(name, rank.time, rank.time + CALL, f"{peer} {WORLD} rid='{rank.requests}'")
        rank.time += CALL
        rank.requests += 1

    def _barrier(self, rank):
        if rank.started is None:
            rank.started = rank.time
        if any(not other.steps or other.steps[0][0] != "barrier" or other.started is None for other in self.ranks):
            return False
        last = max(other.started for other in self.ranks)
        for other in self.ranks:
            self._end(other, last, "Barrier", "cid='0'")
            if other is not rank:
                other.steps.popleft()
        return True


def lines_of(*programs):
    """The lines of the trace of each rank, between Init and Finalize, to which all come at once."""
    run = _Run(programs)
    run.finish()
    end = max(rank.time for rank in run.ranks)
    return [f"<Init time='0.000000000' end='1.000000000' />\n{''.join(rank.lines)}<Finalize time='{end:.9f}' end='{end + CALL:.9f}' />\n" for rank in run.ranks]
