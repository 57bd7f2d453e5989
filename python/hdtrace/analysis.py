"""Why a run took the time that it took. docs/analyze.md explains every figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import io_use
from ._hdtrace import Explanation
from ._hdtrace import Project as _Project
from .streams import STATES_BETWEEN_PAUSES, Interval

if TYPE_CHECKING:
    import pandas

    from .cli.output import Progress

Rows = list[dict[str, Any]]


@dataclass(frozen=True, repr=False)
class Analysis:
    """All figures. Times are in seconds; rows are dictionaries, `to_dataframe()` makes a table of them.

    seconds: from the beginning of the first call to the end of the last one
    processes: how many
    activities: computation, waiting, and the classes of calls: `seconds` of all processes, and `minimum`, `mean` and `maximum` of a
        process, with the ranks that have them
    time: by `rank`, `site`, `region` and `communicator`: where the time went; by `stack` each site in each region
    wait_states: `kind`, `seconds` and `count` of the calls of a `rank` at a `site` that waited for others, and the `cause`: whose call
        ended the waiting when it began; the largest first
    causes: what a `rank` did longer than others, which made these wait: `seconds` are what that cost them, `direct` if they waited for
        this rank, and `propagated` if they waited for those who did; the costliest first
    critical_path: its `seconds`, its `profile` and how long it is in which of the `ranks`; `imbalance` in the profile is by how much the
        run would be shorter, at most, if all processes had an equal part of it
    efficiencies: `parallel` = `load_balance` x `io` x `communication`, and `communication` = `serialisation` x `transfer`
    phases: what all processes repeat: `iterations` of the `calls`, which take the `typical` time, from the `shortest` to the `longest`; `begins` and
        `times` of all of them; `outliers`, each with its `excess` over the typical time, and the `rank` whose computation is the reason, or
        None; the `drift` from the `first` to the `last`, or None
    io: `files`: what is done with each file, and when: its `phases`; `uses`: the same by call and site; `findings`: what may be done better,
        with what to `try`
    clocks: what was added to the times of each `host`: its `offset`, and `drift` times the time since the first message; `uncertainty`, or None if
        messages do not bound it on both sides; `parts` if the clock did not run evenly, each with
        its `drift` and, if the clock was set at its begin, the `jump`
    reversed_messages: how many messages seem to be received before they are sent all the same
    missing: traces that were cut off
    unfinished: how many calls never ended, or had not when the trace did: whom they wait for tells `hdtrace check`, not the wait states
    """

    seconds: float
    processes: int
    activities: Rows
    time: dict[str, Rows]
    wait_states: Rows
    causes: Rows
    critical_path: dict[str, Any]
    efficiencies: dict[str, Any]
    phases: Rows
    io: dict[str, Rows]
    clocks: Rows
    reversed_messages: int
    missing: list[str]
    unfinished: int

    def __repr__(self) -> str:
        return f"<Analysis of {self.processes} processes, {self.seconds:.6f} seconds, parallel efficiency {self.efficiencies['parallel']:.3f}>"

    @classmethod
    def read(cls, project: _Project, interval: Interval = (None, None), progress: Progress | None = None) -> Analysis:
        explanation = Explanation(project, *interval)
        while explanation.read(STATES_BETWEEN_PAUSES):
            if progress:
                progress.add(STATES_BETWEEN_PAUSES)
        return cls.of(project, explanation)

    @classmethod
    def of(cls, project: _Project, explanation: Explanation) -> Analysis:
        """Of what has read everything."""
        wait_states, uses = explanation.wait_states(), explanation.file_uses()
        return cls(
            seconds=explanation.seconds,
            processes=project.process_count,
            activities=explanation.activities(),
            time={
                "rank": explanation.use_of_ranks(),
                "site": explanation.use_of_sites(),
                "region": explanation.use_of_regions(),
                "communicator": explanation.use_of_communicators(),
                "stack": explanation.use_of_stacks(),
            },
            wait_states=wait_states,
            causes=explanation.causes(),
            critical_path=explanation.critical_path(),
            efficiencies=explanation.efficiencies(),
            phases=explanation.phases(),
            io={
                "files": io_use.files(uses, explanation.file_phases()),
                "uses": uses,
                "findings": io_use.findings(uses, wait_states, explanation.seconds),
            },
            clocks=explanation.clocks(),
            reversed_messages=explanation.reversed_messages(),
            missing=explanation.missing,
            unfinished=explanation.unfinished,
        )

    def to_dataframe(self, what: str = "wait_states") -> pandas.DataFrame:
        """A table: "activities", "wait_states", "causes", "clocks", "critical_path", "phases", "files", "uses" (of files), "findings", or the time by "rank", "site", "region", "communicator" or "stack". Sites are texts."""
        import pandas

        tables = {
            **self.time, **self.io, "activities": self.activities, "wait_states": self.wait_states, "causes": self.causes,
            "critical_path": self.critical_path["profile"], "phases": self.phases, "clocks": self.clocks,
        }
        if what not in tables:
            raise ValueError(f"what: '{what}' is none of {', '.join(tables)}")
        rows = tables[what]
        return pandas.DataFrame([_flat(row) for row in rows])


def _flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat = {}
    for name, value in row.items():
        if name in ("cause", "until"):
            flat |= _flat(value or {}, f"{name}_")
        elif name == "classes":
            flat |= {f"mpi_{one.replace('-', '_')}": seconds for one, seconds in value.items()}
        else:
            flat[prefix + name] = None if value is None else str(value) if name == "site" else value
    return flat


def scaling(analyses: list[Analysis]) -> dict[str, list[float]]:
    """Of each run, compared with the first one: how much computation all processes of that one did for each second that those of this one
    do, 1 if it does not grow with their number; and that times the parallel efficiency."""
    runs = [analysis.efficiencies for analysis in analyses]
    sums = [run["computation"] * run["processes"] for run in runs]
    computation = [sums[0] / one if one > 0 else 1.0 for one in sums]
    return {
        "computational_scalability": computation,
        "global_efficiency": [one * run["parallel"] for one, run in zip(computation, runs)],
    }
