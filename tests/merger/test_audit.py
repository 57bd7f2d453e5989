import fcntl
import re
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import snapshot

WORLD = "Comm map='0->0;' id=0 name='WORLD' uid='W'\n"
INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
FILE = 'File name="/f" Size=0 id=0\n'


def warn(run, *arguments, **options):
    """The only warning of a run that succeeds."""
    result = run.merge(*(arguments or ("app",)), **options)
    assert result.code == 0
    assert len(result.warnings) == 1, result.stderr
    return result.warnings[0]


def test_missing_processes(run):
    for rank in (1, 4, 9):
        run.process(rank, size=10)
    assert warn(run) == (
        "app_node01_1_0.info:1: warning: the program has 10 processes; no files were given of rank 0, 2-3, 5-8"
    )


def test_missing_processes_of_older_traces(run):
    run.process(1, "Comm map='0->0;1->1;2->2;' id=0 name='WORLD'\n", header=False)
    result = run.merge("app")
    assert result.project.get("processCount") == "3"
    assert "no files were given of rank 0, 2\n" in result.stderr


def test_missing_info(run):
    run.process(0, size=2)
    run.trace(1)
    run.trace(1, thread=1)
    assert warn(run).startswith("app_node01_1_0.trc: warning: its .info is missing")


def test_missing_trace(run):
    run.info(0, size=1)
    assert warn(run) == "app_node01_0_0.trc: warning: this trace is missing"


def test_missing_trace_of_a_thread(run):
    run.process(0, "Thread number=1\n", size=1)
    assert warn(run) == "app_node01_0_1.trc: warning: this trace is missing"


def test_unknown_lines_are_ignored_with_one_warning_for_the_file(run):
    run.process(0, "\n\nWindow id=0 'broken\nWindow id=1\n\x01\x02 binary\n" + WORLD, size=1)
    assert warn(run) == (
        "app_node01_0_0.info:4: warning: unknown line 'Window' ignored (and 2 more unknown lines in this file)"
    )


def test_unknown_keys_are_ignored(run):
    run.process(0, WORLD.replace("\n", " colour='red' weight=1.5 x=\n"), size=1)
    run.merge_cleanly()


@pytest.mark.parametrize("line", ["Type id='1' comb", "Comm map='0->0;' id=1 name='x'", "T", "Type id='1' \\"])
def test_truncated_last_line_is_ignored(run, line):
    run.process(0, WORLD + line, size=1)
    assert warn(run).startswith("app_node01_0_0.info:3: warning: the last line is cut off")


def test_newer_version_is_refused(run):
    run.info(0)
    path = run.folder / "app_node01_0_0.info"
    path.write_text(path.read_text().replace("version=1", "version=2"))
    assert "newer version" in run.fail()


def test_second_process_line(run):
    run.process(0, "Process base='app' rank=0\n", size=1)
    assert "app_node01_0_0.info:2:" in run.fail()


def test_lost_states(run):
    run.process(0, "End thread=0 states=0 dropped=0\nEnd thread=1 states=5 dropped=7\n", size=1)
    assert warn(run).startswith("app_node01_0_0.info:3: warning: 7 states of thread 1 were lost")
    bound = ElementTree.parse(run.folder / "app.proj").find(".//Bound")
    assert (bound.get("name"), bound.get("value")) == ("lost-states", "7"), "tools say that they are missing"


LOST = "app_node01_0_0.info:{}: warning: {} lines were lost while this file could not be written: what they described is not known"


