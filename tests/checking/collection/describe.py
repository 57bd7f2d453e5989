"""Makes small MPI programs from families/*.toml; README.md tells the language. Knows nothing of compilers and runs."""
import itertools
import re
import string
import sys
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "mpiwrapper"))

from generate import tables  # noqa: E402

MARK = "//!"
SUFFIXES = {"c": ".c", "fortran": ".f90", "python": ".py"}


class DescriptionError(Exception):
    """Something in the description is wrong; the message names the file and the program."""


@dataclass(frozen=True)
class Program:
    name: str
    family: str  # the file that describes it
    kinds: tuple[str, ...]  # of findings: the expected one, then others that say the same; none: it is correct
    lines: tuple[int, ...]  # one of which a finding must name
    ranks: int
    text: str
    language: str = "c"
    form: str = ""
    needs: str = ""  # a condition of the preprocessor
    twin: str = ""  # the correct program that differs only in what is wrong
    hangs: bool = False
    path: Path | None = None  # of a program that exists already
    arguments: tuple[str, ...] = ()

    @property
    def file_name(self):
        return self.name + SUFFIXES[self.language]


class _Template(string.Template):
    idpattern = r"[a-z_]+(?:\.[a-z_]+)?"


@cache
def _table(name):
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def _functions():
    return {function.name.removeprefix("MPI_"): function for function in tables.load(HERE.parents[2] / "mpiwrapper/api").functions}


def load():
    """All programs, each name once; correct ones that are the same text exist once."""
    programs, correct = {}, {}
    for path in sorted((HERE / "families").glob("*.toml")):
        for program in _family(path):
            if not program.kinds:  # the same text under another name is the same program
                known = correct.setdefault((_without_name(program.text), program.ranks, program.needs), program)
                if known is not program:
                    programs = {name: replace(other, twin=known.name) if other.twin == program.name else other
                                for name, other in programs.items()}
                    continue
            if program.name in programs:
                raise DescriptionError(f"{path.name}: there are two programs {program.name}")
            programs[program.name] = program
    return list(programs.values())


def _without_name(text):
    return text.split("\n", 1)[1]


def _family(path):
    description = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = {key: value for key, value in description.items() if key not in ("program", "forms")}
    forms = _table("forms") | description.get("forms", {})
    for entry in description.get("program", []):
        yield from _of_entry(path.stem, shared | entry, forms)
    if "arguments" in shared:
        yield from _with_wrong_arguments(path.stem, shared["arguments"])


def _of_entry(family, entry, forms):
    """The programs of one entry: one for each combination of its forms, and its twin."""
    names = entry.get("forms", [])
    for combination in itertools.product(*(forms[name].items() for name in names)):
        values = dict(_table("values")["texts"])
        for name, (form, value) in zip(names, combination, strict=True):
            values[name] = form
            values |= {f"{name}.{key}": part for key, part in value.items()} if isinstance(value, dict) else {f"{name}.call": value}
        form = "-".join(form for form, _ in combination)
        try:
            yield from _both(family, entry | {"name": entry["name"] + (f"-{form}" if form else ""), "form": form}, values)
        except (KeyError, ValueError) as error:
            raise DescriptionError(f"{family}.toml: {entry['name']}: {error}") from None


def _both(family, entry, values):
    """The program that is wrong, and the one that is not."""
    text = entry["text"].strip("\n")
    for _ in range(3):  # forms may use others
        text = _Template(text).substitute(values)
    kinds = entry["kind"] if isinstance(entry["kind"], list) else [entry["kind"]]
    needs = " && ".join(filter(None, [entry.get("needs", ""), *(values[key] for key in values if key.endswith(".needs"))]))
    common = {"family": family, "ranks": entry.get("ranks", 2), "language": entry.get("language", "c"), "form": entry["form"], "needs": needs}
    name = entry["name"].replace("_", "-").lower()
    right = _program(entry.get("ok_name", f"{name}-ok").lower(), entry, _side(text, "+"), kinds=(), **common)
    if kinds == ["correct"]:
        yield replace(right, name=name)
        return
    wrong = _program(name, entry, _side(text, "-"), kinds=tuple(kinds), hangs=entry.get("hangs", False), twin=right.name, **common)
    if not wrong.lines and kinds[0] not in _table("values")["without_line"]["kinds"]:
        raise ValueError(f"no line of {name} is marked with {MARK}")
    yield wrong
    if not entry.get("no_twin", False):
        yield right


def _side(text, sign):
    """One side of a text whose lines begin, as those of a diff, with a blank, - (only in the wrong one) or + (only in the right one)."""
    return "\n".join(line[1:] for line in text.split("\n") if line[:1] in ("", " ", sign))


