"""Parents and the processes that they have spawned, in one project."""
import json
import subprocess
from collections import Counter

import hdtrace
import pytest
from support.project import Project
from support.runs import BUILD, LAUNCHER, MERGER, SETTINGS, merge, need_several_programs, program
from support.runs import run_untraced as run

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="only with Open MPI")

COMMAND = BUILD / "bin/hdtrace"
# Of programs/worlds.c: the parents are 0 and 1, a is 2 and 3, b is 4, c is 5 and d is 6.
WORLDS = [("W", 0, 2), ("W2", 2, 2), ("W3", 4, 1), ("W4", 5, 1), ("W5", 6, 1)]
MESSAGES = {
    1: {(1, 2)},  # TO_ANY
    2: {(2, 3), (3, 0), (0, 1), (1, 2)},  # RING
    3: {(0, 2), (1, 3)},  # PAIR
    4: {(3, 0)},  # DUP
    5: {(0, 3)},  # CROSSED
    6: {(2, 0), (0, 4)},  # PORT_NAME
    7: {(4, 3)},  # PORT
    8: {(5, 3)},  # GRANDCHILD
    9: {(6, 1)},  # LATE
}
EVERY = sorted((source, to, tag) for tag, pairs in MESSAGES.items() for source, to in pairs)


def record(name, directory):
    directory.mkdir(exist_ok=True)
    result = run(LAUNCHER, 2, directory, args=("--follow", "--directory", directory / "trace", program(name)))
    assert (result.returncode, result.stderr) == (0, "")
    return directory / "trace"


def findings(project):
    result = subprocess.run([COMMAND, "check", project.path], capture_output=True, text=True, check=False)
    return [] if result.returncode == 0 else result.stdout.splitlines()


@pytest.fixture(scope="module")
def traces(folder_with_short_name):
    return record("worlds", folder_with_short_name / "1")


@pytest.fixture(scope="module")
def project(traces):
    """Merged without a warning; its name need not be that of any trace."""
    path = traces / "all of it.proj"
    assert merge(path, traces) == []
    hdtrace.validate(path)
    with hdtrace.open(path) as opened:
        yield opened


def test_every_process_has_one_rank(project):
    assert (project.name, project.process_count) == ("worlds", 7)
    assert [(world.uid, world.first_rank, world.size) for world in project.worlds] == WORLDS
    assert [process.rank for process in project.processes] == list(range(7))


def test_messages_between_worlds_have_both_ends(project):
    messages = list(project.messages())
    assert all(message.send and message.receive for message in messages)
    assert sorted((message.source, message.destination, message.tag) for message in messages) == EVERY


def test_nothing_is_wrong(project):
    assert findings(project) == []


def test_every_member_of_a_communicator_is_known(project):
    """Many processes know them only by numbers of their own."""
    merged = Project(project.path)
    found = {(c.name, tuple(sorted(c.ranks.items())), tuple(sorted(filter(None, set(c.groups.values())))))
             for c in merged.communicators.values()}
    assert {
        ("WORLD spawn 1", ((0, 0), (1, 1), (2, 0), (3, 1)), ("0", "1")),
        ("WORLD spawn 1 split 1", ((1, 0), (3, 0)), ("0", "1")),
        ("WORLD spawn 1 merge 3", ((0, 2), (1, 3), (2, 0), (3, 1)), ()),
        ("WORLD spawn 1 merge 3 split 1 intercomm 1", ((0, 1), (1, 1), (2, 0), (3, 0)), ("0", "1")),
        ("WORLD spawn 1 merge 3 spawn 2", ((0, 2), (1, 3), (2, 0), (3, 1), (6, 0)), ("0", "1")),
        ("WORLD accept 1", ((2, 0), (3, 1), (4, 0)), ("0", "1")),
        ("WORLD accept 1 merge 1", ((2, 1), (3, 2), (4, 0)), ()),
        ("SELF spawn 1", ((3, 0), (5, 0)), ("0", "1")),
    } <= found
    assert all(one.size == len(one.members) for one in project.communicators)
    crossed = next(c for c in merged.communicators.values() if c.name.endswith("intercomm 1"))
    assert crossed.groups[0] == crossed.groups[2] != crossed.groups[1] == crossed.groups[3]


def test_collective_operations_have_all_members(project):
    operations = Counter((one.calls[0].name, tuple(sorted(call.rank for call in one.calls))) for one in project.collectives())
    assert operations["Allreduce", (0, 1, 2, 3)] == 1
    assert operations["Barrier", (2, 3, 4)] == 1
    assert operations["Comm_spawn", (0, 1, 2, 3)] == 1
    assert {call.root for one in project.collectives() for call in one.calls if call.name == "Comm_spawn" and len(one.calls) == 4} == {2}


def test_statistics_are_those_of_all(project):
    table = project.to_dataframe()
    sends = table[table["name"].isin(["Send", "Sendrecv"])]
    assert sorted(sends["rank"].astype(int).tolist()) == sorted(source for source, _, _ in EVERY)
    assert sorted(zip(sends["rank"].astype(int), sends["peer"].astype(int))) == sorted((source, to) for source, to, _ in EVERY)
    result = subprocess.run([COMMAND, "stats", "--by", "rank", "--json", project.path], capture_output=True, check=True)
    sent = {int(rank): totals["sent"] for rank, totals in json.loads(result.stdout)["by"]["rank"].items()}
    size_of_port = 1024
    reduced = {rank: 4 for rank in range(4)}  # by the Allreduce
    assert sent == {rank: reduced.get(rank, 0) + sum(size_of_port if tag == 6 else 4 for source, _, tag in EVERY if source == rank)
                    for rank in range(7)}


def test_several_worlds_of_one_program_text(tmp_path):
    """spawn starts its children with MPI_Comm_spawn_multiple, too."""
    need_several_programs()
    directory = record("spawn", tmp_path)
    path = directory / "spawn.proj"
    assert merge(path, directory) == []
    with hdtrace.open(path) as opened:
        assert sorted((m.source, m.destination) for m in opened.messages()) == [(2, 0), (4, 0)]
        assert findings(opened) == []


def test_one_world_alone_knows_no_rank_of_others(traces, tmp_path):
    """Their numbers in the trace are no ranks."""
    path = traces / "worlds.proj"
    assert merge(path, *traces.glob("worlds_*.info")) == []
    with hdtrace.open(path) as parents:
        assert (parents.process_count, parents.worlds) == (2, [])
        sizes = {one.name: (len(one.members), one.size) for one in parents.communicators}
        assert sizes["WORLD"] == (2, 2)
        assert sizes["WORLD spawn 1"] == sizes["WORLD spawn 1 merge 3"] == (2, 4)
        assert {(m.source, m.destination) for m in parents.messages()} == {(0, 1)}
        assert findings(parents) == []


def test_worlds_of_two_runs(traces, folder_with_short_name, tmp_path):
    """Their communicators have the same names."""
    other = record("worlds", folder_with_short_name / "2")
    result = subprocess.run([MERGER, "-o", tmp_path / "x.proj", *traces.glob("worlds_*.info"), *other.glob("worlds-world2_*.info")],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "worlds-world2_" in result.stderr and "the inputs are of 2 runs" in result.stderr
    assert not (tmp_path / "x.proj").exists()