@pytest.mark.parametrize("line", [
    "Site id=0 frames='0+1;'",
    "Type id='2' combiner='MPI_COMBINER_DUP' types='9;'\nType id='1' combiner='MPI_COMBINER_DUP' types='2;'",
    "Win id=0 uid='w' cid=5 size=8 dispUnit=1",
    "TypeName id='9' name='n'",
])
def test_lost_lines(run, line):
    """What refers to them is left out."""
    lines = f"Lost lines=3\n{line}\nLost lines=4\nEnd thread=0 states=1 dropped=0\n"
    run.process(0, WORLD + lines, "<Type_free tid='9' time='0.1' end='0.2' />\n", size=1)
    result = run.merge("app")
    assert result.warnings == [LOST.format(4 + len(line.splitlines()), 7)]
    bound = result.project.find(".//Bound")
    assert (bound.get("name"), bound.get("value")) == ("lost-lines", "7")


@pytest.mark.parametrize("states, told", [(3, None), (4, 4), (1, 1)])
def test_a_trace_with_other_states_than_were_written(run, states, told):
    lines = "<Barrier cid='0' time='1.1' end='1.2' />\n<Nested>\n<Send cid='0' time='1.3' end='1.4' />\n</Nested>\n<Bcast cid='0' time='1.3' end='1.5' />\n<Event name='m' kind='mark' time='1.5' />\n"
    run.process(0, WORLD + f"End thread=0 states={states} dropped=0\n", lines, size=1)
    result = run.merge("app")
    expected = f"app_node01_0_0.trc: warning: the trace has 3 states, but its process wrote {told}: lines were taken out of it, or put into it, later"
    assert result.warnings == ([expected] if told else [])


def test_refused_calls(run):
    run.process(0, "End thread=0 states=0 dropped=0 refused=2\n", size=1)
    assert warn(run) == (
        "app_node01_0_0.info:2: warning: 2 calls of thread 0 to the trace library failed: "
        "what they were given is missing in the trace"
    )


def test_process_that_did_not_end_properly(run):
    run.process(0, "Thread number=1\nEnd thread=0 states=0 dropped=0\n", size=1, keys="pid=7")
    run.trace(0, thread=1)
    assert warn(run) == (
        "app_node01_0_0.info:1: warning: the process was ended from outside, or could not write its files to the end: "
        "the last calls of thread 1 may be missing in its trace"
    )
    assert run.merge("app").project.find(".//SuddenEnd/Ranks").attrib == {"first": "0", "last": "0"}


def test_process_that_ended_without_a_word_after_finalize(run):
    """All calls are saved there."""
    time = "CpuTime time=1.5 user=0.1 system=0.1\n"
    for lines, count in ((time, 1), (time * 2, 0)):
        run.process(0, lines, size=1, keys="pid=7")
        assert len(run.merge("app", "--overwrite").warnings) == count


def test_process_that_was_ended_by_a_signal(run):
    """Its handler has saved the calls."""
    run.process(0, "Signal name='SIGSEGV' time=2.5\n", size=1, keys="pid=7")
    assert run.merge("app").warnings == []
    assert run.merge("app").project.find(".//SuddenEnd") is None


def test_process_that_is_still_running(run):
    name = run.process(0, "End thread=0 states=0 dropped=0\nThread number=1\n", size=1, keys="pid=7")
    run.trace(0, thread=1)
    with open(run.folder / name, "r+") as info:
        fcntl.lockf(info, fcntl.LOCK_EX)
        assert warn(run) == f"{name}:1: warning: the process is still running: its last calls are not here yet"


