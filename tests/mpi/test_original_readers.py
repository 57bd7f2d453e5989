"""What traces and projects must be for the original tools: the rules of their readers, which need Java and are not here.

Trace: HDTraceFormat's StAXTraceFileReader. Project: its ProjectDescriptionXMLReader, and the loader of PIOsimHD.
"""
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from support.runs import MERGER, SETTINGS

TIME = re.compile(r"-?\d+(\.\d{1,9})?")
INTEGER = re.compile(r"-?\d{1,9}")
LOADABLE_NAMES = {"MPI_" + name for name in (
    "BYTE", "CHAR", "UNSIGNED_CHAR", "INT", "INTEGER", "LONG", "LONG_LONG", "FLOAT", "DOUBLE", "DOUBLE_PRECISION", "PACKED", "LB", "UB")}
LOADABLE = {"NAMED", "CONTIGUOUS", "VECTOR", "STRUCT", "SUBARRAY", "HINDEXED", "HVECTOR", "INDEXED_BLOCK"}
KNOWN = {"Description", "FileList", "Topology", "CommunicatorList", "Datatypes"}


def is_blank(text):
    return not (text or "").strip()


def check_entry(entry):
    assert TIME.fullmatch(entry.get("time", "")), entry.attrib
    if entry.tag == "Event":
        assert len(entry.get("name", "")) >= 2 and "end" not in entry.attrib, entry.attrib
    else:
        assert TIME.fullmatch(entry.get("end", "")), (entry.tag, entry.attrib)


def check_entries(parent):
    """Those of a trace, or of a block of nested ones. Returns how many events there are."""
    events = 0
    children = list(parent)
    for i, entry in enumerate(children):
        assert is_blank(entry.tail)
        if entry.tag == "Nested":  # belongs to the element behind it
            assert i + 1 < len(children) and children[i + 1].tag not in ("Nested", "Event")
            events += check_entries(entry)
        else:
            check_entry(entry)
            events += entry.tag == "Event"
    return events


def check_project(path, ranks):
    root = ElementTree.parse(path).getroot()
    # What they do not know they do not look for. Windows are no part of the original form.
    assert {child.tag for child in root} <= KNOWN | {"WindowList"}
    assert [len(root.findall(name)) for name in ("Topology", "FileList")] == [1, 1]
    for name in ("Application", "Node", "Communicator", "File"):
        assert all(list(element.attrib)[0] == "name" for element in root.iter(name))
    for node in root.iter("Node"):
        names = [child.get("name") for child in node]
        assert len(names) == len(set(names))
    assert [level.get("type") for level in root.iter("Level")] == ["Hostname", "Rank", "Thread"]
    for file in root.iter("File"):
        assert file.find("InitialSize") is not None and file.find("Distribution/ChunkSize") is not None and file.find("Distribution").get("implementation")
    (world,) = [one for one in root.iter("Communicator") if one.get("name") == "WORLD"]
    assert len(world) == ranks
    for member in root.findall("CommunicatorList/Communicator/Rank"):
        assert all(INTEGER.fullmatch(member.get(key, "")) for key in ("global", "local", "cid")), member.attrib
    of_ranks = root.findall("Datatypes/Rank")
    assert len({rank.get("name") for rank in of_ranks}) == len(of_ranks)
    for rank in of_ranks:
        known = set()
        for datatype in rank:
            assert datatype.tag in LOADABLE and (datatype.tag != "NAMED" or datatype.get("name") in LOADABLE_NAMES)
            users = [datatype.get("oldType"), *(part.get("id") for part in datatype.findall("Type"))]
            assert {base for base in users if base is not None} <= known
            known.add(datatype.get("id"))


@pytest.mark.parametrize("name", ["vt", "regions", "nested", "io_files", "datatypes", "collectives", "windows", "communicators", SETTINGS["languages"][-1]])
def test_the_original_tools_can_load_what_a_program_leaves(run_traced, tmp_path, name):
    ranks = 2
    options = {"complete": False} if name == "vt" else {}  # it misuses the interface on purpose, which is told on standard error
    run = run_traced(name, ranks, {"HDTRACE_NESTED": "1", "HDTRACE_CALL_SITES": "4"}, **options)
    events = 0
    for path in run.paths:
        root = ElementTree.parse(path).getroot()
        assert root.tag == "Program" and INTEGER.fullmatch(root.get("timeAdjustment")[:9]) and is_blank(root.text)
        events += check_entries(root)
    assert name not in ("vt", "regions") or events > 10
    project = tmp_path / "original.proj"
    subprocess.run([MERGER, "--compat=piosimhd", "--quiet", "-o", project, *sorted(run.trace_directory.glob("*.info"))], check=True)
    check_project(project, ranks)
