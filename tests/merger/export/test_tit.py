"""SimGrid replays the converted traces, and what it replays is what the programs did."""
import subprocess

import pytest
from conversions import PROGRAMS, call, convert, project_of
from original_traces import write_original
from replays import PLATFORM, other_network, replay, sent_messages, simulate
from support.runs import BUILD

DOUBLE = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_DOUBLE' size=8 lb=0 extent=8\n"
WORLD = "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"
DUPLICATE = "Comm map='0->0;1->1;' id=1 name='WORLD dup 1' uid='W/1@0'\n"


# --- real programs ---

MESSAGES = ["send_modes", "receive", "isend_modes", "completion", "probe", "probe_order", "pack", "persistent"]


@pytest.mark.parametrize("program", [*PROGRAMS, "identity_errors_in_status", "identity_persistent_buffered"])
def test_a_program_is_replayed_to_its_end(traced, tmp_path, program):
    run = traced(program, 4)
    conversion = convert(project_of(run), "tit", tmp_path / "replay")
    assert [note for note in conversion.notes if "are left out" not in note or program != "pcontrol"] == []
    assert replay(tmp_path / "replay", 4) > 0
    lines = [(tmp_path / f"replay/rank-{rank}.txt").read_text().splitlines() for rank in range(4)]
    assert all(of_rank[0].endswith(" init") and of_rank[-1].endswith(" finalize") for of_rank in lines)


@pytest.mark.parametrize("program", MESSAGES)
def test_the_simulator_sends_the_messages_of_the_trace(traced, tmp_path, program):
    run = traced(program, 4)
    convert(project_of(run), "tit", tmp_path / "replay")
    messages = simulate(tmp_path / "replay", 4, tmp_path / "paje").messages
    assert messages and messages == sent_messages(run)


# --- traces of a few lines ---


@pytest.fixture
def converted(run, tmp_path):
    """converted(trace of rank 0, trace of rank 1, ...) -> (Conversion, [lines of each rank without init and finalize])"""

    def convert_traces(*traces, arguments=(), info=WORLD + DUPLICATE):
        for rank, trace in enumerate(traces):
            known = [line for line in info.splitlines(True) if not line.startswith("Comm") or f"{rank}->" in line]
            run.process(rank, DOUBLE + "".join(known), trace, size=len(traces))
        run.merge_cleanly()
        conversion = convert(tmp_path / "app.proj", "tit", tmp_path / "replay", *arguments)
        replay(tmp_path / "replay", len(traces))
        texts = [(tmp_path / f"replay/rank-{rank}.txt").read_text().splitlines() for rank in range(len(traces))]
        return conversion, [[line.split(" ", 1)[1] for line in text[1:-1]] for text in texts]

    return convert_traces


def element(name, attributes="", children="", at=1, took=0.0):
    end = f" time='{at:.9f}' end='{at + took:.9f}' "
    return f"<{name} {attributes}{end}" + (f">{children}</{name}>\n" if children else "/>\n")


def send(to, tag=3, size=8, cid=0, name="Send", at=1, rid="", took=0.0):
    return element(name, f"size='{size}' count='1' tid='0' toRank='{to}' toTag='{tag}' cid='{cid}' {rid}", at=at, took=took)


def receive(source, tag=3, size=8, cid=0, name="Recv", at=1, rid="", took=0.0):
    return element(name, f"fromRank='{source}' fromTag='{tag}' cid='{cid}' {rid} size='{size}' count='1' tid='0'", at=at, took=took)


def wait(*children, at=2):
    return element("Waitall", f"count='{len(children)}'", "".join(children), at=at)


def test_a_message(converted):
    conversion, lines = converted(send(1), receive(0))
    assert lines == [["send 1 3 8 6"], ["recv 0 3 8 6"]]
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (2, {}, {})


def test_time_between_calls_is_computed_and_added_up(converted):
    local = element("Comm_rank", "cid='0'", at=1.5, took=0.1)
    _, lines = converted(send(1, at=1) + local + send(1, at=3), receive(0) + receive(0), arguments=("--speed", "1000"))
    assert lines[0] == ["send 1 3 8 6", "compute 2000", "send 1 3 8 6"]


