"""hdtrace doctor: on this machine as it is, and where something is broken."""
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, MPIRUN, run, run_well
from support.watchpoints import has_watchpoints

DOCTOR = [BUILD / "bin/hdtrace", "doctor"]


def findings_of(*arguments, command=DOCTOR, problems=0, **options) -> list[dict]:
    """Which --json shows, and the text the same."""
    index = arguments.index("--") if "--" in arguments else len(arguments)
    result = run(*command, *arguments[:index], "--json", *arguments[index:], **options)
    assert (result.returncode, result.stderr) == (1 if problems else 0, ""), result
    found = json.loads(result.stdout)
    assert (found["version"], found["problems"]) == (1, problems)
    assert all(bool(one["advice"]) == (one["state"] != "ok") for one in found["findings"])
    return found["findings"]


def one(findings: list[dict], section: str, text: str) -> dict:
    (found,) = [finding for finding in findings if finding["section"] == section and re.search(text, finding["text"])]
    return found


def test_a_machine_where_all_is_well(tmp_path):
    findings = findings_of("-d", tmp_path)
    assert one(findings, "MPI libraries", r"libmpi\.so\.40 is Open MPI .* has a wrapper")["state"] == "ok"
    assert one(findings, "MPI libraries", r"libmpich\.so\.12 is MPICH .* has a wrapper")["state"] == "ok"
    assert one(findings, "clock", "")["values"]["clock_ns"] > 0
    assert one(findings, "extras", "^watchpoints: ")["state"] == ("ok" if has_watchpoints() else "note")
    assert one(findings, "folder", "MB per second")["values"]["bytes_per_second"] > 0
    assert one(findings, "launcher", "no launcher was tried")["advice"].endswith("hdtrace doctor -- mpirun -n 2")
    assert list(tmp_path.iterdir()) == []


def test_the_text_has_all_findings(tmp_path):
    text = run_well(*DOCTOR, "-d", tmp_path / "new")
    lines = [line.split(None, 1) for line in text.splitlines()]
    assert [words[0] for words in lines if words[0] in ("ok", "note")]
    assert {"clock", "folder", "launcher", "limits", "extras"} <= {words[0] for words in lines if len(words) == 1}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("launcher, library", [(MPIRUN, "Open MPI"), ("mpiexec.mpich", "MPICH")])
def test_a_launcher_whose_processes_are_traced(tmp_path, launcher, library):
    findings = findings_of("-d", tmp_path, "--", launcher, "-n", "2")
    assert one(findings, "launcher", "2 process.* all traced, with " + library)["state"] == "ok"
    times = one(findings, "launcher", "recording a call costs")["values"]["call_ns"]
    assert len(times) == 2 and min(times) > 1
    assert list(tmp_path.iterdir()) == []


LAUNCHERS = {
    "traces nothing": ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "the tracer is not preloaded into 1 of 1", "pkg-config --libs hdtrace-mpi"),
    "fails": ("echo no nodes are free >&2; exit 3", "exit code 3, and no process was seen: no nodes are free", "try .* with a program of your own"),
    "writes elsewhere": ('set -- "$(dirname "$1")/hdtrace-run" -d "$ELSEWHERE" "${@:4}"; exec "$@"', "only 0 left a trace that is seen here", "--directory"),
}


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_a_launcher_that_is_no_good(tmp_path, kind):
    script, says, advice = LAUNCHERS[kind]
    launcher, folder = tmp_path / "launch", tmp_path / "folder"
    launcher.write_text(f"#!/bin/bash\n{script}\n")
    launcher.chmod(0o755)
    findings = findings_of("-d", folder, "--", launcher, problems=1, env=os.environ | {"ELSEWHERE": str(tmp_path / "elsewhere")})
    found = one(findings, "launcher", says)
    assert found["state"] == "problem" and re.search(advice, found["advice"])
    assert not folder.exists()


def test_a_launcher_that_drops_the_environment(tmp_path):
    launcher = tmp_path / "launch"
    launcher.write_text('#!/bin/sh\nexec env -i PATH="$PATH" HOME="$HOME" ' + f'{MPIRUN} -n 1 "$@"\n')
    launcher.chmod(0o755)
    findings = findings_of("-d", tmp_path, "--", launcher)
    assert one(findings, "launcher", "all traced")["state"] == "ok"
    assert one(findings, "launcher", "does not hand on the environment")["state"] == "note"


def test_a_program_is_not_run(tmp_path):
    result = run(*DOCTOR, "--", MPIRUN, "-n", "2", "touch", tmp_path / "file")
    assert result.returncode == 2 and "without a program" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for folder, says in ((tmp_path / "file/x", "Not a directory"), (tmp_path / "no/x", "No such file or directory")):
        found = one(findings_of("-d", folder, problems=1), "folder", says)
        assert found["state"] == "problem" and "--directory" in found["advice"]


def test_low_limits(tmp_path):
    limited = ["sh", "-c", 'ulimit -n 100; ulimit -f 100000; exec "$0" "$@"', *DOCTOR]
    findings = findings_of("-d", tmp_path, command=limited)
    assert "ulimit -n" in one(findings, "limits", "open files of a process: 100$")["advice"]
    assert "ulimit -f" in one(findings, "limits", "size of a file")["advice"]


@pytest.fixture
def copy(prefix, tmp_path) -> Path:
    """An installation that can be broken."""
    return Path(shutil.copytree(prefix, tmp_path / "copy", symlinks=True))


def wrappers_of(installation: Path) -> Path:
    return next(installation.rglob("libHDTraceMPIWrapper-any.so")).parent


def test_a_library_without_wrapper(copy, tmp_path):
    shutil.rmtree(wrappers_of(copy) / "libmpich.so.12")
    findings = findings_of("-d", tmp_path / "new", command=[copy / "bin/hdtrace", "doctor"], problems=1)
    found = one(findings, "MPI libraries", r"libmpich\.so\.12 .* has no wrapper")
    assert found["advice"].endswith("-DHDTRACE_MPI_COMPILERS=mpicc.mpich")


def test_a_wrapper_that_cannot_be_loaded(copy, tmp_path):
    wrappers = wrappers_of(copy)
    (wrappers / "libmpi.so.40/libHDTraceMPIWrapper.so").unlink()
    (wrappers / "libmpi.so.40/libHDTraceMPIWrapper.so").write_bytes(b"broken")
    findings = findings_of("-d", tmp_path / "new", command=[copy / "bin/hdtrace", "doctor"], problems=1)
    assert "anew" in one(findings, "MPI libraries", r"libmpi\.so\.40 .* its wrapper cannot be loaded")["advice"]


def test_an_installation_that_is_not_whole(copy, tmp_path):
    shutil.rmtree(wrappers_of(copy))
    (found,) = findings_of("-d", tmp_path, command=[copy / "bin/hdtrace", "doctor"], problems=1)
    assert "libraries are missing" in found["text"]
