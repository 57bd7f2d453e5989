"""JSON of the trace-event format says what the trace says: slices, arrows, requests, counters."""
import json
from collections import Counter

import hdtrace
import pytest
from conversions import PROGRAMS, call, convert, project_of

MESSAGES = ["send_modes", "receive", "isend_modes", "completion", "persistent", "probe", "sub_communicator", "threads"]
WORLD = "Comm map='{}' id=0 name='WORLD' uid='W'\n"
BARRIER = "<Barrier cid='0' time='{}' end='{}' />"


def load(path):
    content = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert set(content) == {"displayTimeUnit", "otherData", "traceEvents"}
    return content


def events_of(path, *phases):
    return [event for event in load(path)["traceEvents"] if event["ph"] in phases]


def place(event):
    """(rank, thread)"""
    return event["pid"] - 1, event["tid"] - 1


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def slices(path):
    """{(rank, thread): [(begin, end, name, arguments), ...]} in nanoseconds, of calls and regions; they must nest as viewers want it."""
    found, open_regions, inside = {}, {}, {}
    order = sorted(events_of(path, "X", "B", "E"), key=lambda event: nanoseconds(event["ts"]))  # viewers sort it, and keep the order of the file
    for event in order:
        thread, time = place(event), nanoseconds(event["ts"])
        stack = inside.setdefault(thread, [])
        while stack and stack[-1] is not None and stack[-1] <= time and (event["ph"] != "X" or stack[-1] < time or event["dur"]):
            stack.pop()
        if event["ph"] == "X":
            end = time + nanoseconds(event["dur"])
            assert all(outer is None or end <= outer for outer in stack)
            stack.append(end)
            found.setdefault(thread, []).append((time, end, event["name"], event["args"]))
        elif event["ph"] == "B":
            stack.append(None)
            open_regions.setdefault(thread, []).append((event["name"], time))
        else:
            assert stack.pop() is None
            name, begin = open_regions[thread].pop()
            assert name == event["name"]
            found.setdefault(thread, []).append((begin, time, name, event.get("args", {})))
    assert not any(open_regions.values())
    return found


@pytest.fixture(scope="session")
def timeline(traced, tmp_path_factory):
    """timeline(program) -> (Run, path, Conversion)"""
    converted = {}

    def of_program(program):
        if program not in converted:
            run, output = traced(program, 4), tmp_path_factory.mktemp(program) / "chrome.json"
            converted[program] = run, output, convert(project_of(run), "chrome", output)
        return converted[program]

    return of_program


@pytest.fixture
def written(run, tmp_path):
    """written({rank: lines}) -> path of the JSON"""

    def written(traces, info="", **options):
        members = "".join(f"{rank}->{rank};" for rank in traces)
        for rank, lines in traces.items():
            run.process(rank, WORLD.format(members) + info, lines, size=len(traces), **options)
        run.merge_cleanly("--no-audit", "app")
        return convert(tmp_path / "app.proj", "chrome", tmp_path / "chrome.json"), tmp_path / "chrome.json"

    return written


def all_states(calls):
    for state in calls:
        yield state
        yield from all_states(state.nested)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_call_is_a_slice_with_its_time_and_attributes(timeline, program):
    run, path, _ = timeline(program)
    origin = int(load(path)["otherData"]["begin"].replace(".", ""))
    found = Counter((thread, name, begin + origin, end + origin) for thread, all_slices in slices(path).items() for begin, end, name, _ in all_slices)
    with hdtrace.open(project_of(run)) as project:
        expected = Counter(((call.rank, call.thread), state.name, state.time, state.end)
                           for call in project.calls(unfinished=True) for state in all_states([call]) if not state.is_event)
        assert origin == project.start
    assert expected and expected <= found


@pytest.mark.parametrize("program", MESSAGES)
def test_each_message_is_an_arrow_between_its_calls(timeline, program):
    run, path, _ = timeline(program)
    calls = slices(path)
    ends = {}
    for event in events_of(path, "s", "f"):
        assert any(begin <= nanoseconds(event["ts"]) <= end for begin, end, *_ in calls[place(event)])
        ends.setdefault(event["id"], {})[event["ph"]] = event
    with hdtrace.open(project_of(run)) as project:
        expected = Counter((message.source, message.destination, message.tag, message.send.bytes)
                           for message in project.messages() if message.send and message.receive)
    assert all(end["f"]["bp"] == "e" for end in ends.values())
    found = Counter((place(end["s"])[0], place(end["f"])[0], end["s"]["args"]["tag"], end["s"]["args"]["bytes"]) for end in ends.values())
    assert found == expected and expected


