"""The tracer needs little memory however long a program runs, and does without where there is none."""
import os
import re
import subprocess

import pytest
from conftest import PROGRAMS
from support.runs import SOURCE, WRAPPER, preload
from support.sanitizers import HAS_ADDRESS_SANITIZER, with_own_memory


def grown(victim):
    """KiB, as the program says."""
    assert victim.returncode == 0, victim.stderr
    return int(re.fullmatch(r"grew (-?\d+)\n", victim.stdout)[1])


@with_own_memory
@pytest.mark.parametrize("env", [{}, {"HDTRACE_ALL_FUNCTIONS": "2", "HDTRACE_NESTED": "1", "HDTRACE_FILE_INFO": "1"}], ids=["default", "everything"])
def test_memory_does_not_grow(run, env):
    """Calls that make and free tens of thousands of objects."""
    victim = run("objects", 400_000, env=env)
    assert victim.stderr == ""
    assert grown(victim) <= max(0, grown(run("objects", 400_000, traced=False))) + 128


@pytest.mark.skipif(not HAS_ADDRESS_SANITIZER, reason="only AddressSanitizer knows")
def test_nothing_is_lost(start):
    """The MPI library may lose memory in our calls; what is counted is who asked for it."""
    options = os.environ["ASAN_OPTIONS"].replace("detect_leaks=0", "detect_leaks=1:fast_unwind_on_malloc=0")
    victim = start("objects", 3000, launcher=(SOURCE / "scripts/mpirun", "-n", "1", "env", f"ASAN_OPTIONS={options}")).wait()
    assert victim.stdout.startswith("grew "), victim.stderr
    assert re.findall(r"#[12] .*/(?:mpiwrapper|hdtrace/writer)/.*", victim.stderr) == []


# As programs/starve.c understands them. What fails first: the files' names, the first trace, then all kinds of objects.
SHORTAGES = ["1", "2+", "6", "12", "25", "60", "500", "3+", "6+", "36+", "47+", "%2", "%3", "%7", "%10", "%11"]
SHORTAGES_OF_COMPRESSION = ["41+", "42+", "43+", "44+", "45", "51+", "60", "%2", "%3", "%7"]  # what compresses, the buffer, all later ones


@with_own_memory
@pytest.mark.parametrize("compress, shortage", [
    *(("none", shortage) for shortage in SHORTAGES),
    *((compress, shortage) for compress in ("zstd", "gzip") for shortage in SHORTAGES_OF_COMPRESSION)])
def test_there_is_no_memory(run, compress, shortage):
    """From the start, from some moment on, or now and then: the program does not notice."""
    victim = run("objects", 2000, env={**preload(PROGRAMS / "starve.so"), "STARVE": shortage, "HDTRACE_COMPRESS": compress})
    grown(victim)
    assert all("Cannot allocate memory" in line for line in victim.stderr.splitlines())
    assert victim.stderr.count("\n") <= 1
    if list(victim.trace_directory.glob("*.trc*")):
        victim.trace()  # is valid


def functions_of_others():
    """What the tracer uses of other libraries."""
    result = subprocess.run(["nm", "-D", "--undefined-only", WRAPPER], capture_output=True, text=True, check=True)
    return set(re.findall(r" U (\w+)", result.stdout))


@with_own_memory
def test_the_programs_heap_is_not_used():
    used = functions_of_others()
    assert "mmap" in used
    assert not used & {"malloc", "calloc", "realloc", "free", "strdup", "strndup", "posix_memalign", "aligned_alloc", "asprintf"}


def test_nobody_aborts_without_memory():
    """Most functions of GLib do; these need no memory."""
    used = {name for name in functions_of_others() if name.startswith("g_")}
    assert used <= {"g_ascii_formatd", "g_ascii_strtoll", "g_ascii_table", "g_utf8_get_char_validated", "g_utf8_skip"}
