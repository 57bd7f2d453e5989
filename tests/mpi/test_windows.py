"""One-sided communication."""
from support.calls import ANY, Call, For, Pending
from support.runs import ranks

ALL = ranks(1, 2, 3, 4)


def windows(run, trace, call):
    """The window in the project that the one matching call of a process names."""
    wid = trace.value(call, "wid")
    return [window for window in run.project.root.iter("Window")
            if any((rank.get("global"), rank.get("wid")) == (str(trace.rank), wid) for rank in window)]


@ALL
def test_each_window_is_unified(run_traced, ranks):
    run = run_traced("windows", ranks)
    for call in (Call("Win_create", cid=0, size=16, dispUnit=4), Call("Win_allocate", cid=0, size=4, dispUnit=4),
                 Call("Win_allocate_shared", cid=0, size=4, dispUnit=4), Call("Win_create_dynamic", cid=0)):
        found = [window for trace in run for window in windows(run, trace, call)]
        assert len(found) == ranks and all(window is found[0] for window in found)
        assert sorted(int(rank.get("global")) for rank in found[0]) == list(range(ranks))
        assert all(rank.get("dispUnit") == ("4" if call.attributes.get("size") else "1") for rank in found[0])
    (board, *_) = windows(run, run.traces[0], Call("Win_create"))
    assert board.get("name") == "board"


@ALL
def test_accesses(run_traced, ranks):
    run = run_traced("windows", ranks)
    for trace in run:
        tid = run.tid(trace, "MPI_INT")
        one = {"wid": trace.value(Call("Win_create"), "wid"), "size": 4, "tid": tid}
        to_right = {**one, "toRank": trace.right, "count": 1, "targetCount": 1, "targetTid": tid}
        for offset in range(3):
            assert Call("Put", targetOffset=offset, **to_right) in trace
        assert Call("Get", fromRank=trace.right, targetOffset=0, count=1, **one) in trace
        assert Call("Accumulate", op="MPI_SUM", targetOffset=1, **to_right) in trace
        assert Call("Get_accumulate", op="MPI_SUM", recvSize=4, recvCount=1, recvtid=tid, **to_right) in trace
        assert Call("Get_accumulate", op="MPI_NO_OP", size=None, count=None, tid=None, toRank=trace.right, recvSize=4, recvCount=1, recvtid=tid, targetOffset=0,
                    targetCount=1, targetTid=tid) in trace
        assert Call("Fetch_and_op", op="MPI_SUM", toRank=trace.right, targetOffset=2, **one) in trace
        assert Call("Compare_and_swap", toRank=trace.right, targetOffset=3, **one) in trace


@ALL
def test_accesses_with_requests(run_traced, ranks):
    for trace in run_traced("windows", ranks):
        rids = {name: trace.value(Call(name, rid=ANY), "rid") for name in ("Rput", "Raccumulate", "Rget", "Rget_accumulate")}
        assert Call("Waitall", [For(rid=rids["Rput"]), For(rid=rids["Raccumulate"])]) in trace
        for name in ("Rget", "Rget_accumulate"):
            assert Call("Wait", [For(rid=rids[name])]) in trace
        assert not any(Pending().matches(child) for state in trace for child in state.children)


@ALL
def test_synchronisation(run_traced, ranks):
    for trace in run_traced("windows", ranks):
        wid = trace.value(Call("Win_create"), "wid")
        assert [fence["assert"] for fence in trace.find(Call("Win_fence", wid=wid))] == ["NOPRECEDE", "NOSUCCEED"]
        assert Call("Win_post", wid=wid, ranks=f"{trace.left};") in trace
        assert Call("Win_start", wid=wid, ranks=f"{trace.right};") in trace
        assert Call("Win_lock", wid=wid, toRank=trace.right, lockType="MPI_LOCK_EXCLUSIVE") in trace
        assert Call("Win_unlock", wid=wid, toRank=trace.right) in trace
        assert Call("Win_flush", wid=wid, toRank=trace.right) in trace
        assert Call("Win_test", wid=wid, flag=1) in trace
        for name in ("complete", "wait", "lock_all", "sync", "flush_all", "flush_local_all", "unlock_all", "free"):
            assert Call(f"Win_{name}", wid=wid) in trace
