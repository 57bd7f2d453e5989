"""The file: one HTML document with everything in it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from .comparison import compare, labels
from .content import Content
from .inert import inert

_PAGE = Path(__file__).parent / "page"  # what the build bundles of python/page


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(name: str, value: object) -> str:
    return f'<script type="application/json" id="{name}">{inert(value)}</script>'


def _filled(name: str, data: Sequence[str], connect: str) -> str:
    style, script = ((_PAGE / file).read_text() for file in ("page.css", f"{name}.js"))
    parts = {"style": style, "script": script, "style_hash": _hash(style), "script_hash": _hash(script), "connect": connect, "data": "\n".join(data)}
    pieces = (_PAGE / f"{name}.html").read_text().split("@")
    return "".join(parts.get(piece, piece) for piece in pieces)


def _facts(contents: Sequence[Content], is_served: bool) -> list[str]:
    """What the page needs at once, of one run, or several that are compared."""
    page = {
        "runs": labels([(content.facts["name"], content.analysis) for content in contents]),
        "comparison": compare([content.analysis for content in contents]) if contents[1:] else None,
        "is_served": is_served,
    }
    return [_json("page", page), *(_json(f"facts-{number}", content.facts) for number, content in enumerate(contents))]


def html(contents: Sequence[Content]) -> str:
    """With everything in it; it may ask for nothing."""
    sections = [
        f'<script type="text/plain" id="data-{number}-{name}">{b64encode(section()).decode()}</script>'
        for number, content in enumerate(contents)
        for name, section in content.sections.items()
    ]
    return _filled("page", _facts(contents, is_served=False) + sections, "'none'")


def served_html(contents: Sequence[Content]) -> str:
    """It asks the server that it comes from, and nobody else, for sections."""
    return _filled("page", _facts(contents, is_served=True), "'self'")


def watch_html() -> str:
    """What a run that lasts is doing, as the server tells it."""
    return _filled("watch", [], "'self'")
