"""Making, naming, unifying and freeing communicators."""
import hdtrace
from support.calls import ANY, Call
from support.checks import info_of, read_info
from support.runs import LAUNCHER, WRAPPER, need_several_programs, only_with, preload, program, ranks, read_traces, run_untraced

ALL = ranks(1, 2, 3, 4)
TWO_OR_MORE = ranks(2, 3, 4)


def created(run, call, number=0, attribute="newcid"):
    """The communicator that the `number`-th matching call of each process made: the same for all its members.

    Returns {uid: communicator} of those that were made; processes that got none are left out.
    """
    found = {}
    for trace in run:
        states = trace.find(call)
        if len(states) > number and states[number].get(attribute) not in (None, "-1"):
            communicator = run.project.communicator(trace.rank, states[number][attribute])
            assert trace.rank in communicator.ranks
            assert found.setdefault(communicator.uid, communicator) == communicator
    return found


def the_one(run, *arguments, **options):
    """The communicator that all processes made together."""
    found = created(run, *arguments, **options)
    assert len(found) == 1, f"not one communicator: {found}"
    return next(iter(found.values()))


def in_order(*members):
    return {rank: place for place, rank in enumerate(members)}


@ALL
def test_every_communicator_is_unified(run_traced, ranks):
    for name in ("communicators", "topologies", "sub_communicator", "neighbourhood"):
        run = run_traced(name, ranks)
        assert max(run.project.uids().values()) == 1
        for (rank, _), communicator in run.project.communicators.items():
            if communicator.name != "SELF":
                known = [r for (r, _), other in run.project.communicators.items() if other.uid == communicator.uid]
                assert sorted(known) == sorted(communicator.ranks), f"not all members know {communicator}"


@ALL
def test_duplicates(run_traced, ranks):
    run = run_traced("communicators", ranks)
    everybody = in_order(*range(ranks))
    first = the_one(run, Call("Comm_dup"))
    second = the_one(run, Call("Comm_dup_with_info"))
    third = the_one(run, Call("Comm_idup", rid=ANY))
    assert [c.ranks for c in (first, second, third)] == [everybody] * 3
    assert len({c.uid for c in (first, second, third, the_one(run, Call("Comm_split_type"), attribute="cid"))}) == 4


@ALL
def test_splits(run_traced, ranks):
    run = run_traced("communicators", ranks)
    parts = created(run, Call("Comm_split", cid=0, color=lambda value: value in "01", key=ANY))
    assert sorted(sorted(part.ranks.items()) for part in parts.values()) == \
        sorted(sorted(in_order(*range(first, ranks, 2)).items()) for first in range(min(ranks, 2)))
    assert {part.name for part in parts.values()} == set(["even & 'quoted'", "odd <ranks>"][:ranks])
    alone = the_one(run, Call("Comm_split"), number=1)
    assert alone.ranks == {0: 0}
    for trace in run.traces[1:]:
        assert Call("Comm_split", newcid=-1) in trace
    assert the_one(run, Call("Comm_split_type")).ranks == in_order(*range(ranks))


