"""hdtrace extract"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..project import Project
from .output import Progress, UsageError, counted, end_tidily, size, tell, warn_of_missing
from .selection import filters


def run(arguments: Namespace) -> int:
    end_tidily()
    project = Project(*arguments.project)
    wanted = filters(project, arguments)
    if not any(wanted[key] for key in ("rank", "thread", "name", "call_class")) and wanted["interval"] == (None, None):
        raise UsageError("extract: say what is wanted, with --interval, --rank, --thread, --call or --class")
    folder = Path(arguments.output or f"{Path(project.path).stem}-part")
    with Progress("extracting", "traces") as progress:
        missing = project.extract(folder, **wanted, progress=progress.add)
    traces = [file.stat().st_size for file in folder.glob("*.trc")]
    tell(f"{folder}: {counted(len(traces), 'trace')}, {size(sum(traces))}")
    warn_of_missing(missing)
    return 0
