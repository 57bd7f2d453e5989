"""How files are used, and what is said about it: of a program that uses each in a known way."""
import json
import subprocess

import pytest
from hdtrace import io_use
from support.runs import BUILD

RANKS = 4
KIB, MIB = 1024, 1024 * 1024
# way: the finding, its call and figures; nothing is found where all is as it should be
FOUND = {
    "small": ("small-independent", "File_write_at", 190 * RANKS, 200 * RANKS),
    "small_together": ("small-collective", "File_write_at_all", 120 * 64 * RANKS, 120),
    "strided": ("strided-independent", "File_write", 20 * RANKS, 20 * RANKS),
    "strided_together": None,
    "late": ("waiting-in-collective", "File_write_at_all", None, None),
    "read_back": ("read-back", "File_read_at", 3 * MIB * RANKS, 4 * MIB * RANKS),
    "unaligned": ("unaligned", "File_iwrite_at", 16 * RANKS, 16 * RANKS),
    "opened_often": ("many-opens", "File_open", 12 * RANKS, RANKS),
    "fine": None,
}
BYTES = {  # read and written
    "small": (0, (10 * 4096 + 190 * 100) * RANKS),
    "small_together": (0, 120 * 64 * RANKS),
    "strided": (0, 20 * 4 * 4096 * RANKS),
    "strided_together": (0, 20 * 4 * 4096 * RANKS),
    "late": (0, MIB * RANKS),
    "read_back": (4 * MIB * RANKS, 3 * MIB * RANKS),
    "unaligned": (0, 16 * 64 * KIB * RANKS),
    "opened_often": (0, 0),
    "fine": (0, 16 * 64 * KIB * RANKS),
}


@pytest.fixture(scope="session")
def project(trace):
    return trace("files", RANKS, *FOUND)[1]


@pytest.fixture(scope="session")
def analysis(project):
    return project.analyze()


@pytest.fixture(scope="session")
def files(analysis):
    return {row["file"].rsplit("/", 1)[-1]: row for row in analysis.io["files"]}


@pytest.mark.parametrize("way", FOUND)
def test_finding(analysis, way):
    """On a busy machine processes may be late in other collective calls, too."""
    own = [row for row in analysis.io["findings"] if row["file"].rsplit("/", 1)[-1] == way]
    kinds = {row["kind"] for row in own}
    assert kinds - {"waiting-in-collective"} <= ({FOUND[way][0]} if FOUND[way] else set())
    if not FOUND[way]:
        return
    kind, call, count, of = FOUND[way]
    (found,) = [row for row in own if row["kind"] == kind]
    assert found["call"] == call
    assert found["site"].function in (way, "open_file")
    assert found["try"]
    if count is not None:
        assert (found["count"], found["of"]) == (count, of)


@pytest.mark.parametrize("way", FOUND)
def test_sums(files, way):
    row = files[way]
    assert (row["read_bytes"], row["written_bytes"]) == BYTES[way]
    assert row["processes"] == RANKS
    assert row["opens"] == (12 if way == "opened_often" else 1) * RANKS
    assert 0 <= row["metadata_seconds"] <= row["seconds"]


def test_contiguity(files):
    assert files["strided"]["strided"] == files["strided"]["placed"] == 20 * RANKS
    assert files["strided_together"]["collective_accesses"] == 20 * RANKS
    assert files["fine"]["strided"] == 0
    # what a process accesses first follows on nothing, but at the beginning of the file
    assert files["fine"]["consecutive"] == 16 * RANKS - (RANKS - 1)
    assert files["small"]["consecutive"] < files["small"]["accesses"] / 4


def test_late_rank(analysis):
    (found,) = [row for row in analysis.io["findings"] if row["kind"] == "waiting-in-collective" and row["site"].function == "late"]
    waited = sum(row["seconds"] for row in analysis.wait_states if row["kind"] == "wait-at-file" and row["call"] == "File_write_at_all" and row["site"].function == "late")
    assert found["count"] == pytest.approx(waited)
    assert waited > 0.4 * (RANKS - 1) * 0.9


