"""What holds for every trace, whatever the program."""
import re
from collections import defaultdict

import hdtrace

# Calls whose rid is not a new one.
_NAMES_A_REQUEST = {"Request_free", "Request_get_status", "Cancel", "Grequest_complete", "Pready", "Pready_range", "Pready_list", "Parrived"}
_IDS = {"tid": "Type", "recvtid": "Type", "etid": "Type", "filetid": "Type", "oldTid": "Type", "targetTid": "Type", "valueTid": "Type", "indexTid": "Type",
        "cid": "Comm", "newcid": "Comm", "fid": "File", "wid": "Win"}
_INFO_VALUE = r"""(?:-?\d+(?:\.\d+)?|'(?:[^'\\\x00-\x1f]|\\.)*'|"(?:[^"\\\x00-\x1f]|\\.)*")"""
_INFO_LINE = re.compile(rf"[A-Z]\w*(?: \w+={_INFO_VALUE})*")
_INFO_KEY = re.compile(rf"(\w+)=({_INFO_VALUE})")


def info_of(trace):
    """The .info of the process that wrote a trace."""
    return trace.with_name(re.sub(r"_\d+\.trc(\.compact)?$", "_0.info", trace.name))


def check_files(traces):
    """Every trace is valid, every .info is made of well-formed lines."""
    assert traces, "no trace"
    for path in traces:
        hdtrace.validate(path)
    for path in {info_of(trace) for trace in traces}:
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), f"{path} was cut off"
        for number, line in enumerate(text.splitlines(), 1):
            assert _INFO_LINE.fullmatch(line), f"{path}:{number}: not well-formed: {line}"


def read_info(path):
    """The lines of an .info file as (kind, {key: value}); escapes are left as they are."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line.split(" ", 1)[0], {key: value.strip("'\"") for key, value in _INFO_KEY.findall(line)}


def check_traces(run, complete):
    """The traces of all threads of a run agree with themselves, each other and the .info files.

    complete: whether the program ended well, so that the .info says how many states there are.
    """
    infos = {}
    for path in filter(lambda path: path.stat().st_size > 0, run.trace_directory.glob("*.info")):
        lines = list(read_info(path))
        infos[int(dict(lines)["Process"]["rank"])] = lines
    for (rank, thread), trace in run.threads.items():
        _check_times(trace)
        _check_ids(trace, infos[rank])
        if complete:
            _check_end_line(trace, thread, infos[rank])
    if complete:
        _check_counts(run, infos)
    _check_requests(run)


def _check_times(trace):
    last_end = 0
    for state in trace.states:
        assert state.time <= state.end, f"{trace.title}:{state.line}: ends before it starts"
        assert state.is_event or last_end <= state.time, f"{trace.title}:{state.line}: starts inside the call before"
        last_end = state.end
        for inner in state.nested:
            assert state.time <= inner.time and inner.end <= state.end, f"{trace.title}:{state.line}: not nested in time"


def _check_ids(trace, info):
    known = defaultdict(set)
    for kind, values in info:
        known[kind].add(values.get("id"))
    for state in trace.everything():
        for element in [state, *state.children]:
            for key, value in element.attributes.items():
                kind = _IDS.get(key)
                assert kind is None or value == "-1" or value in known[kind], \
                    f"{trace.title}:{state.line}: {state.name} has {key}='{value}', which no {kind} line of the .info has"


def _check_end_line(trace, thread, info):
    ends = [values for kind, values in info if kind == "End" and values["thread"] == str(thread)]
    count = sum(not state.is_event for state in trace.everything())
    assert [(int(end["states"]), end["dropped"]) for end in ends] == [(count, "0")], f"{trace.title}: {count} states, but {ends}"


def _check_counts(run, infos):
    """Of each function as many calls are counted as there are states."""
    for rank, info in infos.items():
        counts, states = defaultdict(int), defaultdict(int)
        for kind, values in info:
            if kind == "Calls" and values["recorded"] != "0":
                counts[_state_of(values["name"])] += int(values["recorded"])
        for trace in (trace for (of_rank, _), trace in run.threads.items() if of_rank == rank):
            for state in trace.everything():
                if not state.is_event:
                    states[state.name] += 1
        assert counts == states, f"rank {rank}"


def _state_of(function):
    """Large-count forms have those of the usual ones, but for two with other arguments; what ends a split access has Wait."""
    if function not in ("Type_get_envelope_c", "Type_get_contents_c"):
        function = function.removesuffix("_c")
    return "Wait" if re.fullmatch(r"File_(read|write)_\w+_end", function) else function


def _check_requests(run):
    """Within a process each rid is given to one operation only, and completed at most once, after its start.

    A call whose request was made by a call inside it is one operation with that.
    """
    for rank in range(run.ranks):
        started, objects, completed = set(), set(), set()
        states = [state for (r, _), trace in run.threads.items() if r == rank for state in trace.everything()]
        inner = {id(within) for state in states for within in state.nested if within.get("rid") == state.get("rid")}
        for state in sorted(states, key=lambda state: state.time):
            place = f"rank {rank}: {state.name} in line {state.line}"
            for rid in () if id(state) in inner else _new_requests(state):
                assert rid not in started and rid not in objects, f"{place}: rid {rid} was given before"
                (objects if state.name.endswith("_init") else started).add(rid)
        for state in sorted(states, key=lambda state: state.end):
            place = f"rank {rank}: {state.name} in line {state.line}"
            for child in state.children:
                if child.get("rid") == "-1":
                    continue  # started by a function that is not traced
                if child.name == "For":
                    assert child["rid"] in started or run.leaves_out, f"{place}: rid {child['rid']} was not started"
                    assert child["rid"] not in completed, f"{place}: rid {child['rid']} was completed before"
                    completed.add(child["rid"])
                if child.name == "Pending":
                    assert child["rid"] in started and child["rid"] not in completed, f"{place}: rid {child['rid']} cannot be pending"


def _new_requests(state):
    # A call that failed has started nothing.
    if state.get("rid", "-1") != "-1" and state.name not in _NAMES_A_REQUEST:
        yield state["rid"]
    for child in state.children:
        if child.name == "Start":
            yield child["rid"]