@pytest.mark.parametrize("program", ["isend_modes", "completion", "persistent", "nonblocking_collectives", "io_nonblocking", "threads"])
def test_requests_last_from_their_start_to_their_completion(timeline, program):
    pending, count = {}, 0
    for event in sorted(events_of(timeline(program)[1], "b", "e"), key=lambda event: event["ts"]):
        request = event["pid"], event["id2"]["local"]
        if event["ph"] == "b":
            assert request not in pending
            pending[request] = event
            count += 1
        else:
            assert pending.pop(request)["name"] == event["name"]
    assert count > len(pending)


@pytest.mark.parametrize("program, bytes_of_each", [
    ("send_modes", 80),  # its receives have room for more than comes
    *((program, None) for program in ("persistent", "collectives", "io_explicit", "nonblocking_collectives", "io_nonblocking"))])
def test_no_byte_stays_in_flight_and_the_bandwidth_has_them_all(timeline, program, bytes_of_each):
    run, path, _ = timeline(program)
    flying, moved, last = {}, {}, {}
    for event in sorted(events_of(path, "C"), key=lambda event: event["ts"]):
        what, kind = event["name"].split(": ")
        if what == "bytes in flight":
            flying[event["pid"], kind] = event["args"]["bytes"]
            assert event["args"]["bytes"] >= 0
        else:
            key = event["pid"], kind
            before, rate = last.get(key, (0, 0))
            moved[key] = moved.get(key, 0) + (event["ts"] - before) / 1e6 * rate
            last[key] = event["ts"], event["args"]["bytes/s"]
    assert flying and set(flying.values()) == {0}
    assert all(rate == 0 for _, rate in last.values())
    with hdtrace.open(project_of(run)) as project:
        columns = project.calls().to_columns()
    by_rank = Counter()
    for rank, bytes_moved in zip(columns["rank"], columns["bytes"]):
        by_rank[int(rank)] += int(bytes_moved)
    found = Counter()
    for (process, _), amount in moved.items():
        found[process - 1] += amount
    assert {rank: pytest.approx(bytes_of_each or amount, rel=1e-3) for rank, amount in by_rank.items() if amount} == found


def test_bytes_that_the_lists_of_a_persistent_operation_name_are_in_flight(written):
    lists = "<Send rank='{0}' size='80' count='20' tid='0' /><Recv rank='{0}' size='80' count='20' tid='0' />"
    lines = ("<Alltoallv_init cid='0' tid='0' recvtid='0' rid='1' time='1.0' end='2.0' >" + lists + "</Alltoallv_init>\n"
             "<Start rid='2' initRid='1' time='3.0' end='4.0' />\n<Wait time='4.0' end='5.0' ><For rid='2' /></Wait>\n")
    _, path = written({rank: lines.format(1 - rank) for rank in (0, 1)})
    flying = [event["args"]["bytes"] for event in events_of(path, "C") if event["name"].startswith("bytes in flight")]
    assert flying == [160, 0] * 2


def test_processes_and_threads_have_names(timeline):
    run, path, _ = timeline("threads")
    names = {(event["name"], *place(event)): event["args"]["name"] for event in events_of(path, "M") if event["name"].endswith("_name")}
    for rank, thread in run.threads:
        assert names["process_name", rank, 0].startswith(f"Rank {rank} (")
        assert names["thread_name", rank, thread].startswith(f"Thread {thread}")
    assert len({key[1:] for key in names}) == len(run.threads)


def test_calls_tell_their_place_in_the_source(timeline):
    _, path, _ = timeline("send_modes")
    assert any("send_modes.c:" in arguments.get("source", "") for calls in slices(path).values() for *_, arguments in calls)


def test_hostile_names_arrive_as_they_are(written):
    name = "\"quoted\" \\ 'ä€𝄞 \n\t\x7f"
    escaped = name.replace("&", "&amp;").replace("'", "&apos;").replace("\n", "&#10;").replace("\t", "&#9;")
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    lines = (event.format(escaped, "begin", "1.000000000") + f"<Event name='{escaped}' text='{escaped}' time='1.500000000' />\n" +
             event.format(escaped, "end", "2.000000000"))
    _, path = written({0: lines})
    ((_, _, found, _),) = slices(path)[0, 0]
    assert found == name
    (mark,) = events_of(path, "i")
    assert (mark["name"], mark["args"]["text"], nanoseconds(mark["ts"])) == (name, name, 500_000_000)


