"""Projects: the objects of all processes of a run."""

from __future__ import annotations

import os

from ._hdtrace import Communicator, Datatype, ProjectFile, Window, read_project


class Project:
    """A .proj file.

    path: the file
    name: the program
    process_count: the number of processes
    description: what the user said about the run
    files: the files that the program used
    communicators: the communicators, with their members
    windows: the windows for one-sided communication, with their members
    datatypes: by rank, then by id
    levels: what the parts of leaves are, e.g. Hostname, Rank, Thread
    leaves: for each trace the labels in its file's name
    trace_paths: the files of these traces
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        project = read_project(path)
        self.path = os.fspath(path)
        self.name: str = project.name
        self.process_count: int = project.process_count
        self.description: str = project.description
        self.files: list[ProjectFile] = project.files
        self.communicators: list[Communicator] = project.communicators
        self.windows: list[Window] = project.windows
        self.datatypes: dict[int, dict[int, Datatype]] = {}
        for of_rank in project.datatypes:
            self.datatypes.setdefault(of_rank.rank, {}).update({datatype.id: datatype for datatype in of_rank.types})
        self.levels: list[str] = project.levels
        self.leaves: list[list[str]] = project.leaves
        self.trace_paths: list[str] = project.trace_paths

    def __repr__(self) -> str:
        return f"Project({self.path!r})"
