"""Compressed and compact traces hold what others hold, also when the process dies, and every tool takes them."""
import gzip
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import hdtrace
import pytest
from support.calls import ThreadTrace, show
from support.runs import BUILD, LAUNCHER, MERGER, SETTINGS, SOURCE, TIMEOUT, program

# The settings and what the names of traces end with.
FORMS = {
    "none": ({"HDTRACE_FORM": "xml", "HDTRACE_COMPRESS": "none"}, ".trc"),
    "gzip": ({"HDTRACE_FORM": "xml", "HDTRACE_COMPRESS": "gzip"}, ".trc.gz"),
    "zstd": ({"HDTRACE_FORM": "xml", "HDTRACE_COMPRESS": "zstd"}, ".trc.zst"),
    "compact": ({"HDTRACE_FORM": "compact"}, ".trc.compact"),
    "compact-zstd": ({"HDTRACE_FORM": "compact", "HDTRACE_COMPRESS": "zstd"}, ".trc.compact"),
}
ROUNDS = 3000
CALLS = 5 * ROUNDS
methods = pytest.mark.parametrize("method", ["gzip", "zstd", "compact", "compact-zstd"])


def show_without_wtime(state):
    """What a state is in any run: each run begins at another time."""
    return re.sub(r" wtime='[^']*'", "", show(state))


