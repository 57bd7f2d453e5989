"""The command `hdtrace`, as a user calls it."""
import fcntl
import gzip
import json
import os
import pty
import resource
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import hdtrace
import pytest
from hdtrace.cli.table import COMMANDS

from projects_of_lines import add_thread, write_project
from test_calls import RECEIVER, REGIONS, SENDER

BUILD = Path(os.environ.get("TESTED_BUILD", Path(__file__).resolve().parents[2] / "build/dev"))
COMMAND = BUILD / "bin/hdtrace"
BARRIER = "<Barrier cid='0' time='1.000000000' end='2.000000000' />\n"
FINE, ERROR, USAGE = 0, 1, 2


def run(*words, **options):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=60, **options)


def run_well(*words):
    result = run(*words)
    assert (result.returncode, result.stderr) == (FINE, ""), result
    return result.stdout


@pytest.fixture
def project(tmp_path):
    return write_project(tmp_path, SENDER, RECEIVER)


def test_info(project):
    assert run_well("info", project) == """\
app: 2 processes, 1 host, 2 threads

communicator  processes  uid
WORLD                 2  W

file       initial size  processes
/data/out            16          2

datatype  combiner  size  extent  descriptions
MPI_INT   NAMED        4       4             2
"""
    about = json.loads(run_well("info", project, "--json"))
    assert about["communicators"] == [{"name": "WORLD", "uid": "W", "processes": 2, "ranks": [0, 1]}]
    assert [thread["rank"] for thread in about["threads"]] == [0, 1]


def test_info_shows_few_of_many_objects(project):
    description = Path(project)
    text = description.read_text()
    world = text[text.index("    <Communicator "):text.index("  </CommunicatorList>")]
    others = "".join(world.replace('name="WORLD" uid="W"', f'name="" uid="W/{number}@0"').replace('cid="0"', f'cid="{number}"') for number in range(1, 22))
    description.write_text(text.replace(world, world + others))
    shown = run_well("info", project)
    assert "W/19@0\nand 2 more communicators; --all shows all\n" in shown and "W/20@0" not in shown
    assert "W/21@0" in run_well("info", project, "--all")


def test_stats(project):
    assert run_well("stats", project) == """\
app: 2 processes, 7 calls in 5.500000 seconds; 1 call had not ended, and is in no sum

call           calls   seconds     own     %  shortest    mean  longest  bytes
Barrier            2  1.500000  1.50 s  44.1    500 ms  750 ms   1.00 s
Wait               1  0.900000  800 ms  23.5    900 ms  900 ms   900 ms
Send               1  0.500000  500 ms  14.7    500 ms  500 ms   500 ms    8 B
Irecv              1  0.250000  250 ms   7.4    250 ms  250 ms   250 ms    8 B
File_write_at      1  0.250000  250 ms   7.4    250 ms  250 ms   250 ms   16 B
Type_size          1  0.100000  100 ms   2.9    100 ms  100 ms   100 ms
"""


@pytest.mark.parametrize("by, calls", [
    ("class", {"collective": 2, "completion": 1, "point-to-point": 2, "file": 1, "datatype": 1}),
    ("rank", {"0": 3, "1": 4}),
    ("thread", {"0.0": 3, "1.0": 4}),
    ("peer", {"any": 1, "1": 1}),
    ("communicator", {"WORLD": 4}),
    ("communicator-size", {"2": 4}),
    ("file", {"/data/out": 1}),
    ("size", {"8..15": 2, "16..31": 1}),
])
def test_stats_by(project, by, calls):
    (groups,) = json.loads(run_well("stats", project, "--by", by, "--json"))["by"].values()
    assert {label: totals["calls"] for label, totals in groups.items()} == calls


def test_stats_by_region(tmp_path):
    project = write_project(tmp_path, REGIONS, BARRIER)
    assert run_well("stats", project, "--by", "region") == """\
app: 2 processes, 6 calls in 2.500000 seconds

region            calls   seconds     own     %  shortest    mean  longest  bytes  entered    inside
(none)                2  1.500000  1.50 s  60.0    500 ms  750 ms   1.00 s
solve                 1  0.200000  200 ms   8.0    200 ms  200 ms   200 ms    8 B        1  1.000000
solve/n:exchange      1  0.100000  100 ms   4.0    100 ms  100 ms   100 ms               1  0.300000
"""
    regions = json.loads(run_well("stats", project, "--by", "region", "--rank", "0", "--json"))["by"]["region"]
    assert {name: (of["calls"], of["entered"], of["inside"]) for name, of in regions.items()} == {
        "": (1, 0, 0), "solve": (1, 1, 1), "solve/n:exchange": (1, 1, 0.3)}


def test_stats_of_an_interval_know_the_regions_that_began_before(tmp_path):
    project = write_project(tmp_path, REGIONS)
    project.write_text(project.read_text().replace(
        "</Application>", '<Run><Region name="solve"><Ranks first="0" last="0"/></Region></Run></Application>'))
    regions = json.loads(run_well("stats", project, "--by", "region", "--interval", "0.2..0.6", "--json"))["by"]["region"]
    assert {name: of["calls"] for name, of in regions.items()} == {"solve": 1, "solve/n:exchange": 1}


def test_stats_of_what_is_inside_count_their_own_time_once(tmp_path):
    project = write_project(tmp_path, REGIONS)
    calls = json.loads(run_well("stats", project, "--json"))["by"]["call"]
    assert {name: (of["seconds"], of["exclusive"]) for name, of in calls.items()} == {
        "solve": (1, 0.5), "n:exchange": (0.3, 0.2), "Barrier": (0.6, 0.6), "Send": (0.2, 0.2)}


def test_stats_by_several_groups_at_once(project):
    tables = json.loads(run_well("stats", project, "--by", "call,rank", "--by", "rank", "--json"))["by"]
    assert {(call, rank): of["calls"] for call, ranks in tables["call,rank"].items() for rank, of in ranks.items()} == {
        ("Barrier", "0"): 1, ("Barrier", "1"): 1, ("Wait", "1"): 1, ("Send", "0"): 1, ("Irecv", "1"): 1, ("File_write_at", "0"): 1, ("Type_size", "1"): 1}
    for rank, totals in tables["rank"].items():
        crossed = [ranks[rank] for ranks in tables["call,rank"].values() if rank in ranks]
        for value, of in {"calls": sum, "seconds": sum, "exclusive": sum, "shortest": min, "longest": max, "bytes": sum}.items():
            assert totals[value] == pytest.approx(of(one[value] for one in crossed))


def test_stats_for_spreadsheets(project):
    lines = run_well("stats", project, "--by", "class,rank", "--rank", "0", "--csv").splitlines()
    assert lines[0] == "class,rank,calls,seconds,exclusive,shortest,mean,longest,bytes,sent,received,posted"
    assert "point-to-point,0,1,0.5,0.5,0.5,0.5,0.5,8,8,0,0" in lines and len(lines) == 4


def test_who_sends_how_much_to_whom(project):
    assert run_well("stats", project, "--matrix", "bytes") == """\
app: 2 processes, bytes of point-to-point communication

from \\ to  1
        0  8
"""
    assert run_well("stats", project, "--matrix", "messages", "--csv") == "from \\ to,1\n0,1\n"
    assert json.loads(run_well("stats", project, "--matrix", "bytes", "--json"))["matrix"] == [{"from": 0, "to": 1, "messages": 1, "bytes": 8}]
    assert json.loads(run_well("stats", project, "--matrix", "bytes", "--rank", "1", "--json"))["matrix"] == []


def test_a_matrix_that_is_too_wide_for_people_is_a_list(tmp_path):
    sends = [f"<Send size='8' count='2' tid='0' toRank='{rank}' toTag='7' cid='0' time='{rank}.0' end='{rank}.5' />\n" for rank in range(1, 66)]
    project = write_project(tmp_path, "".join(sends), *[""] * 65)
    lines = run_well("stats", project, "--matrix", "bytes").splitlines()
    assert [line.split() for line in lines[2:5]] == [["from", "to", "bytes"], ["0", "1", "8"], ["0", "2", "8"]] and len(lines) == 2 + 1 + 65
    assert run_well("stats", project, "--matrix", "bytes", "--csv").startswith("from \\ to,1,2,3")


