"""Processes are converted on all cores; what comes out is the same as on one."""
import subprocess

import pytest
from conversions import CONVERT, project_of

ONE_CORE = ["taskset", "-c", "0"]


def files_of(project, to, output, before=()):
    """{name: its bytes}, and what the tool said. The output is removed."""
    result = subprocess.run([*before, CONVERT, "--to", to, "-o", output, project], capture_output=True, text=True, check=True)
    files = {path.relative_to(output): path.read_bytes() for path in output.rglob("*") if path.is_file()}
    for path in files:
        (output / path).unlink()
    output.rmdir()
    return files, result.stdout


@pytest.mark.parametrize("program", ["topologies", "nonblocking_collectives", "threads"])
def test_a_replay(traced, tmp_path, program):
    project = project_of(traced(program, 4))
    assert files_of(project, "tit", tmp_path / "x") == files_of(project, "tit", tmp_path / "x", ONE_CORE)