@ALL
def test_communicators_of_groups(run_traced, ranks):
    run = run_traced("communicators", ranks)
    members = in_order(*range(max(1, ranks // 2)))
    group = "".join(f"{rank};" for rank in members)
    assert the_one(run, Call("Comm_create", cid=0, group=group)).ranks == members
    assert the_one(run, Call("Comm_create_group", cid=0, tag=4, group=group)).ranks == members
    for trace in run.traces[len(members):]:
        assert Call("Comm_create", newcid=-1) in trace


@ALL
def test_a_reused_handle_is_a_new_communicator(run_traced, ranks):
    run = run_traced("communicators", ranks)
    made = [the_one(run, Call("Comm_split"), number=number) for number in (2, 3, 4)]
    assert len({communicator.uid for communicator in made}) == 3
    backwards = {rank: ranks - 1 - rank for rank in range(ranks)}
    assert [communicator.ranks for communicator in made] == [backwards, in_order(*range(ranks)), backwards]
    for trace in run:
        splits = trace.find(Call("Comm_split"))[2:]
        for split in splits:
            assert Call("Barrier", cid=split["newcid"]) in trace and Call("Comm_free", cid=split["newcid"]) in trace


def test_names_and_well_known_communicators(run_traced):
    run = run_traced("communicators", 2)
    for trace in run:
        assert Call("Comm_set_name", name=ANY) in trace
        assert Call("Comm_disconnect", cid=trace.find(Call("Comm_split"))[0]["newcid"]) in trace
        selves = [run.project.communicator(trace.rank, state["cid"]) for state in trace.find(Call("Barrier"))]
        assert selves[-1].ranks == {trace.rank: 0}, "the last barrier is on MPI_COMM_SELF"


@TWO_OR_MORE
def test_inter_communicators(run_traced, ranks):
    run = run_traced("intercommunicators", ranks)
    low, high = range(ranks // 2), range(ranks // 2, ranks)
    inter = the_one(run, Call("Intercomm_create", tag=9))
    assert inter.ranks == {**in_order(*low), **in_order(*high)}
    assert len({inter.groups[rank] for rank in low}) == len({inter.groups[rank] for rank in high}) == 1
    assert inter.groups[0] != inter.groups[ranks - 1]
    copy = the_one(run, Call("Comm_dup"))
    assert (copy.ranks, copy.uid == inter.uid) == (inter.ranks, False)
    assert the_one(run, Call("Intercomm_merge")).ranks == in_order(*high, *low)
    for trace in run:
        mine, other = (low, high) if trace.rank in low else (high, low)
        leads = trace.rank == mine[0]
        assert Call("Intercomm_create", localLeader=mine[0], peerCid=0 if leads else None,
                    remoteLeader=other[0] if leads else None) in trace
    cid = run.traces[0].value(Call("Intercomm_create"), "newcid")
    assert Call("Send", toRank=ranks - 1, cid=cid) in run.traces[0]
    assert Call("Recv", fromRank=0, postedRank=-1) in run.traces[ranks - 1]


@ALL
def test_topologies(run_traced, ranks):
    run = run_traced("topologies", ranks)
    everybody = in_order(*range(ranks))
    for name in ("Cart_create", "Cart_sub", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent"):
        assert the_one(run, Call(name)).ranks == everybody
    circle = "".join(f"{(rank + 1) % ranks};" for rank in range(ranks))
    for trace in run:
        assert Call("Cart_sub", remainDims="1;0;") in trace
        assert Call("Graph_create", nnodes=ranks, index="".join(f"{rank + 1};" for rank in range(ranks)), edges=circle) in trace
        to_right = {"sources": f"{trace.rank};", "degrees": "1;", "destinations": f"{trace.right};"}
        assert Call("Dist_graph_create", n=1, weights="5;", **to_right) in trace
        assert Call("Dist_graph_create_adjacent", sources=f"{trace.left};", sourceWeights=None, destWeights=None) in trace
        neighbours = [Call("Send", rank=trace.right, count=1, displ=0), Call("Recv", rank=trace.left, count=1, displ=0)]
        cid = trace.value(Call("Dist_graph_create_adjacent"), "newcid")
        assert Call("Neighbor_alltoallv", neighbours, cid=cid) in trace
        assert Call("Neighbor_allgather", cid=trace.value(Call("Dist_graph_create"), "newcid")) in trace


def test_groups_are_written_as_their_members(run_traced):
    for trace in run_traced("groups", 3, {"HDTRACE_ALL_FUNCTIONS": "2"}):
        assert Call("Comm_group", cid=0, group="0;1;2;") in trace
        assert Call("Group_excl", group="0;1;2;", n=1, ranks="0;", newgroup="1;2;") in trace
        assert Call("Group_union", group1="0;", group2="1;2;", newgroup="0;1;2;") in trace
        assert Call("Group_compare", result="MPI_IDENT") in trace
        assert Call("Group_range_incl", ranges="0,2,1;", newgroup="0;1;2;") in trace
        assert Call("Group_range_excl", ranges="0,2,1;", newgroup="") in trace
        assert Call("Group_translate_ranks", n=1, ranks1=f"{trace.rank};", ranks2=f"{trace.rank};") in trace


@only_with("Open MPI")
@ranks(1, 2)
def test_processes_of_another_world_have_numbers_below_minus_4(run_traced, ranks):
    need_several_programs()
    for trace in run_traced("spawn", ranks):
        assert Call("Comm_get_parent", newcid=-1) in trace
        first, second = (trace.value(Call(name, cid=0, root=0, rootRank=0), "newcid") for name in ("Comm_spawn", "Comm_spawn_multiple"))
        for cid in (first, second):
            assert Call("Bcast", cid=cid, rootRank=-3 if trace.rank == 0 else -2) in trace
            assert Call("Comm_disconnect", cid=cid) in trace
            assert (Call("Recv", cid=cid, fromTag=6, size=4) in trace) == (trace.rank == 0)
            assert trace.rank > 0 or int(trace.value(Call("Recv", cid=cid), "fromRank")) < -4
        arguments = [Call("Arg", value="one"), Call("Arg", value="two & three")]
        commands = [Call("Command", name=ANY)] * 2
        is_root = trace.rank == 0
        assert Call("Comm_spawn", arguments if is_root else [], maxprocs=2 if is_root else None,
                    errors="MPI_SUCCESS;MPI_SUCCESS;" if is_root else None) in trace
        assert Call("Comm_spawn_multiple", commands if is_root else [], maxprocs="1;1;" if is_root else None, errors=None) in trace


@only_with("Open MPI")
def test_started_processes_have_traces_of_their_own(tmp_path):
    need_several_programs()
    env = {"HDTRACE_DIRECTORY": str(tmp_path)}
    run = run_untraced("spawn", 2, tmp_path, env | preload(WRAPPER), mpirun=("-x", "LD_PRELOAD"))  # what -x sets does not reach all children
    assert (run.returncode, run.stderr) == (0, "")
    traces = {path.name: read_traces((path,), 2) for path in tmp_path.glob("*.trc")}
    worlds = {name.rsplit("_", 3)[0] for name in traces}
    assert len(worlds) == 3 and len(traces) == 6
    for name, threads in traces.items():
        (trace,) = threads.values()
        if not name.startswith("spawn_"):
            cid = trace.value(Call("Comm_get_parent"), "newcid")
            assert int(trace.value(Call("Bcast", cid=cid), "rootRank")) < -4


def uids_by_call(path):
    """What a process calls the communicators that it made, by the call, in order."""
    uids = {values["id"]: values.get("uid") for kind, values in read_info(info_of(path)) if kind == "Comm"}
    found = {}
    for state in hdtrace.read_trace(path):
        if state.get("newcid", "-1") != "-1":
            found.setdefault(state.name, []).append(uids[state["newcid"]])
    return found


@only_with("Open MPI")
def test_started_processes_are_followed(tmp_path):
    """Both sides know what is between them, and what they make of it together, by the same uids."""
    need_several_programs()
    run = run_untraced(LAUNCHER, 2, tmp_path, args=("--follow", "--directory", tmp_path, program("spawn")))
    assert (run.returncode, run.stderr) == (0, "")
    parents, *worlds = ([uids_by_call(path) for path in sorted(tmp_path.glob(f"{base}_*.trc"))]
                        for base in ("spawn", "spawn-world2", "spawn-world3"))
    assert [len(processes) for processes in (parents, *worlds)] == [2, 2, 2]
    every = []
    for number, (call, children) in enumerate(zip(("Comm_spawn", "Comm_spawn_multiple"), worlds)):
        for parent, child in zip(parents, children):
            between, merged, half = parent[call][0], parent["Intercomm_merge"][number], parent["Comm_split"][number]
            assert child["Comm_get_parent"] == [between]
            assert (child["Intercomm_merge"], child["Comm_split"]) == ([merged], [half])
            every += [between, merged, half]
    assert None not in every and len(set(every)) == 2 * 4  # the first two are those of both parents


@only_with("Open MPI")
@TWO_OR_MORE
def test_groups_that_meet_through_a_port(run_traced, ranks):
    """Both sides are in one world, so the merger needs no guess."""
    run = run_traced("connect", ranks)
    for trace in run:
        listens = trace.rank < ranks // 2
        assert Call("Comm_accept" if listens else "Comm_connect", root=ANY, newcid=ANY) in trace
        assert Call("Comm_disconnect") in trace
    inter = {**created(run, Call("Comm_accept")), **created(run, Call("Comm_connect"))}
    assert [set(communicator.ranks) for communicator in inter.values()] == [set(range(ranks))]
    assert Call("Send", toRank=ranks // 2, toTag=8) in run.traces[0]
    assert Call("Recv", fromRank=0, fromTag=8) in run.traces[ranks // 2]


@TWO_OR_MORE
def test_a_communicator_that_could_not_be_freed_lives_on(run_traced, ranks):
    for trace in run_traced("identity_not_freed", ranks):
        copies = [state["newcid"] for state in trace.find(Call("Comm_dup"))]
        sent = trace.find(Call("Sendrecv"))
        assert [state["cid"] for state in sent] == copies
        assert {state["fromRank"] for state in sent} == {str((2 * ranks - 2 - trace.rank) % ranks)}
        ended = [state["cid"] for state in trace if state.name in ("Comm_free", "Comm_disconnect")]
        assert ended[:4] == [copies[0], copies[0], copies[1], copies[1]]