def test_short_computations_are_not_rounded_away(converted):
    times = [1, 1.4, 1.8, 2.2]
    _, lines = converted("".join(send(1, at=at) for at in times), receive(0) * len(times), arguments=("--speed", "1"))
    assert [line for line in lines[0] if line.startswith("compute")] == ["compute 1"]


def test_tags_of_other_communicators_are_others(converted):
    _, lines = converted(send(1) + send(1, cid=1), receive(0, cid=1) + receive(0))
    other = lines[0][1].split()[2]
    assert other != "3"
    assert lines[0] == ["send 1 3 8 6", f"send 1 {other} 8 6"]
    assert lines[1] == [f"recv 0 {other} 8 6", "recv 0 3 8 6"]


def test_tags_that_processes_meet_in_different_orders_are_the_same(converted):
    sends = send(1, tag=4, cid=1) + send(1, tag=5, cid=1)
    _, lines = converted(sends, receive(0, tag=5, cid=1) + receive(0, tag=4, cid=1))
    four, five = (line.split()[2] for line in lines[0])
    assert lines[1] == [f"recv 0 {five} 8 6", f"recv 0 {four} 8 6"]


def test_a_receive_from_any_source_has_the_source_that_it_got(converted):
    posted = receive(-1, tag=-1, size=100, name="Irecv", rid="rid='0'")
    _, lines = converted(send(1, tag=9), posted + wait("<For rid='0' fromRank='0' fromTag='9' size='8' />"))
    assert lines[1] == ["irecv 0 9 8 6", "compute 1000000000", "wait 0 1 9"]


def test_a_receive_has_the_size_that_it_got(converted):
    """Whatever it has room for. The first one gets all of it, the second one is of nobody."""
    posted = "".join(receive(source, size=100, name="Irecv", rid=f"rid='{rid}'") for rid, source in enumerate((0, -2, 0)))
    got = wait("<For rid='0' fromRank='0' fromTag='3' size='100' />", "<For rid='1' fromRank='-2' fromTag='-1' size='0' />",
               "<For rid='2' fromRank='0' fromTag='3' size='8' />")
    conversion, lines = converted(send(1, size=100) + send(1, size=8), posted + got)
    assert [line for line in lines[1] if line.startswith("irecv")] == ["irecv 0 3 100 6", "irecv 0 3 8 6"]
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (6, {}, {})


def probed(mid, size, name="Mprobe", **more):
    return element(name, f"source='0' tag='3' cid='0' fromRank='0' fromTag='3' size='{size}' mid='{mid}'", **more)


def test_probed_messages_are_received_from_the_probe_on(converted):
    """Whatever the order in which the program fetches them."""
    fetched = receive(0, size=16, name="Mrecv", rid="mid='1'") + receive(0, size=8, name="Imrecv", rid="mid='0' rid='0'")
    _, lines = converted(send(1, size=8) + send(1, size=16) + send(1, size=4),
                         probed(0, 8) + probed(1, 16, "Improbe") + receive(0, size=4) + fetched + wait("<For rid='0' fromRank='0' fromTag='3' size='8' />", at=1))
    assert lines[1] == ["irecv 0 3 8 6", "irecv 0 3 16 6", "recv 0 3 4 6", "wait 0 1 3", "wait 0 1 3"]


def test_a_probed_message_that_nobody_fetches_is_left_out(converted):
    conversion, lines = converted(send(1), probed(0, 8))
    assert lines == [[], []]
    assert conversion.dropped == {"messages whose other end the trace does not have": 1}


@pytest.mark.parametrize("fetched", ["", receive(0, name="Mrecv", rid="mid='0'")])
def test_a_probed_message_that_nobody_sent_is_left_out(converted, fetched):
    _, lines = converted(receive(1), probed(0, 8) + fetched + send(0))
    assert lines == [["recv 1 3 8 6"], ["send 0 3 8 6"]]


