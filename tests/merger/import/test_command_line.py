"""hdtrace-import as a user calls it."""
import os
import signal
import subprocess

import hdtrace
import pytest
from importing import HDTRACE, IMPORT, call, import_well, refused, states

ACTIONS = "0 init\n0 send 1 7 3 1\n0 finalize\n1 init\n1 recv 0 7 3 1\n1 finalize\n"


@pytest.fixture
def trace(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    path = folder / "trace.txt"
    path.write_text(ACTIONS)
    return path


def test_hdtrace_import_is_this_tool(trace, tmp_path):
    subprocess.run([HDTRACE, "import", "-o", tmp_path / "app.proj", trace], check=True, capture_output=True)
    assert hdtrace.open(tmp_path / "app.proj").process_count == 2


def test_the_project_is_complete(trace, tmp_path):
    import_well(tmp_path / "my_app.proj", trace)
    files = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert files == {"my_app.proj"} | {f"my-app_unknown_{rank}_0.{kind}" for rank in (0, 1) for kind in ("info", "trc")}
    project = hdtrace.open(tmp_path / "my_app.proj")
    assert project.name == "my_app"
    assert [state.name for state in states(tmp_path / "my_app.proj", 1)] == ["Init", "Recv", "Finalize"]


def test_info_says_where_it_came_from(trace, tmp_path):
    import_well(tmp_path / "app.proj", trace)
    text = subprocess.run([HDTRACE, "info", tmp_path / "app.proj"], check=True, capture_output=True, text=True).stdout
    assert "imported from  tit; times: none  0-1" in text


def test_check_accepts_the_files_by_their_schemas(trace, tmp_path):
    import_well(tmp_path / "app.proj", trace)
    result = subprocess.run([HDTRACE, "check", "--strict", tmp_path / "app.proj"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


def test_what_is_there_is_replaced_only_if_that_is_said(trace, tmp_path):
    import_well(tmp_path / "app.proj", trace)
    before = (tmp_path / "app.proj").read_bytes()
    assert "app.proj exists; --overwrite replaces it" in refused(tmp_path, trace)
    (tmp_path / "app.proj").write_text("old")
    import_well(tmp_path / "app.proj", "--overwrite", trace)
    assert (tmp_path / "app.proj").read_bytes() == before
    (tmp_path / "app.proj").unlink()
    (tmp_path / "app.proj").mkdir()
    for options in ([], ["--overwrite"]):
        assert "app.proj exists, and is no file that is replaced: give another name" in refused(tmp_path, *options, trace)


def test_traces_are_not_mixed_up_with_others(trace, tmp_path):
    (tmp_path / "app_node_7_0.info").write_text("")
    assert "app_node_7_0.info exists" in refused(tmp_path, trace)
    assert "app_node_7_0.info has the name of a trace of this project, but is of another one" in refused(tmp_path, "--overwrite", trace)


def test_other_files_are_named(tmp_path):
    (tmp_path / "text").write_text("Dear reader,\nhere is no trace.\n")
    assert refused(tmp_path, tmp_path / "text") == f"hdtrace-import: error: {tmp_path}/text: this is no trace of a format that can be imported\n"
    assert refused(tmp_path, tmp_path / "nothing").endswith("nothing: No such file or directory\n")


def test_what_needs_no_import_is_not_imported(tmp_path):
    (tmp_path / "old.proj").write_text("<Application name='old'/>\n")
    assert refused(tmp_path, tmp_path / "old.proj").endswith("old.proj: this is of hdtrace or of the original tool: all commands read it without import\n")


@pytest.mark.parametrize("arguments, complaint", [
    (["x"], "the output is missing: -o APP.proj"),
    (["-o", "app", "x"], "the name of a project ends with .proj, not as 'app'"),
    (["-o", "app.proj"], "name a trace, such as traces.otf2"),
    (["-o", "app.proj", "--from", "vampir", "x"], "not 'vampir'"),
    (["-o", "app.proj", "--from=", "x"], "the value of --from is empty"),
    (["-o", "app.proj", "--from", "tit", "--speed", "1e-300", "x"], "not '1e-300'"),
    (["-o", "app.proj", "--from", "tit", "--speed", "fast", "x"], "--speed is a number of operations per second such as 2.5e9, not 'fast'"),
])
def test_wrong_usage(arguments, complaint, tmp_path):
    result = call(*arguments, cwd=tmp_path)
    assert result.returncode == 2 and complaint in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_who_may_not_read_the_source_may_not_read_the_project(trace, tmp_path):
    os.chmod(trace, 0o600)
    import_well(tmp_path / "app.proj", trace)
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.is_file()} == {0}


def test_nothing_stays_when_a_signal_ends_it(tmp_path):
    """The rest of the trace never comes."""
    source = tmp_path / "source"
    output = tmp_path / "output"
    output.mkdir()
    os.mkfifo(source)
    process = subprocess.Popen([IMPORT, "--from", "tit", "-o", output / "app.proj", source])
    with open(source, "w"):
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
    assert list(output.iterdir()) == []
