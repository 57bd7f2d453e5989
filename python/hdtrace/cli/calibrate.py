"""hdtrace calibrate"""

from __future__ import annotations

import math
import re
import shlex
import shutil
import subprocess
import tempfile
import warnings
from argparse import Namespace
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .._hdtrace import Call
from ..calibration import DEFAULT_SPEED, LOCAL, REMOTE, Platform, Sample, platform_of, samples
from ..project import Project
from . import children
from .installation import Installation, Library, library_of_launcher, refuse_programs
from .output import UsageError, beside_this, count_of_processes, counted, duration, end_tidily, message, print_json, size, table, write_whole

_PROGRAM = "hdtrace-measure"
# Whose algorithms of operations SimGrid knows. Those of MPICH end SimGrid 3.32 with an invalid pointer in some replays.
_ALGORITHMS = ("ompi", "mpich", "default")
_OPERATIONS = ("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall")
_REPLAYED_AS = {"Comm_split_type": "Allgather"}  # what else the program calls, and what processes exchange for it
_FEWEST_HOSTS = 64
_FEWEST_ROUNDS = 10  # the program makes other calls, too
_SHORTEST = 1e-6  # seconds


class _Failure(Exception):
    """It cannot be measured here."""


# ---- measure ----


def _measurable(installation: Installation) -> list[Library]:
    found = []
    for program in sorted(installation.folder.glob(f"*/{_PROGRAM}")):
        report = installation.ask(program.parent.name)
        if "library" in report:
            found.append(Library(program.parent.name, report["library"], program.parent / "libHDTraceMPIWrapper.so"))
    return found