def test_polls_that_were_left_out_are_no_computation(converted):
    """Nor are those that are there."""
    test = element("Test", "flag='1' pollTime='2.500000000'", "<For rid='0' />", at=5)
    _, lines = converted(send(1, tag=1, name="Isend", rid="rid='0'") + test, receive(0, tag=1))
    assert lines[0] == ["isend 1 1 8 6", "compute 1500000000", "wait 0 1 1"]


def test_each_completed_request_is_waited_for_once(converted):
    sends = send(1, tag=1, name="Isend", rid="rid='0'") + send(1, tag=2, name="Isend", rid="rid='1'")
    test = element("Testall", "count='2' flag='0'", "<Pending rid='0' /><Pending rid='1' />")
    conversion, lines = converted(sends + test + wait("<For rid='1' />", "<For rid='0' />", at=1), receive(0, tag=1) + receive(0, tag=2))
    assert lines[0] == ["isend 1 1 8 6", "isend 1 2 8 6", "wait 0 1 2", "wait 0 1 1"]
    assert conversion.dropped == {"tests that found nothing complete": 1}


def test_the_end_waits_for_a_buffered_send(converted):
    sends = send(1, tag=1, name="Bsend") + send(1, tag=2, name="Ibsend", rid="rid='0'") + wait("<For rid='0' />", at=1)
    conversion, lines = converted(sends, receive(0, tag=2) + receive(0, tag=1))
    assert lines[0] == ["isend 1 1 8 6", "isend 1 2 8 6", "wait 0 1 1", "wait 0 1 2"]
    assert conversion.approximated == {"buffered sends: as non-blocking ones that the end waits for": 2}


def test_nothing_waits_for_what_the_receiver_takes_later(converted):
    large = send(1, size=200_000, name="Isend", rid="rid='0'")
    small = send(1, name="Isend", rid="rid='1'") + wait("<For rid='1' />", at=1) + send(1, tag=6)
    _, lines = converted(large + small + wait("<For rid='0' />", at=1), receive(0, tag=6) + receive(0, size=200_000) + receive(0))
    assert lines[0] == ["isend 1 3 200000 6", "isend 1 3 8 6", "send 1 6 8 6", "wait 0 1 3", "wait 0 1 3"]


def test_only_the_end_waits_behind_a_buffered_send_of_the_same_kind(converted):
    sends = send(1, size=200_000, name="Bsend") + send(1, name="Isend", rid="rid='1'") + wait("<For rid='1' />", at=1) + send(1, tag=6)
    _, lines = converted(sends, receive(0, tag=6) + receive(0, size=200_000) + receive(0))
    assert lines[0] == ["isend 1 3 200000 6", "isend 1 3 8 6", "send 1 6 8 6", "wait 0 1 3", "wait 0 1 3"]


def test_messages_of_a_process_to_itself(converted):
    receives = receive(0, name="Irecv", rid="rid='0'") + receive(0, name="Irecv", rid="rid='1'")
    first = send(0, name="Isend", rid="rid='2'") + wait("<For rid='2' />", at=1) + wait("<For rid='0' fromRank='0' fromTag='3' size='8' />", at=1)
    _, lines = converted(receives + first + send(0) + wait("<For rid='1' fromRank='0' fromTag='3' size='8' />", at=1), info=WORLD.replace("1->1;", ""))
    assert lines[0] == ["irecv 0 3 8 6"] * 2 + ["isend 0 3 8 6", "wait 0 0 3", "send 0 3 8 6", "wait 0 0 3", "wait 0 0 3"]


def test_a_persistent_request_is_an_operation_at_each_start(converted):
    made = send(1, name="Send_init", rid="rid='0'")
    start = "".join(element("Start", f"rid='{rid}' initRid='0'") + wait(f"<For rid='{rid}' />", at=1) for rid in (1, 2))
    _, lines = converted(made + start, receive(0) + receive(0))
    assert lines[0] == ["isend 1 3 8 6", "wait 0 1 3"] * 2


def inside_a_state(calls):
    """As traces of earlier versions have it."""
    return f"<Nested>{calls.strip()}</Nested>{element('Step', at=1, took=1)}"


