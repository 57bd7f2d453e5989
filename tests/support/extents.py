"""Which bytes of a file an access touches: a plain model of datatypes and views, from what the project says."""

import itertools
import re

from .runs import SETTINGS

BYTES_OF_INT = 4

# With data sieving Open MPI loses bytes where processes write close to each other at the same time, also without the tracer.
WITHOUT_DATA_SIEVING = ("--mca", "fbtl_posix_write_datasieving", "0") if SETTINGS["mpi"] == "Open MPI" else ()


class FileViews:
    """Follows the views that one process sets on its files. Unlike the product it is made to be obvious, not fast."""

    def __init__(self, project, rank):
        self._project = project
        self._rank = rank
        self._views = {}  # fid -> (displacement, extents of the filetype, its extent)

    def follow(self, state):
        """Has to see the states in their order."""
        if state.name == "File_set_view":
            tid = state["filetid"]
            extents, length = _merge(self._extents(tid)), int(self._type(tid).get("extent"))
            self._views[state["fid"]] = int(state["offset"]), extents, length
        if state.name == "File_open":
            self._views.pop(state.get("fid"), None)

    def place(self, fid, data_bytes):
        """The absolute offset of the byte that has so many bytes of data before it in the view."""
        displacement, extents, length = self._view(fid)
        tile, rest = divmod(data_bytes, sum(end - begin for begin, end in extents))
        for begin, end in extents:
            if rest < end - begin:
                return displacement + tile * length + begin + rest
            rest -= end - begin
        raise AssertionError("a rest is smaller than its tile")

    def touched(self, state):
        """[(begin, end), ...] of an access that has an offset."""
        offset, rest = int(state["offset"]), int(state["size"])
        displacement, extents, length = self._view(state["fid"])
        if extents == [(0, length)]:
            return [(offset, offset + rest)]
        pieces, tile = [], max(0, (offset - displacement - extents[0][0]) // length)
        while rest > 0:
            for begin, end in extents:
                begin, end = (displacement + tile * length + place for place in (begin, end))
                begin = max(begin, offset)
                end = min(end, begin + rest)
                if begin < end:
                    pieces.append((begin, end))
                    rest -= end - begin
            tile += 1
        return pieces

    def _view(self, fid):
        return self._views.get(fid, (0, [(0, 1)], 1))

    def _type(self, tid):
        return self._project.datatype(self._rank, tid)

    def _extents(self, tid):
        """[(begin, end), ...] relative to the start of one element of the type, in the order of its data."""
        datatype = self._type(tid)
        if datatype.tag == "NAMED" or datatype.tag.startswith("F90_"):
            return _extents_of_predefined(datatype)
        if datatype.tag == "STRUCT":
            members = [(int(m.get("displacement")), int(m.get("blocklen")), m.get("id")) for m in datatype]
            return [piece for place, count, member in members for piece in self._repeat(member, place, count)]
        old = datatype.get("oldType")
        return [piece for place, count in _blocks(datatype, int(self._type(old).get("extent")))
                for piece in self._repeat(old, place, count)]

    def _repeat(self, tid, place, count):
        length = int(self._type(tid).get("extent"))
        one = _merge(self._extents(tid))
        if one == [(0, length)]:
            return [(place, place + count * length)]
        return [(place + i * length + begin, place + i * length + end) for i in range(count) for begin, end in one]


def _extents_of_predefined(datatype):
    """All are one piece, but in pairs of a number and an int (MPI 4.0, 6.9.4) the int is aligned as in a struct of C."""
    size = int(datatype.get("size"))
    if not re.fullmatch(r"MPI_(SHORT|LONG|FLOAT|DOUBLE|LONG_DOUBLE)_INT", datatype.get("name")):
        return [(0, size)]
    number = size - BYTES_OF_INT
    place_of_int = -(-number // BYTES_OF_INT) * BYTES_OF_INT
    return [(0, number), (place_of_int, place_of_int + BYTES_OF_INT)]


def _blocks(datatype, extent):
    """(place in bytes, elements of the old type) of each block of a type."""
    def number(key):
        return int(datatype.get(key))

    def of_children(place, count, unit=1):
        return [(index * unit, length) for child in datatype
                for index, length in zip(_numbers(child.get(place)), _numbers(child.get(count)) if count else itertools.repeat(number("blockLength")))]

    return {
        "DUP": lambda: [(0, 1)],
        "RESIZED": lambda: [(0, 1)],
        "CONTIGUOUS": lambda: [(0, number("count"))],
        "VECTOR": lambda: [(i * number("stride") * extent, number("blocklength")) for i in range(number("count"))],
        "HVECTOR": lambda: [(i * number("stride"), number("blocklength")) for i in range(number("count"))],
        "INDEXED": lambda: of_children("index", "len", extent),
        "HINDEXED": lambda: of_children("index", "len"),
        "INDEXED_BLOCK": lambda: of_children("displacement", None, extent),
        "HINDEXED_BLOCK": lambda: of_children("displacement", None),
        "SUBARRAY": lambda: _blocks_of_array(datatype, _indices_of_subarray(datatype), extent),
        "DARRAY": lambda: _blocks_of_array(datatype, _indices_of_darray(datatype), extent),
    }[datatype.tag]()


def _numbers(text):
    """Of `4`, and of the list `4;0+8*1000;`."""
    for entry in text.rstrip(";").split(";"):
        first, step, count = re.fullmatch(r"(-?\d+)(?:([+-]\d+)\*(\d+))?", entry).groups()
        for i in range(int(count or 1)):
            yield int(first) + i * int(step or 0)


def _blocks_of_array(datatype, dimensions, extent):
    """dimensions: (size, indices that belong to the type) of each."""
    if datatype.get("order") == "MPI_ORDER_FORTRAN":
        dimensions = dimensions[::-1]
    places = [0]
    for size, indices in dimensions:
        places = [place * size + i for place in places for i in indices]
    return [(place * extent, 1) for place in places]


def _indices_of_subarray(datatype):
    for_each = [tuple(int(child.get(key)) for key in ("size", "subsize", "start")) for child in datatype]
    return [(size, range(start, start + subsize)) for size, subsize, start in for_each]


def _indices_of_darray(datatype):
    """The grid of processes is always in C's order."""
    dimensions, rest = [], int(datatype.get("rank"))
    for child in reversed(datatype):
        rest, coordinate = divmod(rest, int(child.get("psize")))
        dimensions.append((int(child.get("gsize")), _dealt_out(child, coordinate)))
    return dimensions[::-1]


def _dealt_out(dimension, coordinate):
    size, processes = int(dimension.get("gsize")), int(dimension.get("psize"))
    kind, argument = dimension.get("distrib"), dimension.get("darg")
    if kind == "MPI_DISTRIBUTE_NONE":
        return range(size)
    smallest = -(-size // processes) if kind == "MPI_DISTRIBUTE_BLOCK" else 1
    block = smallest if argument == "MPI_DISTRIBUTE_DFLT_DARG" else int(argument)
    return [i for i in range(size) if i // block % processes == coordinate]


def _merge(pieces):
    """Joins pieces that touch, keeping the order of the data."""
    merged = []
    for begin, end in pieces:
        if merged and merged[-1][1] == begin:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return merged


def written_pieces(run):
    """All bytes that a run's writes with an offset touched, sorted and joined, by the name of the file."""
    by_name = {}
    for trace in run:
        views = FileViews(run.project, trace.rank)
        for state in trace.everything():
            views.follow(state)
            if "write" in state.name and "offset" in state:
                by_name.setdefault(run.project.file_name(trace.rank, state["fid"]), []).extend(views.touched(state))
    return {name: _join(pieces) for name, pieces in by_name.items()}


def _join(pieces):
    joined = []
    for begin, end in sorted(pieces):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
