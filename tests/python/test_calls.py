"""Calls, messages and collective operations of a project."""
import subprocess
import sys

import hdtrace
import numpy
import pandas
import pytest

from projects_of_lines import write_project

SECOND = 1_000_000_000
SENDER = """\
<Send size='8' count='2' tid='0' toRank='1' toTag='7' cid='0' time='1.000000000' end='1.500000000' />
<File_write_at fid='0' offset='64' size='16' time='3.000000000' end='3.250000000' />
<Barrier cid='0' time='4.000000000' end='4.500000000' />
"""
RECEIVER = """\
<Irecv fromRank='-1' fromTag='7' cid='0' rid='3' size='8' tid='0' time='0.500000000' end='0.750000000' />
<Nested><Type_size tid='0' time='1.200000000' end='1.300000000' /></Nested><Wait time='1.100000000' end='2.000000000' ><For rid='3' fromRank='0' fromTag='7' size='8' /></Wait>
<Barrier cid='0' time='3.500000000' end='4.500000000' />
<Recv time='5.000000000' end='6.000000000' unfinished='1' />
"""


@pytest.fixture
def project(tmp_path):
    with hdtrace.open(write_project(tmp_path, SENDER, RECEIVER)) as project:
        yield project


def names(calls):
    return [(call.rank, call.name) for call in calls]


def test_processes(project):
    assert [(process.rank, process.host, len(process.threads)) for process in project.processes] == [
        (0, "node01", 1), (1, "node01", 1)]
    assert project.threads[1].path == project.trace_paths[1]


def test_calls_of_all_threads_come_in_the_order_of_time(project):
    calls = project.calls()
    everything = [(1, "Irecv"), (0, "Send"), (1, "Wait"), (0, "File_write_at"), (1, "Barrier"), (0, "Barrier")]
    assert names(calls) == everything
    assert names(calls) == everything
    assert names(project.calls(unfinished=True)) == [*everything, (1, "Recv")]


def test_calls_are_selected(project):
    assert names(project.calls(rank=0, name="Send")) == [(0, "Send")]
    assert names(project.calls(rank=[1], thread=0, call_class="completion")) == [(1, "Wait")]
    assert names(project.calls(call_class=("file", "collective"))) == [(0, "File_write_at"), (1, "Barrier"), (0, "Barrier")]
    begin = 103 * SECOND
    assert names(project.calls(interval=(begin, begin + 1))) == [(0, "File_write_at")]
    assert names(project.calls(interval=(None, 101 * SECOND))) == [(1, "Irecv"), (0, "Send")]
    assert project.start == 100 * SECOND + SECOND // 2
    with pytest.raises(ValueError, match="no class of calls named files"):
        project.calls(call_class="files")


def test_functions_are_selected_by_their_names_in_mpi_too(project):
    assert names(project.calls(name="MPI_Send")) == names(project.calls(name=["MPI_Send", "solve"])) == [(0, "Send")]
    assert names(project.calls(name=["MPI_solve", "Foo"])) == []


def test_intervals_must_not_end_before_they_begin(project, tmp_path):
    interval = (103 * SECOND, 102 * SECOND)
    for read in project.calls, project.counters, project.marks, project.analyze:
        with pytest.raises(ValueError, match="it ends at 102000000000, before it begins at 103000000000"):
            read(interval=interval)
    with pytest.raises(ValueError, match="before it begins"):
        project.extract(tmp_path / "part", interval=interval)
    assert names(project.calls(interval=(103 * SECOND, 103 * SECOND))) == [(0, "File_write_at")]


def test_calls_name_objects(project):
    send, wait, write = (next(iter(project.calls(name=name))) for name in ("Send", "Wait", "File_write_at"))
    assert project.communicator(send).name == "WORLD" and project.communicator(write) is None
    assert project.file(write).name == "/data/out"
    assert project.datatype(send).attributes["name"] == "MPI_INT"
    assert project.window(send) is None
    assert (send.call_class, send.integer("size"), send.integer("offset")) == ("point-to-point", 8, None)
    assert [state.name for state in wait.nested] == ["Type_size"]