def inside_a_region(calls):
    begin, end = (f"<Event name='Step' kind='{kind}' time='{at:.9f}' />\n" for kind, at in (("begin", 1), ("end", 3)))
    return begin + calls + end


@pytest.mark.parametrize("inside", [inside_a_state, inside_a_region])
def test_calls_inside_what_the_program_marks_are_replayed(converted, inside):
    conversion, lines = converted(inside(send(1)), inside(receive(0)))
    assert lines == [["send 1 3 8 6"], ["recv 0 3 8 6"]]
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (4, {}, {})


def test_a_partitioned_operation_is_a_message_that_meets_others_of_its_kind_only(converted):
    def partitioned(call, other):
        made = element(call, f"size='32' count='2' tid='0' {other} cid='0' rid='0' partitions='4'")
        return made + element("Start", "rid='1' initRid='0'")

    ready = element("Pready_range", "rid='1' partitionLow='0' partitionHigh='3'")
    arrived = element("Parrived", "rid='1' partition='0' flag='0'")
    conversion, lines = converted(partitioned("Psend_init", "toRank='1' toTag='3'") + send(1) + ready + wait("<For rid='1' />", at=1),
                                  partitioned("Precv_init", "fromRank='0' fromTag='3'") + receive(0) + arrived
                                  + wait("<For rid='1' fromRank='0' fromTag='3' size='32' />", at=1))
    tag = lines[0][0].split()[2]
    assert tag != "3"
    assert lines == [[f"isend 1 {tag} 32 6", "send 1 3 8 6", f"wait 0 1 {tag}"], [f"irecv 0 {tag} 32 6", "recv 0 3 8 6", f"wait 0 1 {tag}"]]
    assert (list(conversion.approximated.values()), conversion.dropped) == ([2], {})


def test_what_is_too_large_for_the_replay_is_split(converted):
    size = 5 * 2**29
    _, lines = converted(send(1, size=size), receive(0, size=size))
    assert lines[0] == ["send 1 3 1073741824 6"] * 2 + ["send 1 3 536870912 6"]
    assert lines[1] == ["recv 0 3 1073741824 6"] * 2 + ["recv 0 3 536870912 6"]


def test_messages_to_nobody_are_none(converted):
    _, lines = converted(send(-2) + receive(-2), "")
    assert lines == [[], []]


def test_both_sides_of_a_sendrecv(converted):
    both = "size='8' toRank='{0}' toTag='1' fromRank='{0}' fromTag='1' cid='0' count='1' tid='0' recvSize='8' recvCount='1' recvtid='0'"
    _, lines = converted(*(element("Sendrecv", both.format(1 - rank)) for rank in (0, 1)))
    assert lines[0] == ["isend 1 1 8 6", "irecv 1 1 8 6", "wait 0 1 1", "wait 1 0 1"]


@pytest.mark.parametrize("name, sizes", [("Isendrecv", "size='8' recvSize='100'"), ("Isendrecv_replace", "sendSize='8' size='8'")])
def test_a_request_for_both_sides_waits_for_both(converted, name, sizes):
    def of_rank(me, posted_source):
        both = f"{sizes} toRank='{1 - me}' toTag='{me}' fromRank='{posted_source}' fromTag='{1 - me}' cid='0' count='1' tid='0' rid='0'"
        return element(name, both) + wait(f"<For rid='0' fromRank='{1 - me}' fromTag='{1 - me}' size='8' />", at=1)

    conversion, lines = converted(of_rank(0, 1), of_rank(1, -1))
    assert lines[0] == ["isend 1 0 8 6", "irecv 1 1 8 6", "wait 0 1 0", "wait 1 0 1"]
    assert lines[1] == ["isend 0 1 8 6", "irecv 0 0 8 6", "wait 1 0 1", "wait 0 1 0"]
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (4, {}, {})


