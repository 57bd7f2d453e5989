import copy
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import hdtrace
import pytest

from projects import PROJECT

SCHEMAS = Path(__file__).resolve().parents[2] / "hdtrace/schemas"
STATE = "<A time='0.000000000' end='1.000000000' />\n"


def test_valid_files(write, write_trace):
    hdtrace.validate(write("app.proj", PROJECT))
    hdtrace.validate(write_trace(STATE * 3))


def test_every_problem_has_its_line(write_trace):
    path = write_trace(STATE + "<B time='1' end='2' />\n" + STATE + "<C />\n")
    with pytest.raises(hdtrace.ReadError) as error:
        hdtrace.validate(path)
    assert error.value.file == str(path)
    assert [line.split(": ")[0] for line in str(error.value).splitlines()] == [f"{path}:4", f"{path}:6"]


def test_problems_are_objects(write, write_trace):
    def problems(path):
        with pytest.raises(hdtrace.ReadError) as error:
            hdtrace.validate(path)
        assert "\n".join(map(str, error.value.problems)) == str(error.value)
        return [(one.kind, one.file, one.line, one.text) for one in error.value.problems]

    path = write_trace("<B time='1' end='2' />\n")
    assert problems(path) == [("schema", str(path), 3, "Element B failed to validate attributes")]
    path = write("a.trc", "<Program timeAdjustment='1' version='1'>\n")
    assert problems(path) == [("cut-off", str(path), 2, "the trace is cut off: </Program> is missing")]
    path = write("a.txt", "")
    assert problems(path) == [("no-schema", str(path), 0, "there is a schema for .trc and .proj only")]
    path = write("a.proj", "<Application>\n<")
    kind, _, line, _ = problems(path)[-1]
    assert (kind, line) == ("syntax", 2)
    for name, text in (("a.trc", "<Program timeAdjustment='1s'>\n</Program>\n"), ("a.proj", "<Application name='a'/>\n")):
        path = write(name, text)  # as the original tools wrote them
        assert problems(path) == [("no-schema", str(path), 1, "there is no schema for files without a version, such as those of the original tools")]
    assert hdtrace.ReadError("of anything else").problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "<A time='0.00000' end='1.000000000' />",
        "<A time='0.000000000' />",
        "<A end='0.000000000' />",
        "<Event time='0.000000000' />",
        "<A time='0.000000000' end='1.000000000' ><For time='0.000000000' /></A>",
        "<A time='0.000000000' end='1.000000000' ><Nested /></A>",
    ],
)
def test_wrong_states(write_trace, line):
    with pytest.raises(hdtrace.ReadError, match=":4: "):
        hdtrace.validate(write_trace(STATE + line + "\n"))


def test_cut_off_traces(write):
    with pytest.raises(hdtrace.ReadError, match="the trace is cut off: </Program> is missing"):
        hdtrace.validate(write("a.trc", "<Program timeAdjustment='1' version='1'>\n" + STATE))


def test_other_files(write, tmp_path):
    with pytest.raises(hdtrace.ReadError, match="for .trc and .proj only"):
        hdtrace.validate(write("a.txt", ""))
    with pytest.raises(FileNotFoundError):
        hdtrace.validate(tmp_path / "none.trc")


def changes(document):
    """Documents that differ from a document in one place."""

    def changed(index, change):
        root = copy.deepcopy(document)
        element = list(root.iter())[index]
        parent = next((parent for parent in root.iter() if element in list(parent)), None)
        change(element, parent)
        return ElementTree.tostring(root)

    for index, element in enumerate(document.iter()):
        for name in element.attrib:
            yield changed(index, lambda e, p: e.attrib.pop(name))
            yield changed(index, lambda e, p: e.set(name, "x y"))
        yield changed(index, lambda e, p: e.set("new", "1"))
        yield changed(index, lambda e, p: setattr(e, "tag", "New"))
        yield changed(index, lambda e, p: setattr(e, "text", "text"))
        yield changed(index, lambda e, p: e.append(ElementTree.Element("New")))
        yield changed(index, lambda e, p: e.append(ElementTree.Element("Rank")))
        if element is not document:
            yield changed(index, lambda e, p: p.remove(e))
            yield changed(index, lambda e, p: p.insert(0, copy.deepcopy(e)))


