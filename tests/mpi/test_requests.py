"""Random operations: the program's own account of them is the account of the trace, call by call.

Several operations that have completed at once may have equal handles. Once the program has moved one of these, nobody can
tell from a handle which of them it stands for: then the numbers have to be right, each operation has to come once, and nothing else.
"""
from collections import Counter

import pytest
from support.calls import Call, For
from support.runs import SETTINGS

ROUNDS = 12
ATTRIBUTES = ("count", "flag", "index", "outcount")
NAMING = ("Request_free", "Request_get_status", "Cancel", "Grequest_complete")
COMPLETING = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")


def account_of(trace):
    """What the trace says of requests: a call's name and its words, for each call."""
    return [(state.name, words) for state in trace if (words := _words(state)) or state.name in COMPLETING]


def _words(state):
    words = [f"{key}={state[key]}" for key in ATTRIBUTES if key in state and state.name in COMPLETING + NAMING + ("Startall",)]
    for element in [state, *state.children]:
        if "rid" in element:
            words.append(_word(state.name, element))
    return words


def _word(call, element):
    rid = element["rid"]
    if element.name == "Pending":
        return f"pending:{rid}"
    if element.name == "For" and "cancelled" in element:
        return f"cancelled:{rid}"
    if element.name == "For":
        return ":".join(["for", rid, *(element[key] for key in ("fromRank", "fromTag", "size") if key in element)])
    if element.name == "Start":
        return f"start:{rid}:{element['initRid']}"
    kind = "names" if call in NAMING else "init" if call.endswith("_init") else "start"
    return f"{kind}:{rid}"


class Judge:
    """Compares the two accounts of one process call by call."""

    def __init__(self):
        self.handles = {}  # operation that has not ended -> its handle, as the program knows it
        self.left = {}     # the same as the trace has it
        self.moved = set()  # handles that no longer are where MPI stored them
        self.details = {"program": {}, "trace": {}}
        self.equal_count = 0

    def hear(self, kind, rid, bits=None):
        """What the program says of handles."""
        if kind == ".handle":
            self.handles[rid] = self.left[rid] = bits
        elif kind == ".moved":
            self.moved.add(self.handles[rid])
        else:
            self._end("gone", rid, self.handles)
            self._end("gone", rid, self.left)

    def compare(self, call, expected, found, place):
        clear_expected, others_expected = self._divide(call, expected, self.handles)
        clear_found, others_found = self._divide(call, found, self.left)
        assert clear_found == clear_expected, place
        assert Counter(handle for _, handle in others_found) == Counter(handle for _, handle in others_expected), place
        assert len({word for word, _ in others_found}) == len(others_found), f"{place}: an operation comes twice"
        for words, live, account in ((expected, self.handles, "program"), (found, self.left, "trace")):
            for word in words:
                self._finish(call, word, live, account)
        self.moved &= {*self.handles.values(), *self.left.values()}

    def _divide(self, call, words, live):
        """Words that must be equal, and (rid, kind and handle) of those that may be about another operation with the same handle."""
        clear, others = [], []
        for word in words:
            kind, _, rest = word.partition(":")
            handle = live.get(rest.split(":")[0])
            is_equal = handle is not None and self._holders(handle, self.handles) | self._holders(handle, self.left) > {rest.split(":")[0]}
            self.equal_count += is_equal
            # The function that gets no variable cannot tell equal handles apart.
            if is_equal and kind != "start" and (handle in self.moved or call == "Request_get_status"):
                others.append((rest.split(":")[0], (kind, handle)))
            else:
                clear.append(word)
        return clear, others

    @staticmethod
    def _holders(handle, live):
        return {rid for rid, its_handle in live.items() if its_handle == handle}

    def _finish(self, call, word, live, account):
        kind, _, rest = word.partition(":")
        rid = rest.split(":")[0]
        if kind in ("for", "cancelled") or (call == "Request_free" and rid in live):
            self.details[account][rid] = word
            self._end(kind, rid, live)

    @staticmethod
    def _end(kind, rid, live):
        assert rid in live, f"{kind}: operation {rid} has ended before or was not started"
        del live[rid]


def compare_accounts(log, trace):
    """Returns how often an operation was named whose handle others had as well."""
    judge, account = Judge(), iter(account_of(trace))
    for number, line in enumerate(log.read_text().splitlines(), 1):
        name, *words = line.split()
        if name.startswith("."):
            judge.hear(name, *words)
            continue
        call, found = next(account)
        place = f"{log.name}:{number}: {line}; the trace has {call} {' '.join(found)}"
        assert call == name, place
        judge.compare(call, words, found, place)
    assert next(account, None) is None
    assert not judge.handles and not judge.left
    assert judge.details["program"] == judge.details["trace"]
    return judge.equal_count


@pytest.fixture(scope="module")
def may_ask(run_untraced):
    """Whether MPI_Request_get_status leaves a persistent receive as it is: requests are damaged by it in MPICH 4.2, traced or not."""
    return int(run_untraced("identity_asked_persistent", 1).returncode == 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_trace_knows_what_each_call_completed(run_traced, may_ask, seed):
    run = run_traced("identity_requests", 2 + seed % 3, args=(seed, ROUNDS, may_ask))
    assert sum(compare_accounts(run.directory / f"log-{trace.rank}", trace) for trace in run) > 0


def test_persistent_receives_that_failed_have_ended(run_traced):
    for trace in run_traced("identity_failed_persistent", 1):
        offered = [[(child.name, child["rid"]) for child in state.children] for state in trace if state.name.startswith("Wait")]
        of_failed_call, later = [("Pending", "5"), ("For", "5")] if SETTINGS["mpi"] == "MPICH" else [("For", "5"), None]
        assert offered == [[("For", "2"), ("For", "3")], [("For", "4"), of_failed_call], list(filter(None, [later])), [("For", "6")]]
        assert not later or Call("Wait", [For(rid=5, fromRank=0, fromTag=1, size=4)]) in trace


def test_persistent_requests_go_on_beside_one_that_failed(run_traced):
    for trace in run_traced("identity_failed_among_persistent", 2):
        failed = [state for state in trace if "rc" in state]
        assert [state.name for state in failed] == ["Testany", "Waitany"]
        for state in failed:
            assert [child.name for child in state.children] == ["For", "Pending", "Pending"]
        started = [child["rid"] for state in trace for child in state.children if child.name == "Start"]
        completed = [child["rid"] for state in trace if state.name == "Waitall" for child in state.children]
        assert completed == started
