"""hdtrace pending, and project.pending(): of traces of a few lines."""
import json

import hdtrace
import pytest

from projects_of_lines import add_thread, write_project
from test_command import USAGE, run, run_well

SECOND = 10**9
ORIGIN = 100 * SECOND


def call(name, begin, end, attributes="", inside=""):
    body = f">{inside}</{name}>" if inside else " />"
    return f"<{name} {attributes} time='{begin}.0' end='{end}.0'{body}\n".replace("  ", " ")


def region(kind, time, name="solve"):
    return f"<Event name='{name}' kind='{kind}' time='{time}.0' />\n"


def made_by(process):
    """Opens a file together, writes to it together, and is behind the other one then."""
    return "".join(
        [
            call("Init", 0, 1),
            call("File_open", 1, 2, "cid='0' fid='0'"),
            region("begin", 2),
            region("begin", 3, "inner"),
            *(call("File_write_all", time + process / 2 if process else time, time + 1, "fid='0' size='4' count='1' tid='0'") for time in range(4, 14)),
            region("end", 14, "inner"),
            region("end", 15),
            call("File_close", 16, 17, "fid='0'"),
            call("Finalize", 18, 19),
        ]
    ).replace(".5.0'", ".5'")


@pytest.fixture(params=["read", "indexed"])
def project(request, tmp_path):
    path = write_project(tmp_path, made_by(0), made_by(1))
    if request.param == "indexed":
        run_well("index", "--calls", 1, path)
    with hdtrace.open(path) as opened:
        yield opened


def at(project, seconds):
    return project.pending(ORIGIN + int(seconds * SECOND))


def states(pending):
    return [(one.rank, one.state, one.text.split()[0], (one.since - ORIGIN) / SECOND, one.region) for one in pending.activities]


def test_the_moment_is_the_one_that_is_asked_for(project):
    """Also where nobody is in a call; one behind the run is its end."""
    assert [(at(project, moment).at - ORIGIN) / SECOND for moment in (0.5, 14.5, 15.5, 17.5, 19, 60)] == [0.5, 14.5, 15.5, 17.5, 19, 19]


def test_who_is_in_a_call_and_who_is_not(project):
    assert states(at(project, 13.2)) == [(0, "inside", "File_write_all", 13, "solve/inner"), (1, "computes", "File_write_all", 13, "solve/inner")]
    assert states(at(project, 14)) == [(0, "computes", "File_write_all", 14, "solve"), (1, "computes", "File_write_all", 14, "solve")]
    assert states(at(project, 15.5)) == [(0, "computes", "File_write_all", 14, ""), (1, "computes", "File_write_all", 14, "")]
    assert states(at(project, 1000)) == [(0, "ended", "Finalize", 19, ""), (1, "ended", "Finalize", 19, "")]
    assert at(project, 1000).at == ORIGIN + 19 * SECOND
    assert at(project, -1).activities == []


def run_of(path, threads, others=""):
    """Adds what is recorded of the threads of rank 0: the number of each, when it began and when it ended. others: of the other processes"""
    told = "".join(f'<Thread number="{number}" tid="{place}" begin="{begin}.0" end="{end}.0"/>' for place, (number, begin, end) in enumerate(threads))
    path.write_text(path.read_text().replace("</Application>", f'<Run><Process rank="0" pid="1" began="100">{told}</Process>{others}</Run></Application>'))


def test_a_thread_that_has_ended_does_not_compute(tmp_path):
    """The second one with that number has made its first call before it is looked at."""
    path = write_project(tmp_path, call("Init", 0, 1) + call("Barrier", 20, 21, "cid='0'") + call("Finalize", 28, 29))
    add_thread(path, 0, call("Barrier", 2, 3, "cid='0'") + call("Barrier", 8, 10, "cid='0'"))
    run_of(path, [(0, 0, 29), (1, 2, 5), (1, 8, 14)])

    def seen(project, seconds):
        return [(one.thread, one.state) for one in at(project, seconds).activities]

    with hdtrace.open(path) as opened:
        inside, computes, away = [(1, "inside")], [(1, "computes")], []
        assert [seen(opened, moment)[1:] for moment in (2.5, 4, 5, 7, 9, 12, 15)] == [inside, computes, away, away, inside, computes, away]
        assert [seen(opened, moment) for moment in (15, 26, 29)] == [[(0, "computes")], [(0, "computes")], [(0, "ended")]]
    lines = run_well("pending", path, "--at", "15").splitlines()
    assert lines[0].endswith("at 15.000000 s: 1 process, 0 inside MPI")
    assert [line.split() for line in lines[3:]] == [["0", "computes", "since", "14.0", "s", "Init"]]


