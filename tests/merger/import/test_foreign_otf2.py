"""Archives of OTF2 in forms that hdtrace-convert does not write."""
import hdtrace
import pytest
from importing import findings, import_well, states, works_with_everything

otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
from otf2.enums import CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm  # noqa: E402

MICROSECONDS = 1_000_000


class Steps:
    """Writes what a location does, ten ticks after each other."""

    def __init__(self, writer, regions, begin):
        self.writer, self.regions, self.now = writer, regions, begin

    def call(self, name, write=lambda writer, now: None):
        self.now += 10
        self.writer.enter(self.now, self.regions[name])
        write(self.writer, self.now)
        self.now += 10
        self.writer.leave(self.now, self.regions[name])


def write_like_tau(path):
    """Ranks are not in the order of the locations, ticks are microseconds, names have parentheses; threads, an accelerator, and records
    that say nothing of MPI."""
    with otf2.writer.open(str(path), timer_resolution=MICROSECONDS) as archive:
        define = archive.definitions
        machine = define.system_tree_node("cluster", class_name="machine")
        nodes = [define.system_tree_node(f"node{i}", class_name="node", parent=machine) for i in range(2)]
        processes = {rank: define.location_group(f"process {rank}", location_group_type=LocationGroupType.PROCESS, system_tree_parent=nodes[rank])
                     for rank in (1, 0)}
        card = define.location_group("card", location_group_type=LocationGroupType.ACCELERATOR, system_tree_parent=nodes[0])
        threads = {(rank, thread): define.location(f"thread {thread}", type=LocationType.CPU_THREAD, group=processes[rank])
                   for rank in (1, 0) for thread in range(2)}
        stream = define.location("stream", type=LocationType.GPU, group=card)
        members = [threads[0, 0], threads[1, 0]]
        define.group("locations", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=members)
        world = define.comm("MPI_COMM_WORLD", group=define.group("all", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=members))
        names = ("MPI_Init()", "MPI_Send()", "MPI_Isend()", "MPI_Recv()", "MPI_Wait()", "MPI_Allreduce()", "MPI_Finalize()", "kernel", "work")
        regions = {name: define.region(name) for name in names}
        parameter = define.parameter("size", parameter_type=otf2.enums.ParameterType.INT64)
        no_root = 0xFFFFFFFF
        for rank in range(2):
            steps = Steps(archive.event_writer_from_location(threads[rank, 0]), regions, MICROSECONDS + rank)
            steps.call("MPI_Init()")
            steps.call("work", lambda writer, now: writer.parameter_int(now, parameter, 5))
            if rank == 0:
                steps.call("MPI_Send()", lambda writer, now: writer.mpi_send(now, 1, world, 7, 80))
                steps.call("MPI_Isend()", lambda writer, now: writer.mpi_isend(now, 1, world, 8, 16, 99))
                steps.call("MPI_Wait()", lambda writer, now: writer.mpi_isend_complete(now, 99))
            else:
                steps.call("MPI_Recv()", lambda writer, now: writer.mpi_recv(now, 0, world, 7, 80))
                steps.call("MPI_Recv()", lambda writer, now: writer.mpi_recv(now, 0, world, 8, 16))
            steps.call("MPI_Allreduce()", lambda writer, now: (
                writer.mpi_collective_begin(now), writer.mpi_collective_end(now, CollectiveOp.ALLREDUCE, world, no_root, 8, 8)))
            steps.call("MPI_Finalize()")
            Steps(archive.event_writer_from_location(threads[rank, 1]), regions, MICROSECONDS).call("work")
        Steps(archive.event_writer_from_location(stream), regions, MICROSECONDS).call("kernel")


def write_like_score_p(path):
    """Programs of MPI and OpenMP: each team of threads has a communicator, the members of which are places among all threads."""
    with otf2.writer.open(str(path), timer_resolution=MICROSECONDS) as archive:
        define = archive.definitions
        node = define.system_tree_node("node", class_name="node")
        processes = [define.location_group(f"process {rank}", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node) for rank in range(2)]
        threads = [define.location(f"thread {thread}", type=LocationType.CPU_THREAD, group=process) for process in processes for thread in range(2)]
        define.group("threads", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.OPENMP, members=threads)
        for team in threads[:2], threads[2:]:
            define.comm("team", group=define.group("team", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.OPENMP, members=team))
        ranks = threads[::2]
        define.group("ranks", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=ranks)
        world = define.comm("MPI_COMM_WORLD", group=define.group("all", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks))
        regions = {name: define.region(name) for name in ("MPI_Send", "MPI_Recv", "work")}
        for thread in threads:
            Steps(archive.event_writer_from_location(thread), regions, MICROSECONDS).call("work")
        Steps(archive.event_writer_from_location(ranks[0]), regions, MICROSECONDS + 20).call("MPI_Send", lambda writer, now: writer.mpi_send(now, 1, world, 7, 80))
        Steps(archive.event_writer_from_location(ranks[1]), regions, MICROSECONDS + 20).call("MPI_Recv", lambda writer, now: writer.mpi_recv(now, 0, world, 7, 80))


def write_without_mpi(path):
    """Two processes, and no word of MPI but the names of regions; one region is never left."""
    with otf2.writer.open(str(path), timer_resolution=1000) as archive:
        define = archive.definitions
        node = define.system_tree_node("node", class_name="node")
        regions = {name: define.region(name) for name in ("main", "MPI_Barrier")}
        for number in range(2):
            process = define.location_group(f"process {number}", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node)
            writer = archive.event_writer_from_location(define.location("thread", group=process))
            writer.enter(5, regions["main"])
            Steps(writer, regions, 5).call("MPI_Barrier")


@pytest.fixture
def imported(tmp_path):
    def write_and_import(write):
        write(tmp_path / "archive")
        return tmp_path / "app.proj", import_well(tmp_path / "app.proj", tmp_path / "archive/traces.otf2")

    return write_and_import


def test_an_archive_like_those_of_tau(imported):
    project, told = imported(write_like_tau)
    works_with_everything(project)
    assert not findings(project)
    with hdtrace.open(project) as opened:
        assert [(thread.rank, thread.thread) for thread in opened.threads] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        message, other = opened.messages().to_dataframe().sort_values("tag").itertuples()
    assert (message.source, message.destination, message.tag, message.send_bytes, message.receive_bytes) == (0, 1, 7, 80, 80)
    assert (other.source, other.destination, other.tag, other.send_bytes, other.receive_bytes) == (0, 1, 8, 16, 16)
    names = [(state.name, state.end - state.time) for state in states(project, 0) if state.name != "Event"]
    assert names == [(name, 10_000) for name in ("Init", "Send", "Isend", "Wait", "Allreduce", "Finalize")]
    assert "note: 1 locations are no threads of MPI processes, such as accelerators: their 2 events are left out" in told


def test_teams_of_threads_are_no_communicators_of_mpi(imported):
    project, _ = imported(write_like_score_p)
    send, = (state for state in states(project, 0) if state.name == "Send")
    assert send["cid"] == "0"
    with hdtrace.open(project) as opened:
        message, = opened.messages()
    assert (message.source, message.destination, message.tag) == (0, 1, 7)


def test_an_archive_without_definitions_of_mpi(imported):
    project, told = imported(write_without_mpi)
    works_with_everything(project)
    assert [[state.name for state in states(project, rank)] for rank in range(2)] == [["Event", "Barrier"]] * 2
    assert told[0].endswith(" 0 approximated, 0 dropped")