def test_objects_outlive_the_variable_of_their_project(tmp_path):
    communicator = hdtrace.open(write_project(tmp_path, SENDER)).communicators[0]
    assert communicator.name == "WORLD"


def test_columns(project):
    columns = project.to_columns()
    assert {len(column) for column in columns.values()} == {8}
    assert columns["name"].tolist() == ["Irecv", "Send", "Type_size", "Wait", "File_write_at", "Barrier", "Barrier", "Recv"]
    assert columns["depth"].tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert columns["nested"].tolist() == [depth == 1 for depth in columns["depth"]]
    assert columns["bytes"].tolist() == [8, 8, 0, 0, 16, 0, 0, 0]
    assert columns["peer"].tolist() == [-1, 1, None, None, None, None, None, None]
    assert columns["offset"].tolist() == [None] * 4 + [64] + [None] * 3
    assert columns["communicator"].tolist() == ["WORLD", "WORLD", None, None, None, "WORLD", "WORLD", None]
    assert columns["file"][4] == "/data/out" and columns["class"][4] == "file"
    assert columns["unfinished"].tolist() == [False] * 7 + [True]
    assert columns["start"].dtype == numpy.int64 and columns["start"][1] == 101 * SECOND
    assert columns["line"][1] == 3


def test_columns_select_at_any_depth(project):
    assert project.calls(name="Type_size").to_columns()["depth"].tolist() == [1]
    assert project.calls(name="Wait").to_columns()["name"].tolist() == ["Wait"]


def test_both_ends_of_calls_that_send_and_receive(tmp_path):
    line = ("<Sendrecv size='8' toRank='1' toTag='5' fromRank='0' fromTag='6' cid='0' recvSize='4' "
            "time='1.000000000' end='1.500000000' />\n")
    columns = hdtrace.open(write_project(tmp_path, line)).to_columns()
    row = [columns[name][0] for name in ("bytes", "sent_bytes", "peer", "tag", "recv_bytes", "recv_peer", "recv_tag")]
    assert row == [12, 8, 1, 5, 4, 0, 6]


def test_dataframe(project):
    calls = project.to_dataframe()
    assert isinstance(calls, pandas.DataFrame) and len(calls) == 8
    assert calls.groupby("name", observed=True)["bytes"].sum()["Send"] == 8
    assert calls["peer"].isna().sum() == 6
    assert calls["name"].dtype == "category"