@pytest.mark.parametrize("words, said", [
    (["--csv", "--json"], "--csv and --json exclude each other"),
    (["--matrix", "bytes", "--by", "rank"], "--matrix and --by exclude each other"),
    (["--by", "counter,rank"], "--by counter is a table of its own"),
    (["--by", "rank,rank"], "--by rank,rank has a group twice"),
    (["--csv", "--by", "rank", "--by", "call"], "--csv writes one table"),
])
def test_stats_refuse_what_does_not_go_together(project, words, said):
    result = run("stats", project, *words)
    assert result.returncode == USAGE and said in result.stderr and result.stdout == ""


COUNTERS = """
<Run>
  <Counter name="cells" type="integer" scope="process" valid="after"><Ranks first="0" last="1"/></Counter>
  <Counter name="copied" type="integer" unit="B" scope="process" valid="point"><Ranks first="0" last="1"/></Counter>
  <Counter name="rate" type="float" unit="1" scope="thread" valid="point" display="rate"><Ranks first="0" last="1"/></Counter>
</Run></Application>"""


def counted(*values):
    """A line for each value, a second after the other."""
    return "".join(f"<Event name='{name}' kind='count' value='{value}' time='{1 + i}.000000000' />\n" for i, (name, value) in enumerate(values))


@pytest.fixture
def counters(tmp_path):
    first = counted(("cells", 64), ("copied", 1000), ("rate", "0.5"), ("copied", 24000), ("cells", -5), ("undefined", "0.1"), ("copied", 8000))
    inside = "<Nested><Event name='cells' kind='count' value='128' time='9.100000000' /></Nested><Barrier cid='0' time='9.000000000' end='9.500000000' />\n"
    project = write_project(tmp_path, first + inside, counted(("copied", 2**62), ("copied", 2**62), ("rate", "NaN"), ("rate", "-INF"), ("rate", 3)))
    project.write_text(project.read_text().replace("</Application>", COUNTERS))
    return project


def test_stats_by_counter(counters):
    assert run_well("stats", counters, "--by", "counter") == """\
app: 2 processes, 1 calls in 0.500000 seconds

counter    unit  rank  thread  values                first                 last              minimum         mean              maximum          sum
cells               0               3                   64                  128                   -5      62.3333                  128
copied     B        0               3                 1000                 8000                 1000        11000                24000        33000
copied     B        1               2  4611686018427387904  4611686018427387904  4611686018427387904  4.61169e+18  4611686018427387904  9.22337e+18
rate       1        0       0       1                  0.5                  0.5                  0.5          0.5                  0.5
rate       1        1       0       3                  nan                    3                 -inf          nan                    3
undefined           0               1                  0.1                  0.1                  0.1          0.1                  0.1
"""


def test_stats_by_counter_for_programs(counters):
    by = json.loads(run_well("stats", counters, "--by", "counter", "--by", "call", "--json"))["by"]
    assert by["call"].keys() == {"Barrier"} and by["counter"].keys() == {"cells", "copied", "rate", "undefined"}
    assert by["counter"]["copied"]["definition"] == {"name": "copied", "type": "integer", "unit": "B", "scope": "process", "valid": "point"}
    assert by["counter"]["copied"]["told"][0] == {
        "rank": 0, "values": 3, "first": 1000, "last": 8000, "minimum": 1000, "mean": 11000, "maximum": 24000, "sum": 33000}
    assert by["counter"]["rate"]["told"][1] == {
        "rank": 1, "thread": 0, "values": 3, "first": "NaN", "last": 3, "minimum": "-INF", "mean": "NaN", "maximum": 3, "sum": None}
    assert by["counter"]["undefined"]["definition"] == {}


def test_stats_by_counter_of_a_part_of_the_run(counters):
    def values(*options):
        found = json.loads(run_well("stats", counters, "--by", "counter", "--json", *options))["by"]["counter"]
        return {(name, one["rank"]): one["values"] for name, counter in found.items() for one in counter["told"]}

    assert values("--rank", "0", "--interval", "1..5.1") == {("copied", 0): 2, ("rate", 0): 1, ("cells", 0): 1, ("undefined", 0): 1}
    assert values("--rank", "1", "--call", "Send") == {("copied", 1): 2, ("rate", 1): 3}
    assert run("stats", counters, "--thread", "1").returncode == USAGE


def test_marks_and_counters_are_no_calls(tmp_path):
    project = write_project(tmp_path, REGIONS)
    calls = json.loads(run_well("stats", project, "--json"))["by"]["call"]
    assert {name: of["calls"] for name, of in calls.items()} == {"Barrier": 2, "Send": 1, "solve": 1, "n:exchange": 1}


def test_stats_of_some_calls(project):
    stats = json.loads(run_well("stats", project, "--by", "call", "--by", "rank", "--call", "Type_size,Send", "--rank", "0..1", "--json"))
    assert stats["by"]["rank"].keys() == {"0", "1"} and stats["by"]["call"].keys() == {"Send", "Type_size"}
    assert stats["total"] == {"calls": 2, "seconds": pytest.approx(0.6), "exclusive": pytest.approx(0.6), "shortest": 0.1, "mean": pytest.approx(0.3),
                              "longest": 0.5, "bytes": 8, "sent": 8, "received": 0, "posted": 0}


def test_dump(project):
    assert run_well("dump", project, "--rank", "0-1") == run_well("dump", project, "--rank", "0..1")
    assert run_well("dump", project, "--rank", "1", "--interval", "..2") == """\
0.000000000 0.250000000 1.0 Irecv fromRank=-1 fromTag=7 cid=WORLD rid=3 size=8 tid=MPI_INT
0.700000000 0.100000000 1.0   Type_size tid=MPI_INT
0.600000000 0.900000000 1.0 Wait (For rid=3 fromRank=0 fromTag=7 size=8)
"""
    assert run_well("dump", project, "--class", "file").split()[3:5] == ["File_write_at", "fid=/data/out"]
    assert "Recv" in run_well("dump", project, "--unfinished", "--interval", "4..")


def test_the_last_calls_of_each_thread(tmp_path):
    """Also those that had not ended, since one asks for them when a program died."""
    lines = "".join(f"<Barrier cid='0' time='{time}.0' end='{time}.5' />\n" for time in range(1, 9))
    path = write_project(tmp_path, lines + "<Recv unfinished='1' time='9.0' end='12.0' />\n", lines, "<Event name='solve' kind='begin' time='2.0' />\n<Barrier cid='0' time='3.0' end='4.0' />\n")
    last = ["3.0", "7.0", "8.0", "8.0", "9.0"]
    assert [line.split()[2:4] for line in run_well("dump", path, "--last", "2", "--class", "collective,point-to-point").splitlines()] == [
        ["2.0", "Barrier"], ["1.0", "Barrier"], ["0.0", "Barrier"], ["1.0", "Barrier"], ["0.0", "Recv"]]
    calls = [json.loads(line) for line in run_well("dump", path, "--last", "2", "--call", "Barrier,Recv", "--json").splitlines()]
    assert ([f"{call['start'] / 1e9 - 100:.1f}" for call in calls], calls[0]["region"]) == (last, "solve")
    (tmp_path / "last.trc").write_text(run_well("dump", path, "--last", "2", "--call", "Barrier,Recv", "--xml"))
    assert [f"{state.time / 1e9 - 100:.1f}" for state in hdtrace.read_trace(tmp_path / "last.trc")] == last
    assert len(run_well("dump", path, "--last", "100").splitlines()) == 19
    assert run("dump", path, "--last", "0").returncode == USAGE


def test_the_last_calls_before_a_broken_place(tmp_path):
    path = write_project(tmp_path, "".join(f"<Barrier cid='0' time='{time}.0' end='{time}.5' />\n" for time in (1, 2, 3)) + "<Barrier cid=\n", "<Barrier cid='0' time='5.0' end='6.0' />\n")
    result = run("dump", path, "--last", "1")
    assert [line.split()[2] for line in result.stdout.splitlines()] == ["0.0", "1.0"]
    assert (result.returncode, result.stderr.count("\n")) == (ERROR, 1) and "app_node01_0_0.trc:7:1: " in result.stderr


