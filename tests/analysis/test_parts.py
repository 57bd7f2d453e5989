"""What hdtrace extract takes out of a run matches as it did in the run."""
import random
import shutil

import hdtrace
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
CUTS = 40


@pytest.fixture(scope="module")
def project(trace):
    return trace("in_flight", 3)[1]


@pytest.fixture(scope="module")
def times(project):
    """Whatever happens at a moment, and between two of them."""
    starts = project.to_columns()["start"]
    chosen = random.Random(1)
    return [chosen.randrange(int(starts.min()), int(starts.max())) for _ in range(CUTS)]


def messages_of(project):
    """Both ends, by who and when they began."""
    return {(m.source, m.destination, m.send.start, m.receive.start) for m in project.messages() if m.send and m.receive}


def collectives_of(project):
    return {(c.calls[0].name, tuple(sorted((call.rank, call.start) for call in c.calls))) for c in project.collectives()}


def part_from(project, begin, folder):
    shutil.rmtree(folder, ignore_errors=True)
    project.extract(folder, interval=(begin, None))
    return hdtrace.open(folder)


def test_messages_have_the_ends_that_they_had(project, times, tmp_path):
    whole = messages_of(project)
    assert len(whole) > 1000
    for begin in times:
        part = messages_of(part_from(project, begin, tmp_path / "part"))
        assert part <= whole
        assert {message for message in whole if max(message[2:]) >= begin} <= part


def test_collective_calls_have_the_members_that_they_had(project, times, tmp_path):
    whole = collectives_of(project)
    for begin in times:
        part = collectives_of(part_from(project, begin, tmp_path / "part"))
        assert part <= whole
        assert {one for one in whole if any(start >= begin for _, start in one[1])} <= part


def test_little_is_kept_of_the_time_before(project, times, tmp_path):
    for begin in times:
        starts = part_from(project, begin, tmp_path / "part").to_columns()["start"]
        assert (starts < begin).sum() < 150


def test_wait_states_are_those_of_the_interval(project, times, tmp_path):
    for begin in times[:5]:
        part = part_from(project, begin, tmp_path / "part").analyze()
        assert str(part.wait_states) == str(project.analyze(interval=(begin, None)).wait_states)
