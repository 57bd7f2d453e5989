"""Figures of a project, for notebooks and scripts. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .project import Project


class Figures:
    """What `hdtrace plot` draws, as figures of matplotlib: a notebook shows them, `figure.savefig()` writes them, `figure.axes` can be changed.

    A SVG has a group rank-0, rank-1, ... for all of a rank.
    """

    def timeline(self: Project) -> Figure:
        """Calls of each rank over time, coloured by their class."""
        return _draw(self, "timeline")

    def matrix(self: Project) -> Figure:
        """How many bytes each rank sends to each other one."""
        return _draw(self, "matrix")

    def sizes(self: Project) -> Figure:
        """How many messages there are of which size."""
        return _draw(self, "sizes")

    def waits(self: Project) -> Figure:
        """How long each rank waits, and in which way."""
        return _draw(self, "waits")

    def efficiency(self: Project) -> Figure:
        """Parallel efficiency, and the figures that multiply to it."""
        return _draw(self, "efficiency")

    def critical_path(self: Project) -> Figure:
        """How long the critical path is in each rank."""
        return _draw(self, "critical-path")

    def io_time(self: Project) -> Figure:
        """Where in each file is read and written, over time."""
        return _draw(self, "io-time")

    def io_size(self: Project) -> Figure:
        """How many accesses of files there are of which size."""
        return _draw(self, "io-size")

    def io_map(self: Project, row: int | None = None) -> Figure:
        """The bytes of each file that are accessed, in rows of so many bytes."""
        return _draw(self, "io-map", row=row)


def _draw(project: Project, kind: str, **options: Any) -> Figure:
    from .plot.kinds import KINDS

    project._check_readable()
    return KINDS[kind](project, **options)
