"""Fixtures of the tests that trace MPI programs. Each program runs once for each way in which it is asked for."""
import pytest
from support.runs import BUILD, WRAPPER
from support.runs import run_untraced as _run_untraced
from support.runs import run_with_tracer


def pytest_sessionstart():
    if WRAPPER is None:
        pytest.exit(f"hdtrace is not built in {BUILD}; TESTED_BUILD may name another folder", returncode=1)


def _cached(run, tmp_path_factory):
    runs = {}

    def run_once(name, ranks, env=None, args=(), **options):
        key = (str(name), ranks, tuple(sorted((env or {}).items())), tuple(map(str, args)), tuple(sorted(options.items())))
        if key not in runs:
            directory = tmp_path_factory.mktemp(f"{str(name).rsplit('/', 1)[-1]}-{ranks}-")
            runs[key] = run(name, ranks, directory, env, args, **options)
        return runs[key]

    return run_once


@pytest.fixture(scope="session")
def run_traced(tmp_path_factory):
    """run_traced(program, ranks, env, args) -> Run: traced and checked as support.runs.run_with_tracer says."""
    return _cached(run_with_tracer, tmp_path_factory)


@pytest.fixture(scope="session")
def run_untraced(tmp_path_factory):
    """run_untraced(program, ranks, env, args) -> Run."""
    return _cached(_run_untraced, tmp_path_factory)
