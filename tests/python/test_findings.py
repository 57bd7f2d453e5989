"""What hdtrace check finds in traces of a few lines, and what it does not find in those beside them."""

import re
import subprocess
import sys

import pytest

import hdtrace
from projects_of_lines import add_thread, write_project
from support.sanitizers import with_own_memory

TYPES = (
    '<NAMED id="0" name="MPI_INT" size="4" lb="0" extent="4"/><NAMED id="1" name="MPI_FLOAT" size="4" lb="0" extent="4"/>'
    '<CONTIGUOUS id="2" name="" count="2" oldType="0" size="8" lb="0" extent="8"/>'
    '<STRUCT id="3" name="" count="2" size="8" lb="0" extent="8"><Type id="0" displacement="0" blocklen="1"/>'
    '<Type id="1" displacement="4" blocklen="1"/></STRUCT><NAMED id="4" name="MPI_DOUBLE" size="8" lb="0" extent="8"/>')
WINDOW = '<WindowList><Window name="" uid="W/w0" communicator="W">{}</Window></WindowList>'
_CLOCK = iter(range(1, 10**9))


def call(name, attributes="", children="", unfinished=False):
    time = next(_CLOCK)
    end = " unfinished='1'" if unfinished else ""
    return f"<{name} {attributes} time='{time}.000000000' end='{time}.500000000'{end} >{children}</{name}>\n"


@pytest.fixture
def findings(tmp_path):
    """What is found in traces of so many processes, each between Init and Finalize. `run` is XML."""

    def findings(*traces, is_whole=True, run="", communicators=""):
        lines = [call("Init") + trace + (call("Finalize") if is_whole else "") for trace in traces]
        path = write_project(tmp_path, *lines)
        ranks = range(len(traces))
        types = "".join(f'<Rank name="{rank}" thread="0">{TYPES}</Rank>' for rank in ranks)
        window = WINDOW.format("".join(f'<Rank global="{rank}" local="{rank}" wid="0" size="64" dispUnit="4"/>' for rank in ranks))
        text = path.read_text().replace("</CommunicatorList>", communicators + "</CommunicatorList>")
        described = text[text.index("<Datatypes>"):text.index("</Application>")]
        path.write_text(text.replace(described, window + f"<Datatypes>{types}</Datatypes>{run}"))
        return hdtrace.open(path).checker().read(10_000)

    return findings


@pytest.fixture
def kinds(findings):
    """The kinds of these."""
    return lambda *traces, **what: [finding.kind for finding in findings(*traces, **what)]


def send(to, tag=7, count=1, tid=0, size=4, cid=0, name="Send", more=""):
    return call(name, f"size='{size}' count='{count}' tid='{tid}' toRank='{to}' toTag='{tag}' cid='{cid}' {more}")


def receive(source, tag=7, count=1, tid=0, size=4):
    return call("Recv", f"fromRank='{source}' fromTag='{tag}' cid='0' size='{size}' count='{count}' tid='{tid}'")


def bcast(root=0, count=1, tid=0, size=4, name="Bcast"):
    return call(name, f"size='{size}' rootRank='{root}' cid='0' count='{count}' tid='{tid}'" + (" rid='9'" if name == "Ibcast" else ""))


def reduce(op="MPI_SUM", tid=0):
    return call("Allreduce", f"size='4' cid='0' count='1' tid='{tid}' op='{op}'")


def put(unfinished=False):
    return call("Put", "size='4' toRank='1' wid='0' count='1' tid='0' targetOffset='0' targetCount='1' targetTid='0'", unfinished=unfinished)


def fence(assertion):
    return call("Win_fence", f"wid='0' assert='{assertion}'")


FENCE, FREE = fence("0"), call("Win_free", "wid='0'")
LAST_FENCE = fence("NOSUCCEED")
LOCK, UNLOCK = call("Win_lock", "wid='0' toRank='1' lockType='MPI_LOCK_SHARED' assert='0'"), call("Win_unlock", "wid='0' toRank='1'")
IDLE_WAIT = call("Wait")
INIT = send(1, name="Send_init", more="rid='0'")
START, WAIT = call("Start", "rid='1' initRid='0'"), call("Wait", children="<For rid='1' />")
RELEASE = call("Request_free", "rid='0'")

MESSAGES = {
    "fits": (send(1), receive(0), []),
    "larger room": (send(1), receive(0, count=3), []),
    "equal structs": (send(1, count=2, tid=0, size=8), receive(0, tid=2, size=8), []),
    "other type": (send(1, tid=1), receive(0), ["message-type-mismatch"]),
    "other second member": (send(1, count=2, tid=0, size=8), receive(0, tid=3, size=8), ["message-type-mismatch"]),
    "too large": (send(1, count=2, size=8), receive(0), ["message-truncated"]),
    "other tag": (send(1, tag=3), receive(0, tag=4), ["message-tag-mismatch"]),
    "other source": (send(1), receive(1), ["message-rank-mismatch"]),
    "two differences": (send(1, tag=3), receive(1, tag=4), ["message-not-received", "message-not-sent"]),
}


def receive_any(source, tag=7):
    """It got the message of `source`."""
    return receive(source, tag).replace("<Recv", "<Recv postedRank='-1'")


def probe_any(source, tag=7):
    return call("Probe", f"source='-1' tag='-1' fromRank='{source}' fromTag='{tag}' cid='0' size='4' flag='1'")


# What rank 0 does, to which ranks 1 and 2 send.
RACES = {
    "named": (receive(1) + receive(2), []),
    "then the named one": (receive_any(1) + receive(2), ["message-race"]),
    "both from any": (receive_any(1) + receive_any(2), ["message-order"]),
    "named as a probe told": (probe_any(1) + receive(1) + probe_any(2) + receive(2), ["message-order"]),
    "the one that no probe told of": (probe_any(1) + receive(1) + receive(2), ["message-race"]),
}


@pytest.mark.parametrize("name", RACES)
def test_races(kinds, name):
    receives, expected = RACES[name]
    assert kinds(receives, send(0), send(0)) == expected


def exchange(to, source):
    received = f"fromRank='{source}' fromTag='7' recvSize='4' recvCount='1' recvtid='0'"
    return call("Sendrecv", f"size='4' count='1' tid='0' toRank='{to}' toTag='7' {received} cid='0'")


def test_what_a_sendrecv_got_was_taken_and_orders_what_follows(kinds):
    """By each of its two messages."""
    barrier = call("Barrier", "cid='0'")
    assert kinds(exchange(1, 2) + barrier + receive_any(1), exchange(2, 0) + barrier + send(0), exchange(0, 1) + barrier) == []
    assert kinds(receive_any(1) + receive_any(2), send(0) + exchange(2, 2), exchange(1, 1) + send(0)) == ["message-order"]
    assert kinds(receive_any(1) + exchange(1, 1) + receive(2), send(0) + exchange(0, 0) + send(2), receive(1) + send(0)) == []


@pytest.mark.parametrize("ready_first, is_told, severity", [(True, False, "error"), (False, False, "warning"), (False, True, None)])
def test_ready_sends(findings, ready_first, is_told, severity):
    """The receive begins later, or earlier by chance, or the sender is told."""
    wait = call("Wait", children="<For rid='0' fromRank='0' fromTag='7' size='4' />")

    def sends():
        return (receive(1) if is_told else "") + send(1, name="Rsend")

    def receives():
        return call("Irecv", "fromRank='0' fromTag='7' cid='0' size='4' count='1' tid='0' rid='0'") + (send(0) if is_told else "") + wait

    lines = (sends(), receives()) if ready_first else tuple(reversed((receives(), sends())))
    assert [finding.severity for finding in findings(*lines)] == ([severity] if severity else [])


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(kinds, name):
    *traces, expected = MESSAGES[name]
    assert kinds(*traces) == expected