class TestTraces:
    def test_described_objects(self, run):
        trace = (
            "<Bcast size='4' rootRank='0' cid='0' count='1' tid='0' time='0.1' end='0.2' />\n"
            "<File_set_view fid='0' etid='0' filetid='0' time='0.3' end='0.4' />\n"
            "<Comm_split cid='0' newcid='-1' time='0.5' end='0.6' />\n"
            "<Gather cid='0' tid='0' recvtid='-1' time='0.7' end='0.8' />\n"
            "<Event name='cid' time='0.9' cid='x' />\n"
        )
        run.process(0, WORLD + INT + FILE, trace, size=1)
        run.merge_cleanly()

    @pytest.mark.parametrize(
        "line, message",
        [
            ("<Barrier cid='3' time='0' end='1' />", "communicator 3 is used"),
            ("<Comm_dup cid='0' newcid='4' time='0' end='1' />", "communicator 4 is used"),
            ("<Send tid='5' time='0' end='1' />", "datatype 5 is used"),
            ("<Recv recvtid='5' time='0' end='1' />", "datatype 5 is used"),
            ("<File_set_view etid='6' time='0' end='1' />", "datatype 6 is used"),
            ("<File_set_view filetid='-7' time='0' end='1' />", "datatype -7 is used"),
            ("<Type_vector oldTid='8' time='0' end='1' />", "datatype 8 is used"),
            ("<File_close fid='9' time='0' end='1' />", "file 9 is used"),
            ("<File_close file='9' time='0' end='1' />", "file 9 is used"),
            ("<A time='0' end='1' ><Data tid='2' /></A>", "datatype 2 is used"),
            ("<Nested><B cid='7' time='0.1' end='0.2' /></Nested><A time='0' end='1' />", "communicator 7 is used"),
        ],
    )
    def test_undescribed_objects(self, run, line, message):
        run.process(0, WORLD + INT + FILE, line + "\n", size=1)
        text = warn(run)
        assert text.startswith("app_node01_0_0.trc:3: warning: " + message)

    def test_undescribed_objects_are_counted(self, run):
        trace = "".join(f"<Barrier cid='{cid}' time='{cid}' end='{cid}.5' />\n" for cid in (0, 3, 4, 3, 5))
        run.process(0, WORLD, trace, size=1)
        assert warn(run) == (
            "app_node01_0_0.trc:4: warning: communicator 3 is used, but not described in the .info "
            "(and 2 more communicators)"
        )

    @pytest.mark.parametrize("end", ["", "<Barr", "<Send time='0.3' end='0.4' />"])
    def test_cut_off_trace(self, run, end):
        run.info(0, size=1)
        run.trace(0, "<Barrier time='0.1' end='0.2' />\n<Barrier time='0.2' end='0.3' />\n", end=end)
        assert warn(run).startswith("app_node01_0_0.trc: warning: the trace is cut off after 2 states")

    def test_empty_trace(self, run):
        run.info(0, size=1)
        (run.folder / "app_node01_0_0.trc").write_text("")
        assert "cut off after 0 states" in warn(run)

    def cut_off(self, run, end="<Barr"):
        run.info(0, size=1)
        return run.folder / run.trace(0, "<Barrier time='0.1' end='0.2' />\n", end=end)

    @pytest.mark.parametrize("end", ["", "<Barr", "</Program"])
    def test_cut_off_trace_is_closed(self, run, end):
        trace = self.cut_off(run, end)
        before = trace.read_bytes()
        assert warn(run).endswith(" is missing; it was closed, the original is kept as app_node01_0_0.trc.orig")
        assert trace.read_bytes() == before.removesuffix(end.encode()) + b"</Program>\n"
        assert (run.folder / "app_node01_0_0.trc.orig").read_bytes() == before
        run.merge_cleanly("app", "--overwrite")
        run.merge_cleanly(".", "--overwrite")

    def test_trace_without_a_beginning_becomes_an_empty_one(self, run):
        run.info(0, size=1)
        trace = run.folder / "app_node01_0_0.trc"
        trace.write_text("<?xml version='1.0' enc")
        assert "all from <Program> on is missing; it was closed" in warn(run)
        root = ElementTree.parse(trace).getroot()
        assert (root.tag, root.get("rank"), root.get("thread"), len(root)) == ("Program", "0", "0", 0)

    @pytest.mark.parametrize("option", ["--no-repair", "--no-audit"])
    def test_cut_off_trace_is_left_as_it_is(self, run, option):
        self.cut_off(run)
        before = snapshot(run.folder)
        result = run.merge("app", option)
        assert (result.code, "closed" in result.stderr) == (0, False)
        assert {**snapshot(run.folder), "app.proj": None} == {**before, "app.proj": None}

    def test_original_of_an_earlier_repair_is_kept(self, run):
        trace = self.cut_off(run)
        before = trace.read_bytes()
        original = run.folder / "app_node01_0_0.trc.orig"
        original.write_text("precious")
        assert warn(run).endswith("; it cannot be closed: app_node01_0_0.trc.orig: File exists")
        assert (trace.read_bytes(), original.read_text()) == (before, "precious")
        assert not list(run.folder.glob("*.trc.??????"))

    def test_interrupted_repair_is_done_again(self, run):
        trace = self.cut_off(run)
        before = trace.read_bytes()
        original = run.folder / "app_node01_0_0.trc.orig"
        original.hardlink_to(trace)
        assert "it was closed" in warn(run)
        assert original.read_bytes() == before
        assert trace.read_bytes().endswith(b"</Program>\n")

    def test_trace_of_a_process_that_lives_is_left_as_it_is(self, run):
        trace = self.cut_off(run)
        before = snapshot(run.folder)
        with trace.with_suffix(".info").open("r+") as info:
            fcntl.lockf(info, fcntl.LOCK_EX)
            assert warn(run).endswith(" is missing; its process still writes")
        assert {**snapshot(run.folder), "app.proj": None} == {**before, "app.proj": None}

    def test_broken_trace_is_not_changed(self, run):
        run.process(0, trace="<Barrier time='0.1' end='0.2' &/>\n", size=1)
        before = (run.folder / "app_node01_0_0.trc").read_bytes()
        assert "closed" not in warn(run)
        assert (run.folder / "app_node01_0_0.trc").read_bytes() == before

    def test_broken_trace(self, run):
        run.process(0, trace="<Barrier time='0.1' end='0.2' &/>\n", size=1)
        assert warn(run).startswith("app_node01_0_0.trc:3: warning: the trace is broken")

    def test_of_traces_that_are_whole_only_the_ends_may_be_read(self, run):
        run.process(0, trace="<Barrier cid='3' time='0' end='1' />\n", size=1)
        assert "communicator 3 is used" in warn(run)
        run.merge_cleanly("app", "--audit-ends", "--overwrite")

    @pytest.mark.parametrize("options", [[], ["--audit-ends"]])
    def test_what_is_cut_off_is_closed_likewise(self, run, options):
        trace = self.cut_off(run)
        result = run.merge("app", *options)
        assert result.code == 0 and "it was closed, the original is kept as" in result.stderr
        assert trace.read_bytes().endswith(b"</Program>\n")

    def test_warnings_are_in_the_order_of_the_traces(self, run):
        for rank in range(8):
            calls = 1 if rank % 2 else 2000  # others are read sooner
            run.process(rank, trace=calls * f"<Barrier cid='{rank + 3}' time='0' end='1' />\n", size=8)
        told = [line for line in run.merge("app").stderr.splitlines() if "is used" in line]
        assert [int(re.search("communicator ([0-9]+)", line)[1]) for line in told] == list(range(3, 11))

    def test_no_audit_does_not_read_traces(self, run):
        run.process(0, trace="<broken\n", size=1)
        run.merge_cleanly("app", "--no-audit")

    def test_traces_are_not_changed(self, run):
        run.process(0, WORLD, "<Barrier cid='0' time='0.1' end='0.2' />\n", size=1)
        before = (run.folder / "app_node01_0_0.trc").read_bytes()
        run.merge_cleanly()
        assert (run.folder / "app_node01_0_0.trc").read_bytes() == before


def test_many_warnings_of_a_kind_are_counted(run):
    for rank in range(50):
        run.info(rank, size=50)
    result = run.merge("app")
    assert len(result.warnings) == 21
    assert result.warnings[-1] == "project-merger: warning: 30 more warnings about missing traces"


def test_all_errors_are_reported(run):
    for rank in range(3):
        run.process(rank, "File name='/f'\n", size=3)
    assert len(run.fail().splitlines()) == 3