def use_of(file, access, seconds):
    counts = dict.fromkeys(["small", "strided", "unaligned", "large", "accesses", "bytes", "read_back_bytes"], 0)
    return counts | {"file": file, "access": access, "seconds": seconds, "call": "File_open", "site": None, "collective": True,
                     "opens": access == "other", "calls": RANKS, "ranks": list(range(RANKS))}


def found_in_files(count, opening, writing, seconds):
    uses = [use_of(str(number), access, time / count) for number in range(count) for access, time in (("other", opening), ("write", writing))]
    return [(row["kind"], row["call"], row["count"], row["of"]) for row in io_use.findings(uses, [], seconds)]


def test_many_files():
    assert found_in_files(100, 6, 4, 10) == [("many-files", "File_open", pytest.approx(6), pytest.approx(10))]
    assert found_in_files(99, 6, 4, 10) == []
    assert found_in_files(100, 4, 6, 10) == [], "reads and writes take more"
    assert found_in_files(100, 6, 4, 600) == [], "it does not matter in a run of ten minutes"


def test_phases(files, analysis):
    for row in files.values():
        read = sum(phase["read_bytes"] for phase in row["phases"])
        written = sum(phase["written_bytes"] for phase in row["phases"])
        assert (read, written) == (row["read_bytes"], row["written_bytes"])
        assert row["busy"] == pytest.approx(sum(phase["busy"] for phase in row["phases"]))
        for phase in row["phases"]:
            assert 0 <= phase["begin"] <= phase["end"] <= analysis.seconds
            assert phase["busy"] <= phase["end"] - phase["begin"] + 1e-9
        for one, next_one in zip(row["phases"], row["phases"][1:]):
            assert next_one["begin"] - one["end"] > analysis.seconds / 100 - 1e-9


def test_busy_is_no_longer_than_the_calls(files):
    fine = files["fine"]
    assert 0 < fine["busy"] <= fine["seconds"] - fine["metadata_seconds"] + 1e-6
    assert fine["bandwidth"] == pytest.approx(fine["written_bytes"] / fine["busy"])


def test_interval(project, analysis):
    """What is before the interval does not count."""
    (last,) = [row["phases"][0] for row in analysis.io["files"] if row["file"].endswith("fine")]
    begin = min(call.time for call in project.calls()) + int(last["begin"] * 1e9) - 1000
    names = {row["file"].rsplit("/", 1)[-1] for row in project.analyze(interval=(begin, None)).io["files"]}
    assert "fine" in names and "small" not in names


def test_table(analysis):
    findings = analysis.to_dataframe("findings")
    assert set(findings["kind"]) >= {row[0] for row in FOUND.values() if row}
    assert len(analysis.to_dataframe("files")) == len(FOUND)


def analyze(project, *options):
    done = subprocess.run([BUILD / "bin/hdtrace", "analyze", str(project), *options], capture_output=True, text=True, check=True)
    return done.stdout


def test_command(trace):
    (path,) = trace("files", RANKS, *FOUND)[0].trace_directory.glob("*.proj")
    text = analyze(path)
    assert "95% of 800 writes are below 4 KiB and independent: File_write_at at small (files.c:" in text
    assert "75% of 16,777,216 bytes that are read were written by the run itself" in text
    described = json.loads(analyze(path, "--json"))["io"]
    assert {row["kind"] for row in described["findings"]} >= {row[0] for row in FOUND.values() if row}


def test_program_without_files(trace):
    """Nothing is said of files."""
    run, project = trace("causes", 4, "balanced")
    assert project.analyze().io == {"files": [], "uses": [], "findings": []}
    (path,) = run.trace_directory.glob("*.proj")
    assert "bandwidth" not in analyze(path)
