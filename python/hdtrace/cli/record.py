"""hdtrace record"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from .._hdtrace import files_in, printable
from ..live import LiveRun, unfinished_processes
from ..project import Project
from ..streams import STATES_BETWEEN_PAUSES
from .children import descendants, send
from .launchers import MissingOption, Program, UnknownOption, is_launcher, launcher_of, programs_in
from .output import Progress, UsageError, behind_the_last_call, beside_this, count_of_processes, counted, message, reason, seconds, size, table
from .stuck import Watch, stuck_lines

_NOT_FOUND, _NOT_EXECUTABLE, _BY_SIGNAL = 127, 126, 128  # exit codes as shells give them
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # which the program gets, too
_STATISTICS_ONLY, _FOLLOW, _NO_FOLLOW = "--statistics-only", "--follow", "--no-follow"
_MOST_CALLS = 5_000_000  # that are counted for the summary, in some seconds
_ROWS = 5
_LOOK_EVERY = 1.0  # seconds
_LONGEST_END = 3.0  # seconds until processes have ended after the launcher has
_LONGEST_LAUNCHER_END = 10.0  # seconds until a launcher that was asked to end has ended its processes
_LAUNCHER = "hdtrace-run"
subprocess._USE_POSIX_SPAWN = False  # which leaves the program two signals of the C library ignored
_End = Callable[[subprocess.Popen[bytes]], None]


def _cannot_start(program: str) -> tuple[str, int] | None:
    """Why, and the exit code, as shells say it."""
    if shutil.which(program):
        return None
    if "/" not in program:
        return "command not found", _NOT_FOUND
    number = errno.EACCES if os.path.exists(program) else errno.ENOENT
    return os.strerror(number), _NOT_EXECUTABLE if number == errno.EACCES else _NOT_FOUND


def _programs(words: Sequence[str]) -> list[Program]:
    """Those in the command line; the first word is one if it is no launcher. The launcher is asked for it, so ask once."""
    if any(os.path.basename(word) == _LAUNCHER for word in words):
        raise UsageError(f"record: put no {_LAUNCHER} into the command: it is put there")
    try:
        launcher = launcher_of(words[0])
        return programs_in(words, launcher) if launcher else [Program(0)]
    except MissingOption as error:
        raise UsageError(f"record: {error}") from error
    except UnknownOption as error:
        raise UsageError(
            f"record: {error}. Put hdtrace-run before the program yourself, as in: mpirun -n 4 {_LAUNCHER} -d DIR ./app; "
            "then: hdtrace stats DIR"
        ) from error


def _traced(words: Sequence[str], programs: Sequence[Program], tracer: Sequence[str]) -> list[str]:
    """The command line with hdtrace-run before each program."""
    command = list(words)
    for program in reversed(programs):
        folders = ["--path", program.folders] if program.folders else []
        command[program.place : program.place] = [*tracer, *folders, "--"]
    return command


def _new_folder(name: str) -> Path:
    """APP-WHEN.hdtrace, in the current directory."""
    stem = f"{name}-{time.strftime('%Y-%m-%dT%H-%M-%S')}"
    for number in range(1, 1000):
        folder = Path(f"{stem}{f'-{number}' if number > 1 else ''}.hdtrace")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(f"{stem}.hdtrace and many others are there")


def _chosen_folder(path: str) -> Path:
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"record: {path} is there and not empty: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _end(child: subprocess.Popen[bytes], is_launcher: bool) -> None:
    """Launchers end what they have started, unless they hang themselves; scripts do not."""
    send(signal.SIGTERM, [child.pid, *([] if is_launcher else descendants(child.pid))])
    try:
        child.wait(_LONGEST_LAUNCHER_END)
    except subprocess.TimeoutExpired:
        message(f"{child.args[0]} goes on after SIGTERM: it is killed, and what it has started on this host")
        send(signal.SIGKILL, [child.pid, *descendants(child.pid)])


def _wait(child: subprocess.Popen[bytes], watch: Watch | None, end: _End | None) -> int:
    """Not 0 where the run was ended: some launchers say so then (MPICH's)."""
    is_ended = False
    while True:
        try:
            return child.wait(_LOOK_EVERY if watch else None) or (-signal.SIGTERM if is_ended else 0)
        except subprocess.TimeoutExpired:
            found = None
            try:
                found = watch.look() if watch else None
            except Exception as error:  # whatever it is: the program goes on
                watch = None
                message(f"what its processes wait for is not looked at any more: {reason(error)}")
        if found:
            _say(f"hdtrace: {line}" for line in stuck_lines(found))
            if end and found.is_forever:
                message("the run is ended, since it cannot go on")
                end(child)
                watch, is_ended = None, True


def _put_back_locale() -> None:
    """For what is started: in the C locale Python sets the variable in its own environment, too (PEP 538)."""
    name = b"LC_CTYPE"
    with suppress(OSError):
        given = dict(entry.partition(b"=")[::2] for entry in Path("/proc/self/environ").read_bytes().split(b"\0"))
        os.environb.pop(name, None)
        os.environb.update({name: given[name]} if name in given else {})


def _run(command: list[str], watch: Watch | None, end: _End | None) -> int:
    """The exit code of the program. It has the terminal; signals that only we get are handed on. `end` ends it when it is stuck."""
    _put_back_locale()
    try:
        child = subprocess.Popen(command, close_fds=False)  # what we were given is for it, and ours are closed by exec
    except OSError as error:
        message(f"{command[0]}: {error.strerror}")
        return _NOT_EXECUTABLE if isinstance(error, PermissionError) else _NOT_FOUND
    before = {number: signal.signal(number, lambda number, _: child.send_signal(number)) for number in _FORWARDED}
    before |= {number: signal.signal(number, signal.SIG_IGN) for number in _FROM_TERMINAL}
    code = _wait(child, watch, end)
    for number, action in before.items():  # which is to ignore them behind nohup
        signal.signal(number, action)
    return code if code >= 0 else _BY_SIGNAL - code


def _infos(folder: Path) -> list[Path]:
    return [Path(name) for name, _, _ in files_in(folder) if name.endswith(".info")]


def _wait_for_ends(folder: Path) -> None:
    """Some launchers end before the processes do, or leave some behind: MPICH 4.2's does when another one failed."""
    latest = time.monotonic() + _LONGEST_END
    while left := unfinished_processes(folder):
        if time.monotonic() < latest:
            time.sleep(0.05)
            continue
        processes = ", ".join(str(process) if process >= 0 else "one on another host" for _, process in left)
        message(
            f"processes of the run that have not ended: {processes}. The project has what they have written until now. "
            f"When they have ended: {shlex.join(['hdtrace', 'merge', '--overwrite', str(folder)])}"
        )
        return


def _merge(folder: Path, quiet: bool) -> list[Path]:
    """The projects that there are now: one for each run."""
    command = [beside_this("project-merger"), "--audit-ends", *(["--quiet"] if quiet else []), folder]
    subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, restore_signals=False)  # unread warnings do not end it
    return list(folder.glob("*.proj"))


