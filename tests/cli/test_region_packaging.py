"""Instrumented programs: built with what is installed, or with the files alone, and run with and without the tracer."""
import shutil
from pathlib import Path

import pytest
from conftest import MPIRUN, SOURCE, run_well
from test_packaging import library_directory, package_flags

HEADERS = SOURCE / "hdtrace/include"
C = """
#include <hdRegion.h>
#include <mpi.h>
int main(int argc, char** argv)
{
    static hdRegion step = HD_REGION("step");
    MPI_Init(&argc, &argv);
    hdR_begin(&step);
    MPI_Barrier(MPI_COMM_WORLD);
    hdR_end(&step);
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """
program step
    use mpi
    use hdregion
    integer :: error
    call MPI_Init(error)
    call hdr_begin('step')
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call hdr_end('step')
    call MPI_Finalize(error)
end program
"""
LANGUAGES = {"c": ("mpicc", "step.c", C), "cxx": ("mpicxx", "step.cpp", C), "fortran": ("mpifort", "step.f90", FORTRAN)}


def build(directory: Path, language: str, headers: Path, *options) -> Path:
    compiler, name, text = LANGUAGES[language]
    source = directory / name
    source.write_text(text)
    module = [headers / "hdregion.f90"] if language == "fortran" else []
    run_well(compiler, f"-I{headers}", f"-J{directory}" if module else "-Wall", *module, source, "-o", directory / "step", *options)
    return directory / "step"


def events(directory: Path) -> list[str]:
    (trace,) = directory.glob("*.trc")
    lines = trace.read_text().splitlines()
    return [line.split(" site=")[0].split(" time=")[0] for line in lines if line.startswith(("<Event", "<Barrier"))]


RECORDED = ["<Event name='step' kind='begin'", "<Barrier cid='0'", "<Event name='step' kind='end'"]


@pytest.mark.parametrize("options", [[], ["-no-pie", "-fno-pie"], ["-O0"]], ids=["", "fixed", "unoptimized"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_has_a_copy_of_the_file(prefix, tmp_path, language, options):
    copies = tmp_path / "copies"
    copies.mkdir()
    for name in ("hdRegion.h", "hdregion.f90"):
        shutil.copy(HEADERS / name, copies)
    step = build(tmp_path, language, copies, *options)
    assert run_well(MPIRUN, "-n", "1", step, cwd=copies) == ""
    traced = tmp_path / "traced"
    traced.mkdir()
    run_well(MPIRUN, "-n", "1", prefix / "bin/hdtrace-run", step, cwd=traced)
    assert events(traced) == RECORDED


@pytest.mark.parametrize("package", ["hdtrace-mpi", "hdtrace-mpi-static"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_is_linked_with_the_tracer(prefix, tmp_path, language, package):
    step = build(tmp_path, language, prefix / "include", *package_flags(prefix, package))
    traced = tmp_path / "traced"
    traced.mkdir()
    run_well(MPIRUN, "-n", "1", step, cwd=traced)
    assert events(traced) == RECORDED


def test_the_archives_alone(prefix, tmp_path):
    libraries = library_directory(prefix)
    step = build(tmp_path, "c", prefix / "include", libraries / "libHDTraceMPIWrapper.a", libraries / "libhdTrace.a",
                 *run_well("pkg-config", "--libs", "glib-2.0").split())
    traced = tmp_path / "traced"
    traced.mkdir()
    run_well(MPIRUN, "-n", "1", step, cwd=traced)
    assert events(traced) == RECORDED


def test_the_headers_with_pkg_config(prefix, tmp_path):
    build(tmp_path, "c", prefix / "include", *package_flags(prefix, "hdtrace-region"))
    assert "-l" not in " ".join(package_flags(prefix, "hdtrace-region", "--libs"))
