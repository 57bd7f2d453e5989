"""Packed projects are read in place, and come out as they were."""
import os
import shutil
import zipfile
from contextlib import suppress

import hdtrace
import pytest
from hdtrace.packing import unpack

from projects_of_lines import HEAD, write_project
from test_calls import RECEIVER, SENDER
from test_command import ERROR, FINE, USAGE, run, run_well

BARRIERS = "".join(f"<Barrier cid='0' time='{i}.000000000' end='{i}.500000000' />\n" for i in range(5000))


def contents(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mode, int(path.stat().st_mtime)) for path in folder.iterdir()}


@pytest.fixture(params=["plain", "compressed"])
def folder(request, tmp_path):
    """Traces in several blocks and segments, and cut off."""
    folder = tmp_path / "run"
    folder.mkdir()
    path = write_project(folder, SENDER + BARRIERS, RECEIVER, "", "")
    cut_off = folder / "app_node01_2_0.trc"
    cut_off.write_text(HEAD.format(rank=2) + BARRIERS[:-30])
    for number, name in enumerate(("app_node01_3_0.trc", "app_node01_3_0.trc.1")):
        head = HEAD.format(rank=3).replace("thread='0'", f"thread='0' segment='{number}' before='{number}'")
        (folder / name).write_text(f"{head}<Barrier cid='0' time='{number}.0' end='{number}.5' />\n</Program>\n")
    for name in ("app_node01_0_0.trc", "app_node01_2_0.trc"):
        (folder / name).chmod(0o600)
        os.utime(folder / name, (1_000_000_001, 1_000_000_001))
    if request.param == "compressed":
        assert run("compress", path).returncode == FINE
    return folder


@pytest.fixture
def packed(folder, tmp_path):
    run_quietly("pack", folder / "app.proj", "-o", tmp_path / "run.hdt")
    return tmp_path / "run.hdt"


def run_quietly(*words):
    result = run(*words)
    assert result.returncode == FINE, result
    return result.stdout


def test_what_comes_out_is_what_went_in(folder, packed, tmp_path):
    assert run_quietly("unpack", packed, "-o", tmp_path / "out") == f"{tmp_path}/out: {len(contents(folder))} files\n"
    assert contents(tmp_path / "out") == contents(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.hdt", "out"}


def test_other_programs_open_it(folder, packed):
    with zipfile.ZipFile(packed) as file:
        assert file.testzip() is None
        assert {name: file.read(name) for name in file.namelist()} == {name: data for name, (data, *_) in contents(folder).items()}


@pytest.mark.parametrize("words", [("stats", "--interval", "4000..4003"), ("dump", "--rank", "2,3"), ("check",)])
def test_commands_read_it_in_place(folder, packed, words):
    of_folder, of_file = run(words[0], folder / "app.proj", *words[1:]), run(words[0], packed, *words[1:])
    assert of_file.returncode == of_folder.returncode
    assert of_file.stdout.replace(f"{packed}/", "") == of_folder.stdout.replace(f"{folder}/", "")
    assert of_file.stderr.replace(f"{packed}/", "") == of_folder.stderr.replace(f"{folder}/", "")


def test_parts_of_it(folder, packed, tmp_path):
    sums = run_quietly("stats", folder, "--interval", "1..3")
    run_quietly("extract", packed, "--interval", "1..3", "-o", tmp_path / "part")
    assert run_quietly("stats", tmp_path / "part").splitlines()[2:] == sums.splitlines()[2:]


def test_conversion(folder, packed, tmp_path):
    packed.chmod(0o600)
    for name, project in (("one", folder / "app.proj"), ("other", packed)):
        run_quietly("convert", "--to", "csv", "-o", tmp_path / name, project)
    assert [path.read_bytes() for path in sorted((tmp_path / "one").iterdir())] == [path.read_bytes() for path in sorted((tmp_path / "other").iterdir())]
    assert all(path.stat().st_mode & 0o77 == 0 for path in (tmp_path / "other").iterdir())


def test_others_may_not_read_more_of_it(packed):
    assert packed.stat().st_mode & 0o77 == 0  # two of the traces are private


def test_traces_that_were_not_merged(tmp_path, monkeypatch):
    raw = tmp_path / "raw"
    raw.mkdir()
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(raw))
    with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": 0, "Thread": 0}) as trace, trace.state("Step"):
        pass
    monkeypatch.chdir(tmp_path)
    assert run_well("pack", raw).startswith("app.hdt: 3 files, ")
    assert [call.name for call in hdtrace.open("app.hdt").calls()] == ["Step"]
    assert run_well("unpack", "app.hdt") == "app: 3 files\n"