@pytest.mark.parametrize("to, source, line", [(-2, 1, "irecv 1 1 8 6"), (1, -2, "isend 1 1 8 6")])
def test_a_request_for_both_sides_of_which_one_is_nobody(converted, to, source, line):
    both = f"size='8' toRank='{to}' toTag='1' fromRank='{source}' fromTag='1' cid='0' count='1' tid='0' recvSize='8' recvCount='1' recvtid='0' rid='0'"
    other = send(0, tag=1) if to < 0 else receive(0, tag=1)
    _, lines = converted(element("Isendrecv", both) + wait("<For rid='0' />", at=1), other)
    assert lines[0][0] == line and len(lines[0]) == 2


def test_messages_with_one_end_are_left_out(converted):
    conversion, lines = converted(send(1), receive(0) + receive(0))
    assert lines == [["send 1 3 8 6"], ["recv 0 3 8 6"]]
    assert conversion.dropped == {"messages whose other end the trace does not have": 1}


def test_collective_operations_that_failed_somewhere_are_left_out(converted):
    bcast, failed = (element("Bcast", f"size='8' rootRank='1' cid='0' count='1' tid='0' {error}", at=2) for error in ("", "rc='MPI_ERR_TRUNCATE'"))
    barrier = element("Barrier", "cid='0'", at=3)
    conversion, lines = converted(bcast + barrier, failed + barrier)
    assert lines == [["compute 1000000000", "barrier"]] * 2 and conversion.notes == []
    assert conversion.dropped == {"collective operations that failed or are missing in another process": 1, "calls that failed": 1}


def test_collective_operations_of_all_are_the_replay_s_own(converted):
    calls = (element("Barrier", "cid='0'") + element("Bcast", "size='8' rootRank='1' cid='1' count='1' tid='0'")
             + element("Allreduce", "size='16' cid='0' count='2' tid='0' op='SUM'")
             + element("Allgatherv", "size='8' cid='0' count='1' tid='0' recvtid='0'",
                       "<Recv rank='0' size='8' count='1' tid='0' /><Recv rank='1' size='4' count='1' tid='0' />"))
    conversion, lines = converted(calls, calls.replace("<Allgatherv size='8'", "<Allgatherv size='4'"))
    assert lines[1] == ["barrier", "bcast 8 1 6", "allreduce 16 0 6", "allgatherv 4 8 4 6 6"]
    assert conversion.exact == 8


def test_collective_operations_of_a_part_are_messages(converted):
    part = "Comm map='0->0;2->1;' id=3 name='part' uid='W/2@0'\n"
    bcast = element("Bcast", "size='8' rootRank='2' cid='3' count='1' tid='0'")
    world = "Comm map='0->0;1->1;2->2;' id=0 name='WORLD' uid='W'\n"
    conversion, lines = converted(bcast, "", bcast, info=world + part)
    tag = lines[0][0].split()[2]
    assert lines == [[f"irecv 2 {tag} 8 6", f"wait 2 0 {tag}"], [], [f"isend 0 {tag} 8 6", f"wait 2 0 {tag}"]]
    assert conversion.exact == 0 and len(conversion.approximated) == 1


@pytest.mark.parametrize("name", ["Scan", "Exscan"])
def test_who_waits_for_whom_is_in_the_order_of_the_communicator(converted, name):
    """The replay has the order of the world only, which matters to no other operation."""
    reversed_world = "Comm map='0->1;1->0;' id=3 name='' uid='W/2@0'\n"
    calls = element(name, "size='8' cid='3' count='1' tid='0'") + element("Allreduce", "size='8' cid='3' count='1' tid='0' op='SUM'")
    conversion, lines = converted(calls, calls, info=WORLD + reversed_world)
    tag = lines[0][0].split()[2]
    assert lines == [[f"irecv 1 {tag} 8 6", f"wait 1 0 {tag}", "allreduce 8 0 6"], [f"isend 0 {tag} 8 6", f"wait 1 0 {tag}", "allreduce 8 0 6"]]
    assert conversion.exact == 2 and len(conversion.approximated) == 1