def is_valid(path):
    try:
        hdtrace.validate(path)
    except hdtrace.ReadError:
        return False
    return True


@pytest.mark.parametrize(
    "good, bad",
    [
        ('<Window name="box"', "<Window"),
        (' wid="2"', ""),
        (' size="800" dispUnit="8"', ' size="800"'),
        ('size="800"', 'size="-800"'),
        ('dispUnit="8"', 'dispUnit="8 bytes"'),
        ('<Window name="">', '<Window name="" cid="0">'),
        ("  <WindowList>", "  <WindowList/><WindowList>"),
        ('<VECTOR id="3" name="" count="3"', '<VECTOR id="3" name=""'),
        ('<INDEXED id="5" name="" size="4" lb="0" extent="4"/>', '<INDEXED id="5" name=""><BLOCK len="1" index="2"/></INDEXED>'),
        ('<DARRAY id="1" name=""', '<DARRAY id="1" name="" rank="1"'),
        ('<RESIZED id="7" name=""', '<RESIZED id="7" name="" extend="4"'),
        ('<Integer value="7"/>', '<Integer value="seven"/>'),
        ('<Type id="0"/>', '<Type id="0" displacement="4"/>'),
        ('<UNKNOWN id="11" name=""', '<UNKNOWN id="11" name="" count="2"'),
        ("<UNKNOWN", "<Unknown"),
    ],
)
def test_wrong_projects(write, good, bad):
    assert PROJECT.count(good) >= 1
    line = 1 + PROJECT[: PROJECT.index(good)].count("\n")
    with pytest.raises(hdtrace.ReadError, match=f"app.proj:{line}: "):
        hdtrace.validate(write("app.proj", PROJECT.replace(good, bad, 1)))


TRACE = """<Program timeAdjustment='1' version='1' rank='0' thread='0' note='x'>
<A cid='0' time='0.000000000' end='1.000000000' />
<Nested><Nested><C time='0.000000000' end='1.000000000' /></Nested><B time='0.000000000' end='1.000000000' /></Nested>\
<A time='0.000000000' end='1.000000000' ><For rid='0' /><Send rank='1' /></A>
<Event name='e' time='0.000000000' />
</Program>
"""


def long_lists(document):
    """The document with each of its lists made long, and changes of it: at each of some places an entry is changed, moved to the
    end, or something else stands before it."""
    root = copy.deepcopy(document)
    for parent in list(root.iter()):
        for child in list(parent):
            if len(parent) < 25 and child.tag in ("Rank", "BLOCK", "Block", "Type", "Integer", "Address", "For", "Send", "C"):
                position = list(parent).index(child)
                for _ in range(25):
                    parent.insert(position, copy.deepcopy(child))
    yield ElementTree.tostring(root)

    for number, parent in enumerate(root.iter()):
        if len(parent) > 25:
            for place in (0, 19, 20):
                for change in (
                    lambda list_, entry: entry.set("new", "1") or entry.set("time", "1"),
                    lambda list_, entry: list_.remove(entry) or list_.append(entry),
                    lambda list_, entry: list_.insert(place, ElementTree.Element("Nested")),
                ):
                    changed = copy.deepcopy(root)
                    list_ = list(changed.iter())[number]
                    change(list_, list_[place])
                    yield ElementTree.tostring(changed)


@pytest.mark.skipif(not shutil.which("jing"), reason="needs jing")
@pytest.mark.parametrize("kind, document", [("proj", PROJECT), ("trc", TRACE)], ids=["proj", "trc"])
@pytest.mark.parametrize("make", [changes, long_lists])
def test_an_independent_validator_agrees(tmp_path, kind, document, make):
    paths = []
    for number, text in enumerate(make(ElementTree.fromstring(document))):
        paths.append(tmp_path / f"{number}.{kind}")
        paths[-1].write_bytes(text)
    result = subprocess.run(["jing", SCHEMAS / f"hdtrace-{kind}.rng", *paths], capture_output=True, text=True)
    named = re.findall(rf"^({re.escape(str(tmp_path))}/\d+\.{kind}):", result.stdout, re.MULTILINE)
    invalid = {Path(name) for name in named}
    assert invalid and {path for path in paths if not is_valid(path)} == invalid
