"""What a run had: its communicators, datatypes, files and windows, and how it was run."""

from __future__ import annotations

from typing import Any

from .._hdtrace import Datatype, type_pieces
from ..cli.run import run_rows
from ..cli.stuck import rank_list
from ..project import Project

_MOST_PIECES = 512  # of a datatype
_MOST_MAPS = 1000  # datatypes
_SHORT = 60  # letters of a list of ranks

Row = dict[str, Any]


def _ranks(ranks: list[int]) -> str:
    text = rank_list(ranks)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _number(datatype: Datatype, name: str) -> int | None:
    text = datatype.attributes.get(name, "")
    return int(text) if text.lstrip("-").isdigit() else None


def _datatypes(project: Project) -> list[Row]:
    """Equal ones of several processes as one, with the bytes that it stands for: `pieces` from `begin` to `end` each, None if that is not described."""
    known: dict[tuple[Any, ...], Row] = {}
    for rank, datatypes in project.datatypes.items():
        for number, datatype in datatypes.items():
            pieces = type_pieces(project._project, rank, number, _MOST_PIECES) if len(known) < _MOST_MAPS else None
            figures = {name: _number(datatype, name) for name in ("size", "lb", "extent")}
            row = {"name": datatype.attributes.get("name", ""), "combiner": datatype.combiner, **figures, "pieces": pieces}
            known.setdefault((*list(row.values())[:-1], tuple(pieces or ())), row | {"count": 0})["count"] += 1
    return list(known.values())


def describe(project: Project, most_rows: int, notes: list[str]) -> Row:
    """For the page; adds to the notes what is left out."""

    def first(rows: list[Any], what: str) -> list[Any]:
        if len(rows) > most_rows:
            notes.append(f"Of {len(rows):,} {what} only the first {most_rows:,}; 'hdtrace info' has all.")
        return rows[:most_rows]

    return {
        "communicators": first(
            [
                {"name": label, "processes": len(one.members), "ranks": _ranks([member.global_rank for member in one.members])}
                for label, one in zip(project.communicator_labels, project.communicators)
            ],
            "communicators",
        ),
        "windows": first(
            [
                {"name": label, "processes": len(one.members), "bytes": sum(max(member.size or 0, 0) for member in one.members)}
                for label, one in zip(project.window_labels, project.windows)
            ],
            "windows",
        ),
        "files": first(
            [
                {"name": label, "initial_size": one.initial_size, "ranks": _ranks([rank.global_rank for rank in one.ranks])}
                for label, one in zip(project.file_labels, project.files)
            ],
            "files",
        ),
        "datatypes": first(_datatypes(project), "datatypes"),
        "description": project.description,
        "run": [{"heads": heads, "rows": first(rows, f"rows of '{heads[0]}'")} for heads, rows in run_rows(project.run)],
    }
