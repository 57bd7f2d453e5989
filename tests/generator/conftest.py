"""The generator is imported from the sources; the tables are the real ones."""

import os
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "mpiwrapper"))

from generate import header, tables  # noqa: E402


@pytest.fixture(scope="session")
def api():
    return tables.load(SOURCE / "mpiwrapper" / "api")


@pytest.fixture(scope="session")
def kinds(api):
    return {p.kind.name: p.kind for f in api.functions for p in f.parameters if p.kind}


@pytest.fixture(scope="session")
def compiler():
    return os.environ.get("MPI_C_COMPILER", "mpicc")


@pytest.fixture(scope="session")
def declared(compiler):
    return header.prototypes(header.preprocess(compiler, []))
