"""Every function that the installed mpi.h declares or its library exports is wrapped or exempt for a reason, and the wrapper
exports just those."""
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from support.runs import SETTINGS, SOURCE, WRAPPER

sys.path.append(str(SOURCE / "mpiwrapper"))
from generate import header, tables  # noqa: E402

API = SOURCE / "mpiwrapper/api"
EXEMPT = tomllib.loads((API / "exempt.toml").read_text())
# What Debian calls the compilers of both libraries.
COMPILERS = {SETTINGS["compiler"], *filter(None, map(shutil.which, ("mpicc.openmpi", "mpicc.mpich")))}


def is_exempt(name):
    return any(re.fullmatch(pattern, name) for pattern in EXEMPT)


@pytest.fixture(scope="module")
def declared():
    """All functions of this MPI library that have a profiling twin."""
    return set(header.prototypes(header.preprocess(SETTINGS["compiler"], [])))


@pytest.fixture(scope="module")
def in_tables():
    return {function.name for function in tables.with_all_forms(tables.load(API)).functions}


def functions_of(library):
    """What a library exports with the names of MPI functions."""
    result = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in result.stdout.splitlines()]
    return {name.split("@")[0] for kind, name in symbols if kind in "TWi" and re.match("P?MPIX?_", name)}


@pytest.fixture(scope="module")
def exported():
    return functions_of(WRAPPER)


@pytest.fixture(scope="module")
def of_library():
    """All functions that this MPI library exports under both names; mpi.h may hide some."""
    names = functions_of(SETTINGS["library"])
    return {name for name in names if f"P{name}" in names}


def test_the_header_was_understood(declared):
    """Independent of the generator's way to read it."""
    text = header.preprocess(SETTINGS["compiler"], [])
    names = set(re.findall(r"\bP?MPI_\w+(?=\s*\()", text))
    twins = {name for name in names if name.startswith("MPI_") and f"P{name}" in names}
    assert twins - declared == set() and len(declared) > 300


def test_every_declared_function_is_in_the_tables_or_exempt(declared, in_tables):
    assert sorted(name for name in declared - in_tables if not is_exempt(name)) == []


def test_nothing_is_both_in_the_tables_and_exempt(in_tables):
    assert sorted(filter(is_exempt, in_tables)) == []


def test_every_exported_function_is_wrapped_under_both_names(of_library, exported):
    functions = {name for name in of_library if not is_exempt(name)}
    assert len(functions) > 300
    assert sorted((functions | {f"P{name}" for name in functions}) - exported) == []


def test_every_function_of_the_tables_is_exported_under_both_names(declared, in_tables, exported):
    functions = declared & in_tables
    assert sorted((functions | {f"P{name}" for name in functions}) - exported) == []


def test_nothing_else_is_exported(declared, of_library, in_tables, exported):
    functions = (declared | of_library) & in_tables
    assert sorted(name for name in exported if re.sub("^PMPI", "MPI", name) not in functions) == []


@pytest.mark.parametrize("pattern", EXEMPT)
def test_every_exemption_is_needed(pattern):
    texts = [header.preprocess(compiler, []) for compiler in COMPILERS]
    assert any(re.search(rf"\b(?:{pattern})\b ?\(", text) for text in texts)
    assert EXEMPT[pattern], "there is no reason"
