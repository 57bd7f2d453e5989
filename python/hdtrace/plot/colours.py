"""Colours that colour-blind people can tell apart, those of Okabe and Ito. The page of reports has the same for classes of calls."""

from __future__ import annotations

from collections.abc import Iterable

OF_CLASSES = {
    "point-to-point": "#0072b2",
    "completion": "#56b4e9",
    "collective": "#e69f00",
    "one-sided": "#cc79a7",
    "file": "#009e73",
    "communicator": "#f0e442",
    "datatype": "#8a6fb0",
    "process": "#7f7f7f",
    "query": "#b0a8a0",
    "event": "#444444",
    "other": "#a3b18a",
}
_SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444")


def for_each(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name; they repeat if there are many."""
    return {name: _SERIES[i % len(_SERIES)] for i, name in enumerate(names)}
