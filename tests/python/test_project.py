import re

import hdtrace
import pytest

from projects import PROJECT


@pytest.fixture
def project(write):
    return hdtrace.Project(write("app.proj", PROJECT))


def test_program(project):
    assert (project.name, project.process_count, project.description) == ("my_app", 2, "text")


def test_topology(project, tmp_path):
    assert project.levels == ["Hostname", "Rank", "Thread"]
    assert project.leaves == [["node01", "0", "0"], ["node01", "1", "0"]]
    assert project.trace_paths == [str(tmp_path / "app_node01_0_0.trc"), str(tmp_path / "app_node01_1_0.trc")]


def test_trace_paths_after_the_program(write):
    trace = write("my-app_node01_0_0.trc", "<Program>\n</Program>\n")
    assert hdtrace.Project(write("other.proj", PROJECT)).trace_paths[0] == str(trace)


def test_files(project):
    (file,) = project.files
    assert (file.name, file.initial_size, file.from_rank) == ("/home/u/test.out", 16777216, 1)
    assert (file.distribution_class, file.chunk_size) == ("Stripe", "64K")
    assert [(rank.global_rank, rank.thread, rank.fid) for rank in file.ranks] == [(0, 0, 0)]


def test_communicators(project):
    world, inter = project.communicators
    assert (world.name, world.uid) == ("WORLD", "W")
    members = [(member.global_rank, member.local_rank, member.cid, member.group) for member in world.members]
    assert members == [(0, 0, 0, None), (1, 1, None, None)]
    assert (inter.uid, inter.members[0].group) == ("", 0)


def test_windows(project):
    box, other = project.windows
    assert (box.name, box.uid, box.communicator) == ("box", "W/w3", "W")
    members = [(m.global_rank, m.local_rank, m.wid, m.size, m.disp_unit) for m in box.members]
    assert members == [(0, 0, 2, 800, 8), (1, 1, None, None, None)]
    assert (other.name, other.uid, other.communicator) == ("", "", "")


def test_no_windows(write):
    text = re.sub("<WindowList>.*</WindowList>", "", PROJECT, flags=re.DOTALL)
    assert hdtrace.Project(write("app.proj", text)).windows == []


def test_datatypes(project):
    types = project.datatypes[0]
    assert list(types) == list(range(20))
    assert types[14].combiner == "SUBARRAY"
    assert list(types[14].attributes) == ["id", "name", "count", "order", "ndims", "oldType"]
    assert types[14].attributes["order"] == "MPI_ORDER_C"
    assert [(row.name, row.attributes) for row in types[7].rows] == [("BLOCK", {"len": "1", "index": "2"})]
    assert [row.attributes for row in types[19].rows if row.name == "Integer"] == [{"value": "7"}, {"value": "MPI_ORDER_C"}]
    assert list(project.datatypes[1][0].attributes) == ["id", "name", "size", "lb", "extent"]


def test_errors(write, tmp_path):
    with pytest.raises(hdtrace.ReadError, match=r"bad.proj:9: <Rank> has no attribute fid"):
        hdtrace.Project(write("bad.proj", PROJECT.replace(' fid="0"', "")))
    with pytest.raises(FileNotFoundError):
        hdtrace.Project(tmp_path / "none.proj")


def test_objects_print_what_they_are(heat):
    with hdtrace.open(heat) as project:
        assert [repr(one) for one in project.communicators] == ["<Communicator WORLD of 4>", "<Communicator plate of 4>"]
        assert "<Datatype 0 MPI_DOUBLE>" in map(repr, project.datatypes[0].values())
        assert repr(project.run).startswith("<Run of 4 processes: ")
        assert [repr(one) for one in project.run.processes] == [f"<RunProcess of rank {rank}>" for rank in range(4)]
        assert repr(project.run.processes[0].threads) == "[<RunThread 0>]"
        assert repr(project.run.processes[0].cpu_times[0]).startswith("<CpuTime 0.")
        assert any(re.fullmatch(r"<Frame main \(.*06-heat\.c:\d+\)>", repr(site.frames[0])) for site in project.call_sites)
        assert re.fullmatch(r"<Analysis of 4 processes, \d+\.\d{6} seconds, parallel efficiency [01]\.\d{3}>", repr(project.analyze()))
        assert repr(project.messages()) == f"<Messages of {heat}>"
        message = next(iter(project.messages()))
        assert repr(message.send).startswith("<MessageEnd: 128 bytes, thread 0, line ")
        assert "<Cart_create of rank 0, thread 0>" in map(repr, next(iter(project.collectives())).calls)


@pytest.mark.parametrize("ask, message", [
    (lambda project: project.calls(rank=[]), "None selects all"),
    (lambda project: project.calls(rank=range(3, 1)), "None selects all"),
    (lambda project: project.analyze().to_dataframe("foo"), "'foo' is none of rank, site"),
    (lambda project: hdtrace.compare(project, figure="foo"), "'foo' is none of calls"),
])
def test_what_there_is_not_is_an_error_that_says_so(heat, ask, message):
    with hdtrace.open(heat) as project, pytest.raises(ValueError, match=message):
        ask(project)


def test_a_moment_is_a_whole_number(heat):
    with hdtrace.open(heat) as project, pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        project.pending(1.4)


def test_a_counter_of_int_is_not_rounded():
    from hdtrace.regions import counter

    counter("cells", int)(2)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        counter("cells", int)(1.9)
