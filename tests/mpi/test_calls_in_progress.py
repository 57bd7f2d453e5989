"""What the trace tells of calls before they end: a library under the tracer looks at it inside each call, and it is compared with the line
that the call has when it has ended."""
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

import pytest
from support.look_inside import library
from support.runs import SETTINGS, SOURCE, WRAPPER, preload

sys.path.insert(0, str(SOURCE / "mpiwrapper"))
from generate import tables  # noqa: E402

# They end early, are several programs, or do nothing that others do not.
NOT_COMPARED = {"abort", "exit_early", "raise", "spawn", "connect", "many_calls", "init_null", "nested_deep"}
PROGRAMS = [name for name in SETTINGS["names"] if name not in NOT_COMPARED] + SETTINGS["languages"]

ASKED = {"fromRank", "fromTag"}  # what was asked for, until it is known what came

# Handles that nobody knew are looked up when the call has ended: MPI_File_get_view may answer with copies, which io_views asks about.
UNKNOWN = {("io_views", "Type_get_envelope"): {"tid"}}


def states_in(line):
    """All states of a line, the inner ones first."""
    if not line.startswith("<") or line.startswith(("<?xml", "<Program", "</Program")):
        return []
    return [state for state in ElementTree.fromstring(f"<Line>{line}</Line>").iter() if "time" in state.attrib]


def element_of(function):
    """The name of a function's states; the end of a split access is a Wait."""
    return "Wait" if re.fullmatch(r"MPI_File_\w+_end", function) else function.removeprefix("MPI_")


def seen_and_ended(run):
    """(a state as it was seen, the same when it had ended) for all that were seen while they were in their function: the tracer calls
    MPI, too, when a function has returned and its state has not ended."""
    pairs = []
    for path in run.trace_directory.glob("*.trc.seen"):
        ended = {(state.tag, state.get("time")): state for line in path.with_suffix("").read_text().splitlines() for state in states_in(line)}
        function = ""
        for line in path.read_text().splitlines():
            if line.startswith("MPI_"):
                function = line
            for state in states_in(line):
                key = state.tag, state.get("time")
                if state.get("unfinished") == "1" and state.tag == element_of(function) and key in ended:
                    pairs.append((state, ended[key]))
    return pairs


@pytest.fixture(scope="module")
def look_inside(tmp_path_factory):
    return preload(WRAPPER, library(tmp_path_factory.mktemp("look-inside")))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_told_of_a_call_is_what_it_has_in_the_end(run_traced, look_inside, name):
    run = run_traced(name, 2, env={**look_inside, "HDTRACE_ALL_FUNCTIONS": "2"})
    pairs = seen_and_ended(run)
    assert pairs
    # A thread that looks may see another one when its call has returned and its line is being finished: nothing is pending then.
    has_threads = len(list(run.trace_directory.glob("*.trc"))) > 2
    for seen, ended in pairs:
        for attribute in seen.attrib.keys() - {"end", "unfinished"} - ASKED:
            assert seen.get(attribute) == ended.get(attribute), f"{attribute} of {ElementTree.tostring(ended)}"
        for attribute in ASKED & seen.attrib.keys():
            posted = ended.get(attribute.replace("from", "posted"), ended.get(attribute))
            assert seen.get(attribute) == posted, f"{attribute} of {ElementTree.tostring(ended)}"
        pending = [child.get("rid") for child in seen.iter("Pending")]
        if pending or not has_threads:
            assert sorted(pending) == sorted(child.get("rid") for child in ended if child.tag in ("For", "Pending")), ElementTree.tostring(ended)


def inputs_of(function):
    """The attributes of a function's states that its input parameters alone make."""
    by_name = {parameter.name: parameter for parameter in function.parameters}

    def is_input(value):
        if isinstance(value, tables.Product):
            return True
        parameter = by_name.get(getattr(value, "parameter", None))
        return (parameter is not None and parameter.direction == "in"
                and (parameter.kind.name != "GROUP" or function.meaning.progress == "blocking")  # others wait for nobody
                and (not parameter.is_array or parameter.length in by_name))

    return {attribute.name for attribute in function.logged.attributes if all(map(is_input, attribute.values))}


def test_all_that_a_call_is_given_is_told(run_traced, look_inside):
    expected = {function.logged.element: inputs_of(function) for function in tables.load(SOURCE / "mpiwrapper/api").functions}
    looked_at = set()
    missing = defaultdict(set)
    for name in PROGRAMS:
        for seen, ended in seen_and_ended(run_traced(name, 2, env={**look_inside, "HDTRACE_ALL_FUNCTIONS": "2"})):
            looked_at.add(ended.tag)
            told = seen.attrib.keys() | UNKNOWN.get((name, ended.tag), set())
            missing[ended.tag] |= expected.get(ended.tag, set()) & ended.attrib.keys() - told
    assert {call: names for call, names in missing.items() if names} == {}
    assert len(looked_at) > 200
