"""Inputs that nobody writes by mistake are refused with file and line, in little memory."""

import os
import socket

import pytest

from conftest import MERGER, memory_limit
from support.sanitizers import with_own_memory

WORLD = "Comm map='0->0;' id=0 name='WORLD' uid='W'\n"
LITTLE_MEMORY = ("prlimit", memory_limit(1 << 30), MERGER)
GIGABYTES = 10 << 30


VERY_LITTLE_MEMORY = ("prlimit", memory_limit(200 << 20), MERGER)


def refusal(run, lines, command=LITTLE_MEMORY):
    """The only message about a process with these lines."""
    run.info(0, lines, size=1)
    message = run.fail("app", "--no-audit", command=command)
    assert message.count("\n") == 1
    return message


@pytest.mark.parametrize(
    "line, message",
    [
        ("Comm map='0..2147483647->0..;' id=1", "'0..2147483647->0..' in the map is beyond 16777216 processes"),
        ("Comm map='0..2147483647->0..2147483647;' id=1", "is beyond 16777216 processes"),
        ("Comm map='0..16777215->0..16777214;' id=1", "has ranges of different lengths"),
        ("Comm map='0..99999999999999999999->0..1;' id=1", "is not world->local"),
        ("Type id='1' combiner='MPI_COMBINER_STRUCT' integers='2147483647;'", "STRUCT needs a count"),
        ("Type id='9223372036854775807' combiner='MPI_COMBINER_NAMED' name='x'", "the id is too large"),
        ("Comm map='0->0;' id=9223372036854775807", "the id is too large"),
        ("Comm map='0->0;' id=9223372036854775808", "id is not a number"),
    ],
)
def test_absurd_numbers(run, line, message):
    text = refusal(run, line + "\n")
    assert text.startswith("app_node01_0_0.info:2") and message in text


def test_ids_that_are_large_but_fit(run):
    run.info(0, "Type id='2147483648' combiner='MPI_COMBINER_F90_REAL' integers='6;30;' size=4\n" + WORLD.replace("id=0", "id=2147483648"), size=1)
    result = run.merge("app", "--no-audit", "--quiet", command=LITTLE_MEMORY)
    assert [datatype.get("id") for datatype in result.datatypes(0)] == ["2147483648"]


def test_endless_line(run):
    run.info(0, size=1)
    os.truncate(run.folder / "app_node01_0_0.info", GIGABYTES)
    result = run.merge("app", command=LITTLE_MEMORY)
    assert result.stderr == "app_node01_0_0.info:2: error: the line is longer than 67108864 bytes\n"


def test_endless_line_of_a_trace(run):
    run.info(0, size=1)
    trace = run.folder / run.trace(0, "<A a='", end="")
    os.truncate(trace, GIGABYTES)
    result = run.merge("app", command=LITTLE_MEMORY)
    assert (result.code, result.warnings) == (
        0, ["app_node01_0_0.trc:3: warning: the trace is broken: the line is longer than 268435456 bytes"]
    )
    assert trace.stat().st_size == GIGABYTES


@with_own_memory
def test_line_of_many_values(run):
    text = refusal(run, "Type id='1' combiner='MPI_COMBINER_INDEXED' integers='" + "1;" * 4_000_000 + "'\n", VERY_LITTLE_MEMORY)
    assert text == "app_node01_0_0.info:2: error: there is not enough memory for what this line describes\n"


@with_own_memory
def test_state_with_many_children(run):
    run.info(0, size=1)
    run.trace(0, "<Barrier time='1' end='2' />\n<A time='1' end='2' >" + "<F/>" * 3_000_000 + "</A>\n")
    result = run.merge("app", command=VERY_LITTLE_MEMORY)
    assert result.code == 0
    assert result.stderr.startswith("app_node01_0_0.trc:4: warning: the trace is broken: ")
    assert "memory" in result.stderr


