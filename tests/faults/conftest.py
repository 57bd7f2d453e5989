"""Runs programs that die, without mpirun, so that nothing stands between us and how they end."""
import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import hdtrace
import pytest
from support.calls import Call, ThreadTrace
from support.checks import read_info
from support.runs import BUILD, LAUNCHER, SETTINGS, TIMEOUT, WRAPPER

PROGRAMS = BUILD / "tests/faults/programs"
LIBRARY = json.loads((BUILD / "tests/faults/settings.json").read_text())["library"]
PRELUDE = ["Init_thread"] + 10 * ["Bcast"]
# What Open MPI needs to know in a container or on a small machine; see scripts/mpirun.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_btl_tcp_disable_family": "6"}

# UCX, which MPICH 4.2 comes with, else keeps a note of all memory that anybody unmaps until the program communicates.
UCX = {"UCX_MEM_EVENTS": "no"}


def pytest_sessionstart():
    if WRAPPER is None:
        pytest.exit(f"hdtrace is not built in {BUILD}; TESTED_BUILD may name another folder", returncode=1)


class Victim:
    """A program that runs alone or traced in a directory of its own, and what it leaves there."""

    def __init__(self, directory, command, traced, env, launcher, **options):
        self.directory = directory
        self.trace_directory = directory / "trace"
        start = [*launcher, *([LAUNCHER] if traced else []), *command]
        environment = {**os.environ, **OPEN_MPI, **UCX, "MPIEXEC": SETTINGS["mpiexec"], "HDTRACE_DIRECTORY": str(self.trace_directory), **env}
        self.process = subprocess.Popen([str(word) for word in start], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True, **{"stderr": subprocess.PIPE, **options})
        self.stdout = self.stderr = ""

    def wait(self):
        stdout, stderr = self.process.communicate(timeout=TIMEOUT)
        self.stdout += stdout
        self.stderr = stderr or ""
        return self

    def wait_for_line(self, line):
        """Until the program says so, and so has begun what it will never end."""
        self.stdout += self.process.stdout.readline()
        assert self.stdout == line + "\n"

    @property
    def returncode(self):
        """As of subprocess: the negative number of the signal that killed it."""
        return self.process.returncode

    def path(self, rank=0, thread=0, program="*"):
        (path,) = self.trace_directory.glob(f"{program}_*_{rank}_{thread}.trc*")
        return path

    def trace(self, rank=0, thread=0, program="*"):
        """The trace, which has to be whole and valid whatever happened."""
        path = self.path(rank, thread, program)
        hdtrace.validate(path)
        return ThreadTrace(hdtrace.read_trace(path), rank, thread, path.name)

    def names(self, thread=0, program="*"):
        return self.trace(thread=thread, program=program).names()

    def ends(self, rank=0):
        """{thread: (states, dropped)} of the threads whose traces were closed."""
        (path,) = self.trace_directory.glob(f"*_{rank}_0.info")
        return {int(values["thread"]): (int(values["states"]), int(values["dropped"]))
                for kind, values in read_info(path) if kind == "End"}

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self._kill_left_over()

    def _kill_left_over(self):
        """Hydra 4.2 sometimes leaves processes of a run that has failed, without a signal: they would poll for ever."""
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # of others, or ended meanwhile
                if f"HDTRACE_DIRECTORY={self.trace_directory}\0".encode() in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)


@pytest.fixture
def start(tmp_path):
    """start(program, arguments...) -> Victim, which runs; `wait()` for it. What is still running in the end is killed."""
    victims = []

    def start_program(name, *args, traced=True, env=None, launcher=(), **options):
        directory = tmp_path / str(len(victims))
        directory.mkdir()
        victims.append(Victim(directory, [PROGRAMS / name, *args], traced, env or {}, launcher, **options))
        return victims[-1]

    yield start_program
    for victim in victims:
        victim.end()


@pytest.fixture
def run(start):
    """run(program, arguments...) -> Victim that has ended."""
    return lambda *args, **options: start(*args, **options).wait()


def unfinished(name):
    return Call(name, unfinished="1")


def wait_for_trace(victim, is_there, program="*"):
    """Until the trace is as wanted, which the tracer does from time to time."""
    end = time.monotonic() + TIMEOUT
    while not is_there(victim.path(program=program).read_text()):
        assert time.monotonic() < end, victim.path(program=program).read_text()
        time.sleep(0.05)
