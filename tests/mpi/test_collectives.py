"""Collective communication."""
import hdtrace
import pytest
from support.calls import ANY, Call, For
from support.runs import only_with_program, ranks

ALL = ranks(1, 2, 3, 4)
NONBLOCKING = ["Ibcast", "Igather", "Igatherv", "Iscatter", "Iscatterv", "Iallgather", "Iallgatherv", "Ialltoall", "Ialltoallv",
               "Ialltoallw", "Ireduce", "Iallreduce", "Ireduce_scatter", "Ireduce_scatter_block", "Iscan", "Iexscan"]


def Send(rank, count, **attributes):
    return Call("Send", rank=rank, count=count, size=4 * count, **attributes)


def Recv(rank, count, **attributes):
    return Call("Recv", rank=rank, count=count, size=4 * count, **attributes)


@ALL
def test_data_movement(run_traced, ranks):
    run = run_traced("collectives", ranks)
    root = ranks - 1
    for trace in run:
        tid = run.tid(trace, "MPI_INT")
        sent = {"size": 4, "count": 1, "tid": tid, "cid": 0}
        received = {"recvSize": 4, "recvCount": 1, "recvtid": tid}
        nothing = dict.fromkeys(received)
        assert Call("Barrier", cid=0) in trace
        assert Call("Bcast", rootRank=root, **sent) in trace
        assert Call("Gather", root=root, rootRank=root, inPlace=None, **sent, **(received if trace.rank == root else nothing)) in trace
        assert Call("Scatter", root=root, rootRank=root, inPlace=None, cid=0, **received) in trace
        assert Call("Allgather", **sent, **received) in trace
        assert Call("Alltoall", **sent, **received) in trace


@ALL
def test_reductions(run_traced, ranks):
    run = run_traced("collectives", ranks)
    for trace in run:
        one = {"size": 4, "count": 1, "tid": run.tid(trace, "MPI_INT"), "cid": 0}
        assert Call("Reduce", rootRank=0, op="MPI_SUM", **one) in trace
        assert Call("Allreduce", op="MPI_MAX", **one) in trace
        assert Call("Reduce_scatter", [Recv(rank, 1) for rank in range(ranks)], cid=0, op="MPI_SUM") in trace
        for name in ("Reduce_scatter_block", "Scan", "Exscan"):
            assert Call(name, op="MPI_SUM", **one) in trace


def test_nothing_may_be_moved(run_traced):
    for trace in run_traced("collectives", 2):
        assert Call("Bcast", size=0, count=0, rootRank=0) in trace


def test_local_reductions(run_traced):
    for trace in run_traced("collectives", 2, {"HDTRACE_ALL_FUNCTIONS": "2"}):
        assert Call("Reduce_local", size=8, count=2, op="MPI_SUM") in trace


def test_own_operations(run_traced):
    for trace in run_traced("operations", 2):
        assert Call("Op_create", commute=1) in trace
        assert Call("Allreduce", size=4, op=ANY) in trace


