"""Pieces of C++ that write into an element."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """An expression whose value is written as a number."""

    expression: str
    kind = "number"

    @property
    def values(self):
        return (self.expression,)

    def read_from(self, value):
        """The same number, kept since the call's beginning."""
        return Number(value)


@dataclass(frozen=True)
class Name:
    """An expression whose value is a text that needs no escaping."""

    expression: str
    kind = "text"

    @property
    def values(self):
        return (self.expression,)

    def read_from(self, value):
        return Name(f"reinterpret_cast<const char*>({value})")


@dataclass(frozen=True)
class Statement:
    """What writes a value by itself."""

    text: str
    kind: str = ""  # of an Argument that can be told before the call ends (open_state.h)
    values: tuple[str, ...] = ()
    details: str = ""  # the argument's other members


def indent(lines):
    return [f"    {line}" if line else "" for line in lines]


class TextWriter:
    """Collects what is appended to the element; texts and numbers behind each other become one part."""

    def __init__(self, start, child=False):
        self.lines = []
        self._text = start
        self._parts = []
        self._chain = ""
        self._child = child  # the next text begins a child element
        self.is_element = not child

    def text(self, text):
        self._text += text

    def value(self, value):
        """A Number, a Name or a Statement."""
        if isinstance(value, Statement):
            self.statement(value.text)
            return
        self._take_text()
        if isinstance(value, Number):
            self._parts.append(value.expression)
        else:
            self._take_parts()
            self._chain += f".name({value.expression})"

    def statement(self, *lines):
        """Something that is no part of a chain."""
        self.flush()
        self.lines += lines

    def flush(self):
        self._take_text()
        self._take_parts()
        if self._chain:
            self.lines.append(f"element{self._chain};")
        self._chain = ""

    def _take_text(self):
        if self._text and self._child:
            self._chain += f'.child("{self._text}")'
            self._child = False
        elif self._text:
            self._parts.append(f'"{self._text}"_xml')
        self._text = ""

    def _take_parts(self):
        if self._parts:
            self._chain += f".add({', '.join(self._parts)})"
        self._parts = []
