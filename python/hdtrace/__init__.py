"""Reads what hdtrace writes: traces of MPI programs.

    import hdtrace

    with hdtrace.Trace("app_node01_0_0.trc") as trace:
        for state in trace:
            if state.name == "Send":
                print(state.end - state.time, "ns to rank", state["toRank"])

All times are whole nanoseconds since the epoch. Files that cannot be opened raise OSError, files whose content is
wrong raise ReadError with `file`, `line` and `column` (0 where unknown).
"""

from ._hdtrace import Element, ReadError, State
from .trace import Trace, read_trace

__all__ = ["Element", "ReadError", "State", "Trace", "read_trace"]
