"""Messages between two processes."""
from support.calls import ANY, Call, For, Pending
from support.runs import SETTINGS, only_with_program, ranks

RING = ranks(1, 2, 3, 4)


@RING
def test_each_send_mode(run_traced, ranks):
    run = run_traced("send_modes", ranks)
    for trace in run:
        for mode, name in enumerate(["Send", "Bsend", "Ssend", "Rsend"]):
            count, tag = mode + 1, 10 + mode
            assert Call(name, size=4 * count, count=count, tid=run.tid(trace, "MPI_INT"), toRank=trace.right, toTag=tag, cid=0) in trace
            rid = trace.value(Call("Irecv", fromRank=trace.left, fromTag=tag, cid=0, size=16, count=4), "rid")
            assert Call("Wait", [For(rid=rid, fromRank=trace.left, fromTag=tag, size=4 * count)]) in trace
        assert Call("Buffer_attach") in trace and Call("Buffer_detach") in trace
        assert run.communicator(trace, Call("Ssend")).name == "WORLD"


@RING
def test_a_receive_logs_what_it_got_and_what_was_asked(run_traced, ranks):
    run = run_traced("receive", ranks)
    for trace in run:
        def receive(count, tag, **posted):
            return Call("Recv", fromRank=trace.left, fromTag=tag, size=8 * count, count=8,
                        tid=run.tid(trace, "MPI_DOUBLE"), cid=0, **posted)

        assert receive(8, 20, postedRank=None, postedTag=None) in trace
        assert receive(3, 21, postedRank=None, postedTag=None) in trace
        assert receive(2, 22, postedRank=-1, postedTag=None) in trace
        assert receive(4, 23, postedRank=None, postedTag=-1) in trace
        assert receive(5, 24, postedRank=-1, postedTag=-1) in trace
        assert receive(0, 25, postedRank=None, postedTag=None) in trace
        assert receive(6, 30, postedRank=-1, postedTag=-1) in trace, "a program that ignores the status does not hide it"


def test_nobody_is_rank_minus_2(run_traced):
    for trace in run_traced("receive", 2):
        assert Call("Send", toRank=-2, toTag=31, size=4) in trace
        assert Call("Recv", fromRank=-2, size=0, count=1) in trace
        assert Call("Sendrecv", toRank=-2, toTag=43, size=12, fromRank=-2, recvSize=0) in trace


@RING
def test_exchanges_log_both_sides(run_traced, ranks):
    run = run_traced("receive", ranks)
    for trace in run:
        tid = run.tid(trace, "MPI_INT")
        both = {"toRank": trace.right, "fromRank": trace.left, "cid": 0, "tid": tid}
        assert Call("Sendrecv", size=12, count=3, toTag=40, fromTag=40, recvSize=12, recvCount=5, recvtid=tid, **both) in trace
        assert Call("Sendrecv", size=8, count=2, toTag=41, fromTag=41, recvSize=8, postedRank=-1, postedTag=-1, **both) in trace
        assert Call("Sendrecv_replace", sendSize=12, size=12, count=3, toTag=42, fromTag=42, **both) in trace


@RING
def test_each_nonblocking_send_mode(run_traced, ranks):
    run = run_traced("isend_modes", ranks)
    for trace in run:
        for mode, name in enumerate(["Isend", "Ibsend", "Issend", "Irsend"]):
            count, tag = mode + 1, 10 + mode
            send = Call(name, size=2 * count, count=count, tid=run.tid(trace, "MPI_SHORT"), toRank=trace.right, toTag=tag, cid=0, rid=ANY)
            assert Call("Wait", [For(rid=trace.value(send, "rid"), fromRank=None)]) in trace


