"""Pairs what was sent with what was received, over all processes."""
from collections import Counter

_SENDS = {"Send", "Ssend", "Rsend", "Bsend", "Isend", "Issend", "Irsend", "Ibsend", "Sendrecv", "Sendrecv_replace"}
_BLOCKING_RECEIVES = {"Recv", "Mrecv", "Sendrecv", "Sendrecv_replace"}


def sent_messages(run):
    """(source, destination, tag, communicator) -> how many."""
    messages = Counter()
    for trace in run:
        for state in trace.everything():
            if state.name in _SENDS and state["toRank"] != "-2":
                messages[trace.rank, int(state["toRank"]), int(state["toTag"]), _uid(run, trace, state)] += 1
    return messages


def received_messages(run):
    """(source, destination, tag, communicator) -> how many."""
    messages = Counter()
    for trace in run:
        posted = {state["rid"]: state for state in trace.everything() if state.name in ("Irecv", "Imrecv")}
        for state in trace.everything():
            if state.name in _BLOCKING_RECEIVES:
                _add(messages, run, trace, state, state)
            for child in state.children:
                if child.name == "For" and child["rid"] in posted and "cancelled" not in child:
                    _add(messages, run, trace, child, posted[child["rid"]])
    return messages


def _add(messages, run, trace, arrived, posted):
    if arrived["fromRank"] != "-2":
        messages[int(arrived["fromRank"]), trace.rank, int(arrived["fromTag"]), _uid(run, trace, posted)] += 1


def _uid(run, trace, state):
    return run.project.communicator(trace.rank, state["cid"]).uid
