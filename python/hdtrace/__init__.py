"""Reads and writes traces of MPI programs.

    import hdtrace

    with hdtrace.open("app.proj") as project:
        for call in project.calls(rank=0, name="Send"):
            print(call.end - call.time, "ns to rank", call["toRank"])
        calls = project.to_dataframe()

    with hdtrace.Trace("app_node01_0_0.trc") as trace:
        for state in trace:
            print(state.name)

All times are whole nanoseconds since the epoch. Files that cannot be opened raise OSError, files whose content is
wrong raise ReadError with `file`, `line` and `column` (0 where unknown).
"""

from . import built_for  # first: it says what is wrong where the next one cannot be imported
from ._hdtrace import (
    CALL_CLASSES,
    GROUPINGS,
    Call,
    CallSite,
    Collective,
    CollectiveCall,
    Communicator,
    CpuTime,
    Datatype,
    Element,
    FatalSignal,
    Frame,
    Message,
    MessageEnd,
    Problem,
    ProjectFile,
    ReadError,
    RunFact,
    RunProcess,
    RunThread,
    State,
    Thread,
    Window,
    World,
)
from .analysis import Analysis
from .info import Info, InfoLine
from .pending import Pending, PendingRequest, ThreadActivity
from .profiles import compare
from .project import MergeWarning, Process, Project, open
from .regions import counter, mark, region
from .run import CallCount, Run, Setting
from .streams import Calls, Collectives, Counters, Marks, Messages
from .trace import Trace, read_trace
from .validation import validate
from .writer import TraceWriter

__all__ = [
    "Analysis",
    "CALL_CLASSES",
    "GROUPINGS",
    "Call",
    "CallCount",
    "CallSite",
    "Calls",
    "Collective",
    "CollectiveCall",
    "Collectives",
    "Communicator",
    "Counters",
    "CpuTime",
    "Datatype",
    "Element",
    "FatalSignal",
    "Frame",
    "Info",
    "InfoLine",
    "Marks",
    "MergeWarning",
    "Message",
    "MessageEnd",
    "Messages",
    "Pending",
    "PendingRequest",
    "Problem",
    "Process",
    "Project",
    "ProjectFile",
    "ReadError",
    "Run",
    "RunFact",
    "RunProcess",
    "RunThread",
    "Setting",
    "State",
    "Thread",
    "ThreadActivity",
    "Trace",
    "TraceWriter",
    "Window",
    "World",
    "compare",
    "counter",
    "mark",
    "open",
    "read_trace",
    "region",
    "validate",
]
