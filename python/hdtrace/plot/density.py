"""Rows with more parts than a picture has columns: in each column the colours stand above each other, each as high as its share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from matplotlib.colors import to_rgba

COLUMNS = 2000  # more than a page has pixels
_HEIGHT = 48  # of the pixels of a row


def _covered(begins: numpy.ndarray, ends: numpy.ndarray, edges: numpy.ndarray) -> numpy.ndarray:
    """How much of each column lies within any of the parts, which may overlap."""
    order = numpy.argsort(begins, kind="stable")
    ends = numpy.maximum.accumulate(ends[order])
    begins = begins[order]
    begins[1:] = numpy.maximum(begins[1:], ends[:-1])  # without what others have already covered
    behind = numpy.cumsum(ends - begins)
    moments = numpy.column_stack([begins, ends]).ravel()
    so_far = numpy.column_stack([behind - (ends - begins), behind]).ravel()
    return numpy.diff(numpy.interp(edges, moments, so_far))


def shares(begins: numpy.ndarray, ends: numpy.ndarray, colours: Sequence[str], edges: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """How much of each column is drawn in each colour, from 0 to 1. Parts cover those of colours that come before theirs."""
    of_parts = numpy.asarray(colours)
    left = _covered(begins, ends, edges)
    found = {}
    for colour in reversed(dict.fromkeys(colours)):
        is_of_colour = of_parts == colour
        found[colour] = numpy.minimum(_covered(begins[is_of_colour], ends[is_of_colour], edges), left)
        left = left - found[colour]
    return {colour: found[colour] / numpy.diff(edges) for colour in sorted(found)}


def stacked(of_colours: dict[str, numpy.ndarray]) -> numpy.ndarray:
    """The pixels of a row, from its top, with red, green, blue and opacity: the colours stand on its bottom."""
    heights = (numpy.arange(_HEIGHT, 0, -1) - 0.5)[:, None] / _HEIGHT
    pixels = numpy.zeros((_HEIGHT, len(next(iter(of_colours.values()))), 4))
    bottom: float | numpy.ndarray = 0.0
    for colour, share in of_colours.items():
        top = bottom + share
        pixels[(heights > bottom) & (heights <= top)] = to_rgba(colour)
        bottom = top
    return pixels