@ALL
def test_count_arrays_are_logged_where_they_are_significant(run_traced, ranks):
    run = run_traced("vector_collectives", ranks)
    for trace in run:
        tid, mine = run.tid(trace, "MPI_INT"), trace.rank
        places = [rank * (rank - 1) // 2 for rank in range(ranks)]  # of the elements for a rank behind those for the ranks before
        of_each = [Recv(rank, rank, tid=tid, displ=places[rank]) for rank in range(1, ranks)]
        to_each = [Send(rank, rank, tid=tid, displ=places[rank]) for rank in range(1, ranks)]
        sent = {"size": 4 * mine, "count": mine, "tid": tid, "cid": 0}
        assert Call("Gatherv", of_each if mine == 0 else [], root=0, rootRank=0, **sent) in trace
        assert Call("Scatterv", to_each if mine == 0 else [], recvSize=4 * mine, recvCount=mine, recvtid=tid, root=0, rootRank=0, cid=0) in trace
        assert Call("Allgatherv", of_each, **sent) in trace
        assert Call("Reduce_scatter", [Recv(rank, rank, tid=tid, displ=None) for rank in range(1, ranks)], cid=0) in trace
        as_many = [Recv(rank, mine, tid=tid, displ=mine * rank) for rank in range(ranks) if mine > 0]
        assert Call("Alltoallv", to_each + as_many, cid=0) in trace
        in_bytes = [Send(rank, rank, tid=tid, displ=4 * places[rank]) for rank in range(1, ranks)]
        in_bytes += [Recv(rank, mine, tid=tid, displ=4 * mine * rank) for rank in range(ranks) if mine > 0]
        assert Call("Alltoallw", in_bytes, cid=0) in trace


@ALL
def test_in_place(run_traced, ranks):
    run = run_traced("in_place", ranks)
    for trace in run:
        root_in_place = {"inPlace": 1 if trace.rank == 0 else None}
        for name in ("Gather", "Scatter", "Reduce"):
            assert Call(name, size=4, rootRank=0, **root_in_place) in trace
        one_each = [Recv(rank, 1) for rank in range(ranks)]
        assert Call("Gatherv", one_each if trace.rank == 0 else [], **root_in_place) in trace
        assert Call("Scatterv", [Send(rank, 1) for rank in range(ranks)] if trace.rank == 0 else [], **root_in_place) in trace
        for name in ("Allgather", "Alltoall", "Allreduce", "Reduce_scatter_block", "Scan", "Exscan"):
            assert Call(name, inPlace=1, size=4, count=1, tid=run.tid(trace, "MPI_INT"), cid=0) in trace
        for name in ("Allgatherv", "Alltoallv", "Alltoallw", "Reduce_scatter"):
            assert Call(name, one_each, inPlace=1, cid=0) in trace


@ALL
def test_nonblocking_collectives(run_traced, ranks):
    run = run_traced("nonblocking_collectives", ranks)
    for trace in run:
        assert Call("Wait", [For(rid=trace.value(Call("Ibarrier", cid=0), "rid"))]) in trace
        rids = [trace.value(Call(name, cid=0), "rid") for name in NONBLOCKING]
        assert Call("Waitall", [For(rid=rid) for rid in rids], count=16) in trace
        one = {"size": 4, "count": 1, "tid": run.tid(trace, "MPI_INT"), "cid": 0}
        assert Call("Ibcast", rootRank=0, **one) in trace
        assert Call("Igather", root=0, recvSize=4 if trace.rank == 0 else None, **one) in trace
        assert Call("Iallreduce", op="MPI_SUM", **one) in trace
        both = [make(rank, 1) for rank in range(ranks) for make in (Send, Recv)]
        assert Call("Ialltoallv", both) in trace
        assert Call("Ialltoallw", both) in trace
        assert Call("Igatherv", [Recv(rank, 1) for rank in range(ranks)] if trace.rank == 0 else []) in trace


@ALL
@pytest.mark.parametrize("prefix", ["Neighbor_", "Ineighbor_"])
def test_neighbourhoods(run_traced, ranks, prefix):
    run = run_traced("neighbourhood", ranks)
    for trace in run:
        tid = run.tid(trace, "MPI_INT")
        cid = trace.value(Call("Cart_create", cid=0), "newcid")
        to_both = [Send(trace.left, 1, tid=tid), Send(trace.right, 1, tid=tid)]
        from_both = [Recv(trace.left, 1, tid=tid), Recv(trace.right, 1, tid=tid)]
        for name in ("allgather", "alltoall"):
            assert Call(prefix + name, size=4, count=1, tid=tid, recvSize=4, recvCount=1, recvtid=tid, cid=cid, indegree=2, outdegree=2) in trace
        assert Call(prefix + "allgatherv", from_both, size=4, cid=cid) in trace
        assert Call(prefix + "alltoallv", to_both + from_both, cid=cid) in trace
        assert Call(prefix + "alltoallw", to_both + from_both, cid=cid) in trace
        if prefix == "Ineighbor_":
            for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"):
                assert Call("Wait", [For(rid=trace.value(Call(prefix + name), "rid"))]) in trace


@ALL
def test_ranks_are_those_of_the_world(run_traced, ranks):
    """On a communicator with the ranks in reverse order the next one is the left neighbour."""
    run = run_traced("sub_communicator", ranks)
    for trace in run:
        cid = trace.value(Call("Comm_split", cid=0), "newcid")
        assert run.project.communicator(trace.rank, cid).ranks == {rank: ranks - 1 - rank for rank in range(ranks)}
        one = {"cid": cid, "size": 4}
        assert Call("Send", toRank=trace.left, toTag=1, **one) in trace
        assert Call("Irecv", fromRank=trace.right, fromTag=1, **one) in trace
        assert Call("Isend", toRank=trace.left, toTag=2, **one) in trace
        assert Call("Recv", fromRank=trace.right, fromTag=2, postedRank=-1, **one) in trace
        assert Call("Sendrecv", toRank=trace.left, fromRank=trace.right, **one) in trace
        assert Call("Bcast", rootRank=ranks - 1, **one) in trace
        assert Call("Gather", root=ranks - 1, rootRank=ranks - 1, **one) in trace
        is_root = trace.rank == ranks - 1
        assert Call("Gatherv", [Recv(rank, 1) for rank in range(ranks)] if is_root else [], root=ranks - 1, cid=cid) in trace
        assert Call("Reduce", rootRank=0, **one) in trace


@ranks(2, 3, 4)
def test_inter_communicators_have_root_minus_3(run_traced, ranks):
    run = run_traced("intercomm_collectives", ranks)
    for trace in run:
        even = trace.rank % 2 == 0
        remote = range(1 if even else 0, ranks, 2)
        root = 0 if not even else -3 if trace.rank == 0 else -2
        cid = trace.value(Call("Intercomm_create"), "newcid")
        assert Call("Barrier", cid=cid) in trace
        assert Call("Bcast", rootRank=root, cid=cid, size=None if root == -2 else 4) in trace
        assert Call("Gather", root=root, rootRank=root, cid=cid, recvSize=4 if root == -3 else None, size=ANY if root != -2 else None) in trace
        assert Call("Gatherv", [Recv(rank, 1) for rank in remote] if root == -3 else [], root=root, cid=cid) in trace
        assert Call("Scatter", root=root, rootRank=root, cid=cid) in trace
        assert Call("Reduce", rootRank=root, cid=cid, size=None if root == -2 else 4) in trace
        assert Call("Allgather", cid=cid, size=4, recvSize=4) in trace
        assert Call("Alltoallv", [make(rank, 1) for rank in remote for make in (Send, Recv)], cid=cid) in trace
        assert Call("Allreduce", cid=cid, size=4) in trace
        if trace.rank < 2:
            assert Call("Sendrecv", toRank=remote[0], fromRank=remote[0], cid=cid) in trace


@only_with_program("persistent_collectives")
@ALL
def test_persistent_collectives(run_traced, ranks):
    for trace in run_traced("persistent_collectives", ranks):
        objects = [trace.value(Call(f"{name}_init", cid=0), "rid") for name in ("Barrier", "Bcast", "Gather", "Allreduce", "Exscan")]
        rounds = trace.find(Call("Startall", count=16))
        assert len(rounds) == 2
        for started in rounds:
            assert [start["initRid"] for start in started.children][:3] == objects[:3]
            assert Call("Waitall", [For(rid=start["rid"]) for start in started.children]) in trace
        assert Call("Allreduce_init", size=4, count=1, op="MPI_SUM", cid=0) in trace
        assert Call("Neighbor_alltoallw_init", rid=ANY) in trace
        for rid in objects:
            assert Call("Request_free", rid=rid) in trace


@pytest.mark.parametrize("name", ["collectives", "in_place", "intercomm_collectives", "neighbourhood", "nonblocking_collectives", "vector_collectives"])
def test_what_all_send_all_receive(run_traced, name):
    """Where each member has a part of its own, what all give together is what all get."""
    run = run_traced(name, 4)
    assert run.project.process_count == 4
    (project,) = run.trace_directory.glob("*.proj")
    calls = hdtrace.open(project).to_dataframe()
    calls = calls[calls["name"].str.fullmatch("I?(gatherv?|scatterv?|(neighbor_)?alltoall[vw]?)", case=False)]
    moved = calls.groupby("name", observed=True)[["sent_bytes", "recv_bytes"]].sum()
    assert len(moved) > 1 and moved["sent_bytes"].sum() > 0
    assert moved["sent_bytes"].tolist() == moved["recv_bytes"].tolist(), moved