def test_messages(project):
    (message,) = project.messages()
    assert (message.source, message.destination, message.tag, message.communicator) == (0, 1, 7, "WORLD")
    assert (message.send.start, message.send.end, message.send.line) == (101 * SECOND, 101 * SECOND + SECOND // 2, 3)
    assert (message.send.request, message.receive.request, message.receive.bytes) == (None, 3, 8)
    assert message.receive.end == 102 * SECOND
    columns = project.messages().to_columns()
    row = {name: column.tolist()[0] for name, column in columns.items()}
    assert row == {
        "source": 0, "destination": 1, "tag": 7, "communicator": "WORLD",
        "send_thread": 0, "send_start": 101 * SECOND, "send_end": 101 * SECOND + SECOND // 2, "send_bytes": 8,
        "send_request": None, "send_line": 3,
        "receive_thread": 0, "receive_start": 100 * SECOND + SECOND // 2, "receive_end": 102 * SECOND, "receive_bytes": 8,
        "receive_request": 3, "receive_line": 3}


def test_when_a_message_came_whose_request_was_freed_is_not_known(tmp_path):
    receive = "<Irecv fromRank='0' fromTag='7' cid='0' rid='3' size='80' tid='0' time='0.5' end='0.7' />\n<Request_free rid='3' time='0.8' end='0.9' />\n"
    with hdtrace.open(write_project(tmp_path, SENDER, receive)) as project:
        (message,) = project.messages()
        assert (message.send.start, message.receive.end, message.receive.bytes) == (101 * SECOND, None, 8)
        columns = project.messages().to_columns()
        assert (columns["receive_end"].tolist(), columns["receive_bytes"].tolist()) == ([None], [8])


def test_what_came_to_a_receive_that_tells_only_its_room_is_what_was_sent(tmp_path):
    receive = "<Irecv fromRank='0' fromTag='7' cid='0' rid='3' size='80' tid='0' time='0.5' end='0.7' />\n<Wait time='1.1' end='2.0' ><For rid='3' /></Wait>\n"
    (message,) = hdtrace.open(write_project(tmp_path, SENDER, receive)).messages()
    assert (message.send.bytes, message.receive.bytes) == (8, 8)


def test_messages_that_lack_an_end(tmp_path):
    project = hdtrace.open(write_project(tmp_path, SENDER, ""))
    (message,) = project.messages()
    assert message.receive is None
    messages = project.messages().to_dataframe()
    assert messages["receive_start"].isna().all() and messages["send_bytes"].tolist() == [8]


def test_collectives(project):
    (barrier,) = project.collectives()
    assert (barrier.name, barrier.communicator, barrier.number) == ("Barrier", "WORLD", 0)
    assert [call.rank for call in barrier.calls] == [1, 0]
    columns = project.collectives().to_columns()
    assert columns["operation"].tolist() == [0, 0] and columns["rank"].tolist() == [1, 0]


def test_a_persistent_collective_operation_is_there_once_and_moves_nothing(tmp_path):
    """Where it is prepared; what its starts move is told of these calls."""
    calls = ("<Allreduce_init size='8' cid='0' count='2' tid='0' rid='1' time='1.0' end='1.1' />\n"
             "<Start rid='2' initRid='1' time='2.0' end='2.1' />\n<Wait time='3.0' end='3.1' ><For rid='2' /></Wait>\n")
    project = hdtrace.open(write_project(tmp_path, calls, calls))
    (operation,) = project.collectives()
    assert [(call.name, call.bytes) for call in operation.calls] == [("Allreduce_init", 0)] * 2
    assert project.collectives().to_columns()["bytes"].tolist() == [0, 0]
    assert [call.name for call in project.calls(name="Start")] == ["Start"] * 2 and sum(project.calls(name="Start").to_columns()["bytes"]) == 32


def test_traces_that_were_cut_off(tmp_path):
    project = hdtrace.open(write_project(tmp_path, SENDER, closing=""))
    calls = project.calls()
    assert len(list(calls)) == 3
    assert calls.missing == [f"{project.trace_paths[0]}: </Program> is missing"]


@pytest.mark.parametrize("old, new, said", [
    ("rank='1'", "rank='0'", "this is the trace of rank 0, but stands where the project has that of rank 1"),
    ("thread='0'", "thread='2'", "this is the trace of thread 2, but stands where the project has that of thread 0"),
    ("timeAdjustment='100'", "timeAdjustment='111'", "this trace is of another run than the project: its times count from second 111, not 100"),
    ("timeAdjustment='100'", "timeAdjustment='0'", None)], ids=["rank", "thread", "run", "unknown"])
def test_traces_of_others_are_not_taken(tmp_path, old, new, said):
    path = write_project(tmp_path, SENDER, RECEIVER)
    processes = "".join(f'<Process rank="{rank}" pid="{rank}" began="100"/>' for rank in range(2))
    path.write_text(path.read_text().replace("</Application>", f"<Run>{processes}</Run></Application>"))
    trace = tmp_path / "app_node01_1_0.trc"
    text = trace.read_text()
    assert old in text
    trace.write_text(text.replace(old, new, 1))
    with hdtrace.open(path) as project:
        if said:
            with pytest.raises(hdtrace.ReadError, match=f"app_node01_1_0.trc:1: {said}"):
                list(project.calls())
        else:
            assert [call.rank for call in project.calls()].count(1) == 3


def test_errors(tmp_path):
    project = hdtrace.open(write_project(tmp_path, SENDER + "<Send <\n"))
    for read in (lambda: list(project.calls()), project.to_columns, lambda: list(project.messages())):
        with pytest.raises(hdtrace.ReadError, match=r"app_node01_0_0.trc:6"):
            read()
    project.close()
    with pytest.raises(ValueError, match="the project is closed"):
        project.calls()


def test_objects_of_equal_name_have_labels(tmp_path):
    path = write_project(tmp_path, "<Barrier cid='1' time='1.000000000' end='2.000000000' />\n")
    same = '<Communicator name="part" uid="W/{0}@0"><Rank global="0" local="0" cid="{0}"/></Communicator>'
    text = path.read_text().replace("</CommunicatorList>", same.format(1) + same.format(2) + "</CommunicatorList>")
    path.write_text(text)
    project = hdtrace.open(path)
    assert project.communicator_labels == ["WORLD", "part #1", "part #2"]
    assert project.to_columns()["communicator"].tolist() == ["part #1"]


def test_reading_needs_neither_numpy_nor_pandas(project):
    program = f"import sys, hdtrace; list(hdtrace.open({project.path!r}).messages()); print({{'numpy', 'pandas'}} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("set()\n", "")


REGIONS = """\
<Event name='solve' kind='begin' time='1.000000000' />
<Event name='n:exchange' kind='begin' time='1.100000000' />
<Barrier cid='0' time='1.200000000' end='1.300000000' />
<Event name='residual' kind='count' value='0.5' time='1.350000000' />
<Event name='converged' text='at last' time='1.360000000' />
<Event name='n:exchange' kind='end' time='1.400000000' />
<Send size='8' toRank='1' toTag='7' cid='0' time='1.500000000' end='1.700000000' />
<Event name='solve' kind='end' time='2.000000000' />
<Barrier cid='0' time='3.000000000' end='3.500000000' />
"""


@pytest.fixture
def regions(tmp_path):
    with hdtrace.open(write_project(tmp_path, REGIONS)) as project:
        yield project


def test_rows_tell_the_regions_that_they_are_in(regions):
    calls = regions.to_columns()
    assert list(zip(calls["name"], calls["region"])) == [
        ("Barrier", "solve/n:exchange"), ("n:exchange", "solve"), ("Send", "solve"), ("solve", None), ("Barrier", None)]
    assert regions.calls(name="Send").to_columns()["region"].tolist() == ["solve"]


def test_calls_tell_the_regions_that_they_are_in(regions):
    assert [(call.name, call.region) for call in regions.calls() if not call.is_event] == [
        ("Barrier", "solve/n:exchange"), ("Send", "solve"), ("Barrier", "")]
    assert [(call.name, call.region) for call in regions.calls(name="Send")] == [("Send", "solve")]


def test_many_events_do_not_end_what_is_read(tmp_path):
    marks = "<Event name='mark' time='1.000000000' />\n" * 2000
    project = hdtrace.open(write_project(tmp_path, marks + "<Barrier cid='0' time='2.000000000' end='3.000000000' />\n"))
    assert names(project.calls(name="Barrier")) == [(0, "Barrier")]


def test_calls_of_an_interval_know_the_regions_that_began_before(tmp_path):
    path = write_project(tmp_path, REGIONS)
    path.write_text(path.read_text().replace(
        "</Application>", '<Run><Region name="solve"><Ranks first="0" last="0"/></Region></Run></Application>'))
    begin = 101 * SECOND + SECOND // 2
    with hdtrace.open(path) as project:
        assert [(call.name, call.region) for call in project.calls(interval=(begin, begin + 1))] == [("Send", "solve")]


def test_counters(tmp_path):
    values = "".join(f"<Event name='{name}' kind='count' value='{value}' time='{1 + i}.000000000' />\n" for i, (name, value) in enumerate([
        ("residual", "0.25"), ("cells", "9223372036854775807"), ("residual", "NaN"), ("residual", "-INF")]))
    inside = "<Nested><Event name='cells' kind='count' value='3' time='7.500000000' /></Nested><Barrier cid='0' time='7.000000000' end='8.000000000' />\n"
    path = write_project(tmp_path, "<Event name='solve' kind='begin' time='0.500000000' />\n" + values + inside)
    path.write_text(path.read_text().replace("</Application>", """\
        <Run><Counter name="residual" type="float" unit="m/s" scope="thread" valid="after"><Ranks first="0" last="0"/></Counter></Run></Application>"""))
    hdtrace.validate(path)
    with hdtrace.open(path) as project:
        counters = project.counters().to_dataframe()
        columns = project.counters(interval=(102 * SECOND, 103 * SECOND)).to_columns()
        assert project.run.of_kind("Counter")[0].values["unit"] == "m/s"
    assert counters[["rank", "thread", "time", "name", "region"]].values.tolist() == [
        [0, 0, 100 * SECOND + time, name, "solve"] for time, name in zip(
            (SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND, 7_500_000_000), ("residual", "cells", "residual", "residual", "cells"))]
    assert counters["value"].astype(str).tolist() == ["0.25", "9.223372036854776e+18", "nan", "-inf", "3.0"]
    assert columns["integer"].tolist() == [2**63 - 1, None] and columns["unit"].tolist() == [None, "m/s"]


def test_marks(tmp_path):
    mark = "<Event name='{}' {}time='{}.000000000' />\n"
    inside = "<Nested>" + mark.format("converged", "text='nested &amp; late' ", 5).strip() + "</Nested><Barrier cid='0' time='4.000000000' end='6.000000000' />\n"
    count = "<Event name='residual' kind='count' value='1' time='3.000000000' />\n"
    begin, end = (f"<Event name='solve' kind='{kind}' time='{time}.000000000' />\n" for kind, time in (("begin", 1), ("end", 7)))
    path = write_project(tmp_path, begin + mark.format("n:here", "site='4' ", 2) + count + inside + end, mark.format("converged", "", 8))
    path.write_text(path.read_text().replace("</Application>", """\
        <CallSiteList><Place id="0"><Function name="step" file="/u/step.py" line="12"/></Place><CallSite id="0" places="0;"/>
        <Sites map="4=0;"><Ranks first="0" last="0"/></Sites></CallSiteList></Application>"""))
    hdtrace.validate(path)
    with hdtrace.open(path) as project:
        marks = project.marks().to_dataframe()
        some = project.marks(rank=0, interval=(103 * SECOND, None)).to_columns()
    assert marks.astype(object).where(marks.notna(), None).values.tolist() == [
        [0, 0, 102 * SECOND, "n:here", None, 0, "step", "/u/step.py", 12, "solve", 4],
        [0, 0, 105 * SECOND, "converged", "nested & late", None, None, None, None, "solve", 6],
        [1, 0, 108 * SECOND, "converged", None, None, None, None, None, None, 3]]
    assert marks.columns.tolist() == list(some) == [
        "rank", "thread", "time", "name", "text", "site", "function", "source_file", "source_line", "region", "line"]
    assert some["text"].tolist() == ["nested & late"]


def test_regions_of_the_program_are_rows_around_their_calls(tmp_path):
    lines = """\
<Event name='Step' kind='begin' time='1.000000000' />
<Barrier cid='0' time='1.200000000' end='1.300000000' />
<Event name='Step' kind='end' time='2.000000000' ><Step size='3' /></Event>
"""
    with hdtrace.open(write_project(tmp_path, lines)) as project:
        calls = project.to_dataframe()
    assert calls[["name", "class", "depth", "nested", "bytes"]].values.tolist() == [["Barrier", "collective", 1, False, 0], ["Step", "other", 0, False, 3]]
    assert (calls["end"] - calls["start"]).tolist() == [SECOND // 10, SECOND]


def call(name, second, attributes, children=""):
    return f"<{name} {attributes} time='{second}.000000000' end='{second}.500000000' >{children}</{name}>\n"


def rows_of(table):
    columns = table.to_columns()
    return [{name: column[i] for name, column in columns.items()} for i in range(len(columns["rank"]))]


def test_requests(tmp_path):
    """A message of half the size that the receive has room for, from any source; a persistent send that is started twice, the second time in vain."""
    receiver = (call("Irecv", 1, "fromRank='-1' fromTag='-1' cid='0' rid='5' size='64' count='16' tid='0'")
                + call("Wait", 3, "", "<For rid='5' fromRank='1' fromTag='9' size='32' />"))
    sender = (call("Send_init", 1, "toRank='0' toTag='9' cid='0' rid='7' size='32' count='8' tid='0'")
              + call("Start", 2, "rid='8' initRid='7'") + call("Wait", 3, "", "<For rid='8' />") + call("Start", 4, "rid='9' initRid='7'"))
    first, second, third = rows_of(hdtrace.open(write_project(tmp_path, receiver, sender)).requests())
    assert [(row["rank"], row["name"], row["request"]) for row in (first, second, third)] == [(0, "Irecv", 5), (1, "Send_init", 8), (1, "Send_init", 9)]
    assert (first["posted_bytes"], first["bytes"], first["peer"], first["tag"], first["completed_by"]) == (64, 32, 1, 9, "Wait")
    assert (second["posted_bytes"], second["bytes"], second["peer"], second["outcome"], second["communicator"]) == (32, 32, 0, "completed", "WORLD")
    assert third["outcome"] is None and third["completed_by"] is None and third["wait_start"] is numpy.ma.masked and third["bytes"] is numpy.ma.masked
    assert [first[time] - first["start"] for time in ("started", "wait_start", "completed")] == [500_000_000, 2_000_000_000, 2_500_000_000]


def test_requests_of_collective_operations_move_the_parts_of_all_members(tmp_path):
    """As their calls do: of two members, once without and twice with a persistent request, started together with another one."""
    parts = "size='16' count='4' tid='0' recvSize='16' recvCount='4' recvtid='0' cid='0'"
    lines = (call("Ialltoall", 1, f"{parts} rid='1'") + call("Wait", 2, "", "<For rid='1' />")
             + call("Alltoall_init", 3, f"{parts} rid='2'") + call("Bcast_init", 4, "size='8' count='2' tid='0' rootRank='0' cid='0' rid='3'")
             + call("Startall", 5, "count='2'", "<Start rid='4' initRid='2' /><Start rid='5' initRid='3' />")
             + call("Waitall", 6, "", "<For rid='4' /><For rid='5' />"))
    rows = rows_of(hdtrace.open(write_project(tmp_path, lines, lines)).requests())
    assert {(row["name"], row["request"], row["posted_bytes"], row["bytes"]) for row in rows if row["rank"] == 0} == {
        ("Ialltoall", 1, 64, 64), ("Alltoall_init", 4, 64, 64), ("Bcast_init", 5, 8, 8)}


def test_requests_of_a_run(heat):
    """Each edge is sent and received in one round, and nothing is left."""
    with hdtrace.open(heat) as project:
        requests = project.requests().to_dataframe()
        messages = project.messages().to_dataframe()
    assert set(requests.outcome) == {"completed"} and set(requests.completed_by) == {"Waitall"}
    assert (requests.wait_start >= requests.started).all() and (requests.completed >= requests.wait_start).all()
    received = requests[(requests.name == "Irecv") & (requests.peer >= 0)]
    assert received.bytes.sum() == messages.receive_bytes.sum() and len(received) == len(messages)
    assert requests[requests.peer < 0].bytes.sum() == 0 < requests[requests.peer < 0].posted_bytes.sum()


def test_dask_reads_a_partition_for_each_process(heat):
    """In processes of its own, which open the project themselves."""
    with hdtrace.open(heat) as project:
        calls, partitions = project.calls(unfinished=True).to_dataframe(), project.calls(unfinished=True).to_dask()
        waits = project.calls(rank=[1, 3], name="Waitall").to_dask()
        nothing = project.calls(rank=1, name="Nothing").to_dask()
    assert partitions.npartitions == 4 and waits.npartitions == 2
    by = ["rank", "name"]
    expected = calls.astype({"name": str}).groupby(by)[["bytes", "line"]].sum()
    for scheduler in ("synchronous", "processes"):
        whole = partitions.compute(scheduler=scheduler)
        assert list(whole.columns) == list(calls.columns) and len(whole) == len(calls)
        assert whole.astype({"name": str}).groupby(by)[["bytes", "line"]].sum().equals(expected)
    assert partitions.groupby("name", observed=True).bytes.sum().compute().to_dict() == calls.groupby("name", observed=True).bytes.sum().to_dict()
    assert set(waits.compute()["rank"]) == {1, 3} and len(nothing.compute()) == 0
