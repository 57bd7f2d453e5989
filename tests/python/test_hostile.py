"""Files that nobody writes by mistake: they cost little time and memory, can be interrupted, and do nothing to a terminal."""
import gzip
import itertools
import os
import signal
import struct
import subprocess
import sys
import time
import zlib

import hdtrace
import pytest
from hdtrace import _hdtrace

from projects_of_lines import HEAD, project_text, write_project
from support.sanitizers import HAS_ADDRESS_SANITIZER, with_own_memory
from test_command import BARRIER, COMMAND, ERROR, FINE, USAGE, run

CLOSING = "</Program>\n"
SECONDS = 10 if not HAS_ADDRESS_SANITIZER else 60  # generous: what is wrong takes for ever


def compressed_project(directory, content, suffix=".gz"):
    """A project of one process whose trace is this file."""
    path = directory / "app.proj"
    path.write_text(project_text(1))
    (directory / f"app_node01_0_0.trc{suffix}").write_bytes(content)
    return path


def gzip_block(text, compressed_size, text_size, text_offset):
    """A block as our writer writes it, with a head that may lie."""
    packer = zlib.compressobj(wbits=-15)
    data = packer.compress(text) + packer.flush() + struct.pack("<II", zlib.crc32(text), len(text))
    head = b"hdtrace1" + struct.pack("<6Q", compressed_size, text_size, text_offset, 1, 0, 0)
    return bytes([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 255, len(head) + 4, 0]) + b"HD" + struct.pack("<H", len(head)) + head + data


def skippable_block(text, *values):
    """The same in a file of zstd's: a raw block in a frame without anything else."""
    head = b"hdtrace1" + struct.pack("<6Q", *values, 1, 0, 0)
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + (len(text) << 3 | 1).to_bytes(3, "little") + text
    return b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(head)) + head + frame


HUGE = (1 << 63) - 1
ALL = (1 << 64) - 1


