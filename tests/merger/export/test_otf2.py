"""The library of OTF2 reads the archives, and what it reads is what the programs did."""
import resource
from collections import Counter

import pytest
from archives import events, markers, messages, otf2, place, print_silently
from conversions import PROGRAMS, call, convert, project_of
from original_traces import write_original

MESSAGES = ["send_modes", "receive", "isend_modes", "completion", "persistent", "probe", "sub_communicator", "threads"]
MESSAGES += [name for name in PROGRAMS if name == "partitioned"]  # only with MPI 4


@pytest.mark.parametrize("program", PROGRAMS)
def test_otf2_print_has_nothing_to_complain(archive, program):
    print_silently(archive(program)[1])


@pytest.mark.parametrize("program", [*MESSAGES, "collectives", "windows"])
def test_each_call_is_a_region_and_they_nest(archive, program):
    run, path, _ = archive(program)
    inside, calls = {}, Counter()
    for location, event in events(path, "Enter", "Leave"):
        stack = inside.setdefault(place(location), [])
        if isinstance(event, otf2.events.Enter):
            stack.append(event.region.name)
            calls[place(location), event.region.name] += 1
        else:
            assert stack.pop() == event.region.name
    assert not any(inside.values())
    expected = Counter((key, f"MPI_{state.name}") for key, thread in run.threads.items() for state in thread.everything())
    assert calls == expected


@pytest.mark.parametrize("program", MESSAGES)
def test_each_message_is_received_as_it_was_sent(archive, program):
    sent, received = messages(archive(program)[1])
    assert received and received <= sent
    assert program == "completion" or received == sent  # it cancels


@pytest.mark.parametrize("program", MESSAGES)
def test_requests_are_completed_once(archive, program):
    """Unless the program gave them up."""
    run, pending = archive(program)[0], set()
    given_up = {(trace.rank, int(state["rid"])) for trace in run for state in trace if state.name == "Request_free"}
    for location, event in events(archive(program)[1]):
        if not hasattr(event, "request_id"):
            continue
        request = place(location)[0], event.request_id
        if isinstance(event, (otf2.events.MpiIsend, otf2.events.MpiIrecvRequest)):
            assert request not in pending
            pending.add(request)
        else:
            pending.remove(request)
    assert pending <= given_up


