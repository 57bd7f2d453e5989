"""Programs that are correct: nothing in them is an error, and of warnings only the kinds that are true of them."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.foreign import petsc, prepare
from support.runs import BUILD, SETTINGS, SOURCE, program, run_with_tracer

RANKS = 4  # some of them need a square
FOR_CHECK = {"HDTRACE_FOR_CHECK": "1", "HDTRACE_ALL_FUNCTIONS": "2"}
OWN = ["collectives", "completion", "datatypes", "generalized_request", "groups", "in_place", "intercomm_collectives", "intercommunicators", "io_explicit",
       "io_individual", "io_nonblocking", "io_shared", "isend_modes", "neighbourhood", "nonblocking_collectives", "persistent", "probe", "send_modes",
       "sub_communicator", "threads", "topologies", "tour", "tour_cpp", "tour_f08", "tour_mpif", "undefined", "vector_collectives", "waits", "windows"]
# Which kinds of warnings are true of programs that others wrote.
TRUE_WARNINGS = {"hpcc": {"buffering-required"}}
debian_programs = pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's programs are made for Open MPI")


def kinds_found(directory, command, *args, env=FOR_CHECK):
    """Of errors, and of warnings."""
    run = run_with_tracer(command, RANKS, directory, env=env, args=args, complete=False)
    assert run.returncode == 0, run.stderr
    result = subprocess.run([BUILD / "bin/hdtrace", "check", "--json", "--no-schemas", run.trace_directory], capture_output=True, text=True, timeout=120)
    found = json.loads(result.stdout)
    return [one for one in found if one["severity"] == "error"], {one["kind"] for one in found if one["severity"] == "warning"}


@pytest.mark.parametrize("name", OWN)
def test_own_programs(tmp_path, name):
    if not program(name).exists():
        pytest.skip(f"{name} is not built")
    errors, _ = kinds_found(tmp_path, name)
    assert errors == []


@pytest.mark.skipif(subprocess.run(["unshare", "-u", "true"], capture_output=True).returncode != 0, reason="names of hosts cannot be simulated here")
@pytest.mark.parametrize("name", ["io_explicit", "io_individual", "io_nonblocking", "io_shared", "communicators", "tour"])
def test_own_programs_on_two_hosts(tmp_path, name):
    """The files are on the disks of both, as far as the tracer can tell."""
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    command = f"hostname node$(({rank} / {RANKS // 2})) && exec {program(name)}"
    assert kinds_found(tmp_path, "/usr/bin/unshare", "-u", "/bin/sh", "-c", command)[0] == []
    hosts = {path.name.split("_")[-3] for path in (tmp_path / "trace").glob("*.info")}
    assert hosts == {"node0", "node1"}


@pytest.mark.parametrize("env", [FOR_CHECK, {}])
def test_objects_that_are_freed_inside_calls(tmp_path, env):
    assert kinds_found(tmp_path, "callbacks", env=env) == ([], set())


def test_handles_that_are_equal_and_moved(tmp_path):
    assert kinds_found(tmp_path, "equal_handles") == ([], set())


def test_accesses_to_one_place(tmp_path):
    assert kinds_found(tmp_path, "accesses") == ([], set())


@debian_programs
@pytest.mark.parametrize("name", ["lammps", "hpcc"])
def test_large_programs(tmp_path, name):
    path, args = prepare(name, tmp_path)
    errors, warnings = kinds_found(tmp_path, path, *args)
    assert errors == [] and warnings <= TRUE_WARNINGS.get(name, set())


@debian_programs
def test_mumps(tmp_path):
    folder = Path("/usr/lib/mumps")
    if not (folder / "dsimpletest").exists():
        pytest.skip("mumps-test is not installed")
    command = f"exec {folder}/dsimpletest < {folder}/input_simpletest_real 2>&1"
    assert kinds_found(tmp_path, "/bin/sh", "-c", command) == ([], set())


@debian_programs
def test_petsc(tmp_path):
    assert kinds_found(tmp_path, petsc(tmp_path)) == ([], set())


@pytest.mark.parametrize("name", ["solve_scalapack", "transform_fftw", "write_pnetcdf", "hdf5_write"])
def test_libraries(tmp_path, name):
    if not program(name).exists():
        pytest.skip(f"{name} is not built")
    assert kinds_found(tmp_path, name) == ([], set())


@debian_programs
@pytest.mark.parametrize("name", ["buffers", "objects"])
def test_python(tmp_path, name):
    pytest.importorskip("mpi4py")
    assert kinds_found(tmp_path, sys.executable, SOURCE / f"tests/mpi/real/{name}.py") == ([], set())
