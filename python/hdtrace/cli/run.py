"""What `hdtrace info` tells of the run itself."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .._hdtrace import RunFact, RunProcess, printable
from ..project import Project
from ..run import Run
from .output import counted, ranges_text, seconds, table


def describe_run(run: Run) -> dict[str, Any]:
    """For JSON: a list for each kind of facts, and the processes."""
    about: dict[str, Any] = {}
    for fact in run.facts:
        about.setdefault(fact.kind.lower(), []).append({**fact.values, "ranks": fact.ranks})
    about["processes"] = [
        {
            "rank": process.rank,
            "pid": process.pid,
            "cpu_times": [{"time": cpu.time, "user": cpu.user, "system": cpu.system, "waited": cpu.waited} for cpu in process.cpu_times],
            "signals": [{"name": one.name, "time": one.time, "thread": one.thread} for one in process.signals],
            "threads": [
                {"number": one.number, "tid": one.tid, "name": one.name, "begin": one.begin, "end": one.end}
                for one in process.threads
            ],
        }
        for process in run.processes
    ]
    about["oversubscribed"] = [
        {"host": host.host, "processes": host.processes, "processors": host.processors, "running": host.running, "waiting": host.waiting}
        for host in run.oversubscribed_hosts
    ]
    return about


def _value(fact: RunFact, key: str) -> str:
    value = fact.values.get(key, "")
    return f"{value}... ({fact.values['omitted']} more bytes)" if "omitted" in fact.values else value


def _user(fact: RunFact) -> str:
    number = f"({fact.values['uid']})" if "uid" in fact.values else ""
    return " ".join([fact.values.get("name", ""), number]).strip()


def _library(fact: RunFact) -> str:
    """Its name and number: MPICH's text goes on with many lines about how it was built."""
    first, *_ = fact.values.get("version", "").splitlines() or [""]
    return " ".join(first.split())


def _place(fact: RunFact) -> str:
    values = fact.values
    details = " ".join(f"{key} {values[key]}" for key in ("device", "port", "guid", "pattern") if values.get(key))
    return f"{values.get('host', '')}: {values.get('address', '')} ({' '.join(filter(None, [values.get('by', ''), details]))})"


def _conditions(fact: RunFact) -> str:
    return " and ".join(f"{key} = {value}" for key, value in fact.values.items() if key not in ("record", "line"))


def _used(processes: list[RunProcess]) -> Iterator[str]:
    """The processor time that all processes used."""
    ended = [process.cpu_times for process in processes if len(process.cpu_times) > 1]
    if ended:
        user, system = (sum(getattr(times[-1], kind) - getattr(times[0], kind) for times in ended) for kind in ("user", "system"))
        yield f"{seconds(user)} s user, {seconds(system)} s system from the begin of MPI to the end, of {counted(len(ended), 'process', 'es')}"


def _origin(fact: RunFact) -> str:
    parts = ((", written by ", "creator"), ("; times: ", "times"), ("; not recorded: ", "lacks"))
    return fact.values.get("format", "") + "".join(before + fact.values[name] for before, name in parts if fact.values.get(name))


_SHOWN = (
    ("imported from", "Origin", _origin),
    ("user", "User", _user),
    ("command", "Command", lambda fact: _value(fact, "line")),
    ("program", "Program", lambda fact: _value(fact, "path")),
    ("directory", "Directory", lambda fact: _value(fact, "path")),
    ("MPI library", "Library", _library),
    ("tracer", "Library", lambda fact: fact.values.get("tracer", "")),
    ("place", "Place", _place),
)


_MOST_ROWS = 20


def _first(rows: list[list[str]]) -> list[list[str]]:
    """Not more than people read: each process may have a command of its own."""
    more = [[rows[0][0], f"... and {len(rows) - _MOST_ROWS} more", ""]] if len(rows) > _MOST_ROWS else []
    return rows[:_MOST_ROWS] + more