@pytest.mark.parametrize("waits, is_sure", [(False, False), (True, True)])
def test_a_message_fits_nearly_only_if_nothing_better_could_come(findings, waits, is_sure):
    """A process that did not wait for a message with another tag might have received this one, had it not been ended."""
    posted = call("Irecv", "fromRank='0' fromTag='8' cid='0' size='4' count='1' tid='0' rid='0'")
    waiting = call("Wait", "", "<Pending rid='0' />", unfinished=True)
    found = findings(send(1).replace("' >", "' unfinished='1' >"), posted + (waiting if waits else ""), is_whole=False)
    nearly, = [finding for finding in found if finding.kind == "message-tag-mismatch"]
    assert bool(nearly.because) != is_sure


POSTED_FOR_ANY = call("Irecv", "fromRank='-1' fromTag='-1' cid='0' size='4' count='1' tid='0' rid='0'")


@pytest.mark.parametrize("last, is_meant", [("", False), (call("Wait", "", "<Pending rid='0' />", unfinished=True), True)])
def test_a_receive_for_any_message_was_meant_for_it_only_if_it_is_waited_for(kinds, last, is_meant):
    """Servers have one all the time."""
    found = kinds(send(1), "", POSTED_FOR_ANY + last, is_whole=False)
    assert ("message-rank-mismatch" in found) == is_meant
    assert ("message-not-received" in found) != is_meant


@pytest.mark.parametrize("has_threads", [False, True])
def test_a_thread_of_its_own_receives_all_messages(tmp_path, has_threads):
    waiting = call("Recv", "fromRank='-1' fromTag='-1' cid='0' count='1' tid='0'", unfinished=True)
    path = write_project(tmp_path, send(1), "", "" if has_threads else waiting, closing="")
    if has_threads:
        add_thread(path, 2, waiting)
    found = [finding.kind for finding in hdtrace.open(path).checker().read(10_000)]
    assert ("message-rank-mismatch" in found) != has_threads
    assert ("message-not-received" in found) == has_threads


