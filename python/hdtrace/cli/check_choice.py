"""Which findings `hdtrace check` shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .output import UsageError

if TYPE_CHECKING:
    from .check import Finding


class _Suppressed(NamedTuple):
    kind: re.Pattern[str]
    place: re.Pattern[str]


_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")  # in lambda(int)#1 it is of a name


def _pattern(text: str) -> re.Pattern[str]:
    """* is any text, ? one character, all else itself: names of functions have brackets."""
    return re.compile(re.escape(text).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def _read(path: str, kinds: Sequence[str]) -> list[_Suppressed]:
    """Lines of a kind, and a place: a function, a file or file:line of the program; both may have * and ?."""
    suppressed = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        words = _COMMENT.sub("", line).split(maxsplit=1)
        if not words:
            continue
        one = _Suppressed(_pattern(words[0]), _pattern(words[1].strip() if words[1:] else "*"))
        if not any(map(one.kind.fullmatch, kinds)):
            raise UsageError(f"{path}:{number}: there is no kind of findings '{words[0]}': see hdtrace check --help")
        suppressed.append(one)
    return suppressed


def _places(site: dict[str, Any] | None) -> Iterable[str]:
    for frame in site["frames"] if site else ():
        yield frame["function"] or ""
        file = frame["file"] or frame["object"] or ""
        for name in (file, Path(file).name):
            yield name
            yield f"{name}:{frame['line']}"


class Choice:
    """Of kinds that are given by name, and of those that are suppressed where they are. Notes have to be asked for."""

    def __init__(self, only: Sequence[str] | None, left_out: Sequence[str] | None, suppressions: Sequence[str] | None, kinds: Sequence[str]) -> None:
        self.only = tuple(only or ())
        self.left_out = tuple(left_out or ())
        self.suppressed = [one for path in suppressions or () for one in _read(path, kinds)]

    @property
    def is_partial(self) -> bool:
        """Whether there may be findings that it leaves out."""
        return bool(self.only or self.left_out or self.suppressed)

    def has(self, finding: Finding) -> bool:
        kind = finding.kind
        if kind in self.left_out or (kind not in self.only if self.only else finding.severity == "note"):
            return False
        places = {"", *_places(finding.site), *_places(finding.other_site)}
        return not any(one.kind.fullmatch(kind) and any(map(one.place.fullmatch, places)) for one in self.suppressed)