def ended_alone(directory, last, end):
    """Of two processes the first one ends long before the other, with that call as its last one, and says when."""
    path = write_project(directory, call("Init", 0, 1) + last, call("Init", 0, 1) + call("Finalize", 28, 29))
    run_of(path, [(0, 0, end)], '<Process rank="1" pid="2" began="100"/>')
    return path


def test_a_process_that_has_ended_without_finalize_does_not_compute(tmp_path):
    path = ended_alone(tmp_path, call("Wtime", 2, 3), end=4)
    with hdtrace.open(path) as project:
        assert [states(at(project, moment))[0] for moment in (3.5, 4, 20)] == [(0, "computes", "Wtime", 3, ""), *[(0, "ended", "Wtime", 4, "")] * 2]
    lines = run_well("pending", path).splitlines()
    assert lines[0].endswith(": 2 processes, 0 inside MPI") and lines[3].split() == ["0", "ended", "after", "25.0", "s", "Wtime"]


def test_a_process_that_has_aborted_does_not_compute(tmp_path):
    """MPI_Abort does not return, so what comes of it later has no time of its own."""
    with hdtrace.open(ended_alone(tmp_path, call("Abort", 2, 3, "cid='0' errorcode='1'"), end=5)) as project:
        assert [states(at(project, moment))[0] for moment in (2.5, 3, 20)] == [(0, "inside", "Abort", 2, ""), *[(0, "ended", "Abort", 3, "")] * 2]


def test_of_a_process_that_left_no_calls_it_is_not_known_what_it_has_not_called(tmp_path):
    """It was killed before the tracer had written what it had called."""
    path = write_project(tmp_path, call("Init", 0, 1) + call("Barrier", 2, 9, "cid='0'"), call("Init", 0, 1) + call("Barrier", 5, 9, "cid='0'"), "")
    run_of(path, [(0, 0, 9)], "".join(f'<Process rank="{rank}" pid="{rank}" began="100"/>' for rank in (1, 2)))
    with hdtrace.open(path) as project:
        assert [[one.missing for one in at(project, moment).collectives] for moment in (3, 6)] == [[[1, 2]], []]
        assert at(project, 3).without_calls == [2]
    lines = run_well("pending", path, "--at", "3").splitlines()
    assert lines[0].endswith(" at 3.000000 s: 3 processes, 1 inside MPI, 1 left no calls (rank 2)")
    assert lines[-1].split() == ["Barrier", "WORLD", "0", "1", "1.00", "s"]
    told = json.loads(run_well("pending", path, "--at", "3", "--json"))
    assert (told["collectives"][0]["missing"], told["without_calls"]) == ([1], [2])


@pytest.mark.parametrize("name, attributes, is_listed", [
    ("Barrier", "", False), ("Allreduce", "size='4' count='1' tid='0'", False), ("Allreduce", "size='0' count='0' tid='0'", True),
    ("Bcast", "size='4' count='1' tid='0' rootRank='0'", True), ("Ibarrier", "rid='0'", True)])
def test_what_ends_in_one_member_only_once_all_have_called(tmp_path, name, attributes, is_listed):
    """Of the other one the last calls before it was killed are not in its trace."""
    path = write_project(tmp_path, call("Init", 0, 1) + call(name, 2, 4, f"cid='0' {attributes}"), call("Init", 0, 1))
    with hdtrace.open(path) as project:
        assert [len(at(project, moment).collectives) for moment in (3, 5)] == [1, is_listed]