def test_dumped_events(tmp_path):
    dumped = run_well("dump", write_project(tmp_path, REGIONS))
    assert [line.split(" ", 3)[3] for line in dumped.splitlines()] == [
        "begin solve", "begin n:exchange", "Barrier cid=WORLD", "count residual value=0.5", "mark converged text=at last", "end n:exchange",
        "Send size=8 toRank=1 toTag=7 cid=WORLD", "end solve", "Barrier cid=WORLD"]
    lines = [json.loads(line) for line in run_well("dump", tmp_path / "app.proj", "--json").splitlines()]
    assert [line["region"] for line in lines if line["name"] in ("Barrier", "Send")] == ["solve/n:exchange", "solve", ""]


def test_dumped_xml_is_a_trace(project, tmp_path):
    dumped = tmp_path / "dumped.trc"
    dumped.write_text(run_well("dump", project, "--xml"))
    hdtrace.validate(dumped)
    states, calls = hdtrace.read_trace(dumped), list(hdtrace.open(project).calls())
    assert [(state.name, state.time, state.end, state["ofRank"], state.children, len(state.nested)) for state in states] == [
        (call.name, call.time, call.end, str(call.rank), call.children, len(call.nested)) for call in calls]


def test_dumped_xml_is_escaped(tmp_path):
    value = "&lt;&apos;&quot;&amp;&#10;ü"
    project = write_project(tmp_path, f"<File_open name='{value}' time='1.000000000' end='2.000000000' />\n")
    dumped = tmp_path / "dumped.trc"
    dumped.write_text(run_well("dump", project, "--xml"))
    assert hdtrace.read_trace(dumped)[0]["name"] == "<'\"&\nü"
    assert run_well("dump", project).endswith(" File_open name=<'\"&\\nü\n"), "people read it as it is, in one line"


def test_a_program_with_levels_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    with hdtrace.TraceWriter("adder", {"Host": "node01", "Worker": "a"}) as trace, trace.state("Step", rank=7):
        pass
    run_well("merge", "-o", tmp_path / "adder.proj", tmp_path / "adder_node01_a.info")
    assert run_well("dump", tmp_path / "adder.proj").split()[2:] == ["node01/a", "Step", "rank=7"]
    assert "<Step rank='7' of='node01/a' time=" in run_well("dump", tmp_path / "adder.proj", "--xml")


def test_dumped_json(project):
    (wait,) = map(json.loads, run_well("dump", project, "--json", "--call", "Wait").splitlines())
    assert (wait["rank"], wait["class"], wait["start"]) == (1, "completion", 101_100_000_000)
    assert wait["children"] == [{"name": "For", "attributes": {"rid": "3", "fromRank": "0", "fromTag": "7", "size": "8"}}]
    assert [nested["name"] for nested in wait["nested"]] == ["Type_size"]


def call(name, time, attributes="", children=""):
    return f"<{name} {attributes} time='{time}.000000000' end='{time}.500000000' >{children}</{name}>\n"


ISEND = call("Isend", 1, "toRank='1' toTag='7' cid='0' rid='5' size='8' tid='0'")
WAIT = call("Wait", 2, "", "<For rid='5' />")
RECV = call("Recv", 1, "fromRank='0' fromTag='7' cid='0' size='8' tid='0'")
BCAST = "size='4' cid='0' tid='0' rootRank='{}'"


@pytest.mark.parametrize("traces, finding", [
    ([ISEND + WAIT, ""], (0, 3, "message-not-received: sent to rank 1, tag 7 on WORLD, but never received")),
    (["", RECV], (1, 3, "message-not-sent: receive from rank 0, tag 7 on WORLD, but never sent")),
    ([BARRIER + ISEND, BARRIER + RECV], (0, 4, "request-not-completed: Isend with rid 5 was never completed")),
    (["", call("Type_free", 1, "tid='9'") * 2], (1, 3, "reference: Type_free names tid='9', but the project has no such datatype of rank 1")),
    ([call("Start", 1, "", "<Send rank='1' tid='8' />"), ""], (0, 3, "reference: Start names tid='8', but the project has no such datatype of rank 0")),
    ([BARRIER, call("Bcast", 3, BCAST.format(0)) + BARRIER],
     (1, 3, "collective-call-mismatch: collective operation 1 on WORLD is Bcast with root 0 here, but Barrier in {0}:3")),
    ([call("Bcast", 1, BCAST.format(0)), call("Bcast", 2, BCAST.format(1))],
     (1, 3, "collective-root-mismatch: collective operation 1 on WORLD is Bcast with root 1 here, but Bcast with root 0 in {0}:3")),
    ([BARRIER * 2, BARRIER, BARRIER], (0, 4, "collective-missing: collective operation 2 on WORLD, Barrier, was not called by ranks 1, 2")),
    (["<Recv time='1.000000000' end='2.000000000' unfinished='1' />\n"], (0, 3, "unfinished: the process ended inside Recv")),
    (["<Barrier cid='0' time='1' end='2.000000000' />\n"], (0, 3, "schema: Element Barrier failed to validate attributes")),
])
def test_check(tmp_path, traces, finding):
    project = write_project(tmp_path, *traces)
    paths = hdtrace.open(project).trace_paths
    rank, line, text = finding
    result = run("check", project)
    assert (result.returncode, result.stderr) == (ERROR, "")
    assert result.stdout == f"{paths[rank]}:{line}: {text.format(*paths)}\n"
    (found,) = json.loads(run("check", project, "--json").stdout)
    assert (found["file"], found["line"]) == (paths[rank], line) and text.startswith(found["kind"])


def test_check_of_a_trace_that_was_cut_off(tmp_path):
    project = write_project(tmp_path, BARRIER, closing="")
    result = run("check", project)
    assert (result.returncode, result.stderr) == (ERROR, "")
    assert result.stdout == f"{tmp_path}/app_node01_0_0.trc: cut-off: </Program> is missing: the trace was cut off\n"


def ring(rank, rounds):
    """Each of three processes sends to the next one, and all meet."""
    following, before = (rank + 1) % 3, (rank - 1) % 3
    return "".join(
        call("Bsend", 3 * i + 1, f"toRank='{following}' toTag='7' cid='0' size='8' tid='0'")
        + call("Recv", 3 * i + 2, f"fromRank='{before}' fromTag='7' cid='0' size='8' tid='0'")
        + call("Barrier", 3 * i + 3, "cid='0'") for i in range(rounds))


def test_check_names_the_cause_first(tmp_path):
    project = write_project(tmp_path, *(ring(rank, 100) for rank in range(3)))
    first, second, third = (Path(path) for path in hdtrace.open(project).trace_paths)
    second.write_text("".join(second.read_text().splitlines(keepends=True)[:32]))  # 10 rounds of 100
    result = run("check", project)
    assert (result.returncode, result.stderr) == (ERROR, "")
    assert result.stdout.splitlines() == [
        f"{second}: cut-off: </Program> is missing: the trace was cut off",
        f"  {first}:35: collective-missing: collective operation 11 on WORLD, Barrier, was not called by rank 1",
        f"  {first}:33: message-not-received: sent to rank 1, tag 7 on WORLD, but never received (and 89 more)",
        f"  {third}:34: message-not-sent: receive from rank 1, tag 7 on WORLD, but never sent (and 89 more)",
        "178 left out; hdtrace check --all shows all"]
    everything = run("check", project, "--all").stdout.splitlines()
    assert len(everything) == 182 and everything[0] == result.stdout.splitlines()[0]
    found = json.loads(run("check", project, "--json").stdout)
    assert [finding["because"] for finding in found] == [None] + 181 * [str(second)]

    second.unlink()
    result = run("check", project)
    assert (result.returncode, result.stderr) == (ERROR, f"hdtrace: {second}: this trace is missing\n")
    assert result.stdout.splitlines()[0] == f"{second}: missing: the trace does not exist"
    assert result.stdout.splitlines()[1:] == [
        f"  {first}:5: collective-missing: collective operation 1 on WORLD, Barrier, was not called by rank 1",
        f"  {first}:3: message-not-received: sent to rank 1, tag 7 on WORLD, but never received (and 99 more)",
        f"  {third}:4: message-not-sent: receive from rank 1, tag 7 on WORLD, but never sent (and 99 more)",
        "198 left out; hdtrace check --all shows all"]


