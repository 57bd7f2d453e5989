"""Something runs out: one warning, the losses are counted, and the program's results are the same."""
import os
import subprocess

import pytest
from conftest import PRELUDE

CALLS = 20000
RESULT = f"sum {CALLS * (CALLS - 1) // 2}\n"


def check_result(victim):
    assert (victim.returncode, victim.stdout) == (0, RESULT), victim.stderr


def check_warning(victim, reason):
    (line,) = victim.stderr.splitlines()
    assert line.startswith("hdtrace: cannot write ") and line.endswith(f": {reason}; the program goes on without its trace")


@pytest.fixture
def small_disk(tmp_path):
    """A disk that is full soon."""
    disk = tmp_path / "disk"
    disk.mkdir()
    result = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], capture_output=True, text=True)
    if result.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {result.stderr}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def check_counts(victim):
    (states, dropped), = victim.ends().values()
    assert states == len(victim.trace()) > len(PRELUDE)
    assert states + dropped == len(PRELUDE) + CALLS + 1
    assert dropped > 0


def test_the_disk_is_full(run, small_disk):
    victim = run("shortage", "nothing", CALLS, env={"HDTRACE_DIRECTORY": str(small_disk), "HDTRACE_BUFFER_SIZE": "64K"})
    check_result(victim)
    check_warning(victim, "No space left on device")
    victim.trace_directory = small_disk
    check_counts(victim)


def test_files_are_limited(run):
    victim = run("shortage", "file_size", CALLS, env={"HDTRACE_BUFFER_SIZE": "4K"})
    check_result(victim)
    check_warning(victim, "File too large")
    check_counts(victim)


def test_no_directory_can_be_made(run):
    victim = run("shortage", "nothing", CALLS, env={"HDTRACE_DIRECTORY": "/proc/nowhere"})
    check_result(victim)
    check_warning(victim, "No such file or directory")


def test_the_directory_is_deleted(run):
    victim = run("shortage", "directory", CALLS)
    check_result(victim)
    assert victim.stderr == ""
    assert not victim.trace_directory.exists()


def test_no_descriptors_are_left(run):
    victim = run("shortage", "descriptors", CALLS)
    check_result(victim)
    check_warning(victim, "Too many open files")
    assert victim.ends()[1] == (0, 5)
    assert len(victim.trace()) == len(PRELUDE) + CALLS + 1


def test_the_program_closes_all_descriptors(run):
    victim = run("shortage", "daemon", CALLS)
    check_result(victim)
    check_warning(victim, "Bad file descriptor")


def test_nobody_reads_the_warning(run):
    """It does not end the program with SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        check_result(run("shortage", "nothing", CALLS, env={"HDTRACE_DIRECTORY": "/proc/nowhere"}, stderr=nobody))
