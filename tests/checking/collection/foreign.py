"""A folder of programs of others as what describe.py makes: their labels are in a file, in themselves, or in their names."""
import re
import tomllib
from pathlib import Path

import describe

# How many processes, and what is wrong, as comments of public collections tell it.
_IN_TEXT = re.compile(r"\$ *mpi(?:run|exec)\b.*?-np? +(\d+).*?\n\W*\|? *(OK|ERROR:? *\S.*)")
_RANKS = 2
LANGUAGES = {suffix: language for language, suffix in describe.SUFFIXES.items()}


def load(folder, labels=None, wrong=None):
    """labels: a file with lines `path kinds [lines [ranks]]`, separated by blanks; kinds and lines by commas; `-` is none, `*` any kind.
    wrong: a regular expression of the paths of programs that are wrong. Without both the programs tell themselves."""
    folder = Path(folder)
    table = _read(labels) if labels else {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in LANGUAGES):
        name, text = str(path.relative_to(folder)), path.read_text(encoding="utf-8", errors="replace")
        label = table.get(name) if labels else _of_name(name, wrong) if wrong else _of_text(text)
        if label is None:
            continue  # a part of another program, or not one of those that are asked for
        kinds, lines, ranks = label
        yield describe.Program(name=re.sub(r"\W+", "-", name), family=str(path.parent.relative_to(folder)), kinds=kinds, lines=lines, ranks=ranks,
                               text=text, language=LANGUAGES[path.suffix], path=path.resolve(), hangs=False)


def _read(path):
    table = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            name, kinds, lines, ranks = [*words, *("*", "-", str(_RANKS))[len(words) - 1:]]
            table[name] = (_kinds(kinds), tuple(map(int, lines.split(","))) if lines != "-" else (), int(ranks))
        except ValueError:
            raise describe.DescriptionError(f"{path}:{number}: not `path kinds [lines [ranks]]`: {line}") from None
    return table


def _of_name(name, wrong):
    return (("*",) if re.search(wrong, name) else ()), (), _RANKS


def _of_text(text):
    match = _IN_TEXT.search(text)
    if not match:
        return None
    ranks, label = match.groups()
    return (() if label == "OK" else _kinds(re.sub(r"^ERROR:? *", "", label))), (), int(ranks)


def _kinds(label):
    """Our kinds as they are; for what other collections say those that say the same."""
    if label == "-":
        return ()
    if re.fullmatch(r"[a-z]+-[a-z,*-]+|\*", label):
        return tuple(label.split(","))
    for pattern, kinds in tomllib.loads((describe.HERE / "foreign.toml").read_text(encoding="utf-8"))["labels"].items():
        if re.search(pattern, label, re.IGNORECASE):
            return tuple(kinds)
    return ("*",)
