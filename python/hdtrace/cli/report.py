"""hdtrace report"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..project import Project
from ..report.content import collect
from ..report.document import html
from .output import UsageError


def _write(path: Path, text: str) -> None:
    """The file appears when it is whole."""
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(text)
            file.flush()
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def run(arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise UsageError(f"--limit {arguments.limit}: at least 1")
    project = Project(*arguments.project)
    text = html(collect(project, arguments.limit * 1_000_000))
    project.keep_private(arguments.output)
    _write(Path(arguments.output), text)
    return 0
