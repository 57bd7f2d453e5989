"""hdtrace split"""

from __future__ import annotations

from argparse import Namespace

from .._hdtrace import ProjectFiles, refuse_cut_off, split_node_file
from ..project import Project
from .output import Progress, counted, end_tidily, tell
from .selection import refuse_packed, several_projects
from .table import NODE_FILE


def run(arguments: Namespace) -> int:
    end_tidily()
    refuse_packed(arguments.project, "unpack it before")
    for paths in several_projects(arguments.project):
        project = Project(*paths)
        refuse_cut_off(project._project)
        node_files = [path for path in ProjectFiles(project._project).paths if path.endswith(NODE_FILE)]
        with Progress("splitting", "bytes") as progress:
            made = sum(split_node_file(path, progress.add) for path in node_files)
        done = f"{counted(made, 'file')} of {counted(len(node_files), 'node file')}" if node_files else "nothing to do"
        tell(f"{project.path}: {done}")
    return 0
