"""hdtrace pack and unpack"""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from .._hdtrace import ProjectFiles, project_text
from ..packing import check_folder_of, pack, unpack
from ..project import Project
from .output import Progress, UsageError, about, counted, end_tidily, size, tell
from .table import NODE_FILE, PACKED


def _check_output(output: Path) -> None:
    """Commands know a packed project by its name."""
    check_folder_of(output)
    if output.suffix != PACKED:
        raise UsageError(f"pack: --output {output}: the name has to end with {PACKED}")


def _pack(arguments: Namespace) -> None:
    if arguments.output:
        _check_output(Path(arguments.output))
    project = Project(*arguments.project)
    files = ProjectFiles(project._project)
    if files.elsewhere:
        raise UsageError("pack: not all traces are in the folder of the project; 'hdtrace cp' makes a copy that has them together")
    output = Path(arguments.output or Path(project.path).stem + PACKED)
    paths, texts = files.paths, {}
    if node_file := next((path for path in paths if path.endswith(NODE_FILE)), None):
        raise UsageError(f"pack: {node_file} is a node file: 'hdtrace split' it before")
    if not any(path.endswith(".proj") for path in paths):
        path, text = project_text(arguments.project)
        texts[Path(path).name] = text
    project.keep_private(output)
    with Progress("packing", "bytes") as progress, about(output):
        pack(paths, texts, output, progress.add)
    tell(f"{output}: {counted(len(paths) + len(texts), 'file')}, {size(output.stat().st_size)}")


def _unpack(arguments: Namespace) -> None:
    file = Path(arguments.file)
    folder = Path(arguments.output or file.stem)
    with Progress("unpacking", "bytes") as progress, about(folder):
        count = unpack(file, folder, progress.add)
    tell(f"{os.fspath(folder)}: {counted(count, 'file')}")


def run(arguments: Namespace) -> int:
    end_tidily()
    if arguments.command == "pack":
        _pack(arguments)
    else:
        _unpack(arguments)
    return 0