# The snapshot before it has no call on the file that is open.
def test_calls_on_files_that_were_opened_before(project):
    (collective,) = at(project, 12.3).collectives
    assert (collective.name, [call.rank for call in collective.calls], collective.missing) == ("File_write_all", [0], [1])
    assert at(project, 12.7).collectives == []


def test_a_part_of_a_run_has_the_calls_that_opened_its_files(project, tmp_path):
    project.extract(tmp_path / "part", interval=(ORIGIN + 10 * SECOND, None))
    with hdtrace.open(tmp_path / "part") as part:
        assert [(call.rank, call.name) for call in part.calls(call_class="file") if call.time < ORIGIN + 9 * SECOND] == [(0, "File_open"), (1, "File_open")]


# Each Waitall waits for what is received in its iteration, and for what was sent in the one before.
def test_sends_that_are_completed_later_connect_no_iterations(tmp_path):
    def iteration(number):
        moment, receive = 1 + 3 * number, 2 * number + 1
        message = "toRank='0' toTag='5' cid='0' size='4' count='1' tid='0'"
        completed = "".join(f"<For rid='{rid}'{said} />" for rid, said in ((receive, " fromRank='0' fromTag='5' size='4'"), (receive - 1, "")) if rid)
        return (
            call("Irecv", moment, moment, f"{message.replace('to', 'from')} rid='{receive}'")
            + call("Isend", moment + 1, moment + 1, f"{message} rid='{receive + 1}'")
            + f"<Waitall time='{moment + 2}.0' end='{moment + 2}.5' >{completed}</Waitall>\n"
        )

    path = write_project(tmp_path, call("Init", 0, 1) + "".join(map(iteration, range(100))))
    for number in (9, 90):
        moment = 4 + 3 * number - 0.25  # behind the Waitall
        with hdtrace.open(path) as project:
            assert [(one.call.name, (one.call.time - ORIGIN) / SECOND) for one in at(project, moment).requests] == [("Isend", moment - 1.75)]
            project.extract(tmp_path / f"behind{number}", interval=(ORIGIN + int(moment * SECOND), None))
        with hdtrace.open(tmp_path / f"behind{number}") as part:
            assert [one.name for one in part.calls() if one.time < ORIGIN + moment * SECOND] == ["Irecv", "Isend", "Waitall"]
            assert len(list(part.messages())) == 100 - number
            assert part.checker().read(1000) == []


def test_a_call_in_which_a_process_died_lasts(tmp_path):
    trace = call("Init", 0, 1) + "<Recv fromRank='1' fromTag='3' cid='0' unfinished='1' time='2.0' end='3.0' />\n"
    path = write_project(tmp_path, trace, call("Init", 0, 1) + "".join(call("Wtime", time, time) for time in range(4, 40)) + call("Finalize", 41, 42))
    for _ in range(2):
        with hdtrace.open(path) as opened:
            assert states(at(opened, 30))[0] == (0, "inside", "Recv", 2, "")
        run_well("index", "--calls", 1, path)


@pytest.mark.parametrize("others, missing", [("", [1]), ("<Barrier cid='0' unfinished='1' time='9.0' end='30.0' />\n", None)])
def test_a_collective_call_in_which_a_process_died_was_called(tmp_path, others, missing):
    """Of a program that hangs: what the others did until then comes before and behind it."""
    trace = call("Init", 0, 1) + "<Barrier cid='0' unfinished='1' time='2.0' end='30.0' />\n"
    path = write_project(tmp_path, trace, call("Init", 0, 1) + "".join(call("Wtime", time, time) for time in range(4, 8)) + others)
    for _ in range(2):
        with hdtrace.open(path) as opened:
            assert [one.missing for one in at(opened, 5).collectives] == [[1]]
            assert [one.missing for one in at(opened, 29).collectives] == ([missing] if missing else [])
        run_well("index", "--calls", 1, path)


# As other tools write it: the probe that took the message is not told.
def test_a_probed_message_without_its_probe(tmp_path):
    data = "cid='0' size='4' count='1' tid='0'"
    path = write_project(
        tmp_path,
        call("Send", 1, 2, f"{data} toRank='1' toTag='3'") + call("Barrier", 6, 7, "cid='0'"),
        call("Mrecv", 3, 5, f"{data} fromRank='0' fromTag='3'") + call("Barrier", 6, 7, "cid='0'"),
    )
    with hdtrace.open(path) as opened:
        assert [len(at(opened, seconds).messages) for seconds in (1.5, 4, 5.5, 8)] == [1, 1, 0, 0]
        assert states(at(opened, 4))[1] == (1, "inside", "Mrecv", 3, "")


