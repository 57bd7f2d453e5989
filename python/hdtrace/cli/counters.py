"""What `hdtrace stats` tells of the program's counters."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from .._hdtrace import CounterSum
from .output import table

_VALUES = ("first", "last", "minimum", "mean", "maximum", "sum")


def _text(value: int | float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def counter_table(sums: list[CounterSum]) -> str:
    has_threads = any(one.thread is not None for one in sums)

    def row(one: CounterSum) -> list[object]:
        thread = [] if not has_threads else ["" if one.thread is None else one.thread]
        return [one.name, one.definition.get("unit", ""), one.rank, *thread, one.count, *(_text(getattr(one, value)) for value in _VALUES)]

    numbers = ["rank", *(["thread"] if has_threads else []), "values", *_VALUES]
    return table(["counter", "unit", *numbers], map(row, sums), numbers)


def _json_value(value: int | float | None) -> int | float | str | None:
    """JSON has no numbers that are none; they stand there as in traces."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def describe_counters(sums: list[CounterSum]) -> dict[str, Any]:
    """For JSON: of each counter how it is defined, and its values by rank and thread."""

    def values(one: CounterSum) -> dict[str, Any]:
        thread = {} if one.thread is None else {"thread": one.thread}
        return {"rank": one.rank, **thread, "values": one.count, **{value: _json_value(getattr(one, value)) for value in _VALUES}}

    return {
        name: {"definition": of_name[0].definition, "told": [values(one) for one in of_name]}
        for name, of_name in ((name, list(group)) for name, group in groupby(sums, lambda one: one.name))
    }