@RING
def test_eager_sends_are_told_apart_although_their_handles_are_equal(run_traced, ranks):
    for trace in run_traced("isend_modes", ranks):
        sends = [trace.value(Call("Isend", toTag=30 + i), "rid") for i in range(6)]
        receives = [trace.value(Call("Irecv", fromTag=30 + i), "rid") for i in range(6)]
        assert Call("Wait", [For(rid=sends[0])]) in trace
        assert Call("Waitall", [For(rid=rid) for rid in sends[1:]], count=5) in trace
        assert Call("Waitall", [For(rid=rid, fromRank=trace.left, fromTag=30 + i, size=4) for i, rid in enumerate(receives)], count=6) in trace


def test_requests_to_and_from_nobody(run_traced):
    from_nobody = {"fromRank": -2} if SETTINGS["mpi"] == "Open MPI" else {}  # MPICH leaves the status as it was
    for trace in run_traced("isend_modes", 2):
        send = trace.value(Call("Isend", toRank=-2, toTag=50), "rid")
        receive = trace.value(Call("Irecv", fromRank=-2, fromTag=50), "rid")
        assert Call("Waitall", [For(rid=send), For(rid=receive, size=0, **from_nobody)]) in trace


def _rids(trace, *tags):
    return [trace.find(Call("Irecv", fromTag=tag))[0]["rid"] for tag in tags]