def test_check_names_a_process_that_ended_early(tmp_path):
    """Its trace was cut off and has been closed since."""
    init, finalize = call("Init", 0), call("Finalize", 500)
    project = write_project(tmp_path, init + ring(0, 100) + finalize, init + ring(1, 10), init + ring(2, 100) + finalize)
    first, second, third = hdtrace.open(project).trace_paths
    assert run("check", project).stdout.splitlines() == [
        f"{second}:33: no-finalize: this is the last call, but Finalize was not called",
        f"  {first}:36: collective-missing: collective operation 11 on WORLD, Barrier, was not called by rank 1",
        f"  {first}:34: message-not-received: sent to rank 1, tag 7 on WORLD, but never received (and 89 more)",
        f"  {third}:35: message-not-sent: receive from rank 1, tag 7 on WORLD, but never sent (and 89 more)",
        "178 left out; hdtrace check --all shows all"]


def test_check_names_a_process_that_ended_early_and_harmed_nobody(tmp_path):
    init, finalize = call("Init", 0), call("Finalize", 500)
    project = write_project(tmp_path, init + BARRIER + finalize, init + BARRIER)
    second = hdtrace.open(project).trace_paths[1]
    assert run("check", project).stdout.splitlines() == [
        f"{second}:4: no-finalize: this is the last call, but Finalize was not called"]


def test_check_does_not_wait_for_a_trace_that_is_missing(tmp_path):
    project = hdtrace.open(write_project(tmp_path, BARRIER * 3, BARRIER * 3))
    Path(project.trace_paths[1]).unlink()
    checker = project.checker()
    assert [finding.kind for finding in checker.read(1)] == ["missing", "collective-missing"] and not checker.at_end


def test_check_keeps_apart_what_has_another_cause(tmp_path):
    unfinished = "<Recv time='9.000000000' end='10.000000000' unfinished='1' />\n"
    send = "toRank='{}' toTag='7' cid='0' size='8' tid='0'"
    project = write_project(tmp_path, call("Send", 1, send.format(1)) + call("Send", 2, send.format(2)), unfinished, "")
    first, second, _ = hdtrace.open(project).trace_paths
    assert run("check", project).stdout.splitlines() == [
        f"{second}:3: unfinished: the process ended inside Recv",
        f"  {first}:3: message-not-received: sent to rank 1, tag 7 on WORLD, but never received",
        f"{first}:4: message-not-received: sent to rank 2, tag 7 on WORLD, but never received"]


def test_check_matches_what_another_thread_receives(tmp_path):
    """Though the run ended before it had the message."""
    finalize = "<Finalize time='2.000000000' end='3.000000000' />\n"
    send = call("Send", 1, "toRank='1' toTag='7' cid='0' size='4' tid='0'") + finalize
    project = write_project(tmp_path, send, BARRIER.replace("Barrier cid='0'", "Comm_rank cid='0' rank='1'") + finalize)
    receive = "<Recv fromRank='0' fromTag='7' cid='0' count='1' tid='0' time='0.500000000' end='3.000000000' unfinished='1' />\n"
    add_thread(project, 1, receive)
    assert "message" not in run("check", project).stdout


def test_check_knows_who_was_killed_before_anything_was_written(tmp_path):
    project = write_project(tmp_path, BARRIER, "")
    cpu = '<CpuTime time="0.000000001" user="0.010000000" system="0.000000000"/>'
    processes = "".join(f'<Process rank="{rank}" pid="{7 + rank}" began="100">{cpu * (2 - rank)}</Process>' for rank in range(2))
    project.write_text(project.read_text().replace("</Application>", f"<Run>{processes}</Run></Application>"))
    second = hdtrace.open(project).trace_paths[1]
    lines = run("check", project).stdout.splitlines()
    assert lines[0] == f"{second}: no-finalize: the process was ended before its calls were written"
    assert lines[1].lstrip().endswith("Barrier, was not called by rank 1") and lines[1].startswith("  ")
    for path in hdtrace.open(project).trace_paths:
        path = Path(path)
        path.write_text(path.read_text().replace(BARRIER, ""))
    project.write_text(project.read_text().replace(cpu * 2, cpu))
    assert [line.split(": ")[1] for line in run("check", project).stdout.splitlines()] == ["no-finalize"] * 2, "also where no call is left"


@pytest.mark.parametrize("answers", [True, False])
def test_check_knows_what_is_sent_only_because_of_a_send(tmp_path, answers):
    """The memory of the receive is in use, but nothing can come of it."""
    irecv = "<Irecv fromRank='0' fromTag='1' cid='0' count='1' tid='0' rid='0' size='4' writes='4096:4:0;' time='0.100000000' end='0.200000000' />\n"
    send = "toRank='{}' toTag='{}' cid='0' size='4' count='1' tid='0'{}"
    recv = call("Recv", 3, "fromRank='1' fromTag='2' cid='0' size='4' count='1' tid='0'")
    wait = call("Wait", 9, "", "<For rid='0' fromRank='0' fromTag='1' size='4' />")
    other = send.format(1, 1, "")
    project = write_project(tmp_path, recv + call("Send", 6, other) if answers else call("Send", 1, other) + recv,
                            irecv + call("Send", 1, send.format(0, 2, " reads='4096:4:0;'")) + wait)
    found = json.loads(run("check", "--json", "--only", "buffer-conflict", project).stdout)
    assert [(one["severity"], one["rank"], one["line"]) for one in found] == [("warning" if answers else "error", 1, 4)]


def test_check_tells_of_each_process_whose_buffers_overlap(tmp_path):
    gather = call("Allgather", 1, "size='4' cid='0' count='1' tid='0' recvSize='4' recvCount='1' recvtid='0' reads='4096:4:0;' writes='4096:8:0;'")
    (line,) = run("check", "--only", "buffer-conflict", write_project(tmp_path, gather * 2, gather)).stdout.splitlines()
    assert line.endswith("reads memory and writes to it: its buffers overlap (likewise rank 1)"), "once, however often it was called"


@pytest.mark.parametrize("times, said", [
    ((1, 1, 1), "likewise ranks 1-2"), ((2, 0, 0), "1 more time"), ((0, 3, 0), "2 more times"), ((1, 2, 0), "2 more times, of rank 1"),
    ((2, 1, 3), "5 more times, of ranks 0-2")])
def test_check_says_once_what_is_alike(tmp_path, times, said):
    """Of whatever rank and request."""
    lost = [call("Isend", time, f"toRank='3' toTag='7' cid='0' size='8' count='2' tid='0' rid='{time}'") for time in range(1, 4)]
    project = write_project(tmp_path, *["".join(lost[:count]) for count in times], "")
    first = next(path for path, count in zip(hdtrace.open(project).trace_paths, times) if count)
    kinds = ("--only", "message-not-received,request-not-completed")
    told = run("check", project, *kinds).stdout.splitlines()
    repeated = 2 * (sum(times) - 1) if "more time" in said else 0
    assert told == [f"{first}:3: message-not-received: sent to rank 3, tag 7 on WORLD, but never received ({said})",
                    f"{first}:3: request-not-completed: Isend with rid 1 was never completed ({said})",
                    *([f"{repeated} left out; hdtrace check --all shows all"] if repeated else [])]
    assert len(run("check", project, *kinds, "--all").stdout.splitlines()) == 2 * sum(times)


