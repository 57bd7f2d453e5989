import itertools
import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import hdtrace
import pytest

from conftest import EPOCH, MERGER, validate


@pytest.fixture
def two_processes(run):
    for rank in range(2):
        run.process(rank, size=2)
    return run


def ranks(result):
    return [rank.get("name") for rank in result.project.findall("Datatypes/Rank")]


@pytest.mark.parametrize(
    "inputs",
    [
        ["app_node01_0_0.info", "app_node01_1_0.info"],
        ["app_node01_0_0.trc", "app_node01_1_0.trc"],
        ["app_node01_0_0.trc", "app_node01_1_0.info"],
        ["app_node01_0_0.trc", "./app_node01_0_0.info", "app_node01_1_0.info", "app_node01_1_0.info"],
        ["app_node01_0_0", "app_node01_1_0"],
        ["app"],
        ["./app"],
        ["."],
        [".", "app", "app_node01_0_0.trc"],
    ],
)
def test_every_way_to_name_the_inputs_gives_the_same_project(two_processes, inputs):
    expected = two_processes.merge_cleanly("app").output.read_bytes()
    assert two_processes.merge_cleanly(*inputs, "--overwrite").output.read_bytes() == expected


def test_absolute_paths(two_processes):
    inputs = [str(two_processes.folder / f"app_node01_{rank}_0.info") for rank in range(2)]
    assert ranks(two_processes.merge_cleanly(*inputs, "app_node01_1_0.trc")) == ["0", "1"]


def test_order_of_the_inputs_does_not_matter(run):
    lines = [
        "Comm map='0->0;1->1;2->2;' id=0 name='WORLD' uid='W'\n"
        f"File name=\"/f{rank % 2}\" Size={rank} id=0 time={3 - rank}.5\n"
        f"Comm map='0->{rank};' id=9 name='x{rank}' uid='u'\n".replace(f"0->{rank}", f"{rank}->0").replace("'u'", f"'u{rank}'")
        + "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
        for rank in range(3)
    ]
    infos = [run.process(rank, lines[rank], size=3, host=f"node{rank % 2}") for rank in range(3)]
    outputs = {
        run.merge_cleanly(*order, "--overwrite").output.read_bytes() for order in itertools.permutations(infos)
    }
    assert len(outputs) == 1


def test_ranks_are_in_the_order_of_their_numbers(run):
    for rank in range(11):
        run.process(rank, size=11)
    assert ranks(run.merge_cleanly()) == [str(rank) for rank in range(11)]


def test_more_processes_than_file_handles(run):
    for rank in range(100):
        run.process(rank, size=100)
    assert len(ranks(run.merge_cleanly("app", command=("prlimit", "--nofile=16", MERGER)))) == 100


@pytest.mark.parametrize(
    "argument, message",
    [
        ("missing.info", "missing.info: error: no such file"),
        ("missing.trc", "missing.trc: error: no such file"),
        ("other", "there is no other_*.info"),
        ("empty", "no .info and no .trc in this directory"),
        ("missing/app", "missing/app: error: No such file or directory"),
    ],
)
def test_arguments_that_lead_nowhere(two_processes, argument, message):
    (two_processes.folder / "empty").mkdir()
    assert message in two_processes.fail("app", argument)


def test_program_whose_executable_stands_beside_the_traces(two_processes):
    (two_processes.folder / "app").write_text("#!/bin/sh\n")
    assert ranks(two_processes.merge_cleanly("app")) == ["0", "1"]


def test_other_programs_in_the_folder_are_not_taken(two_processes):
    two_processes.process(0, size=1, base="app2")
    two_processes.process(0, size=1, base="another-app")
    assert ranks(two_processes.merge_cleanly("app")) == ["0", "1"]


def test_true_name_of_the_program(run):
    path = run.folder / "my-app_node01_0_0.info"
    path.write_text("Process base='my_app' host='node01' rank=0 size=1 thread=0 version=1\n")
    run.trace(0, base="my-app")
    result = run.merge_cleanly("my_app", output="my-app.proj")
    assert result.project.get("name") == "my_app"
    assert result.project.find("Topology/Node").get("name") == "node01"


@pytest.mark.parametrize("name, label", [("-rf", "xrf"), ("ä", "x-")])
def test_name_that_would_look_like_an_option(run, name, label):
    run.process(0, size=1, base=label)
    run.merge_cleanly("--", name, output=f"{label}.proj")


def test_older_names_with_separators(run):
    run.process(0, header=False, base="my_app", host="node01")
    result = run.merge_cleanly("my_app", output="my_app.proj")
    assert result.project.get("name") == "my_app"
    assert result.project.get("processCount") == "1"


