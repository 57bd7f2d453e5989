"""What the tests of the commands share."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TESTED_BUILD", SOURCE / "build/dev"))
MPIRUN = SOURCE / "scripts/mpirun"
PROGRAMS = Path(__file__).parent / "programs"


def run(*command, **options) -> subprocess.CompletedProcess:
    """Runs a command; its output is text."""
    options = {"capture_output": True, "text": True, "timeout": 300} | options
    return subprocess.run([os.fspath(word) for word in command], **options)


def run_well(*command, **options) -> str:
    """The standard output of a command that must succeed and say nothing on standard error."""
    result = run(*command, **options)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout


def compile_text(compiler: str, output: Path, text: str, *flags) -> Path:
    """Compiles a C program of a few lines."""
    source = output.with_suffix(".c")
    source.write_text(text)
    run_well(compiler, source, "-o", output, *flags)
    return output


@pytest.fixture(scope="session")
def hello(tmp_path_factory) -> Path:
    """A small MPI program."""
    program = tmp_path_factory.mktemp("hello") / "hello"
    run_well("mpicc", PROGRAMS / "hello.c", "-o", program)
    return program


@pytest.fixture(scope="session")
def prefix(tmp_path_factory) -> Path:
    """An installation that was moved after it had been made."""
    made = tmp_path_factory.mktemp("made") / "prefix"
    run_well("cmake", "--install", BUILD, "--prefix", made)
    moved = tmp_path_factory.mktemp("moved") / "prefix"
    shutil.move(made, moved)
    return moved


def traces(directory: Path) -> list[str]:
    """The names of the files that a traced run left."""
    return sorted(path.name for path in directory.iterdir() if path.suffix in (".trc", ".info"))
