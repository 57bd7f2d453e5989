"""Something runs out: one warning, the losses are counted, and the program's results are the same."""
import os
import shutil
import subprocess

import hdtrace
import pytest
from conftest import PRELUDE
from support.runs import BUILD, MERGER

CALLS = 20000
RESULT = f"sum {CALLS * (CALLS - 1) // 2}\n"


def check_result(victim):
    assert (victim.returncode, victim.stdout) == (0, RESULT), victim.stderr


def check_warning(victim, reason):
    (line,) = (line for line in victim.stderr.splitlines() if line.startswith("hdtrace:"))  # the MPI library may have its own
    assert line.startswith("hdtrace: cannot write ") and line.endswith(f": {reason}; the program goes on, but its trace will not be whole")


@pytest.fixture
def mounted(tmp_path):
    """mounted(words for mount...) -> a directory with this file system until the end of the test."""
    disk = tmp_path / "disk"

    def mount(*words):
        disk.mkdir()
        result = subprocess.run(["mount", *words, disk], capture_output=True, text=True)
        if result.returncode != 0:
            pytest.skip(f"no such file system can be mounted here: {result.stderr}")
        return disk

    yield mount
    if disk.is_mount():
        subprocess.run(["umount", "--lazy", disk], check=True)  # a test that fails may have files open


@pytest.fixture
def image(tmp_path):
    """image(size, words that make a file system...) -> a file with it."""
    def make(size, *words):
        path = tmp_path / "image"
        if shutil.which(words[0]) is None:
            pytest.skip(f"{words[0]} is not installed")
        subprocess.run(["truncate", "-s", size, path], check=True)
        subprocess.run([*words, path], check=True, capture_output=True)
        return path
    return make


def check_counts(victim):
    (states, dropped), = victim.ends().values()
    assert states == len(victim.trace()) > len(PRELUDE)
    assert states + dropped == len(PRELUDE) + CALLS + 1
    assert dropped > 0


def run_on(run, disk, way="nothing", **env):
    victim = run("shortage", way, CALLS, env={"HDTRACE_DIRECTORY": str(disk), **env})
    victim.trace_directory = disk
    check_result(victim)
    return victim


# Twenty thousand calls are a megabyte of text, or a twentieth of it.
@pytest.mark.parametrize("compress, size", [("none", "256k"), ("zstd", "24k"), ("gzip", "24k")])
def test_the_disk_is_full(run, mounted, compress, size):
    disk = mounted("-t", "tmpfs", "-o", f"size={size}", "none")
    victim = run_on(run, disk, HDTRACE_BUFFER_SIZE="16K", HDTRACE_COMPRESS=compress)
    check_warning(victim, "No space left on device")
    check_counts(victim)


def test_the_quota_is_used_up(run, mounted, image):
    """Btrfs has one for root as well. It lets nobody shorten a file then: the last line is cut off, and nothing is counted."""
    disk = mounted("-o", "loop", image("128M", "mkfs.btrfs"))
    subprocess.run(["btrfs", "quota", "enable", disk], check=True)
    subprocess.run(["btrfs", "qgroup", "limit", "512K", disk], check=True)
    victim = run_on(run, disk, HDTRACE_BUFFER_SIZE="16K")
    check_warning(victim, "Disk quota exceeded")
    names = [state.name for state in hdtrace.read_trace(victim.path(), allow_incomplete=True)]
    assert names == [PRELUDE[0], *(len(names) - 1) * ["Bcast"]] and len(PRELUDE) < len(names) < CALLS


def test_the_directory_is_read_only(run, mounted):
    disk = mounted("-t", "tmpfs", "-o", "ro", "none")
    check_warning(run_on(run, disk), "Read-only file system")
    assert list(disk.iterdir()) == []


def test_the_directory_becomes_read_only(run, mounted, image):
    """As a disk does that has errors, whoever has opened files there."""
    disk = mounted("-o", "loop", image("8M", "mkfs.ext4"))
    victim = run_on(run, disk, "read_only", HDTRACE_FORCE_FLUSH="1")
    check_warning(victim, "Read-only file system")
    assert victim.names() == PRELUDE


def test_files_are_limited(run):
    victim = run("shortage", "file_size", CALLS, env={"HDTRACE_BUFFER_SIZE": "4K"})
    check_result(victim)
    check_warning(victim, "File too large")
    check_counts(victim)


def test_objects_cannot_be_described_for_a_while(run):
    """The trace is whole, and all tools say the one thing that is true."""
    victim = run("shortage", "datatypes", CALLS, env={"HDTRACE_FLUSH_SECONDS": "0", "HDTRACE_BUFFER_SIZE": "64M"})
    check_result(victim)
    check_warning(victim, "File too large")
    assert victim.ends() == {0: (len(PRELUDE) + 4 * 2000 + CALLS + 1, 0)}
    merged = subprocess.run([MERGER, victim.trace_directory], capture_output=True, text=True)
    (warning,) = merged.stderr.splitlines()
    assert merged.returncode == 0 and "lines were lost while this file could not be written" in warning
    checked = subprocess.run([BUILD / "bin/hdtrace", "check", victim.trace_directory], capture_output=True, text=True)
    assert checked.returncode == 0 and "nothing wrong was found" in checked.stdout
    assert "1 process could not write " in checked.stderr


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the root directory")
@pytest.mark.parametrize("files", ["process", "node"])
def test_the_root_directory_changes(run, files):
    """The file of a thread that begins there cannot be made, unless all is in a file that is open."""
    victim = run("shortage", "root", CALLS, env={"HDTRACE_FILES": files})
    check_result(victim)
    merged = subprocess.run([MERGER, victim.trace_directory], capture_output=True, text=True)
    if files == "node":
        assert victim.stderr == merged.stderr == ""
        return
    check_warning(victim, "No such file or directory")
    assert victim.ends() == {0: (len(PRELUDE) + CALLS + 1, 0), 1: (0, 5)}
    assert "5 states of thread 1 were lost while tracing: they could not be written, as when the disk is full" in merged.stderr


def test_the_program_closes_all_descriptors(run):
    victim = run("shortage", "daemon", CALLS)
    check_result(victim)
    check_warning(victim, "Bad file descriptor")


@pytest.mark.parametrize("way, is_told", [("data", False), ("log", True)])
def test_standard_error_is_another_file(run, way, is_told):
    """A warning is never written into what may be the program's data."""
    victim = run("shortage", way, CALLS, env={"HDTRACE_BUFFER_SIZE": "4K"})
    check_result(victim)
    first, *others = (victim.directory / "data").read_text().splitlines()
    assert first == "data" and any("cannot write" in line for line in others) is is_told
    assert others == [] or is_told


def test_nobody_reads_the_warning(run):
    """It does not end the program with SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        check_result(run("shortage", "nothing", CALLS, env={"HDTRACE_DIRECTORY": "/proc/nowhere"}, stderr=nobody))
