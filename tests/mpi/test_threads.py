"""Eight threads at the same time: each has its own trace, and all share the ids of the process."""
import pytest

THREADS, ROUNDS = 8, 10


@pytest.fixture
def run(run_traced):
    return run_traced("identity_threads", 2)


def numbers_of(thread):
    return [thread * ROUNDS + turn for turn in range(ROUNDS)]


def states_of(run, rank, thread, name):
    return [state for state in run.threads[rank, thread + 1] if state.name == name]


def test_a_request_is_the_same_in_the_thread_that_completes_it(run):
    for rank in range(2):
        assert sum(key[0] == rank for key in run.threads) == THREADS + 1
        for thread in range(THREADS):
            starts = states_of(run, rank, thread, "Irecv")
            assert [int(state["fromTag"]) for state in starts] == numbers_of(thread)
            waits = [child for state in states_of(run, rank, (thread - 1) % THREADS, "Wait") for child in state.children if "fromTag" in child]
            assert [(child["rid"], child["fromTag"]) for child in waits] == [(state["rid"], state["fromTag"]) for state in starts]


def test_sends_are_completed_where_they_were_started(run):
    for rank in range(2):
        for thread in range(THREADS):
            waits = [child["rid"] for state in states_of(run, rank, thread, "Wait") for child in state.children if "fromTag" not in child]
            assert waits == [state["rid"] for state in states_of(run, rank, thread, "Isend")]


def test_types_and_communicators_that_are_made_at_the_same_time(run):
    for rank in range(2):
        ids = []
        for thread in range(THREADS):
            for number, exchange in zip(numbers_of(thread), states_of(run, rank, thread, "Sendrecv"), strict=True):
                assert (int(exchange["toTag"]), int(exchange["size"])) == (number, 4 * (number + 1))
                assert run.project.datatype(rank, exchange["tid"]).get("count") == str(number + 1)
            sends = states_of(run, rank, thread, "Send")
            made = [state["newcid"] for state in states_of(run, rank, thread, "Comm_dup")]
            assert [state["cid"] for state in sends] == made
            ids += made
            uids = {run.project.communicator(rank, state["cid"]).uid for state in states_of(run, rank, thread, "Irecv")}
            assert len(uids) == 1
            assert [run.project.communicator(rank, cid).uid.rpartition("@")[0] for cid in made] == [
                f"{next(iter(uids))}/{1 + turn}" for turn in range(ROUNDS)]
        assert len(set(ids)) == THREADS * ROUNDS


def test_files_that_are_open_at_the_same_time(run):
    for rank in range(2):
        for thread in range(THREADS):
            writes = states_of(run, rank, thread, "File_write_at")
            assert [int(write["size"]) for write in writes] == [number + 1 for number in numbers_of(thread)]
            for state in [*writes, *states_of(run, rank, thread, "File_close")]:
                assert run.project.file_name(rank, state["fid"]).endswith(f"/threads-{rank}-{thread}.data")


def test_a_communicator_may_be_freed_while_another_thread_waits_on_it(run_traced):
    """Which is told the sender's rank as it is in that communicator."""
    run = run_traced("identity_freed_in_call", 3)
    (receive,) = states_of(run, 0, 0, "Recv")
    assert receive["fromRank"] == "2"
