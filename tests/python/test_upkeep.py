"""Projects are moved, copied and removed with all that belongs to them, and nothing else."""
import fcntl
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import hdtrace
import pytest

from projects_of_lines import HEAD, write_project
from test_calls import RECEIVER, SENDER
from test_command import COMMAND, ERROR, FINE, USAGE, run, run_well

OTHERS = {"notes.txt", "app_node01_0_0.trc.notes", "app_node01_7_0.trc", "app2_node01_0_0.trc", "report.html"}
ENDINGS = ("_node01_0_0.info", "_node01_1_0.info", "_node01_1_0.trc.1", "_node01_1_0.trc.zst.orig")


@pytest.fixture
def folder(tmp_path):
    """Has a project and what others put there."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_project(folder, SENDER, RECEIVER)
    for name in (*OTHERS, *("app" + ending for ending in ENDINGS)):
        (folder / name).write_text(name)
    (folder / "app.proj").touch()  # made when all descriptions were there
    return folder


def names(folder):
    return {path.name for path in Path(folder).iterdir()}


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def own_names(base):
    return {base + ending for ending in (".proj", "_node01_0_0.trc", "_node01_1_0.trc", *ENDINGS)}


def test_another_name(folder):
    before, sums = contents(folder), run_well("stats", folder / "app.proj")
    assert run_well("mv", folder / "app.proj", folder / "fast_run.proj") == ""
    assert names(folder) == own_names("fast_run") | OTHERS
    assert {name.replace("fast_run", "app"): text for name, text in contents(folder).items()} == before
    assert run_well("stats", folder / "fast_run.proj") == sums


@pytest.mark.parametrize("command", ["mv", "cp"])
def test_another_folder(folder, tmp_path, command):
    before, sums = contents(folder), run_well("stats", folder)
    run_well(command, folder, tmp_path / "there")
    assert contents(tmp_path / "there") == {name: before[name] for name in own_names("app")}
    assert names(folder) == (OTHERS if command == "mv" else set(before))
    assert run_well("stats", tmp_path / "there") == sums
    (tmp_path / "old").mkdir()
    run_well(command, tmp_path / "there", tmp_path / "old")  # a folder in that folder
    run_well(command, tmp_path / "old/there/app.proj", tmp_path / "old")
    assert names(tmp_path / "old") - {"there"} == own_names("app")
    assert (tmp_path / "old/there").exists() == (command == "cp")  # nothing of others was in it


def test_copies_are_copies(folder, tmp_path):
    run_well("cp", folder, tmp_path / "there")
    for name in own_names("app"):
        old, new = (folder / name).stat(), (tmp_path / "there" / name).stat()
        assert (old.st_mtime_ns, old.st_mode, new.st_nlink) == (new.st_mtime_ns, new.st_mode, 1)


def test_nothing_is_overwritten(folder, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there/app_node01_1_0.trc").write_text("other")
    for command in ("mv", "cp"):
        refused = run(command, folder / "app.proj", tmp_path / "there")
        assert refused.returncode == ERROR and "app_node01_1_0.trc: File exists" in refused.stderr
        assert run(command, folder, folder / "app.proj").returncode == ERROR
    assert names(folder) == own_names("app") | OTHERS
    assert contents(tmp_path / "there") == {"app_node01_1_0.trc": b"other"}


@pytest.mark.parametrize("destination", ["there", "other.proj"])
def test_what_fails_leaves_the_project_where_it_was(folder, tmp_path, destination):
    with (folder / "app_node01_1_0.info").open("a") as file:
        file.write("x" * 100_000)
    (folder / "app.proj").touch()
    before = contents(folder)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    failed = subprocess.run([COMMAND, "cp", folder, tmp_path / destination], preexec_fn=limit, capture_output=True, text=True)
    assert failed.returncode == ERROR and "File too large" in failed.stderr, failed
    assert contents(folder) == before and names(tmp_path) == {"run"}


def test_to_another_file_system(folder):
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == folder.stat().st_dev:
        pytest.skip("there is no second file system")
    before = contents(folder)
    with tempfile.TemporaryDirectory(dir=memory) as there:
        run_well("mv", folder / "app.proj", there)
        assert contents(there) == {name: before[name] for name in own_names("app")}
        assert names(folder) == OTHERS


def test_projects_that_say_where_traces_are(folder, tmp_path):
    """Two programs, one of them in another folder, whose traces have the same names but for that."""
    (tmp_path / "raw").mkdir()
    (folder / "app_node01_1_0.trc").rename(tmp_path / "raw/app_node01_1_0.trc")
    files = '<WorldList><Files base="app" first="0" last="0"/><Files base="app" directory="../raw" first="1" last="1"/></WorldList>'
    text = (folder / "app.proj").read_text()
    (folder / "app.proj").write_text(text.replace("</Topology>", "</Topology>" + files))
    sums = run_well("stats", folder / "app.proj")
    refused = run("mv", folder / "app.proj", tmp_path / "there")
    assert refused.returncode == USAGE and str(tmp_path / "raw") in refused.stderr and "--elsewhere" in refused.stderr
    run_well("cp", folder / "app.proj", tmp_path / "copy")
    run_well("mv", "--elsewhere", folder / "app.proj", folder / "new.proj")
    assert names(tmp_path) == {"copy", "run"}  # nothing was left in the other one
    for project in (tmp_path / "copy", folder / "new.proj"):
        assert run_well("stats", project) == sums
        hdtrace.validate(next(Path(project).glob("*.proj")) if project.is_dir() else project)
    assert {"app_node01_0_0.trc", "app-2_node01_1_0.trc"} <= names(tmp_path / "copy")
    assert {"new_node01_0_0.trc", "new-2_node01_1_0.trc"} <= names(folder) or {"new_node01_0_0.trc", "new-app_node01_1_0.trc"} <= names(folder)


def test_projects_of_several_worlds(folder):
    """Names have the rank in the world."""
    (folder / "app_node01_1_0.trc").rename(folder / "worker_node01_0_0.trc")
    worlds = "".join(f'<World uid="{uid}" first="{first}" size="1"><Files base="{base}" first="{first}" last="{first}"/></World>'
                     for uid, first, base in (("W", 0, "app"), ("W2", 1, "worker")))
    text = (folder / "app.proj").read_text()
    (folder / "app.proj").write_text(text.replace("</Topology>", f"</Topology><WorldList>{worlds}</WorldList>"))
    sums = run_well("stats", "--by", "rank", folder / "app.proj")
    run_well("mv", folder / "app.proj", folder / "new.proj")
    assert {"new_node01_0_0.trc", "new-worker_node01_0_0.trc"} <= names(folder)
    assert run_well("stats", "--by", "rank", folder / "new.proj") == sums


def test_traces_that_were_not_merged(tmp_path, monkeypatch):
    (tmp_path / "raw").mkdir()
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path / "raw"))
    for rank in range(2):
        with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": rank, "Thread": 0}) as trace:
            with trace.state("Step", number=rank):
                pass
    before = names(tmp_path / "raw")
    run_well("mv", tmp_path / "raw", tmp_path / "there")
    assert names(tmp_path / "there") == before and names(tmp_path) == {"there"}
    run_well("mv", tmp_path / "there", tmp_path / "new.proj")
    assert names(tmp_path) == {name.replace("app", "new", 1) for name in before}
    assert len(list(hdtrace.open(tmp_path).calls())) == 2


def test_links(folder, tmp_path):
    (folder / "app_node01_1_0.trc").rename(tmp_path / "kept")
    (folder / "app_node01_1_0.trc").symlink_to("../kept")
    run_well("mv", folder, tmp_path / "far/away".replace("/", "-"))
    assert (tmp_path / "far-away/app_node01_1_0.trc").read_bytes() == (tmp_path / "kept").read_bytes()
    run_well("rm", tmp_path / "far-away")
    assert names(tmp_path) == {"kept", "run"}


def test_remove(folder):
    before = names(folder)
    told = run_well("rm", "--dry-run", folder)
    assert {Path(line.split("  ")[0]).name for line in told.splitlines()[:-1]} == own_names("app")
    assert told.splitlines()[-1].startswith("7 files, ") and names(folder) == before
    run_well("rm", folder)
    assert names(folder) == OTHERS
    assert run("rm", folder / "app.proj").returncode == ERROR


def test_remove_folders(folder, tmp_path):
    for name in OTHERS:
        (folder / name).unlink()
    shutil.copytree(folder, tmp_path / "second")
    shutil.copytree(folder, tmp_path / "current")
    run_well("rm", folder, tmp_path / "second")
    assert names(tmp_path) == {"current"}
    assert subprocess.run([COMMAND, "rm", "."], cwd=tmp_path / "current").returncode == FINE
    assert names(tmp_path / "current") == set()


def test_what_another_project_leads_to_stays(folder):
    (folder / "app_node01.node").touch()
    shutil.copy(folder / "app.proj", folder / "old.proj")  # its traces are found by the name of the program
    before = names(folder)
    refused = run("mv", folder / "old.proj", folder / "new.proj")
    assert refused.returncode == ERROR and "app.proj leads to this, too" in refused.stderr and names(folder) == before
    removed = run("rm", folder / "old.proj")
    assert removed.returncode == FINE and "this stays" in removed.stderr
    assert names(folder) == before - {"old.proj"}


def form_of(folder):
    return {path.name.split(".trc")[1] for path in folder.glob("*.trc*")}


@pytest.mark.parametrize("form, ending, tool", [("zstd", ".zst", "zstdcat"), ("gzip", ".gz", "zcat")])
def test_compress_and_back(tmp_path, form, ending, tool):
    """Several blocks of lines that are found by their times; a trace that was cut off, one of another tool."""
    lines = [f"<Barrier cid='0' time='{i}.000000000' end='{i}.500000000' />\n" for i in range(10_000)]
    write_project(tmp_path, "".join(lines), "".join(lines[:3]) + "<Barrier", "")
    text = (tmp_path / "app_node01_1_0.trc").read_text()
    (tmp_path / "app_node01_1_0.trc").write_text(text.removesuffix("</Program>\n"))
    (tmp_path / "app_node01_2_0.trc").write_text("<Program timeAdjustment='100'>\n<Barrier cid='0' time='1'\n end='2' /></Program>")
    before, commands = contents(tmp_path), [("stats", "--interval", "4000..4002"), ("dump", "--rank", "1,2"), ("stats",)]
    answers = [run(command, tmp_path / "app.proj", *words) for command, *words in commands]
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in before}
    told = run_well("compress", tmp_path, "--form", form)
    assert told.startswith(f"{tmp_path}/app.proj: 3 traces, ") and form_of(tmp_path) == {ending}
    for path in tmp_path.glob("*.trc*"):
        assert subprocess.run([tool, path], capture_output=True, check=True).stdout == before[path.name.removesuffix(ending)]
    for old, (command, *words) in zip(answers, commands):
        new = run(command, tmp_path / "app.proj", *words)
        assert (new.returncode, new.stdout) == (old.returncode, old.stdout)
    assert "nothing to do" in run_well("compress", tmp_path, "--form", form)
    run_well("uncompress", tmp_path / "app.proj")
    assert contents(tmp_path) == before
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in before} == times


def test_short_compact_traces_become_smaller(tmp_path, monkeypatch):
    """All their calls are behind the blocks."""
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HDTRACE_FORM", "compact")
    sizes = {}
    for name, form in ("app", "none"), ("small", "zstd"):
        monkeypatch.setenv("HDTRACE_COMPRESS", form)
        with hdtrace.TraceWriter(name, {"Hostname": "node01", "Rank": 0, "Thread": 0}) as trace:
            for number in range(50):
                with trace.state("Step", number=number % 7):
                    pass
        (path,) = tmp_path.glob(f"{name}_*.trc.compact")
        sizes[name] = path.stat().st_size
    (path,) = tmp_path.glob("app_*.info")
    before = run("dump", "--xml", path).stdout
    assert "1 trace, " in run_well("compress", path)
    (trace,) = tmp_path.glob("app_*.trc.compact")
    assert trace.stat().st_size < sizes["app"] * 0.8 and abs(trace.stat().st_size - sizes["small"]) < 50
    assert run("dump", "--xml", path).stdout == before
    assert "nothing to do" in run_well("compress", path)


@pytest.mark.parametrize("cut", [0, 1, 300], ids=["whole", "last byte missing", "last block cut off"])
def test_compact_traces_stay_compact(tmp_path, monkeypatch, cut):
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HDTRACE_FORM", "compact")
    with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": 0, "Thread": 0}) as trace:
        for number in range(50_000):
            with trace.state("Step", number=number % 7):
                pass
    (path,) = tmp_path.glob("*.trc.compact")
    recorded = path.read_bytes()
    run("merge", tmp_path)
    path.write_bytes(recorded[: len(recorded) - cut])
    commands = [("stats",), ("dump", "--xml"), ("stats", "--interval", "0.01..0.02")]
    answers = [run(command, tmp_path, *words).stdout for command, *words in commands]
    time = path.stat().st_mtime_ns
    assert "nothing to do" in run("compress", tmp_path, "--form", "gzip").stdout
    assert "1 trace, " in run("compress", tmp_path).stdout
    assert form_of(tmp_path) == {".compact"} and path.stat().st_size < len(recorded) / 2 and path.stat().st_mtime_ns == time
    assert [run(command, tmp_path, *words).stdout for command, *words in commands] == answers
    assert "nothing to do" in run("compress", tmp_path).stdout
    run("uncompress", tmp_path)
    assert form_of(tmp_path) == {""} and run("dump", tmp_path, "--xml").stdout == answers[1]


def test_compressed_traces_are_those_of_the_recorder(tmp_path, monkeypatch):
    """Heads tell the same."""
    def heads(data):
        begin = data.find(b"hdtrace1")
        while begin >= 0:
            yield data[begin + 16 : begin + 56]
            begin = data.find(b"hdtrace1", begin + 1)

    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HDTRACE_COMPRESS", "zstd")
    with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": 0, "Thread": 0}) as trace:
        for number in range(3):
            with trace.state("Step", number=number):
                pass
    (path,) = tmp_path.glob("*.trc.zst")
    recorded = path.read_bytes()
    run_well("uncompress", tmp_path)
    run_well("compress", tmp_path)
    assert list(heads(path.read_bytes())) == list(heads(recorded)) != []


@pytest.mark.parametrize("form", ["xml", "compact"])
def test_a_trace_whose_process_lives_stays(tmp_path, monkeypatch, form):
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HDTRACE_FORM", form)
    monkeypatch.setenv("HDTRACE_FORCE_FLUSH", "1")
    with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": 0, "Thread": 0}) as trace:
        for number in range(50):
            with trace.state("Step", number=number):
                pass
        before = names(tmp_path)
        refused = run("compress", tmp_path)
        assert refused.returncode == ERROR and "this is being written" in refused.stderr
        with trace.state("Last"):
            pass
    assert names(tmp_path) == before
    assert "1 trace, " in run_well("compress", tmp_path) and "Last" in run("dump", tmp_path).stdout


def test_segments_are_compressed_together(tmp_path):
    path = write_project(tmp_path, "")
    trace = tmp_path / "app_node01_0_0.trc"
    barrier = "<Barrier cid='0' time='{0}.000000000' end='{0}.500000000' />\n"
    for number, file in enumerate((trace, Path(f"{trace}.1"))):
        head = HEAD.format(rank=0).replace("thread='0'", f"thread='0' segment='{number}' before='{number}'")
        file.write_text(head + barrier.format(number) + "</Program>\n")
    before = contents(tmp_path)
    run_well("compress", path)
    assert names(tmp_path) == {"app.proj", "app_node01_0_0.trc.zst", "app_node01_0_0.trc.zst.1"}
    assert len(run_well("dump", path).splitlines()) == 2
    run_well("uncompress", path)
    assert contents(tmp_path) == before


def test_a_damaged_trace_stays(tmp_path):
    lines = [f"<Barrier cid='0' time='{i}.000000000' end='{i}.500000000' />\n" for i in range(1000)]
    path = write_project(tmp_path, "".join(lines))
    run_well("compress", path)
    (trace,) = tmp_path.glob("*.zst")
    data = bytearray(trace.read_bytes())
    data[len(data) // 2] ^= 0xFF
    trace.write_bytes(data)
    failed = run("uncompress", path)
    assert failed.returncode == ERROR and "is damaged" in failed.stderr
    assert names(tmp_path) == {"app.proj", trace.name} and trace.read_bytes() == data


@pytest.mark.parametrize("command", ["compress", "repair"])
def test_a_pipe_is_not_waited_for(tmp_path, command):
    path = write_project(tmp_path, SENDER, "")
    (tmp_path / "app_node01_0_0.trc").unlink()
    os.mkfifo(tmp_path / "app_node01_0_0.trc")
    refused = run(command, path)
    assert refused.returncode == ERROR and "app_node01_0_0.trc: this is not a regular file" in refused.stderr


@pytest.mark.parametrize("locked", ["", ".zst"], ids=["its file", "what it becomes"])
def test_two_commands_do_not_remove_each_others_files(tmp_path, locked):
    path = write_project(tmp_path, SENDER)
    text = (tmp_path / "app_node01_0_0.trc").read_bytes()
    run_well("compress", path)
    (tmp_path / "app_node01_0_0.trc").write_bytes(text)  # as while the other command removes one of both
    before = contents(tmp_path)
    with open(tmp_path / f"app_node01_0_0.trc{locked}", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = run("compress", path)
    assert refused.returncode == ERROR and "another command" in refused.stderr and contents(tmp_path) == before


def test_what_was_interrupted_is_completed(tmp_path):
    path = write_project(tmp_path, SENDER, RECEIVER)
    before = contents(tmp_path)
    run_well("compress", path)
    (tmp_path / "app_node01_0_0.trc").write_bytes(before["app_node01_0_0.trc"])  # both are there
    run_well("compress", path)
    assert form_of(tmp_path) == {".zst"}
    (tmp_path / "app_node01_0_0.trc").write_text("another trace\n")
    failed = run("compress", path)
    assert failed.returncode == ERROR and "something else" in failed.stderr
    assert (tmp_path / "app_node01_0_0.trc").read_text() == "another trace\n"