@RING
def test_wait_and_test(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        first, second = _rids(trace, 60, 61)
        assert Call("Test", [Pending(rid=first)], flag=0) in trace
        assert Call("Wait", [For(rid=first, fromRank=trace.left, fromTag=60, size=4)]) in trace
        assert Call("Test", [For(rid=second, fromRank=trace.left, fromTag=61, size=4)], flag=1) in trace
        assert Call("Wait", []) in trace
        assert Call("Test", [], flag=1) in trace


@RING
def test_waitall_and_testall(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        rids = _rids(trace, 70, 71, 72)
        assert Call("Testall", [Pending(rid=rid) for rid in rids], flag=0, count=3) in trace
        assert Call("Waitall", [For(rid=rid, fromTag=70 + i) for i, rid in enumerate(rids)], count=3) in trace
        again = [trace.find(Call("Irecv", fromTag=tag))[1]["rid"] for tag in (70, 71, 72)]
        assert Call("Testall", [For(rid=rid, fromTag=70 + i) for i, rid in enumerate(again)], flag=1) in trace
        assert Call("Waitall", [], count=3) in trace


@RING
def test_waitany_and_testany(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        first, second, third = _rids(trace, 80, 81, 82)
        assert Call("Testany", [Pending(rid=first), Pending(rid=second), Pending(rid=third)], flag=0) in trace
        assert Call("Waitany", [For(rid=second, fromTag=81), Pending(rid=first), Pending(rid=third)], index=1, count=3) in trace
        assert Call("Testany", [For(rid=third, fromTag=82), Pending(rid=first)], flag=1, index=2) in trace
        assert Call("Waitany", [For(rid=first, fromTag=80)], index=0) in trace
        assert Call("Waitany", []) in trace


@RING
def test_waitsome_and_testsome(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        first, second, third = _rids(trace, 90, 91, 92)
        assert Call("Testsome", [Pending(rid=first), Pending(rid=second), Pending(rid=third)], outcount=0) in trace
        assert Call("Waitsome", [For(rid=third, fromTag=92), Pending(rid=first), Pending(rid=second)], outcount=1, count=3) in trace
        completed = [child["rid"] for state in trace.find(Call("Testsome")) for child in state.children if child.name == "For"]
        assert sorted(completed) == sorted([first, second])
        assert Call("Waitsome", []) in trace


@RING
def test_cancelled_and_freed_requests(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        cancelled, received = _rids(trace, 100, 101)
        assert Call("Cancel", rid=cancelled) in trace
        assert Call("Wait", [For(rid=cancelled, cancelled=1)]) in trace
        freed = trace.value(Call("Isend"), "rid")
        assert Call("Request_free", rid=freed) in trace
        assert Call("Request_get_status", rid=received, flag=1) in trace
        assert Call("Wait", [For(rid=received, fromTag=101, size=4)]) in trace


@RING
def test_requests_may_be_moved(run_traced, ranks):
    for trace in run_traced("completion", ranks):
        rids = _rids(trace, 110, 111, 112)
        assert Call("Waitall", [For(rid=rid, fromTag=110 + i) for i, rid in enumerate(rids)]) in trace


@RING
def test_persistent_requests(run_traced, ranks):
    run = run_traced("persistent", ranks)
    for trace in run:
        names = ["Send_init", "Bsend_init", "Ssend_init", "Rsend_init"]
        sends = [trace.value(Call(name, toRank=trace.right, toTag=10 + mode, size=4), "rid") for mode, name in enumerate(names)]
        receives = [trace.value(Call("Recv_init", fromRank=trace.left, fromTag=10 + mode), "rid") for mode in range(4)]
        assert Call("Wait", []) in trace, "an inactive request has nothing to complete"

        for started in trace.find(Call("Startall", [Call("Start", initRid=rid) for rid in receives], count=4)):
            for mode, start in enumerate(started.children):
                assert Call("Wait", [For(rid=start["rid"], fromRank=trace.left, fromTag=10 + mode, size=4)]) in trace
        starts = trace.find(Call("Start"))
        assert [start["initRid"] for start in starts] == sends * 2
        for this_round in (starts[:4], starts[4:]):
            assert Call("Waitall", [For(rid=start["rid"]) for start in this_round]) in trace
        for rid in sends + receives:
            assert Call("Request_free", rid=rid) in trace


@RING
def test_persistent_requests_that_get_other_handles(run_traced, ranks):
    for trace in run_traced("identity_persistent_buffered", ranks):
        made = [state["rid"] for state in trace.find(Call("Bsend_init"))]
        starts = [start for state in trace for start in ([state] if state.name == "Start" else state.children) if start.name == "Start"]
        for rid in made:
            sends = [start["rid"] for start in starts if start["initRid"] == rid]
            ended = [child["rid"] for state in trace for child in state.children if child.name == "For" and child["rid"] in sends]
            assert len(sends) == 6 and ended == sends
            assert Call("Request_free", rid=rid) in trace
        assert "-1" not in {start["initRid"] for start in starts}


@RING
def test_probes(run_traced, ranks):
    for trace in run_traced("probe", ranks):
        assert Call("Probe", source=-1, tag=-1, cid=0, fromRank=trace.left, fromTag=10, size=12) in trace
        assert Call("Iprobe", source=trace.left, tag=11, cid=0, flag=0, fromRank=None, size=None) in trace
        assert Call("Iprobe", source=trace.left, tag=11, flag=1, fromRank=trace.left, fromTag=11, size=8) in trace
        assert Call("Probe", source=-2, tag=14) in trace


@RING
def test_matched_probes_and_their_receives(run_traced, ranks):
    for trace in run_traced("probe", ranks):
        assert Call("Mprobe", source=-1, tag=12, cid=0, fromRank=trace.left, fromTag=12, size=16) in trace
        assert Call("Mrecv", fromRank=trace.left, fromTag=12, cid=0, size=16, count=4) in trace
        assert Call("Improbe", source=trace.left, tag=13, flag=0) in trace
        assert Call("Improbe", source=trace.left, tag=13, flag=1, fromRank=trace.left, size=4) in trace
        rid = trace.value(Call("Imrecv", fromRank=trace.left, fromTag=13, cid=0), "rid")
        assert any(For(rid=rid, fromRank=trace.left, fromTag=13, size=4).matches(child)
                   for state in trace.find(Call("Waitall")) for child in state.children)
        assert Call("Mrecv", fromRank=-2, size=0, mid=None) in trace


@RING
def test_a_probed_message_has_an_id_until_it_is_received(run_traced, ranks):
    for trace in run_traced("probe", ranks):
        assert [call.get("mid") for call in trace.find(Call("Improbe"))][:1] == [None]
    for trace in run_traced("probe_order", ranks):
        first, second = (call.get("mid") for call in trace.find(Call("Mprobe", fromTag=15)))
        assert first != second
        assert Call("Mrecv", fromTag=15, size=12, mid=second) in trace
        assert Call("Imrecv", fromTag=15, mid=first) in trace


def test_generalized_requests(run_traced):
    for trace in run_traced("generalized_request", 1):
        rid = trace.value(Call("Grequest_start"), "rid")
        assert Call("Test", [Pending(rid=rid)], flag=0) in trace
        assert Call("Grequest_complete", rid=rid) in trace
        assert Call("Wait", [For(rid=rid)]) in trace


def test_packed_data(run_traced):
    run = run_traced("pack", 2)
    for trace in run:
        assert Call("Sendrecv", size=20, tid=run.tid(trace, "MPI_PACKED"), recvSize=20) in trace


@only_with_program("mpi41")
@RING
def test_flushes_of_buffers_are_operations(run_traced, ranks):
    run = run_traced("mpi41", ranks)
    for trace in run:
        rids = [trace.value(Call(f"{name}_iflush{rest}"), "rid") for name, rest in (("Buffer", ""), ("Comm", "_buffer"), ("Session", "_buffer"))]
        waited_for = [] if "nothing to wait for" in run.stdout else rids
        assert len(set(rids)) == 3 and Call("Waitall", [For(rid=rid) for rid in waited_for], count=3) in trace


@only_with_program("large_counts")
@RING
def test_large_counts(run_traced, ranks):
    """A function with large counts is logged like its twin."""
    run = run_traced("large_counts", ranks)
    for trace in run:
        rid = trace.value(Call("Isend", toRank=trace.right, toTag=1, count=5, size=20), "rid")
        assert Call("Wait", [For(rid=rid)]) in trace
        assert Call("Recv", fromRank=trace.left, fromTag=1, count=5, size=20) in trace
        assert Call("Allgatherv", [Call("Recv", rank=rank, count=1, size=4) for rank in range(ranks)], count=1, size=4) in trace
        tid = trace.value(Call("Type_contiguous"), "tid")
        assert Call("File_write_at", offset=24 * trace.rank, size=24, count=1, tid=tid) in trace
        datatype = run.project.datatype(trace.rank, tid)
        assert (datatype.tag, datatype.get("count"), datatype.get("size")) == ("CONTIGUOUS", "6", "24")


@only_with_program("partitioned")
@RING
def test_partitioned_messages(run_traced, ranks):
    run = run_traced("partitioned", ranks)
    for trace in run:
        volume = {"count": 2, "partitions": 4, "tid": run.tid(trace, "MPI_INT"), "cid": 0}
        send = trace.value(Call("Psend_init", toRank=trace.right, toTag=5, **volume), "rid")
        receive = trace.value(Call("Precv_init", fromRank=trace.left, fromTag=5, **volume), "rid")
        for init in (send, receive):
            started = trace.value(Call("Start", initRid=init), "rid")
            assert any(child["rid"] == started for wait in trace.find(Call("Wait")) for child in wait.children)
        rid = trace.value(Call("Isendrecv", toRank=trace.right, fromRank=trace.left, size=4, recvSize=4), "rid")
        is_told = SETTINGS["mpi"] != "MPICH"  # whose status is none of this receive
        assert Call("Wait", [For(rid=rid, fromRank=trace.left if is_told else None, size=4 if is_told else None)]) in trace


@RING
def test_a_matched_message_is_known_until_it_was_received(run_traced, ranks):
    for trace in run_traced("identity_message_received_again", ranks):
        (probe,) = trace.find(Call("Mprobe"))
        failed, received = trace.find(Call("Mrecv"))
        assert "rc" in failed and "rc" not in received
        assert [received[key] for key in ("mid", "cid", "fromRank", "fromTag")] == [probe["mid"], probe["cid"], str(trace.left), "3"]
