"""Texts inside a page."""

from __future__ import annotations

import json


def inert(value: object) -> str:
    """JSON that no parser of HTML takes for anything else, whatever texts are in it."""
    text = json.dumps(value, separators=(",", ":"))  # in ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