def test_calls_that_did_not_end_are_there(written):
    recv = "<Recv time='2.000000000' end='3.000000000' unfinished='1' />\n"
    _, path = written({0: BARRIER.format("1.000000000", "1.500000000") + "\n" + recv})
    assert slices(path)[0, 0][1] == (1_000_000_000, 2_000_000_000, "Recv", {"unfinished": 1})


def test_what_begins_at_once_is_nested_in_its_order(written):
    inner = BARRIER.format("1.000000000", "1.000000000")
    lines = f"<Nested>{inner}</Nested><Allreduce cid='0' time='1.000000000' end='1.000000000' />\n"
    _, path = written({0: lines})
    assert [event["name"] for event in events_of(path, "X")] == ["Allreduce", "Barrier"]


def test_regions_that_overlap_nest_in_the_file(written):
    event = "<Event name='{}' kind='{}' time='{}' />\n"
    lines = "".join(event.format(*which) for which in (
        ("a", "begin", "1.0"), ("b", "begin", "2.0"), ("a", "end", "3.0"), ("b", "end", "4.0"), ("c", "end", "5.0"), ("d", "begin", "6.0")))
    conversion, path = written({0: lines})
    second = 1_000_000_000
    assert sorted(part[:3] for part in slices(path)[0, 0]) == [(0, 2 * second, "a"), (second, 2 * second, "b"), (2 * second, 3 * second, "b"),
                                                              (5 * second, 5 * second, "d")]
    assert sum(conversion.dropped.values()) == 1


def test_regions_that_overlap_with_a_call_end_with_it(written):
    event = "<Event name='{}' kind='{}' time='{}' />"
    nested = event.format("outer", "end", "3.0") + event.format("inner", "begin", "3.5")
    lines = (event.format("outer", "begin", "1.0") + f"\n<Nested>{nested}</Nested>" + BARRIER.format("2.0", "4.0") + "\n" +
             event.format("inner", "end", "5.0") + "\n")
    conversion, path = written({0: lines})
    second = 1_000_000_000
    assert sorted(part[:3] for part in slices(path)[0, 0]) == [(0, 3 * second, "outer"), (second, 3 * second, "Barrier"),
                                                              (5 * second // 2, 3 * second, "inner")]
    assert (sum(conversion.approximated.values()), sum(conversion.dropped.values())) == (2, 1)


def test_counters_of_the_program(written):
    value = "<Event name='rows' kind='count' value='{}' time='{}' />\n"
    conversion, path = written({0: value.format("7", "1.0") + value.format("2.5", "2.0") + value.format("nan", "3.0")})
    assert [list(event["args"].values()) for event in events_of(path, "C")] == [[7], [2.5]]
    assert sum(conversion.dropped.values()) == 1


def test_processes_without_calls_and_without_traces(run, tmp_path):
    info = WORLD.format("0..2->0..2;")
    run.process(0, info, "", size=3)
    run.process(2, info, BARRIER.format("1.0", "2.0") + "\n", size=3)
    assert run.merge("app").code == 0
    convert(tmp_path / "app.proj", "chrome", tmp_path / "chrome.json")
    names = [event["args"]["name"] for event in events_of(tmp_path / "chrome.json", "M") if event["name"] == "process_name"]
    assert names == ["Rank 0 (node01)", "Rank 2 (node01)", "Rank 1 (no trace)"]


def test_an_empty_run(written):
    _, path = written({0: ""})
    assert events_of(path, "X") == []


def test_a_broken_trace_leaves_nothing_behind(run, tmp_path):
    run.process(0, WORLD.format("0->0;"), BARRIER.format("1.0", "2.0") + "\n", size=1)
    run.merge_cleanly("--no-audit", "app")
    with (tmp_path / "app_node01_0_0.trc").open("r+") as trace:
        text = trace.read().replace("<Barrier", "<Barrier <")
        trace.seek(0)
        trace.write(text)
    result = call("--to", "chrome", "-o", tmp_path / "chrome.json", tmp_path / "app.proj")
    assert result.returncode == 1 and "app_node01_0_0.trc" in result.stderr
    assert not list(tmp_path.glob("*chrome*"))
