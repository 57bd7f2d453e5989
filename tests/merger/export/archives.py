"""Reads archives of OTF2 with its own library."""
import re
import subprocess
from collections import Counter

import pytest

otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")


def events(path, *kinds):
    """[(location, event), ...] in the order of time."""
    with otf2.reader.open(str(path)) as trace:
        return [(location, event) for location, event in trace.events if not kinds or type(event).__name__ in kinds]


def place(location):
    """(rank, thread)"""
    return int(location.group.name.removeprefix("Rank ")), int(location.name.removeprefix("Thread "))


def print_silently(path):
    """otf2-print must have nothing to complain about."""
    result = subprocess.run(["otf2-print", "--silent", "-Werror", path], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def messages(path):
    """Two Counters: (from, to, communicator, tag, bytes) -> how many were sent, and received."""
    sent, received = Counter(), Counter()
    for location, event in events(path, "MpiSend", "MpiIsend", "MpiRecv", "MpiIrecv"):
        me = place(location)[0]
        members = [place(member)[0] for member in event.communicator.group.members]
        rest = event.communicator.name, event.msg_tag, event.msg_length
        if hasattr(event, "receiver"):
            sent[me, members[event.receiver], *rest] += 1
        else:
            received[members[event.sender], me, *rest] += 1
    return sent, received


def markers(path):
    """[(group, category, time, location, text), ...] sorted, as otf2-marker tells them: python3-otf2 does not know markers."""
    text = subprocess.run(["otf2-marker", path], capture_output=True, text=True, check=True).stdout
    found = []
    for part in re.split("^(?=MARKER)", text, flags=re.MULTILINE)[1:]:
        if defined := re.fullmatch(r'MARKER_DEF +Group: "(.*)", Category: "(.*)", Severity: NONE\n', part):
            group_and_category = defined.groups()
        else:
            time, location, said = re.fullmatch(r'MARKER +Time: (\d+), Duration 0, Scope: LOCATION:(\d+), Text: "(.*)"\n', part, re.DOTALL).groups()
            found.append((*group_and_category, int(time), int(location), said))
    return sorted(found)
