"""The examples of docs/python.md print what stands behind them."""
import os
import re
import subprocess
import sys
from pathlib import Path

import hdtrace
import pytest

from projects_of_lines import write_project

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n+```\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
COMMAND_LINES = re.findall(r"^hdtrace (\w+) (.*?) *(?:#.*)?$", PAGE.read_text(), re.MULTILINE)


def call(name, begin, end, attributes, children=""):
    return f"<{name} {attributes} time='{begin:.9f}' end='{end:.9f}' >{children}</{name}>\n"


def collectives(barrier, reduction):
    return (call("Barrier", barrier, 4.0, "cid='0'")
            + call("Allreduce", reduction, 7.0, "size='8' cid='0' count='1' tid='0' op='MPI_SUM'"))


def write(rank):
    return call("File_write_at", 4.5, 4.75, f"fid='0' offset='{rank * 300}' size='{(rank + 1) * 100}'")


def hidden(rank):
    return call("Ibarrier", 2.8, 2.81, f"cid='0' rid='{rank}'") + call("Wait", 2.95, 2.99, "", f"<For rid='{rank}' />")


TO = "size='1000' count='250' tid='0' toRank='{}' toTag='7' cid='0'"
RECEIVE = "fromRank='0' fromTag='7' size='1000' cid='0' count='250' tid='0'"
RUN = [
    call("Send", 1.5, 2.0, TO.format(1)) + call("Send", 2.0, 2.25, TO.format(2)) + write(0) + hidden(0) + collectives(3.0, 5.0),
    call("Recv", 1.0, 2.0, RECEIVE) + write(1) + hidden(1) + collectives(3.5, 5.0),
    call("Recv", 2.5, 2.75, RECEIVE) + write(2) + hidden(2) + collectives(3.0, 6.5),
]


@pytest.fixture
def project(tmp_path):
    return write_project(tmp_path, *RUN)


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


def test_all_examples_are_found():
    assert len(EXAMPLES) == PAGE.read_text().count("```python")


@pytest.mark.parametrize("program, output", EXAMPLES)
def test_example(project, program, output):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HDTRACE_")}
    result = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=project.parent, env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert lines(result.stdout) == lines(output)


def test_columns_are_as_described(project):
    opened = hdtrace.open(project)
    page = PAGE.read_text()
    for kind, stream in (("calls", opened), ("requests", opened.requests()), ("collectives", opened.collectives())):
        described = re.search(rf"^\| {kind} \| `([^`]*)`", page, re.MULTILINE)[1].split()
        assert described == list(stream.to_columns())
    common, ends = re.search(r"^\| messages \| `([^`]*)`.*?: `([^`]*)`", page, re.MULTILINE).groups()
    assert list(opened.messages().to_columns()) == [
        *common.split(), *(f"{side}_{end}" for side in ("send", "receive") for end in ends.split())]


@pytest.mark.parametrize("command, arguments", [line for line in COMMAND_LINES if line[0] in ("info", "stats", "dump", "check", "repair")])
def test_command_line(project, command, arguments):
    from test_command import run_well

    run_well(command, *(str(project.parent) if word == "run" else word for word in arguments.split()))