@pytest.mark.parametrize("block, suffix", [(gzip_block, ".gz"), (skippable_block, ".zst")])
@pytest.mark.parametrize("values", itertools.product((0, HUGE, ALL, ALL - 100), (0, ALL), (0, 5, HUGE, ALL)))
def test_heads_of_blocks_that_lie(tmp_path, block, suffix, values):
    text = (HEAD.format(rank=0) + BARRIER * 3000).encode()[:100_000]
    first = block(text, 0, len(text), 0)
    content = first + block(b"<B time='1' end='2' />\n", *values) * 3 + block(CLOSING.encode(), *values)
    project = compressed_project(tmp_path, content, suffix)
    result = subprocess.run([COMMAND, "dump", project, "--interval", "0..1"], capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode in (FINE, ERROR)


LITTLE_MEMORY = ("prlimit", f"--as={400 << 20}")


def refusal(*words):
    result = subprocess.run([*LITTLE_MEMORY, COMMAND, *map(str, words)], capture_output=True, text=True, timeout=SECONDS)
    assert (result.returncode, result.stdout.count("<"), result.stderr.count("\n")) == (ERROR, 0, 1), result
    return result.stderr


@with_own_memory
@pytest.mark.parametrize("children, reason", [
    ("<F/>\n" * (2 << 20), "elements and attributes would have to be held in memory"), ("<F/>" * (8 << 20), ":3: the line is longer than ")],
    ids=["lines", "line"])
def test_small_file_with_a_state_of_many_children(tmp_path, children, reason):
    text = (HEAD.format(rank=0) + "<A time='1' end='2' >" + children + "</A>\n" + CLOSING).encode()
    project = compressed_project(tmp_path, gzip.compress(text))
    message = refusal("dump", project)
    assert "app_node01_0_0.trc:" in message and reason in message


@with_own_memory
def test_small_file_with_much_text(tmp_path):
    raw = b"\x28\xb5\x2f\xfd\x00\x58"
    endless = raw + b"".join(((128 << 10) << 3 | 2).to_bytes(3, "little") + b"\n" for _ in range(1000)) * 5
    text = HEAD.format(rank=0).encode()
    begin = raw + (len(text) << 3 | 1).to_bytes(3, "little") + text
    project = compressed_project(tmp_path, begin + endless, ".zst")
    assert "the text is more than 1000 times as large as the compressed file" in refusal("dump", project)


@with_own_memory
def test_small_project_of_many_members(tmp_path):
    text = project_text(1).replace("</Communicator>", "<Rank global='0' local='0'/>" * (2 << 20) + "</Communicator>")
    (tmp_path / "app.proj").write_bytes(gzip.compress(text.encode()))
    assert "elements and attributes would have to be held in memory" in refusal("info", tmp_path / "app.proj")


MANY_ATTRIBUTES = " ".join(f"a{i}='{i}'" for i in range(100_000))


@pytest.mark.parametrize("line", [f"<A {MANY_ATTRIBUTES} time='1' end='2' />", f"<A time='1' end='2' ><B {MANY_ATTRIBUTES} /></A>"], ids=["state", "child"])
def test_line_of_many_attributes(tmp_path, line):
    project = write_project(tmp_path, BARRIER + line + "\n")
    begin = time.monotonic()
    for command in ("dump", "check"):
        result = run(command, project)
        assert "app_node01_0_0.trc:4: " in result.stderr + result.stdout and "the tag has more than 1000 attributes" in result.stderr + result.stdout
    assert time.monotonic() - begin < SECONDS


def test_project_with_many_attributes(tmp_path):
    (tmp_path / "app.proj").write_text(f"<Application\n {MANY_ATTRIBUTES}/>")
    assert ":2: the tag has more than 1000 attributes" in run("info", tmp_path / "app.proj").stderr


def test_as_many_attributes_as_are_allowed(tmp_path):
    attributes = " ".join(f"a{i}='>\" {i}'" for i in range(998))
    trace = f"<A {attributes} time='1' end='2' /><!-- ' = \" --><B a='' time='2' end='3' ></B>\n"
    project = write_project(tmp_path, trace)
    first, second = hdtrace.open(project).calls()
    assert len(first.attributes) == 998 and first["a7"] == '>" 7' and second["a"] == ""


def test_line_of_an_info_file_with_many_values(tmp_path):
    path = tmp_path / "a.info"
    path.write_text("Comm " + " ".join(f"k{i}={i}" for i in range(100_000)) + "\n")
    with pytest.raises(hdtrace.ReadError, match="the line has more than 1000 values"):
        hdtrace.Info(path)


def test_deep_and_long_names_in_a_topology(tmp_path):
    """Each leaf knows the labels of all nodes above it."""
    label = "x" * 100_000
    path = tmp_path / "app.proj"
    path.write_text(project_text(1).replace('<Node name="node01">', f'<Node name="{label}">' + "<Node name='0'/>" * 30_000))
    assert "would be longer than 255 bytes" in refusal("info", path)


@with_own_memory
def test_more_calls_than_there_is_memory_for(tmp_path):
    project = compressed_project(tmp_path, gzip.compress((HEAD.format(rank=0) + BARRIER * 2_000_000 + CLOSING).encode(), 1))
    assert refusal("dump", project, "--last", "2000000") == "hdtrace: not enough memory\n"


def interrupt(process):
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


READ = "import sys, hdtrace\nlist(hdtrace.Trace(sys.argv[1]))"
OPEN = "import sys, hdtrace\nlist(hdtrace.open(sys.argv[1]).calls())"
INFO = "import sys, hdtrace\nhdtrace.Info(sys.argv[1])"


@pytest.mark.parametrize("program, name, begin", [
    (READ, "a_h_0_0.trc", ""), (READ, "a_h_0_0.trc", HEAD.format(rank=0) + "<A "), (OPEN, "a.proj", "<Application>"), (INFO, "a.info", "File")])
def test_waiting_for_a_file_can_be_interrupted(tmp_path, program, name, begin):
    fifo = tmp_path / name
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", program, fifo], stderr=subprocess.PIPE) as process:
        with open(fifo, "w") as file:  # now the program reads
            file.write(begin)
            file.flush()
            time.sleep(0.2)
            _, errors = interrupt(process)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")


def test_an_endless_trace_can_be_interrupted(tmp_path):
    """States that are not wanted are skipped in C++."""
    project = write_project(tmp_path, "")
    trace, = tmp_path.glob("*.trc")
    trace.unlink()
    os.mkfifo(trace)
    with subprocess.Popen([COMMAND, "dump", "--xml", "--call", "Send", project], stdout=subprocess.DEVNULL) as process:
        with open(trace, "w") as file:  # now the command reads
            file.write(HEAD.format(rank=0))
            file.flush()
            with subprocess.Popen(["yes", BARRIER.strip()], stdout=file):
                file.close()
                time.sleep(0.2)
                interrupt(process)
    assert process.returncode == -signal.SIGINT, "loops of shells end where a command died of the signal"


def test_the_command_can_be_interrupted_while_it_starts(tmp_path):
    """A module of this name is found before that of Python."""
    (tmp_path / "argparse.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    run = subprocess.run([COMMAND, "--version"], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=SECONDS)
    assert (run.returncode, run.stdout, run.stderr) == (-signal.SIGINT, b"", b"")


WRITE_AND_READ = """
import os, sys, threading, time
from hdtrace import _hdtrace
_, read, fifo, begin = sys.argv
os.mkfifo(fifo)
thread = threading.Thread(target=getattr(_hdtrace, read), args=([fifo] if read == "read_project" else fifo,))
thread.start()
with open(fifo, "w") as file:
    file.write(begin)
    file.flush()
    time.sleep(0.1)  # the other one waits for more
    file.write(">")
thread.join()
"""


@pytest.mark.parametrize("read, name, begin", [
    ("TrcReader", "a_h_0_0.trc", "<Program"), ("read_project", "a.proj", "<Application></Application"), ("read_info", "a.info", "Unknown ")])
def test_other_threads_run_while_a_file_is_read(tmp_path, read, name, begin):
    words = [sys.executable, "-c", WRITE_AND_READ, read, tmp_path / name, begin]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    assert (result.returncode, result.stderr) == (FINE, "")


def classes(module):
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == _hdtrace.__name__:
            yield value
            yield from classes(value)


@pytest.mark.parametrize("kind", classes(_hdtrace), ids=lambda kind: kind.__qualname__)
def test_objects_that_nobody_made(kind):
    nothing = kind.__new__(kind)
    for name, attribute in vars(kind).items():
        if name in ("__init__", "__new__", "__hash__"):
            continue
        with pytest.raises((TypeError, RuntimeError, ValueError)):
            if isinstance(attribute, property):
                attribute.fget(nothing)
            elif callable(attribute):
                attribute(nothing, 1)
            else:
                raise TypeError


def test_arguments_that_nobody_made(tmp_path):
    project = hdtrace.open(write_project(tmp_path, BARRIER))
    with pytest.raises(TypeError):
        project.communicator(_hdtrace.Call.__new__(_hdtrace.Call))
    with pytest.raises((TypeError, RuntimeError)):
        _hdtrace.CallReader(_hdtrace.Project.__new__(_hdtrace.Project), _hdtrace.Selection.__new__(_hdtrace.Selection))


@pytest.mark.parametrize("option, value, words", [
    ("--interval", "1e30..", "'1e30..' is not BEGIN..END"),
    ("--interval", "..1e999999999999999999999", "is not BEGIN..END"),
    ("--interval", "..nan", "'..nan' is not BEGIN..END"),
    ("--rank", "9223372036854775808", "'9223372036854775808' is not RANKS"),
    ("--rank", "0..99999999999", "'0..99999999999' is not RANKS"),
])
def test_numbers_that_are_too_large(tmp_path, option, value, words):
    result = run("dump", write_project(tmp_path, BARRIER), option, value)
    assert result.returncode == USAGE and words in result.stderr and "hdtrace._hdtrace" not in result.stderr


def test_interval_at_the_end_of_time(tmp_path):
    project = write_project(tmp_path, BARRIER)
    assert run("dump", project, "--interval=-9e9..9e9").stdout.count("\n") == 1
    assert run("dump", project, "--interval", "9.2e9..").stdout == ""


@pytest.mark.parametrize("command", ["stats", "analyze"])
def test_calls_behind_the_end_of_a_trace(tmp_path, command):
    project = write_project(tmp_path, f"</Program>\n{BARRIER}", closing="")
    result = run(command, project)
    assert result.returncode == ERROR and "app_node01_0_0.trc:" in result.stderr
