"""Parts of projects are projects, and their sums are those of the part."""
import shutil
import subprocess
from pathlib import Path

import hdtrace
import pytest

from projects_of_lines import write_project
from test_command import COMMAND, ERROR, FINE, USAGE, run, run_well
from test_intervals import ORIGIN, RECEIVER, RUN, SECOND, SENDER, TIMES, call, interval, sums_of


@pytest.fixture(params=["with regions", "without"])
def path(request, tmp_path):
    has_regions = request.param == "with regions"
    lines = [text if has_regions else "".join(line for line in text.splitlines(True) if "Event" not in line) for text in (SENDER, RECEIVER)]
    path = write_project(tmp_path, *lines)
    if has_regions:
        path.write_text(path.read_text().replace("</Application>", RUN.format(calls="")))
    return path


def lines_of(folder):
    return {file.name: file.read_text().splitlines() for file in Path(folder).glob("*.trc")}


def part_of(path, **wanted):
    folder = path.parent / "part"
    shutil.rmtree(folder, ignore_errors=True)
    with hdtrace.open(path) as project:
        assert project.extract(folder, **wanted) == []
    return folder


def without_own_time(sums):
    """That of regions that began before a part lacks what was called in them there."""
    return {key: (*values[:2], *values[3:]) for key, values in sums.items()}


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
def test_sums_of_a_part_are_those_of_its_interval(path):
    with hdtrace.open(path) as project:
        same = without_own_time if project.run.facts else dict
        for begin in TIMES:
            for end in TIMES[begin:]:
                folder = part_of(path, interval=interval(begin, end))
                with hdtrace.open(folder) as part:
                    assert same(sums_of(part, TIMES[0], TIMES[-1] + 1)) == same(sums_of(project, begin, end)), (begin, end)


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
def test_who_waited_at_init_is_not_known_of_a_part_of_it(tmp_path):
    """One of three had begun before: in libraries that do not wait in MPI_Init it may even have left it."""
    path = write_project(tmp_path, *(call("Init", *times) + call("Finalize", 9, 10) for times in ((1, 2), (4, 7), (6, 7))))
    part = part_of(path, interval=interval(3, 20))
    assert len([line for lines in lines_of(part).values() for line in lines if "<Init" in line]) == 2
    with hdtrace.open(path) as project, hdtrace.open(part) as opened:
        kinds = [[wait["kind"] for wait in found.wait_states] for found in (project.analyze(), opened.analyze(), project.analyze(interval=interval(3, 20)))]
    assert kinds == [["wait-at-init"], [], []]


@pytest.mark.filterwarnings("ignore::hdtrace.MergeWarning")
def test_parts_of_parts(path):
    outer = part_of(path, interval=interval(2, 11))
    outer.rename(path.parent / "outer")
    inner = part_of(path.parent / "outer" / path.name, interval=interval(4, 12))
    with hdtrace.open(path) as project, hdtrace.open(inner) as part:
        assert without_own_time(sums_of(part, 0, 20)) == without_own_time(sums_of(project, 4, 11))


def test_lines_are_kept_as_they_are(path):
    whole = lines_of(path.parent)
    assert lines_of(part_of(path, interval=(None, None))) == whole
    for name, lines in lines_of(part_of(path, interval=interval(6, 9))).items():
        assert set(lines) <= set(whole[name])
        assert lines == [line for line in whole[name] if line in lines]  # in their order


def test_what_is_needed_of_the_time_before(path):
    (sender,) = (lines for name, lines in lines_of(part_of(path, rank=0, interval=interval(10, 11))).items() if "_0_0" in name)
    assert any("Send_init" in line for line in sender) and not any("File_write" in line for line in sender)
    begun = [line for line in sender if "kind='begin'" in line]
    assert [line.split("time='")[1][0] for line in begun] == (["1"] if "Event" in (path.parent / "app_node01_0_0.trc").read_text() else [])


