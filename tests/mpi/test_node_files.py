"""With HDTRACE_FILES=node all processes of a host write to one file, in which every tool finds what each would have had for itself."""
import fcntl
import json
import os
import re
import signal
import subprocess
import time

import hdtrace
import pytest
from hdtrace.live import LiveRun, unfinished_processes
from support.calls import show
from support.runs import BUILD, LAUNCHER, SETTINGS, SOURCE, TIMEOUT, program

HDTRACE = BUILD / "bin/hdtrace"
FORMS = {"xml": {}, "compact": {"HDTRACE_FORM": "compact"}, "zstd": {"HDTRACE_COMPRESS": "zstd"}}
forms = pytest.mark.parametrize("form", FORMS)
ROUNDS = 1000


def start(folder, name, *args, ranks=2, files="node", **env):
    environment = {**os.environ, "MPIEXEC": SETTINGS["mpiexec"], "HDTRACE_DIRECTORY": str(folder), "HDTRACE_BUFFER_SIZE": "64K", "HDTRACE_FILES": files, **env}
    command = [SOURCE / "scripts/mpirun", "-n", ranks, LAUNCHER, program(name), *args]
    folder.parent.mkdir(exist_ok=True)
    return subprocess.Popen(list(map(str, command)), cwd=folder.parent, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def record(folder, name, *args, expected=0, **options):
    with start(folder, name, *args, **options) as child:
        _, errors = child.communicate(timeout=TIMEOUT)
    assert expected is None or (child.returncode, errors) == (expected, "")
    return folder


def tool(*arguments):
    return subprocess.run([HDTRACE, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def calls_of(paths):
    """What is the same in each run."""
    return [[re.sub(r" (wtime|name)='[^']*'", "", show(state)) for state in hdtrace.read_trace(path)] for path in paths]


def trace_paths(folder):
    return [thread.path for thread in hdtrace.open(folder).threads]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    known = {}

    def run_once(files, form):
        if (files, form) not in known:
            known[files, form] = record(tmp_path_factory.mktemp("run") / "trace", "many_calls", 0, ROUNDS, files=files, **FORMS[form])
        return known[files, form]

    return run_once


def copy_of(folder, tmp_path):
    copy = tmp_path / "trace"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


@forms
def test_holds_the_same_in_one_file(run, form):
    alone, together = run("process", form), run("node", form)
    assert len(names_in(together)) == 1 and names_in(together)[0].endswith(".node")
    assert calls_of(trace_paths(together)) == calls_of(trace_paths(alone))
    size = sum(path.stat().st_size for path in alone.iterdir())
    assert sum(path.stat().st_size for path in together.iterdir()) < 1.1 * size + 2 * 128 * 1024 # heads, and room for what changes


@forms
def test_all_that_is_read_is_read_in_it(run, form, tmp_path):
    folder = copy_of(run("node", form), tmp_path)
    node_file = folder / names_in(folder)[0]
    for command in ("stats", "check", "analyze", "info", "dump"):
        by_folder, by_file = (tool(command, path) for path in (folder, node_file))
        assert (by_folder.returncode, by_folder.stdout) == (by_file.returncode, by_file.stdout) == (0, by_folder.stdout), by_folder.stderr
    merged = tool("merge", "-o", folder / "many_calls.proj", folder)
    assert (merged.returncode, merged.stderr) == (0, "")
    assert len(list(hdtrace.open(folder / "many_calls.proj").calls(name="Sendrecv"))) == 2 * ROUNDS
    middle = list(hdtrace.open(folder).calls(rank=1))[2 * ROUNDS]
    found = next(iter(hdtrace.open(folder).calls(rank=1, interval=(middle.time, None))))
    assert found.end >= middle.time
    assert tool("index", folder).returncode == 0 and any(name.endswith(".index") for name in names_in(folder))


@forms
def test_it_becomes_files_of_each_process(run, form, tmp_path):
    folder = copy_of(run("node", form), tmp_path)
    before = calls_of(trace_paths(folder))
    for refused in tool("pack", folder), tool("compress" if form == "xml" else "uncompress", folder):
        assert refused.returncode != 0 and "hdtrace split" in refused.stderr
    assert len(names_in(folder)) == 1
    assert tool("split", folder).returncode == 0
    endings = {"xml": ".trc", "compact": ".trc.compact", "zstd": ".trc.zst"}
    assert {name[name.index("."):] for name in names_in(folder)} == {".info", endings[form]} and len(names_in(folder)) == 4
    assert calls_of(trace_paths(folder)) == before
    if form == "xml":
        subprocess.run(["xmllint", "--noout", *folder.glob("*.trc")], check=True)
    assert "nothing to do" in tool("split", folder).stdout


def test_it_goes_where_the_project_goes(run, tmp_path):
    folder = copy_of(run("node", "xml"), tmp_path)
    tool("merge", "-o", folder / "many_calls.proj", folder)
    moved = tool("mv", folder / "many_calls.proj", tmp_path / "other.proj")
    assert (moved.returncode, moved.stderr) == (0, "")
    assert {path.suffix for path in tmp_path.iterdir() if path.is_file()} == {".proj", ".node"}
    assert not folder.exists()
    assert len(list(hdtrace.open(tmp_path / "other.proj").calls(name="Sendrecv"))) == 2 * ROUNDS
    assert tool("rm", tmp_path / "other.proj").returncode == 0
    assert not tmp_path.exists()


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
@forms
@pytest.mark.parametrize("killer", [signal.SIGTERM, signal.SIGKILL], ids=lambda killer: killer.name)
def test_death_loses_no_more_than_alone(tmp_path, form, killer):
    record(tmp_path / "trace", "many_calls", int(killer), ROUNDS, ranks=1, expected=None, HDTRACE_FORCE_FLUSH="1", **FORMS[form])
    [path] = trace_paths(tmp_path / "trace")
    calls = [state for state in hdtrace.read_trace(path, allow_incomplete=True) if state.name != "Init"]
    assert len(calls) == 5 * ROUNDS
    hdtrace.validate(path)
    assert "cut-off" not in tool("check", tmp_path / "trace").stdout


def test_another_run_takes_its_place(tmp_path):
    folder = tmp_path / "trace"
    record(folder, "many_calls", 0, 10, ranks=3, files="process")
    record(folder, "many_calls", 0, 20, ranks=2)
    assert not any(name.endswith(("_0_0.trc", "_1_0.trc", "_0_0.info")) for name in names_in(folder))
    record(folder, "many_calls", 0, 30, ranks=2)
    [node_file] = folder.glob("*.node")
    assert len(list(hdtrace.open(node_file).calls(name="Sendrecv"))) == 2 * 30


def test_runs_at_the_same_time_have_files_of_their_own(tmp_path):
    folder = tmp_path / "trace"
    first = start(folder, "many_calls", 0, 3_000_000)  # until it is killed
    latest = time.monotonic() + TIMEOUT
    while not unfinished_processes(folder) and first.poll() is None and time.monotonic() < latest:
        time.sleep(0.01)
    with start(folder, "many_calls", 0, 10) as second:
        _, errors = second.communicate(timeout=TIMEOUT)
    assert second.returncode == 0 and "a program of the same name" in errors
    first.kill()
    first.communicate()
    while unfinished_processes(folder) and time.monotonic() < latest:
        time.sleep(0.01)
    names = names_in(folder)
    assert len(names) == 2 and any(name.startswith("many-calls-2_") for name in names), names
    other = next(path for path in folder.iterdir() if path.name.startswith("many-calls-2_"))
    assert len(list(hdtrace.open(other).calls(name="Sendrecv"))) == 2 * 10


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
def test_a_run_is_seen_while_it_lasts(tmp_path):
    folder = tmp_path / "trace"
    with start(folder, "many_calls", 0, 1_000_000, HDTRACE_FLUSH_SECONDS="0.2") as child:
        latest = time.monotonic() + TIMEOUT
        seen = []
        while len(seen) < 2 and child.poll() is None and time.monotonic() < latest:
            time.sleep(0.1)
            seen = [one for one in LiveRun(folder).look() if one.call] if folder.exists() else []
        processes = unfinished_processes(folder)
        merged = tool("merge", "-o", folder / "many_calls.proj", folder)
        child.terminate()
        child.communicate(timeout=TIMEOUT)
    assert {(one.rank, one.thread) for one in seen} == {(0, 0), (1, 0)}
    assert {name for name, _ in processes} == {path.rsplit("/", 1)[-1].replace(".trc", ".info") for path in trace_paths(folder)}
    assert all(process > 0 for _, process in processes)
    assert merged.stderr.count("the process is still running") == 2 and "ended from outside" not in merged.stderr


def test_what_keeps_only_the_end_has_files_of_its_own(tmp_path):
    folder = record(tmp_path / "trace", "many_calls", 0, ROUNDS, HDTRACE_KEEP_LAST="2M")
    assert not any(name.endswith(".node") for name in names_in(folder))


def test_what_was_cut_off_is_said(run, tmp_path):
    folder = copy_of(run("node", "xml"), tmp_path)
    [node_file] = folder.iterdir()
    os.truncate(node_file, node_file.stat().st_size - 10)
    merged = tool("merge", "-o", folder / "many_calls.proj", folder)
    assert merged.returncode == 0 and f"{node_file}: warning: this ends within a piece" in merged.stderr
    assert tool("repair", folder).returncode == 1


@pytest.fixture
def project(run, tmp_path):
    """The .proj and the node file."""
    folder = copy_of(run("node", "xml"), tmp_path)
    [node_file] = folder.iterdir()
    assert tool("merge", "-o", folder / "many_calls.proj", folder).returncode == 0
    return folder / "many_calls.proj", node_file


def cut(node_file, size):
    times = node_file.stat()
    os.truncate(node_file, size)
    os.utime(node_file, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("behind", [0, 10], ids=["between pieces", "within a piece"])
def test_all_traces_in_it_are_cut_off_with_it(project, behind):
    path, node_file = project
    traces = trace_paths(path)
    data = node_file.read_bytes()
    cut(node_file, data.index(b"\xc1hdpiece", len(data) // 2) + behind)
    checked = tool("check", "--json", path)
    # What is left of a slow process may tell of a call that it was in.
    causes = [finding for finding in json.loads(checked.stdout) if not finding["because"] and finding["kind"] != "unfinished"]
    assert checked.returncode == 1 and [(one["kind"], one["file"]) for one in causes] == [("cut-off", trace) for trace in traces]
    assert "</Program> is missing: the trace was cut off" in causes[0]["text"]
    assert tool("stats", path).stderr.splitlines() == [f"hdtrace: {trace}: </Program> is missing: the trace was cut off" for trace in traces]
    split = tool("split", path)
    assert split.returncode == 1 and f"{node_file}: this was cut off" in split.stderr
    assert names_in(node_file.parent) == sorted([path.name, node_file.name])


def test_what_is_being_written_is_not_cut_off(project):
    path, node_file = project
    path.unlink()
    cut(node_file, node_file.stat().st_size - 10)
    with node_file.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2**40 + os.getpid())
        assert "</Program>" not in tool("stats", node_file.parent).stderr
    assert "</Program>" in tool("stats", node_file.parent).stderr


def test_statistics_are_in_it(tmp_path):
    folder = record(tmp_path / "trace", "many_calls", 0, ROUNDS, HDTRACE_STATISTICS_ONLY="1")
    assert [name[name.rindex("."):] for name in names_in(folder)] == [".node"]
    assert re.search(rf"^Sendrecv +{2 * ROUNDS} ", tool("stats", folder).stdout, re.MULTILINE)


def test_record_makes_a_project_of_it(tmp_path):
    command = [HDTRACE, "record", "--files", "node", "-o", tmp_path / "run", SOURCE / "scripts/mpirun", "-n", "2", program("many_calls"), "0", "10"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT, env=os.environ | {"MPIEXEC": SETTINGS["mpiexec"]})
    assert done.returncode == 0, done.stderr
    assert {path.suffix for path in (tmp_path / "run").iterdir()} == {".proj", ".node"}
