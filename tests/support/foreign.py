"""Programs that others wrote, each with an input that takes it a few seconds."""
import shutil
from pathlib import Path

import pytest

INPUTS = Path(__file__).parent / "inputs"
PROGRAMS = {"lammps": (["lmp", "-in", "in.melt"], "in.melt"), "hpcc": (["hpcc"], "hpccinf.txt")}


def prepare(name, directory):
    """Puts the program's input into the directory. Returns its path and arguments; skips the test where it is not installed."""
    (command, *arguments), given = PROGRAMS[name]
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"{command} is not installed")
    shutil.copy(INPUTS / given, directory)
    return path, arguments