def test_collective_operations_of_one_process_are_nothing(converted):
    alone = "".join(f"Comm map='{rank}->0;' id=3 name='SELF' uid='S{rank}'\n" for rank in (0, 1))
    calls = element("Barrier", "cid='3'") + element("Iallreduce", "size='8' count='1' tid='0' op='SUM' cid='3' rid='0'") + wait("<For rid='0' />", at=1)
    conversion, lines = converted(calls, calls, info=WORLD + alone)
    assert lines == [[], []]
    assert (conversion.exact, conversion.approximated) == (6, {})


def test_collective_operations_without_data_are_nothing(converted, tmp_path):
    """SimGrid 3.32 divides by their size in Open MPI's algorithms."""
    calls = (element("Bcast", "size='0' rootRank='1' cid='0' count='0' tid='0'") + element("Allreduce", "size='0' cid='0' count='0' tid='0' op='SUM'")
             + element("Gather", "size='0' recvSize='0' rootRank='1' cid='0' count='0' tid='0' recvtid='0'")
             + element("Allgatherv", "size='0' cid='0' count='0' tid='0' recvtid='0'", "<Recv rank='0' size='0' count='0' tid='0' />")
             + element("Bcast", "size='8' rootRank='1' cid='0' count='1' tid='0'"))
    conversion, lines = converted(calls, calls)
    assert lines == [["bcast 8 1 6"]] * 2 and (conversion.exact, conversion.approximated) == (10, {})
    replay(tmp_path / "replay", 2, PLATFORM, "--cfg=smpi/coll-selector:ompi")


THREE = "Comm map='0->0;1->1;2->2;3->3;' id=0 name='WORLD' uid='W'\nComm map='1->2;2->0;3->1;' id=3 name='part' uid='W/2@1'\n"


@pytest.mark.parametrize("call, attributes, messages", [
    # Who sends how much to whom; the members are 2, 3, 1 in this order.
    ("Bcast", "size='8' rootRank='3'", {(3, 1, 8), (3, 2, 8)}),
    ("Reduce", "size='8' rootRank='2'", {(3, 2, 8), (1, 2, 8)}),
    ("Allreduce", "size='8'", {(3, 2, 8), (1, 2, 8), (2, 3, 8), (2, 1, 8)}),
    ("Scan", "size='8'", {(2, 3, 8), (3, 1, 8)}),
    ("Gather", "size='8' recvSize='8' rootRank='1'", {(2, 1, 8), (3, 1, 8)}),
    ("Scatter", "size='8' recvSize='8' rootRank='1'", {(1, 2, 8), (1, 3, 8)}),
    ("Alltoall", "size='8' recvSize='8'", {(a, b, 8) for a in (1, 2, 3) for b in (1, 2, 3) if a != b}),
])
def test_the_messages_of_a_collective_operation(converted, call, attributes, messages):
    trace = element(call, f"{attributes} cid='3' count='1' tid='0'")
    conversion, lines = converted("", trace, trace, trace, info=THREE)
    sends = {(rank, int(line.split()[1]), int(line.split()[3])) for rank, of_rank in enumerate(lines) for line in of_rank if line.startswith("isend")}
    assert sends == messages
    assert len(conversion.approximated) == 1


@pytest.mark.parametrize("name", ["Alltoallv", "Alltoallw", "Ialltoallv", "Neighbor_alltoallv", "Alltoallv_init", "Neighbor_alltoallw_init"])
def test_who_only_receives_sends_nothing(converted, name):
    """In place is what the call says to be so."""
    rid, end = ("", "") if name in ("Alltoallv", "Alltoallw", "Neighbor_alltoallv") else (" rid='0'", wait("<For rid='0' />", at=1))
    if name.endswith("_init"):
        end = element("Start", "rid='1' initRid='0'") + wait("<For rid='1' />", at=1)
    traces = [element(name, f"cid='0'{rid}", part) + end for part in ("<Send rank='1' size='8' />", "<Recv rank='0' size='8' />")]
    conversion, lines = converted(*traces)
    assert [[line.split()[0] for line in of_rank if "send" in line or "recv" in line] for of_rank in lines] == [["isend"], ["irecv"]]
    assert conversion.notes == []


