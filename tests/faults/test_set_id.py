"""Programs with rights that their user has not: whoever starts them must not tell them what to write where."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import OPEN_MPI
from support.runs import LAUNCHER, SETTINGS, SOURCE, TIMEOUT, link_options
from support.sanitizers import HAS_ADDRESS_SANITIZER

NOBODY = 65534
PROGRAM = SOURCE / "tests/faults/programs/set_id.c"
pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user"),
              pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="AddressSanitizer does not run with the rights of others")]


@pytest.fixture(scope="module")
def program():
    """Linked with the tracer, where everybody can run it."""
    directory = Path(tempfile.mkdtemp(prefix="hdtrace-set-id-"))
    directory.chmod(0o755)
    if os.statvfs(directory).f_flag & os.ST_NOSUID:
        pytest.skip("nobody gains rights here")
    subprocess.run([SETTINGS["compiler"], "-I", SOURCE / "hdtrace/include", "-o", directory / "set_id", PROGRAM, *link_options()], check=True)
    yield directory / "set_id"
    shutil.rmtree(directory)


@pytest.fixture
def home():
    """A directory of root's in which others may read, and one of the user's."""
    with tempfile.TemporaryDirectory(prefix="hdtrace-set-id-") as name:
        home = Path(name)
        home.chmod(0o755)
        (home / "own").mkdir()
        os.chown(home / "own", NOBODY, NOBODY)
        yield home


def run_as_nobody(*command, home, **env):
    environment = {**os.environ, **OPEN_MPI, "HOME": str(home), "TMPDIR": "/tmp", **env}
    environment.pop("OMPI_MCA_orte_tmpdir_base", None)  # which only root can enter
    result = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *map(str, command)], cwd=home / "own",
                            env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0, result
    return result


def files(directory):
    return {path.name for path in directory.rglob("*")}


@pytest.mark.parametrize("mode", [0o4755, 0o2755], ids=oct)
def test_a_program_with_the_rights_of_another_user_is_not_traced(program, home, mode):
    program.chmod(mode)
    result = run_as_nobody(program, home=home, HDTRACE_DIRECTORY=str(home / "roots"), HDTRACE_VERBOSITY="3")
    assert (result.stdout, result.stderr) == ("secure 1, own trace: Operation not permitted\n", "")
    assert files(home) == {"own"}


def test_the_same_program_without_them_is_traced(program, home):
    program.chmod(0o755)
    result = run_as_nobody(program, home=home, HDTRACE_DIRECTORY=str(home / "own"), HDTRACE_NAME="mpi")
    assert (result.stdout, result.stderr) == ("secure 0, own trace: made\n", "")
    assert {name.split("_")[0] for name in files(home / "own")} == {"mpi", "own"}
