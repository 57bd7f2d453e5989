"""project-merger-mpi writes and says the same as project-merger, however many processes it has."""

import json
import os
import pathlib
import subprocess

import pytest

import many_processes
from compiled import C, Library
from conftest import MERGER, SOURCE, snapshot

BUILD = pathlib.Path(os.environ["TESTED_BUILD"])
LAUNCHER = json.loads((BUILD / "tests/mpi/settings.json").read_text())["mpiexec"]
RANKS = [1, 2, 3]


def merge(folder, *arguments, ranks):
    command = [SOURCE / "scripts/mpirun", "-n", str(ranks), MERGER + "-mpi", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "MPIEXEC": LAUNCHER}, capture_output=True, text=True, check=False
    )


def messages(result):
    """Without what the launcher of a failed program says."""
    return [line for line in result.stderr.splitlines() if "error: " in line or "warning: " in line]


@pytest.mark.parametrize("ranks", RANKS)
def test_writes_the_same_bytes(run, ranks):
    many_processes.write_processes(500, run.folder, with_traces=True)
    expected = run.merge_cleanly().output.read_bytes()
    result = merge(run.folder, "-o", "app.proj", "--overwrite", "app", ranks=ranks)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (run.folder / "app.proj").read_bytes() == expected


@pytest.mark.parametrize("ranks", RANKS)
def test_call_sites(run, ranks):
    run.process(0, "Object id=0 path='/a' buildId='ab'\nSite id=0 frames='0+1;-1+2;'\nSite id=1 frames='0+3;'\nSource id=0 path='a.py' function='f' line=3\nSite id=2 frames='s0;'\n", size=2)
    run.process(1, "Object id=0 path='/b'\nObject id=1 path='/a' buildId='ab'\nSite id=0 frames='1+3;'\nSite id=1 frames='0+1;'\n", size=2)
    expected = run.merge("app")
    assert expected.code == 0 and len(expected.warnings) == 2  # these files are not there
    result = merge(run.folder, "-o", "app.proj", "--overwrite", "app", ranks=ranks)
    assert (result.returncode, messages(result)) == (0, expected.warnings)
    assert (run.folder / "app.proj").read_bytes() == expected.output.read_bytes()


@pytest.mark.parametrize("ranks", RANKS)
def test_variables(run, tmp_path, ranks):
    """The wish for them comes from a process that another one may read."""
    library = Library(tmp_path, C + "double table[500];\n", options=("-g", "-O0"))
    run.process(0, library.described(), size=3)
    run.process(1, library.described(), size=3)
    run.process(2, "Setting name='HDTRACE_FOR_CHECK' value='1' from='environment'\n" + library.described(), size=3)
    expected = run.merge_cleanly()
    assert len(expected.project.findall("CallSiteList//Variable")) == 2
    result = merge(run.folder, "-o", "app.proj", "--overwrite", "app", ranks=ranks)
    assert (result.returncode, messages(result)) == (0, [])
    assert (run.folder / "app.proj").read_bytes() == expected.output.read_bytes()


@pytest.mark.parametrize("ranks", RANKS)
def test_runs(run, ranks):
    for rank in range(4):
        run.process(rank, f"Command line='a {rank // 2}'\nVariable name='OMP_KEY' hidden=1\nCpuTime time=1 user=2 system=3\n"
                    "Thread number=0 tid=7 begin=1\nThread number=0 tid=7 begin=1 end=2 name='x'\nEnd thread=0\n", size=4, keys="pid=1 program='/a'")
    expected = run.merge_cleanly()
    assert len(expected.project.find("Run").findall("Process")) == 4
    assert merge(run.folder, "-o", "app.proj", "--overwrite", "app", ranks=ranks).returncode == 0
    assert (run.folder / "app.proj").read_bytes() == expected.output.read_bytes()


def write_troubled_processes(run):
    """Something to warn about in many ways."""
    everything = (
        "Thread number=1\n"
        'File name="/f\\x01" Size=5 id=0 time=1.5 device=1 inode=2 birth=0.5\n'
        "Comm map='0..1->0..1;' id=0 name='WORLD' uid='W'\n"
        "Comm map='0->0;' id=1 remote='1->0;-4->1;' uid='I'\n"
        "Win id=0 cid=0 uid='W/w1' size=8 dispUnit=1\nWinName id=0 name='box'\nCommName id=0 name='x'\nTypeName id=9 name='x'\n"
        "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
        "Type id='1' combiner='MPI_COMBINER_STRUCT' integers='1;2;' addresses='4;' types='0;' size=8 lb=4 extent=8\n"
        "Unknown\nEnd thread=0 dropped=3\nThre"
    )
    run.process(0, everything, "<Barrier cid='7' time='0.1' end='0.2' />\n", size=3, keys="world='W' pid=1")
    run.info(1, everything.replace("0->0;' id=1 remote='1->0;", "1->0;-4->1;' id=1 remote='0->0;").replace("-4->1;' uid", "' uid"),
             size=3, keys="world='W'")
    run.trace(1, "<Broken", end="</Program>\n")
    run.process(2, "", "", header=False)
    run.info(2, "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT'\n", header=False, thread=1)


@pytest.mark.parametrize("ranks", RANKS)
def test_says_the_same(run, ranks):
    write_troubled_processes(run)
    expected = run.merge("app", "--no-repair")
    assert expected.code == 0 and len(expected.warnings) > 8
    result = merge(run.folder, "-o", "app.proj", "--overwrite", "--no-repair", "app", ranks=ranks)
    assert (result.returncode, messages(result)) == (0, expected.warnings)
    assert (run.folder / "app.proj").read_bytes() == expected.output.read_bytes()


@pytest.mark.parametrize("ranks", RANKS)
def test_closes_cut_off_traces(run, ranks):
    for rank in range(5):
        run.info(rank, size=5)
        run.trace(rank, end="")
    result = merge(run.folder, "-o", "app.proj", "app", ranks=ranks)
    assert (result.returncode, len(messages(result))) == (0, 5)
    run.merge_cleanly("app", "--overwrite")


@pytest.mark.parametrize("ranks", RANKS)
def test_reports_errors(run, ranks):
    for rank in range(200):
        run.process(rank, "File name='/f'\n" if rank % 50 == 7 else "", size=200)
    expected = run.fail().splitlines()
    before = snapshot(run.folder)
    result = merge(run.folder, "-o", "app.proj", "app", ranks=ranks)
    assert (result.returncode, messages(result)) == (1, expected)
    assert len(expected) == 5 and snapshot(run.folder) == before


@pytest.mark.parametrize("arguments, code", [(["--help"], 0), (["--version"], 0), (["--unknown"], 2)])
def test_ends_early(tmp_path, arguments, code):
    result = merge(tmp_path, *arguments, ranks=2)
    assert result.returncode == code
    assert (result.stdout + result.stderr).count("project-merger") > 0


@pytest.mark.parametrize("ranks", RANKS)
def test_several_worlds(run, ranks):
    for base, uid, sides in (("app", "W", "first"), ("app-world2", "W2", "second")):
        for rank in range(3):
            run.process(rank, f"Comm map='0..2->0..2;' id=0 name='x' uid='W/1@children' remote='-7..-5->0..2;' side='{sides}'\n", base=base,
                        size=3, keys=f"world='{uid}'")
    expected = run.merge_cleanly(".").output.read_bytes()
    result = merge(run.folder, "-o", "app.proj", "--overwrite", ".", ranks=ranks)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (run.folder / "app.proj").read_bytes() == expected
    assert expected.count(b"<Foreign ") == 2
