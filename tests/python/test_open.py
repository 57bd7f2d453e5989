"""A run is opened as a person has it: merged or not."""
import os
import re
import shutil
import subprocess
import warnings

import hdtrace
import pytest
from support.runs import BUILD, merge, run_with_tracer

COMMANDS = [["info"], ["stats"], ["dump"], ["check"]]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A merged run."""
    run = run_with_tracer("persistent", 2, tmp_path_factory.mktemp("open"))
    return run.project and next(run.trace_directory.glob("*.proj"))


@pytest.fixture
def folder(project, tmp_path):
    """The run before it was merged."""
    return shutil.copytree(project.parent, tmp_path / "run", ignore=shutil.ignore_patterns("*.proj"))


def hdtrace_command(*words):
    return subprocess.run([BUILD / "bin/hdtrace", *words], capture_output=True, text=True, timeout=60)


def contents(folder):
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def ways(folder):
    infos = sorted(folder.glob("*.info"))
    base = infos[0].name.split("_")[0]
    return {"folder": [folder], "infos": infos, "traces": sorted(folder.glob("*.trc")), "program": [folder / base]}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("way", ["folder", "infos", "traces", "program"])
def test_what_is_not_merged_is_as_if_it_were(project, folder, way, command):
    before = contents(folder)
    merged, unmerged = hdtrace_command(*command, project), hdtrace_command(*command, *ways(folder)[way])
    assert (unmerged.returncode, unmerged.stderr) == (merged.returncode, merged.stderr)
    assert unmerged.stdout.replace(str(folder), str(project.parent)) == merged.stdout
    assert contents(folder) == before


def test_one_trace_is_its_process(folder):
    trace = next(folder.glob("*_1_0.trc"))
    with pytest.warns(hdtrace.MergeWarning, match="no files were given of rank 0"):
        opened = hdtrace.open(trace)
    assert [call.rank for call in opened.calls()] == [1] * len(hdtrace.read_trace(trace))


def test_converters_take_it_too(folder, tmp_path):
    result = subprocess.run([BUILD / "bin/hdtrace-convert", "--to", "tit", "-o", tmp_path / "replay", folder], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(list((tmp_path / "replay").glob("rank-*.txt"))) == 2


def test_repair_takes_a_folder(folder):
    trace = next(folder.glob("*_1_0.trc"))
    trace.write_bytes(trace.read_bytes().removesuffix(b"</Program>\n"))
    assert hdtrace_command("repair", folder).returncode == 0
    assert trace.read_bytes().endswith(b"</Program>\n")


def described(folder, text):
    """Merges with a description."""
    subprocess.run([BUILD / "bin/project-merger", "--description", text, "-o", folder / "own.proj", folder], check=True, capture_output=True)
    return folder / "own.proj"


def test_the_project_of_a_folder(folder):
    described(folder, "made by hand")
    assert hdtrace.open(folder).description == "made by hand"


def test_a_copy_whose_files_have_other_times(folder):
    os.utime(described(folder, "made by hand"), ns=(1, 1))
    assert hdtrace.open(folder).description == "made by hand"
    result = hdtrace_command("info", folder)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_project_that_is_older_than_the_traces(folder):
    old = described(folder, "of another run")
    os.utime(old, ns=(1, 1))
    info = next(folder.glob("*_1_0.info"))
    info.write_text(re.sub(" pid=[0-9]+", " pid=4711", info.read_text()))
    with pytest.warns(hdtrace.MergeWarning, match="own.proj: this is older than the traces beside it"):
        assert hdtrace.open(folder).description == ""
    result = hdtrace_command("info", folder)
    assert result.returncode == 0
    assert result.stderr == f"hdtrace: {old}: this is older than the traces beside it, which are merged anew\n"


def test_several_projects(folder):
    shutil.copy(described(folder, "one"), folder / "other.proj")
    with pytest.raises(ValueError, match=r"here are 2 projects: name one, such as .*\.proj"):
        hdtrace.open(folder)


def test_two_runs(folder):
    for path in sorted(folder.glob("*_0_0.*")):
        shutil.copy(path, folder / f"other_{path.name.split('_', 1)[1]}")
    with pytest.raises(ValueError, match="rank 0 is also in .*name only the files of one run"):
        hdtrace.open(folder)


@pytest.mark.parametrize("name, error, text", [
    ("nothing.proj", FileNotFoundError, "nothing.proj"), ("a_h_0_0.info", FileNotFoundError, "a_h_0_0.info"),
    ("a_h_0_0.trc", FileNotFoundError, "a_h_0_0.trc"), ("nothing", ValueError, r"there is no .*nothing_\*.info"),
    (".", ValueError, "there is no .info and no .trc in this directory")])
def test_what_is_not_there(tmp_path, name, error, text):
    with pytest.raises(error, match=text):
        hdtrace.open(tmp_path / name)


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01", b"rank,calls\n0,1\n", b"{}"], ids=["program", "table", "JSON"])
def test_a_file_of_another_kind(tmp_path, content):
    other = tmp_path / "other"
    other.write_bytes(content)
    result = hdtrace_command("stats", other)
    assert result.returncode == 1
    assert result.stderr == f"hdtrace: {other}: neither a project nor a trace: name a .proj file, a folder, or .info and .trc files\n"


def test_warnings_are_told_once(folder):
    next(folder.glob("*_1_0.trc")).unlink()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hdtrace.open(folder)
    assert len(told) == 1 and told[0].category is hdtrace.MergeWarning
