"""Findings in SARIF 2.1.0, for editors and continuous integration."""

from __future__ import annotations

from collections.abc import Iterable
from os import fsencode
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes

from .._hdtrace import FindingKind
from .version import VERSION

if TYPE_CHECKING:
    from .check import Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _uri(file: str) -> str:
    """A reference as RFC 3986 has it: a colon in a name is no end of a scheme, and # and % are characters."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote_from_bytes(fsencode(path.as_posix()))


def _location(file: str, line: int | None, function: str | None = None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line:
        place["region"] = {"startLine": line}
    location: dict[str, Any] = {"physicalLocation": place}
    if function:
        location["logicalLocations"] = [{"name": function, "kind": "function"}]
    return location


def _of_site(site: dict[str, Any] | None) -> dict[str, Any] | None:
    """Where a call is in the source, if that is known."""
    return _location(site["file"], site["line"], site["function"]) if site and site["file"] else None


def _result(finding: Finding, rules: dict[str, int]) -> dict[str, Any]:
    trace = _location(finding.file, finding.line)
    source = _of_site(finding.site)
    related = [place for place in (_of_site(finding.other_site), trace if source else None) if place]
    result = {
        "ruleId": finding.kind,
        "ruleIndex": rules[finding.kind],
        "level": finding.severity,
        "message": {"text": finding.text},
        "locations": [source or trace],
    }
    if related:
        result["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(related)]
    if finding.rank is not None:
        result["properties"] = {"rank": finding.rank}
    return result


def sarif(findings: Iterable[Finding], kinds: Iterable[FindingKind]) -> dict[str, Any]:
    """One run of the tool; each kind of findings is a rule."""
    rules = [
        {
            "id": kind.name,
            "shortDescription": {"text": kind.title},
            "fullDescription": {"text": kind.means},
            "help": {"text": kind.what_to_do},
            "defaultConfiguration": {"level": kind.severity},
        }
        for kind in kinds
    ]
    places = {str(rule["id"]): place for place, rule in enumerate(rules)}
    driver = {"name": "hdtrace check", "version": VERSION, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [_result(finding, places) for finding in findings]}]}
