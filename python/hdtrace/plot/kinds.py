"""The kinds of figures. Each is a function that draws a project, with figures that the analyses know."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure as _Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .._hdtrace import Explanation, printable
from ..cli.output import counted
from ..cli.terminal import shortened
from ..streams import read_all
from . import colours, density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.backend_bases import RendererBase

    from ..project import Project

_MOST_FILES = 6
_NO_MESSAGES = "the traces tell of no message that was sent and received"
_NO_TIME = "the traces tell of no time"
_NO_ACCESSES = "the traces tell of no access where in a file it is"
_MOST_LETTERS = 80  # of a name above axes
_MOST_APART = 150  # rows of ranks with gaps between them
_MOST_CELLS = 500  # rows of a matrix: more are finer than the pixels of a page
_EFFICIENCIES = {
    "parallel": "parallel",
    "load_balance": "load balance",
    "io": "I/O",
    "communication": "communication",
    "serialisation": "serialisation",
    "transfer": "transfer",
}

_REGION = "#e7ece4"  # of the program's own, behind calls
_CLASSES = colours.OF_CLASSES | {"other": _REGION}


class Figure(_Figure):
    """Notebooks show it."""

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        self.savefig(png, format="png", dpi=100)
        return png.getvalue()


Parts = list[tuple[float, float, str]]  # begin, length, colour; those that come later lie above


def _rank_id(rank: int) -> str:
    """Of the group that has all of a rank in an SVG."""
    return f"rank-{rank}"


def _figure(width: float = 8, height: float = 4.5) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suppressComposite = True  # images stay apart
    return figure, figure.subplots()


def _height_of(ranks: int) -> float:
    return min(9.0, 1.6 + 0.22 * max(ranks, 6))


def _whole_numbers(*several: Axis) -> None:
    for axis in several:
        axis.get_major_locator().set_params(integer=True, min_n_ticks=1)  # of few numbers there may be but one


def _title(axes: Axes, *lines: str) -> None:
    axes.set_title("\n".join(lines), fontsize="small", loc="left", parse_math=False)


def _say_nothing(axes: Axes, why: str) -> None:
    """Instead of axes whose numbers mean nothing."""
    _title(axes, why)
    axes.set(xticks=[], yticks=[])


def _add(axes: Axes, drawn: Artist, gid: str) -> None:
    """Without fitting the axes to it, which looks each time at all that was added before."""
    drawn.set_gid(gid)
    axes.add_artist(drawn)


Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def _rectangles(rectangles: Iterable[Rectangle], colours_of: list[Any], is_smooth: bool = True) -> PolyCollection:
    """colours_of: each of them, or the one of all; is_smooth: their edges"""
    corners = [[(left, top), (right, top), (right, bottom), (left, bottom)] for left, top, right, bottom in rectangles]
    return PolyCollection(corners, facecolors=colours_of, linewidths=0, antialiased=is_smooth)


class _ImageInGroup(AxesImage):
    """As other artists are, in an SVG."""

    def draw(self, renderer: RendererBase, *args: Any, **kwargs: Any) -> None:
        renderer.open_group("image", gid=self.get_gid())
        super().draw(renderer, *args, **kwargs)
        renderer.close_group("image")


def _dense_row(axes: Axes, parts: Parts, extent: tuple[float, float, float, float]) -> AxesImage:
    """extent: left, right, bottom, top"""
    begins, lengths, colours_of = zip(*parts)
    edges = numpy.linspace(*extent[:2], density.COLUMNS + 1)
    row = _ImageInGroup(axes, extent=extent)
    row.set_data(density.stacked(density.shares(numpy.array(begins), numpy.add(begins, lengths), colours_of, edges)))
    return row


def _lanes(axes: Axes, of_ranks: Mapping[int, Parts], legend: Mapping[str, str], nothing: str) -> None:
    """A row for each rank; nothing: what is said where there is no time to draw"""
    # Gaps and smooth edges of rows that are thinner than a pixel would draw stripes that mean nothing.
    is_thin = len(of_ranks) > _MOST_APART
    half = 0.5 if is_thin else 0.4
    moments = [moment for parts in of_ranks.values() for begin, length, _ in parts for moment in (begin, begin + length)]
    first, last = min(moments, default=0), max(moments, default=0)
    for rank, parts in sorted(of_ranks.items()):
        top, bottom = rank - half, rank + half
        if len(parts) > density.COLUMNS:
            _add(axes, _dense_row(axes, parts, (first, last, bottom, top)), _rank_id(rank))
            continue
        places = [(begin, top, begin + length, bottom) for begin, length, _ in parts]
        _add(axes, _rectangles(places, [colour for *_, colour in parts], is_smooth=not is_thin), _rank_id(rank))
    axes.set_ylabel("rank")
    if not last > first:
        _say_nothing(axes, nothing)
        return
    axes.update_datalim([(first, 0), (last, 0)], updatey=False)
    _whole_numbers(axes.yaxis)
    if of_ranks:
        axes.set_ylim(max(of_ranks) + 0.6, min(of_ranks) - 0.6)
    if legend:
        patches = [Patch(color=colour, label=name) for name, colour in legend.items()]
        axes.legend(handles=patches, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)


def timeline(project: Project) -> Figure:
    columns = project.to_columns()
    shown = numpy.flatnonzero(~columns["nested"])
    shown = shown[numpy.argsort(columns["depth"][shown], kind="stable")]  # calls above the regions that they are in
    start = columns["start"][shown].min() if shown.size else 0
    rows: dict[int, Parts] = defaultdict(list)
    names = set()
    for rank, begin, end, name in zip(*(columns[key][shown] for key in ("rank", "start", "end", "class"))):
        rows[int(rank)].append(((begin - start) / 1e9, (end - begin) / 1e9, _CLASSES.get(name, _REGION)))
        names.add(name)
    figure, axes = _figure(height=_height_of(len(rows)))
    _lanes(axes, rows, {"region" if name == "other" else name: colour for name, colour in _CLASSES.items() if name in names}, _NO_TIME)
    axes.autoscale_view(scaley=False)
    axes.set_xlabel("time in s")
    return figure


def matrix(project: Project) -> Figure:
    together = max(1, -(-project.process_count // _MOST_CELLS))
    sent = project.communication_matrix("bytes", together)
    cells = numpy.where(sent > 0, sent, numpy.nan)
    figure, axes = _figure(6, 5)
    axes.set(xlabel="to rank", ylabel="from rank")
    if not sent.any():
        _say_nothing(axes, "no process sent bytes to another one")
        return figure
    most = sent.max(initial=1)
    ends = (-0.5, len(sent) * together - 0.5)
    image = axes.imshow(cells, cmap="cividis", norm=matplotlib.colors.LogNorm(1, max(most, 2)), interpolation="nearest", extent=(*ends, *reversed(ends)))
    figure.colorbar(image, label="bytes sent" if together == 1 else f"bytes that {together} ranks sent to {together} ranks")
    _whole_numbers(axes.xaxis, axes.yaxis)
    return figure


def _sizes(values: Iterable[int], what: str, nothing: str) -> Figure:
    """How many there are of which size: of 0, and by powers of two."""
    known = [int(value) for value in values]
    figure, axes = _figure()
    if not known:
        axes.set(xlabel="size in bytes", ylabel=what)
        _say_nothing(axes, nothing)
        return figure
    edges = [0, *(2.0**power for power in range(max(known).bit_length() + 1))]
    axes.hist(known, bins=edges, color=colours.OF_CLASSES["point-to-point"], edgecolor="white")
    axes.set_xscale("symlog", base=2, linthresh=1, linscale=0.5)  # from 0 to 1 it is as far as from 1 to 2
    axes.set(xlabel="size in bytes", ylabel=what, xlim=(0, edges[-1]))
    _whole_numbers(axes.yaxis)
    return figure


def sizes(project: Project) -> Figure:
    columns = project.messages().to_columns()
    return _sizes(columns["send_bytes"].compressed(), "messages", _NO_MESSAGES)


def waits(project: Project) -> Figure:
    rows: dict[int, dict[str, float]] = {process.rank: {} for process in project.processes}
    for row in project.analyze().wait_states:
        of_rank = rows.setdefault(row["rank"], {})
        of_rank[row["kind"]] = of_rank.get(row["kind"], 0) + row["seconds"]
    sums: dict[str, float] = defaultdict(float)
    for of_rank in rows.values():
        for kind, seconds in of_rank.items():
            sums[kind] += seconds
    legend = colours.for_each(sums)
    lanes: dict[int, Parts] = {}
    for rank, kinds in rows.items():
        begin, lanes[rank] = 0.0, []
        for kind, seconds in sorted(kinds.items(), key=lambda one: (one[0] not in legend, one[0])):
            lanes[rank].append((begin, seconds, legend.get(kind, colours.REST)))
            begin += seconds
    figure, axes = _figure(height=_height_of(len(lanes)))
    _lanes(axes, lanes, legend | ({"others": colours.REST} if len(sums) > len(legend) else {}), "no process was seen to wait for another one")
    axes.autoscale_view(scaley=False)
    axes.set_xlim(left=0)
    axes.set_xlabel("waiting in s")
    return figure


def efficiency(project: Project) -> Figure:
    values = project.analyze().efficiencies
    figure, axes = _figure(7, 3.2)
    axes.set_xlabel("efficiency in %")
    if not values["seconds"] > 0:
        _say_nothing(axes, "no time passes between Init and Finalize")
        return figure
    bars = axes.barh(list(_EFFICIENCIES.values()), [100 * values[name] for name in _EFFICIENCIES], color=colours.OF_CLASSES["point-to-point"])
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.invert_yaxis()
    axes.set_xlim(0, 110)
    return figure


def critical_path(project: Project) -> Figure:
    ranks = {row["rank"]: row["seconds"] for row in project.analyze().critical_path["ranks"]}
    lanes = {process.rank: [(0.0, ranks.get(process.rank, 0.0), colours.OF_CLASSES["collective"])] for process in project.processes}
    figure, axes = _figure(height=_height_of(len(lanes)))
    _lanes(axes, lanes, {"on the critical path": colours.OF_CLASSES["collective"]}, _NO_TIME)
    axes.autoscale_view(scaley=False)
    axes.set_xlabel("time on the critical path in s")
    return figure


Piece = tuple[int, bool, int, int, int, int]  # rank, whether it is written, when, from where to where
Line = list[tuple[float, int]]


def _pieces_of_files(project: Project) -> list[tuple[dict[str, Any], list[Piece]]]:
    """Those with most accesses of which it is known where they are."""
    timeline = read_all(read_all(Explanation(project._project, None, None)).timeline())
    known = timeline.file_accesses()
    numbers = sorted((number for number, file in enumerate(known) if file["kept"]), key=lambda number: -known[number]["accesses"])
    return [(known[number], timeline.file_pieces(number)) for number in numbers[:_MOST_FILES]]


def _name(file: dict[str, Any]) -> str:
    return shortened(printable(file["file"]), _MOST_LETTERS)


def _left_out(file: dict[str, Any]) -> list[str]:
    """What of a file is not drawn: lines for a title."""
    parts = []
    if file["kept"] < file["accesses"]:
        parts.append(f"{file['kept']:,} of {file['accesses']:,} accesses to the file are drawn")
    if file["is_cut"]:
        parts.append("of accesses with very many pieces only the first ones are drawn")
    if file["unplaced"]:
        parts.append(f"without {counted(file['unplaced'], 'access', 'es')} whose place in the file the traces do not tell")
    return parts


def _lines_by_rank(pieces: Iterable[Piece]) -> dict[int, list[Line]]:
    """Each access from its begin and its first byte to its end and its last byte."""
    lines: dict[int, list[Line]] = defaultdict(list)
    for (rank, _, begin, end), of_access in groupby(pieces, key=itemgetter(0, 1, 2, 3)):
        places = [place for piece in of_access for place in piece[4:]]
        lines[rank].append([(begin / 1e9, places[0]), (end / 1e9, places[-1])])
    return lines


class _RankColours:
    """A scale from the first rank to the last one."""

    def __init__(self, ranks: Iterable[int]) -> None:
        known = sorted(set(ranks)) or [0]
        beside = 0 if known[1:] else 0.5  # a scale has a length
        self._norm = matplotlib.colors.Normalize(known[0] - beside, known[-1] + beside)
        self._map = matplotlib.colormaps["cividis"]

    def of(self, rank: int) -> tuple[float, ...]:
        return self._map(self._norm(rank))

    def add_key(self, figure: Figure) -> None:
        figure.colorbar(matplotlib.cm.ScalarMappable(self._norm, self._map), ax=figure.axes, label="rank", ticks=MaxNLocator(integer=True, min_n_ticks=1))


def io_time(project: Project) -> Figure:
    files = [(_name(file), _left_out(file), _lines_by_rank(pieces)) for file, pieces in _pieces_of_files(project)]
    ranks = {rank for *_, lines in files for rank in lines}
    of_ranks = _RankColours(ranks)
    figure = Figure(figsize=(8, 1 + 3.2 * max(len(files), 1)), layout="constrained")
    for row, axes in enumerate(figure.subplots(max(len(files), 1), squeeze=False)[:, 0]):
        axes.set(xlabel="time in s", ylabel="offset in bytes")
        if not files:
            _say_nothing(axes, _NO_ACCESSES)
            return figure
        name, lacks, lines_by_rank = files[row]
        _title(axes, name, *lacks)
        axes.ticklabel_format(useOffset=False)  # what is added to all numbers is not read
        axes.locator_params(axis="x", nbins=6)  # which may have many digits
        _whole_numbers(axes.yaxis)
        for rank, lines in sorted(lines_by_rank.items()):
            drawn = LineCollection(lines, colors=[of_ranks.of(rank)], linewidths=1.5)
            _add(axes, drawn, _rank_id(rank) if row == 0 else f"{_rank_id(rank)}-file-{row}")
            axes.update_datalim(numpy.concatenate(lines))
        axes.autoscale_view()
    of_ranks.add_key(figure)
    return figure


def io_size(project: Project) -> Figure:
    accesses = [use["call"] for use in project.analyze().io["uses"] if use["access"] != "other"]
    columns = project.calls(call_class="file").to_columns()
    is_access = numpy.isin(columns["name"].astype(str), accesses) & ~columns["nested"] & numpy.equal(columns["error"], None).astype(bool)
    return _sizes(columns["bytes"][is_access], "accesses to files", "the traces tell of no access to a file")


def _in_rows(begin: int, end: int, width: int) -> Iterator[Rectangle]:
    """A piece of a file in rows of so many bytes: the row that it begins in, whole rows, and the one that it ends in."""
    first, last = begin // width, (end - 1) // width
    if first == last:
        yield begin % width, first, (end - 1) % width + 1, first + 1
        return
    yield begin % width, first, width, first + 1
    if last > first + 1:
        yield 0, first + 1, width, last
    yield 0, last, (end - 1) % width + 1, last + 1


def _maps(project: Project) -> list[tuple[str, str, list[str], list[Piece]]]:
    """What is written and what is read of files, each with the name of the file and what it lacks."""
    maps = []
    for file, pieces in _pieces_of_files(project):
        for is_write, what in ((True, "written"), (False, "read")):
            if own := [piece for piece in pieces if piece[1] == is_write]:
                maps.append((_name(file), what, _left_out(file), own))
    return maps


def _seen_by_rank(pieces: Sequence[Piece]) -> dict[int, list[tuple[int, int]]]:
    """From where to where in the file a rank has the last access. As all of a rank is one group, pieces cannot cover those before them."""
    places = numpy.array([piece[4:] for piece in pieces])
    edges = numpy.unique(places)
    nobody = -1
    last = numpy.full(len(edges), nobody)  # from each edge to the next
    for piece, (begin, end) in zip(pieces, numpy.searchsorted(edges, places)):
        last[begin:end] = piece[0]
    changes = [0, *(numpy.flatnonzero(numpy.diff(last)) + 1)]
    seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for begin, end in pairwise(changes):
        if last[begin] != nobody:
            seen[int(last[begin])].append((int(edges[begin]), int(edges[end])))
    return seen


def io_map(project: Project, row: int | None = None) -> Figure:
    """row: bytes in a row; a power of two about the square root of the file's size if nothing is said"""
    maps = _maps(project)
    figure = Figure(figsize=(7, 1 + 4.5 * max(len(maps), 1)), layout="constrained")
    of_ranks = _RankColours(process.rank for process in project.processes)
    for place, axes in enumerate(figure.subplots(max(len(maps), 1), squeeze=False)[:, 0]):
        axes.set(xlabel="byte in the row", ylabel="row")
        if not maps:
            _say_nothing(axes, _NO_ACCESSES)
            return figure
        name, what, lacks, pieces = maps[place]
        size = max(end for *_, end in pieces)
        width = row or 1 << math.isqrt(max(size - 1, 0)).bit_length()
        _title(axes, name, f"{what}: rows of {counted(width, 'byte')}", *lacks)
        for rank, seen in sorted(_seen_by_rank(pieces).items()):
            drawn = _rectangles([one for begin, end in seen for one in _in_rows(begin, end, width)], [of_ranks.of(rank)])
            _add(axes, drawn, _rank_id(rank) if place == 0 else f"{_rank_id(rank)}-map-{place}")
        axes.set(xlim=(0, min(width, size)), ylim=(-(-size // width), 0))
        _whole_numbers(axes.xaxis, axes.yaxis)
    of_ranks.add_key(figure)
    return figure


KINDS: dict[str, Callable[..., Figure]] = {
    "timeline": timeline,
    "matrix": matrix,
    "sizes": sizes,
    "waits": waits,
    "efficiency": efficiency,
    "critical-path": critical_path,
    "io-time": io_time,
    "io-size": io_size,
    "io-map": io_map,
}
