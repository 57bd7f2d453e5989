"""What is pending at a moment is what the whole run tells, with an index and without one."""
import random
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import hdtrace
import numpy
import pytest
from support.runs import BUILD

pytestmark = pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
MOMENTS = 60
RANKS = 3


def starts_of(project):
    """Of persistent collective operations: all processes prepare and start them in the same order."""
    prepared = {(call.rank, call.get("rid")): call.name for call in project.calls(call_class="collective") if call.name.endswith("_init")}
    times, starts = Counter(), defaultdict(list)
    for call in project.calls(name="Startall"):
        for start in call.children:
            request = (call.rank, start["initRid"])
            if request in prepared:
                starts[prepared[request], times[request]].append((call.rank, call.time))
                times[request] += 1
    return [(name, sorted(calls)) for (name, _), calls in starts.items()]


class WholeRun:
    """All that happened."""

    def __init__(self, project):
        self.calls = [(call.time, call.end, (call.rank, call.thread, call.name, call.time)) for call in project.calls()]
        requests = project.requests().to_columns()
        ends = numpy.ma.filled(requests["completed"], numpy.iinfo(numpy.int64).max)
        self.requests = [(start, end, (rank, start)) for start, end, rank in zip(requests["start"], ends, requests["rank"])]
        self.messages = [(m.send.start, m.receive.end, (m.source, m.destination, m.tag, m.send.start, m.send.bytes)) for m in project.messages()]
        self.collectives = [(c.name, sorted((call.rank, call.start) for call in c.calls)) for c in project.collectives()]
        self.collectives += starts_of(project)

    @staticmethod
    def pending(of, moment):
        return sorted(what for begin, end, what in of if begin <= moment < end)

    def incomplete(self, moment):
        begun = [(name, [call for call in calls if call[1] <= moment]) for name, calls in self.collectives]
        return sorted((name, calls) for name, calls in begun if 0 < len(calls) < RANKS)


def check_moments(project, whole, seed):
    """Which are chosen among those at which something begins or ends, and between them."""
    times = sorted({time for begin, end, _ in whole.calls for time in (begin, end)})[2 * RANKS :]
    choice = random.Random(seed)
    seen = [0, 0, 0, 0]
    for moment in [time + choice.randint(-1, 1) for time in choice.choices(times, k=MOMENTS)]:
        pending = project.pending(moment)
        found = (
            sorted((one.rank, one.thread, one.call.name, one.since) for one in pending.activities if one.call),
            sorted((one.call.rank, one.call.time) for one in pending.requests),
            sorted((m.source, m.destination, m.tag, m.send.start, m.send.bytes) for m in pending.messages),
            sorted((c.name, sorted((call.rank, call.start) for call in c.calls)) for c in pending.collectives),
        )
        assert found[0] == whole.pending(whole.calls, moment)
        assert found[1] == whole.pending(whole.requests, moment)
        assert found[2] == whole.pending(whole.messages, moment)
        assert found[3] == whole.incomplete(moment)
        assert all(sorted([*c.missing, *(call.rank for call in c.calls)]) == list(range(RANKS)) for c in pending.collectives)
        seen = [count + len(what) for count, what in zip(seen, found)]
    assert min(seen) > MOMENTS / 20, seen


@pytest.fixture(scope="module")
def project(trace):
    return trace("in_flight", RANKS)[1]


@pytest.fixture(scope="module")
def whole(project):
    return WholeRun(project)


def test_what_is_pending_ends_later(project, whole):
    check_moments(project, whole, seed=1)


@pytest.mark.parametrize("calls", [1, 9])
def test_with_an_index_it_is_the_same(project, whole, tmp_path, calls):
    folder = shutil.copytree(Path(project.path).parent, tmp_path / "indexed")
    subprocess.run([BUILD / "bin/hdtrace", "index", "--calls", str(calls), folder], check=True, timeout=60, stdout=subprocess.DEVNULL)
    for trace in folder.glob("*.trc"):
        assert trace.with_suffix(".index").exists()
    with hdtrace.open(folder) as indexed:
        check_moments(indexed, whole, seed=2)
