"""Processes are converted on all cores; what comes out is the same as on one."""
import shutil
import subprocess
from pathlib import Path

import pytest
from conversions import CONVERT, call, project_of

ONE_CORE = ["taskset", "-c", "0"]


def files_of(project, to, output, before=()):
    """{name: its bytes}, and what the tool said. The output is removed."""
    result = subprocess.run([*before, CONVERT, "--to", to, "-o", output, project], capture_output=True, text=True, check=True)
    files = {path.relative_to(output): path.read_bytes() for path in output.rglob("*") if path.is_file()}
    shutil.rmtree(output)
    return files, result.stdout


@pytest.mark.parametrize("to", ["tit", "dumpi"])
@pytest.mark.parametrize("program", ["topologies", "nonblocking_collectives", "threads"])
def test_files_of_processes(traced, tmp_path, program, to):
    project = project_of(traced(program, 4))
    assert files_of(project, to, tmp_path / "x") == files_of(project, to, tmp_path / "x", ONE_CORE)


@pytest.mark.parametrize("program", ["regions", "windows", "io_nonblocking"])
def test_an_archive(traced, tmp_path, program):
    project = project_of(traced(program, 4))
    archives = [files_of(project, "otf2", tmp_path / "x", before) for before in ([], ONE_CORE)]
    for files, _ in archives:
        del files[Path("traces.otf2")]  # it has a number of its own
    assert archives[0] == archives[1]


BACK_IN_TIME = "<Barrier cid='0' time='2' end='3' />\n<Barrier cid='0' time='1' end='1.5' />\n"


def test_of_several_that_cannot_be_converted_the_first_one_is_told(run, tmp_path):
    for rank in range(4):
        run.process(rank, "Comm map='0->0;1->1;2->2;3->3;' id=0 name='WORLD' uid='W'\n", BACK_IN_TIME if rank else "", size=4)
    run.merge("app")
    result = call("--to", "otf2", "-o", tmp_path / "x", tmp_path / "app.proj")
    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert "node01_1_0.trc" in result.stderr
