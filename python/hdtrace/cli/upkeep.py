"""hdtrace mv, cp and rm: projects with all their files"""

from __future__ import annotations

import os
import warnings
from argparse import Namespace

from .._hdtrace import ProjectFiles, copy_project, move_project, printable, remove_files
from ..project import MergeWarning, Project
from .output import Progress, UsageError, counted, end_tidily, message, size
from .selection import refuse_packed, several_projects


def _open(paths: list[str]) -> tuple[Project, ProjectFiles]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MergeWarning)  # whoever removes a project need not know what it lacks
        project = Project(*paths)
    return project, ProjectFiles(project._project)


def _check_folders(files: ProjectFiles, arguments: Namespace) -> None:
    """A project can lead anywhere, whoever made it."""
    if files.elsewhere and not arguments.elsewhere:
        folders = ", ".join(folder or "." for folder in files.elsewhere)
        raise UsageError(f"{arguments.command}: there are also files in {folders}; --elsewhere takes them, too")


def _transfer(arguments: Namespace) -> None:
    refuse_packed([arguments.source], "mv, cp and rm of the system handle it")
    project, files = _open([arguments.source])
    moves = arguments.command == "mv"
    if moves:
        _check_folders(files, arguments)
    with Progress("moving" if moves else "copying", "bytes") as progress:
        transfer = move_project if moves else copy_project
        transfer(project._project, files, arguments.source, arguments.destination, progress.add)


def _remove(paths: list[str], arguments: Namespace) -> None:
    refuse_packed(paths, "mv, cp and rm of the system handle it")
    project, files = _open(paths)
    _check_folders(files, arguments)
    own = [path for path in files.paths if path not in files.shared]
    for path, other in files.shared.items():
        message(f"{path}: this stays, since {other} leads to it, too")
    if not own:
        raise FileNotFoundError(2, "there is nothing that belongs to this alone", project.path)
    if arguments.dry_run:
        sizes = [os.lstat(path).st_size for path in own]
        for path, bytes_ in zip(own, sizes):
            print(printable(f"{path}  {size(bytes_)}"))
        print(f"{counted(len(own), 'file')}, {size(sum(sizes))}, would be removed")
    else:
        remove_files(files)


def run(arguments: Namespace) -> int:
    end_tidily()
    if arguments.command == "rm":
        for paths in several_projects(arguments.project):
            _remove(paths, arguments)
    else:
        _transfer(arguments)
    return 0
