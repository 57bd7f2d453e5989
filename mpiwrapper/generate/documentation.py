"""Emits the table of what each function does and logs, for docs/."""

from .tables import Special

INTRODUCTION = """# What is logged

Generated from the tables that the wrapper and the readers are generated from (`mpiwrapper/api`). Every state also has `time` and
`end`, and `rc` if the call failed. What the attributes mean stands in [format.md](format.md). Attributes stand in this order; those
whose argument MPI does not define as significant in a call are left out. The classes are those of `hdtrace --class`.

`HDTRACE_ALL_FUNCTIONS` decides about functions: `0` records those that have attributes or child elements and are no `query`,
`1` (the default) all but those with `query`, `2` all.
"""


def emit(api):
    """docs/functions.md as text."""
    return INTRODUCTION + "".join(_chapter(chapter) for chapter in api.chapters) + _words(api.vocabularies)


def _chapter(chapter):
    rows = [f"| `{f.name.removeprefix('MPI_')}` | {f.meaning.call_class} | {f.meaning.text} | {_logged(f)} |"
            for f in chapter.functions]
    return (f"\n## {chapter.title}\n\n{chapter.standard}\n\n"
            "| function | class | does | element |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")


def _words(vocabularies):
    """What the words in the tables mean."""
    return "\n# What the words mean\n" + "".join(
        f"\n## {name}\n\n{vocabulary.about}\n\n| word | meaning |\n|---|---|\n"
        + "".join(f"| {word} | {meaning} |\n" for word, meaning in vocabulary.words.items())
        for name, vocabulary in vocabularies.items())


def _logged(function):
    logged = function.logged
    attributes = _handwritten(logged.handwritten) if logged.handwritten is not None else (
        [name for attribute in logged.attributes for name in _names(attribute)],
        [f"<{child.name} {_child_attributes(child)}/>" for child in logged.children])
    start = " ".join([f"<{logged.element}", *attributes[0]])
    children = "".join(attributes[1])
    return f"`{start}>{children}</{logged.element}>`" if children else f"`{start} />`"


def _names(attribute):
    if attribute.values == (Special("posted"),):
        return ["postedRank", "postedTag"]
    return [attribute.name]


def _child_attributes(child):
    if child.each:
        return "rank size count tid displ " if child.each.displacements else "rank size count tid "
    fixed = {"Info": "key value ", "Arg": "value ", "Command": "name "}
    if child.name in fixed:
        return fixed[child.name]
    return "rid " if child.argument else "".join(f"{a.name} " for a in child.attributes)


def _handwritten(text):
    """'count For(rid size)' -> (['count'], ['<For rid size />'])"""
    attributes, children = [], []
    for part in text.replace(")", ")\0").split("\0"):
        before, _, inside = part.partition("(")
        words = before.split()
        if inside:
            children.append(f"<{words.pop()} {inside.removesuffix(')')} />")
        attributes += words
    return attributes, children