def test_many_entities(run):
    run.info(0, size=1)
    entities = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 30))
    trace = run.folder / "app_node01_0_0.trc"
    trace.write_text(f"<!DOCTYPE Program [<!ENTITY e0 'ha'>{entities}]>\n<Program timeAdjustment='1'>\n<A b='&e29;' time='1' end='2' />\n</Program>\n")
    result = run.merge("app", command=LITTLE_MEMORY)
    assert result.code == 0
    assert ": warning: the trace is broken: " in result.stderr


@pytest.mark.parametrize("lines", [
    "",
    "Comm map='0..16777215->0..16777215;' id=0 name='WORLD' uid='W'\n",
    "".join(f"Comm map='0..9999->0..9999;' id={i} uid='{i}'\n" for i in range(200))])
def test_few_lines_that_tell_of_many_processes(run, lines):
    run.process(0, lines, size=16777216)
    message = run.fail("app", "--no-audit", "--quiet", command=VERY_LITTLE_MEMORY)
    assert " members that no file describes; --large writes them nevertheless" in message


def test_a_large_project_is_written_if_that_is_wanted(run):
    run.process(0, WORLD + "".join(f"Comm map='0..9999->0..9999;' id={i} uid='{i}'\n" for i in range(1, 120)), size=10000)
    result = run.merge("app", "--no-audit", "--quiet", "--large", command=LITTLE_MEMORY)
    assert len(result.project.findall("CommunicatorList/Communicator[2]/Rank")) == 10000


def test_a_link_to_nothing_is_not_replaced(run):
    run.info(0, WORLD, size=1)
    (run.folder / "app.proj").symlink_to("nothing")
    assert "not a regular file" in run.fail("app", "--no-audit")
    assert (run.folder / "app.proj").is_symlink()


def test_names_inside_the_files_lead_nowhere(run):
    """Only what lies in the folder of the inputs is read, and nothing but the output is written."""
    (run.folder / "traces").mkdir()
    inside, outside = run.folder / "traces", run.folder
    (inside / "app_node01_0_0.info").write_text(
        "Process base='../../evil' host='../evil' rank=0 size=1 thread=0 version=1\nThread number=1\n"
        'File name="../../evil" Size=0 id=0\n'
    )
    (inside / "app_node01_0_0.trc").write_text("<Program timeAdjustment='1'>\n<A time='1' end='2' />\n")
    result = run.merge("traces", output="traces/app.proj")
    assert result.project.get("name") == "../../evil"
    assert [path.name for path in outside.iterdir()] == ["traces"]
    names = {"app_node01_0_0.info", "app_node01_0_0.trc", "app_node01_0_0.trc.orig", "app.proj"}
    assert {path.name for path in inside.iterdir()} == names


SPECIAL = {"fifo": os.mkfifo, "socket": lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "dangling": lambda path: path.symlink_to("nowhere"),
           "device": lambda path: path.symlink_to("/dev/zero")}


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize("name", ["app_node01_0_1.info", "app_node01_0_1.trc"])
@pytest.mark.parametrize("argument", [".", "app"])
def test_only_regular_files_are_read(run, monkeypatch, make, name, argument):
    monkeypatch.chdir(run.folder)  # names of sockets are short
    run.process(0, "Thread number=1\n" if name.endswith(".trc") else "", size=1)
    make(run.folder / name)
    result = run.merge(argument, timeout=60)
    assert result.code == 0
    place = ("./" if argument == "." else "") + name
    expected = f"{place}: warning: this is not a regular file"
    assert expected in result.warnings and set(result.warnings) <= {expected, f"{place}: warning: this trace is missing"}


@pytest.mark.parametrize("name", ["app_node01_0_0.info", "app_node01_0_0.trc"])
def test_a_fifo_is_no_input(run, name):
    os.mkfifo(run.folder / name)
    assert run.fail(name, timeout=60) == f"{name}: error: this is not a regular file\n"
