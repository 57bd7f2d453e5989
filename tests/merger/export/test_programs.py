"""Programs that others wrote, converted to every format: what comes out holds what they did."""
import subprocess
from collections import Counter
from pathlib import Path

import hdtrace
import pytest
from archives import messages, print_silently
from conversions import convert, project_of
from dumpi_files import read_trace
from replays import collectives_of_all, other_network, replay, sent_messages, simulate
from support.foreign import PROGRAMS, prepare
from support.runs import BUILD, SETTINGS, run_with_tracer

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's programs are made for Open MPI")
RANKS = 4


@pytest.fixture(scope="module", params=PROGRAMS)
def run(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    path, arguments = prepare(request.param, directory)
    return run_with_tracer(path, RANKS, directory, args=arguments)


@pytest.fixture(scope="module")
def replayed(run, tmp_path_factory):
    """The directory of the replay."""
    directory = tmp_path_factory.mktemp("tit") / "replay"
    assert convert(project_of(run), "tit", directory).notes == []
    return directory


def test_simulated_time_rises_with_latency_and_falls_with_bandwidth(replayed, tmp_path):
    def simulated(latency, bandwidth):
        return replay(replayed, RANKS, other_network(tmp_path / "platform.xml", latency, bandwidth))

    usual = simulated("10us", "1GBps")
    assert simulated("1us", "1GBps") < usual < simulated("100us", "1GBps")
    assert simulated("10us", "10GBps") < usual < simulated("10us", "10MBps")


def communicators_made(run):
    """All agree on a number where they make a communicator that nobody splits: (rank, "allreduce", bytes) -> how often."""
    return Counter((trace.rank, "allreduce", 4) for trace in run for state in trace
                   if state.name in ("Comm_dup", "Comm_create", "Cart_create") and len(run.project.communicator(trace.rank, state["cid"]).ranks) == RANKS)


def test_the_simulator_does_what_the_program_did(run, replayed, tmp_path):
    simulation = simulate(replayed, RANKS, tmp_path / "paje")
    assert len(simulation.messages) > 10 and simulation.messages == sent_messages(run)
    kinds = "Bcast", "Reduce", "Allreduce"
    found = Counter({key: count for key, count in simulation.collectives.items() if key[1].title() in kinds})
    assert {name for _, name, _ in found} == {kind.lower() for kind in kinds}
    with_data = Counter({key: count for key, count in collectives_of_all(run, *kinds).items() if key[2] > 0})
    assert found == with_data + communicators_made(run)


def test_all_messages_are_in_the_archive(run, tmp_path):
    conversion = convert(project_of(run), "otf2", tmp_path / "otf2")
    assert (conversion.approximated, conversion.dropped) == ({}, {})
    archive = tmp_path / "otf2/traces.otf2"
    print_silently(archive)
    sent, received = messages(archive)
    assert sent == received
    by_size = Counter()
    for (source, destination, _, _, size), count in sent.items():
        by_size[source, destination, size] += count
    assert by_size == sent_messages(run)


def test_all_messages_are_in_the_files_of_dumpi(run, tmp_path):
    """Also those on communicators that the program made: they come back where the files are imported."""
    convert(project_of(run), "dumpi", tmp_path / "dumpi")
    assert sum(len(process.records) for process in read_trace(tmp_path / "dumpi").processes) > 100
    meta, = (tmp_path / "dumpi").glob("*.meta")
    result = subprocess.run([BUILD / "bin/hdtrace-import", "-o", tmp_path / "back.proj", meta], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")

    def messages(path):
        with hdtrace.open(path) as project:
            return Counter((message.source, message.destination, message.tag, message.send and message.send.bytes,
                            message.receive and message.receive.bytes) for message in project.messages())

    assert messages(tmp_path / "back.proj") == messages(project_of(run))


def test_the_plot_covers_each_file_that_was_written(run, tmp_path):
    for name in {Path(file.get("name")) for file in run.project.files.values()}:
        convert(project_of(run), "ioplot", tmp_path / "plot", "--file", name, "--overwrite")
        accesses = [line.split() for line in (tmp_path / "plot").read_text().splitlines()]
        written = {byte for _, op, offset, length, *_ in accesses if op == "w" for byte in range(int(offset), int(offset) + int(length))}
        assert written == set(range(name.stat().st_size))
