"""Asks the installed mpi.h what it declares and the MPI library what it exports, and compares that with the tables."""

import re
import subprocess
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Prototype:
    returns: str
    parameters: tuple[str, ...]  # types, normalised


_PROTOTYPE = re.compile(r"\b(int|double|MPI_\w+) (P?MPIX?_\w+) ?\(((?:[^()]|\([^()]*\))*)\)")


def preprocess(compiler, flags):
    """The text of mpi.h after the C preprocessor."""
    command = [compiler, "-E", "-P", *flags, "-x", "c", "-"]
    source = "#define OMPI_SKIP_MPICXX 1\n#define MPICH_SKIP_MPICXX 1\n#include <mpi.h>\n"
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise OSError(f"cannot preprocess mpi.h with {' '.join(command)}:\n{result.stderr}")
    return result.stdout


def constants(compiler, flags):
    """The names of all that may be a constant: macros and enumerators."""
    return set(re.findall(r"\bMPI_[A-Z0-9_]+\b", preprocess(compiler, ["-dD", *flags])))


def prototypes(text):
    """All MPI functions that have a profiling twin -> Prototype."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"__attribute__ ?\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
    found = {}
    for returns, name, parameters in _PROTOTYPE.findall(text):
        found.setdefault(name, Prototype(returns, tuple(_normalise(p) for p in _split(parameters))))
    return {name: p for name, p in found.items() if "P" + name in found}


def _split(parameters):
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", parameters)]
    return [] if parts in ([""], ["void"]) else parts


def _normalise(parameter):
    """'const int counts[]' -> 'const int *'; names do not matter."""
    if parameter == "...":
        return parameter
    match = re.fullmatch(r"(.*?)(\w+)? ?((?:\[(?:restrict)?\d*\])*)", parameter.strip())
    declared, name, brackets = match.groups()
    if not declared.strip():  # no name is given
        declared, name = parameter, None
    return normalise_type(declared + "*" * min(brackets.count("["), 1) + "[3]" * (brackets.count("[") > 1))


def normalise_type(text):
    """One way to write each type: a top-level const is dropped, one space before the stars."""
    words = re.sub(r"([*\[\]()])", r" \1 ", text).split()
    stars = words.count("*")
    names = [word for word in words if word not in ("*", "(", ")")]
    if stars == 0 and "const" in names:
        names.remove("const")
    return " ".join(names) + (" " + "*" * stars if stars else "")


def check(api, declared):
    """What is wrong in the tables, as messages. Functions that the header does not have are not wrong."""
    problems = []
    for function in api.functions:
        prototype = declared.get(function.name)
        if prototype is None:
            continue
        where = f"mpiwrapper/api/{function.chapter}.toml: {function.name}"
        if prototype.returns != function.returns:
            problems.append(f"{where}: returns '{function.returns}', mpi.h says '{prototype.returns}'")
        if len(prototype.parameters) != len(function.parameters):
            problems.append(f"{where}: has {len(function.parameters)} parameters, mpi.h says "
                            f"{len(prototype.parameters)}: ({', '.join(prototype.parameters)})")
            continue
        for parameter, expected in zip(function.parameters, prototype.parameters):
            ours = normalise_type(parameter.c_type)
            if ours != expected and not _may_be(parameter, expected):
                problems.append(f"{where}: parameter '{parameter.name}' is '{ours}', mpi.h says '{expected}'")
    return problems


def fit(api, declared):
    """The same tables with mpi.h's types for those parameters in which MPI libraries differ."""
    return replace(api, chapters=tuple(
        replace(chapter, functions=tuple(_fit(function, declared.get(function.name)) for function in chapter.functions))
        for chapter in api.chapters))


def _fit(function, prototype):
    if prototype is None:
        return function
    return replace(function, parameters=tuple(
        replace(parameter, declared_type=expected) if _may_be(parameter, expected) else parameter
        for parameter, expected in zip(function.parameters, prototype.parameters)))


def _may_be(parameter, declared):
    """Some libraries leave out the const of an input, or take a large count where others have a function of its own for it."""
    ours = normalise_type(parameter.c_type)
    if parameter.direction != "in" or parameter.kind is None or declared == ours:
        return False
    is_count = parameter.kind.large and not parameter.kind.pointer and not parameter.is_array
    return declared == ours.removeprefix("const ") or bool(is_count and declared == parameter.kind.large)


def exported(library):
    """The names of all functions that a library has under both names, whether mpi.h declares them or not."""
    result = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise OSError(f"cannot read the symbols of {library}:\n{result.stderr}")
    names = set(re.findall(r"^\w+ [TW] (P?MPIX?_\w+)", result.stdout, re.MULTILINE))
    return {name for name in names if "P" + name in names}