def test_in_place_everyone_sends_what_he_receives(converted):
    traces = [element("Alltoallv", "cid='0' inPlace='1'", f"<Recv rank='{other}' size='8' />") for other in (1, 0)]
    _, lines = converted(*traces)
    assert [sorted(line.split()[0] for line in of_rank if "send" in line or "recv" in line) for of_rank in lines] == [["irecv", "isend"]] * 2


@pytest.mark.parametrize("name, messages", [
    ("Allgatherv", {(2, 3, 8), (3, 2, 4)}),
    ("Reduce_scatter", {(2, 3, 4), (3, 2, 8)}),
])
def test_parts_of_processes_with_high_ranks(converted, name, messages):
    """A list names the members of a communicator by their ranks in the world, which are higher than there are members."""
    part = "Comm map='2->0;3->1;' id=3 name='part' uid='W/2@2'\n"
    world = "Comm map='0->0;1->1;2->2;3->3;' id=0 name='WORLD' uid='W'\n"
    call = element(name, "cid='3' inPlace='1'", "<Recv rank='2' size='8' /><Recv rank='3' size='4' />")
    conversion, lines = converted("", "", call, call, info=world + part)
    sends = {(rank, int(line.split()[1]), int(line.split()[3])) for rank, of_rank in enumerate(lines) for line in of_rank if line.startswith("isend")}
    assert sends == messages and conversion.notes == []


def test_non_blocking_collective_operations_are_messages_that_are_waited_for(converted):
    start = element("Ibarrier", "cid='0' rid='0'")
    _, lines = converted(*[start + send(rank, tag=5, at=1, name="Isend", rid="rid='1'") + receive(rank, tag=5, name="Irecv", rid="rid='2'")
                           + wait("<For rid='0' />", "<For rid='1' />", f"<For rid='2' fromRank='{rank}' fromTag='5' size='8' />", at=1)
                           for rank in (0, 1)])
    tag = lines[0][0].split()[2]
    assert lines[0] == [f"irecv 1 {tag} 0 6", f"isend 1 {tag} 0 6", "isend 0 5 8 6", "irecv 0 5 8 6",
                        f"wait 1 0 {tag}", f"wait 0 1 {tag}", "wait 0 0 5", "wait 0 0 5"]


def test_input_and_output_takes_its_time(converted):
    conversion, lines = converted(element("File_sync", "fid='0'", took=0.25), "", info=WORLD + "File name='/data/a' Size=0 id=0 time=0.1\n")
    assert lines[0] == ["sleep 0.250000000"]
    assert list(conversion.approximated.values()) == [1]


@pytest.mark.parametrize("call, attributes, line", [("Comm_split", "color='0' key='1' newcid='-1'", "allgather 8 8 6 6"),
                                                    ("Comm_dup", "newcid='-1'", "allreduce 4 0 6")])
def test_who_makes_a_communicator_waits_for_the_others(converted, call, attributes, line):
    make = element(call, f"cid='0' {attributes}", took=0.25)
    conversion, lines = converted(make, make)
    assert lines == [[line], [line]] and list(conversion.approximated.values()) == [2]


def test_a_communicator_made_by_a_part_of_the_processes(converted):
    make = element("Comm_dup", "cid='3' newcid='-1'", took=0.25)
    _, lines = converted("", make, make, make, info=THREE)
    assert lines[0] == [] and all(any(line.startswith("isend") for line in of_rank) for of_rank in lines[1:])
    assert not any("sleep" in line for of_rank in lines for line in of_rank)


def test_a_run_that_ended_in_a_collective_operation_is_told(run, tmp_path):
    for rank, trace in enumerate((element("Barrier", "cid='0'"), "")):
        run.process(rank, WORLD, trace, size=2)
    run.merge_cleanly()
    assert len(convert(tmp_path / "app.proj", "tit", tmp_path / "replay").notes) == 1


def test_time_rises_with_latency_and_falls_with_bandwidth(converted, tmp_path):
    size = 10_000_000
    converted(send(1, size=size), receive(0, size=size))

    def simulated(latency, bandwidth):
        return replay(tmp_path / "replay", 2, other_network(tmp_path / "platform.xml", latency, bandwidth))

    near, far, narrow = simulated("1us", "1GBps"), simulated("100ms", "1GBps"), simulated("1us", "10MBps")
    assert near < 0.1 < far
    assert near < 0.5 < narrow