def test_what_was_prepared_for_a_message_on_its_way(tmp_path):
    """Though its request was freed."""
    start = call("Start", 3, 4, "rid='1' initRid='0'") + "<Wait time='4.0' end='5.0' ><For rid='1' /></Wait>\n" + call("Request_free", 5, 6, "rid='0'")
    sender = call("Send_init", 1, 2, "size='4' count='1' tid='0' toRank='1' toTag='7' cid='0' rid='0'") + start + call("Barrier", 8, 9, "cid='0'")
    receiver = call("Barrier", 8, 9, "cid='0'") + call("Recv", 10, 11, "fromRank='0' fromTag='7' cid='0' size='4' count='1' tid='0'")
    part = part_of(write_project(tmp_path, sender, receiver), interval=interval(7, 12), name=("Barrier", "Start", "Wait", "Recv", "Request_free"))
    with hdtrace.open(part) as opened:
        assert [(message.source, message.tag, message.receive is None) for message in opened.messages()] == [(0, 7, False)]
        assert [finding.kind for finding in opened.checker().read(100)] == []


def test_some_processes(path):
    folder = part_of(path, rank=1)
    assert list(lines_of(folder)) == ["app_node01_1_0.trc"]
    assert "1 of 2 processes" in run("stats", folder).stdout
    checked = run("check", folder)
    assert checked.returncode == FINE, checked  # the sends that are not here are no mistake
    assert "a part of a project: ranks 1" in checked.stderr


def test_some_calls_with_what_is_around_them(tmp_path):
    path = write_project(tmp_path, SENDER, RECEIVER)
    (names,) = ([line.split(" ")[0] for line in lines if "Event" not in line][2:-1] for name, lines in lines_of(part_of(path, rank=0, name="Barrier")).items())
    assert names == ["<Nested><Barrier"]


def test_projects_of_parts_are_valid(path):
    (proj,) = part_of(path, rank=[0], interval=interval(2, 5)).glob("*.proj")
    hdtrace.validate(proj)


def test_traces_that_are_merged_in_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    for rank in range(2):
        with hdtrace.TraceWriter("app", {"Hostname": "node01", "Rank": rank, "Thread": 0}) as trace:
            with trace.state("Step", number=rank):
                pass
    with hdtrace.open(tmp_path) as project:
        project.extract(tmp_path / "part", rank=1)
    with pytest.warns(hdtrace.MergeWarning, match="a part of a project"):
        assert [call["number"] for call in hdtrace.open(tmp_path / "part").calls()] == ["1"]


def test_cut_off_traces_stay_so(tmp_path):
    path = write_project(tmp_path, call("Barrier", 1, 2, "cid='0'"), closing="")
    with hdtrace.open(path) as project:
        (missing,) = project.extract(tmp_path / "part", name="Barrier")
        assert "</Program> is missing" in missing
        assert project.extract(tmp_path / "before", interval=(None, ORIGIN)) == []


def test_command(path, tmp_path):
    folder = tmp_path / "some"
    assert run_well("extract", path, "--interval", "2..6", "-o", folder).startswith(f"{folder}: 2 traces, ")
    again = run("extract", path, "--interval", "2..6", "-o", folder)
    assert again.returncode == ERROR and "needs a folder of its own" in again.stderr
    nothing = run("extract", path, "-o", tmp_path / "other")
    assert nothing.returncode == USAGE and "say what is wanted" in nothing.stderr
    assert sorted(tmp_path.iterdir()) == sorted({*tmp_path.glob("*.trc"), path, folder})


def test_nothing_half_written_stays(path, tmp_path):
    (tmp_path / "app_node01_1_0.trc").write_text("<Program><Barrier></Send></Program>")
    failed = subprocess.run([COMMAND, "extract", path, "--call", "Barrier", "-o", tmp_path / "part"], capture_output=True, text=True)
    assert failed.returncode == ERROR and "app_node01_1_0.trc" in failed.stderr
    assert not [file for file in tmp_path.iterdir() if "part" in file.name]