def test_check_says_what_may_only_follow_of_a_deadlock(tmp_path):
    posted = call("Irecv", 1, "fromRank='-1' fromTag='9' cid='0' size='8' tid='0' rid='0'")
    recv = "<Recv fromRank='{}' fromTag='7' cid='0' count='1' tid='0' size='8' time='2.000000000' end='3.000000000' unfinished='1' />\n"
    project = write_project(tmp_path, posted + recv.format(1), recv.format(0), closing="</Program>\n")
    lines = run("check", project).stdout.splitlines()
    heading = lines.index("perhaps only because the traces end there:")
    assert ": deadlock: " in lines[0]
    assert [line.split(": ")[1] for line in lines[heading + 1:]] == ["message-not-sent", "request-not-completed"]
    assert all(line.startswith("  ") for line in lines[heading + 1:])


def test_check_limits_what_it_says(tmp_path):
    lost = [call("Bsend", time, f"toRank='0' toTag='{time}' cid='0' size='8' tid='0'") for time in (1, 2)]
    project = write_project(tmp_path, "".join(lost))
    assert run("check", project, "--only", "message-not-received", "--limit", "1").stdout.splitlines()[1] == "and 1 more: message-not-received"
    assert run("check", project, "--limit", "-3").returncode == USAGE


def test_check_shows_few_of_many_traces(tmp_path):
    project = write_project(tmp_path, *[BARRIER] * 40, closing="")
    lines = run("check", project).stdout.splitlines()
    assert len(lines) == 12 and lines[10:] == ["and 30 more: cut-off", "30 left out; hdtrace check --all shows all"]
    assert len(run("check", project, "--all").stdout.splitlines()) == 40


@pytest.mark.parametrize("traces", [
    [ISEND + WAIT + BARRIER, RECV + BARRIER],
    [call("Recv", 1, "fromRank='-2' fromTag='7' cid='0' size='0' tid='0'")],
    [call("Comm_split", 1, "cid='0' newcid='-1' color='1' key='0'")],
])
def test_check_finds_nothing(tmp_path, traces):
    assert run_well("check", write_project(tmp_path, *traces)).startswith("app: nothing wrong was found; ")


@pytest.mark.parametrize("traces, checked", [
    ([BARRIER], "1 call of 1 process was checked"), ([BARRIER * 2, BARRIER * 2], "4 calls of 2 processes were checked")])
def test_check_says_what_it_has_checked(tmp_path, traces, checked):
    assert run_well("check", write_project(tmp_path, *traces)) == f"app: nothing wrong was found; {checked}\n"
    assert json.loads(run_well("check", tmp_path / "app.proj", "--json")) == []


def test_warnings_count_if_asked(tmp_path):
    """The program was told of the error, and went on."""
    project = write_project(tmp_path, call("Bcast", 1, "size='4' cid='0' tid='0' rc='MPI_ERR_ROOT'"), "")
    path = hdtrace.open(project).trace_paths[0]
    result = run("check", project)
    assert (result.returncode, result.stdout) == (FINE, f"{path}:3: warning: invalid-root: Bcast failed with MPI_ERR_ROOT\n")
    assert run("check", "--strict", project).returncode == ERROR


def test_findings_are_chosen(tmp_path):
    project = write_project(tmp_path, BARRIER + ISEND, BARRIER)
    kinds = {finding["kind"] for finding in json.loads(run("check", "--json", project).stdout)}
    assert kinds == {"message-not-received", "request-not-completed"}
    assert len(run("check", "--only", "request-not-completed", project).stdout.splitlines()) == 1
    assert run("check", "--quiet", project).stdout == run("check", project).stdout
    assert "nothing of what was asked for was found" in run_well("check", "--not", "request-not-completed,message-not-received", project)
    assert run("check", "--only", "nothing", project).returncode == USAGE


def test_findings_are_suppressed(tmp_path):
    project = write_project(tmp_path, BARRIER + ISEND, BARRIER)
    file = tmp_path / "suppressed"
    file.write_text("# known\nrequest-*\n\nmessage-not-received main\n")
    assert "message-not-received" in run("check", "--suppress", file, project).stdout  # it is not known to be in main
    file.write_text("request-*\nmessage-not-received *  # wherever\n")
    assert "nothing of what was asked for was found" in run_well("check", "--suppress", file, project)
    file.write_text("message-not-received\nnothing\n")
    result = run("check", "--suppress", file, project)
    assert result.returncode == USAGE and f"{file}:2: there is no kind of findings 'nothing'" in result.stderr


def test_sarif(tmp_path):
    project = write_project(tmp_path, BARRIER + ISEND, BARRIER)
    log = json.loads(run("check", "--sarif", project).stdout)
    (of_tool,) = log["runs"]
    rules = of_tool["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    assert [(rules[result["ruleIndex"]]["id"], result["level"]) for result in of_tool["results"]] == [
        ("message-not-received", "error"), ("request-not-completed", "error")]
    (location,) = of_tool["results"][0]["locations"]
    assert location["physicalLocation"] == {"artifactLocation": {"uri": Path(hdtrace.open(project).trace_paths[0]).as_uri()}, "region": {"startLine": 4}}


