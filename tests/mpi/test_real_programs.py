"""Programs that others wrote, unmodified: same output, and a trace that adds up."""
import itertools
import re
import shutil

import pytest
from support.extents import written_pieces
from support.messages import received_messages, sent_messages
from support.runs import SETTINGS, program, run_untraced, run_with_tracer

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's programs are made for Open MPI")
RANKS = 4

MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 20
run 100
"""

HPCC_INPUT = """\
HPLinpack benchmark input file
hdtrace
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
200          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


def installed(name):
    path = shutil.which(name)
    return pytest.mark.skipif(path is None, reason=f"{name} is not installed")


def both_ways(tmp_path, path, files=None, args=()):
    """Runs a program untraced and traced, in folders with the same files."""
    runs = []
    for way, run in (("untraced", run_untraced), ("traced", run_with_tracer)):
        directory = tmp_path / way
        directory.mkdir()
        for name, text in (files or {}).items():
            (directory / name).write_text(text)
        runs.append(run(path, RANKS, directory, args=args))
    untraced, traced = runs
    assert (untraced.returncode, traced.returncode) == (0, 0), traced
    return untraced, traced


# ---- LAMMPS ----

# Lines of LAMMPS' output that hold times or what follows from them.
_LAMMPS_TIMES = re.compile(r"^(  create_atoms CPU|Loop time|Performance|.*CPU use|Pair |Neigh |Comm |Output |Modify |Other |Total wall time)")


@pytest.fixture(scope="module")
def melt(tmp_path_factory):
    return both_ways(tmp_path_factory.mktemp("melt"), shutil.which("lmp"), {"in.melt": MELT}, ("-in", "in.melt"))


def results(text):
    return [line for line in text.splitlines() if not _LAMMPS_TIMES.match(line)]


@installed("lmp")
def test_lammps_computes_the_same(melt):
    untraced, traced = melt
    assert results(traced.stdout) == results(untraced.stdout)


@installed("lmp")
def test_every_message_of_lammps_arrives(melt):
    _, traced = melt
    sent = sent_messages(traced)
    assert sum(sent.values()) > 1000
    assert sent == received_messages(traced)


# ---- HPCC ----

@installed("hpcc")
def test_hpcc_computes_the_same(tmp_path):
    untraced, traced = both_ways(tmp_path, shutil.which("hpcc"), {"hpccinf.txt": HPCC_INPUT})
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
@pytest.mark.parametrize("io", ["ompio", "romio321"])
def test_the_writes_of_hdf5_cover_its_file(tmp_path, io):
    run = run_with_tracer("hdf5_write", RANKS, tmp_path, mpirun=("--mca", "io", io))
    content = (tmp_path / "matrix.h5").read_bytes()
    ((name, pieces),) = written_pieces(run).items()
    assert name == str(tmp_path.resolve() / "matrix.h5")
    assert pieces[-1][1] == len(content)
    assert sum(end - begin for begin, end in pieces) > 2 * 4 * RANKS * 64 * 512, "both matrices and something about them"
    gaps = zip([0] + [end for _, end in pieces], [begin for begin, _ in pieces])
    assert not any(any(content[begin:end]) for begin, end in gaps), "something is in the file that no call wrote"