def _say(lines: Iterable[str]) -> None:
    """Below the program's own output, and apart from what a program writes for others."""
    for line in lines:
        print(printable(line).rstrip(), file=sys.stderr)


def _calls_in(project: Project) -> int:
    return sum(count.recorded for count in project.run.calls.values())


def _head(project: Project) -> str:
    hosts = len({process.host for process in project.processes})
    return f"{project.name}: {count_of_processes(project)}, {counted(hosts, 'host')}"


def _why_nothing(project: Project, code: int) -> list[str]:
    """Of processes that were killed in the first second nothing is in the trace, as of those that could not write their files."""
    if all(len(process.cpu_times) != 1 for process in project.run.processes):
        return []
    if code == 0:
        return ["The files of the trace could not be written to the end"]
    return ["The processes were killed before anything was written: with --force-flush each call is written at once"]


def _summary(project: Project, code: int) -> list[str]:
    head = _head(project)
    if _calls_in(project) > _MOST_CALLS and not project.statistics_only:
        return [f"{head}, {_calls_in(project):,} calls, exit code {code}", *project.run.oversubscription]
    statistics = project.calls().statistics()
    with Progress("counting") as progress:
        while statistics.read(STATES_BETWEEN_PAUSES):
            progress.add(STATES_BETWEEN_PAUSES)
    duration, totals = statistics.end - statistics.begin, statistics.totals
    groups = sorted(statistics.groups(["call"]), key=lambda group: -group[1].time)[:_ROWS]
    rows = [[label, one.calls, seconds(one.time), seconds(one.longest), size(one.bytes) if one.bytes else ""] for (label,), one in groups]
    heads = ["calls", "seconds", "longest", "bytes"]
    return [
        f"{head}, {totals.calls:,} calls in {seconds(duration)} seconds, exit code {code}",
        *(table(["call", *heads], rows, heads, stream=None).splitlines() if rows else []),
        *([] if totals.calls or statistics.unfinished else _why_nothing(project, code)),
        *([f"{counted(statistics.unfinished, 'call')} had not ended: hdtrace check and hdtrace pending tell of them"] if statistics.unfinished else []),
        *behind_the_last_call(project, statistics.end),
        *project.run.oversubscription,
    ]