def test_the_name_tells_what_it_is(folder, tmp_path):
    refused = run("pack", folder, "-o", tmp_path / "run.zip")
    assert refused.returncode == USAGE and "run.zip: the name has to end with .hdt" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_nothing_is_overwritten(folder, packed, tmp_path):
    before = packed.read_bytes()
    assert "File exists" in run("pack", folder, "-o", packed).stderr
    nowhere = run("pack", folder, "-o", tmp_path / "no/where")
    assert (nowhere.returncode, nowhere.stderr) == (1, f"hdtrace: {tmp_path}/no: the folder does not exist\n")
    (tmp_path / "out").mkdir()
    assert "File exists" in run("unpack", packed, "-o", tmp_path / "out").stderr
    assert packed.read_bytes() == before and list((tmp_path / "out").iterdir()) == []


def test_large_entries(tmp_path):
    """As they stand in a file of more than 4 GB: with values of 64 bits, far behind."""
    write_project(tmp_path, SENDER, RECEIVER)
    large = tmp_path / "large.hdt"
    with large.open("wb") as file:
        zipfile.ZIP64_LIMIT, limit = 0, zipfile.ZIP64_LIMIT
        try:
            with zipfile.ZipFile(file, "w") as packed:
                packed.writestr("first", b"")
                packed.start_dir = 5 << 30  # the file is sparse
                for path in sorted(tmp_path.glob("app*")):
                    packed.write(path, path.name)
        finally:
            zipfile.ZIP64_LIMIT = limit
    assert run_quietly("stats", large).splitlines() == run_quietly("stats", tmp_path / "app.proj").splitlines()


def damaged(data):
    directory = data.rfind(b"PK\1\2")
    yield data[:-22]  # cut off
    yield data[: len(data) // 2]
    for place in (8, 10, 24, 28, 30, 42):  # of the last entry: flags, method, sizes, lengths, header
        yield data[: directory + place] + b"\xf1\xff" + data[directory + place + 2 :]
    end = data.rfind(b"PK\5\6")
    for place in (10, 12, 16):
        yield data[: end + place] + b"\xff\xff\xff\xff" + data[end + place + 4 :]
    yield b"PK\3\4"


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
def test_damaged_files(packed, tmp_path):
    for number, data in enumerate(damaged(packed.read_bytes())):
        (tmp_path / "bad.hdt").write_bytes(data)
        with suppress(hdtrace.ReadError, OSError, ValueError):
            list(hdtrace.open(tmp_path / "bad.hdt").calls(interval=(None, 200_000_000_000)))
        with suppress(OSError, ValueError):
            unpack(tmp_path / "bad.hdt", tmp_path / "out", lambda _: None)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert {path.name for path in tmp_path.iterdir()} == {"run", "run.hdt", "bad.hdt"}, number
    with pytest.raises(hdtrace.ReadError, match="bad.hdt.*cut off"):
        hdtrace.open(tmp_path / "bad.hdt")


@pytest.mark.parametrize("name", ["../evil.trc", "/tmp/evil.trc", "..", "sub/evil.trc"])
def test_names_lead_nowhere_else(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "evil.hdt", "w") as file:
        file.writestr(name, b"x")
    refused = run("unpack", tmp_path / "evil.hdt", "-o", tmp_path / "out")
    assert refused.returncode == ERROR and "no file of a project is called so" in refused.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"evil.hdt"}


def test_what_zip_compressed(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "zipped.hdt", "w", zipfile.ZIP_DEFLATED) as file:
        for path in folder.iterdir():
            file.write(path, path.name)
    for command in ("stats", "unpack"):
        refused = run(command, tmp_path / "zipped.hdt")
        assert refused.returncode == ERROR and "unzip" in refused.stderr, refused


@pytest.mark.parametrize("words", [("mv", "there"), ("rm",), ("compress",), ("repair",)])
def test_its_files_are_not_changed(packed, words):
    command, *others = words
    before = packed.read_bytes()
    refused = run(command, packed, *others)
    assert refused.returncode == USAGE and "this is one file" in refused.stderr and packed.read_bytes() == before


def test_traces_elsewhere(folder, tmp_path):
    text = (folder / "app.proj").read_text()
    files = '<WorldList><Files base="app" directory="../raw" first="0" last="3"/></WorldList>'
    (tmp_path / "raw").mkdir()
    for path in folder.glob("app_*"):
        path.rename(tmp_path / "raw" / path.name)
    (folder / "app.proj").write_text(text.replace("</Topology>", "</Topology>" + files))
    refused = run("pack", folder / "app.proj")
    assert refused.returncode == USAGE and "hdtrace cp" in refused.stderr
