"""hdtrace plot"""

from __future__ import annotations

import logging
from argparse import Namespace
from io import BytesIO
from pathlib import Path

from ..project import Project
from .output import UsageError, message, write_whole

_FORMATS = (".svg", ".pdf", ".png")


def run(arguments: Namespace) -> int:
    output = Path(arguments.output)
    if output.suffix not in _FORMATS:
        raise UsageError(f"--output {output}: the name has to end with {', '.join(_FORMATS)}")
    if arguments.row and arguments.kind != "io-map":
        raise UsageError("--row is for --kind io-map")
    options = {"row": arguments.row} if arguments.row else {}
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # where it is slow, its first use says that it takes a moment
    try:
        import matplotlib

        from ..plot.kinds import KINDS
    except ImportError as error:
        message(f"{error}: 'hdtrace plot' needs matplotlib and numpy (python3-matplotlib)")
        return 1
    project = Project(*arguments.project)
    # Text stays text, and the same run gives the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "hdtrace", "pdf.fonttype": 42}):
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(output.suffix)
        drawn = BytesIO()
        KINDS[arguments.kind](project, **options).savefig(drawn, format=output.suffix[1:], dpi=200, metadata=metadata)
    project.keep_private(output)
    write_whole(output, drawn.getvalue())
    return 0
