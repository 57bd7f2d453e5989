"""What OTF2 knows about one-sided communication is what the programs did."""
from collections import Counter

import pytest
from archives import events, otf2, place, print_silently
from conversions import convert

OF_ALL = 0xFFFFFFFF  # locks of all processes
COMPLETIONS = "RmaOpCompleteNonBlocking", "RmaOpCompleteRemote"


def kind(event):
    return type(event).__name__


def members(group):
    return [place(member)[0] for member in group.members]


def target_of(event):
    return members(event.win.comm.group)[event.remote]


def attribute(event, name):
    return {key.name: value for key, value in (event.attributes or {}).items()}.get(name)


# --- a real program ---

@pytest.fixture(scope="module")
def windows(archive):
    """(Run, [(rank, event), ...])"""
    run, path, _ = archive("windows")
    print_silently(path)
    return run, [(place(location)[0], event) for location, event in events(path)]


def test_each_window_is_made_and_freed_by_all(windows):
    run, found = windows
    made, freed = (Counter((event.win.name, rank) for rank, event in found if kind(event) == name) for name in ("RmaWinCreate", "RmaWinDestroy"))
    named = {window.get("name") or window.get("uid") for window in run.project.root.iter("Window")}
    assert made == freed == Counter((name, rank) for name in named for rank in range(run.ranks))


def test_operations_have_bytes_and_targets(windows):
    run, found = windows
    operations = Counter()
    for rank, event in found:
        if kind(event) in ("RmaPut", "RmaGet"):
            operations[rank, kind(event), target_of(event), event.bytes, attribute(event, "target offset")] += 1
        elif kind(event) == "RmaAtomic":
            operations[rank, str(event.type), target_of(event), event.bytes_sent, event.bytes_received, attribute(event, "target offset")] += 1
    expected = Counter()
    for trace in run:
        for state in trace:
            offset = 4 * int(state.get("targetOffset", 0))  # they count in ints
            if state.name in ("Put", "Rput"):
                expected[trace.rank, "RmaPut", int(state["toRank"]), 4, offset] += 1
            elif state.name in ("Get", "Rget"):
                expected[trace.rank, "RmaGet", int(state["fromRank"]), 4, offset] += 1
            elif state.name in ATOMICS:
                kind_of_atomic, sent, received = ATOMICS[state.name]
                if state.get("op") == "MPI_NO_OP":
                    sent = 0
                expected[trace.rank, f"RmaAtomicType.{kind_of_atomic}", int(state["toRank"]), sent, received, offset] += 1
    assert operations == expected


ATOMICS = {  # bytes sent and received
    "Accumulate": ("ACCUMULATE", 4, 0),
    "Raccumulate": ("ACCUMULATE", 4, 0),
    "Get_accumulate": ("FETCH_AND_ACCUMULATE", 4, 4),
    "Rget_accumulate": ("FETCH_AND_ACCUMULATE", 4, 4),
    "Fetch_and_op": ("FETCH_AND_ADD", 4, 4),
    "Compare_and_swap": ("COMPARE_AND_SWAP", 8, 4),
}


def test_each_operation_completes_once(windows):
    """At its origin and, where the origin knows it, at the target: first the one, then the other."""
    _, found = windows
    records = {}
    for rank, event in found:
        if hasattr(event, "matching_id") and kind(event).startswith("Rma"):
            records.setdefault((rank, event.win.name, event.matching_id), []).append(kind(event))
    assert records
    for (issued, *completed) in records.values():
        assert issued in ("RmaPut", "RmaGet", "RmaAtomic")
        assert tuple(completed) in (COMPLETIONS[:1], COMPLETIONS)


def test_locks_are_asked_for_and_held_and_released(windows):
    _, found = windows
    held = {}
    for rank, event in found:
        if kind(event) in ("RmaRequestLock", "RmaAcquireLock", "RmaReleaseLock"):
            held.setdefault((rank, event.win.name, event.remote), []).append((kind(event), getattr(event, "lock_type", None)))
    types = Counter()
    for (*_, remote), steps in held.items():
        for request, acquire, release in zip(*[iter(steps)] * 3, strict=True):
            assert (request[0], acquire[0], release[0]) == ("RmaRequestLock", "RmaAcquireLock", "RmaReleaseLock")
            assert request[1] == acquire[1]
            types[request[1], remote == OF_ALL] += 1
    assert types == {(otf2.LockType.EXCLUSIVE, False): 4, (otf2.LockType.SHARED, True): 4}


def test_groups_synchronise_with_their_neighbours(windows):
    run, found = windows
    levels = Counter((rank, *members(event.group), str(event.sync_level)) for rank, event in found if kind(event) == "RmaGroupSync")
    opened = otf2.RmaSyncLevel.NONE, otf2.RmaSyncLevel.MEMORY
    assert levels == Counter((trace.rank, other, str(level)) for trace in run for other in (trace.left, trace.right) for level in opened for _ in range(2))


