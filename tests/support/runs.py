"""Runs programs with and without the tracer, and collects what a run left behind."""
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import hdtrace
import pytest
from hdtrace.live import unfinished_processes

from .calls import ThreadTrace
from .checks import check_files, check_traces, info_of
from .laws import check_analysis
from .project import Project

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TESTED_BUILD", SOURCE / "build/dev"))
LAUNCHER = BUILD / "bin/hdtrace-run"
# What is said at the end of a program that hdtrace-run was asked to trace, behind the name of the program.
NO_TRACE = "called no MPI function that could be traced, and leaves no trace (with --follow, what it starts is traced, too)\n"
MERGER = BUILD / "bin/project-merger"
LIBRARIES = next((path.parent for path in BUILD.glob("lib/**/libhdTrace.a")), None)
WRAPPER = LIBRARIES and LIBRARIES / "libHDTraceMPIWrapper.so"
SETTINGS = json.loads((BUILD / "tests/mpi/settings.json").read_text())
TIMEOUT = 120

_TRACE_NAME = re.compile(r"_(\d+)_(\d+)\.trc(\.compact)?$")


def ranks(*numbers):
    """Runs a test with each of these numbers of processes, as its argument `ranks`."""
    return pytest.mark.parametrize("ranks", numbers, ids=lambda number: f"{number}ranks")


def only_with(implementation):
    """For tests of what just one MPI library has."""
    return pytest.mark.skipif(SETTINGS["mpi"] != implementation, reason=f"only with {implementation}")


@cache
def romio():
    """Open MPI's other I/O component, whose name has its version; none with other MPI libraries."""
    parts = subprocess.run(["ompi_info", "--parsable"], capture_output=True, text=True).stdout if SETTINGS["mpi"] == "Open MPI" else ""
    found = re.search(r"^mca:io:(romio\w+):", parts, re.MULTILINE)
    return found[1] if found else ""


@cache
def starts_several_programs():
    """Whether the launcher can: that of Open MPI 5.0.7 crashes, also if one of them asks for it with MPI_Comm_spawn_multiple."""
    command = [*_mpirun(1, ()), "true", ":", "-n", "1", "true"]
    return subprocess.run(command, env=os.environ | {"MPIEXEC": SETTINGS["mpiexec"]}, capture_output=True).returncode == 0


def need_several_programs():
    """Skips the test where the launcher cannot start them, traced or not."""
    if not starts_several_programs():
        pytest.skip("the launcher crashes when it starts several programs at once")


NEED_SHARED_MEMORY = {"communicators", "communicator_plan", "windows"}  # for windows, or to find who is on one host


@cache
def shares_memory():
    """Whether processes of one host do: those of MPICH 5.0.2, as Debian builds it, do not."""
    if SETTINGS["mpi"] != "MPICH":
        return True
    command = [*_mpirun(2, ()), program("windows")]  # whose message is lost if the launcher is the first to end
    return subprocess.run(command, env=os.environ | {"MPIEXEC": SETTINGS["mpiexec"]}, capture_output=True, timeout=TIMEOUT).returncode == 0


def _need_shared_memory(name, ranks):
    """Skips the test of a program that fails or does something else without it, traced or not."""
    if ranks > 1 and name in NEED_SHARED_MEMORY and not shares_memory():
        pytest.skip("the MPI library's processes share no memory, even on one host")


def program(name):
    """A program that CMake built, by its name; anything with a slash is a path."""
    return Path(name) if "/" in str(name) else Path(SETTINGS["programs"]) / name


def only_with_program(name):
    """For tests of a program that CMake builds where the MPI library has what it calls."""
    return pytest.mark.skipif(not program(name).exists(), reason=f"the MPI library has not all that the program {name} calls")


@dataclass
class Run:
    """What one run of a program left: output, exit code and, if traced, the files."""

    directory: Path
    ranks: int
    stdout: str
    stderr: str
    returncode: int
    paths: tuple = ()  # of its traces
    merger_warns: str = ""  # the only warning that project-merger may give
    leaves_out: bool = False  # calls that start operations, by rules

    @property
    def threads(self):
        """{(rank, thread): ThreadTrace}, read when it is wanted: there are many runs, and some are long."""
        return read_traces(self.paths, self.ranks)

    @property
    def traces(self):
        """The traces of the main threads, by rank."""
        return [self.threads[rank, 0] for rank in range(self.ranks)]

    def __iter__(self):
        return iter(self.traces)

    @property
    def trace_directory(self):
        return self.directory / "trace"

    @cached_property
    def project(self):
        """The merged project; the merger must have nothing to say but `merger_warns`."""
        infos = sorted(self.trace_directory.glob("*.info"))
        base = infos[0].name.split("_")[0]
        output = self.trace_directory / f"{base}.proj"
        warnings = merge(output, *infos)
        assert all(self.merger_warns and self.merger_warns in line for line in warnings), warnings
        hdtrace.validate(output)
        return Project(output)

    def communicator(self, trace, call, attribute="cid"):
        """The communicator that the one matching call names."""
        return self.project.communicator(trace.rank, trace.value(call, attribute))

    def file_name(self, trace, call):
        """The file that the one matching call names."""
        return self.project.file_name(trace.rank, trace.value(call, "fid"))

    def tid(self, trace, name):
        """The id of a predefined datatype in a process's trace."""
        return self.project.named_datatype(trace.rank, name)


