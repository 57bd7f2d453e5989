"""The files of DUMPI hold what the programs did: each argument of each call, statuses, and the numbers that tie them together."""
import shutil
import struct
from collections import Counter

import hdtrace
import pytest
from conversions import PROGRAMS, call, convert, project_of
from dumpi_files import FORMS, BrokenFile, Status, read_process, read_trace
from support.runs import run_with_tracer

ALL = {"HDTRACE_ALL_FUNCTIONS": "2"}
DATATYPES = {"error": 0, "null": 1, "BYTE": 5, "INT": 9, "FLOAT": 13, "DOUBLE": 14}
OPERATIONS = {"MAX": 1, "SUM": 3, "PROD": 4, "BXOR": 10}
NAMED = {"dt": DATATYPES, "op": OPERATIONS, "cm": {"null": 1, "WORLD": 2}, "gr": {"EMPTY": 2, "all": 3}, "rq": {"null": 1}}
FIRST_OWN = {"dt": 28, "op": 15, "cm": 4, "gr": 4, "rq": 2, "fl": 1, "wn": 1, "nf": 1, "kv": 10}
COUNTING = ("Get_count", "Test_cancelled")  # the program itself asks, too


@pytest.fixture(scope="session")
def converted(tmp_path_factory):
    """converted(program, settings...) -> (Run, Trace, Conversion)"""
    done = {}

    def of_program(name, ranks=4, args=(), **settings):
        key = (name, *sorted(settings.items()))
        if key not in done:
            directory = tmp_path_factory.mktemp(name)
            run = run_with_tracer(name, ranks, directory, env={**ALL, **settings}, args=args)
            conversion = convert(project_of(run), "dumpi", directory / "dumpi")
            done[key] = run, read_trace(directory / "dumpi"), conversion
        return done[key]

    return of_program


@pytest.fixture(scope="session")
def told(tmp_path_factory, converted):
    """[(Process, [(name, {argument: text})]), ...] by ranks: what is in the file, and what the program told."""
    path = tmp_path_factory.mktemp("told") / "calls"
    _, trace, _ = converted("told_calls", args=(path,))

    def parse(line):
        name, *arguments = line.split(" ")
        return name, dict(argument.split("=", 1) for argument in arguments)

    return [(trace[rank], [parse(line) for line in path.with_suffix(f".{rank}").read_text().splitlines()]) for rank in range(4)]


class Names:
    """Which number an object has; each has one, and no two of a kind the same."""

    def __init__(self):
        self.numbers = {}

    def check(self, code, name, number):
        if name in NAMED.get(code, {}):
            assert number == NAMED[code][name], name
            return
        assert number >= FIRST_OWN[code] and self.numbers.setdefault((code, name), number) == number, name
        others = [other for (kind, other), known in self.numbers.items() if kind == code and known == number]
        assert others == [name]


def check_status(expected, found):
    if expected == "?":
        return
    if expected.endswith(":?"):
        assert found.bytes == int(expected.split(":")[0])
        return
    size, source, cancelled, tag = map(int, expected.split(":"))
    assert found == Status(size, source, cancelled, 0, tag)


def check_argument(names, code, expected, found):
    if code == "st":
        statuses = expected.split(",") if expected else []
        assert len(statuses) == len(found)
        for one, status in zip(statuses, found):
            check_status(one, status)
    elif code.endswith("[]"):
        elements = expected.strip("[]").split(",") if expected != "[]" else []
        assert len(elements) == len(found)
        for one, element in zip(elements, found):
            check_argument(names, code[:-2], one, element)
    elif code == "s":
        assert found.replace(" ", "_") == expected
    elif expected.lstrip("-").isdigit():
        assert found == int(expected)
    else:
        names.check(code, expected, found)


@pytest.mark.parametrize("rank", range(4))
def test_each_argument_is_what_the_program_passed_and_got(told, rank):
    process, lines = told[rank]
    names = Names()
    records = [record for record in process.records if record.name not in COUNTING]
    assert [record.name for record in records[:3]] == ["Init", "Comm_rank", "Comm_size"] and records[-1].name == "Finalize"
    lines = [line for line in lines if line[0] not in COUNTING and line[0] != "sizes"]
    assert [record.name for record in records[3:-1]] == [name for name, _ in lines]
    for record, (name, arguments) in zip(records[3:], lines):
        codes = {argument.removeprefix("?"): code for argument, code in FORMS[record.label][1]}
        for argument, expected in arguments.items():
            try:
                check_argument(names, codes[argument], expected, record[argument])
            except AssertionError as error:
                raise AssertionError(f"{argument} of {name} is {record[argument]}, expected was {expected}") from error
        assert set(record.arguments) - set(arguments) <= {"valuelength", "value"}, name


