"""The tables of csv and sqlite are the same, and add up to what the project's own statistics say."""
import csv
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing

import hdtrace
import pytest
from conversions import PROGRAMS, call, convert, project_of
from support.runs import BUILD

FORMATS = ["csv", "sqlite"]
WORLD = "Comm map='{}' id=0 name='WORLD' uid='W'\n"
BARRIER = "<Barrier cid='0' time='{}' end='{}' />"
NUMBERS = {"INTEGER": int, "REAL": float, "TEXT": str}


def read_csv(folder):
    """{table: (columns, sorted rows)}; what is not known is None. Python 3.11 does not tell it from an empty text."""
    found = {}
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            columns, *rows = csv.reader(file, strict=True)
        assert all(len(row) == len(columns) for row in rows), path
        found[path.stem] = columns, rows
    types = {(table, column): NUMBERS[kind] for table, column, kind, *_ in found["columns"][1]}
    for table, (columns, rows) in found.items():
        kinds = [types[table, column] for column in columns]
        rows[:] = sorted((tuple(None if value == "" else kind(value) for kind, value in zip(kinds, row)) for row in rows), key=repr)
    return found


def read_sqlite(path):
    """The same of a database, whose references must hold."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        names = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for name in names:
            cursor = database.execute(f"SELECT * FROM {name}")
            rows = sorted((tuple(None if value == "" else value for value in row) for row in cursor), key=repr)
            found[name] = [column for column, *_ in cursor.description], rows
        return found


def rows_of(tables, name):
    columns, rows = tables[name]
    return [dict(zip(columns, row)) for row in rows]


def query(path, text):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(text).fetchall()


@pytest.fixture(scope="session")
def exported(traced, tmp_path_factory):
    """exported(program) -> (Run, tables, path of the database)"""
    converted = {}

    def of_program(program):
        if program not in converted:
            run, folder = traced(program, 4), tmp_path_factory.mktemp(program)
            counts = [convert(project_of(run), to, folder / to) for to in FORMATS]
            assert counts[0] == counts[1] and not counts[0].dropped
            converted[program] = run, read_csv(folder / "csv"), folder / "sqlite"
        return converted[program]

    return of_program


@pytest.fixture
def written(run, tmp_path):
    """written({rank: lines}) -> tables, which both formats have"""

    def written(traces):
        members = "".join(f"{rank}->{rank};" for rank in traces)
        for rank, lines in traces.items():
            run.process(rank, WORLD.format(members), lines, size=len(traces))
        run.merge_cleanly("--no-audit", "app")
        for to in FORMATS:
            convert(tmp_path / "app.proj", to, tmp_path / to)
        tables = read_csv(tmp_path / "csv")
        assert tables == read_sqlite(tmp_path / "sqlite")
        return tables

    return written


def statistics(run, *arguments):
    command = [BUILD / "bin/hdtrace", "stats", "--csv", *arguments, project_of(run)]
    return list(csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()))


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_have_the_same_rows_and_references_hold(exported, program):
    _, tables, database = exported(program)
    assert tables == read_sqlite(database) and rows_of(tables, "calls")


@pytest.mark.parametrize("by, view", [("call", "time_per_call"), ("rank", "time_per_rank"), ("class", "time_per_class")])
@pytest.mark.parametrize("program", ["collectives", "io_explicit", "isend_modes", "nested", "persistent", "threads", "windows"])
def test_sums_are_those_of_the_statistics(exported, program, by, view):
    run, _, database = exported(program)
    found = {str(row[0]): row[1:] for row in query(database, f"SELECT * FROM {view}")}
    expected = {row[by]: tuple(float(row[key]) for key in ("calls", "seconds", "shortest", "longest", "bytes", "sent", "received"))
                for row in statistics(run, "--by", by)}
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers, rel=1e-9), key


@pytest.mark.parametrize("program", ["send_modes", "isend_modes", "completion", "persistent", "threads", "sub_communicator"])
def test_messages_name_the_calls_at_both_ends(exported, program):
    run, tables, database = exported(program)
    calls = {row["call"]: row for row in rows_of(tables, "calls")}
    messages = rows_of(tables, "messages")
    with hdtrace.open(project_of(run)) as project:
        expected = Counter((message.source, message.destination, message.tag, message.send.bytes if message.send else None)
                           for message in project.messages())
    assert expected == Counter((row["source"], row["destination"], row["tag"], row["sent_bytes"]) for row in messages)
    for row in messages:
        for end, rank, start in (("sent_by", "source", "send_start_ns"), ("received_by", "destination", "receive_start_ns")):
            if row[start] is not None:
                named = calls[row[end]]
                assert (named["rank"], named["start_ns"]) == (row[rank], row[start])
    matrix = {(source, to): (messages, size) for source, to, messages, size in query(database, "SELECT * FROM matrix")}
    assert sum(count for count, _ in matrix.values()) == sum(row["sent_by"] is not None for row in messages)


@pytest.mark.parametrize("program", ["isend_modes", "completion", "persistent", "nonblocking_collectives", "io_nonblocking", "threads"])
def test_requests_name_the_calls_at_both_ends(exported, program):
    _, tables, database = exported(program)
    calls = {row["call"]: row for row in rows_of(tables, "calls")}
    requests = rows_of(tables, "requests")
    assert len({(row["rank"], row["request"]) for row in requests}) == len(requests) > 0
    for row in requests:
        assert calls[row["started_by"]]["start_ns"] == row["start_ns"]
        assert (row["completed_by"] is None) == (row["outcome"] == "pending")
        if row["completed_by"] is not None:
            assert calls[row["completed_by"]]["end_ns"] == row["end_ns"]
    assert len(query(database, "SELECT * FROM pending_requests")) == sum(row["outcome"] == "pending" for row in requests)


@pytest.mark.parametrize("program", ["collectives", "sub_communicator", "nonblocking_collectives"])
def test_collective_operations_have_the_calls_of_all_members(exported, program):
    _, tables, _ = exported(program)
    sizes = {row["communicator"]: row["size"] for row in rows_of(tables, "communicators")}
    calls = {row["call"]: row for row in rows_of(tables, "calls")}
    members = {}
    for row in rows_of(tables, "collective_calls"):
        assert calls[row["call"]]["rank"] == row["rank"]
        members.setdefault(row["collective"], []).append(row["rank"])
    collectives = rows_of(tables, "collectives")
    assert collectives and all(len(set(members[row["collective"]])) == sizes[row["communicator"]] for row in collectives)


def test_calls_inside_calls_name_them(written):
    inner = "<Bcast size='4' rootRank='0' cid='0' time='1.2' end='1.3' />"
    tables = written({0: f"<Nested>{inner}</Nested>" + BARRIER.format("1.0", "2.0") + "\n" + BARRIER.format("3.0", "4.0") + "\n"})
    calls = [tuple(row[key] for key in ("call", "parent", "depth", "name")) for row in rows_of(tables, "calls")]
    assert calls == [(0, None, 0, "Barrier"), (1, 0, 1, "Bcast"), (2, None, 0, "Barrier")]


def test_each_column_is_described(exported):
    _, tables, database = exported("collectives")
    described = {(row["table_name"], row["column_name"]) for row in rows_of(tables, "columns") if row["description"]}
    assert described == {(name, column) for name, (columns, _) in tables.items() for column in columns}
    views = [name for name, in query(database, "SELECT name FROM sqlite_master WHERE type = 'view'")]
    assert len(views) >= 10
    for name in views:
        query(database, f"SELECT * FROM {name}")


def test_waiting_for_a_late_sender_and_a_late_member(written, tmp_path):
    message = "size='4' count='1' tid='0' cid='0' time='{}' end='{}' />\n"
    written({0: "<Recv fromRank='1' fromTag='1' " + message.format("1.0", "4.0") + BARRIER.format("5.0", "8.0") + "\n",
             1: "<Send toRank='0' toTag='1' " + message.format("3.0", "3.5") + BARRIER.format("7.0", "8.0") + "\n"})
    assert query(tmp_path / "sqlite", "SELECT kind, rank, name, seconds FROM waiting ORDER BY kind") == [
        ("late member", 0, "Barrier", 2.0), ("late sender", 0, "Recv", 2.0)]


def test_starting_several_receives_does_not_block(written, tmp_path):
    start = "<Startall count='1' time='2.0' end='4.0' ><Start rid='2' initRid='1' /></Startall>\n"
    written({0: "<Recv_init fromRank='1' fromTag='1' rid='1' size='4' count='1' tid='0' cid='0' time='1.0' end='1.5' />\n" + start +
                "<Wait time='5.0' end='6.0' ><For rid='2' fromRank='1' fromTag='1' size='4' /></Wait>\n",
             1: "<Send toRank='0' toTag='1' size='4' count='1' tid='0' cid='0' time='3.0' end='3.5' />\n"})
    assert query(tmp_path / "sqlite", "SELECT name FROM messages JOIN calls ON call = received_by") == [("Startall",)]
    assert query(tmp_path / "sqlite", "SELECT * FROM waiting") == []


def test_hostile_names_arrive_as_they_are(written):
    name = "\"quoted\", \\ 'ä€𝄞 \n;--\r"
    escaped = name.replace("'", "&apos;").replace("\n", "&#10;").replace("\r", "&#13;")
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    tables = written({0: event.format(escaped, "begin", "1.0") + f"<Event name='{escaped}' text='{escaped}' time='1.5' />\n" +
                      BARRIER.format("1.6", "1.7") + "\n" + event.format(escaped, "end", "2.0") +
                      "<Event name='rows' kind='count' value='2.5' time='3.0' />\n"})
    barrier, region = sorted(rows_of(tables, "calls"), key=lambda row: row["is_region"])
    assert (region["name"], region["is_region"], region["end_ns"] - region["start_ns"]) == (name, 1, 1_000_000_000)
    assert (barrier["region"], barrier["is_region"]) == (name.replace("\\", "\\\\"), 0)  # a path
    assert region["call"] < barrier["call"] and barrier["parent"] is None  # in the order in which they began
    assert [(row["name"], row["message"]) for row in rows_of(tables, "marks")] == [(name, name)]
    assert [(row["name"], row["value"]) for row in rows_of(tables, "counters")] == [("rows", 2.5)]


def test_calls_that_did_not_end_are_rows_but_in_no_sum(written, tmp_path):
    tables = written({0: BARRIER.format("1.0", "1.5") + "\n<Recv time='2.0' end='3.0' unfinished='1' />\n"})
    assert [(row["name"], row["unfinished"]) for row in rows_of(tables, "calls")] == [("Barrier", 0), ("Recv", 1)]
    assert [row[:2] for row in query(tmp_path / "sqlite", "SELECT * FROM time_per_call")] == [("Barrier", 1)]


def test_processes_without_calls_and_without_traces(run, tmp_path):
    info = WORLD.format("0..2->0..2;")
    run.process(0, info, "", size=3)
    run.process(2, info, BARRIER.format("1.0", "2.0") + "\n", size=3)
    assert run.merge("app").code == 0
    for to in FORMATS:
        convert(tmp_path / "app.proj", to, tmp_path / to)
    tables = read_csv(tmp_path / "csv")
    assert tables == read_sqlite(tmp_path / "sqlite")
    assert sorted((row["rank"], row["has_trace"]) for row in rows_of(tables, "processes")) == [(0, 1), (1, 0), (2, 1)]


def test_an_empty_run(written):
    assert rows_of(written({0: ""}), "calls") == []


@pytest.mark.parametrize("to", FORMATS)
def test_a_broken_trace_leaves_nothing_behind(run, tmp_path, to):
    run.process(0, WORLD.format("0->0;"), BARRIER.format("1.0", "2.0") + "\n", size=1)
    run.merge_cleanly("--no-audit", "app")
    trace = tmp_path / "app_node01_0_0.trc"
    trace.write_text(trace.read_text().replace("<Barrier", "<Barrier <"))
    result = call("--to", to, "-o", tmp_path / "output", tmp_path / "app.proj")
    assert result.returncode == 1 and trace.name in result.stderr
    assert not list(tmp_path.glob("*output*"))


def test_all_that_a_trace_says_of_a_call(written):
    """Also what has no column of its own."""
    tables = written({0: "<Bcast cid='0' count='4' tid='0' rootRank='0' time='1.0' end='2.0' />\n"
                         "<Waitall count='2' time='3.0' end='4.0' ><For rid='1' fromRank='0' /><For rid='2' /></Waitall>\n"})
    assert {row["name"]: row["arguments"] for row in rows_of(tables, "calls")} == {
        "Bcast": "cid=0 count=4 tid=0 rootRank=0", "Waitall": "count=2 (For rid=1 fromRank=0) (For rid=2)"}


def test_what_a_receive_got_is_told_by_the_call_that_completed_it(written):
    receive = "<Irecv fromRank='0' fromTag='1' cid='0' size='1000' rid='{rid}' tid='0' time='{rid}.0' end='{rid}.5' />\n"
    tables = written({0: receive.format(rid=1) + receive.format(rid=2) + "<Wait time='3.0' end='4.0' ><For rid='1' fromRank='0' fromTag='1' size='10' /></Wait>\n"})
    assert {(row["name"], row["request"]): (row["bytes"], row["sent_bytes"], row["received_bytes"]) for row in rows_of(tables, "calls")} == {
        ("Irecv", 1): (10, 0, 10), ("Irecv", 2): (0, 0, 0), ("Wait", None): (0, 0, 0)}
    assert sorted((row["received_bytes"], row["receive_end_ns"] is None) for row in rows_of(tables, "messages") if row["received_bytes"]) == [(10, False)]
    assert [row["receive_end_ns"] for row in rows_of(tables, "messages") if not row["received_bytes"]] == [None]
