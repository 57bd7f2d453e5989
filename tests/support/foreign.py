"""Programs that others wrote, each with an input that takes it a few seconds."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .runs import SETTINGS, SOURCE

INPUTS = Path(__file__).parent / "inputs"
PROGRAMS = {"lammps": (["lmp", "-in", "in.melt", "-var", "style"], "in.melt"), "hpcc": (["hpcc"], "hpccinf.txt")}


def prepare(name, directory):
    """Puts the program's input into the directory. Returns its path and arguments; skips the test where it is not installed."""
    (command, *arguments), given = PROGRAMS[name]
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"{command} is not installed")
    shutil.copy(INPUTS / given, directory)
    if name == "lammps":
        arguments.append(dump_style(path))
    return path, arguments


def dump_style(lammps):
    """The parallel one, where it was built in: new versions have none."""
    packages = subprocess.run([lammps, "-h"], capture_output=True, text=True, check=True).stdout
    return "atom/mpiio" if re.search(r"\bMPIIO\b", packages) else "atom"


def compiled(tmp_path, source, *options):
    """The program, with the names of its lines."""
    output = tmp_path / source.stem
    subprocess.run([SETTINGS["compiler"], "-g", *options[:1], "-o", output, source, *options[1:]], check=True)
    return output


def petsc(tmp_path, optimisation="-O2"):
    """A program that solves equations with PETSc."""
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True, check=False)
    if SETTINGS["mpi"] != "Open MPI" or found.returncode != 0:
        pytest.skip("PETSc is not installed for this MPI library")
    try:
        return compiled(tmp_path, SOURCE / "tests/mpi/real/solve_petsc.c", optimisation, *found.stdout.split())
    except subprocess.CalledProcessError:
        pytest.skip("PETSc was built with another version of the MPI library, and refuses this one")