@pytest.mark.parametrize("rank", range(4))
def test_sizes_of_datatypes(told, rank):
    process, lines = told[rank]
    _, sizes = next(line for line in lines if line[0] == "sizes")
    names = Names()
    for record, (name, arguments) in zip([record for record in process.records if record.name not in COUNTING][3:],
                                         [line for line in lines if line[0] not in COUNTING and line[0] != "sizes"]):
        if "newtype" in arguments:
            names.check("dt", arguments["newtype"], record["newtype"])
    assert {name: process.sizes[DATATYPES.get(name) or names.numbers["dt", name]] for name in sizes} == {
        name: int(size) for name, size in sizes.items()}


def test_a_communicator_has_one_number_in_all_files(told):
    """As SST/macro wants it; each half of a split is a communicator."""
    numbers = [[record["newcomm"] for record in process.calls("Comm_split")] for process, _ in told]
    assert [one[0] for one in numbers[::2]] == [numbers[0][0]] * 2 and [one[0] for one in numbers[1::2]] == [numbers[1][0]] * 2
    assert numbers[0][0] != numbers[1][0] and numbers[0][1] == 1 and len({one[1] for one in numbers[1:]}) == 1


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name != "connect"])
def test_all_programs(converted, program):
    """The files are as readers want them, and the footer counts what is in them."""
    run, trace, conversion = converted(program)
    assert conversion.exact > 0 and len(trace.processes) == run.ranks
    for rank, process in enumerate(trace.processes):
        records = [record for record in process.records if record.name in dict(FORMS.values())]
        found = Counter(record.name for record in records)
        assert {name: process.called.get(name, 0) - process.ignored.get(name, 0) for name in found} == found
        assert process.called["all"] - process.ignored["all"] == found.total()
        assert [record.stop for record in process.records] == sorted(record.stop for record in process.records), rank
        assert all(record.start <= record.stop for record in process.records)
        assert process.version == (1, 1, 0) and process.perf_labels == [] and process.host and process.user


@pytest.mark.parametrize("program", ["send_modes", "isend_modes", "completion", "persistent", "sub_communicator", "collectives", "windows"])
def test_calls_are_those_of_the_trace(converted, program):
    """Those that DUMPI has a label for, with the threads that made them and their times."""
    run, trace, _ = converted(program)
    known = {name for name, _ in FORMS.values()} - {"Init"}  # of which DUMPI keeps when it was done
    with hdtrace.open(project_of(run)) as project:
        expected = Counter((state.rank, state.thread, state.name, round(state.time * 1e-9, 4), round(state.end * 1e-9, 4))
                           for state in project.calls() if state.name in known)
    found = Counter((rank, record.thread, record.name, round(record.start, 4), round(record.stop, 4))
                    for rank, process in enumerate(trace.processes) for record in process.records)
    assert expected and sum((expected - found).values()) <= expected.total() // 20, "times are rounded"


def test_the_description(converted):
    _, trace, _ = converted("send_modes", HDTRACE_NOTE="purpose=first try", LOGNAME="somebody")
    assert trace.meta["numprocs"] == "4" and trace.meta["username"] == "somebody" and trace.meta["version"] == "1"
    assert trace.meta["fileprefix"].startswith("dumpi-") and trace[0].start == int(trace.meta["startime"])
    assert abs(trace[0].records[0].start - trace[0].start) < 60
    assert trace[2].records[0]["argv"][0].endswith("/send_modes") and trace[2].notes == {"purpose": "first try"}


def test_regions_are_annotations(converted):
    _, trace, _ = converted("rules")
    names = trace[0].functions
    stack, seen = [], set()
    for record in trace[0].records:
        if record.name == "enter":
            stack.append(record["fn"])
            seen.add(names[record["fn"]])
        elif record.name == "exit":
            stack.remove(record["fn"])
    assert stack == [] and all(name.startswith("ANNOTATION: ") for name in names.values()) and seen <= set(names.values())


