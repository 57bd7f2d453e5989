"""A program whose processes spawn others, converted to every format."""
import re
import subprocess
from collections import Counter

import pytest
from archives import print_silently
from conversions import convert
from dumpi_files import read_trace
from replays import simulate
from support.runs import LAUNCHER, SETTINGS, merge, program, run_untraced

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's MPICH cannot spawn")

# Of tests/mpi/programs/worlds.c, without what its collective operations become.
MESSAGES = Counter({(2, 3): 1, (3, 0): 2, (0, 1): 1, (1, 2): 2, (0, 2): 1, (1, 3): 1, (0, 3): 1, (2, 0): 1, (0, 4): 1, (4, 3): 1, (5, 3): 1,
                    (6, 1): 1})


@pytest.fixture(scope="module")
def project(folder_with_short_name):
    directory = folder_with_short_name
    result = run_untraced(LAUNCHER, 2, directory, args=("--follow", "--directory", directory, program("worlds")))
    assert (result.returncode, result.stderr) == (0, "")
    merge(directory / "worlds.proj", directory)
    return directory / "worlds.proj"


def test_archive(project, tmp_path):
    conversion = convert(project, "otf2", tmp_path / "otf2")
    assert (conversion.approximated, conversion.dropped) == ({}, {})
    path = tmp_path / "otf2/traces.otf2"
    print_silently(path)
    text = subprocess.run(["otf2-print", path], capture_output=True, text=True, check=True).stdout
    # Each process has one thread, so the location behind a rank in a communicator is the process.
    sent = re.findall(r'^MPI_I?SEND +(\d+) .*Receiver: \d+ \("[^"]*" <(\d+)>\)', text, re.MULTILINE)
    received = re.findall(r'^MPI_I?RECV +(\d+) .*Sender: \d+ \("[^"]*" <(\d+)>\)', text, re.MULTILINE)
    assert Counter((int(source), int(to)) for source, to in sent) == MESSAGES
    assert Counter((int(source), int(to)) for to, source in received) == MESSAGES


def test_replay(project, tmp_path):
    conversion = convert(project, "tit", tmp_path / "tit")
    assert conversion.notes == ["the processes of all 5 worlds begin at the same time: those that were spawned do not wait for it"]
    simulated = simulate(tmp_path / "tit", 7, tmp_path / "paje").messages
    for (source, destination), count in MESSAGES.items():
        assert sum(n for (a, b, _), n in simulated.items() if (a, b) == (source, destination)) >= count
    assert sum(n for (a, b, size), n in simulated.items() if size == 1024) == 2


def test_dumpi(project, tmp_path):
    """A trace for each world, in which ranks are those of its communicators."""
    conversion = convert(project, "dumpi", tmp_path / "dumpi")
    assert conversion.notes == ["each MPI_COMM_WORLD is a trace of its own, with a metafile"]
    traces = [read_trace(tmp_path / "dumpi", meta) for meta in (tmp_path / "dumpi").glob("*.meta")]
    assert sorted(len(trace.processes) for trace in traces) == [1, 1, 1, 2, 2]
    sent = Counter(record.name for trace in traces for process in trace.processes for record in process.calls("Send", "Isend", "Sendrecv"))
    assert sent.total() == sum(MESSAGES.values())
    parents = [record["parent"] for trace in traces for process in trace.processes for record in process.calls("Comm_get_parent")]
    assert parents and all(number == 1 or number >= 4 for number in parents)
