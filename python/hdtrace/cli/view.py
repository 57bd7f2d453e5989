"""hdtrace view"""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable
from typing import NoReturn

from ..project import Project
from ..report.content import Content, collect
from ..report.document import served_html
from ..report.server import Answer, PageServer
from .output import about, die_of
from .selection import several_projects


def open_server(answer: Callable[[str], Answer | None], port: int) -> PageServer:
    with about(f"--port {port}"):
        return PageServer(answer, port)


def serve(server: PageServer, what: str) -> NoReturn:
    """Until somebody ends it."""
    with server:
        try:
            print(f"{what} is shown at {server.url} until Ctrl-C is pressed", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print(flush=True)
    die_of(signal.SIGINT)


class _Pages:
    def __init__(self, contents: list[Content]) -> None:
        self._page = served_html(contents).encode()
        self._sections = {f"data-{number}-{name}": section for number, content in enumerate(contents) for name, section in content.sections.items()}

    def answer(self, path: str) -> Answer | None:
        if path == "":
            return "text/html; charset=utf-8", self._page
        section = self._sections.get(path)
        return None if section is None else ("application/octet-stream", section())


def run(arguments: Namespace) -> int:
    contents = [collect(Project(*paths), None) for paths in several_projects(arguments.project)]
    serve(open_server(_Pages(contents).answer, arguments.port), ", ".join(content.facts["name"] for content in contents))