def test_sarif_has_uris_of_any_name(tmp_path):
    name = "c:/50% of #1 é?.dir"
    folder = tmp_path / name
    folder.mkdir(parents=True)
    write_project(folder, BARRIER + ISEND, BARRIER)
    (of_tool,) = json.loads(run("check", "--sarif", f"{name}/app.proj", cwd=tmp_path).stdout)["runs"]
    uri = of_tool["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "c%3A/50%25%20of%20%231%20%C3%A9%3F.dir/app_node01_0_0.trc"


def test_a_real_run(heat):
    result = run("check", heat)
    assert (result.returncode, result.stdout) == (0, "06-heat: nothing wrong was found; 836 calls of 4 processes were checked\n")
    assert "nothing is known of buffer-conflict, buffer-modified, buffer-accessed, buffer-overrun, outside-mpi, " in result.stderr
    assert "nothing of what was asked for was found" in run_well("check", "--only", "deadlock,message-race", heat)
    assert run_well("check", "--quiet", heat) == ""
    stats = json.loads(run_well("stats", heat, "--by", "class", "--by", "call", "--json"))
    assert stats["by"]["class"]["process"]["calls"] == stats["by"]["call"]["Init"]["calls"] + stats["by"]["call"]["Finalize"]["calls"]
    dumped = run_well("dump", heat).splitlines()
    assert len(dumped) == stats["total"]["calls"] == len(hdtrace.open(heat).to_columns()["rank"])
    assert [one["rank"] for one in json.loads(run_well("info", heat, "--json"))["threads"]] == [0, 1, 2, 3]


@pytest.mark.parametrize("program", ["persistent", "nonblocking_collectives", "intercommunicators", "windows"])
def test_real_runs_have_no_findings(trace_program, program):
    result = run("check", trace_program(program))
    assert result.returncode == 0 and result.stdout.startswith(f"{program}: nothing wrong was found; ")


def test_warns_of_traces_that_were_cut_off(tmp_path):
    project = write_project(tmp_path, BARRIER, closing="")
    for command in ("stats", "dump", "pending", "analyze", "report"):
        result = run(command, project, *(["-o", tmp_path / "page.html"] if command == "report" else []))
        assert result.returncode == FINE and ("Barrier" in result.stdout or command == "report")
        assert result.stderr == (f"hdtrace: {tmp_path}/app_node01_0_0.trc: </Program> is missing: the trace was cut off; "
                                 "'hdtrace repair' closes it\n")


def test_report_replaces_nothing_but_pages(tmp_path):
    project = write_project(tmp_path, BARRIER)
    page = tmp_path / "page.html"
    page.touch()
    for _ in range(2):
        run_well("report", project, "-o", page)
    result = run("report", project, "-o", project)
    assert (result.returncode, result.stderr) == (USAGE, f"hdtrace: --output {project}: this is there, and no page: name another file, or remove it\n")
    assert hdtrace.open(project).process_count == 1
    assert run("report", project, "-o", "/dev/null").returncode == USAGE


@pytest.mark.parametrize("command, name", [("report", "page.html"), ("plot", "plot.png"), ("pack", "run.hdt")])
def test_what_cannot_be_written_is_named(project, tmp_path, command, name):
    """As on a full disk."""
    output = tmp_path / name
    options = ("--kind", "waits") if command == "plot" else ()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    failed = run(command, project, "-o", output, *options, preexec_fn=limit)
    assert (failed.returncode, failed.stderr) == (ERROR, f"hdtrace: {output}: File too large\n")


@pytest.mark.parametrize("command, name", [("report", "page.html"), ("plot", "plot.svg"), ("plot", "plot.pdf"), ("plot", "plot.png")])
def test_what_is_there_stays_until_it_can_be_replaced(project, tmp_path, command, name):
    folder = tmp_path / "drawn"
    folder.mkdir()
    options = ("--kind", "waits") if command == "plot" else ()
    run_well(command, project, "-o", folder / name, *options)
    there = (folder / name).read_bytes()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    assert run(command, project, "-o", folder / name, *options, preexec_fn=limit).stderr == f"hdtrace: {folder / name}: File too large\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: there}


@pytest.mark.parametrize("command, ending", [("report", ".html"), ("plot", ".svg")])
def test_the_name_of_a_file_may_be_long_and_is_the_one_in_errors(project, tmp_path, command, ending):
    options = ("--kind", "waits") if command == "plot" else ()
    output = tmp_path / ("x" * (255 - len(ending)) + ending)
    run_well(command, project, "-o", output, *options)
    assert run(command, project, "-o", output / output.name, *options).stderr == f"hdtrace: {output / output.name}: Not a directory\n"


def test_runs_of_as_many_processes_are_told_apart(tmp_path):
    project = write_project(tmp_path, BARRIER, BARRIER)
    heads = [line for line in run_well("analyze", project, project).splitlines() if line.startswith("efficiency")]
    assert [head.split(None, 1)[1] for head in heads] == ["2 processes", "2 processes", "1: app, 2 processes  2: app, 2 processes"]


def test_of_no_time_no_efficiency_is_told(tmp_path):
    lines = run_well("analyze", write_project(tmp_path, *["<Barrier cid='0' time='1' end='1' />\n"] * 2)).splitlines()
    assert {line.split()[-1] for line in lines if line.strip().startswith(("parallel", "load", "transfer"))} == {"unknown"}


def test_rows_that_read_the_same_are_told_apart(tmp_path):
    """Two regions, each with a barrier on the world and one on another communicator."""
    barrier = "<Barrier cid='{cid}' time='{begin}.{late}' end='{begin}.9' />\n"
    event = "<Event name='{name}' kind='{kind}' time='{time}' />\n"

    def lines(late):
        barriers = [barrier.format(cid=i % 2, begin=1 + i, late=late) for i in range(4)]
        region = [event.format(name=name, kind=kind, time=time) for name, kind, time in [("a", "begin", 1), ("a", "end", 2.95), ("b", "begin", 2.96), ("b", "end", 4.95)]]
        return "".join([region[0], *barriers[:2], *region[1:3], *barriers[2:], region[3]])

    project = write_project(tmp_path, lines(1), lines(8))
    members = "".join(f'<Rank global="{rank}" local="{rank}" cid="1"/>' for rank in (0, 1))
    project.write_text(project.read_text().replace("</CommunicatorList>", f'<Communicator name="LINE" uid="L">{members}</Communicator></CommunicatorList>'))
    text = run_well("analyze", project)
    waits = text[text.index("which came to") :].split("\n\n")[0].splitlines()[1:]
    assert sorted(line.split("Barrier")[1].split("  ")[0] for line in waits) == [f", in region {name}, on {on}" for name in "ab" for on in ("LINE", "WORLD")]


def test_waiting_stands_below_what_it_is_a_part_of(tmp_path):
    later = BARRIER.replace("time='1.0", "time='1.5")
    lines = run_well("analyze", write_project(tmp_path, BARRIER, later)).splitlines()
    activities = lines[lines.index("", 1) + 1 :]
    assert [line.split("  ")[0] for line in activities[1 : activities.index("")]] == ["computation", "collective", "waiting, in these calls"]


@pytest.mark.parametrize("command", ["stats", "dump", "analyze"])
def test_interval_without_calls(tmp_path, command):
    project = write_project(tmp_path, BARRIER)
    result = run(command, project, "--interval", "60..61")
    assert (result.returncode, result.stderr) == (FINE, "hdtrace: no call fits what is asked for\n")


@pytest.mark.parametrize("option", ["--rank=3..1", "--thread=1-0", "--interval=2..1"])
def test_what_ends_before_it_begins_is_refused(tmp_path, option):
    """It would select nothing, or be taken as if it had not been given."""
    assert run("dump", write_project(tmp_path, BARRIER), option).returncode == USAGE


def test_regions_are_selected_by_their_names(tmp_path):
    lines = "<Event name='Step' kind='begin' time='0.5' />\n" + BARRIER + "<Event name='Step' kind='end' time='3.0' />\n"
    told = run_well("stats", write_project(tmp_path, lines), "--call", "Step")
    assert [line.split()[0] for line in told.splitlines()[3:]] == ["Step"]


def test_repair(tmp_path):
    project = write_project(tmp_path, BARRIER, BARRIER + "<Barr", closing="")
    traces = hdtrace.open(project).trace_paths
    assert run_well("repair", project) == "".join(
        f"{trace}: {missing}</Program> was missing; closed, the original is {trace}.orig\n"
        for trace, missing in zip(traces, ["", "the end of line 4 and "]))
    assert run_well("repair", *traces) == ""
    assert [len(hdtrace.read_trace(trace)) for trace in traces] == [1, 1]
    assert Path(traces[1] + ".orig").read_text().endswith("<Barr")


def test_repair_of_a_trace_whose_process_lives(tmp_path):
    project = write_project(tmp_path, BARRIER, closing="")
    (trace,) = hdtrace.open(project).trace_paths
    with Path(trace).with_suffix(".info").open("w") as info:
        fcntl.lockf(info, fcntl.LOCK_EX)
        refused = run("repair", project)
    assert refused.returncode == ERROR and "its process still writes" in refused.stderr
    assert not Path(trace + ".orig").exists()


def test_repair_of_a_compressed_trace(tmp_path):
    project = write_project(tmp_path, BARRIER, closing="")
    (trace,) = hdtrace.open(project).trace_paths
    compressed = Path(trace + ".gz")
    compressed.write_bytes(gzip.compress(Path(trace).read_bytes()))
    Path(trace).unlink()
    assert run("check", project).stdout.endswith("</Program> is missing: the trace was cut off\n")
    assert run_well("repair", project) == f"{compressed}: </Program> was missing; closed, the original is {compressed}.orig\n"
    assert run_well("check", project) == "app: nothing wrong was found; 1 call of 1 process was checked\n"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444], ids=oct)
def test_repair_keeps_permissions(tmp_path, mode):
    (trace,) = hdtrace.open(write_project(tmp_path, BARRIER, closing="")).trace_paths
    os.chmod(trace, mode)
    if os.geteuid() == 0:
        os.chown(trace, 65534, 65534)
    old = os.stat(trace)
    assert run("repair", trace, umask=0o077).returncode == FINE
    new = os.stat(trace)
    assert new.st_ino != old.st_ino and (oct(new.st_mode), new.st_uid, new.st_gid) == (oct(old.st_mode), old.st_uid, old.st_gid)


def test_repair_goes_on_after_errors(tmp_path):
    project = write_project(tmp_path, BARRIER, BARRIER, closing="")
    first, second = hdtrace.open(project).trace_paths
    Path(first).unlink()
    result = run("repair", project)
    assert (result.returncode, result.stderr) == (
        ERROR, f"hdtrace: {first}: this trace is missing\nhdtrace: {first}: No such file or directory\n")
    assert result.stdout.startswith(f"{second}: ")


def test_a_run_lasts_until_its_unfinished_calls_end(tmp_path):
    """They count in no sum, but a hang of ten seconds is no run of a millisecond."""
    project = write_project(tmp_path, BARRIER + "<Recv time='2.500000000' end='11.000000000' unfinished='1' />\n", BARRIER)
    assert run_well("stats", project).startswith("app: 2 processes, 2 calls in 10.000000 seconds; 1 call had not ended, and is in no sum\n")
    assert json.loads(run_well("stats", project, "--json"))["duration"] == 10