def test_what_is_told_for_checking_is_no_argument(tmp_path):
    told = "count='1' tid='0' fromRank='1' fromTag='3' cid='0' rid='0' writes='140732:4:0;' frames='140732:3;' pollTime='0.5'"
    path = write_project(tmp_path, call("Irecv", 1, 2, told), call("Barrier", 6, 7, "cid='0'"))
    with hdtrace.open(path) as opened:
        assert [one.text for one in at(opened, 3).requests] == ["Irecv count=1 tid=MPI_INT fromRank=1 fromTag=3 cid=WORLD rid=0"]


def test_command(tmp_path):
    path = write_project(tmp_path, made_by(0), made_by(1))
    lines = run_well("pending", path, "--at", "12.3").splitlines()
    assert lines[0] == f"{path} at 12.300000 s: 2 processes, 1 inside MPI"
    assert [line.split() for line in lines[1:]] == [
        [],
        ["ranks", "what", "for", "call", "region"],
        ["0", "in", "300", "ms", "File_write_all", "fid=/data/out", "size=4", "count=1", "tid=MPI_INT", "solve/inner"],
        ["1", "computes", "since", "300", "ms", "File_write_all", "solve/inner"],
        [],
        ["1", "collective", "operation", "not", "called", "by", "all", "members:"],
        ["call", "communicator", "by", "not", "by", "for"],
        ["File_write_all", "WORLD", "0", "1", "300", "ms"],
    ]
    told = json.loads(run_well("pending", path, "--at", "12.3", "--json"))
    assert (told["version"], told["at"]) == (1, 12.3)
    assert told["threads"][0] | {"call": ""} == {"rank": 0, "thread": 0, "state": "inside", "since": 12.0, "call": "", "site": None, "region": "solve/inner", "signal": None}
    assert told["collectives"][0]["missing"] == [1]
    assert told["requests"] == told["messages"] == []
    assert json.loads(run_well("pending", path, "--json"))["at"] == 19
    assert run("pending", path, "--at", "soon").returncode == USAGE
    before = run("pending", path, "--at=-1")
    assert (before.returncode, before.stdout) == (USAGE, "")
    behind = run("pending", path, "--at", "60")
    assert behind.stdout == run_well("pending", path)
    assert behind.stderr == "hdtrace: --at: the run ends at 19.000000 seconds, which is what is shown\n"


def ended_by_signal(directory, signals, *threads, ends=""):
    """Of two processes the first one, with these traces of its threads, got signals at these seconds."""
    path = write_project(directory, call("Init", 0, 1) + threads[0], call("Init", 0, 1) + call("Barrier", 28, 29, "cid='0'"))
    for lines in threads[1:]:
        add_thread(path, 0, lines)
    told = "".join(f'<Signal name="{name}" time="{time}.0"' + "".join(f' thread="{one}"' for one in thread) + "/>" for name, time, *thread in signals)
    path.write_text(path.read_text().replace("</Application>", f'<Run><Process rank="0" pid="1" began="100">{told}{ends}</Process><Process rank="1" pid="2" began="100"/></Run></Application>'))
    return path


def died(project, seconds):
    return [one.signal and (one.signal.name, (one.signal.time - ORIGIN) / SECOND) for one in at(project, seconds).activities]