def test_nonblocking_collectives_are_blocking_ones_where_they_end(converted):
    run, trace, conversion = converted("nonblocking_collectives")
    with hdtrace.open(project_of(run)) as project:
        started = Counter((state.rank, state.name[1:].capitalize().removesuffix("_block")) for state in project.calls(call_class="collective")
                          if state.name[0] == "I")
    found = Counter((rank, record.name) for rank, process in enumerate(trace.processes) for record in process.records)
    assert started and started <= found and sum(conversion.approximated.values()) == started.total()
    assert all(record["request"] == 1 for process in trace.processes for record in process.calls("Wait"))


def test_persistent_collectives_are_blocking_ones_where_each_start_of_them_ends(converted):
    run, trace, _ = converted("persistent_collectives")
    with hdtrace.open(project_of(run)) as project:
        calls = list(project.calls())
    prepared = {(call.rank, call["rid"]): call.name.removesuffix("_init").removesuffix("_block") for call in calls if call.name.endswith("_init")}
    started = Counter((call.rank, prepared[call.rank, start["initRid"]]) for call in calls for start in call.children if start.name == "Start")
    started = Counter({one: count for one, count in started.items() if not one[1].startswith("Neighbor")})  # for which there is no label
    found = Counter((rank, record.name) for rank, process in enumerate(trace.processes) for record in process.records)
    assert started and started <= found
    lists = [(record["sendcounts"], record["recvcounts"]) for record in trace[0].calls("Alltoallv")]
    assert lists == [([1] * run.ranks,) * 2] * 2


# --- traces that no program writes ---

WORLD = "Comm map='{}' id=0 name='WORLD' uid='W'\n"
INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
HUGE = (1 << 63) - 1


@pytest.fixture
def written(run, tmp_path):
    """written({rank: lines}) -> (Trace, Conversion)"""

    def written(traces, *lines):
        members = "".join(f"{rank}->{rank};" for rank in traces)
        for rank, text in traces.items():
            run.process(rank, WORLD.format(members) + INT + "".join(lines), text, size=len(traces))
        run.merge_cleanly("--no-audit", "app")
        conversion = convert(tmp_path / "app.proj", "dumpi", tmp_path / "dumpi")
        return read_trace(tmp_path / "dumpi"), conversion

    return written


def test_an_empty_run_and_a_process_without_calls(written):
    trace, conversion = written({0: "", 1: "<Barrier cid='0' time='1.0' end='2.0' />\n"})
    assert [len(process.records) for process in trace.processes] == [0, 1] and conversion.exact == 1


def test_numbers_that_the_files_have_no_room_for(written):
    trace, conversion = written({0: f"<Send size='{HUGE}' count='{HUGE}' tid='0' toRank='0' toTag='5' cid='0' time='1.0' end='2.0' />\n"
                                    f"<Waitall count='{HUGE}' time='2.0' end='3.0' />\n<Pack count='1' position='-{HUGE}' size='{HUGE}' time='3.0' end='4.0' />\n"})
    assert trace[0].records[0]["count"] == 2**31 - 1 and trace[0].records[0]["tag"] == 5
    assert any("no room" in text for text in conversion.approximated)
    assert len(trace[0].records[1]["requests"]) <= 1 << 16


def test_runs_of_more_than_18_hours(written):
    """Seconds begin again, as with DUMPI itself."""
    trace, _ = written({0: "<Barrier cid='0' time='1.0' end='2.0' />\n<Barrier cid='0' time='70000.5' end='70001.0' />\n"})
    first, second = trace[0].records
    assert second.start - first.start == pytest.approx(69999.5 - 65536)


def test_waiting_for_an_array_again_tells_the_places(written):
    irecv = "<Irecv fromRank='0' fromTag='{0}' cid='0' rid='{0}' size='4' count='1' tid='0' time='1.0' end='1.0' />\n"
    some = "<Waitsome count='3' outcount='1' time='2.0' end='3.0' ><For rid='{}' fromRank='0' fromTag='1' size='4' />{}</Waitsome>\n"
    pending = "<Pending rid='{}' />"
    trace, conversion = written({0: "".join(map(irecv.format, (4, 5, 6))) + some.format(6, pending.format(4) + pending.format(5)) +
                                    some.format(4, pending.format(5)) + some.format(5, "")})
    calls = trace[0].calls("Waitsome")
    assert [(record["requests"], record["indices"]) for record in calls] == [([6, 7, 8], [2]), ([6, 7, 1], [0]), ([1, 7, 1], [1])]
    assert sum(conversion.approximated.values()) == 1, "the first one could stand elsewhere"


