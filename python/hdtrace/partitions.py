"""Calls as a Dask DataFrame, for traces that are larger than the memory: a partition for each process."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ._hdtrace import Project as _Project
from ._hdtrace import read_project
from .streams import Calls

if TYPE_CHECKING:
    import dask.dataframe
    import pandas

Choice = dict[str, Any]  # arguments of select()

_BEFORE_ALL_CALLS = -(2**62)


@lru_cache(maxsize=1)
def _opened(paths: tuple[str, ...]) -> _Project:
    """Once in each process that works on partitions. What is wrong with them was told when the user opened them."""
    project, _ = read_project(list(paths))
    return project


def _calls_of(rank: int, paths: tuple[str, ...], choice: Choice) -> pandas.DataFrame:
    return Calls(_opened(paths), paths, choice | {"ranks": [rank]}).to_dataframe()


def dask_frame(project: _Project, paths: tuple[str, ...], choice: Choice) -> dask.dataframe.DataFrame:
    import dask.dataframe
    from dask.dataframe.utils import clear_known_categories

    wanted = set(choice["ranks"])
    ranks = sorted({thread.rank for thread in project.threads if not wanted or thread.rank in wanted})
    nothing = Calls(project, paths, choice | {"begin": _BEFORE_ALL_CALLS, "end": _BEFORE_ALL_CALLS}).to_dataframe()
    nothing = clear_known_categories(nothing)
    if not ranks:
        return dask.dataframe.from_pandas(nothing, npartitions=1)
    return dask.dataframe.from_map(_calls_of, ranks, paths=paths, choice=choice, meta=nothing, label="hdtrace")