class TestThreads:
    def test_one_info_and_several_traces(self, run):
        run.process(0, "Thread number=1\nType id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT'\n", size=1)
        run.trace(0, thread=1)
        result = run.merge_cleanly("app_node01_0_0.info")
        threads = result.project.findall("Topology/Node/Node/Node")
        assert [thread.get("name") for thread in threads] == ["0", "1"]
        labels = result.project.findall("Topology/Label/Label/Label")
        assert [label.get("value") for label in labels] == ["0", "1"]
        assert len(result.project.findall("Datatypes/Rank")) == 1
        assert len(result.datatypes(0)) == 1

    def test_trace_of_a_thread_finds_the_info_of_the_process(self, run):
        run.process(0, size=1)
        trace = run.trace(0, thread=1)
        threads = run.merge_cleanly(trace).project.findall("Topology/Node/Node/Node")
        assert [thread.get("name") for thread in threads] == ["0", "1"]

    def test_info_for_each_thread_as_older_tracers_wrote(self, run):
        run.process(0, "Type id='1' combiner='MPI_COMBINER_NAMED' name='MPI_INT'\n", header=False)
        run.process(0, "Type id='2' combiner='MPI_COMBINER_NAMED' name='MPI_CHAR'\n", header=False, thread=1)
        result = run.merge_cleanly()
        assert [datatype.get("id") for datatype in result.datatypes(0)] == ["1", "2"]
        assert len(result.project.findall("Datatypes/Rank")) == 1

    def test_threads_that_contradict_each_other(self, run):
        run.process(0, "Type id='1' combiner='MPI_COMBINER_NAMED' name='MPI_INT'\n", header=False)
        run.process(0, "Type id='1' combiner='MPI_COMBINER_NAMED' name='MPI_CHAR'\n", header=False, thread=1)
        message = run.fail()
        assert "app_node01_0_1.info:1:" in message
        assert "described differently in app_node01_0_0.info:1" in message


class TestContradictions:
    def test_two_files_for_one_rank(self, run):
        run.process(0, size=1)
        run.process(0, size=1, host="node02")
        message = run.fail()
        assert "app_node02_0_0.info: error: rank 0 is also in app_node01_0_0.info" in message

    def test_size_differs(self, run):
        run.process(0, size=2)
        run.process(1, size=3)
        assert "app_node01_1_0.info:1: error: size differs from app_node01_0_0.info:1" in run.fail()

    def test_same_rank_of_another_run_with_another_size(self, run):
        run.process(0, size=1)
        run.process(0, size=2, host="node02")
        assert "app_node02_0_0.info:1: error: size differs from app_node01_0_0.info:1" in run.fail()

    def test_rank_in_name_and_file_differ(self, run):
        name = run.process(0, size=2)
        os.rename(run.folder / name, run.folder / "app_node01_1_0.info")
        assert "app_node01_1_0.info:1: error: this is rank 0, but the file's name says rank 1" in run.fail("app_node01_1_0.info")

    def test_name_without_rank(self, run):
        name = run.process(0, header=False)
        os.rename(run.folder / name, run.folder / "trace.info")
        assert "trace.info: error: the name is not <base>" in run.fail("trace.info")

    def test_rank_beyond_size(self, run):
        run.process(2, size=2)
        assert "there is a rank 2, but the program has 2 processes" in run.fail()


class TestWorlds:
    """Spawned processes have a world of their own, which is in the names of their files."""

    @pytest.fixture
    def worlds(self, run):
        for base, uid, size in (("app", "W", 2), ("app-world2", "W2", 3), ("app-world3", "W3", 2)):
            for rank in range(size):
                lines = f"Comm map='0..{size - 1}->0..{size - 1};' id=0 name='WORLD' uid='{uid}'\n"
                lines += f"Comm map='{rank}->0;' id=1 name='parent' remote='-4->0;'\n" if uid != "W" else ""
                run.process(rank, lines, base=base, size=size, keys=f"world='{uid}'")
        return run

    @pytest.mark.parametrize("base, uid, size", [("app", "W", 2), ("app-world2", "W2", 3)])
    def test_each_is_merged_by_itself(self, worlds, base, uid, size):
        result = worlds.merge(base, "--quiet", output=base + ".proj")
        assert (result.code, result.stderr) == (0, "")
        world = result.project.find("CommunicatorList/Communicator")
        assert (world.get("name"), world.get("uid"), len(world)) == ("WORLD", uid, size)
        assert (result.project.get("name"), len(result.project.findall("Datatypes/Rank"))) == (base, size)

    def test_those_that_have_nothing_in_common(self, worlds):
        assert worlds.fail(".", "--quiet").splitlines() == [
            f"./app-world{number}_node01_0_0.info:1: error: this is a process of the world 'W{number}', which has no communicator "
            "in common with the world 'W' of ./app_node01_0_0.info:1: merge each world by itself"
            for number in (2, 3)
        ]

    def test_different_ranks_of_worlds_of_one_size(self, worlds):
        message = worlds.fail("app_node01_0_0.info", "app-world3_node01_1_0.info", "--quiet")
        assert message.startswith("app-world3_node01_1_0.info:1: error: this is a process of the world 'W3', which has no comm")