_IGNORED_TIME = "seconds ignored"  # known where rules ask for it, and of polls


def _functions(run: Run) -> tuple[list[str], list[list[object]]]:
    calls = sorted(run.calls.items())
    if not any(count.ignored_time for _, count in calls):
        return ["function", "recorded", "ignored"], [[name, count.recorded, count.ignored] for name, count in calls]
    rows: list[list[object]] = [[name, count.recorded, count.ignored, f"{count.ignored_time:.6f}" if count.ignored_time else ""] for name, count in calls]
    return ["function", "recorded", "ignored", _IGNORED_TIME], rows


def run_rows(run: Run) -> Iterator[tuple[list[str], list[list[object]]]]:
    """Heads and lines of each table that has any."""
    rows = [row for title, kind, text in _SHOWN for row in _first([[title, text(fact), ranges_text(fact.ranks)] for fact in run.of_kind(kind)])]
    rows += [["processor time", text, ""] for text in _used(run.processes)]
    rows += _first([["oversubscribed", str(host), ""] for host in run.oversubscribed_hosts])
    names = Counter(thread.name for process in run.processes for thread in process.threads if thread.name)
    tables: list[tuple[list[str], list[list[Any]]]] = [
        (["run", "", "ranks"], rows),
        (["note", "value", "ranks"], [[fact.values.get("key", ""), _value(fact, "value"), ranges_text(fact.ranks)] for fact in run.of_kind("Note")]),
        (
            ["setting", "value", "from", "ranks"],
            [
                [fact.values.get("name", ""), _value(fact, "value"), fact.values.get("from", ""), ranges_text(fact.ranks)]
                for fact in run.of_kind("Setting")
                if fact.values.get("from") != "default"
            ],
        ),
        (
            ["rule", "record", "conditions"],
            [[fact.values.get("line", ""), fact.values.get("record", ""), _conditions(fact)] for fact in run.of_kind("Rule")],
        ),
        (
            ["variable", "value", "ranks"],
            [
                [fact.values.get("name", ""), "(hidden)" if "hidden" in fact.values else _value(fact, "value"), ranges_text(fact.ranks)]
                for fact in run.of_kind("Variable")
            ],
        ),
        (["thread", "count"], [[name, count] for name, count in sorted(names.items())]),
        _functions(run),
    ]
    yield from ((heads, lines) for heads, lines in tables if lines)


def run_tables(run: Run) -> list[str]:
    """For people; nothing if nothing is known."""
    return [table(heads, lines, ["count", "recorded", "ignored", _IGNORED_TIME]) for heads, lines in run_rows(run)]


def _comment(text: str) -> str:
    return f"# {printable(text)}\n"


def settings_text(project: Project) -> str:
    """Assignments for a shell that repeat the run. Whatever stands in the project, nothing else is among them."""
    settings = [fact for fact in project.run.of_kind("Setting") if re.fullmatch("HDTRACE_[A-Z_]+", fact.values.get("name", ""))]
    if not settings:
        raise ValueError(f"{project.path} does not tell the settings of its run")
    text = _comment(f"The settings of {project.name}. The same again: set -a; . ./FILE; set +a")
    for fact in project.run.of_kind("Command")[:1]:
        text += _comment(f"Command, in {project.run.directory or 'an unknown directory'}: {_value(fact, 'line')}")
    known = set()
    for fact in settings:
        name, origin = fact.values["name"], fact.values.get("from", "")
        assignment = f"{name}={shlex.quote(fact.values.get('value', ''))}"
        if name in known:
            text += _comment(f"ranks {ranges_text(fact.ranks)}: {assignment}")
        elif "omitted" in fact.values:
            text += _comment(f"too long to be recorded as a whole: {name}")
        elif origin == "default":
            text += _comment(f"default: {assignment}")
        else:
            text += _comment(f"{origin}:") + assignment + "\n"
        known.add(name)
    return text
