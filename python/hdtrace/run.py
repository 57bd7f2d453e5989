"""The run itself: who ran what, with which settings, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._hdtrace import OversubscribedHost, RunFact, RunProcess


_MOST_HOSTS = 3  # of which each has a line


@dataclass(frozen=True)
class Setting:
    """A setting of the tracer: `origin` is "default", "file", "environment" or "hdtrace-run" (an option of it)."""

    value: str
    origin: str


@dataclass
class CallCount:
    """How many calls of a function the trace has, and how many of the program's it leaves out.

    ignored_time: how many seconds those took of which rules say `record = count`, and polls that found nothing
    """

    recorded: int = 0
    ignored: int = 0
    ignored_time: float = 0.0


class Run:
    """What a project tells of its run; older projects tell nothing. `project.run` is one.

    facts: everything that may hold for several processes, each with `kind`, `values` and `ranks`, a list of (first, last)
    oversubscribed_hosts: where processes had to wait for a processor, so that all times hold that, too: more of them ran than there are processors, or
        the main thread of one waited for at least a twentieth of the time; each with `host`, `processes`, `processors`, and for how much of the time
        the processes were `running`, and their main threads `waiting` for a processor (None if not known); its str() says so
    processes: each with `rank`, `pid`, `cpu_times` (when MPI began, and at its end or the process's), `signals` that ended it, and `threads`

    What has one value here but several in the run has that of the lowest rank; `of_kind()` has all.
    """

    def __init__(self, facts: list[RunFact], processes: list[RunProcess], oversubscribed_hosts: list[OversubscribedHost]) -> None:
        self.facts = facts
        self.processes = processes
        self.oversubscribed_hosts = oversubscribed_hosts

    @property
    def oversubscription(self) -> list[str]:
        """A line for each host on which processes had to wait for a processor, or one about the worst of many."""
        hosts = self.oversubscribed_hosts
        if len(hosts) > _MOST_HOSTS:
            worst = min(hosts, key=lambda host: (-(host.waiting or 0), host.running or 0))
            told = [f"{worst}, and {len(hosts) - 1:,} more hosts ('hdtrace info --json' names them)"]
        else:
            told = [str(host) for host in hosts]
        return [f"Oversubscribed: {one}: times hold waiting for a processor, too" for one in told]

    def __repr__(self) -> str:
        return f"<Run of {len(self.processes)} processes: {self.command or 'the command is not known'}>"

    def of_kind(self, kind: str) -> list[RunFact]:
        """The facts of a kind, by the lowest rank for which they hold."""
        return sorted((fact for fact in self.facts if fact.kind == kind), key=lambda fact: fact.ranks[0][0] if fact.ranks else 0)

    def _first(self, kind: str, key: str) -> str | None:
        return next((fact.values.get(key) for fact in self.of_kind(kind)), None)

    def _first_of_each(self, kind: str, key: str) -> Iterator[tuple[str, dict[str, str]]]:
        known = set()
        for fact in self.of_kind(kind):
            name = fact.values.get(key, "")
            if name not in known:
                known.add(name)
                yield name, fact.values

    @property
    def user(self) -> str | None:
        return self._first("User", "name")

    @property
    def uid(self) -> int | None:
        uid = self._first("User", "uid")
        return None if uid is None else int(uid)

    @property
    def program(self) -> str | None:
        """The file that was run."""
        return self._first("Program", "path")

    @property
    def command(self) -> str | None:
        """The program and its arguments as a shell reads them; shlex.split() takes them apart."""
        return self._first("Command", "line")

    @property
    def directory(self) -> str | None:
        """The current one when MPI began."""
        return self._first("Directory", "path")

    @property
    def library(self) -> str | None:
        """The MPI library and its version."""
        return self._first("Library", "version")

    @property
    def tracer(self) -> str | None:
        """The version of hdtrace."""
        return self._first("Library", "tracer")

    @property
    def notes(self) -> dict[str, str]:
        """What the user said with `hdtrace-run --note`."""
        return {key: values.get("value", "") for key, values in self._first_of_each("Note", "key")}

    @property
    def settings(self) -> dict[str, Setting]:
        """All settings of the tracer by their variables."""
        return {
            name: Setting(values.get("value", ""), values.get("from", ""))
            for name, values in self._first_of_each("Setting", "name")
        }

    @property
    def environment(self) -> dict[str, str | None]:
        """The variables of launchers, MPI and OpenMP; None where the name looks like that of a secret."""
        return {name: values.get("value") for name, values in self._first_of_each("Variable", "name")}

    @property
    def calls(self) -> dict[str, CallCount]:
        """By the function's name without MPI_, of all processes; those that were killed do not tell theirs."""
        calls: dict[str, CallCount] = {}
        for fact in self.of_kind("Calls"):
            count = calls.setdefault(fact.values.get("name", ""), CallCount())
            processes = sum(last - first + 1 for first, last in fact.ranks)
            count.recorded += processes * int(fact.values.get("recorded", 0))
            count.ignored += processes * int(fact.values.get("ignored", 0))
            count.ignored_time += processes * float(fact.values.get("ignoredTime", 0))
        return calls

    @property
    def places(self) -> list[dict[str, str]]:
        """Where hosts are in the network: `host`, `by` whom that is known, `address` and what belongs to it."""
        return [fact.values for fact in self.of_kind("Place")]
