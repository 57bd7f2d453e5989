"""A folder of programs of others as what describe.py makes: their labels are in a file, in themselves, or in their names."""
import re
import tomllib
from pathlib import Path

import describe

# How many processes, with which arguments, and what is wrong then, as comments of public collections tell it. Runs that are right because
# an MPI library buffers all that is sent are left out.
_IN_TEXT = re.compile(r"\$ *mpi(?:run|exec)\b.*?-np? +(\d+) +(?:\$zero_buffer +)?(?!\$infty)\S+(.*)\n\W*\|? *(OK|ERROR:? *\S.*)")
_WRONG_LINE = re.compile(r"/\* MBIERROR\d* \*/")
_RANKS = 2
LANGUAGES = {suffix: language for language, suffix in describe.SUFFIXES.items()}


def load(folder, labels=None, wrong=None):
    """labels: a file with lines `path kinds [lines [ranks]]`, separated by blanks; kinds and lines by commas; `-` is none, `*` any kind.
    wrong: a regular expression of the paths of programs that are wrong. Without both the programs tell themselves."""
    folder = Path(folder)
    table = _read(labels) if labels else {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in LANGUAGES):
        name, text = str(path.relative_to(folder)), path.read_text(encoding="utf-8", errors="replace")
        # Those without a label are parts of other programs, or not asked for.
        runs = filter(None, [table.get(name)]) if labels else [_of_name(name, wrong)] if wrong else _of_text(text)
        for kinds, lines, ranks, *arguments in runs:
            yield describe.Program(name="-".join([re.sub(r"\W+", "-", name), *arguments]), family=str(path.parent.relative_to(folder)), kinds=kinds,
                                   lines=lines, ranks=ranks, text=text, language=LANGUAGES[path.suffix], path=path.resolve(), hangs=False,
                                   arguments=tuple(arguments))


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
    """Each run that the text tells of: kinds, lines, processes, arguments."""
    wrong_lines = tuple(number for number, line in enumerate(text.splitlines(), 1) if _WRONG_LINE.search(line))
    for ranks, arguments, label in _IN_TEXT.findall(text):
        is_right = label == "OK"
        kinds = () if is_right else _kinds(re.sub(r"^ERROR:? *", "", label))
        yield kinds, () if is_right else wrong_lines, int(ranks), *arguments.split()


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
