"""pj_dump accepts the files, and what it reads is what the trace says."""
import csv
import shutil
import subprocess
from collections import Counter

import hdtrace
import pytest
from conversions import PROGRAMS, call, convert, project_of
from support.runs import BUILD

pytestmark = pytest.mark.skipif(shutil.which("pj_dump") is None, reason="pajeng is not installed")

WORLD = "Comm map='{}' id=0 name='WORLD' uid='W'\n"
BARRIER = "<Barrier cid='0' time='{}' end='{}' />"


def dump(path):
    """{kind: [fields, ...]} as pj_dump tells them; it must have nothing to complain about."""
    result = subprocess.run(["pj_dump", path], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    found = {}
    for line in result.stdout.splitlines():
        kind, *fields = line.split(", ")
        found.setdefault(kind, []).append(fields)
    return found


def states(dumped):
    """[(container, begin, end, name), ...], times in seconds."""
    return [(fields[0], float(fields[2]), float(fields[3]), fields[6]) for fields in dumped.get("State", [])]


def check_order(path):
    """Times ascend, each pop has its push."""
    depth, last = Counter(), 0.0
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("%")]
    for code, when, *rest in (line.split(" ") for line in lines if int(line.split(" ")[0]) >= 5):
        assert float(when) >= last
        last = float(when)
        if code in ("7", "8"):
            depth[rest[1]] += 1 if code == "7" else -1
            assert depth[rest[1]] >= 0
    assert not any(depth.values())


@pytest.fixture(scope="session")
def drawn(traced, tmp_path_factory):
    """drawn(program) -> (Run, path, what pj_dump tells)"""
    converted = {}

    def of_program(program):
        if program not in converted:
            run, output = traced(program, 4), tmp_path_factory.mktemp(program) / "app.trace"
            convert(project_of(run), "paje", output)
            converted[program] = run, output, dump(output)
        return converted[program]

    return of_program


@pytest.fixture
def written(run, tmp_path):
    """written({rank: lines}) -> (Conversion, what pj_dump tells)"""

    def written(traces):
        members = "".join(f"{rank}->{rank};" for rank in traces)
        for rank, lines in traces.items():
            run.process(rank, WORLD.format(members), lines, size=len(traces))
        run.merge_cleanly("--no-audit", "app")
        conversion = convert(tmp_path / "app.proj", "paje", tmp_path / "app.trace")
        check_order(tmp_path / "app.trace")
        return conversion, dump(tmp_path / "app.trace")

    return written


def all_states(calls):
    for state in calls:
        yield state
        yield from all_states(state.nested)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_call_is_a_state_of_its_thread(drawn, program):
    run, path, dumped = drawn(program)
    check_order(path)
    found = Counter((thread, name) for thread, _, _, name in states(dumped))
    with hdtrace.open(project_of(run)) as project:
        expected = Counter((f"Rank {call.rank} thread {call.thread}", state.name)
                           for call in project.calls(unfinished=True) for state in all_states([call]) if not state.is_event)
    assert expected and expected <= found


@pytest.mark.parametrize("program", ["send_modes", "isend_modes", "completion", "persistent", "sub_communicator", "threads"])
def test_each_message_is_an_arrow(drawn, program):
    run, _, dumped = drawn(program)
    with hdtrace.open(project_of(run)) as project:
        expected = Counter((message.source, message.destination, message.send.bytes) for message in project.messages() if message.send and message.receive)
    rank = lambda container: int(container.split()[1])
    found = Counter((rank(fields[6]), rank(fields[7]), int(float(fields[5]))) for fields in dumped["Link"])
    assert found == expected and expected


@pytest.mark.parametrize("program", ["collectives", "io_explicit", "persistent", "isend_modes"])
def test_processes_end_with_the_bytes_that_the_statistics_count(drawn, program):
    run, _, dumped = drawn(program)
    last = {fields[0]: float(fields[5]) for fields in dumped["Variable"]}
    command = [BUILD / "bin/hdtrace", "stats", "--csv", "--by", "rank", project_of(run)]
    rows = csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
    assert last == {f"Rank {row['rank']}": float(row["bytes"]) for row in rows}


