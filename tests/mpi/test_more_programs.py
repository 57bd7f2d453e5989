"""Libraries and programs that others wrote, as Debian has them: with the tracer they print and write the same as without."""
import re
from pathlib import Path

import pytest
from support.calls import Call
from support.extents import WITHOUT_DATA_SIEVING, written_pieces
from support.messages import received_messages, sent_messages
from support.runs import SETTINGS, SOURCE, program, run_untraced, run_with_tracer

pytestmark = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's libraries are made for Open MPI")
RANKS = 4
PYTHON = "/usr/bin/python3"
SCRIPTS = SOURCE / "tests/mpi/real"
MUMPS = Path("/usr/lib/mumps")


@pytest.fixture
def both_ways(tmp_path):
    """both_ways(program, *args) -> (untraced, traced), each in a folder of its own; what they printed and wrote was compared.

    normalise: what is done to the output of both before that; mpirun: more options of mpirun.
    """
    def run_both(name, *args, normalise=str, mpirun=()):
        if not program(name).exists():
            pytest.skip(f"{name} is not installed")
        runs = []
        for way, run in (("untraced", run_untraced), ("traced", run_with_tracer)):
            (tmp_path / way).mkdir()
            runs.append(run(name, RANKS, tmp_path / way, args=args, mpirun=mpirun))
        untraced, traced = runs
        assert (untraced.returncode, untraced.stderr) == (0, "")
        assert normalise(traced.stdout) == normalise(untraced.stdout) != ""
        assert results(traced) == results(untraced)
        assert traced.project.process_count == RANKS
        return untraced, traced

    return run_both


def results(run):
    """The files that a run wrote, traces excepted."""
    return {path.name: path.read_bytes() for path in run.directory.iterdir() if path.is_file()}


def check_messages(run):
    sent = sent_messages(run)
    assert sent and sent == received_messages(run)


# ---- Python ----

def test_python_objects(both_ways):
    pytest.importorskip("mpi4py")
    _, traced = both_ways(PYTHON, SCRIPTS / "objects.py")
    check_messages(traced)
    for trace in traced:
        for name in ("Bcast", "Scatterv", "Gatherv", "Allgatherv", "Alltoallv"):
            assert Call(name) in trace


def test_python_buffers(both_ways):
    pytest.importorskip("mpi4py")
    _, traced = both_ways(PYTHON, SCRIPTS / "buffers.py")
    check_messages(traced)
    (name,) = results(traced)
    ((path, pieces),) = written_pieces(traced).items()
    assert Path(path).name == name == "columns.data"
    assert pieces == [(0, RANKS * 10 * 8)]


# ---- numerical libraries ----

def test_scalapack(both_ways):
    untraced, traced = both_ways("solve_scalapack")
    assert "info 0" in untraced.stdout
    check_messages(traced)


def test_fftw(both_ways):
    untraced, traced = both_ways("transform_fftw")
    assert "came back: yes" in untraced.stdout
    assert all(any(state.name in ("Alltoall", "Alltoallv", "Sendrecv") for state in trace) for trace in traced)


_MUMPS_TIMES = re.compile(r"[Tt]ime |Time\b|MBYTES|Memory")
_LAST_DIGITS = re.compile(r"\d+\.\d{10,}")


@pytest.mark.parametrize("precision, data", [("d", "real"), ("z", "cmplx")])
def test_mumps(both_ways, precision, data):
    """The solver reads its system from standard input. Fortran's notes of floating-point exceptions are as they are without us."""
    binary = MUMPS / f"{precision}simpletest"
    if not binary.exists():
        pytest.skip("mumps-test is not installed")
    untraced, traced = both_ways("/bin/sh", "-c", f"exec {binary} < {MUMPS}/input_simpletest_{data} 2>&1", normalise=without_times_and_last_digits)
    assert "Solution is" in untraced.stdout
    check_messages(traced)


def without_times_and_last_digits(text):
    """The last digits depend on whose part of a sum comes first."""
    text = _LAST_DIGITS.sub(lambda number: f"{float(number[0]):.9f}", text)
    return [line for line in text.splitlines() if not _MUMPS_TIMES.search(line)]


# ---- PnetCDF ----

def test_pnetcdf(both_ways):
    _, traced = both_ways("write_pnetcdf", mpirun=WITHOUT_DATA_SIEVING)
    content = results(traced)["matrix.nc"]
    ((_, pieces),) = written_pieces(traced).items()
    assert pieces[-1][1] <= len(content)
    gaps = zip([0] + [end for _, end in pieces], [begin for begin, _ in pieces] + [len(content)])
    assert not any(any(content[begin:end]) for begin, end in gaps), "something is in the file that no call wrote"
