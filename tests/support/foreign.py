"""Programs that others wrote, each with an input that takes it a few seconds."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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