def test_what_is_there_is_read_if_traces_are_missing(tmp_path):
    project = write_project(tmp_path, BARRIER, BARRIER * 2, BARRIER)
    first, second, third = hdtrace.open(project).trace_paths
    Path(first).unlink()
    result = run("stats", project)
    assert (result.returncode, result.stderr) == (FINE, f"hdtrace: {first}: this trace is missing\n")
    assert result.stdout.startswith("app: 2 of 3 processes, 3 calls in ")
    assert len(run("dump", project).stdout.splitlines()) == 3
    with pytest.warns(hdtrace.MergeWarning, match="this trace is missing"), hdtrace.open(project) as opened:
        assert [thread.path for thread in opened.missing_traces] == [first]
        assert opened.to_columns()["rank"].tolist() == [1, 1, 2]
    for path in (second, third):
        Path(path).unlink()
    result = run("stats", project)
    assert result.returncode == ERROR and result.stderr.endswith(f"hdtrace: {first}: No such file or directory\n")


def test_of_many_missing_traces_some_are_named(tmp_path):
    project = write_project(tmp_path, *[""] * 23)
    for rank in range(1, 23):
        (tmp_path / f"app_node01_{rank}_0.trc").unlink()
    result = run("info", project)
    assert result.returncode == FINE
    *named, rest = result.stderr.splitlines()
    assert [line.endswith(": this trace is missing") for line in named] == [True] * 20
    assert rest == f"hdtrace: {project}: 2 more traces are missing"


@pytest.mark.parametrize("options, message", [
    (["--call", "Allredcue"], "--call: nothing is called 'Allredcue' here; did you mean Allreduce?"),
    (["--call", "Send,mpi_isend"], "--call: nothing is called 'mpi_isend' here; did you mean Isend?"),
    (["--call", "Send,step 1"], "--call: nothing is called 'step 1' here"),
    (["--rank", "9"], "--rank: there is no process 9, only 0 to 1"),
    (["--thread", "3..5"], "--thread: there is no thread 3, only 0"),
])
@pytest.mark.parametrize("command", ["stats", "dump"])
def test_what_is_not_there_cannot_be_chosen(project, command, options, message):
    result = run(command, project, *options)
    assert (result.returncode, result.stdout, result.stderr) == (USAGE, "", f"hdtrace: {message}\n")


def test_calls_are_chosen_by_their_names(tmp_path):
    """With and without MPI_, also those that the program does not make; its own states, too."""
    project = write_project(tmp_path, BARRIER + "<step time='3.000000000' end='4.000000000' />\n")
    assert [len(run("dump", project, "--call", names).stdout.splitlines()) for names in ("MPI_Barrier", "step", "Send", "step,Barrier")] == [1, 1, 0, 2]


def test_repair_names_each_file_once(tmp_path):
    broken, kept = tmp_path / "a_b_0_0.trc", tmp_path / "a_b_1_0.trc"
    broken.write_text("<Program>\n<A <\n</Program>\n")
    kept.write_text("<Program timeAdjustment='1' version='1'>\n")
    original = tmp_path / "a_b_1_0.trc.orig"
    original.write_text("of an earlier repair")
    result = run("repair", broken, kept)
    assert result.returncode == ERROR
    first, second = result.stderr.splitlines()
    assert first.startswith(f"hdtrace: {broken}:2:") and first.count(str(broken)) == 1
    assert second == f"hdtrace: {original}: File exists"


def test_other_programs():
    assert run_well("merge", "--version").startswith("project-merger ")
    assert run("merge").returncode == USAGE


def test_a_program_that_is_not_there(tmp_path):
    command = tmp_path / "hdtrace"
    command.symlink_to(COMMAND)
    assert subprocess.run([command, "merge", "--version"]).returncode == FINE
    command.unlink()
    command.write_text(COMMAND.read_text().replace("Path(__file__)", f"Path({str(COMMAND)!r})"))
    command.chmod(0o755)
    result = subprocess.run([command, "convert"], capture_output=True, text=True)
    assert result.returncode == ERROR
    assert result.stderr == f"hdtrace: {tmp_path}/hdtrace-convert: No such file or directory: install hdtrace-convert beside this command\n"


@pytest.mark.parametrize("words, message", [
    ([], "a command is missing"),
    (["stats"], "PROJECT"),
    (["no-such-command"], "invalid choice: 'no-such-command'"),
    (["stats", "x.proj", "--by", "colour"], "'colour' is none of call, class, rank"),
    (["stats", "x.proj", "--matrix", "abc"], "'abc' is none of messages, bytes"),
    (["stats", "x.proj", "--matrix", "messages,bytes"], "'messages,bytes' is none of messages, bytes"),
    (["plot", "x.proj", "--kind=abc"], "'abc' is none of timeline, matrix"),
    (["compress", "x.proj", "--form=zip"], "'zip' is none of zstd, gzip"),
    (["dump", "x.proj", "--call", "Send,,Recv"], "'' is not NAMES"),
    (["stats", ""], "'' is not PROJECT"),
    (["unpack", ""], "'' is not FILE"),
    (["completion", "sh"], "'sh' is none of bash, zsh, fish"),
    (["dump", "x.proj", "--interval", "5"], "'5' is not BEGIN..END"),
    (["dump", "x.proj", "--rank", "first"], "'first' is not RANKS"),
    (["dump", "x.proj", "--xml", "--json"], "dump: --xml and --json exclude each other"),
    (["check", "x.proj", "--sarif", "--json"], "check: --sarif and --json exclude each other"),
    (["check", "x.proj", "--limit", "50", "--json"], "check: --limit and --json exclude each other"),
    (["info", "x.proj", "--settings", "--json"], "info: --settings and --json exclude each other"),
    (["index", "x.proj", "--calls=9", "--remove"], "index: --calls and --remove exclude each other"),
    (["watch", ".", "--page", "--json"], "watch: --json and --page exclude each other"),
    (["watch", ".", "--every=2", "--once"], "watch: --every and --once exclude each other"),
    (["watch", ".", "--port=0"], "watch: --port needs --page"),
])
def test_wrong_usage(words, message):
    result = run(*words)
    assert (result.returncode, result.stdout) == (USAGE, "") and message in result.stderr


@pytest.mark.parametrize("command, option", [
    (command.name, argument.name) for command in COMMANDS for argument in command.arguments
    if argument.is_option and argument.value and not argument.is_for_tracer])
def test_no_value_is_empty(command, option):
    result = run(command, f"{option}=", "x")
    assert (result.returncode, result.stdout) == (USAGE, "") and f"{option}: '' is n" in result.stderr


@pytest.mark.parametrize("command", ["info", "stats", "dump", "check", "repair"])
def test_errors_name_the_file(tmp_path, command):
    missing, broken = tmp_path / "none.proj", tmp_path / "broken.proj"
    broken.write_text("<Application>\n<")
    for path, place in ((missing, f"{missing}: No such file or directory"), (broken, f"{broken}:2: ")):
        result = run(command, path)
        assert (result.returncode, result.stdout) == (ERROR, "") and result.stderr.startswith(f"hdtrace: {place}")


def test_a_broken_trace_names_the_line(tmp_path):
    project = write_project(tmp_path, BARRIER + "<Barrier <\n")
    for words in (["stats"], ["dump"], ["check", "--no-schemas"]):
        result = run(words[0], project, *words[1:])
        assert result.returncode == ERROR and f"hdtrace: {tmp_path}/app_node01_0_0.trc:4" in result.stderr


def test_a_reader_that_goes_away(tmp_path):
    project = write_project(tmp_path, BARRIER * 20000)
    result = subprocess.run(f"'{COMMAND}' dump '{project}' | head -n 1", shell=True, capture_output=True, text=True)
    assert (len(result.stdout.splitlines()), result.stderr) == (1, "")


CANNOT_BE_WRITTEN = {">&-": "Bad file descriptor", ">/dev/full": "No space left on device"}