class Traced:
    """A run of a program with one method, with buffers so small that there are several blocks."""

    def __init__(self, directory, method, name, *args, ranks=1, **env):
        settings, self.suffix = FORMS[method]
        self.folder = directory / "trace"
        environment = {**os.environ, "MPIEXEC": SETTINGS["mpiexec"], "HDTRACE_DIRECTORY": str(self.folder),
                       "HDTRACE_BUFFER_SIZE": "64K", **settings, **env}
        command = [SOURCE / "scripts/mpirun", "-n", ranks, LAUNCHER, program(name), *args]
        self.result = subprocess.run(list(map(str, command)), cwd=directory, env=environment, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True)

    @property
    def paths(self):
        return sorted(self.folder.glob(f"*{self.suffix}"))

    def calls(self, rank=0):
        """Without times and the folder."""
        return [show_without_wtime(state).replace(str(self.folder.parent), "") for state in hdtrace.read_trace(self.paths[rank])]

    def merge(self):
        """What project-merger warns of, and the project."""
        project = self.folder / (self.paths[0].name.split("_")[0] + ".proj")
        result = subprocess.run([MERGER, "-o", project, *self.folder.glob("*.info")], capture_output=True, text=True, timeout=TIMEOUT)
        assert (result.returncode, result.stdout) == (0, "")
        return result.stderr, project


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that ended well; each kind runs once."""
    known = {}

    def run_once(method, name, *args, **options):
        key = (method, name, *args, *sorted(options.items()))
        if key not in known:
            known[key] = Traced(tmp_path_factory.mktemp(f"{name}-{method}-"), method, name, *args, **options)
            assert (known[key].result.returncode, known[key].result.stderr) == (0, "")
        return known[key]

    return run_once


def text_of(path):
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()


@methods
@pytest.mark.parametrize("name, args, env", [("many_calls", (0, ROUNDS), {}), ("vector_collectives", (), {}),
                                             ("io_explicit", (), {"HDTRACE_TIME_DIGITS": "6"})])
def test_holds_the_same_calls(run, method, name, args, env):
    plain, compressed = (run(each, name, *args, ranks=2, **env) for each in ("none", method))
    assert [path.name.split(".trc")[0] for path in compressed.paths] == [path.name.split(".trc")[0] for path in plain.paths]
    for rank in range(2):
        assert compressed.calls(rank) == plain.calls(rank)
        few_calls = 2000 # bytes, of which records are not smaller
        assert compressed.paths[rank].stat().st_size < max(plain.paths[rank].stat().st_size, few_calls)


@methods
def test_no_other_form_stays(run, method):
    traced = run(method, "many_calls", 0, ROUNDS, ranks=2)
    assert {path.suffix for path in traced.folder.iterdir()} - {".proj"} == {".info", Path(traced.suffix).suffix}


@methods
@pytest.mark.parametrize("killer", [signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT], ids=lambda killer: killer.name)
def test_death_loses_nothing(tmp_path, method, killer):
    died = Traced(tmp_path, method, "many_calls", int(killer), ROUNDS)
    assert died.result.returncode != 0
    hdtrace.validate(died.paths[0])
    assert sum(not call.startswith("<Init") for call in died.calls()) == CALLS


@methods
@pytest.mark.parametrize("at_once", [False, True])
def test_a_killed_process_leaves_a_whole_trace(tmp_path, method, at_once):
    rounds = 100 if at_once else ROUNDS
    died = Traced(tmp_path, method, "many_calls", int(signal.SIGKILL), rounds, HDTRACE_FORCE_FLUSH=str(int(at_once)))
    assert died.result.returncode != 0
    hdtrace.validate(died.paths[0])
    calls = sum(not call.startswith("<Init") for call in died.calls())
    assert calls == 5 * rounds if at_once else 0 < calls <= 5 * rounds


@methods
def test_tools_take_it(run, method):
    traced = run(method, "many_calls", 0, ROUNDS, ranks=2)
    warnings, project = traced.merge()
    assert warnings == ""
    assert all(len(ThreadTrace(hdtrace.read_trace(path), 0)) > CALLS for path in traced.paths)
    # By the names that a project gives them.
    assert all(sum(1 for _ in hdtrace.read_trace(str(path).removesuffix(path.suffix))) > CALLS for path in traced.paths)
    assert sum(1 for _ in hdtrace.open(project).calls(name="Sendrecv")) == 2 * ROUNDS


def test_a_method_that_is_not_known(tmp_path):
    traced = Traced(tmp_path, "none", "many_calls", 0, 1, HDTRACE_COMPRESS="lzma")
    assert traced.result.stderr == "hdtrace-run: HDTRACE_COMPRESS='lzma' is ignored: expected none, zstd or gzip\n"
    assert len(list(traced.folder.glob("*.trc"))) == 1


@methods
def test_traces_can_be_merged_without_info(run, method, tmp_path):
    trace = shutil.copy(run(method, "many_calls", 0, ROUNDS, ranks=2).paths[1], tmp_path)
    result = subprocess.run([MERGER, "-o", tmp_path / "x.proj", trace], capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and 'Node name="1"' in (tmp_path / "x.proj").read_text()


@methods
@pytest.mark.parametrize("share", [0.001, 0.3, 0.7, 1])
def test_the_merger_closes_what_was_cut_off(run, method, tmp_path, share):
    traced = run(method, "many_calls", 0, ROUNDS, ranks=2)
    folder = shutil.copytree(traced.folder, tmp_path / "trace")
    cut = folder / traced.paths[0].name
    before = cut.read_bytes()[:max(int(cut.stat().st_size * share) - 20, 7)]
    cut.write_bytes(before)
    known = list(hdtrace.read_trace(cut, allow_incomplete=True))
    result = subprocess.run([MERGER, "-o", folder / "many.proj", *folder.glob("*.info")], capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0
    assert f"{cut}: warning: the trace is cut off after {len(known)} states" in result.stderr
    assert f"it was closed, the original is kept as {cut}.orig" in result.stderr
    assert Path(f"{cut}.orig").read_bytes() == before
    hdtrace.validate(cut)
    assert list(map(show_without_wtime, hdtrace.read_trace(cut))) == list(map(show_without_wtime, known)) == traced.calls()[:len(known)]


def test_gzip_opens_elsewhere(run):
    path = run("gzip", "many_calls", 0, ROUNDS, ranks=2).paths[0]
    assert text_of(path).endswith("</Program>\n")
    decompressed = subprocess.run(["zcat", path], capture_output=True, check=True).stdout
    subprocess.run(["xmllint", "--noout", "-"], input=decompressed, check=True)


def test_records_are_compressed_with_zstd_only(tmp_path):
    traced = Traced(tmp_path, "compact", "many_calls", 0, 1, HDTRACE_COMPRESS="gzip", HDTRACE_VERBOSITY="1")
    assert "HDTRACE_COMPRESS='gzip' is ignored: a compact trace can be compressed with zstd only\n" in traced.result.stderr
    assert len(traced.calls()) > 5


def test_an_empty_value_counts_as_none(tmp_path):
    traced = Traced(tmp_path, "none", "many_calls", 0, 1, HDTRACE_COMPRESS="")
    assert traced.result.stderr == "" and len(traced.paths) == 1


@pytest.mark.parametrize("method", ["compact", "compact-zstd"])
def test_records_become_text(run, method, tmp_path):
    traced = run(method, "many_calls", 0, ROUNDS, ranks=2)
    folder = shutil.copytree(traced.folder, tmp_path / "trace")
    for action, endings in ("compress", {traced.suffix}), ("uncompress", {".trc"}):
        subprocess.run([BUILD / "bin/hdtrace", action, folder], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        assert {path.name[path.name.index(".trc"):] for path in folder.glob("*.trc*")} == endings
    for path, before in zip(sorted(folder.glob("*.trc")), traced.paths, strict=True):
        subprocess.run(["xmllint", "--noout", path], check=True)
        assert list(map(show, hdtrace.read_trace(path))) == list(map(show, hdtrace.read_trace(before)))


@pytest.mark.parametrize("method", ["compact", "compact-zstd"])
def test_records_go_where_the_project_goes(run, method, tmp_path):
    folder = shutil.copytree(run(method, "many_calls", 0, ROUNDS, ranks=2).folder, tmp_path / "trace")
    moved = tmp_path / "moved"
    for arguments in ("mv", folder, moved), ("rm", moved):
        subprocess.run([BUILD / "bin/hdtrace", *arguments], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
    assert not list(tmp_path.rglob("*.trc*"))