def test_datatypes_of_very_many_blocks(written):
    made = "<{} count='1500' {} oldTid='0' tid='{}' time='1.0' end='2.0' />\n"
    types = (f"Type id='1' combiner='MPI_COMBINER_INDEXED' name='' integers='1500;1+0*1499;7;0+9*1500;' addresses='' types='0;' size=6024 lb=0 extent=54000\n"
             f"Type id='2' combiner='MPI_COMBINER_INDEXED_BLOCK' name='' integers='1500;2;0+9*1500;' addresses='' types='0;' size=12000 lb=0 extent=54000\n")
    trace, _ = written({0: made.format("Type_indexed", "", 1) + made.format("Type_create_indexed_block", "blocklength='2'", 2)}, types)
    indexed, block = trace[0].records
    places = [9 * i for i in range(1500)]
    assert (indexed["lengths"], indexed["indices"], block["displacments"]) == ([1] * 1499 + [7], places, places)


def test_calls_without_a_label_are_told(written):
    """Nothing that a reader would not know is written."""
    trace, conversion = written({0: "<Win_sync wid='0' time='1.0' end='2.0' />\n<Send_c size='4' count='1' tid='0' toRank='0' toTag='5' cid='0' time='2.0' end='3.0' />\n"
                                    "<Fetch_and_op size='4' toRank='0' wid='0' tid='0' targetOffset='2' op='MPI_SUM' time='3.0' end='4.0' />\n"})
    assert [record.name for record in trace[0].records] == ["Send", "Accumulate"]
    assert (conversion.exact, sum(conversion.approximated.values()), sum(conversion.dropped.values())) == (1, 1, 1)
    assert trace[0].records[1].arguments == {"origincount": 1, "origintype": 9, "targetrank": 0, "targetdisp": 2, "targetcount": 1,
                                             "targettype": 9, "op": 3, "win": 1}


def test_sends_and_receives_at_once_are_two(written):
    trace, conversion = written({0: "<Isendrecv size='4' toRank='0' toTag='1' fromRank='0' fromTag='1' cid='0' count='1' tid='0' rid='3' recvSize='8' recvCount='2' "
                                    "recvtid='0' time='1.0' end='2.0' />\n<Wait time='2.0' end='3.0' ><For rid='3' fromRank='0' fromTag='1' size='4' /></Wait>\n"})
    receive, send, given_up, wait = trace[0].records
    assert (receive.name, receive["count"], receive["request"]) == ("Irecv", 2, 5) and (wait["request"], wait["status"][0].bytes) == (5, 4)
    assert (send.name, send["count"], given_up.name) == ("Isend", 1, "Request_free") and send["request"] == given_up["request"] != 5


def test_hostile_names(written):
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    name = "x=&quot;1&quot;&#10;" + "ä" * 40000
    trace, _ = written({0: event.format(name, "begin", "1.0") + event.format(name, "end", "2.0") +
                           f"<Comm_set_name cid='0' name='{name}' time='2.0' end='3.0' />\n"})
    assert len(trace[0].records[2]["name"]) == 40000 + 6
    assert next(iter(trace[0].functions.values())).startswith('ANNOTATION: x="1"\n')


def test_a_broken_trace_leaves_nothing_behind(run, tmp_path):
    run.process(0, WORLD.format("0->0;"), "<Barrier cid='0' time='1.0' end='2.0' />\n", size=1)
    run.merge_cleanly("--no-audit", "app")
    trace = tmp_path / "app_node01_0_0.trc"
    trace.write_text(trace.read_text().replace("<Barrier", "<Barrier <"))
    result = call("--to", "dumpi", "-o", tmp_path / "output", tmp_path / "app.proj")
    assert result.returncode == 1 and trace.name in result.stderr
    assert not list(tmp_path.glob("*output*"))


def test_the_reader_of_the_tests_refuses_what_is_no_trace(written, tmp_path):
    written({0: "<Barrier cid='0' time='1.0' end='2.0' />\n"})
    path, = (tmp_path / "dumpi").glob("*.bin")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(BrokenFile):
        read_process(path)
    path.write_bytes(whole.replace(struct.pack(">H", 52) + b"\x4b", struct.pack(">H", 290) + b"\x4b", 1))
    with pytest.raises(BrokenFile):
        read_process(path)
    shutil.rmtree(tmp_path / "dumpi")
