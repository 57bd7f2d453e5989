"""Fixtures of the tests that explain runs."""
import hdtrace
import pytest
from support.runs import run_with_tracer


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    """trace(program, ranks, *arguments) -> the run and its project, which is open; traced once."""
    known = {}

    def trace(name, ranks, *arguments):
        if (name, ranks, arguments) not in known:
            run = run_with_tracer(name, ranks, tmp_path_factory.mktemp(name), args=arguments)
            (path,) = run.trace_directory.glob("*.proj")
            known[name, ranks, arguments] = run, hdtrace.open(path)
        return known[name, ranks, arguments]

    return trace
