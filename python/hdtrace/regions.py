"""Regions, marks and counters of a Python program in the trace of its MPI calls.

    import hdtrace

    residual = hdtrace.counter("residual", unit="1")
    with hdtrace.region("solve"):
        residual(1e-7)
        hdtrace.mark("converged", "after 12 steps")

    @hdtrace.region("output")
    def write(): ...

Where nothing is traced, nothing is done. This file needs nothing else: a program that must run where hdtrace is not installed can have
a copy of it beside itself.
"""
import ctypes
import functools
import operator
import sys

__all__ = ["counter", "mark", "region"]

_VERSION = 1
_NO_SITE = 1  # the caller of the tracer is always this file
_INTEGER, _FLOAT = 1, 2
_SCOPES = {"process": 0, "thread": 1, "node": 2, "all": 3}
_VALID = {"after": 0, "before": 4, "point": 8, "sample": 12}
_RATE = 16


class _Region(ctypes.Structure):
    _fields_ = [("group", ctypes.c_char_p), ("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_int),
                ("flags", ctypes.c_int), ("known", ctypes.c_void_p)]


class _Counter(ctypes.Structure):
    _fields_ = [("group", ctypes.c_char_p), ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("unit", ctypes.c_char_p),
                ("lower", ctypes.c_double), ("upper", ctypes.c_double), ("meaning", ctypes.c_int), ("flags", ctypes.c_int),
                ("of", ctypes.c_char_p), ("known", ctypes.c_void_p)]


_OfRegion = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Region))


class _Tracer(ctypes.Structure):
    """The beginning of hdTracer in hdRegion.h."""

    _fields_ = [("begin", _OfRegion), ("end", _OfRegion),
                ("mark", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Region), ctypes.c_char_p)),
                ("count_integer", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Counter), ctypes.c_int64)),
                ("count_float", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Counter), ctypes.c_double))]


def _find_tracer():
    """The tracer in this process, or None."""
    try:
        find = ctypes.CDLL(None).hdR_tracer
    except (AttributeError, OSError):
        return None
    find.restype = ctypes.POINTER(_Tracer)
    found = find(_VERSION)
    return found.contents if found else None


_tracer = _find_tracer()
_known = {}  # regions and marks: what the tracer has looked up is looked up once


def _bytes(text):
    return text.encode("utf-8", "surrogateescape") if text else None


def _region_of(name, group, depth):
    """What the tracer knows the name as; defined where the caller `depth` frames above this function stands."""
    known = _known.get((group, name))
    if known is None:
        frame = sys._getframe(depth)
        structure = _Region(_bytes(group), _bytes(name), _bytes(frame.f_code.co_filename), frame.f_lineno, _NO_SITE, None)
        known = _known[group, name] = ctypes.pointer(structure)
    return known


class region:
    """A part of the program, for `with` or as a decorator. Regions of a thread may overlap, and be entered again inside themselves."""

    __slots__ = ("_begun", "_group", "_name", "_region")

    def __init__(self, name, group=""):
        self._name, self._group, self._begun = name, group, []
        self._region = _region_of(name, group, 2) if _tracer else None

    def __enter__(self):
        if self._region:
            self._begun.append(_tracer.begin(self._region) == 0)
        return self

    def __exit__(self, *exception):
        if self._region and self._begun.pop():
            _tracer.end(self._region)

    def __call__(self, function):
        """Each call of the function is in the region."""
        if not self._region:
            return function

        @functools.wraps(function)
        def in_region(*args, **kwargs):
            has_begun = _tracer.begin(self._region) == 0
            try:
                return function(*args, **kwargs)
            finally:
                if has_begun:
                    _tracer.end(self._region)

        return in_region


def mark(name, text=None, *, group=""):
    """Something happened, of which the text tells more."""
    if _tracer:
        _tracer.mark(_region_of(name, group, 2), _bytes(text))


class counter:
    """A counter: call it with a value. `type` is float or int, `scope` process, thread, node or all; a value is `valid` after it was
    given, before, only at this point, or as a sample of what changes continuously; `rate`: its change is what matters."""

    __slots__ = ("_count", "_counter", "_type")

    def __init__(self, name, type=float, *, group="", unit="", lower=0.0, upper=0.0, scope="process", valid="after", rate=False):
        if type not in (int, float):
            raise TypeError("a counter is of int or float")
        for value, values in ((scope, _SCOPES), (valid, _VALID)):
            if value not in values:
                raise ValueError(f"{value!r} is none of {', '.join(values)}")
        meaning = _SCOPES[scope] + _VALID[valid] + (_RATE if rate else 0)
        self._type = type
        self._count = None
        if _tracer:
            self._counter = ctypes.pointer(_Counter(_bytes(group), _bytes(name), _INTEGER if type is int else _FLOAT, _bytes(unit),
                                                    lower, upper, meaning, _NO_SITE, None, None))
            self._count = _tracer.count_integer if type is int else _tracer.count_float

    def __call__(self, value):
        number = operator.index(value) if self._type is int else float(value)
        if self._type is int and not -2**63 <= number < 2**63:
            raise OverflowError("a counter has 64 bits")
        if self._count:
            self._count(self._counter, number)
