import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from conftest import MERGER, SOURCE, snapshot

SCRIPT = SOURCE / "scripts/project-description-merger.py"


def call(*arguments, **options):
    return subprocess.run([MERGER, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "there is no input"),
        (["-o", "x.proj"], "there is no input"),
        (["-o"], "-o"),
        (["-o", "x.proj", "app", "--unknown"], "--unknown"),
        (["-o", "x.proj", "app", "--compat=piosimhd"], "hdtrace convert --to piosimhd"),
        (["app", "--no-audit", "--audit-ends"], "--no-audit and --audit-ends exclude each other"),
        (["app", "--no-sources", "--debug-directory=/x"], "--no-sources and --debug-directory exclude each other"),
        (["-o", "x.proj", "app", "--chunk-size=many"], "--chunk-size"),
        (["-o", "x.proj", "app", "--chunk-size="], "--chunk-size"),
        (["-o", "x.proj", "app", "--distribution-class="], "--distribution-class"),
    ],
)
def test_usage_errors(arguments, message, tmp_path):
    result = call(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "--help" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_option():
    result = call("--help")
    assert (result.returncode, result.stderr) == (0, "")
    for option in ("-o", "-d", "--distribution-class", "--chunk-size", "--compat", "--overwrite", "--quiet", "--no-audit", "--audit-ends", "--no-repair"):
        assert option in result.stdout


def test_man_page_describes_every_option_of_the_help():
    options = set(re.findall(r"--[a-z][a-z-]+", call("--help").stdout))
    page = (SOURCE / "docs/man/project-merger.1").read_text().replace("\\-", "-")
    assert options - set(re.findall(r"--[a-z][a-z-]+", page)) == set()


def test_version():
    result = call("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"project-merger \(hdtrace\) \d+\.\d+\.\d+\n", result.stdout)


def test_options_of_the_simulator(run):
    run.process(0, 'File name="/f" Size=5 id=0\n', size=1)
    project = run.merge_cleanly("app", "--distribution-class=a.b.C", "--chunk-size=1M").project
    file = project.find("FileList/File")
    assert file.find("Distribution").attrib == {"class": "a.b.C", "implementation": "a.b.C"}
    assert file.findtext("Distribution/ChunkSize") == file.findtext("ChunkSize") == "1M"


def test_defaults_of_the_simulator(run):
    run.process(0, 'File name="/f" Size=5 id=0\n', size=1)
    file = run.merge_cleanly().project.find("FileList/File")
    simple_stripe = "de.hd.pvs.piosim.model.inputOutput.distribution.SimpleStripe"
    assert file.find("Distribution").get("class") == simple_stripe
    assert file.findtext("ChunkSize") == "64K"


@pytest.mark.parametrize("option", [["-d", "a < b & 'ü'"], ["--description=a < b & 'ü'"]])
def test_description(run, option):
    run.process(0, size=1)
    result = run.merge_cleanly("app", *option, env={**os.environ, "LC_ALL": "C"})
    assert result.project.findtext("Description") == "a < b & 'ü'"


def test_quiet_drops_warnings_but_not_errors(run):
    run.info(0, "Nonsense\n", size=1)
    assert run.merge("app").stderr != ""
    result = run.merge("app", "--quiet", "--overwrite")
    assert (result.code, result.stderr) == (0, "")
    assert "error" in run.merge("nothing", "--quiet").stderr


def write_huge_process(run, size):
    """It takes long to write the project of so many processes."""
    last = size - 1
    run.process(0, f"Comm map='0..{last}->0..{last};' id=0 name='WORLD' uid='W'\n", size=size, keys="world='W'")


@contextmanager
def stopped_while_writing(run, *options, **how):
    """A run that goes on behind it."""
    process = subprocess.Popen([MERGER, "-o", "app.proj", "--large", "--quiet", *options, "app"], cwd=run.folder, stderr=subprocess.PIPE, text=True, **how)
    while process.poll() is None:
        if any(run.folder.glob("app.proj.*")):
            process.send_signal(signal.SIGSTOP)
            try:
                yield process
            finally:
                process.send_signal(signal.SIGCONT)
            return
    pytest.fail("the project was written too fast for a signal")


def send_while_writing(run, number, disposition):
    """The exit code of a run that gets a signal, which it found handled like this."""
    with stopped_while_writing(run, "--overwrite", preexec_fn=lambda: signal.signal(number, disposition)) as process:
        process.send_signal(number)
    return process.wait()


class TestOutput:
    def test_existing_file_needs_overwrite(self, run):
        run.process(0, size=1)
        (run.folder / "app.proj").write_text("precious")
        assert "--overwrite" in run.fail()
        run.merge_cleanly("app", "--overwrite")

    @pytest.mark.parametrize("options, error, left", [((), "app.proj: error: File exists\n", "precious"), (["--overwrite"], "", "<?xml")])
    def test_a_file_that_appears_meanwhile_needs_overwrite_too(self, run, options, error, left):
        write_huge_process(run, 300_000)
        before = snapshot(run.folder)
        with stopped_while_writing(run, *options) as process:
            (run.folder / "app.proj").write_text("precious")
        assert process.communicate()[1] == error and process.returncode == bool(error)
        assert (run.folder / "app.proj").read_text().startswith(left)
        assert sorted(snapshot(run.folder)) == sorted([*before, "app.proj"])

    @pytest.mark.parametrize("output", ["app_node01_0_0.trc", "./app_node01_0_0.info"])
    def test_a_trace_is_never_replaced(self, run, output):
        info = run.process(0, size=1)
        assert "this is a trace" in run.fail(info, "--overwrite", output=output)

    def test_a_trace_is_not_replaced_through_a_link(self, run):
        run.process(0, size=1)
        (run.folder / "app.proj").symlink_to("app_node01_0_0.trc")
        assert "this is a trace" in run.fail("app", "--overwrite")

    def test_special_files_are_not_replaced(self, run):
        run.process(0, size=1)
        fifo = run.folder / "app.proj"
        os.mkfifo(fifo)
        assert "not a regular file" in run.fail("app", "--overwrite")
        assert fifo.is_fifo()

    def test_extension_trc_is_accepted(self, run):
        run.process(0, size=1)
        run.merge_cleanly("app", output="app.trc")

    def test_nothing_is_left_if_the_folder_is_missing(self, run):
        run.process(0, size=1)
        assert run.fail(output="missing/app.proj") == "missing/app.proj: error: No such file or directory\n"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_read_only_folder(self, run):
        run.process(0, size=1)
        run.folder.chmod(0o555)
        try:
            assert "Permission denied" in run.fail()
        finally:
            run.folder.chmod(0o755)

    def test_existing_output_stays_if_writing_fails(self, run):
        run.process(0, "Comm map='0..9999->0..9999;' id=0 name='WORLD' uid='W'\n", size=10000, keys="world='W'")
        (run.folder / "app.proj").write_text("precious")
        limited = ("prlimit", "--fsize=4096", MERGER)
        before = snapshot(run.folder)
        result = run.merge("app", "--overwrite", "--quiet", command=limited)
        assert result.code == 1
        assert result.stderr == "app.proj: error: File too large\n"
        assert snapshot(run.folder) == before

    @pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
    def test_nothing_is_left_if_a_signal_ends_it(self, run, number):
        write_huge_process(run, 3_000_000)
        (run.folder / "app.proj").write_text("precious")
        before = snapshot(run.folder)
        assert send_while_writing(run, number, signal.SIG_DFL) == -number
        assert snapshot(run.folder) == before

    def test_ignored_signals_stay_ignored(self, run):
        write_huge_process(run, 100_000)
        assert send_while_writing(run, signal.SIGHUP, signal.SIG_IGN) == 0
        written = (run.folder / "app.proj").read_bytes()
        assert run.merge("app", "--quiet", "--overwrite").output.read_bytes() == written

    @pytest.mark.parametrize("umask, info, trace, project", [
        (0o022, 0o600, 0o600, 0o600), (0o000, 0o640, 0o600, 0o600), (0o000, 0o640, 0o644, 0o640), (0o022, 0o644, 0o644, 0o644),
        (0o077, 0o644, 0o644, 0o600), (0o000, 0o604, 0o604, 0o604), (0o002, 0o444, 0o444, 0o644)])
    def test_nobody_reads_it_who_may_not_read_the_traces(self, run, umask, info, trace, project):
        (run.folder / run.process(0, size=2)).chmod(info)
        (run.folder / "app_node01_0_0.trc").chmod(trace)
        run.process(1, size=2)
        assert oct(run.merge("app", "--quiet", "--no-audit", umask=umask).output.stat().st_mode & 0o777) == oct(project)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to a group that it is not in")
    def test_the_members_of_another_group_do_not_read_it(self, run):
        for path in [run.folder / run.process(0, size=1), run.folder / "app_node01_0_0.trc"]:
            path.chmod(0o640)
            os.chown(path, -1, 65534)
        result = run.merge_cleanly("app", umask=0)
        assert oct(result.output.stat().st_mode & 0o777) == "0o600"
        os.chown(run.folder, -1, 65534)
        run.folder.chmod(0o2755)  # new files are of this group
        assert oct(run.merge_cleanly("app", "--overwrite", umask=0).output.stat().st_mode & 0o777) == "0o640"

    def test_umask_is_honoured(self, run):
        run.process(0, size=1)
        result = run.merge_cleanly("app", umask=0o027)
        assert result.output.stat().st_mode & 0o777 == 0o640


class TestOriginalScript:
    """project-description-merger.py as the specification calls it."""

    def merge(self, run, *arguments, **options):
        environment = {**os.environ, "PATH": os.path.dirname(MERGER) + ":" + os.environ["PATH"]}
        return run.merge(*arguments, command=(sys.executable, SCRIPT), env=environment, **options)

    def test_with_traces_as_inputs(self, run):
        for rank in range(3):
            run.process(rank, size=3)
        traces = sorted(path.name for path in run.folder.glob("*.trc"))
        result = self.merge(run, *traces)
        assert (result.code, result.stderr) == (0, "")
        assert result.project.get("processCount") == "3"

    def test_with_all_arguments(self, run):
        info = run.process(0, size=1)
        result = self.merge(run, "-d", "a run", "--distribution-class=X", "--chunk-size=8K", info)
        assert (result.code, result.stderr) == (0, "")
        assert result.project.findtext("Description") == "a run"

    def test_replaces_the_output_as_the_original_did(self, run):
        info = run.process(0, size=1)
        run.merge_cleanly(info)
        assert self.merge(run, info).code == 0

    def test_finds_the_tool_beside_itself(self, run, tmp_path_factory):
        folder = tmp_path_factory.mktemp("bin")
        shutil.copy(SCRIPT, folder)
        os.symlink(MERGER, folder / "project-merger")
        info = run.process(0, size=1)
        assert run.merge(info, command=(sys.executable, folder / SCRIPT.name)).code == 0

    def test_says_what_is_missing(self, tmp_path):
        result = subprocess.run(
            [sys.executable, SCRIPT], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
        )
        assert result.returncode == 1
        assert "install hdtrace" in result.stderr