COLLECTIVES = {
    "equal": (bcast(), bcast(), []),
    "equal signatures": (bcast(count=2, size=8), bcast(tid=2, size=8), []),
    "other calls": (bcast(), reduce(), ["collective-call-mismatch"]),
    "other form": (bcast(), bcast(name="Ibcast") + call("Wait", children="<For rid='9' />"), ["collective-blocking-mismatch"]),
    "other root": (bcast(), bcast(root=1), ["collective-root-mismatch"]),
    "other size": (bcast(), bcast(count=2, size=8), ["collective-size-mismatch"]),
    "other type": (bcast(), bcast(tid=1), ["collective-type-mismatch"]),
    "other operation": (reduce(), reduce("MPI_MAX"), ["collective-operation-mismatch"]),
    "a member is missing": (bcast(), "", ["collective-missing"]),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective_calls(kinds, name):
    *traces, expected = COLLECTIVES[name]
    assert kinds(*traces) == expected


@pytest.mark.parametrize("error, kind", [("MPI_ERR_TRUNCATE", "message-truncated"), ("MPI_ERR_OTHER", "call-failed")])
@pytest.mark.parametrize("ends", [False, True])
def test_other_sizes_are_told_though_the_call_failed(findings, error, kind, ends):
    """MPICH says MPI_ERR_OTHER. It is worse where it ended the program than where that went on."""
    failed = call("Bcast", f"size='4' rootRank='0' cid='0' count='1' tid='0' rc='{error}'", unfinished=ends)
    severities = {finding.kind: finding.severity for finding in findings(bcast(count=2, size=8), failed, is_whole=not ends)}
    severities.pop("no-finalize", None)
    assert severities == dict.fromkeys(["collective-size-mismatch", kind], "error" if ends else "warning")


def gather(counts):
    lists = "".join(f"<Recv rank='{rank}' size='{4 * count}' count='{count}' tid='0' displ='0' />" for rank, count in enumerate(counts))
    return call("Gatherv", "size='4' root='0' cid='0' count='1' tid='0' rootRank='0' recvtid='0'", lists)


def test_what_the_root_takes_of_each_member(kinds):
    leaf = call("Gatherv", "size='4' root='0' cid='0' count='1' tid='0' rootRank='0'")
    assert kinds(gather([1, 1, 1]), leaf, leaf) == []
    assert kinds(gather([1, 1, 2]), leaf, leaf) == ["collective-size-mismatch"]


def test_lists_of_calls_that_have_not_ended_are_not_known(kinds):
    """Those that have left them were given what they had to take."""
    leaf, root = (f"size='4' root='0' cid='0' count='1' tid='0' rootRank='0'{more}" for more in ("", " recvtid='0'"))
    assert "collective-size-mismatch" not in kinds(call("Gatherv", root, unfinished=True), call("Gatherv", leaf), is_whole=False)
    gives = "<Send rank='{0}' size='4' count='1' tid='0' /><Recv rank='{0}' size='4' count='1' tid='0' />"
    for name in ("Alltoallv", "Neighbor_alltoallv"):
        other = call(name, "cid='0' tid='0' recvtid='0'", "".join(map(gives.format, (0, 1) if name == "Alltoallv" else (0,))))
        assert "collective-size-mismatch" not in kinds(call(name, "cid='0' tid='0' recvtid='0'", unfinished=True), other, is_whole=False), name


@pytest.mark.parametrize("name", ["Comm_call_errhandler", "Win_call_errhandler", "File_call_errhandler", "Session_call_errhandler"])
def test_errors_that_the_program_raises_are_its_own(findings, name):
    found = findings(call(name, "errorcode='15' rc='MPI_ERR_TRUNCATE'", unfinished=True), is_whole=False)
    assert [finding.kind for finding in found] == ["call-failed"]
    assert found[0].text == f"{name} raised error 15 (MPI_ERR_TRUNCATE), which ended the program"


BETWEEN = ('<Communicator name="between" uid="B"><Rank global="0" local="0" group="0" cid="1"/><Rank global="1" local="0" group="1" cid="1"/>'
           '<Rank global="2" local="1" group="1" cid="1"/></Communicator>')


def between(name, root=None, count=1, tid=0, taken=1):
    parts = f"count='{count}' tid='{tid}' size='{4 * count}' recvCount='{taken}' recvtid='{tid}' recvSize='{4 * taken}'"
    return call(name, f"cid='1' {parts}" + (f" rootRank='{root}'" if root is not None else ""))


@pytest.mark.parametrize("first, others, expected", [
    (between("Allgather", count=2), between("Allgather", taken=2), []),  # each group takes what the other one gives
    (between("Allgather", count=2), between("Allgather"), ["collective-size-mismatch"]),
    (between("Allgather"), between("Allgather", tid=1), ["collective-type-mismatch"]),
    (between("Alltoall", taken=2), between("Alltoall"), ["collective-size-mismatch"]),
    (between("Bcast", root=-3), between("Bcast", root=0), []),
    (between("Bcast", root=-3, count=2), between("Bcast", root=0), ["collective-size-mismatch"]),
    (between("Bcast", root=-2), between("Bcast", root=0), ["collective-root-mismatch"]),
    (between("Gather", root=-3, taken=2), between("Gather", root=0, count=2), []),
    (between("Gather", root=-3, taken=2), between("Gather", root=0), ["collective-size-mismatch"]),
    (between("Scatter", root=-3, count=2), between("Scatter", root=0), ["collective-size-mismatch"]),
    (between("Allreduce"), between("Allreduce", tid=1), ["collective-type-mismatch"]),
    (between("Reduce_scatter_block", count=2), between("Reduce_scatter_block"), []),  # each group scatters in itself
])
def test_what_two_groups_give_each_other(findings, first, others, expected):
    assert [finding.kind for finding in findings(first, others, others, communicators=BETWEEN)] == expected


def test_two_roots_of_two_groups(findings):
    (found,) = findings(between("Bcast", root=-3), between("Bcast", root=-3), between("Bcast", root=0), communicators=BETWEEN)
    assert "has rank 1 as its root (MPI_ROOT) here, but rank 0 as its root, too," in found.text


def test_who_is_not_the_root_of_its_group_has_no_data(findings):
    idle = between("Gather", root=-2, count=7, taken=7)
    found = findings(between("Gather", root=1), between("Gather", root=-3), idle, communicators=BETWEEN)
    assert found == []


def adjacent(sources, destinations):
    lists = f"indegree='{len(sources)}' sources='{''.join(f'{rank};' for rank in sources)}' outdegree='{len(destinations)}'"
    return call("Dist_graph_create_adjacent", f"cid='0' newcid='1' {lists} destinations='{''.join(f'{rank};' for rank in destinations)}'")


@pytest.mark.parametrize("graphs, expected", [
    ([([1], [1]), ([0], [0])], None),
    ([([], [1, 1]), ([0, 0], [])], None),
    ([([1], [1]), ([0], [])], "rank 1: Dist_graph_create_adjacent does not name rank 0 as a destination here, but Dist_graph_create_adjacent names rank 1 as a source"),
    ([([], [1, 1]), ([0], [])], "rank 0: Dist_graph_create_adjacent names rank 1 as a destination 2 times here, but Dist_graph_create_adjacent names rank 0 as a source"),
])
def test_both_ends_describe_the_edges_of_a_graph(findings, graphs, expected):
    graph = '<Communicator name="graph" uid="G"><Rank global="0" local="0" cid="1"/><Rank global="1" local="1" cid="1"/></Communicator>'
    free = call("Comm_free", "cid='1'")
    found = findings(*(adjacent(*lists) + free for lists in graphs), communicators=graph)
    assert [finding.kind for finding in found] == ["graph-mismatch"] * (expected is not None)
    assert expected is None or expected in f"rank {found[0].rank}{found[0].text.removeprefix('collective operation 1 on WORLD')}"


def split_type(value):
    return call("Comm_split_type", f"cid='0' newcid='-1' splitType='{value}' key='0'")


def grid(periods, reorder):
    return call("Cart_create", f"cid='0' newcid='-1' ndims='2' dims='1;1;' periods='{periods}' reorder='{reorder}'")


def first_fence(assertion):
    return call("Win_create", "wid='0' size='64' dispUnit='4' cid='0'") + fence(assertion) + LAST_FENCE + FREE


@pytest.mark.parametrize("calls, expected", [
    ([split_type("MPI_COMM_TYPE_SHARED"), split_type("MPI_UNDEFINED")], None),
    ([split_type("MPI_COMM_TYPE_SHARED"), split_type("MPI_COMM_TYPE_HW_GUIDED")],
     "Comm_split_type with splitType=MPI_COMM_TYPE_HW_GUIDED here, but Comm_split_type with splitType=MPI_COMM_TYPE_SHARED in "),
    ([grid("1;0;", 1), grid("2;0;", -1)], None),
    ([grid("1;0;", 1), grid("1;1;", 1)], "Cart_create with periods=1;1; here, but Cart_create with periods=1;0; in "),
    ([first_fence("NOSTORE"), first_fence("NOPUT")], None),
    ([first_fence("NOSTORE"), first_fence("NOPRECEDE|NOSTORE")], "Win_fence with assert=NOPRECEDE|NOSTORE here, but Win_fence with assert=NOSTORE in "),
])
def test_members_agree_about_arguments(findings, calls, expected):
    found = findings(*calls)
    assert [finding.kind for finding in found] == ["collective-argument-mismatch"] * (expected is not None)
    assert expected is None or expected in found[0].text


REFUSED = {
    "rank": (send(9), "invalid-rank"), "tag": (send(0, tag=-7), "invalid-tag"), "count": (send(0, count=-1), "invalid-count"),
    "communicator": (call("Barrier", "cid='-1'", unfinished=True), "invalid-communicator"),
    "datatype": (call("Send", "size='0' count='1' tid='-1' toRank='0' toTag='0' cid='0'", unfinished=True), "invalid-datatype"),
    "root": (call("Bcast", "size='4' rootRank='9' cid='0' count='1' tid='0'", unfinished=True), "invalid-root"),
    "operation": (call("Allreduce", "size='4' cid='0' count='1' tid='0' op='MPI_OP_NULL'", unfinished=True), "invalid-operation"),
    "color": (call("Comm_split", "cid='0' newcid='1' color='-5' key='0'") + call("Comm_free", "cid='1'"), "invalid-argument"),
    "operation of the type": (reduce("MPI_BAND", tid=1), "invalid-operation"),
    "request": (call("Wait", unfinished=True), "invalid-request"),
    "window": (call("Win_fence", "wid='-1' assert='0'", unfinished=True), "invalid-window"),
    "datatype that passed": (call("Iscatter", "size='0' count='4' tid='-1' rootRank='0' cid='0' rid='0'"), "invalid-datatype"),
    "assertion": (call("Win_fence", "wid='0' assert='268435456'", unfinished=True), "invalid-argument"),
    "group": (call("Win_post", "wid='0' assert='0'", unfinished=True), "invalid-group"),
    "no group": (call("Win_start", "wid='0' ranks='MPI_GROUP_NULL' assert='0'", unfinished=True), "invalid-group"),
    "no group that passed": (call("Win_post", "wid='0' ranks='MPI_GROUP_NULL' assert='0'"), "invalid-group"),
    "not committed": (call("Type_contiguous", "oldTid='0' tid='2'") + send(0, tid=2, size=8) + call("Type_free", "tid='2'"), "invalid-datatype"),
    "view of what is not committed": (call("Type_contiguous", "oldTid='0' tid='2'") + call("File_set_view", "fid='0' offset='0' etid='0' filetid='2'")
                                      + call("Type_free", "tid='2'"), "invalid-datatype"),
    "freed": (call("Type_free", "tid='2'") + call("Send", unfinished=True), "invalid-datatype"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments(kinds, name):
    line, expected = REFUSED[name]
    found = kinds(line, is_whole=False)
    assert found[0] == expected and "unfinished" not in found


def test_a_message_that_is_not_known_has_no_communicator(kinds):
    received = call("Mrecv", "fromRank='-1' fromTag='-1' cid='-1' count='1' tid='0' mid='-1'", unfinished=True)
    assert "invalid-communicator" not in kinds(received, is_whole=False)


def test_no_file_stands_for_all_where_error_handlers_are_set(kinds):
    assert kinds(call("File_set_errhandler", "fid='-1'", unfinished=True), is_whole=False) == ["unfinished"]


EPOCHS = {
    "fences": (FENCE + put() + FENCE + FREE, []),
    "no epoch": (put() + FREE, ["epoch-missing"]),
    "behind the last fence": (FENCE + LAST_FENCE + put() + FREE, ["epoch-missing"]),
    "no last fence": (FENCE + put() + FREE, ["epoch-not-closed"]),
    "lock": (LOCK + put() + UNLOCK + FREE, []),
    "not locked": (UNLOCK + FREE, ["epoch-missing"]),
    "not unlocked": (LOCK + put() + FREE, ["epoch-not-closed"]),
    "locked twice": (LOCK + LOCK + UNLOCK + FREE, ["epoch-opened-twice"]),
    "fence in a lock": (LOCK + FENCE + UNLOCK + FREE, ["epoch-opened-twice"]),
    "started twice": (2 * call("Win_start", "wid='0' assert='0'", "<Rank rank='1' />") + call("Win_complete", "wid='0'") + FREE, ["epoch-opened-twice"]),
    "nothing was to precede": (FENCE + put() + fence("NOPRECEDE|NOSUCCEED") + FREE, ["window-assertion-broken"]),
    "nothing precedes": (fence("NOPRECEDE") + put() + fence("NOSUCCEED") + FREE, []),
    "nobody puts": (fence("0") + put() + fence("NOPUT") + FREE, []),
}


@pytest.mark.parametrize("name", EPOCHS)
def test_epochs(kinds, name):
    lines, expected = EPOCHS[name]
    other = "".join(line for line in lines.splitlines(keepends=True) if "Win_fence" in line or "Win_free" in line)
    assert kinds(lines, other) == expected


@pytest.mark.parametrize("op, tid, expected", [("MPI_SUM", 0, []), ("MPI_SUM", 4, ["rma-conflict"]), ("MPI_MAX", 0, ["rma-conflict"]), ("MPI_NO_OP", 4, ["rma-conflict"])])
def test_accumulates_that_are_not_combined(kinds, op, tid, expected):
    def accumulate(op, tid):
        data = f"toRank='2' wid='0' count='1' tid='{tid}' targetOffset='0' targetCount='1' targetTid='{tid}' op='{op}'"
        return fence("0") + call("Accumulate", data) + fence("0") + call("Win_free", "wid='0'")

    idle = 2 * fence("0") + call("Win_free", "wid='0'")
    assert kinds(accumulate("MPI_SUM", 0), accumulate(op, tid), idle) == expected


@pytest.mark.parametrize("forgets_last", [False, True])
def test_a_conflict_behind_very_many_accesses_that_barriers_order(findings, forgets_last):
    """In each round rank 0 puts what rank 1 then gets, in parts: all pairs of these are far too many to be compared."""
    rounds, parts = 50, 80
    access = "wid='0' size='{2}' count='{0}' tid='0' targetOffset='{1}' targetCount='{0}' targetTid='0'"
    traces = ["", "", ""]

    def all_call(name, attributes):
        for rank in range(3):
            traces[rank] += call(name, attributes)

    all_call("Win_lock_all", "wid='0' assert='0'")
    for number in range(rounds):
        traces[0] += call("Put", "toRank='2' " + access.format(16, 0, 64)) + call("Win_flush", "wid='0' toRank='2'")
        if not forgets_last or number < rounds - 1:
            all_call("Barrier", "cid='0'")
        traces[1] += "".join(call("Get", "fromRank='2' " + access.format(1, part % 16, 4)) for part in range(parts)) + call("Win_flush", "wid='0' toRank='2'")
        all_call("Barrier", "cid='0'")
    all_call("Win_unlock_all", "wid='0'")
    all_call("Win_free", "wid='0'")
    assert [finding.kind for finding in findings(*traces)] == forgets_last * ["rma-conflict"]


def test_who_changes_memory_that_nobody_was_to_change(findings):
    def later(text):  # than Init of all
        return re.sub(r"(time|end)='(\d+)", lambda match: f"{match[1]}='{int(match[2]) + 1_000_000}", text)

    first, change, last = later(fence("0") + fence("NOPUT")), later(put()), later(fence("0") + call("Win_free", "wid='0'"))
    found = findings(first + change + last, first + last)
    assert [(finding.kind, finding.rank) for finding in found] == [("window-assertion-broken", 0)]
    assert "changes memory of rank 1, which promised MPI_MODE_NOPUT" in found[0].text


IRECV = call("Irecv", "fromRank='1' fromTag='7' cid='0' rid='0' size='4' count='1' tid='0'")
PERSISTENT_RECEIVE = IRECV.replace("Irecv", "Recv_init")
TOLD = call("Request_get_status", "rid='{rid}' flag='1'")
REQUESTS = {
    "used and freed": (INIT + START + WAIT + RELEASE, receive(0), []),
    "never started": (INIT + call("Wait") + RELEASE, "", ["request-not-started"]),
    "never needed": (IDLE_WAIT + INIT + RELEASE, "", []),
    "never freed": (INIT + START + WAIT, receive(0), ["request-not-freed"]),
    "freed while active": (INIT + START + RELEASE, receive(0), ["request-freed-early"]),
    "a receive is freed": (IRECV + RELEASE, send(0), ["request-freed-early"]),
    "a persistent receive is complete, but not started again": (PERSISTENT_RECEIVE + START + TOLD.format(rid=1) + RELEASE, send(0), []),
    "a receive is complete": (IRECV + TOLD.format(rid=0) + RELEASE, send(0), []),
    "another receive is complete": (IRECV + IRECV.replace("rid='0'", "rid='1'") + TOLD.format(rid=1) + RELEASE + WAIT, send(0) + send(0), ["request-freed-early"]),
    "one of some receives is complete": (IRECV + call("Request_get_status_any", "count='1' flag='1' index='0'") + RELEASE, send(0), []),
    "a receive is not complete": (IRECV + TOLD.format(rid=0).replace("flag='1'", "flag='0'") + RELEASE, send(0), ["request-freed-early"]),
    "started twice": (INIT + START + call("Start", "rid='2' initRid='0'") + call("Wait", children="<For rid='2' />") + RELEASE, receive(0) + receive(0),
                      ["request-started-twice", "request-not-completed"]),
    "never completed": (send(1, name="Isend", more="rid='0'"), receive(0), ["request-not-completed"]),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(kinds, name):
    *traces, expected = REQUESTS[name]
    assert kinds(*traces) == expected


def test_what_is_cancelled_has_to_be_completed(findings):
    """MPI 4.1, 3.8.4: MPI_Cancel alone leaves the request as it is."""
    (found,) = findings(call("Irecv", "fromRank='1' fromTag='3' cid='0' size='4' count='1' tid='0' rid='0'") + call("Cancel", "rid='0'"), "")
    assert found.kind == "request-not-completed" and found.text.endswith("was cancelled, but not completed then")


@pytest.mark.parametrize("begin, end, text", [
    ("File_iwrite_at", "Wait", "closes the file of File_iwrite_at, which is not complete before Wait"),
    ("File_write_at_all_begin", "Wait", "closes the file of File_write_at_all_begin, which is not complete before File_write_at_all_end")])
def test_a_file_that_is_closed_before_an_access_is_complete(findings, begin, end, text):
    access = call(begin, "fid='0' offset='0' size='4' count='1' tid='0' rid='0'")
    complete, close = (lambda: call(end, "", "<For rid='0' />")), (lambda: call("File_close", "fid='0'"))
    (found,) = findings(access + close() + complete())
    assert (found.kind, found.text) == ("request-not-completed", f"File_close {text}")
    assert findings(access + complete() + close()) == []


def test_the_end_of_a_split_access_is_called_as_the_program_calls_it(findings):
    begin = call("File_write_all_begin", "fid='0' size='4' count='1' tid='0' rid='0' reads='4096:4:0;'")
    (found,) = findings(begin + call("Wait", "changed='4096:0:;'", "<For rid='0' />"))
    assert found.text.endswith("before File_write_all_end completed it")


@pytest.mark.parametrize("changed, site, expected", [
    ("Irecv", "", ["buffer-modified"]),
    ("File_iread", "", []), # MPI libraries read files while the program computes
    ("File_iread", "4;", ["buffer-modified"]), # the processor has seen the program do it
    ("File_iwrite", "", ["buffer-modified"])])
def test_memory_that_was_changed_while_it_was_in_use(kinds, changed, site, expected):
    other = send(0) if changed == "Irecv" else ""
    use = "fromRank='1' fromTag='7' cid='0'" if changed == "Irecv" else "fid='0' offset='0'"
    memory = "reads" if changed == "File_iwrite" else "writes"
    begin = call(changed, f"{use} size='4' count='1' tid='0' rid='0' {memory}='4096:4:0;'")
    assert kinds(begin + call("Wait", f"changed='4096:0:{site or ';'}'", "<For rid='0' size='4' />"), other) == expected


@pytest.mark.parametrize("path, is_said", [("/lib/libc.so.6", True), ("/home/u/app", False)])
def test_memory_that_was_freed_while_it_was_in_use(findings, path, is_said):
    function = '<Function name="_int_free" file="malloc.c" line="7"/>'
    sites = f"""<CallSiteList><Object id="0" path="{path}"/><Place id="0" object="0" offset="1">{function}</Place><CallSite id="0" places="0;"/>
        <Sites map="4=0;"><Ranks first="0" last="0"/></Sites></CallSiteList>"""
    begin = call("File_iwrite", "fid='0' offset='0' size='4' count='1' tid='0' rid='0' reads='4096:4:0;'")
    (found,) = findings(begin + call("Wait", "changed='4096:0:4;'", "<For rid='0' size='4' />"), run=sites)
    assert ("changed memory at _int_free (malloc.c:7), as it had freed it, that" in found.text) == is_said


def test_objects_that_are_never_freed(kinds):
    made = call("Type_contiguous", "oldTid='0' tid='2'")
    assert kinds(made + call("Type_free", "tid='2'")) == []
    assert kinds(made) == ["datatype-not-freed"]
    assert kinds(call("Op_create", "commute='1'")) == ["operation-not-freed"]
    assert kinds(call("Op_create", "commute='1'") + call("Op_free")) == []


def test_which_of_several_was_never_freed(findings):
    made = [call("Group_incl", f"group='0;' n='1' ranks='0;' newgroup='0;' handle='{handle}'") for handle in (4, 5, 6)]
    (finding,) = findings("".join(made) + call("Group_free", "handle='6'") + call("Group_free", "handle='4'"))
    assert (finding.kind, finding.line) == ("group-not-freed", 5), "the second one"


def neighbours(sources, count=1, tid=0, size=4, taken=None):
    """An alltoall; what is taken is what is given, unless it is told."""
    received = taken or f"recvSize='{size}' recvCount='{count}' recvtid='{tid}'"
    return call("Neighbor_alltoall", f"size='{size}' cid='0' count='{count}' tid='{tid}' {received} sources='{sources}'")


class TestNeighbours:
    def test_each_takes_what_its_neighbours_give(self, kinds):
        assert kinds(neighbours("1;1;"), neighbours("0;0;")) == []
        floats = "recvSize='4' recvCount='1' recvtid='1'"
        assert kinds(neighbours("1;"), neighbours("0;", taken=floats)) == ["collective-type-mismatch"]
        assert kinds(neighbours("1;"), neighbours("0;", taken="recvSize='8' recvCount='2' recvtid='0'")) == ["collective-size-mismatch"]

    def test_others_are_not_asked(self, kinds):
        floats = neighbours("2;", tid=1), neighbours("1;", tid=1)
        assert kinds(neighbours("0;"), *floats) == []

    def test_lists(self, kinds):
        def lists(peer, given, taken, tid=0):
            parts = [f"<{name} rank='{peer}' size='{4 * count}' count='{count}' tid='{tid}' />" for name, counts in (("Send", given), ("Recv", taken)) for count in counts]
            return call("Neighbor_alltoallv", f"cid='0' tid='{tid}' recvtid='{tid}'", "".join(parts))

        assert kinds(lists(1, [1], [2]), lists(0, [2], [1])) == []
        assert kinds(lists(1, [1], [2]), lists(0, [2], [1], tid=1)) == ["collective-type-mismatch"]
        assert kinds(lists(1, [1], [2]), lists(0, [1], [1])) == kinds(lists(1, [1], [2]), lists(0, [], [1])) == ["collective-size-mismatch"]
        assert kinds(lists(1, [1, 2], [2, 1]), lists(0, [1, 2], [2, 1])) == [], "which is which of two edges depends on the topology"


def test_what_only_goes_on_by_buffering(kinds):
    assert kinds(send(1) + receive(1), send(0) + receive(0)) == ["buffering-required"]
    assert kinds(send(1) + receive(1), receive(0) + send(0)) == []
    barrier = call("Barrier", "cid='0'")
    assert kinds(send(1) + barrier, barrier + receive(0)) == ["buffering-required"]
    assert kinds(call("Bsend", "size='4' count='1' tid='0' toRank='1' toTag='7' cid='0'") + barrier, barrier + receive(0)) == []


def test_nobody_is_waited_for_by_what_was_to_be_cancelled(kinds):
    """The library may not cancel it; the call that waits for it returns whatever others do."""
    barrier = call("Barrier", "cid='0'")
    isend, wait = send(1, name="Isend", more="rid='4'"), call("Wait", children="<For rid='4' />")
    assert kinds(isend + wait + barrier, barrier + receive(0)) == ["buffering-required"]
    assert kinds(isend + call("Cancel", "rid='4'") + wait + barrier, barrier + receive(0)) == []
    assert kinds(INIT + START + call("Cancel", "rid='0'") + WAIT + RELEASE + barrier, barrier + receive(0)) == []


def test_a_persistent_request_that_is_not_completed_names_both_places(findings):
    texts = [finding.text for finding in findings(INIT + START, receive(0))]
    assert "Send_init, started with rid 1 was never completed" in texts


PREPARED_SUM = call("Allreduce_init", "size='4' cid='0' count='1' tid='0' op='MPI_SUM' rid='0'")
PREPARED_BARRIER = call("Barrier_init", "cid='0' rid='5'")


def started(prepared, rid):
    return call("Start", f"initRid='{prepared}' rid='{rid}'") + call("Wait", children=f"<For rid='{rid}' />")


def both_started(first, second):
    start = f"<Start initRid='{first}' rid='1' /><Start initRid='{second}' rid='2' />"
    return call("Startall", "count='2'", start) + call("Waitall", "count='2'", "<For rid='1' /><For rid='2' />")


def test_a_persistent_operation_that_a_member_does_not_start(findings):
    """The order of the starts is not the same, which is right."""
    free = call("Request_free", "rid='0'") + call("Request_free", "rid='5'")
    prepared = PREPARED_SUM + PREPARED_BARRIER
    one, other = both_started(0, 5), both_started(5, 0)
    assert findings(prepared + one + free, prepared + other + free) == []
    (found,) = findings(prepared + one + started(0, 3) + free, prepared + other + free)
    assert (found.kind, found.text) == ("collective-missing", "Allreduce_init on WORLD, started, was not started by rank 1")


def test_starts_of_what_was_prepared_wait_for_all_members_without_buffering(findings):
    """Also if one call starts several."""
    free = call("Request_free", "rid='0'") + call("Request_free", "rid='5'")
    prepared = PREPARED_SUM + PREPARED_BARRIER
    for start in (started(0, 1), started(5, 1), both_started(0, 5)):
        assert findings(prepared + send(1) + start + free, prepared + receive(0) + start + free) == []
        (found,) = findings(prepared + send(1) + start + free, prepared + start + receive(0) + free)
        assert found.kind == "buffering-required" and re.search("would wait in Wait(all)? on WORLD for rank 0$", found.text)


def test_where_preparing_goes_wrong_starts_say_no_more(kinds):
    free = call("Request_free", "rid='0'")
    assert kinds(PREPARED_SUM + started(0, 1) + free, "") == ["collective-missing"]


@pytest.mark.parametrize("name, kinds_found", [("Wait", ["buffering-required"]), ("Test", []), ("Waitany", []), ("Waitsome", [])])
def test_what_a_process_did_because_a_send_was_complete(kinds, name, kinds_found):
    """Header and data are sent, and the header is waited for once the data has been sent: it has come before. Else the process would receive."""

    def exchange(other):
        sends = send(other, name="Isend", more="rid='0'") + send(other, tag=8, name="Isend", more="rid='1'")
        return sends + call(name, "flag='1'", "<For rid='1' />") + call("Wait", children="<For rid='0' />") + receive(other) + receive(other, tag=8)

    assert kinds(exchange(1), exchange(0)) == kinds_found


def test_what_was_found_out_is_as_it_would_be(kinds):
    """The receive is there: what comes behind it still needs buffering."""
    one = call("Irecv", "fromRank='1' fromTag='9' cid='0' size='4' count='1' tid='0' rid='0'") + call("Test", "flag='1'", "<For rid='0' fromRank='1' fromTag='9' size='4' />")
    assert kinds(one + send(1) + receive(1), send(0, tag=9) + send(0) + receive(0)) == ["buffering-required"]


def test_where_members_do_not_meet_without_buffering(findings):
    (found,) = findings(send(1) + call("Barrier", "cid='0'"), call("Barrier", "cid='0'") + receive(0))
    assert found.text == "if sends and collective calls waited for the others, rank 0 would wait in Send for rank 1, rank 1 would wait in Barrier on WORLD for rank 0"


@pytest.mark.parametrize("count", [100, 255, 256, 1000])
def test_what_only_goes_on_by_buffering_behind_many_messages(kinds, count):
    one, other = send(1) * count + receive(1) * 2 * count, receive(0) * count + send(0) * 2 * count
    assert kinds(one, other) == []
    assert kinds(one + send(1) + receive(1), other + send(0) + receive(0)) == ["buffering-required"]


def growth_of_memory(path):
    """KiB that the check of a project takes."""
    script = (
        "import hdtrace, re, sys\n"
        "from pathlib import Path\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+([0-9]+) kB', Path('/proc/self/status').read_text())[1])\n"
        "checker = hdtrace.open(sys.argv[1]).checker()\n"
        "assert not checker.read(1000)\n"
        "before = peak()\n"
        "while not checker.at_end:\n"
        "    assert not checker.read(10_000)\n"
        "print(peak() - before)\n")
    return int(subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True).stdout)


@with_own_memory
@pytest.mark.parametrize("completion", ["Waitall", "Waitany", "Testany"])
def test_memory_does_not_grow_with_messages_that_are_over(tmp_path, completion):
    def step(rid):
        requests = [f"rid='{rid}'", f"<For rid='{rid}' />"]
        sender = send(1, name="Isend", more=requests[0]) + call(completion, children=requests[1])
        receiver = call("Irecv", "fromRank='0' fromTag='7' cid='0' size='4' count='1' tid='0' " + requests[0]) + call(
            completion, children=f"<For rid='{rid}' fromRank='0' fromTag='7' size='4' />")
        return sender, receiver

    begin = call("Init")
    steps = [step(rid) for rid in range(100_000)]
    ends = [call("Finalize"), call("Finalize")]
    path = write_project(tmp_path, *(begin + "".join(lines) + end for lines, end in zip(zip(*steps), ends)))
    assert growth_of_memory(path) < 8 * 1024


def poll(more=""):
    return call("Iprobe", "source='1' tag='7' cid='0' flag='0' " + more)


def polls(more="", cpu=0.152):
    """Some hundred in 9.5 seconds, as the tracer thins them; they take 0.15 seconds, and the process uses so much in all."""
    few = [poll("threadCpu='1.000000000'"), *(poll() for _ in range(8))]
    return "".join(few) + poll(f"polls='299' cpu='0.000500000' threadCpu='{1 + cpu:.9f}' " + more)


def waits_for(source):
    return call("Recv", f"fromRank='{source}' fromTag='3' cid='0' count='1' tid='0'", unfinished=True)


class TestPolls:
    def found(self, findings, first, second):
        return [finding.severity for finding in findings(first, second, is_whole=False) if finding.kind == "deadlock"]

    def test_who_only_polls_waits(self, findings):
        assert self.found(findings, polls(), waits_for(0)) == ["error"]

    def test_who_polls_may_give_up(self, findings):
        (deadlock,) = [finding for finding in findings(polls(), waits_for(0), is_whole=False) if finding.kind == "deadlock"]
        assert deadlock.text.endswith("; rank 0 polls, and may give that up")
        assert [process["polls"] for process in deadlock.waiting] == [True, False]

    def test_who_computes_between_polls_does_not(self, findings):
        assert self.found(findings, polls(cpu=9), waits_for(0)) == []

    def test_nor_who_also_asks_for_something_else(self, findings):
        assert self.found(findings, polls("mixed='1'"), waits_for(0)) == []
        assert self.found(findings, polls() + polls().replace("tag='7'", "tag='8'"), waits_for(0)) == []

    def test_nor_who_asks_just_now(self, findings):
        assert self.found(findings, call("Iprobe", "source='1' tag='7' cid='0'", unfinished=True), waits_for(0)) == []
        assert self.found(findings, call("Test", children="<Pending rid='1' />", unfinished=True), waits_for(0)) == []

    def test_who_asks_the_same_at_the_end_may_have_done_so_meanwhile(self, findings):
        """On a busy machine so few polls fit into the time that all of them are left out."""
        def later(tag):
            queries = "".join(call("Comm_rank", "cid='0' rank='1'") for _ in range(30))
            return queries + call("Iprobe", f"source='1' tag='{tag}' cid='0'", unfinished=True)

        assert self.found(findings, polls() + later(tag=7), waits_for(0)) == ["warning"]
        assert self.found(findings, polls() + later(tag=8), waits_for(0)) == []

    def test_nor_who_did_something_else_then(self, findings):
        assert self.found(findings, polls() + call("Barrier", "cid='0'"), waits_for(0)) == []

    def test_without_its_processor_time_nobody_knows(self, findings):
        only_polls = "".join(poll() for _ in range(100))
        assert self.found(findings, only_polls, waits_for(0)) == ["warning"]


def test_of_a_run_that_goes_on_only_what_cannot_change(kinds):
    open_ends = send(1) + call("Irecv", "fromRank='1' fromTag='9' cid='0' size='4' count='1' tid='0' rid='0'"), call("Barrier", "cid='0'")
    running = '<Run><Running><Ranks first="0" last="1"/></Running></Run>'
    assert {"no-finalize", "message-not-received", "request-not-completed", "collective-missing"} <= set(kinds(*open_ends, is_whole=False))
    assert kinds(*open_ends, is_whole=False, run=running) == []
    assert kinds(waits_for(1), waits_for(0), is_whole=False, run=running) == ["deadlock"]


def test_calls_that_were_left(kinds):
    """An error handler may leave a call by an exception."""
    assert kinds(waits_for(1) + call("Barrier", "cid='0'"), waits_for(0) + call("Barrier", "cid='0'")) == []


# Rank 0 ended itself, and with it rank 1, which wrote nothing any more.
def test_a_trace_that_was_cut_off_and_closed_since_is_no_fault_of_the_program(findings):
    told = "<Run><Calls name='Finalize' recorded='2' ignored='0'><Ranks first='0' last='1'/></Calls></Run>"
    barrier = call("Init") + call("Barrier", "cid='0'")
    (one,) = [finding for finding in findings(barrier, barrier + call("Finalize"), is_whole=False, run=told) if finding.kind in ("cut-off", "no-finalize")]
    assert (one.kind, one.rank, one.text) == ("cut-off", 0, "the calls behind this one are missing, which the process has recorded: the trace was cut off")


FIRST_ENDED_ALL = ("<Run><Process rank='0' pid='1' began='100'>" + "<CpuTime time='1.0' user='1.0' system='0.1'/>" * 2 + "</Process>"
                   "<Process rank='1' pid='2' began='100'><CpuTime time='1.0' user='1.0' system='0.1'/></Process></Run>")


def test_who_was_ended_by_another_is_not_the_reason(findings):
    found = findings(call("Barrier", "cid='0'") + call("Abort", "cid='0' errorcode='3'"), "", is_whole=False, run=FIRST_ENDED_ALL)
    assert [finding.kind for finding in found if finding.kind != "collective-missing"] == ["aborted"]
    assert all("_0_0.trc" in finding.because for finding in found if finding.kind == "collective-missing")


def test_who_ended_itself_inside_a_call_did_not_wait(kinds):
    inside = call("Reduce", "cid='0' rootRank='0' size='4' count='1' tid='0' op='USER'", unfinished=True)
    assert "unfinished" in kinds(call("Barrier", "cid='0'") + inside, "", is_whole=False, run=FIRST_ENDED_ALL)


def test_endings(kinds):
    assert kinds("", is_whole=False) == ["no-finalize"]
    assert kinds(call("Abort", "cid='0' errorcode='3'"), is_whole=False) == ["aborted"]
    inside = "<Nested>" + call("Abort", "cid='0' errorcode='3'").strip() + "</Nested>" + call("Allreduce", "size='4' cid='0' count='1' tid='0' op='USER' unfinished='1'")
    assert kinds(inside, is_whole=False) == ["aborted"]
    assert kinds(call("Comm_dup", "cid='0'", unfinished=True), is_whole=False) == ["unfinished"]


def test_accesses_through_views_of_which_the_file_is_not_told(kinds):
    """As in traces that were imported: nobody knows which bytes they are."""
    write = call("File_write_at", "fid='0' offset='0' size='4' count='1' tid='0'")
    assert kinds(write, write) == ["file-conflict"]
    assert kinds(call("File_set_view", "offset='4'") + write, write) == []


def locked(target, kind="SHARED", name="Put"):
    access = call(name, f"size='4' toRank='{target}' wid='0' count='1' tid='0' targetOffset='0' targetCount='1' targetTid='0'")
    return call("Win_lock", f"wid='0' toRank='{target}' lockType='MPI_LOCK_{kind}' assert='0'") + access + call("Win_unlock", f"wid='0' toRank='{target}'")


ORDERING = {
    "nothing": ("", "", ["rma-conflict"]),
    "Barrier": (call("Barrier", "cid='0'"),) * 2 + ([],),
    "Ibarrier": (call("Ibarrier", "cid='0' rid='60'") + call("Wait", children="<For rid='60' />"),) * 2 + ([],),
    "Ibarrier that is tested": (call("Ibarrier", "cid='0' rid='60'") + call("Test", "flag='1'", "<For rid='60' />"),) * 2 + ([],),
    "persistent barrier": (PREPARED_BARRIER + started(5, 51) + call("Request_free", "rid='5'"),) * 2 + ([],),
    "Send": (send(1), receive(0), []),
    "Ssend": (receive(1), send(0, name="Ssend"), []),
    "Issend": (receive(1), send(0, name="Issend", more="rid='61'") + call("Wait", children="<For rid='61' />"), []),
    "Send to the first": (receive(1), send(0), ["rma-conflict"]),
}


@pytest.mark.parametrize("between", ORDERING)
def test_what_orders_accesses_to_a_window(kinds, between):
    first, second, expected = ORDERING[between]
    free = call("Win_free", "wid='0'")
    assert kinds(locked(1) + first + free, second + locked(1) + free) == expected


def probe(name="Probe", more=""):
    return call(name, f"source='0' tag='7' fromRank='0' fromTag='7' cid='0' size='4' {more}")


def matched(mid):
    return call("Mrecv", f"fromRank='0' fromTag='7' cid='0' size='4' count='1' tid='0' mid='{mid}'")


# What rank 1 does before its access and behind it, if rank 0 sends a message before its own access and one behind it.
PROBES = {
    "of the second one": (receive(0) + probe(), receive(0), []),
    "of the first one": (probe(), receive(0) + receive(0), ["rma-conflict"]),
    "of the first one, twice": (probe() + probe("Iprobe", "flag='1'"), receive(0) + receive(0), ["rma-conflict"]),
    "that takes the second one": (receive(0) + probe("Mprobe", "mid='1'"), matched(1), []),
    "that takes the first one": (probe("Mprobe", "mid='1'"), matched(1) + receive(0), ["rma-conflict"]),
    "behind the first one, which is taken": (probe("Mprobe", "mid='1'") + probe(), matched(1) + receive(0), []),
    "that take both": (probe("Mprobe", "mid='1'") + probe("Mprobe", "mid='2'"), matched(2) + matched(1), []),
    "that takes the first one, received last": (probe("Mprobe", "mid='1'"), probe("Mprobe", "mid='2'") + matched(2) + matched(1), ["rma-conflict"]),
}


@pytest.mark.parametrize("name", PROBES)
def test_what_a_probe_tells_of_was_sent_before(kinds, name):
    before, behind, expected = PROBES[name]
    free = call("Win_free", "wid='0'")
    assert kinds(send(1) + locked(1) + send(1) + free, before + locked(1) + behind + free) == expected


def one_sided(name, target, offset, more=""):
    place = f"{'from' if name == 'Get' else 'to'}Rank='{target}' wid='0' targetOffset='{offset}' targetCount='1' targetTid='0'"
    return call(name, f"size='4' count='1' tid='0' {place} {more}") + call("Win_flush", f"wid='0' toRank='{target}'")


LOCK_ALL, UNLOCK_ALL = call("Win_lock_all", "wid='0' assert='0'"), call("Win_unlock_all", "wid='0'") + call("Win_free", "wid='0'")
GET = "size='4' fromRank='1' wid='0' count='1' tid='0' targetOffset='0' targetCount='1' targetTid='0'"
# What rank 0 gets before a barrier, behind which rank 1 puts to the same place.
GOT = {
    "and nothing": (call("Get", GET), ["rma-conflict"]),
    "and flushes": (call("Get", GET) + call("Win_flush", "wid='0' toRank='1'"), []),
    "and flushes here": (call("Get", GET) + call("Win_flush_local", "wid='0' toRank='1'"), []),
    "and flushes all here": (call("Get", GET) + call("Win_flush_local_all", "wid='0'"), []),
    "and flushes others": (call("Get", GET) + call("Win_flush_local", "wid='0' toRank='0'"), ["rma-conflict"]),
    "by a request": (call("Rget", GET + " rid='60'") + call("Wait", children="<For rid='60' />"), []),
    "by one of two requests": (call("Rget", GET + " rid='60'") + call("Rget", GET + " rid='61'") + call("Waitany", children="<For rid='61' /><Pending rid='60' />"), ["rma-conflict"]),
    "and puts": (call("Get", GET) + call("Put", GET.replace("from", "to")) + call("Win_flush_local", "wid='0' toRank='1'"), ["rma-conflict"]),
}


@pytest.mark.parametrize("name", GOT)
def test_what_was_got_is_complete_once_it_is_here(kinds, name):
    first, expected = GOT[name]
    barrier, last = call("Barrier", "cid='0'"), "".join(call("Wait", children=f"<For rid='{rid}' />") for rid in (60,) if "two requests" in name)
    second = call("Put", GET.replace("fromRank", "toRank"))
    assert [kind for kind in kinds(LOCK_ALL + first + barrier + last + UNLOCK_ALL, LOCK_ALL + barrier + second + UNLOCK_ALL) if kind.startswith("rma")] == expected


@pytest.mark.parametrize("flush", ["Win_flush", "Win_flush_local"])
def test_a_flush_gives_back_what_is_got_by_requests(kinds, flush):
    got = call("Rget", GET + " rid='60' writes='100000:4:0;'")
    sent = call("Send", "toRank='1' toTag='7' cid='0' size='4' count='1' tid='0' reads='100000:4:0;'")
    wait = call("Wait", children="<For rid='60' />")
    for between, expected in ("", ["buffer-conflict"]), (call(flush, "wid='0' toRank='1'"), []), (call(flush, "wid='0' toRank='0'"), ["buffer-conflict"]):
        assert kinds(LOCK_ALL + got + between + sent + wait + UNLOCK_ALL, LOCK_ALL + receive(0) + UNLOCK_ALL) == expected


def atomic(name="Fetch_and_op"):
    return one_sided(name, 1, 1, "op='MPI_REPLACE'")


def severities(findings, *accesses):
    begin, end = call("Win_lock_all", "wid='0' assert='0'"), call("Win_unlock_all", "wid='0'") + call("Win_free", "wid='0'")
    found = findings(*(begin + some + end for some in accesses))
    assert {finding.kind for finding in found} == {"rma-conflict"}
    return [finding.severity for finding in found]


ATOMICS = {
    "a flag": (lambda put: put() + atomic("Accumulate"), lambda get: atomic() + get(), "warning"),
    "a lock": (lambda put: atomic("Compare_and_swap") + put() + atomic(), lambda get: atomic("Compare_and_swap") + get() + atomic(), "warning"),
    "none behind the first": (lambda put: atomic() + put(), lambda get: atomic() + get(), "error"),
    "none before the second": (lambda put: put() + atomic(), lambda get: get() + atomic(), "error"),
    "none that fetches": (lambda put: put() + atomic(), lambda get: atomic("Accumulate") + get(), "error"),
}


@pytest.mark.parametrize("name", ATOMICS)
def test_atomic_accesses_may_order_others(findings, name):
    first, second, expected = ATOMICS[name]
    traces = first(lambda: one_sided("Put", 1, 0)), second(lambda: one_sided("Get", 1, 0))
    assert severities(findings, *traces) == [expected]


def test_of_calls_at_the_same_places_what_atomic_accesses_cannot_order_is_told(findings):
    first = one_sided("Put", 1, 0) + atomic("Accumulate")
    second = atomic() + one_sided("Get", 1, 0)
    assert severities(findings, first, second) == ["warning"]
    assert severities(findings, first + one_sided("Put", 1, 0), second + one_sided("Get", 1, 0)) == ["error"]


@pytest.mark.parametrize("own, other, expected", [
    ("EXCLUSIVE", "SHARED", []), ("SHARED", "EXCLUSIVE", []), ("SHARED", "SHARED", ["rma-conflict"]), (None, "EXCLUSIVE", ["rma-conflict"])])
def test_locks_exclude_each_other_only_where_both_lock(kinds, own, other, expected):
    """Of a process that sends from its own part of the window."""
    make, free = call("Win_create", "cid='0' wid='0' size='64' dispUnit='4' window='100000:64;'"), call("Win_free", "wid='0'")
    lock = call("Win_lock", f"wid='0' toRank='1' lockType='MPI_LOCK_{own}' assert='0'")
    sent = call("Send", "toRank='0' toTag='7' cid='0' size='4' count='1' tid='0' reads='100000:4:0;'")
    here = lock + sent + call("Win_unlock", "wid='0' toRank='1'") if own else sent
    assert kinds(make + locked(1, other) + receive(1) + free, make + here + free) == expected


def test_partitions_beyond_the_last_one(findings):
    made = "cid='0' size='4' count='1' tid='0' partitions='4' rid='1'"
    ready = call("Pready_range", "rid='2' partitionLow='0' partitionHigh='3'") + call("Pready_range", "rid='2' partitionLow='5' partitionHigh='6'")
    start, end = call("Start", "rid='2' initRid='1'"), call("Wait", children="<For rid='2' />") + call("Request_free", "rid='1'")
    (found,) = findings(call("Psend_init", f"toRank='1' toTag='7' {made}") + start + ready + end, call("Precv_init", f"fromRank='0' fromTag='7' {made}") + start + end)
    assert "makes partition 5 ready, which does not exist" in found.text


PARTITIONED = "cid='0' size='4' count='1' tid='0' partitions='4' rid='1'"


def send_in_partitions(ready):
    return (call("Psend_init", f"toRank='1' toTag='7' {PARTITIONED}") + call("Start", "rid='2' initRid='1'")
            + "".join(call("Pready", f"rid='2' partition='{partition}'") for partition in range(ready)))


def receive_in_partitions():
    return call("Precv_init", f"fromRank='0' fromTag='7' {PARTITIONED}") + call("Start", "rid='2' initRid='1'")


def inside(name):
    return call(name, children="<Pending rid='2' />", unfinished=True)


@pytest.mark.parametrize("ready, last, missing", [
    (4, inside("Wait"), None), (3, inside("Wait"), "1 of 4"), (0, inside("Waitall"), "4 of 4"), (0, call("Finalize"), "4 of 4"),
    (3, inside("Waitany"), None), (3, inside("Test"), None), (3, call("Barrier", "cid='0'", unfinished=True), None)])
def test_partitions_of_a_send_that_is_never_complete(findings, ready, last, missing):
    """Where a process may have gone on if it had not been ended, it may have made them ready."""
    found = findings(send_in_partitions(ready) + last, receive_in_partitions() + inside("Wait"), is_whole=False)
    texts = [finding.text for finding in found if finding.kind == "partition-missing"]
    assert texts == ([f"{missing} partitions of Psend_init were never made ready"] if missing else [])
    waits_for_ever = missing and "Pending" in last
    assert ("unfinished", 0) not in [(finding.kind, finding.rank) for finding in found] or not waits_for_ever


def test_partitions_that_are_ready_once_the_send_is_waited_for(tmp_path):
    """By another thread; the first round is whole, the second one not."""
    prepare = f"<Psend_init toRank='1' toTag='7' {PARTITIONED} time='1' end='2' />\n"
    rounds = "".join(f"<Start rid='{rid}' initRid='1' time='{rid}1' end='{rid}2' />\n<Pready rid='{rid}' partition='0' time='{rid}2' end='{rid}3' />\n"
                     f"<Wait time='{rid}3' end='{rid}9' ><For rid='{rid}' /></Wait>\n" for rid in (2, 3))
    free = "<Request_free rid='1' time='50' end='51' />\n"
    ready = "".join(f"<Pready_range rid='{rid}' partitionLow='1' partitionHigh='{last}' time='{rid}5' end='{rid}6' />\n" for rid, last in ((2, 3), (3, 2)))
    path = write_project(tmp_path, prepare + rounds + free, "")
    add_thread(path, 0, ready)
    texts = [finding.text for finding in hdtrace.open(path).checker().read(10_000) if finding.kind == "partition-missing"]
    assert texts == ["1 of 4 partitions of Psend_init were never made ready"]


def test_null_requests_beside_others_are_no_requests_that_were_not_started(kinds):
    prepared, free = INIT, RELEASE
    exchange = call("Irecv", "fromRank='1' fromTag='7' cid='0' size='4' count='1' tid='0' rid='7'") + call("Waitall", "count='2'", "<For rid='7' fromRank='1' fromTag='7' size='4' />")
    assert kinds(prepared + exchange + free, send(0)) == []
    assert kinds(prepared + call("Wait") + free, "") == ["request-not-started"]


def test_a_signal_behind_which_a_call_began_was_survived(kinds):
    signal = "<Run><Process rank='0' pid='1' began='100'><Signal name='SIGSEGV' time='{}'/></Process><Process rank='1' pid='2' began='100'/></Run>"
    inside = "<Recv fromRank='1' fromTag='3' cid='0' size='4' count='1' tid='0' unfinished='1' time='100000000.0' end='100000009.0' />\n"
    assert "killed-by-signal" not in kinds(inside, "", is_whole=False, run=signal.format("99999990.0"))
    assert "killed-by-signal" in kinds(inside, "", is_whole=False, run=signal.format("100000001.0"))
