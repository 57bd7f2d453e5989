"""The file: one HTML document with everything in it."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from pathlib import Path

from .content import Content

_PAGE = Path(__file__).parent / "page"  # what the build bundles of python/page


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(value: object) -> str:
    """JSON that no parser of HTML takes for anything else, whatever texts are in it."""
    text = json.dumps(value, separators=(",", ":"))  # in ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def html(content: Content) -> str:
    style, script = ((_PAGE / name).read_text() for name in ("page.css", "page.js"))
    data = [f'<script type="application/json" id="facts">{_inert(content.facts)}</script>']
    data += [f'<script type="text/plain" id="data-{name}">{section.decode("ascii")}</script>' for name, section in content.sections.items()]
    parts = {"style": style, "script": script, "style_hash": _hash(style), "script_hash": _hash(script), "data": "\n".join(data)}
    pieces = (_PAGE / "page.html").read_text().split("@")
    return "".join(parts.get(piece, piece) for piece in pieces)
