"""What is installed: the tracer's own files, and the MPI libraries of the machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .children import ending
from .launchers import MissingOption, UnknownOption, launcher_of, programs_in
from .output import UsageError, beside_this

QUICK = 5  # seconds after which a program is ended that has nothing to do
_LIBRARY = re.compile(r"lib(mpi|mpich|mpi_abi|mpi_cray|mpi_gnu_\w+)\.so\.\d+")


def output_of(command: Sequence[str | Path], seconds: float, **environment: str) -> tuple[int | None, str, str]:
    """Exit code (none if it had to be ended), standard output and error."""
    try:
        child = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, env={**os.environ, **environment},
        )
    except OSError as error:
        return 127, "", f"{command[0]}: {error.strerror}"
    try:
        with ending(child):
            output, errors = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, *_rest_of(child)
    return child.returncode, output, errors


def _rest_of(child: subprocess.Popen[str]) -> tuple[str, str]:
    """What it has written before it was ended."""
    try:
        return child.communicate(timeout=1)
    except subprocess.TimeoutExpired:  # something else goes on, and may write
        return "", ""


def reports_of(text: str) -> list[dict[str, Any]]:
    """What processes of hdtrace-probe have written. Launchers may write between them."""
    reports = []
    for line in text.splitlines():
        try:
            report = json.loads(line[line.index("{"):])
        except ValueError:
            continue
        if isinstance(report, dict) and "probe" in report:
            reports.append(report)
    return reports


@dataclass(frozen=True)
class Library:
    """An MPI library: the name by which programs ask for it, what it says that it is, and its wrapper, if it has one."""

    soname: str
    version: str
    wrapper: Path | None


class Installation:
    """The tracer's own files."""

    def __init__(self) -> None:
        self.launcher = beside_this("hdtrace-run")
        _, output, _ = output_of([self.launcher, "--print-library"], QUICK)
        self.selector = Path(output.strip() or "libHDTraceMPIWrapper-any.so")
        self.folder = self.selector.parent
        self.probe = self.folder / "hdtrace-probe"

    def ask(self, library: str, **environment: str) -> dict[str, Any]:
        """What one process of hdtrace-probe says of an MPI library."""
        code, output, errors = output_of([self.probe, library], QUICK, **environment)
        reports = reports_of(output)
        last = errors.strip().splitlines()[-1:] or ["it says nothing"]
        return reports[0] if reports else {"error": last[0] if code is not None else f"no answer in {QUICK} seconds"}

    def names_of_libraries(self) -> list[str]:
        """Of those with a wrapper and of those that the loader finds."""
        names = {path.parent.name for path in self.folder.glob("*/libHDTraceMPIWrapper.so")}
        _, cached, _ = output_of([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"], QUICK)
        names.update(word for word in cached.split() if _LIBRARY.fullmatch(word))
        for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
            names.update(path.name for path in Path(folder).glob("libmpi*.so.*") if _LIBRARY.fullmatch(path.name))
        return sorted(names)


def library_of_launcher(words: Sequence[str], libraries: Sequence[Library]) -> Library | None:
    """The one that belongs to it, as far as it is known, else the first."""
    try:
        launcher = launcher_of(words[0])
    except UnknownOption:
        launcher = None
    for part, version in (("Open MPI", "Open MPI"), ("hydra", "MPICH")):
        if launcher and part in launcher.name:
            return next((library for library in libraries if library.version.startswith(version)), None)
    return next(iter(libraries), None)


def refuse_programs(words: Sequence[str], command: str) -> None:
    """Behind a command whose program is ours."""
    try:
        launcher = launcher_of(words[0])
        places = [program.place for program in programs_in([*words, "hdtrace-probe"], launcher)] if launcher else [len(words)]
    except UnknownOption:
        return
    except MissingOption:
        places = []  # of java: there is one
    if places != [len(words)]:
        raise UsageError(f"{command}: name the launcher and its options only, without a program: hdtrace {command} -- mpirun -n 2")
