"""Colours that colour-blind people can tell apart, those of Okabe and Ito. The page of reports has the same for classes of calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

OF_CLASSES: dict[str, str] = json.loads((Path(__file__).parents[1] / "report/page/colours.json").read_text())
_SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444")


def for_each(values: Mapping[str, float]) -> dict[str, str]:
    """A colour for each name, in the order of their names; where there are more than colours, those with the smallest values have none."""
    largest = sorted(values, key=lambda name: -values[name])[: len(_SERIES)]
    return dict(zip(sorted(largest), _SERIES))


REST = "#bbbbbb"  # of what has no colour of its own
