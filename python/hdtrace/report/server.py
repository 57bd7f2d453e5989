"""Shows pages to the browsers of this machine, and to whoever knows the token in the address."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_LOOPBACK = "127.0.0.1"
_NAMES = ("127.0.0.1", "localhost", "::1")  # of the machine itself, as a browser may call it; the last one at the end of a tunnel
_SECONDS = 30  # that a browser may take for what it asks

Answer = tuple[str, bytes]  # its type and content
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer(ThreadingHTTPServer):
    """Answers what is asked below `url`, with what `answer` gives for the rest of the path; None is not found.

    Only this machine reaches it. A page of another site that a browser shows cannot ask it either: it does not know the token, and a name
    of its own for this machine (DNS rebinding) is refused.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[str], Answer | None], port: int = 0) -> None:
        super().__init__((_LOOPBACK, port), _Handler)
        self.answer = answer
        self.token = secrets.token_urlsafe(24)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):  # a browser that has gone away
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        return f"http://{_LOOPBACK}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = _SECONDS
    protocol_version = "HTTP/1.1"
    server_version = "hdtrace"
    sys_version = ""

    def _is_for_us(self) -> bool:
        try:
            return urlsplit(f"//{self.headers.get('Host', '')}").hostname in _NAMES
        except ValueError:
            return False

    def _asked(self) -> str | None:
        """The path below the token; None if the token is wrong."""
        token, slash, rest = urlsplit(self.path).path[1:].partition("/")
        return rest if slash and secrets.compare_digest(token.encode(), self.server.token.encode()) else None

    def do_GET(self) -> None:
        if not self._is_for_us():
            return self._send(403, "text/plain; charset=utf-8", b"This server is for this machine only.\n")
        asked = self._asked()
        if asked is None:
            return self._send(403, "text/plain; charset=utf-8", b"The address lacks the token that the command printed.\n")
        answer = self.server.answer(asked)
        if answer is None:
            return self._send(404, "text/plain; charset=utf-8", b"There is no such thing here.\n")
        self._send(200, *answer)

    do_HEAD = do_GET

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        for name, value in (*_HEADERS.items(), ("Content-Type", kind), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads that."""