def preload(*libraries):
    """An environment in which these are loaded before all others but a sanitizer's."""
    return {"LD_PRELOAD": ":".join([*filter(None, [os.environ.get("LD_PRELOAD")]), *map(str, libraries)])}


def link_options(whole_wrapper=False):
    """What links the tracer into a program: the archives, and what they need. whole_wrapper: calls reach it from libraries only."""
    wrapper, library = (LIBRARIES / archive for archive in ("libHDTraceMPIWrapper.a", "libhdTrace.a"))
    glib = subprocess.run([os.environ.get("PKG_CONFIG", "pkg-config"), "--libs", "glib-2.0"], capture_output=True, text=True, check=True).stdout.split()
    sanitizers = [f"-fsanitize={SETTINGS['sanitizers']}"] if SETTINGS["sanitizers"] else []
    return [*(["-Wl,--push-state,--whole-archive", wrapper, "-Wl,--pop-state"] if whole_wrapper else [wrapper]), library, *glib, *sanitizers]


def run_untraced(name, ranks, directory, env=None, args=(), mpirun=()):
    """Runs a program as it is."""
    _need_shared_memory(name, ranks)
    return _run([*_mpirun(ranks, mpirun), program(name), *args], ranks, directory, env)


def run_with_tracer(name, ranks, directory, env=None, args=(), mpirun=(), complete=True, merger_warns="", leaves_out=False):
    """Runs a program with the tracer preloaded, checks what holds for every trace, and merges.

    complete: whether the program is expected to end as it should; else traces of processes that were killed
              before they could describe themselves are left out, and nothing is merged.
    merger_warns: the only warning that project-merger may give.
    leaves_out: whether rules leave out calls that start operations.
    """
    _need_shared_memory(name, ranks)
    trace_directory = directory / "trace"
    env = {"HDTRACE_DIRECTORY": str(trace_directory), **(env or {})}
    run = _run([*_mpirun(ranks, mpirun), LAUNCHER, program(name), *args], ranks, directory, env)
    if complete:
        assert (run.returncode, run.stderr) == (0, ""), f"exit code {run.returncode}\n{run.stdout}\n{run.stderr}"
    _wait_for_ends(trace_directory)
    traces = sorted(path for path in trace_directory.iterdir() if _TRACE_NAME.search(path.name))
    run.paths = tuple(path for path in traces if complete or info_of(path).stat().st_size > 0)
    run.merger_warns = merger_warns
    run.leaves_out = leaves_out
    check_files(run.paths)
    check_traces(run, complete)
    if complete:
        assert run.project.process_count == ranks
        check_analysis(run)
    return run


@lru_cache(maxsize=4)
def read_traces(paths, ranks):
    """Traces by rank and thread."""
    threads = {}
    for path in paths:
        rank, thread = map(int, _TRACE_NAME.search(path.name).groups()[:2])
        threads[rank, thread] = ThreadTrace(hdtrace.read_trace(path), rank, thread, path.name, ranks)
    return threads


def merge(output, *inputs):
    """Calls project-merger, which must succeed; returns its warnings."""
    result = subprocess.run([MERGER, "-o", output, *inputs], capture_output=True, text=True, timeout=TIMEOUT)
    assert (result.returncode, result.stdout) == (0, ""), result
    return result.stderr.splitlines()


def _mpirun(ranks, options):
    return [SOURCE / "scripts/mpirun", *options, "-n", str(ranks)]


def missed_by_the_launcher():
    """The status that Hydra 4.2 often has where one of several processes fails, traced or not."""
    return {0} if SETTINGS["mpi"] == "MPICH" else set()


def _wait_for_ends(trace_directory):
    """MPICH 4.2's launcher ends when a process fails, and the others may still write to their traces."""
    latest = time.monotonic() + TIMEOUT
    while left := unfinished_processes(trace_directory):
        assert time.monotonic() < latest, f"still running: {left}"
        time.sleep(0.01)


def _run(command, ranks, directory, env):
    environment = {**os.environ, "MPIEXEC": SETTINGS["mpiexec"], **(env or {})}
    result = subprocess.run([str(word) for word in command], cwd=directory, env=environment, timeout=TIMEOUT,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return Run(directory, ranks, result.stdout, result.stderr, result.returncode)
