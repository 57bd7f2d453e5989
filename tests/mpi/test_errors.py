"""Calls that fail and return."""
from support.calls import ANY, Call
from support.runs import ranks


@ranks(1, 2)
def test_failed_calls_have_the_class_of_their_error(run_traced, ranks):
    for trace in run_traced("errors", ranks):
        assert Call("Send", rc="MPI_ERR_RANK", toTag=1, size=4) in trace
        assert Call("Send", rc="MPI_ERR_COUNT", toTag=2) in trace
        assert Call("Isend", rc="MPI_ERR_TAG", rid=lambda rid: rid in (None, "-1")) in trace
        assert Call("Bcast", rc="MPI_ERR_ROOT") in trace
        assert Call("Barrier", rc="MPI_ERR_COMM", cid=-1) in trace
        assert Call("Send", rc="MPI_ERR_TYPE", toTag=3, tid=-1) in trace


@ranks(1, 2)
def test_a_message_that_did_not_fit(run_traced, ranks):
    for trace in run_traced("errors", ranks):
        assert Call("Isend", toTag=4, size=16, rc=None) in trace
        assert Call("Recv", rc="MPI_ERR_TRUNCATE", fromRank=trace.left, count=2) in trace


def test_calls_that_succeed_have_no_rc(run_traced):
    for trace in run_traced("send_modes", 2):
        assert Call("Send", rc=ANY) not in trace
