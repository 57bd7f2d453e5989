"""Fixtures of the tests that explain runs."""
import hdtrace
import pytest
from support.runs import run_with_tracer


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    """trace(program, ranks, *arguments, **settings) -> the run and its project, which is open; traced once."""
    known = {}

    def trace(name, ranks, *arguments, **settings):
        key = name, ranks, arguments, tuple(settings.items())
        if key not in known:
            run = run_with_tracer(name, ranks, tmp_path_factory.mktemp(name), args=arguments, env=settings)
            (path,) = run.trace_directory.glob("*.proj")
            known[key] = run, hdtrace.open(path)
        return known[key]

    return trace
