"""hdtrace info"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .._hdtrace import printable, printable_lines
from ..project import Project
from .output import clock_table, counted, print_json, table
from .run import describe_run, run_tables, settings_text


def _datatypes(project: Project) -> list[dict[str, Any]]:
    """Equal datatypes of several processes as one."""
    known = Counter(
        (datatype.attributes.get("name", ""), datatype.combiner, datatype.attributes.get("size"), datatype.attributes.get("extent"))
        for datatypes in project.datatypes.values()
        for datatype in datatypes.values()
    )
    return [
        {"name": name, "combiner": combiner, "size": size, "extent": extent, "descriptions": count}
        for (name, combiner, size, extent), count in known.items()
    ]


def describe(project: Project) -> dict[str, Any]:
    """All that is shown."""
    return {
        "name": project.name,
        "description": project.description,
        "processes": project.process_count,
        "hosts": sorted({process.host for process in project.processes}),
        "clocks": project.clocks,
        "threads": [{"rank": one.rank, "thread": one.thread, "trace": one.path} for one in project.threads],
        "worlds": [
            {"uid": one.uid, "first_rank": one.first_rank, "processes": one.size} for one in project.worlds
        ],
        "communicators": [
            {"name": label, "uid": one.uid, "processes": one.size, "ranks": [member.global_rank for member in one.members]}
            for label, one in zip(project.communicator_labels, project.communicators)
        ],
        "windows": [
            {"name": label, "uid": one.uid, "communicator": one.communicator, "processes": len(one.members)}
            for label, one in zip(project.window_labels, project.windows)
        ],
        "files": [
            {"name": label, "initial_size": one.initial_size, "processes": len({rank.global_rank for rank in one.ranks})}
            for label, one in zip(project.file_labels, project.files)
        ],
        "datatypes": _datatypes(project),
        "run": describe_run(project.run),
    }


_MOST_ROWS = 20  # of a table, if not all are asked for: programs were seen that make ten thousand communicators


def _text(about: dict[str, Any], run: list[str], is_all: bool) -> str:
    def cells(keys: list[str], rows: list[dict[str, Any]]) -> list[list[object]]:
        return [["" if row[key] is None else row[key] for key in keys] for row in rows]

    def objects(heads: list[str], rows: list[list[object]], numbers: Iterable[str]) -> str:
        shown = rows if is_all else rows[:_MOST_ROWS]
        more = len(rows) - len(shown)
        return table(heads, shown, numbers) + (f"and {counted(more, f'more {heads[0]}')}; --all shows all\n" if more else "")

    counts = ", ".join([counted(about["processes"], "process", "es"), counted(len(about["hosts"]), "host"), counted(len(about["threads"]), "thread")])
    parts = [f"{printable(about['name'])}: {counts}\n"]
    if about["description"]:
        parts.append(printable_lines(about["description"]) + "\n")
    if about["worlds"]:
        rows = [[one["uid"], one["first_rank"], one["processes"]] for one in about["worlds"]]
        parts.append(objects(["world", "first rank", "processes"], rows, ["first rank", "processes"]))
    if about["clocks"][1:]:
        parts.append(clock_table(about["clocks"], is_all))
    parts.append(
        objects(
            ["communicator", "processes", "uid"],
            [[one["name"], one["processes"], one["uid"]] for one in about["communicators"]],
            ["processes"],
        )
    )
    for kind, keys in (
        ("windows", ["name", "processes", "communicator"]),
        ("files", ["name", "initial_size", "processes"]),
        ("datatypes", ["name", "combiner", "size", "extent", "descriptions"]),
    ):
        if about[kind]:
            heads = [kind[:-1], *(key.replace("_", " ") for key in keys[1:])]
            numbers = {"processes", "initial size", "size", "extent", "descriptions"}
            parts.append(objects(heads, cells(keys, about[kind]), numbers))
    return "\n".join(parts + run)


def run(arguments: Namespace) -> int:
    project = Project(*arguments.project)
    if arguments.settings:
        print(settings_text(project), end="")
    elif arguments.json:
        print_json(describe(project))
    else:
        print(_text(describe(project), run_tables(project.run), arguments.all), end="")
    return 0
