"""Several processes of MPI that read traces together say what one says."""
import os
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, MPIRUN, PROGRAMS, SOURCE, compile_text, run, run_well

HDTRACE = BUILD / "bin/hdtrace"
pytest.importorskip("mpi4py", reason="python3-mpi4py is missing")

# All wait for a message of the next one, and have not freed a datatype.
DEADLOCK = r"""
#include <mpi.h>
int main(int argc, char** argv)
{
    int rank, size, value = 0;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("sharing")


@pytest.fixture(scope="module")
def halo(folder) -> Path:
    """The traces of a program with messages, collective calls and a file."""
    run_well("mpicc", SOURCE / "scripts/benchmarks/halo.c", "-o", folder / "halo")
    run_well(MPIRUN, "-n", "5", BUILD / "bin/hdtrace-run", "-d", folder / "run", folder / "halo", "30", folder / "data")
    return folder / "run"


@pytest.fixture(scope="module")
def hang(folder) -> Path:
    program = compile_text("mpicc", folder / "hang", DEADLOCK)
    run(HDTRACE, "record", "--check", "--stuck-seconds", "1", "--end-stuck", "-o", folder / "hung", MPIRUN, "-n", "4", program)
    return folder / "hung"


def alone(*words):
    return run(HDTRACE, *words)


def together(processes: int, *words, **options):
    return run(MPIRUN, "-n", str(processes), HDTRACE, *words, **options)


def own_lines(text: str) -> list[str]:
    """Those that are not of the launcher, which says something when a program ends with another code than 0."""
    return [line for line in text.splitlines() if line.startswith("hdtrace: ")]


def expect_the_same(*words, code: int = 0, numbers: tuple[int, ...] = (3,)) -> None:
    expected = alone(*words)
    assert expected.returncode == code
    for processes in numbers:
        result = together(processes, *words)
        assert (result.returncode, result.stdout) == (code, expected.stdout)
        assert own_lines(result.stderr) == own_lines(expected.stderr)


@pytest.mark.parametrize("words", [["check"], ["check", "--json"], ["analyze"], ["analyze", "--json"], ["analyze", "--interval", "0.001..0.003"]], ids=" ".join)
def test_of_a_run(halo, words):
    expect_the_same(*words, halo, numbers=(1, 2, 6, 8))  # the traces are five


def test_of_findings(hang):
    expect_the_same("check", hang, code=1)
    assert "deadlock" in alone("check", hang).stdout


def test_of_a_page(halo, folder):
    run_well(HDTRACE, "report", "-o", folder / "alone.html", halo)
    run_well(MPIRUN, "-n", "3", HDTRACE, "report", "-o", folder / "together.html", halo)
    assert (folder / "together.html").read_bytes() == (folder / "alone.html").read_bytes()


def damaged(halo: Path, folder: Path) -> Path:
    """Of which the trace of rank 3 says something impossible in the middle, and that of rank 4 ends early."""
    shutil.copytree(halo, folder)
    (third,) = folder.glob("*_3_0.trc")
    lines = third.read_text().splitlines(keepends=True)
    lines[len(lines) // 2] = "<Send time='1' end='x'/>\n"
    third.write_text("".join(lines))
    (fourth,) = folder.glob("*_4_0.trc")
    fourth.write_bytes(fourth.read_bytes()[:5000])
    return folder


def test_what_is_wrong_with_a_trace_is_told_and_ends_all(halo, folder):
    expect_the_same("check", damaged(halo, folder / "damaged"), code=1)


def test_traces_that_are_cut_off(halo, folder):
    shutil.copytree(halo, folder / "cut")
    for trace in sorted((folder / "cut").glob("*.trc"))[::2]:
        trace.write_bytes(trace.read_bytes()[:5000])
    expect_the_same("check", folder / "cut", code=1)
    expect_the_same("analyze", folder / "cut")


def test_processes_with_different_arguments_are_alone(halo, hang):
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec {HDTRACE} check {hang}; else exec {HDTRACE} check {halo}; fi'
    outputs = run(MPIRUN, "-n", "2", "sh", "-c", script).stdout
    assert alone("check", halo).stdout in outputs
    assert alone("check", hang).stdout in outputs


def test_without_mpi4py(halo, folder):
    shadow = folder / "shadow"
    shadow.mkdir()
    (shadow / "mpi4py.py").write_text("raise ImportError('no such module')\n")
    result = together(2, "check", halo, env=os.environ | {"PYTHONPATH": str(shadow)})
    assert result.returncode == 1
    assert "hdtrace: several processes share the reading by mpi4py, which cannot be used: no such module" in result.stderr
    assert result.stdout == ""


@pytest.mark.skipif(not shutil.which("mpiexec.mpich"), reason="MPICH is missing")
def test_with_the_launcher_of_another_library(halo):
    result = run("mpiexec.mpich", "-n", "2", HDTRACE, "check", halo)
    assert result.returncode == 1
    assert "hdtrace: mpi4py is for another MPI library than the launcher: it knows 1 of 2 processes" in result.stderr
    assert result.stdout == ""


def test_another_launcher_says_nothing_of_processes(halo):
    """A batch script of Slurm, whose variables speak of the processes to come."""
    job = {"SLURM_NTASKS": "64", "SLURM_PROCID": "0"}
    assert run_well(HDTRACE, "analyze", halo, env=os.environ | job) == alone("analyze", halo).stdout