def seconds_of(project):
    return [(call.time - EPOCH * 10**9) / 1e9 for call in project.calls()]


class TestRuns:
    """Several runs have left their traces in one folder: the launcher's name of the run tells them apart."""

    WORLD = "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"
    STATE = "<Comm_size cid='0' time='0.{time}' end='0.{time}' />\n"

    def process(self, run, rank, name, base="app", size=2):
        run.process(rank, self.WORLD, self.STATE.format(time=len(name) + rank), size=size, base=base,
                    keys=f"world='W' run='{name}'")

    def merge_all(self, run, *arguments):
        """What project-merger does without -o: its standard output, and what it warns of."""
        result = subprocess.run([MERGER, *arguments], cwd=run.folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        for name in result.stdout.splitlines():
            validate(run.folder / name)
        return result.stdout.splitlines(), result.stderr.splitlines()

    def test_each_gets_a_project_beside_its_traces(self, run):
        for rank in range(2):
            self.process(run, rank, "a")
            self.process(run, rank, "another", base="app-2")
        assert self.merge_all(run, ".") == (["./app-2.proj", "./app.proj"], [])
        with hdtrace.open(run.folder / "app.proj") as project:
            assert seconds_of(project) == [0.1, 0.2]

    def test_of_several_runs_none_is_chosen(self, run):
        for rank in range(2):
            self.process(run, rank, "a")
            self.process(run, rank, "another", base="app-2")
        assert run.fail(".").startswith("app.proj: error: the inputs are of 2 runs: ./app-2_node01_0_0.info (2 processes), ./app_node01_0_0.info (2 processes")
        with pytest.raises(ValueError, match="the traces are of 2 runs"):
            hdtrace.open(run.folder)

    def test_launchers_that_tell_no_name(self, run):
        """Whole runs with names of their own are told apart by these."""
        for rank in range(2):
            self.process(run, rank, "a")
            self.process(run, rank, "", base="unknown")
        run.process(0, "Comm map='0->0;' id=0 name='WORLD' uid='W'\n", self.STATE.format(time=9), size=1, base="alone", keys="world='W'")
        self.process(run, 0, "", base="torn")
        assert "3 runs: ./alone_node01_0_0.info (1 process), ./app_node01_0_0.info (3 processes)" in run.fail("."), "half a run may belong to another one"
        for path in run.folder.glob("torn*"):
            path.unlink()
        assert self.merge_all(run, ".") == (["./alone.proj", "./app.proj", "./unknown.proj"], [])

    def test_names_that_were_given_in_a_race(self, run):
        """The project tells which file is whose."""
        for rank, bases in enumerate([("app", "app-2"), ("app-2", "app")]):
            for name, base in zip(("a", "another"), bases, strict=True):
                self.process(run, rank, name, base=base)
        assert self.merge_all(run, ".") == (["./app-2.proj", "./app.proj"], [])
        for stem, times in {"app": (0.1, 0.2), "app-2": (0.7, 0.8)}.items():
            with hdtrace.open(run.folder / f"{stem}.proj") as project:
                assert seconds_of(project) == list(times)

    def test_what_an_earlier_run_with_more_processes_has_left(self, run):
        for rank in range(4):
            self.process(run, rank, "first", size=4)
        for rank in range(2):
            self.process(run, rank, "a")
        outputs, warnings = self.merge_all(run, ".")
        assert outputs == ["./app.proj"] and warnings == [
            f"./app_node01_{rank}_0.info: warning: this is of an earlier run, of which other files were replaced; it is left out" for rank in (2, 3)]
        assert ElementTree.parse(run.folder / "app.proj").getroot().get("processCount") == "2"
        with pytest.warns(hdtrace.MergeWarning, match="earlier run"):
            assert hdtrace.open(run.folder / "app_node01_2_0.info", run.folder / "app_node01_0_0.info", run.folder / "app_node01_1_0.info").process_count == 2

    def test_a_process_that_could_not_tell(self, run):
        """It belongs to the run that has the other files of its name."""
        self.process(run, 0, "a")
        run.process(1, header=False)
        for rank in range(2):
            self.process(run, rank, "another", base="other")
        outputs, _ = self.merge_all(run, ".")
        assert outputs == ["./app.proj", "./other.proj"]
        assert ElementTree.parse(run.folder / "app.proj").getroot().find("Topology/Node/Node[@name='1']") is not None

    def test_a_mixture(self, run):
        """Each has replaced files of the other."""
        for rank, name in enumerate(["job 1", "job 2", "job 1", "job 2"]):
            run.process(rank, size=4, keys=f"world='W' run='{name}'")
        assert "error: this is a process of the run 'job" in run.fail(".", "--quiet")

    def test_some_do_not_know(self, run):
        run.process(0, size=2)
        run.process(1, size=2, keys="run='job 1'")
        run.merge_cleanly()


class TestPlaceOfTheProject:
    def test_traces_are_found_wherever_the_project_is(self, run):
        for rank in range(2):
            run.process(rank, TestRuns.WORLD, TestRuns.STATE.format(time=rank + 1), size=2)
        for name in ("out/other.proj", "out/app.proj", "other.proj", "deep/er/app.proj"):
            (run.folder / name).parent.mkdir(parents=True, exist_ok=True)
            result = run.merge_cleanly(output=name)
            with hdtrace.open(result.output) as project:
                assert [call.rank for call in project.calls()] == [0, 1], name

    def test_they_may_move_together(self, run, tmp_path_factory):
        (run.folder / "out").mkdir()
        run.process(0, "Comm map='0->0;' id=0 name='WORLD' uid='W'\n", "<Barrier cid='0' time='0.1' end='0.2' />\n", size=1)
        run.merge_cleanly(output="out/app.proj")
        moved = shutil.move(run.folder, tmp_path_factory.mktemp("elsewhere") / "here")
        with hdtrace.open(Path(moved) / "out/app.proj") as project:
            assert len(list(project.calls())) == 1

    def test_compressed_traces(self, run):
        (run.folder / "out").mkdir()
        run.process(0, "Comm map='0->0;' id=0 name='WORLD' uid='W'\n", "<Barrier cid='0' time='0.1' end='0.2' />\n", size=1)
        subprocess.run(["gzip", run.folder / "app_node01_0_0.trc"], check=True)
        result = run.merge_cleanly(output="out/app.proj")
        with hdtrace.open(result.output) as project:
            assert len(list(project.calls())) == 1

    def test_a_name_that_leads_elsewhere_is_refused(self, run):
        run.process(0, size=1)
        result = run.merge_cleanly(output="other.proj")
        result.output.write_text(result.output.read_text().replace('base="app"', 'base="../app"'))
        with pytest.raises(ValueError, match="must not hold '/'"):
            hdtrace.open(result.output)


class TestOwnLevels:
    """Programs that use the trace library without MPI."""

    def write(self, run, path, levels="Host;Worker;"):
        stem = run.folder / ("solver_" + "_".join(path))
        stem.with_suffix(".info").write_text(
            f"Process base='solver' levels='{levels}' path='{';'.join(path)};' version=1 timeAdjustment=5\n"
        )
        stem.with_suffix(".trc").write_text("<Program timeAdjustment='5'>\n<Step type='9' time='1.0' end='2.0' />\n</Program>\n")

    def test_tree(self, run):
        for path in (["node01", "main"], ["node01", "w10"], ["node01", "w9"], ["node02", "main"]):
            self.write(run, path)
        result = run.merge_cleanly("solver", output="solver.proj")
        topology = result.project.find("Topology")
        assert [level.get("type") for level in topology.iter("Level")] == ["Host", "Worker"]
        tree = {node.get("name"): [child.get("name") for child in node] for node in topology.findall("Node")}
        assert tree == {"node01": ["main", "w9", "w10"], "node02": ["main"]}
        assert result.project.get("processCount") == "4"

    def test_levels_of_mpi_programs_with_other_labels(self, run):
        self.write(run, ["node01", "master", "io"], levels="Hostname;Rank;Thread;")
        result = run.merge_cleanly("solver", output="solver.proj")
        assert result.project.find("Topology/Node/Node/Node").get("name") == "io"

    def test_levels_must_be_equal(self, run):
        self.write(run, ["node01", "main"])
        self.write(run, ["node02", "main"], levels="Host;Thread;")
        assert "levels differ" in run.fail("solver", output="solver.proj")
