"""The project lists exactly the communicators that existed, each with the right members, whatever was made from what in which order."""
import pytest
from support.runs import run_with_tracer


def communicators_that_existed(directory, rank):
    """What the program itself says of each communicator that a process got, in the order of its calls: (label, members, other side)."""
    for line in (directory / f"plan.{rank}").read_text().splitlines():
        head, *groups = line.split(" :")
        _, label, _, place = head.split()
        mine, *other = ({int(world): local for local, world in enumerate(group.split())} for group in groups)
        assert mine[rank] == int(place)
        yield int(label), mine, (other or [None])[0]


def check_members(communicator, mine, other):
    assert communicator.ranks == {**mine, **(other or {})}
    assert len({communicator.groups[rank] for rank in mine}) == 1
    if other is not None:
        assert {communicator.groups[rank] for rank in mine} ^ {communicator.groups[rank] for rank in other} == {"0", "1"}


@pytest.mark.parametrize("seed, ranks", [(seed, 2 + seed % 4) for seed in range(12)])
def test_random_constructors(tmp_path, seed, ranks):
    run = run_with_tracer("communicator_plan", ranks, tmp_path, args=[str(seed)])
    found = {}  # label -> communicator
    for trace in run:
        cids = [state["newcid"] for state in trace if state.get("newcid") not in (None, "-1")]
        existed = list(communicators_that_existed(run.directory, trace.rank))
        assert len(cids) == len(existed)
        for cid, (label, mine, other) in zip(cids, existed):
            communicator = run.project.communicator(trace.rank, cid)
            check_members(communicator, mine, other)
            assert found.setdefault(label, communicator) is communicator
    assert len({communicator.uid for communicator in found.values()}) == len(found)
    listed = {uid for uid in run.project.uids() if not uid.startswith("S")}
    assert listed == {communicator.uid for communicator in found.values()} | {"W"}
