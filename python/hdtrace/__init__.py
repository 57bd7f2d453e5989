"""Reads what hdtrace writes: traces of MPI programs.

    import hdtrace

    with hdtrace.Trace("app_node01_0_0.trc") as trace:
        for state in trace:
            if state.name == "Send":
                print(state.end - state.time, "ns to rank", state["toRank"])

All times are whole nanoseconds since the epoch. Files that cannot be opened raise OSError, files whose content is
wrong raise ReadError with `file`, `line` and `column` (0 where unknown).
"""

from ._hdtrace import Communicator, Datatype, Element, ProjectFile, ReadError, State, Window
from .info import Info, InfoLine
from .project import Project
from .trace import Trace, read_trace
from .validation import validate

__all__ = [
    "Communicator",
    "Datatype",
    "Element",
    "Info",
    "InfoLine",
    "Project",
    "ProjectFile",
    "ReadError",
    "State",
    "Trace",
    "Window",
    "read_trace",
    "validate",
]
