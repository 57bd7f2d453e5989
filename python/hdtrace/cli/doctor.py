"""hdtrace doctor"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import resource
import shlex
import shutil
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._hdtrace import files_in, printable
from .installation import QUICK, Installation, Library, library_of_launcher, output_of, refuse_programs, reports_of
from .output import beside_this, counted, end_tidily, print_json

FINE, NOTE, PROBLEM = "ok", "note", "problem"

_RUN = 30  # seconds after which a program is ended
_BLOCK, _SIZE, _LONGEST_WRITE = 1 << 18, 1 << 25, 2.0
_DEAR_CALL = 400  # nanoseconds
_LITTLE_SPACE = 1 << 30
_SLOW_FOLDER = 50e6  # bytes per second
_FEW_FILES, _LITTLE_MEMORY = 256, 1 << 30
_SHARED = re.compile(r"nfs\d?|lustre|gpfs|beegfs|ceph|cifs|smb3|panfs|wekafs|pvfs2|orangefs|afs|9p|fuse\..+")


@dataclass(frozen=True)
class Finding:
    """One line. advice: what to do, where it is not fine; values: the figures in it, for programs."""

    section: str
    state: str
    text: str
    advice: str = ""
    values: dict[str, Any] | None = None


# ---- MPI libraries ----


def _compilers() -> dict[str, str]:
    """MPI compilers in PATH, and how each calls the one below it."""
    found = {}
    for folder in os.environ.get("PATH", "").split(":"):
        for path in sorted(Path(folder or ".").glob("mpicc*")):
            if re.fullmatch(r"mpicc([._].+)?", path.name) and os.access(path, os.X_OK):
                found.setdefault(path.name, output_of([path, "-show"], QUICK)[1])
    return found


def _compiler_for(soname: str, compilers: dict[str, str]) -> str | None:
    """None: nobody here makes programs for that library, though some may have been brought along."""
    name = soname.removeprefix("lib").split(".")[0]
    return next((compiler for compiler, line in compilers.items() if f"-l{name}" in line.split()), None)


def _check_libraries(installation: Installation, found: list[Library]) -> Iterator[Finding]:
    """Adds to the list what can be used."""
    section = "MPI libraries"
    compilers: dict[str, str] | None = None
    for soname in installation.names_of_libraries():
        wrapper = installation.folder / soname / "libHDTraceMPIWrapper.so"
        report = installation.ask(soname)
        if "library" not in report:
            yield Finding(section, NOTE, f"{soname} cannot be loaded: {report.get('error', 'it is no MPI library')}",
                          "load its environment module, or put its folder in LD_LIBRARY_PATH, if you want to use it")
            continue
        version = report["library"].split(",")[0].replace(" Version:", "")
        about = f"{soname} is {version} ({report['file']})"
        if not wrapper.exists():
            compilers = _compilers() if compilers is None else compilers
            compiler = _compiler_for(soname, compilers)
            yield Finding(section, PROBLEM if compiler else NOTE, f"{about} and has no wrapper: its programs run untraced",
                          f"build hdtrace with cmake --preset release -DHDTRACE_MPI_COMPILERS={compiler or 'COMPILER'}"
                          + ("" if compiler else "; no MPI compiler in PATH links with that library"))
            continue
        traced = installation.ask(soname, LD_PRELOAD=str(wrapper), HDTRACE_PID="0")
        if traced.get("tracer") is None:
            yield Finding(section, PROBLEM, f"{about}; its wrapper cannot be loaded: {traced.get('error', 'nothing says why')}",
                          "build hdtrace anew on this machine, with the compilers and libraries that are here now")
            continue
        found.append(Library(soname, version, wrapper))
        yield Finding(section, FINE, f"{about} and has a wrapper")
    if not found:
        yield Finding(section, PROBLEM, "no MPI library can be traced",
                      "load the environment module of an MPI library, then build and install hdtrace, or put the library in LD_LIBRARY_PATH")


# ---- what a launcher's processes see ----


def _check_launcher(installation: Installation, words: Sequence[str], libraries: Sequence[Library], folder: Path | None) -> Iterator[Finding]:
    section = "launcher"
    if not words:
        yield Finding(section, NOTE, "no launcher was tried", "name it with its options: hdtrace doctor -- mpirun -n 2")
        return
    shown = shlex.join(words)
    library = library_of_launcher(words, libraries)
    if library is None or folder is None:
        lacks = "an MPI library with a wrapper" if library is None else "a folder"
        yield Finding(section, PROBLEM, f"{shown} was not tried: it lacks {lacks}", "see the other problems")
        return
    command = [*words, installation.launcher, "-d", folder, "--prefer-compact", "--", installation.probe, library.soname, "run"]
    code, output, errors = output_of(command, _RUN, HDTRACE_DOCTOR="1")
    reports = reports_of(output)
    if not reports:
        last = (errors.strip().splitlines() or ["it says nothing"])[-1].strip()
        ended = f"ended with exit code {code}" if code is not None else f"took longer than {_RUN} seconds"
        yield Finding(section, PROBLEM, f"{shown} {ended}, and no process was seen: {last}",
                      f"try {shown} with a program of your own; all hosts must have {installation.launcher} in the same place")
        return
    yield from _judge_processes(section, shown, library, reports, folder, errors)


def _judge_processes(
    section: str, shown: str, library: Library, reports: list[dict[str, Any]], folder: Path, errors: str
) -> Iterator[Finding]:
    hosts = sorted({report["host"] for report in reports})
    count = f"{counted(len(reports), 'process', 'es')} on {counted(len(hosts), 'host')}"
    errors_in_processes = [report["error"] for report in reports if "error" in report]
    untraced = [report for report in reports if "tracer" not in report]
    traces = sum(name.endswith(".info") for name, _, _ in files_in(folder))
    if errors_in_processes:
        yield Finding(section, PROBLEM, f"{shown}: {count} cannot use {library.soname}: {errors_in_processes[0]}",
                      "start it with the launcher that belongs to the MPI library")
    elif untraced:
        why = next((line for line in errors.splitlines() if line.startswith("hdtrace")), "nothing says why")
        yield Finding(section, PROBLEM, f"{shown}: the tracer is not preloaded into {len(untraced)} of {count}: {why}",
                      "link the program with the tracer: pkg-config --libs hdtrace-mpi")
    elif traces < len(reports):
        yield Finding(section, PROBLEM, f"{shown}: {count}, of which only {traces} left a trace that is seen here",
                      "let traces be written to a folder that all hosts share: --directory")
    else:
        yield Finding(section, FINE, f"{shown}: {count}, all traced, with {library.version}")
    if any(report["mark"] != "1" for report in reports):
        yield Finding(section, NOTE, f"{shown} does not hand on the environment",
                      "give settings as options of hdtrace record or hdtrace-run, not as variables HDTRACE_...")
    times = [report["call_ns"] for report in reports if "call_ns" in report]
    if times and not untraced:
        state, advice = (FINE, "") if max(times) < _DEAR_CALL else (
            NOTE, "a call of this length is only disturbed where a program makes millions of them; fewer processes than processors are faster")
        yield Finding(section, state, f"recording a call costs {min(times):.0f} to {max(times):.0f} ns", advice,
                      {"call_ns": times})


# ---- this machine ----


def _check_clock(installation: Installation) -> Iterator[Finding]:
    code, output, errors = output_of([installation.probe], QUICK)
    reports = reports_of(output)
    if not reports:
        yield Finding("clock", PROBLEM, f"{installation.probe} does not run: {errors.strip() or code}", "install hdtrace anew, with all its files")
        return
    report = reports[0]
    values = {key: report[key] for key in ("clock", "clock_ns")}
    if report["clock"] == "tsc":
        yield Finding("clock", FINE, f"times come from the processor's counter, each in {report['clock_ns']:.0f} ns", values=values)
        return
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = source.read_text().strip() if source.exists() else "unknown"
    yield Finding("clock", NOTE, f"times come from clock_gettime, each in {report['clock_ns']:.0f} ns: the kernel's own clock is {name}",
                  "nothing is wrong; a kernel whose clock source is tsc would take less", values)


def _file_system(folder: Path) -> str:
    """The type of the one that a folder is on."""
    best, kind = "", "unknown"
    mounts = Path("/proc/self/mounts")
    for line in mounts.read_text(errors="replace").splitlines() if mounts.exists() else ():
        place, name = line.split()[1:3]
        place = re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), place)
        if len(place) >= len(best) and (folder == Path(place) or Path(place) in folder.parents):
            best, kind = place, name
    return kind


def _write_speed(folder: Path) -> float:
    """In bytes per second, until they are on the disk."""
    block, size, begin = os.urandom(_BLOCK), 0, time.monotonic()
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        while size < _SIZE and time.monotonic() - begin < _LONGEST_WRITE:
            size += file.write(block)
        os.fsync(file.fileno())
    return size / max(time.monotonic() - begin, 1e-9)


def _check_folder(folder: Path, inside: Path | None, why_not: str) -> Iterator[Finding]:
    section = "folder"
    if inside is None:
        yield Finding(section, PROBLEM, f"{folder}: nothing can be written there: {why_not}", "choose another folder: --directory, or hdtrace record -o")
        return
    kind = _file_system(inside)
    free = shutil.disk_usage(folder).free
    try:
        speed = _write_speed(inside)
    except OSError as error:
        yield Finding(section, PROBLEM, f"{folder}: writing fails: {error.strerror}", "make room, or choose another folder: --directory")
        return
    values = {"file_system": kind, "free_bytes": free, "bytes_per_second": round(speed)}
    about = f"{folder} ({kind}): {speed / 1e6:,.0f} MB per second, {free / 1e9:,.1f} GB free"
    if free < _LITTLE_SPACE:
        yield Finding(section, NOTE, f"{about}, which is little", "choose another folder, or record less: --compress zstd, --all-functions 0", values)
    elif speed < _SLOW_FOLDER:
        yield Finding(section, NOTE, f"{about}, which is slow", "record to a folder on this host's own disk, or less: --compress zstd", values)
    elif _SHARED.fullmatch(kind):
        yield Finding(section, NOTE, f"{about}, shared by hosts", "for hundreds of processes see docs/clusters.md", values)
    else:
        yield Finding(section, FINE, about, values=values)


def _check_limits() -> Iterator[Finding]:
    section = "limits"

    def shown(name: str) -> tuple[int, str]:
        limit = resource.getrlimit(getattr(resource, name))[0]
        return (2**63, "no limit") if limit == resource.RLIM_INFINITY else (limit, f"{limit:,}")

    files, text = shown("RLIMIT_NOFILE")
    yield Finding(section, FINE if files >= _FEW_FILES else NOTE, f"open files of a process: {text}",
                  "" if files >= _FEW_FILES else "each thread that calls MPI needs one: ulimit -n 1024", {"files": files})
    size, text = shown("RLIMIT_FSIZE")
    yield Finding(section, FINE if size == 2**63 else NOTE, f"size of a file: {text}",
                  "" if size == 2**63 else "a trace ends where it is reached: ulimit -f unlimited", {"file_bytes": size})
    memory, text = shown("RLIMIT_AS")
    yield Finding(section, FINE if memory >= _LITTLE_MEMORY else NOTE, f"memory of a process: {text}",
                  "" if memory >= _LITTLE_MEMORY else "merging and reading may need more: ulimit -v unlimited", {"memory_bytes": memory})
    core, text = shown("RLIMIT_CORE")
    yield Finding(section, FINE, f"core files: {'none (ulimit -c unlimited allows them)' if core == 0 else text}", values={"core_bytes": core})


# ---- what other programs and libraries bring ----


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _converts_to(form: str) -> bool:
    return re.search(rf"\b{form}\b", output_of([beside_this("hdtrace-convert"), "--help"], QUICK)[1]) is not None


def _allows_perf_events() -> bool:
    level = Path("/proc/sys/kernel/perf_event_paranoid")
    try:
        return int(level.read_text()) <= 2 or os.geteuid() == 0
    except (OSError, ValueError):
        return False


def _has_watchpoints() -> bool:
    reports = reports_of(output_of([Installation().probe], QUICK)[1])
    return bool(reports and reports[0]["watchpoints"])


_EXTRAS: tuple[tuple[str, Callable[[], bool], str, str], ...] = (
    ("pandas", lambda: importlib.util.find_spec("pandas") is not None, "tables of calls in Python", "install python3-pandas"),
    ("zstd", lambda: _can_load("libzstd.so.1"), "traces that are compressed with zstd", "install libzstd1, or use --compress gzip"),
    ("OTF2", lambda: _converts_to("otf2"), "conversion for Vampir, Cube and Scalasca", "install libotf2-trace-dev (or OTF2) and build hdtrace anew"),
    ("SimGrid", lambda: shutil.which("smpirun") is not None, "simulation of a run on another machine", "install libsimgrid-dev; see docs/simulate.md"),
    ("perf events", _allows_perf_events, "counters of the processor",
     "an administrator can set kernel.perf_event_paranoid to 2; see docs/counters.md"),
    ("watchpoints", _has_watchpoints, "the line that uses a buffer too early, with hdtrace record --check",
     "an administrator can set kernel.perf_event_paranoid to 2; virtual machines may have none"),
    ("PAPI", lambda: any(_can_load(f"libpapi.so.{version}") for version in ("7.2", "7.1", "7.0", "6.0", "5.7", "5")), "counters of PAPI",
     "install libpapi7.0, or what has libpapi.so of a version from 5.7 to 7.2; see docs/counters.md"),
)


def _check_extras() -> Iterator[Finding]:
    for name, is_there, purpose, advice in _EXTRAS:
        there = is_there()
        yield Finding("extras", FINE if there else NOTE, f"{name}: {purpose}" + ("" if there else ": not here"), "" if there else advice)


# ---- all of it ----


def examine(folder: Path, words: Sequence[str]) -> Generator[Finding, None, None]:
    installation = Installation()
    if not installation.selector.exists() or not installation.probe.exists():
        yield Finding("MPI libraries", PROBLEM, f"the tracer's libraries are missing: {installation.folder}", "install hdtrace anew, with all its files")
        return
    libraries: list[Library] = []
    yield from _check_libraries(installation, libraries)
    inside, why_not = None, ""
    there = folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        inside = Path(tempfile.mkdtemp(prefix="hdtrace-doctor-", dir=folder)).resolve()
    except OSError as error:
        why_not = error.strerror or str(error)
    try:
        yield from _check_launcher(installation, words, libraries, inside)
        yield from _check_clock(installation)
        yield from _check_folder(folder, inside, why_not)
    finally:
        if inside:
            shutil.rmtree(inside if there else folder, ignore_errors=True)
    yield from _check_limits()
    yield from _check_extras()


def _print(finding: Finding, is_first: bool) -> None:
    if is_first:
        print(finding.section)
    print(f"  {finding.state:<8} {printable(finding.text)}")
    if finding.advice:
        print(f"  {'':<8} -> {printable(finding.advice)}", flush=True)


def run(arguments: Namespace) -> int:
    end_tidily()
    words = arguments.launcher
    if words[:1] == ["--"]:
        words = words[1:]
    if words:
        refuse_programs(words, "doctor")
    findings: list[Finding] = []
    with closing(examine(Path(arguments.directory), words)) as examined:  # which removes what it has written
        for finding in examined:
            if not arguments.json:
                _print(finding, not findings or findings[-1].section != finding.section)
            findings.append(finding)
    problems = sum(finding.state == PROBLEM for finding in findings)
    if arguments.json:
        print_json({"version": 1, "problems": problems, "findings": [asdict(finding) for finding in findings]})
    return 1 if problems else 0
