"""hdtrace-convert as a user calls it."""
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conversions import CONVERT, call

OPEN = "<File_open cid='0' name='/data/a' flags='1' fid='0' amode='CREATE' time='1.000000000' end='1.500000000' />\n"


@pytest.fixture
def project(run, tmp_path):
    run.process(0, "File name='/data/a' Size=0 id=0 time=0.1\nComm map='0->0;' id=0 name='WORLD' uid='W'\n", OPEN, size=1)
    run.merge_cleanly()
    return tmp_path / "app.proj"


@pytest.mark.parametrize("arguments, message", [
    ([], "--to"),
    (["--to", "vampir", "-o", "x", "app.proj"], "ioplot"),
    (["--to", "ioplot", "app.proj"], "-o OUT"),
    (["--to", "ioplot", "-o", "x"], "project"),
    (["--to", "ioplot", "-o", "x", "--speed", "fast", "app.proj"], "--speed"),
    (["--to", "ioplot", "-o", "x", "--speed", "0", "app.proj"], "--speed"),
    (["--to", "tit", "-o", "x", "--speed=", "app.proj"], "the value of --speed is empty"),
    (["--unknown"], "--unknown"),
])
def test_usage_errors(tmp_path, arguments, message):
    result = call(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr and "--help" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("speed", ["0", "-1", "1e300", "1e-300", "nan", "0x10", " 1e9"])
def test_speeds_that_no_processor_has(project, tmp_path, speed):
    result = call("--to", "tit", "-o", tmp_path / "x", "--speed", speed, project)
    assert result.returncode == 2 and f"such as 2.5e9, not '{speed}'" in result.stderr and not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", ["--help", "--version"])
@pytest.mark.parametrize("redirection, reason", [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")])
def test_answers_that_cannot_be_written(option, redirection, reason):
    result = subprocess.run(["sh", "-c", f"'{CONVERT}' {option} {redirection}"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, f"hdtrace-convert: error: standard output: {reason}\n")


def test_several_projects(tmp_path):
    result = call("--to", "ioplot", "-o", "x", "a.proj", "b.proj", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "a.proj: name one project, or traces that were not merged yet" in result.stderr


def test_a_project_that_is_not_there(tmp_path):
    result = call("--to", "ioplot", "-o", "x", "missing.proj", cwd=tmp_path)
    assert result.returncode == 1 and "missing.proj: No such file" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_broken_trace_leaves_no_output(project, tmp_path):
    trace, = tmp_path.glob("*.trc")
    trace.write_text(trace.read_text().replace("<File_open", "<File_open <"))
    before = sorted(tmp_path.iterdir())
    result = call("--to", "ioplot", "-o", tmp_path / "x", project)
    assert result.returncode == 1 and f"{trace}:3" in result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_trace_that_was_cut_off_is_told(project, tmp_path):
    trace, = tmp_path.glob("*.trc")
    trace.write_text(trace.read_text().removesuffix("</Program>\n"))
    result = call("--to", "csv", "-o", tmp_path / "x", project)
    assert (result.returncode, result.stdout.splitlines()[1:]) == (0, [f"note: a trace was cut off: {trace}: </Program> is missing"])


def test_an_output_is_replaced_only_if_asked(project, tmp_path):
    (tmp_path / "x").write_text("precious")
    result = call("--to", "ioplot", "-o", tmp_path / "x", project)
    assert result.returncode == 1 and "--overwrite" in result.stderr
    assert (tmp_path / "x").read_text() == "precious"
    assert call("--to", "ioplot", "-o", tmp_path / "x", "--overwrite", project).returncode == 0
    assert (tmp_path / "x").read_text() == ""


@pytest.mark.parametrize("target", [["csv"], ["otf2"], ["tit"], ["dumpi"], ["piosimhd"], ["ioplot", "--files=all"]], ids=lambda target: target[0])
def test_a_directory_replaces_no_file_and_is_not_made_in_vain(project, tmp_path, target):
    """That the trace is broken is not found out."""
    trace, = tmp_path.glob("*.trc")
    trace.write_text(trace.read_text().replace("<File_open", "<File_open <"))
    (tmp_path / "x").write_text("precious")
    result = call("--to", *target, "-o", tmp_path / "x", "--overwrite", project)
    assert (result.returncode, result.stderr) == (1, f"hdtrace-convert: error: {tmp_path / 'x'}: File exists\n")
    assert (tmp_path / "x").read_text() == "precious"


@pytest.mark.parametrize("target, files", [("ioplot", ["x"]), ("tit", ["x", "x/replay.txt", "x/rank-0.txt"]), ("otf2", ["x", "x/traces.otf2", "x/traces/0.evt"])])
@pytest.mark.parametrize("private", ["app.proj", "app_node01_0_0.trc", None])
def test_nobody_reads_it_who_may_not_read_the_trace(project, tmp_path, target, files, private):
    for path in tmp_path.iterdir():
        path.chmod(0o600 if path.name == private else 0o644)
    assert call("--to", target, "-o", tmp_path / "x", project, umask=0o002).returncode == 0
    modes = {(tmp_path / file).stat().st_mode & 0o077 for file in files}
    assert modes == {0} if private else all(mode & 0o044 == 0o044 and not mode & 0o022 for mode in modes)


def test_the_trace_is_never_replaced(project, tmp_path):
    for path in (project, *tmp_path.glob("*.trc")):
        before = path.read_bytes()
        assert call("--to", "ioplot", "-o", path, "--overwrite", project).returncode == 1
        assert path.read_bytes() == before


def test_quiet_and_help_and_version(project, tmp_path):
    assert call("--to", "ioplot", "-o", tmp_path / "x", "--quiet", project).stdout == ""
    assert "ioplot" in call("--help").stdout
    assert call("--version").stdout.startswith("hdtrace-convert")


def begin_to_write(project, output, to, number):
    """A conversion that cannot go on, since the only trace is a pipe into which nobody writes, and that found a signal not ignored."""
    trace, = project.parent.glob("*.trc")
    text = trace.read_text()
    trace.unlink()
    os.mkfifo(trace)
    process = subprocess.Popen([CONVERT, "--to", to, "-o", output, project], stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    if to == "otf2":
        trace.write_text(text)  # it is read before anything is written
    while not any(output.parent.glob(f"{output.name}.*")):
        assert process.poll() is None
    return process


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to", ["ioplot", "otf2", "tit"])
def test_nothing_is_left_if_a_signal_ends_it(project, tmp_path, to, number):
    before = {path.name for path in tmp_path.iterdir()}
    process = begin_to_write(project, tmp_path / "x", to, number)
    process.send_signal(number)
    assert process.wait() == -number
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("to, make", [("ioplot", Path.touch), ("sqlite", Path.touch), ("tit", Path.mkdir)])
def test_what_appears_meanwhile_is_not_replaced(project, tmp_path, to, make):
    process = begin_to_write(project, tmp_path / "x", to, signal.SIGTERM)
    make(tmp_path / "x")
    before = (tmp_path / "x").stat().st_ino
    trace, = tmp_path.glob("*.trc")
    text = f"<?xml version='1.0'?>\n<Program timeAdjustment='0' rank='0' thread='0'>\n{OPEN}</Program>\n"
    with open(trace, "w") as pipe:
        trace.unlink()
        trace.write_text(text)
        pipe.write(text)
    assert (process.wait(), process.stderr.read()) == (1, f"hdtrace-convert: error: {tmp_path / 'x'}: File exists\n")
    assert [path.stat().st_ino for path in tmp_path.glob("x*")] == [before]


def test_a_file_that_may_not_grow_is_an_error(project, tmp_path):
    run = subprocess.run(["prlimit", "--fsize=10", CONVERT, "--to", "tit", "-o", tmp_path / "x", project], capture_output=True, text=True)
    assert run.returncode == 1 and "File too large" in run.stderr
    assert not any(tmp_path.glob("x*"))