def test_collective_records_are_inside_their_calls(windows):
    _, found = windows
    ends, inside = Counter(), {}
    for rank, event in found:
        region, began = inside.get(rank, (None, False))
        if kind(event) == "Enter":
            inside[rank] = event.region.name, False
        elif kind(event) == "RmaCollectiveBegin":
            assert not began
            inside[rank] = region, True
        elif kind(event) == "RmaCollectiveEnd":
            assert began
            inside[rank] = region, False
            ends[region, str(event.collective_op).removeprefix("CollectiveOp.")] += 1
        elif kind(event) == "Leave":
            assert not began
    assert ends == {
        ("MPI_Win_create", "CREATE_HANDLE"): 4, ("MPI_Win_create_dynamic", "CREATE_HANDLE"): 4, ("MPI_Win_fence", "BARRIER"): 8,
        ("MPI_Win_allocate", "CREATE_HANDLE_AND_ALLOCATE"): 4, ("MPI_Win_allocate_shared", "CREATE_HANDLE_AND_ALLOCATE"): 4,
        ("MPI_Win_free", "DESTROY_HANDLE"): 8, ("MPI_Win_free", "DESTROY_HANDLE_AND_DEALLOCATE"): 8,
    }


# --- traces of a few lines ---

INFO = """Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4
Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'
Comm map='1->0;0->1;' id=1 name='turned' uid='W/1'
Win id=0 cid=1 uid='W/w1' size=80 dispUnit=8
"""


@pytest.fixture
def converted(run, tmp_path):
    """converted(calls of rank 0) -> (Conversion, [event of rank 0 that is of one-sided communication, ...])"""

    def convert_calls(*calls, info=INFO):
        lines = "".join(f"<{call} time='{at}.000000000' end='{at}.500000000' ></{call.split()[0]}>\n" for at, call in enumerate(calls, 1))
        lines = lines.replace(" ></Wait>", " ><For rid='1' /></Wait>")
        run.process(0, info, lines, size=2)
        run.process(1, info, "", size=2)
        run.merge_cleanly("--no-audit", "app")
        conversion = convert(tmp_path / "app.proj", "otf2", tmp_path / "otf2")
        print_silently(tmp_path / "otf2/traces.otf2")
        return conversion, [event for _, event in events(tmp_path / "otf2/traces.otf2") if kind(event).startswith("Rma")]

    return convert_calls


def put(to, rid=""):
    return f"{'Rput' if rid else 'Put'} size='4' toRank='{to}' wid='0' count='1' tid='0' targetOffset='3' targetCount='1' targetTid='0' {rid}"


def steps(found):
    return [(kind(event), event.matching_id) for event in found if hasattr(event, "matching_id")]


def test_the_target_is_a_rank_of_the_window(converted):
    _, (event,) = converted(put(1))
    assert (event.win.comm.name, event.remote, attribute(event, "target offset")) == ("turned", 0, 24)


def test_flushes_complete_the_operations_to_their_target(converted):
    _, found = converted(put(1), put(0), "Win_flush_local wid='0' toRank='1'", "Win_flush wid='0' toRank='1'", "Win_flush_all wid='0'", "Win_flush_all wid='0'")
    local, remote = COMPLETIONS
    assert steps(found) == [("RmaPut", 0), ("RmaPut", 1), (local, 0), (remote, 0), (local, 1), (remote, 1)]


@pytest.mark.parametrize("end", ["Win_fence wid='0' assert='0'", "Win_complete wid='0'"])
def test_what_ends_for_the_origin_may_go_on_at_the_target(converted, end):
    _, found = converted(put(1), end, "Win_flush_all wid='0'")
    assert steps(found) == [("RmaPut", 0), (COMPLETIONS[0], 0)]


def test_a_request_is_complete_here_before_the_target(converted):
    _, found = converted(put(1, "rid='0'"), put(1, "rid='1'"), "Wait", "Win_unlock wid='0' toRank='1'")
    local, remote = COMPLETIONS
    assert steps(found) == [("RmaPut", 0), ("RmaPut", 1), (local, 1), (local, 0), (remote, 0), (remote, 1)]


def test_nobody_is_no_target(converted):
    conversion, found = converted("Win_lock wid='0' toRank='-2' lockType='MPI_LOCK_SHARED' assert='0'", put(-2), put(-2, "rid='0'"), "Win_unlock wid='0' toRank='-2'")
    assert (found, conversion.exact) == ([], 4)


def test_calls_on_a_window_that_is_not_described_are_regions(converted):
    conversion, found = converted(put(1), "Win_fence wid='0' assert='0'", put(1, "rid='0'"), info=INFO[:INFO.index("Win ")])
    assert (found, list(conversion.approximated.values())) == ([], [3])


def test_groups_may_be_ranges(converted):
    _, found = converted("Win_start wid='0' ranks='0..1;' assert='0'", "Win_post wid='0' ranks='1;0;' assert='0'")
    assert [members(event.group) for event in found] == [[0, 1], [1, 0]]


@pytest.mark.parametrize("call", ["Put size='4' wid='0'", "Rget size='4' wid='0' rid='0'", "Win_lock wid='0' toRank='7'"])
def test_calls_without_a_target_of_the_window_are_regions(converted, call):
    conversion, found = converted(call)
    assert (found, conversion.exact, list(conversion.approximated.values())) == ([], 0, [1])


def test_a_request_of_a_call_that_starts_nothing_is_ignored(converted):
    conversion, found = converted("Win_sync wid='0' rid='0'")
    assert ([type(event).__name__ for event in found], conversion.exact) == (["RmaSync"], 1)