def _what_next(project: Project, trace: Path) -> list[str]:
    commands = "info, report" if project.statistics_only else "info, analyze, check, dump, convert"
    return [f"Next:  hdtrace stats {shlex.quote(str(trace))} --by call --by rank --by site", f"       and {commands} in the place of stats"]


def _of_children(project: Project, follows: bool) -> list[str]:
    """What becomes of processes that it started through MPI."""
    calls = project.run.calls
    spawns = any(calls[name].recorded for name in ("Comm_spawn", "Comm_spawn_multiple") if name in calls)
    has_others = not all(communicator.is_traced for communicator in project.communicators)  # else none was spawned
    is_untraced = spawns and has_others and not project.worlds and not follows
    return ["The processes that it spawned are not in the trace: hdtrace record --follow traces them, too"] if is_untraced else []


def _about_one(folder: Path, code: int, follows: bool) -> list[str]:
    project = Project(folder)
    where = ("Statistics: " if project.statistics_only else "Trace: ") + shlex.quote(str(folder))
    return ["", *_summary(project, code), *_of_children(project, follows), where, *_what_next(project, folder)]


def _about_several(paths: list[Path], code: int) -> list[str]:
    """A line for each, in the order of time."""
    projects = sorted(map(Project, paths), key=lambda project: project.start)
    lines = [f"{_head(project)}, {_calls_in(project):,} calls: {shlex.quote(project.path)}" for project in projects]
    return ["", f"{len(projects)} runs, exit code {code}", *lines, *_what_next(projects[0], Path(projects[0].path))]


def _tell_of_run(folder: Path, code: int, arguments: Namespace, follows: bool) -> None:
    _wait_for_ends(folder)
    projects = _merge(folder, arguments.quiet)
    is_one = len(projects) <= 1
    if projects and not arguments.quiet:
        _say(_about_one(folder, code, follows) if is_one else _about_several(projects, code))
    for trace in [] if not arguments.check else [folder] if is_one else sorted(projects):
        subprocess.run([beside_this("hdtrace"), "check", *(["--quiet"] if arguments.quiet else []), trace], stdout=sys.stderr, stdin=subprocess.DEVNULL)