def test_a_process_that_a_signal_has_ended_does_nothing_any_more(tmp_path):
    path = ended_by_signal(tmp_path, [("SIGSEGV", 5)], call("Barrier", 2, 3, "cid='0'"), "<Recv fromRank='1' fromTag='3' cid='0' unfinished='1' time='4.0' end='5.0' />\n")
    with hdtrace.open(path) as project:
        assert (died(project, 4.5), died(project, 5), died(project, 20)) == ([None] * 3, *[[("SIGSEGV", 5.0), ("SIGSEGV", 5.0), None]] * 2)
    assert [line.split() for line in run_well("pending", path).splitlines()[2:5]] == [
        ["ranks", "what", "for", "call", "ended", "by", "ago"],
        ["0", "died", "after", "2.00", "s", "Barrier", "SIGSEGV", "24.0", "s"],
        ["0", "died", "in", "1.00", "s", "Recv", "fromRank=1", "fromTag=3", "cid=WORLD", "SIGSEGV", "24.0", "s"],
    ]
    assert json.loads(run_well("pending", path, "--json"))["threads"][0]["signal"] == {"name": "SIGSEGV", "at": 5.0}


@pytest.mark.parametrize("threads, ends", [
    ([call("Barrier", 6, 7, "cid='0'")], ""), (["", call("Barrier", 2, 7, "cid='0'")], ""), ([""], '<Thread number="0" tid="1" begin="1.0" end="20.0"/>')])
def test_a_signal_that_was_handled_ended_no_process(tmp_path, threads, ends):
    with hdtrace.open(ended_by_signal(tmp_path, [("SIGSEGV", 5)], *threads, ends=ends)) as project:
        assert {*died(project, 6.5), *died(project, 25)} == {None}


@pytest.mark.parametrize("signal, is_end", [(("SIGABRT", 5, 1), True), (("SIGABRT", 5, 0), False), (("SIGTERM", 5, 1), False), (("SIGABRT", 5), True), (("SIGABRT", 4), False)])
def test_other_threads_go_on_while_a_handler_tells_of_a_fault(tmp_path, signal, is_end):
    """For a second, where it is not known which thread that is."""
    path = ended_by_signal(tmp_path, [signal], call("Barrier", 5, 6, "cid='0'"), call("Barrier", 2, 3, "cid='0'"))
    with hdtrace.open(path) as project:
        assert died(project, 20) == [*[(signal[0], float(signal[1])) if is_end else None] * 2, None]
    assert ("0 ns to 2.00 s" in run_well("pending", path)) == is_end


def test_of_several_signals_the_last_one(tmp_path):
    path = ended_by_signal(tmp_path, [("SIGSEGV", 3), ("SIGTERM", 8)], call("Barrier", 4, 5, "cid='0'"))
    with hdtrace.open(path) as project:
        assert died(project, 20) == [("SIGTERM", 8.0), None]


@pytest.mark.parametrize("fact, said", [
    ("SuddenEnd", "ranks 0..1,3 ended suddenly: the last calls may be missing"),
    ("Running", "ranks 0..1,3 were running when the project was made: later calls are not in it")])
def test_processes_whose_last_calls_may_be_missing(tmp_path, fact, said):
    path = write_project(tmp_path, *[call("Init", 0, 1)] * 4)
    ranks = '<Ranks first="0" last="1"/><Ranks first="3" last="3"/>'
    path.write_text(path.read_text().replace("</Application>", f"<Run><{fact}>{ranks}</{fact}></Run></Application>"))
    for command in ("stats", "pending", "check", "analyze"):
        assert run(command, path).stderr.splitlines()[0] == f"hdtrace: {path}: {said}"


def test_a_run_ends_with_the_signal_that_ended_it(tmp_path):
    """What a program did last may be no call: then nothing else tells how long it did that."""
    path = write_project(tmp_path, call("Init", 0, 1) + call("Barrier", 1, 2, "cid='0'"), closing="")
    signal = '<Process rank="0" pid="1" began="100"><Signal name="SIGTERM" time="30.000000000"/></Process>'
    path.write_text(path.read_text().replace("</Application>", f"<Run>{signal}</Run></Application>"))
    with hdtrace.open(path) as project:
        pending = project.pending(10**18)
        assert (pending.at, [(one.state, one.since) for one in pending.activities]) == (130 * SECOND, [("computes", 102 * SECOND)])
    said = "SIGTERM came 28.0 s after the last call, where these figures end"
    assert said in run("stats", path).stdout and said in run("analyze", path).stdout
    assert said not in run("stats", "--rank", "0", path).stdout + run("analyze", "--interval", "0..2", path).stdout
