"""What is known of a call when it begins: it is told while the call lasts (hdtrace/writer/open_state.h), and kept until it is written."""

import re
from dataclasses import dataclass
from itertools import groupby

from .tables import TableError
from .text import Name, Number, Statement, indent

# As open_state.h says.
MOST_VALUES = 20


@dataclass(frozen=True)
class Known:
    """An attribute, or the requests that are waited for."""

    name: str
    condition: str  # '' is always
    value: Number | Name | Statement
    first: int  # of its values

    @property
    def initializer(self):
        details = f", {self.value.details}" if isinstance(self.value, Statement) and self.value.details else ""
        start = f"<{self.name} rid='" if self.value.kind == "children" else f" {self.name}='"
        return f"{{.kind = Argument::Kind::{self.value.kind}, .value = {self.first}, .start = \"{start}\"{details}}}"


class KnownArguments:
    """What is known of the calls of one function, in the order in which it stands in the element."""

    def __init__(self):
        self._all = []

    def __bool__(self):
        return bool(self._all)

    def add(self, name, condition, value):
        """-> its place. What is known under several names is kept once; without a name it is one that is there already."""
        same = [place for place, known in enumerate(self._all) if (known.condition, known.value) == (condition, value)]
        for place in same:
            if name in (None, self._all[place].name):
                return place
        first = self._all[same[0]].first if same else max((known.first + len(known.value.values) for known in self._all), default=0)
        if first + len(value.values) > MOST_VALUES:
            raise TableError(f"'{name}': there is no room for so many arguments")
        self._all.append(Known(name, condition, value, first))
        return len(self._all) - 1

    def kept(self, place):
        """The first value of one, once the call has ended."""
        return f"state.value({self._all[place].first})"

    def without_state(self, line):
        """The same where nothing was kept."""
        def value(found):
            return f"({next(known.value.values[0] for known in self._all if known.first == int(found[1]))})"

        line = re.sub(r"state\.value\((\d+)\)", value, line)
        return re.sub(r"state\.has\((\d+)\)", lambda found: f"({self._all[int(found[1])].condition})", line)

    def form(self, element):
        """The constants that say what is known."""
        if not self:
            return [f'static constexpr StateForm form = {{"{element}"}};']
        return ["static constexpr Argument arguments[] = {", *(f"    {known.initializer}," for known in self._all), "};",
                f'static constexpr StateForm form = {{"{element}", arguments}};']

    def setting(self, lookups):
        """The function that sets it, or nothing; `lookups` are statements for what the values need."""
        if not self:
            return []
        always = sum(1 << place for place, known in enumerate(self._all) if not known.condition)
        lines = [f"state.start(&form, {always:#x});", *lookups]
        for condition, group in groupby(enumerate(self._all), lambda item: item[1].condition):
            lines += self._set(condition, list(group))
        by_reference = dict.fromkeys(name for line in lines for name in re.findall(r"\b(?:matched|ended|\w+_members)\b", line))
        captured = ", ".join(["=, &call", *(f"&{name}" for name in by_reference)])
        return [f"const auto set_arguments = [{captured}](OpenState& state) __attribute__((always_inline)) {{", *indent(lines), "};"]

    def _set(self, condition, group):
        """Statements for what is known under a condition; `group` has (place, known)."""
        is_set = {known.first for known in self._all[:group[0][0]]}
        lines = []
        for place, known in group:
            if known.first not in is_set:
                lines += [f"state.set({known.first + i}, {value});" for i, value in enumerate(known.value.values)]
                is_set.add(known.first)
            if condition:
                lines.append(f"state.add({place});")
        return [f"if ({condition}) {{", *indent(lines), "}"] if condition else lines
