"""Something stands under the name of a trace, in a directory where others may write: nothing happens to it, and the trace has another name."""
import os
import re
import socket
import stat

import pytest
from conftest import PRELUDE
from support.runs import merge

HOST = re.sub("[^A-Za-z0-9.-]", "-", socket.gethostname())
STRANGER = 65534
CALLS = [*PRELUDE, "Finalize"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")


def file_of(directory, owner=os.geteuid()):
    path = directory / "precious"
    path.write_text("precious")
    os.chown(path, owner, -1)
    return path


def link_to_own_file(path):
    path.symlink_to(file_of(path.parent.parent))


def link_to_another_users_file(path):
    path.symlink_to(file_of(path.parent.parent, STRANGER))


def another_users_link(path):
    link_to_own_file(path)
    os.lchown(path, STRANGER, STRANGER)


def dangling_link(path):
    path.symlink_to(path.parent.parent / "precious")


def hard_link(path):
    path.hardlink_to(file_of(path.parent.parent))


def another_users_file(path):
    path.write_text("theirs")
    path.chmod(0o666)
    os.chown(path, STRANGER, -1)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no devices can be made here")


PLANTS = [link_to_own_file, dangling_link, hard_link, os.mkfifo, os.mkdir, unix_socket,
          *(pytest.param(plant, marks=as_root) for plant in (link_to_another_users_file, another_users_link, another_users_file, device))]
plants = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)


def snapshot(directory):
    """Everything below, as it would be if nobody touched it."""
    def state(path):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        return stat.filemode(status.st_mode), status.st_uid, status.st_nlink, status.st_mtime_ns, content
    return {path: state(path) for path in directory.rglob("*") if not path.is_dir() or not any(path.iterdir())}


@pytest.fixture
def shared(tmp_path):
    """A directory like /tmp."""
    directory = tmp_path / "shared" / "traces"
    directory.mkdir(parents=True)
    directory.chmod(0o1777)
    return directory


def run_in(shared, run, name="calls", *args, umask=-1, **env):
    victim = run(name, *args, env={"HDTRACE_DIRECTORY": str(shared), **env}, umask=umask)
    victim.trace_directory = shared
    return victim


def check_other_name(victim, name):
    assert (victim.returncode, victim.stdout) == (0, "")
    (line,) = victim.stderr.splitlines()
    assert line == ("hdtrace: another user's file, a link or the like has the usual name; the files of this program are "
                    f"{victim.trace_directory}/{name}_{HOST}_0_*")


@plants
@pytest.mark.parametrize("suffix", ["info", "trc", "trc.zst"])
def test_the_trace_takes_the_next_name(run, shared, plant, suffix):
    plant(shared / f"calls_{HOST}_0_0.{suffix}")
    before = snapshot(shared.parent)
    victim = run_in(shared, run)
    check_other_name(victim, "calls-2")
    assert victim.names(program="calls-2") == CALLS
    after = snapshot(shared.parent)
    assert {path: after.get(path) for path in before} == before
    assert {path.name for path in after.keys() - before.keys()} == {f"calls-2_{HOST}_0_0.info", f"calls-2_{HOST}_0_0.trc"}
    assert merge(shared / "calls-2.proj", *shared.glob("calls-2_*.info")) == []


def test_several_names_are_taken(run, shared):
    os.mkfifo(shared / f"calls_{HOST}_0_0.info")
    (shared / f"calls-2_{HOST}_0_0.trc").symlink_to("/dev/null")
    victim = run_in(shared, run)
    check_other_name(victim, "calls-3")
    assert victim.names(program="calls-3") == CALLS


def test_somebody_reads_the_fifo(run, shared):
    """Then it could be written to."""
    fifo = shared / f"calls_{HOST}_0_0.info"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    check_other_name(run_in(shared, run), "calls-2")
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize("plant", [link_to_own_file, os.mkfifo, pytest.param(another_users_file, marks=as_root)])
def test_a_thread_takes_the_next_number(run, shared, plant):
    plant(shared / f"threads_{HOST}_0_1.trc")
    before = snapshot(shared.parent)
    victim = run_in(shared, run, "threads", "many")
    assert (victim.returncode, victim.stderr) == (0, "")
    after = snapshot(shared.parent)
    assert {path: after.get(path) for path in before} == before
    assert victim.ends() == {0: (len(PRELUDE) + 1, 0), **{thread: (3, 0) for thread in range(2, 202)}}
    assert victim.names(2) == 3 * ["Bcast"]


def test_own_files_are_overwritten(run, shared):
    """They become private, too."""
    for suffix in ("info", "trc"):
        path = shared / f"calls_{HOST}_0_0.{suffix}"
        path.write_text("of an earlier run" * 10000)
        path.chmod(0o644)
    victim = run_in(shared, run)
    assert (victim.returncode, victim.stdout, victim.stderr) == (0, "", "")
    assert victim.names() == CALLS
    assert {path.stat().st_mode & 0o777 for path in shared.iterdir()} == {0o600}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_files_are_private(run, shared, umask):
    for compress in ("none", "zstd"):
        victim = run_in(shared, run, HDTRACE_COMPRESS=compress, HDTRACE_NAME=compress, umask=umask)
        assert (victim.returncode, victim.stderr) == (0, "")
    assert {path.stat().st_mode & 0o777 for path in shared.iterdir()} == {0o600}