def _say_that_nothing_was_recorded(name: str, code: int, follows: bool) -> None:
    message(
        f"nothing was recorded: {name} ended with exit code {code} and did not call MPI_Init, uses an MPI library that has no "
        f"wrapper ({_LAUNCHER} --version), is linked with one statically, or was started with another LD_PRELOAD than the tracer's"
        + ("" if follows else f"; if {name} starts MPI programs: hdtrace record --follow")
    )


def _explained(options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What the launcher says to these options, the environment and the settings file that they name; it starts nothing."""
    command = [beside_this(_LAUNCHER), *options, "--explain"]
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", stdin=subprocess.DEVNULL)


def _check_options(options: list[str]) -> None:
    """Once, and before anything is made or started: not in each process. With the settings file that they or the environment name."""
    if not options and not os.environ.get("HDTRACE_CONFIG"):
        return
    result = _explained(options)
    if result.returncode:
        raise UsageError("record: " + result.stderr.partition("\n")[0].removeprefix(f"{_LAUNCHER}: "))


def _who_wants_statistics_only(options: Sequence[str]) -> str:
    """Empty if nobody does, or something that wins over them does not. The launcher knows: it refuses what is about single calls then."""
    result = _explained([*options, "--for-check"])
    if not result.returncode or _STATISTICS_ONLY not in result.stderr:
        return ""
    if _STATISTICS_ONLY in options:
        return _STATISTICS_ONLY
    if os.environ.get("HDTRACE_STATISTICS_ONLY") == "1":
        return "HDTRACE_STATISTICS_ONLY=1 in the environment"
    named = [value for option, value in pairwise(options) if option == "--config"]
    return f"statistics-only in the settings file {named[-1] if named else os.environ.get('HDTRACE_CONFIG')}"


def _refuse_statistics_only(arguments: Namespace, options: Sequence[str]) -> None:
    wanted = "--check" if arguments.check else "--stuck-seconds" if arguments.stuck_seconds else ""
    if wanted and (who := _who_wants_statistics_only(options)):
        raise UsageError(f"record: {who} keeps no single calls, which {wanted} looks at")


def _follows(options: Sequence[str]) -> bool:
    return [option for option in options if option in (_FOLLOW, _NO_FOLLOW)][-1:] == [_FOLLOW]


def run(arguments: Namespace) -> int:
    words = arguments.command_line
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        raise UsageError("record: which program? For example: hdtrace record mpirun -n 4 ./app")
    options = getattr(arguments, "tracer", [])
    _check_options(options)
    _refuse_statistics_only(arguments, options)
    if is_launcher(words[0]) and (obstacle := _cannot_start(words[0])):  # it cannot be asked either
        why, code = obstacle
        message(f"record: {words[0]}: {why}")
        return code
    programs = _programs(words)  # before anything is made
    has_launcher = programs[0].place > 0
    name = os.path.basename(words[programs[0].place])
    is_new = not (arguments.output and os.path.lexists(arguments.output))
    folder = _chosen_folder(arguments.output) if arguments.output else _new_folder(name)
    for_check = ["--for-check", "--all-functions=2"] if arguments.check else []  # groups and the like are made and freed by local queries
    apart = [] if has_launcher else ["--prefer-apart"]
    tracer = [str(beside_this(_LAUNCHER)), "-d", str(folder.resolve()), "--prefer-compact", *apart, *for_check, *options]
    watch = Watch(LiveRun(folder), arguments.stuck_seconds) if arguments.stuck_seconds else None
    code = _run(_traced(words, programs, tracer), watch, partial(_end, is_launcher=has_launcher) if arguments.end_stuck else None)
    try:
        if _infos(folder):
            _tell_of_run(folder, code, arguments, follows=_follows(options))
        else:
            _say_that_nothing_was_recorded(name, code, follows=_follows(options))
            if is_new and not any(folder.iterdir()):
                folder.rmdir()
    except Exception as error:  # as if somebody removes the folder, or memory is short; the exit code is still the program's
        message(reason(error))
    return code
