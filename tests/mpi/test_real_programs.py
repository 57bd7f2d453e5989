"""Programs that others wrote, unmodified: same output, and a trace that adds up."""
import itertools
import re

import pytest
from support.extents import written_pieces
from support.foreign import prepare
from support.messages import received_messages, sent_messages
from support.runs import SETTINGS, program, romio, run_untraced, run_with_tracer

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's programs are made for Open MPI")
RANKS = 4


def both_ways(tmp_path, name):
    """Runs a program untraced and traced."""
    runs = []
    for way, run in (("untraced", run_untraced), ("traced", run_with_tracer)):
        directory = tmp_path / way
        directory.mkdir()
        path, args = prepare(name, directory)
        runs.append(run(path, RANKS, directory, args=args))
    untraced, traced = runs
    assert (untraced.returncode, traced.returncode) == (0, 0), traced
    return untraced, traced


# ---- LAMMPS ----

# Lines of LAMMPS' output that hold times or what follows from them.
_LAMMPS_TIMES = re.compile(r"^(  create_atoms CPU|Loop time|Performance|.*CPU use|Pair |Neigh |Comm |Output |Modify |Other |Total wall time)")


@pytest.fixture(scope="module")
def melt(tmp_path_factory):
    return both_ways(tmp_path_factory.mktemp("melt"), "lammps")


def results(text):
    return [line for line in text.splitlines() if not _LAMMPS_TIMES.match(line)]


def test_lammps_computes_the_same(melt):
    untraced, traced = melt
    assert results(traced.stdout) == results(untraced.stdout)


def test_every_message_of_lammps_arrives(melt):
    _, traced = melt
    sent = sent_messages(traced)
    assert sum(sent.values()) > 1000
    assert sent == received_messages(traced)


# ---- HPCC ----

def test_hpcc_computes_the_same(tmp_path):
    untraced, traced = both_ways(tmp_path, "hpcc")
    expected, found = (verdicts((run.directory / "hpccoutf.txt").read_text()) for run in (untraced, traced))
    assert found == expected and "Success=1" in found


def verdicts(text):
    """The lines that judge results, without the times in them; the others are bandwidths.

    How often PTRANS repeats itself depends on the time, so equal lines in a row count once.
    """
    lines = [line for line in text.splitlines() if re.search("PASSED|FAILED|Success|errors|End of", line)]
    lines = [re.sub(r"^(WALL|CPU).*(PASSED|FAILED).*", r"PTRANS \2", line) for line in lines]
    return [line for line, _ in itertools.groupby(lines)]


# ---- HDF5 ----

@pytest.mark.skipif(not program("hdf5_write").exists(), reason="parallel HDF5 is not installed")
@pytest.mark.parametrize("io", ["ompio", romio()])
def test_the_writes_of_hdf5_cover_its_file(tmp_path, io):
    run = run_with_tracer("hdf5_write", RANKS, tmp_path, mpirun=("--mca", "io", io))
    content = (tmp_path / "matrix.h5").read_bytes()
    ((name, pieces),) = written_pieces(run).items()
    assert name == str(tmp_path.resolve() / "matrix.h5")
    assert pieces[-1][1] == len(content)
    assert sum(end - begin for begin, end in pieces) > 2 * 4 * RANKS * 64 * 512, "both matrices and something about them"
    gaps = zip([0] + [end for _, end in pieces], [begin for begin, _ in pieces])
    assert not any(any(content[begin:end]) for begin, end in gaps), "something is in the file that no call wrote"