def test_hosts_processes_and_threads_contain_each_other(drawn):
    run, _, dumped = drawn("threads")
    around = {(fields[1], fields[-1]): fields[0] for fields in dumped["Container"]}
    for rank, thread in run.threads:
        assert around["Thread", f"Rank {rank} thread {thread}"] == f"Rank {rank}"
        assert ("Host", around["Process", f"Rank {rank}"]) in around


def test_hostile_names(written):
    name = "\"quoted\" \\ ä€𝄞 \n%"
    escaped = name.replace("\n", "&#10;")
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    _, dumped = written({0: event.format(escaped, "begin", "1.0") + event.format(escaped, "end", "2.0")})
    assert states(dumped) == [("Rank 0 thread 0", 0, 1, "'quoted' \\ ä€𝄞  %")]


def test_times_and_nesting(written):
    inner = "<Bcast size='4' rootRank='0' cid='0' time='1.2' end='1.3' />"
    lines = f"<Nested>{inner}</Nested>" + BARRIER.format("1.0", "2.0") + "\n<Recv time='2.0' end='3.0' unfinished='1' />\n"
    _, dumped = written({0: lines})
    assert {name: (pytest.approx(begin), pytest.approx(end)) for _, begin, end, name in states(dumped)} == {
        "Barrier": (0, 1), "Bcast": (0.2, 0.3), "Recv": (1, 2)}


def test_regions_that_overlap_and_that_do_not_end(written):
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    lines = "".join(event.format(*which) for which in (
        ("a", "begin", "1.0"), ("b", "begin", "2.0"), ("a", "end", "3.0"), ("b", "end", "4.0"), ("c", "end", "5.0"), ("d", "begin", "6.0")))
    conversion, dumped = written({0: lines})
    assert sorted((name, begin, end) for _, begin, end, name in states(dumped)) == [("a", 0, 2), ("b", 1, 2), ("b", 2, 3), ("d", 5, 5)]
    assert sum(conversion.dropped.values()) == 1


def test_an_arrow_that_goes_back_in_time_ends_where_it_begins(written):
    message = "size='4' count='1' tid='0' cid='0' time='{}' end='{}' />\n"
    conversion, dumped = written({0: "<Recv fromRank='1' fromTag='1' " + message.format("1.0", "2.0"),
                                  1: "<Send toRank='0' toTag='1' " + message.format("3.0", "3.5")})
    ((_, _, begin, end, _, value, source, destination, _),) = dumped["Link"]
    assert (float(begin), float(end), float(value)) == (2, 2, 4) and (source, destination) == ("Rank 1 thread 0", "Rank 0 thread 0")
    assert any("back in time" in note for note in conversion.notes)


def test_calls_and_regions_that_go_back_in_time(written):
    event = "<Event name='a' kind='{}' time='{}' />\n"
    _, dumped = written({0: event.format("begin", "5.0") + event.format("end", "4.0") + BARRIER.format("3.0", "2.0") + "\n"})
    assert "a" in {name for *_, name in states(dumped)}  # pj_dump leaves out a second one without length


def test_messages_that_nobody_receives_have_no_arrow(written):
    conversion, dumped = written({0: "<Send toRank='1' toTag='1' size='4' count='1' tid='0' cid='0' time='1.0' end='2.0' />\n", 1: ""})
    assert "Link" not in dumped and len(conversion.notes) == 1


def test_an_empty_run(written):
    assert states(written({0: ""})[1]) == []


def test_a_broken_trace_leaves_nothing_behind(run, tmp_path):
    run.process(0, WORLD.format("0->0;"), BARRIER.format("1.0", "2.0") + "\n", size=1)
    run.merge_cleanly("--no-audit", "app")
    trace = tmp_path / "app_node01_0_0.trc"
    trace.write_text(trace.read_text().replace("<Barrier", "<Barrier <"))
    result = call("--to", "paje", "-o", tmp_path / "output", tmp_path / "app.proj")
    assert result.returncode == 1 and trace.name in result.stderr
    assert not list(tmp_path.glob("*output*"))