@pytest.mark.parametrize("program", ["collectives", "vector_collectives", "in_place", "nonblocking_collectives", "sub_communicator"])
def test_all_members_take_part_in_a_collective_operation(archive, program):
    ends = Counter()
    for location, event in events(archive(program)[1], "MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
        ends[event.communicator.name, event.collective_op, place(location)[0]] += 1
    assert len({operation for _, operation, _ in ends}) >= 2
    of_operation = {}
    for (communicator, operation, _), count in ends.items():
        of_operation.setdefault((communicator, operation), []).append(count)
    assert all(len(set(counts)) == 1 for counts in of_operation.values())


@pytest.mark.parametrize("program", ["io_explicit", "io_individual"])
def test_accesses_have_bytes_and_offsets(archive, program):
    run, path, _ = archive(program)
    begun = Counter((place(location)[0], event.bytes_request, {key.name: value for key, value in (event.attributes or {}).items()}.get("offset"))
                    for location, event in events(path, "IoOperationBegin") if event.mode != otf2.IoOperationMode.FLUSH)
    expected = Counter((trace.rank, int(state["size"]), int(state["offset"]) if "offset" in state else None) for trace in run for state in trace
                       if state.name.startswith(("File_read", "File_write", "File_iread", "File_iwrite")))
    assert begun == expected
    assert len(events(path, "IoOperationComplete")) == len(events(path, "IoOperationBegin"))


def test_a_request_for_both_sides_is_two_messages(run, tmp_path):
    """MPICH does not write its status: what it tells counts only where anything was welcome."""
    info = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\nComm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"
    for me, source, told in ((0, 1, "fromRank='0' fromTag='9' size='99'"), (1, -1, "fromRank='0' fromTag='5' size='4'")):
        both = f"size='4' toRank='{1 - me}' toTag='5' fromRank='{source}' fromTag='5' cid='0' count='1' tid='0' rid='0' recvSize='4'"
        run.process(me, info, f"<Isendrecv {both} time='1.000000000' end='2.000000000' />\n"
                              f"<Wait time='3.000000000' end='4.000000000' ><For rid='0' {told} /></Wait>\n", size=2)
    run.merge_cleanly()
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    archive = tmp_path / "otf2/traces.otf2"
    sent, received = messages(archive)
    assert sent == received == {(0, 1, "WORLD", 5, 4): 1, (1, 0, "WORLD", 5, 4): 1}
    requests = Counter((place(location), event.request_id) for location, event in events(archive) if hasattr(event, "request_id"))
    assert len(requests) == 4 and set(requests.values()) == {2}


@pytest.mark.parametrize("calls", [
    "<File_read_at {read} actual='30' time='1.000000000' end='2.000000000' />\n",
    "<File_iread_at {read} rid='0' time='1.000000000' end='2.000000000' />\n"
    "<Wait time='3.000000000' end='4.000000000' ><For rid='0' actual='30' /></Wait>\n"], ids=["blocking", "non-blocking"])
def test_a_read_at_the_end_of_the_file_completes_with_what_there_was(run, tmp_path, calls):
    info = "Comm map='0->0;' id=0 name='WORLD' uid='W'\nFile name='/data/a' Size=0 id=0 time=0.1\n"
    run.process(0, info, calls.format(read="fid='0' size='100' offset='7' count='100' tid='0'"), size=1)
    run.merge_cleanly("--no-audit", "app")
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    found = events(tmp_path / "otf2/traces.otf2", "IoOperationBegin", "IoOperationComplete")
    assert [event.bytes_request if hasattr(event, "bytes_request") else event.bytes_result for _, event in found] == [100, 30]


def test_what_was_started_and_failed_is_not_complete(run, tmp_path):
    info = "Comm map='0->0;' id=0 name='WORLD' uid='W'\nFile name='/data/a' Size=0 id=0 time=0.1\n"
    calls = ("<File_iread_at fid='0' size='100' offset='7' count='100' tid='0' rid='0' time='1.0' end='2.0' />\n<Ibarrier cid='0' rid='1' time='2.0' end='2.5' />\n"
             "<Waitall count='2' rc='MPI_ERR_IN_STATUS' time='3.0' end='4.0' ><For rid='0' rc='MPI_ERR_IO' /><For rid='1' rc='MPI_ERR_OTHER' /></Waitall>\n")
    run.process(0, info, calls, size=1)
    run.merge_cleanly("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    found = [type(event).__name__ for _, event in events(tmp_path / "otf2/traces.otf2")]
    assert [name for name in found if name.endswith(("Complete", "Cancelled"))] == ["IoOperationCancelled"]
    assert list(conversion.approximated.values()) == [1]


@pytest.mark.parametrize("second, communicator", [("0", "WORLD"), ("1", None)])
def test_files_have_the_communicator_that_always_opens_them(run, tmp_path, second, communicator):
    info = "Comm map='0->0;' id=0 name='WORLD' uid='W'\nComm map='0->0;' id=1 name='SELF' uid='S'\nFile name='/data/a' Size=0 id=0 time=0.1\n"
    use = "<File_open cid='{}' fid='0' name='a' flags='2' amode='RDWR' time='{}' end='{}' />\n<File_close fid='0' time='{}' end='{}' />\n"
    run.process(0, info, use.format("0", "1.0", "2.0", "3.0", "4.0") + use.format(second, "5.0", "6.0", "7.0", "8.0"), size=1)
    run.merge_cleanly("--no-audit", "app")
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    with otf2.reader.open(str(tmp_path / "otf2/traces.otf2")) as trace:
        (handle,) = trace.definitions.io_handles
        assert (handle.comm.name if handle.comm else None) == communicator


def test_handles_of_a_file_that_are_open_at_the_same_time_are_several(run, tmp_path):
    """Each is destroyed before it is created again."""
    info = "Comm map='0->0;' id=0 name='WORLD' uid='W'\nComm map='0->0;' id=1 name='SELF' uid='S'\nFile name='/data/a' Size=0 id=0 time=0.1\n"
    opening = "<File_open cid='{}' fid='0' name='a' flags='2' amode='RDWR' time='{}' end='{}.5' />\n"
    write, close = (f"<{name} fid='0' time='{{}}' end='{{}}.5' />\n" for name in ("File_write_at offset='7' size='4' count='1' tid='0'", "File_close"))
    lines = opening.format(0, 1, 1) + opening.format(1, 2, 2) + write.format(3, 3) + close.format(4, 4) + write.format(5, 5) + close.format(6, 6)
    run.process(0, info, lines + opening.format(0, 7, 7) + close.format(8, 8), size=1)
    run.merge_cleanly("--no-audit", "app")
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    first, second = "WORLD", "SELF"
    found = events(tmp_path / "otf2/traces.otf2", "IoCreateHandle", "IoOperationBegin", "IoDestroyHandle")
    assert [(type(event).__name__, event.handle.comm.name, event.handle.file.name) for _, event in found] == [
        (name, handle, "/data/a") for name, handle in (
            ("IoCreateHandle", first), ("IoCreateHandle", second), ("IoOperationBegin", second), ("IoDestroyHandle", second),
            ("IoOperationBegin", first), ("IoDestroyHandle", first), ("IoCreateHandle", first), ("IoDestroyHandle", first))]


def test_a_process_without_a_trace_is_there_without_events(run, tmp_path):
    info = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\nComm map='0..2->0..2;' id=0 name='WORLD' uid='W'\n"
    message = "size='4' count='1' tid='0' cid='0' time='1.000000000' end='2.000000000'"
    run.process(0, info, f"<Send toRank='2' toTag='1' {message} />\n", size=3)
    run.process(2, info, f"<Recv fromRank='0' fromTag='1' {message} />\n", size=3)
    assert run.merge("app").code == 0
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    print_silently(tmp_path / "otf2/traces.otf2")
    sent, received = messages(tmp_path / "otf2/traces.otf2")
    assert sent == received == {(0, 2, "WORLD", 1, 4): 1}


def test_what_is_approximated_is_told(archive):
    assert [what.split(":")[0] for what in archive("windows")[2].approximated] == ["locks of windows"]
    assert archive("send_modes")[2].approximated == {}


def test_operations_of_neighbours_are_regions_only(archive):
    run, _, conversion = archive("neighbourhood")
    calls = sum(state.name.startswith(("Neighbor_", "Ineighbor_")) for trace in run for state in trace)
    assert calls and conversion.approximated == {"collective operations of neighbours, which OTF2 does not have: as regions only": calls}


def test_collective_operations_between_groups_are_regions_only(run, tmp_path):
    for me in range(2):
        run.process(me, f"Comm map='{me}->0;' id=0 name='inter' uid='I' remote='{1 - me}->0;'\n", "<Barrier cid='0' time='1.0' end='2.0' />\n", size=2)
    run.merge_cleanly("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    assert conversion.approximated == {"collective operations of inter-communicators: as regions only": 2}


def test_times_that_do_not_ascend_are_an_error_with_its_place(run, tmp_path):
    run.process(0, trace="<Barrier cid='0' time='5.000000000' end='6.000000000' />\n<Barrier cid='0' time='1.000000000' end='2.000000000' />\n", size=1)
    run.merge("--no-audit", "app")
    result = call("--to", "otf2", "-o", tmp_path / "otf2", tmp_path / "app.proj")
    assert result.returncode == 1 and "app_node01_0_0.trc:4: " in result.stderr
    assert not any(tmp_path.glob("otf2*"))


def test_events_that_cannot_be_written_are_an_error(run, tmp_path):
    """They are written when their file is closed."""
    run.process(0, trace="".join(BARRIER.format(i, i) for i in range(10_000)), size=1)
    run.merge("--no-audit", "app")
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))
    result = call("--to", "otf2", "-o", tmp_path / "otf2", tmp_path / "app.proj", preexec_fn=limited)
    assert (result.returncode, result.stdout) == (1, "") and f"{tmp_path}/otf2: the library of OTF2 says: File is too large" in result.stderr
    assert not any(tmp_path.glob("otf2*"))


def test_a_directory_that_is_there_is_not_replaced(archive):
    run, path, _ = archive("send_modes")
    assert call("--to", "otf2", "-o", path.parent, project_of(run)).returncode == 1
    assert path.exists()


def test_messages_inside_what_the_program_marks_and_inside_calls(run, tmp_path):
    send = "<Send size='8' toRank='1' toTag='3' cid='0' time='1.200000000' end='1.300000000' />"
    receive = "<Recv size='8' fromRank='0' fromTag='3' cid='0' time='1.200000000' end='1.300000000' />"
    region = "<Event name='Step' kind='{}' time='{}' />\n"
    sender = region.format("begin", "1.000000000") + send + "\n" + region.format("end", "2.000000000")
    receiver = f"<Nested>{receive}</Nested><Barrier cid='0' time='1.000000000' end='2.000000000' />\n"
    for rank, trace in enumerate((sender, receiver)):
        run.process(rank, "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n", trace, size=2)
    run.merge_cleanly()
    convert(tmp_path / "app.proj", "otf2", tmp_path / "archive")
    path = tmp_path / "archive/traces.otf2"
    sent, received = messages(path)
    assert len(sent) == 1 and sent == received
    entered = [event.region.name for location, event in events(path, "Enter") if place(location)[0] == 0]
    assert entered == ["Step", "MPI_Send"]


def export(run, tmp_path, info, trace):
    """The archive of a process, which otf2-print has nothing to complain about, and what became of its calls."""
    run.process(0, "Comm map='0->0;' id=0 name='WORLD' uid='W'\n" + info, trace, size=1)
    run.merge_cleanly()
    conversion = convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    print_silently(tmp_path / "otf2/traces.otf2")
    return tmp_path / "otf2/traces.otf2", conversion


BARRIER = "<Barrier cid='0' time='{}.000000000' end='{}.500000000' />\n"


def event(kind, name, time, more=""):
    return f"<Event name='{name}' kind='{kind}' {more}time='{time}.000000000' />\n"


def test_regions_that_overlap_nest(run, tmp_path):
    """A region may be called like a function, have no end, or no beginning."""
    trace = event("begin", "a", 1) + event("begin", "Send", 2) + event("end", "a", 3) + BARRIER.format(4, 4)
    trace += event("end", "never begun", 5) + event("begin", "last", 6)
    path, conversion = export(run, tmp_path, "Region name='a' file='a.c' line=7\n", trace)
    found = [(type(one).__name__, one.region.name) for _, one in events(path, "Enter", "Leave")]
    assert found == [
        ("Enter", "a"), ("Enter", "Send"), ("Leave", "Send"), ("Leave", "a"), ("Enter", "Send"), ("Enter", "MPI_Barrier"),
        ("Leave", "MPI_Barrier"), ("Enter", "last"), ("Leave", "last"), ("Leave", "Send")]
    region = events(path, "Enter")[0][1].region
    assert (region.source_file, region.begin_line_number) == ("a.c", 7)
    assert conversion.dropped == {"ends of regions that the trace does not have the beginnings of": 1}


def test_counters_are_metrics(run, tmp_path):
    info = "Counter name='residual' type='float' unit='m/s' scope='thread' valid='after'\nCounter name='cells' type='integer' scope='process' valid='before'\n"
    values = [("residual", "0.25"), ("cells", str(2**63 - 1)), ("residual", "-INF"), ("cells", "-5")]
    trace = "".join(event("count", name, time, f"value='{value}' ") for time, (name, value) in enumerate(values, 1))
    path, _ = export(run, tmp_path, info, trace)
    found = events(path, "Metric")
    metrics = [one.metric.metric_class for _, one in found]
    assert [(metric.members[0].name, one.values[0]) for metric, (_, one) in zip(metrics, found)] == [
        ("residual", 0.25), ("cells", 2**63 - 1), ("residual", float("-inf")), ("cells", -5)]
    residual, cells = metrics[0].members[0], metrics[1].members[0]
    assert (residual.unit, residual.value_type, residual.metric_mode) == ("m/s", otf2.Type.DOUBLE, otf2.MetricMode.ABSOLUTE_NEXT)
    assert (cells.unit, cells.value_type, cells.metric_mode) == ("", otf2.Type.INT64, otf2.MetricMode.ABSOLUTE_LAST)
    assert [type(one.metric.scope).__name__ for _, one in found[:2]] == ["Location", "LocationGroup"]


def test_marks_are_markers(run, tmp_path):
    """A mark without a group may have a colon in its name; what is open at the end is left at the last mark."""
    info = "Region name='n:x' class='n'\nRegion name='a:b:x' class='a:b'\nThread number=1 tid=5 begin=4.000000000\n"
    mark = "<Event name='{}' {}time='{}.000000000' />\n"
    trace = event("begin", "step", 1) + mark.format("n:x", "text='eins &amp; zwei' ", 2) + mark.format("free:x", "", 3) + mark.format("n:x", "", 5)
    run.trace(0, mark.format("a:b:x", "text='ü' ", 4), thread=1)
    path, conversion = export(run, tmp_path, info, trace)
    ((_, enter), (_, leave)) = events(path, "Enter", "Leave")
    assert [(group, name, (time - enter.time) / 1e9, location, text) for group, name, time, location, text in markers(path)] == [
        ("", "free:x", 2, 0, ""), ("a:b", "x", 3, 1, "ü"), ("n", "x", 1, 0, "eins & zwei"), ("n", "x", 4, 0, "")]
    assert leave.time - enter.time == 4e9
    assert conversion.dropped == {}


def test_nothing_marked_is_no_file_of_markers(run, tmp_path):
    path, _ = export(run, tmp_path, "", BARRIER.format(1, 1))
    assert not list(path.parent.glob("*.marker")) and markers(path) == []


def test_calls_have_the_lines_that_made_them(run, tmp_path):
    info = "Comm map='0->0;' id=0 name='WORLD' uid='W'\nSource id=0 path='/home/u/step.py' function='step' line=12\n"
    info += "Site id=0 frames='s0;'\nSite id=1 frames='-1+4096;'\n"
    calls = "".join(f"<Barrier cid='0' {site} time='{i}.000000000' end='{i}.500000000' />\n" for i, site in enumerate(["site='0'", "site='1'", ""]))
    run.process(0, info, calls, size=1)
    run.merge_cleanly()
    convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
    archive = tmp_path / "otf2/traces.otf2"
    print_silently(archive)
    sources = [{key.name: value for key, value in (event.attributes or {}).items()} for _, event in events(archive, "Enter")]
    assert [list(attributes) for attributes in sources] == [["SOURCE_CODE_LOCATION"], [], []]
    location = sources[0]["SOURCE_CODE_LOCATION"]
    assert (location.file, location.line_number) == ("/home/u/step.py", 12)


def test_messages_of_the_original_tool_have_the_size_of_what_was_sent(tmp_path):
    convert(write_original(tmp_path), "otf2", tmp_path / "otf2")
    print_silently(tmp_path / "otf2/traces.otf2")
    sent, received = messages(tmp_path / "otf2/traces.otf2")
    assert sent == received and {size for *_, size in sent} == {8, 16, 32}
