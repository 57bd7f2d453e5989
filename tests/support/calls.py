"""Patterns of calls, and traces to look for them in.

    assert Call("Send", toRank=1, toTag=7) in trace
    wait = trace.only(Call("Waitall", count=2))
    assert Call("Wait", [Call("For", rid=3)]) in trace
"""


def ANY(value):
    """Any value will do, but there has to be one."""
    return value is not None


class Call:
    """A pattern of a state or of a child element.

    Values are compared as text, names as they stand in the file; None demands that there is no such attribute, and a function decides by itself.
    `relative_offset` stands for `relative-offset`. Children, if given, are patterns of all children, in any order.
    """

    def __init__(self, name, children=None, /, **attributes):
        self.name = name
        self.children = children
        self.attributes = {key.replace("_", "-"): value for key, value in attributes.items()}

    def matches(self, element):
        return (element.name == self.name
                and all(_matches(wanted, element.attributes.get(key)) for key, wanted in self.attributes.items())
                and self._matches_children(element))

    def _matches_children(self, element):
        if self.children is None:
            return True
        left_over = list(element.children)
        for pattern in self.children:
            found = next((child for child in left_over if pattern.matches(child)), None)
            if found is None:
                return False
            left_over.remove(found)
        return not left_over

    def explain(self, op, trace):
        """What pytest says when `assert call in trace` fails."""
        same_name = [state for state in trace.everything() if state.name == self.name]
        lines = [f"{self} {op} the trace of {trace.title}"]
        lines += ["calls of this name:"] + [f"  {show(state)}" for state in same_name] if same_name else []
        return lines + ["the trace:"] + [f"  {line}" for line in str(trace).splitlines()]

    def __repr__(self):
        words = [self.name]
        words += [f"{key}={_show_wanted(value)}" for key, value in self.attributes.items()]
        children = "" if self.children is None else f" with children {self.children}"
        return f"<{' '.join(words)}>{children}"


def For(**attributes):
    return Call("For", **attributes)


def Pending(**attributes):
    return Call("Pending", **attributes)


def _matches(wanted, found):
    if wanted is None:
        return found is None
    if callable(wanted):
        return wanted(found)
    return found == str(wanted)


def _show_wanted(value):
    return getattr(value, "__name__", repr(str(value))) if value is not None else "(none)"


def show(element):
    """A state or child on one line, without times."""
    attributes = "".join(f" {key}='{value}'" for key, value in element.attributes.items() if key not in ("time", "end"))
    children = "".join(show(child) for child in getattr(element, "children", ()))
    nested = "".join(show(state) for state in getattr(element, "nested", ()))
    around = f"<Nested>{nested}</Nested>" if nested else ""
    return f"{around}<{element.name}{attributes}" + (f">{children}</{element.name}>" if children else " />")


class ThreadTrace:
    """What one thread of one process did. `left` and `right` are its neighbours in a ring of all ranks."""

    MOST_LINES = 100

    def __init__(self, states, rank, thread=0, title="", ranks=1):
        self.states = states
        self.rank = rank
        self.left = (rank - 1) % ranks
        self.right = (rank + 1) % ranks
        self.title = title or f"rank {rank}, thread {thread}"

    def everything(self):
        """All states, those inside others before them."""
        return _flatten(self.states)

    def find(self, call):
        return [state for state in self.everything() if call.matches(state)]

    def only(self, call):
        """The one state that matches."""
        found = self.find(call)
        assert len(found) == 1, "\n".join([f"{len(found)} calls match {call}", *call.explain("in", self)])
        return found[0]

    def value(self, call, attribute):
        """An attribute of the one state that matches."""
        return self.only(call)[attribute]

    def names(self):
        return [state.name for state in self.states]

    def __contains__(self, call):
        return any(call.matches(state) for state in self.everything())

    def __iter__(self):
        return iter(self.states)

    def __len__(self):
        return len(self.states)

    def __str__(self):
        lines = [show(state) for state in self.states]
        if len(lines) > self.MOST_LINES:
            lines[self.MOST_LINES // 2:-self.MOST_LINES // 2] = [f"… {len(lines) - self.MOST_LINES} more …"]
        return "\n".join(lines)

    def __repr__(self):
        return f"<trace of {self.title}: {len(self)} states>"


def _flatten(states):
    for state in states:
        yield from _flatten(state.nested)
        yield state