def test_a_directory_that_is_there_is_not_replaced(converted, tmp_path):
    converted(send(1), receive(0))
    before = (tmp_path / "replay/rank-0.txt").read_text()
    for arguments in ([], ["--overwrite"]):
        result = call("--to", "tit", "-o", tmp_path / "replay", *arguments, tmp_path / "app.proj")
        assert result.returncode == 1 and str(tmp_path / "replay") in result.stderr
    assert (tmp_path / "replay/rank-0.txt").read_text() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("replay")] == ["replay"]


# --- threads ---


@pytest.fixture
def converted_threads(run, converted):
    """The same for traces of two threads of each rank."""

    def convert_traces(*traces):
        for rank, (_, second) in enumerate(traces):
            run.trace(rank, second, thread=1)
        return converted(*(first for first, _ in traces), info=WORLD + DUPLICATE + "Thread number=1\n")

    return convert_traces


def test_messages_of_threads_that_wait_at_the_same_time(converted_threads):
    """One of rank 0 can only go on after the other has sent."""
    large = {"size": 1 << 20}
    conversion, lines = converted_threads(
        [receive(1, tag=1, at=1, took=4), send(1, tag=2, at=2, took=4, **large)],
        [receive(0, tag=2, at=2, took=1, **large) + send(0, tag=1, at=4, took=1), ""])
    assert [line for line in lines[0] if "compute" not in line] == [
        "irecv 1 1 8 6", f"isend 1 2 {1 << 20} 6", "wait 1 0 1", "wait 0 1 2"]
    assert (conversion.exact, conversion.dropped) == (3, {})
    assert conversion.approximated == {"calls of further threads: in one sequence with those of the first": 1}


def test_collective_operations_of_threads_that_wait_at_the_same_time(converted_threads):
    """They end in another order in each process."""
    def barrier(cid, at, took):
        return element("Barrier", f"cid='{cid}'", at=at, took=took)

    conversion, lines = converted_threads([barrier(0, 1, 4), barrier(1, 2, 2)], [barrier(0, 1, 3), barrier(1, 2, 4)])
    assert [sum(line.startswith("wait") for line in of_rank) for of_rank in lines] == [4, 4]
    assert list(conversion.approximated.values()) == [4]


def test_threads_that_take_turns_are_exact(converted_threads):
    conversion, lines = converted_threads([send(1, at=1, took=1), element("Barrier", "cid='0'", at=2, took=1)],
                                          [receive(0, at=1, took=1), element("Barrier", "cid='0'", at=2, took=1)])
    assert lines == [["send 1 3 8 6", "barrier"], ["recv 0 3 8 6", "barrier"]]
    assert conversion.exact == 2 and list(conversion.approximated.values()) == [2]


def test_a_line_break_is_in_no_name_of_a_list(tmp_path):
    write_original(tmp_path)
    result = call("--to", "tit", "-o", tmp_path / "a\nb", tmp_path / "app.proj")
    assert result.returncode == 1 and "line break" in result.stderr and not any(tmp_path.glob("a\n*"))


def test_check_does_not_hold_traces_of_the_original_tool_against_the_schemas(tmp_path):
    checked = subprocess.run([BUILD / "bin/hdtrace", "check", write_original(tmp_path)], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and "nothing wrong was found" in checked.stdout


@pytest.mark.parametrize("project, trace", [("app", "app_h"), ("My_App", "MyApp_h"), ("My_App", "myapp_h")])
def test_messages_of_the_original_tool_whose_receives_tell_no_size(tmp_path, project, trace):
    write_original(tmp_path, project, trace)
    conversion = convert(tmp_path / f"{project}.proj", "tit", tmp_path / "replay")
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (4, {}, {})
    assert simulate(tmp_path / "replay", 2, tmp_path / "paje").messages == {(0, 1, 8): 1, (0, 1, 16): 1, (1, 0, 32): 1}
