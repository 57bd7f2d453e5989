"""Lines of Python programs in each interpreter that there is here, and what only looks like one."""
import re
import shutil
import subprocess
from functools import cache

import pytest
from support.runs import SETTINGS, SOURCE, run_with_tracer

SOURCES = SOURCE / "tests/mpi/programs/python_calls.c"
FIRST_KNOWN, LAST_KNOWN = (3, 11), (3, 14)
PROGRAM = """\
import ctypes
import sys
import threading
mpi = ctypes.CDLL(sys.argv[1])
mpi.start()
def called():
    mpi.barrier()
called()
def each(n):
    for i in range(n):
        yield mpi.barrier()
list(each(1))
sorted([1, 2], key=lambda n:
       mpi.barrier() or n)
class Context:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        mpi.barrier()
with Context():
    pass
thread = threading.Thread(target=called)
thread.start()
thread.join()
mpi.stop()
"""
LINES = [("<module>", 5), ("called", 7), ("each", 11), ("<lambda>", 14), ("<lambda>", 14), ("__exit__", 19), ("<module>", 25), ("called", 7)]


@cache
def facts_of(python):
    """(version, whether it is built to run without a lock, path) of a command that starts Python; none if it is no Python."""
    question = "import os, sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0, os.path.realpath(sys.executable))"
    result = subprocess.run([python, "-c", question], capture_output=True, text=True)
    if result.returncode != 0:
        return None
    major, minor, has_no_lock, path = result.stdout.strip().split(" ", 3)
    return (int(major), int(minor)), has_no_lock == "1", path


def pythons():
    names = ["python3", *(f"python3.{minor}" for minor in range(6, 30)), "python3.13t", "python3.14t"]
    commands = ["/usr/bin/python3", *filter(None, map(shutil.which, names))]
    return sorted({facts[2] for facts in map(facts_of, commands) if facts})


@pytest.fixture
def calls(tmp_path):
    return compiled(tmp_path / "mpi4py" / "libcalls.so", "-shared", "-fPIC")


def compiled(path, *options):
    path.parent.mkdir(exist_ok=True)
    subprocess.run([SETTINGS["compiler"], "-g", "-o", path, SOURCES, *options], check=True)
    return path


def sources_of(run):
    """The (function, line) of each call; none where it is not known."""
    (info,) = run.trace_directory.glob("*.info")
    text = info.read_text()
    places = {number: (name, int(line)) for number, name, line in
              re.findall(r"^Source id=(\d+) path='.*' function='(.*)' line=(\d+)$", text, re.MULTILINE)}
    sites = {number: places[source] for number, source in re.findall(r"^Site id=(\d+) frames='s(\d+);'", text, re.MULTILINE)}
    return [sites.get(state["site"]) for _, trace in sorted(run.threads.items()) for state in trace]


@pytest.mark.parametrize("python", pythons())
def test_each_interpreter(tmp_path, calls, python):
    version, has_no_lock, _ = facts_of(python)
    is_known = FIRST_KNOWN <= version <= LAST_KNOWN and not has_no_lock
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = run_with_tracer(python, 1, tmp_path, args=(program, calls))
    assert sources_of(run) == (LINES if is_known else [None] * len(LINES))


def table(version, lock=0, word="8"):
    """What _PyRuntime begins with: "xdebugpy", and where members are."""
    return "{ 0x7970677562656478, %s, %s, %s }" % (version, lock, ", ".join([word] * 100))



LOOKS = {
    "unknown, old": ("0x030a00f0", "object", "{ 0 }"),
    "3.11, no code": ("0x030b00f0", "object", "{ 0 }"),
    "3.11, no memory": ("0x030b00f0", "(void*)16", "{ 0 }"),
    "3.12, no code": ("0x030c00f0", "object", "{ 0 }"),
    "3.12, no memory": ("0x030c00f0", "(void*)16", "{ 0 }"),
    "3.13, no table": ("0x030d00f0", "object", "{ 0 }"),
    "3.13, table of 3.14": ("0x030d00f0", "object", table("0x030e00f0")),
    "3.13, no lock": ("0x030d00f0", "object", table("0x030d00f0", lock=1)),
    "3.13, huge": ("0x030d00f0", "object", table("0x030d00f0", word="1ul << 40")),
    "3.13, no code": ("0x030d00f0", "object", table("0x030d00f0")),
    "3.14, no memory": ("0x030e00f0", "(void*)16", table("0x030e00f0")),
    "unknown, new": ("0x030f00f0", "object", table("0x030f00f0")),
    "unknown, other": ("0x040000f0", "object", "{ 0 }"),
}


@pytest.mark.parametrize("version, thread, runtime", LOOKS.values(), ids=LOOKS)
def test_what_only_looks_like_an_interpreter(tmp_path, calls, version, thread, runtime):
    options = [f"-DSTANDS_FOR_PYTHON={version}", f"-DTHREAD={thread}", f"-DRUNTIME={runtime}"]
    program = compiled(tmp_path / "program", "-rdynamic", *options, calls, f"-Wl,-rpath,{calls.parent}")
    run = run_with_tracer(program, 1, tmp_path)
    assert sources_of(run) == [None] * 4