def run_redirected(redirections, *words, **options):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(["sh", "-c", f'"$@" {redirections}', "sh", COMMAND, *map(str, words)], capture_output=True, text=True, env=environment, **options)


@pytest.mark.parametrize("redirection", CANNOT_BE_WRITTEN)
@pytest.mark.parametrize("words", [
    ["info"], ["info", "--json"], ["stats"], ["stats", "--json"], ["stats", "--csv"], ["dump"], ["dump", "--json"], ["pending"], ["analyze"], ["check"],
    ["check", "--sarif"], ["rm", "--dry-run"], ["stats", "--help"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written(project, words, redirection):
    result = run_redirected(redirection, *words, *([] if words[0].startswith("--") else [project]))
    assert (result.returncode, result.stderr) == (ERROR, f"hdtrace: standard output: {CANNOT_BE_WRITTEN[redirection]}\n")


@pytest.mark.parametrize("redirection", CANNOT_BE_WRITTEN)
@pytest.mark.parametrize("words", [
    ["compress"], ["uncompress"], ["split"], ["index"], ["index", "--remove"], ["pack", "-o", "p.hdt"], ["extract", "--rank=0", "-o", "part"],
    ["report", "-o", "report.html"], ["repair"], ["cp"], ["rm"]])
def test_what_is_done_needs_nobody_who_reads_of_it(project, tmp_path, words, redirection):
    result = run_redirected(redirection, *words, project, *(["copy"] if words == ["cp"] else []), cwd=tmp_path)
    assert (result.returncode, result.stderr) == (FINE, "")


def test_what_is_done_goes_on_when_nobody_reads_of_it(tmp_path):
    folders = [tmp_path / str(number) for number in range(300)]
    for folder in folders:
        folder.mkdir()
        write_project(folder, BARRIER)
    result = run_redirected("| true", "index", *folders)
    assert result.stderr == "" and all(list(folder.glob("*.index")) for folder in folders)


def test_messages_stay_out_of_the_output(project):
    result = run_redirected("2>&-", "info", project.parent / "nothing.proj")
    assert (result.returncode, result.stdout) == (ERROR, "")


def test_progress_on_a_terminal(project):
    ours, theirs = pty.openpty()
    result = subprocess.run([COMMAND, "stats", project], stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    assert result.returncode == FINE
    write_project(project.parent, BARRIER * 70000)
    ours, theirs = pty.openpty()
    subprocess.run([COMMAND, "stats", project], stdout=subprocess.PIPE, stderr=theirs, check=True)
    assert os.read(ours, 1000).decode().startswith("\rhdtrace: counting: 65,536 calls")


def test_every_command_has_help():
    overview = run_well("--help")
    for command in COMMANDS:
        assert command.name in overview
        if not command.program:
            text = run_well(command.name, "--help")
            assert all(argument.name in text for argument in command.arguments)


def test_man_page():
    result = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rLL=200n", BUILD / "docs/man/hdtrace.1"],
                            capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (FINE, "")
    for command in COMMANDS:
        assert f"hdtrace {command.name}" in result.stdout
        assert all(argument.name in result.stdout for argument in command.arguments)


def complete_in_bash(*words):
    """What bash offers for the last word."""
    program = 'eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hdtrace; printf "%s\\n" "${COMPREPLY[@]}"'
    completion = run_well("completion", "bash")
    result = subprocess.run(["bash", "-c", program, "bash", completion, *words], capture_output=True, text=True)
    assert result.stderr == ""
    return set(result.stdout.split())


def complete_in_fish(*words):
    """What fish offers for the last word."""
    program = f"{run_well('completion', 'fish')}\ncomplete -C '{' '.join(words)}'"
    result = subprocess.run(["fish", "--no-config", "-c", program], capture_output=True, text=True)
    assert result.stderr == ""
    return {line.split("\t")[0] for line in result.stdout.splitlines()}


SHELLS = {"bash": complete_in_bash, "fish": complete_in_fish}


def needs(shell):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"needs {shell}")


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in SHELLS])
def test_completion(tmp_path, shell):
    complete = SHELLS[shell]
    assert complete("hdtrace", "c") == {"calibrate", "check", "compress", "convert", "completion", "cp"}
    assert complete("hdtrace", "check", "--") == {"--all", "--strict", "--only", "--not", "--suppress", "--limit", "--quiet", "--no-schemas", "--sarif", "--json", "--help"}
    assert complete("hdtrace", "stats", "--by", "c") == {"call", "class", "communicator", "communicator-size", "counter"}
    assert complete("hdtrace", "stats", "--by", "call,ra") == {"call,rank"}
    assert complete("hdtrace", "completion", "") == {"bash", "zsh", "fish"}
    for name in ("app.proj", "app.trc", "folder/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    projects_and_folders = {name.rstrip("/") for name in complete("hdtrace", "info", f"{tmp_path}/")}
    assert projects_and_folders == {f"{tmp_path}/app.proj", f"{tmp_path}/folder"}
    assert complete("hdtrace", "repair", f"{tmp_path}/a") == {f"{tmp_path}/app.proj", f"{tmp_path}/app.trc"}


ZSH = """
PS1=ready; unsetopt zle_bracketed_paste
autoload -Uz compinit; compinit -u -D
{completion}
report() {{ print -r -- "$BUFFER" >{folder}/line; exit }}
zle -N report; bindkey '^X' report; bindkey '^I' complete-word
"""


def complete_in_zsh(folder, line):
    """The line after the tabulator key; zsh completes only on a terminal."""
    (folder / ".zshrc").write_text(ZSH.format(completion=run_well("completion", "zsh"), folder=folder))
    ours, theirs = pty.openpty()
    environment = os.environ | {"ZDOTDIR": str(folder), "TERM": "dumb"}
    with subprocess.Popen(["zsh", "-d", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment,
                          start_new_session=True):
        os.close(theirs)
        screen = b""
        while b"ready" not in screen:
            screen += os.read(ours, 4096)
        os.write(ours, line.encode() + b"\t\x18")
        with suppress(OSError):  # the end of the terminal
            while os.read(ours, 4096):
                pass
    os.close(ours)
    return (folder / "line").read_text().rstrip("\n")


@needs("zsh")
@pytest.mark.parametrize("line, completed", [
    ("hdtrace compl", "etion "),
    ("hdtrace completion z", "sh "),
    ("hdtrace check --no-", "schemas "),
    ("hdtrace check app.proj --js", "on "),
    ("hdtrace stats --by call,ra", "nk,"),
    ("hdtrace info a", "pp.proj "),
    ("hdtrace info sub", "folder/"),
    ("hdtrace repair a", "pp."),
    ("hdtrace merge app.t", "rc "),
])
def test_completion_in_zsh(tmp_path, line, completed):
    for name in ("app.proj", "app.trc"):
        (tmp_path / name).touch()
    (tmp_path / "subfolder").mkdir()
    assert complete_in_zsh(tmp_path, line) == line + completed


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="CMake hangs where AddressSanitizer is loaded into it")
def test_is_installed_and_may_be_moved(tmp_path):
    made, moved = tmp_path / "made", tmp_path / "moved"
    subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={made}", "-P", BUILD / "python/cmake_install.cmake"], check=True, capture_output=True)
    made.rename(moved)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    project = write_project(tmp_path, BARRIER)
    result = subprocess.run([moved / "bin/hdtrace", "dump", project], env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (FINE, "") and "Barrier" in result.stdout
    for shell, place in (("bash", "bash-completion/completions/hdtrace"), ("zsh", "zsh/site-functions/_hdtrace"),
                         ("fish", "fish/vendor_completions.d/hdtrace.fish")):
        assert (moved / "share" / place).read_text() == run_well("completion", shell)
    (package,) = (path.parent for path in moved.rglob("hdtrace/__init__.py"))
    installed = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    sources = Path(__file__).resolve().parents[2] / "python/hdtrace"
    assert installed == {path.relative_to(sources).as_posix() for path in sources.rglob("*.py")} | {"cli/tracer_options.py", "cli/version.py"}