def _program(name, entry, body, **common):
    body = _calls(body)
    text = body if "main(" in body or common["language"] != "c" else _frame(body, entry.get("init", "MPI_Init(&argc, &argv);"))
    comment = {"c": "/* {} */", "fortran": "! {}", "python": "# {}"}[common["language"]]
    text = f"{comment.format(name)}\n{text}\n"
    lines = tuple(number for number, line in enumerate(text.split("\n"), 1) if MARK in line)
    text = re.sub(rf" *{MARK}", "", text)
    return Program(name=name, text=text, lines=lines if common["kinds"] else (), **common)


def _frame(body, init):
    """A main with the variables that its body uses and does not declare itself."""
    begin, end = [], []
    declared = set(re.findall(r"^ *[A-Za-z_]\w* (\w+) =", body, re.MULTILINE))
    used = body
    chosen = {}
    while True:
        more = {name: entry for name, entry in _table("values")["variables"].items()
                if name not in declared and name not in chosen and re.search(rf"\b{name}\b", used)}
        if not more:
            break
        chosen |= more
        used += "\n".join(f"{entry['begin']}\n{entry.get('end', '')}" for entry in more.values())
    for name, entry in _table("values")["variables"].items():
        if name in chosen:
            begin += _calls(entry["begin"]).strip("\n").split("\n")
            end = [*filter(None, _calls(entry.get("end", "")).strip("\n").split("\n")), *end]
    inside = [init, *begin, *body.split("\n"), *end, "MPI_Finalize();", "return 0;"]
    return "\n".join(['#include "collection.h"', "", "int main(int argc, char** argv)", "{",
                      *(f"    {line}".rstrip() for line in inside), "}"])


_CALL = re.compile(r"@(\w+)(?:\{([^{}]*)\})?")


def _calls(text):
    """@Send{dest=0; tag=1} -> MPI_Send(buffer, N, MPI_INT, 0, 1, MPI_COMM_WORLD): the other arguments are those of values.toml."""
    return _CALL.sub(lambda match: _call(match[1], match[2] or ""), text)


def _call(name, assignments):
    function = _functions()[name]
    given = dict(part.strip().split("=", 1) for part in assignments.split(";") if part.strip())
    if unknown := set(given) - {parameter.name for parameter in function.parameters}:
        raise ValueError(f"MPI_{name} has no parameter {', '.join(unknown)}")
    return f"MPI_{name}({', '.join(given.get(p.name) or _value(function, p) for p in function.parameters)})"


def _value(function, parameter):
    """What an argument is where a program does not say it: for the function, by the parameter's name, by its kind."""
    values = _table("values")
    by_name = values["of_function"].get(function.name.removeprefix("MPI_"), {}) | {}
    kind = parameter.kind.name if parameter.kind else ""
    for table, key in ((by_name, parameter.name), (values["of_name"], parameter.name), (values["of_kind"], f"{parameter.direction}_{kind}"),
                       (values["of_kind"], kind)):
        if key in table:
            return table[key]
    raise ValueError(f"values.toml has no value for {parameter.name} of {function.name}")


def _with_wrong_arguments(family, description):
    """For each function, each of its arguments with each wrong value that values.toml has for its kind."""
    for name, entry in ((name, group) for group in description["group"] for name in group["functions"]):
        function = _functions()[name]
        for parameter in function.parameters:
            kind = parameter.kind.name if parameter.kind else ""
            if parameter.direction == "out" or parameter.is_array:
                continue
            for wrong, value in description["wrong"].get(kind, {}).items():
                if name in value.get("not_in", []) or parameter.name in value.get("not_as", []):
                    continue
                text = "\n".join([*(f" {line}" if line[:1] not in "-+" else line for line in value.get("before", [])),
                                  *(entry["text"].strip("\n").split("\n")), *value.get("behind", [])])
                call = f"@{name}{{{parameter.name}={value['value']}}}"
                text = "\n".join(f"-{line[1:].replace('@call', call)}  {MARK}\n+{line[1:].replace('@call', f'@{name}')}"
                                 if "@call" in line else line for line in text.split("\n"))
                program = {"kind": value["kind"], "text": text, "ranks": entry.get("ranks", 2), "needs": entry.get("needs", ""),
                           "name": f"{name}-{parameter.name}-{wrong}", "ok_name": f"{name}-ok", "form": name, "hangs": value.get("hangs", False)}
                try:
                    yield from _both(family, program, dict(_table("values")["texts"]))
                except (KeyError, ValueError) as error:
                    raise DescriptionError(f"{family}.toml: {name}: {error}") from None


def some(programs, only="", every=1):
    """Those whose name or family the regular expression is found in; of them every Nth that is wrong, by kind, with its twin, and every Nth
    of those that are nobody's twin."""
    chosen = [program for program in programs if re.search(only, f"{program.family}/{program.name}")]
    if every == 1:
        return chosen
    twins = {program.twin for program in programs}
    groups = {}
    for program in chosen:
        if program.kinds or program.name not in twins:
            groups.setdefault(program.kinds[:1], []).append(program)
    names = {name for group in groups.values() for program in group[::every] for name in (program.name, program.twin)}
    return [program for program in programs if program.name in names]