def _measure(words: Sequence[str], folder: Path) -> Library:
    """Leaves a trace in the folder."""
    installation = Installation()
    library = library_of_launcher(words, _measurable(installation))
    if library is None:
        raise _Failure("no MPI library that fits the launcher has a wrapper: hdtrace doctor tells more")
    program = installation.folder / library.soname / _PROGRAM
    command = [*words, installation.launcher, "--call-sites=0", "-d", folder, "--", program]
    try:
        result = children.run(command, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise _Failure(f"{words[0]}: {error.strerror}") from error
    if result.returncode != 0:
        raise _Failure(f"{shlex.join(words)} {_PROGRAM} ended with exit code {result.returncode}")
    return library


def _processes_of_hosts(project: Project) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for process in project.processes:
        counts[process.host] += 1
    return counts


# ---- compare ----


@dataclass(frozen=True)
class Comparison:
    """Of an operation of all processes: the median of what it took at rank 0, in seconds."""

    operation: str
    size: int
    measured: float
    replayed: float


def _is_of_all(project: Project, call: Call) -> bool:
    communicator = project.communicator(call)
    return communicator is not None and len(communicator.members) == project.process_count


class Replay:
    """What SimGrid makes of the project on a platform."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._processes = project.process_count
        self._folder = folder
        # Of fewer processes the replay has messages, of one process nothing.
        measured = [call for call in project.calls(rank=0, name=[*_OPERATIONS, *_REPLAYED_AS]) if _is_of_all(project, call)]
        self._measured = [(call.name, call.integer("size") or 0, (call.end - call.time) / 1e9) for call in measured]
        traces = Path(project.path).parent
        _succeed([beside_this("hdtrace-convert"), "--quiet", "--to", "tit", "-o", folder / "replay", traces], folder)

    def operations(self, platform: Path) -> list[tuple[str, float]]:
        """Those of rank 0 in their order, and what they take. Raises _Failure."""
        # A line for each action when it has ended: time, process, rank, action.
        log = ["--log=smpi_replay.thres:verbose", "--log=smpi_replay.fmt:%.12r%e%P%e%m%n"]
        processes = ["-np", self._processes, "-platform", platform, "-replay", self._folder / "replay/replay.txt"]
        text = _succeed(["smpirun", "-no-privatize", *processes, *log], self._folder)
        names = {name.lower(): name for name in _OPERATIONS}
        operations, began = [], 0.0
        for ended, action in re.findall(r"^(\d+\.\d+) 0 0 (\w+)\b", text, re.MULTILINE):
            if action in names:
                operations.append((names[action], float(ended) - began))
            began = float(ended)
        return operations

    def compare(self, platform: Path) -> list[Comparison]:
        """Raises _Failure."""
        replayed = self.operations(platform)
        if [_REPLAYED_AS.get(name, name) for name, _, _ in self._measured] != [name for name, _ in replayed]:
            raise _Failure("the replay has other operations than the trace")
        times: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
        for (name, count, time), (_, simulated) in zip(self._measured, replayed):
            if name in _OPERATIONS:
                times[name, count].append((time, simulated))
        return [Comparison(name, count, *map(median, zip(*pairs))) for (name, count), pairs in times.items() if len(pairs) >= _FEWEST_ROUNDS]


def _succeed(command: Sequence[Any], folder: Path) -> str:
    """What a command says on standard error."""
    texts = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    result = children.run(list(map(str, command)), stdin=subprocess.DEVNULL, cwd=folder, **texts)
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise _Failure(f"{Path(str(command[0])).name} ended with exit code {result.returncode}: {last}")
    return result.stderr


def _error(compared: Sequence[Comparison]) -> float:
    """How far off: too long and too short by the same factor is equally bad. What takes no time at rank 0 does not count."""
    return sum(abs(math.log(max(one.replayed, _SHORTEST) / one.measured)) for one in compared if one.measured > _SHORTEST)


def _find_algorithms(project: Project, platform: Platform, folder: Path) -> tuple[Platform, list[Comparison]]:
    """The platform with the algorithms that come nearest to what was measured."""
    replay = Replay(project, folder)
    found: list[tuple[float, Platform, list[Comparison]]] = []
    failures = []
    for algorithms in _ALGORITHMS:
        candidate = platform.with_algorithms(algorithms)
        file = folder / f"{algorithms}.xml"
        file.write_text(candidate.xml(project.process_count, DEFAULT_SPEED, algorithms))
        try:
            compared = replay.compare(file)
        except _Failure as failure:
            failures.append(failure)
            continue
        found.append((_error(compared), candidate, compared))
    if not found:
        raise failures[0]
    _, best, compared = min(found, key=lambda one: one[0])
    return best, compared


# ---- show ----


def _show_samples(title: str, measured: Sequence[Sample]) -> None:
    heads = ["bytes", "one way", "both ways", "bandwidth", "in Send", "in Isend", "late Recv", "sender"]
    rows = [
        [sample.size, *(duration(1e9 * time) for time in (sample.one_way, sample.both_ways)), f"{size(round(sample.bandwidth))}/s" if sample.size else "",
         *(duration(1e9 * time) for time in (sample.in_send, sample.in_isend, sample.in_receive)), "goes on" if sample.is_eager else "waits"]
        for sample in measured
    ]
    print(f"{title}\n\n{table(heads, rows, heads[:-1])}")


def _show_comparisons(compared: Sequence[Comparison], processes: int, algorithms: str) -> None:
    heads = ["operation", "bytes", "measured", "replayed", "difference"]
    rows = [
        [one.operation, one.size, duration(1e9 * one.measured), duration(1e9 * one.replayed), f"{100 * (one.replayed / one.measured - 1):+.0f} %" if one.measured else ""]
        for one in compared
    ]
    print(f"Operations of {processes} processes, the median at rank 0; replayed with SimGrid's algorithms '{algorithms}'\n\n{table(heads, rows, heads[1:])}")


def _is_far_off(one: Comparison) -> bool:
    return one.measured > _SHORTEST and not 0.5 <= one.replayed / one.measured <= 2


def _warn(project: Project, compared: Sequence[Comparison]) -> None:
    """Of what makes the platform one of another machine than this."""
    for line in project.run.oversubscription:
        message(line)
    far_off = sum(map(_is_far_off, compared))
    if 2 * far_off > len(compared):
        message(f"{far_off} of {len(compared)} operations are off by more than a factor of two in the replay: calibrate again when the machine does nothing else")


def _describe(words: Sequence[str], project: Project, library: Library, hosts: dict[str, int]) -> str:
    places = f"{count_of_processes(project)} on {counted(len(hosts), 'host')}"
    return f"Measured by: hdtrace calibrate {shlex.join(words)} ({places}, {library.version.splitlines()[0].split(',')[0]})"


def _platform(project: Project, hosts: dict[str, int]) -> tuple[Platform, list[Sample], list[Sample]]:
    local, remote = samples(project, LOCAL), samples(project, REMOTE)
    if not local and not remote:
        raise UsageError("calibrate: there must be two processes at least, as in: hdtrace calibrate -- mpirun -n 2")
    return platform_of(local, remote, max(hosts.values())), local, remote


def run(arguments: Namespace) -> int:
    end_tidily()
    words = arguments.launcher
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        raise UsageError("calibrate: name the launcher with its options: hdtrace calibrate -- mpirun -n 2")
    refuse_programs(words, "calibrate")
    output = Path(arguments.output)
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    try:
        with tempfile.TemporaryDirectory(prefix=".hdtrace-calibrate-", dir=output.parent) as folder:
            _calibrate(arguments, words, output, Path(folder).resolve())
    except _Failure as failure:
        message(str(failure))
        return 1
    return 0


def _calibrate(arguments: Namespace, words: Sequence[str], output: Path, folder: Path) -> None:
    traces = folder / "traces"
    library = _measure(words, traces)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        project = Project(traces)
    hosts = _processes_of_hosts(project)
    platform, local, remote = _platform(project, hosts)
    compared: list[Comparison] = []
    if shutil.which("smpirun"):
        platform, compared = _find_algorithms(project, platform, folder)
    text = platform.xml(arguments.hosts or max(_FEWEST_HOSTS, project.process_count), arguments.speed, _describe(words, project, library, hosts))
    write_whole(output, text.encode())
    _warn(project, compared)
    if arguments.json:
        print_json(_as_json(output, library, local, remote, compared))
        return
    for title, measured in (("Messages between processes of a host", local), ("Messages between hosts", remote)):
        if measured:
            _show_samples(title, measured)
    if compared:
        _show_comparisons(compared, project.process_count, platform.algorithms)
    else:
        print("SimGrid's smpirun is not here, so the platform was not tried.")
    print(f"Platform: {output}")


def _as_json(output: Path, library: Library, local: Sequence[Sample], remote: Sequence[Sample], compared: Sequence[Comparison]) -> dict[str, Any]:
    return {
        "version": 1,
        "platform": str(output),
        "library": library.version,
        "messages": {"local": list(map(asdict, local)), "remote": list(map(asdict, remote))},
        "operations": list(map(asdict, compared)),
    }
