"""Fixtures for projects of real programs."""
import pytest
from support.runs import run_with_tracer


@pytest.fixture(scope="session")
def traced(tmp_path_factory):
    """traced(program) -> the path of its project, once for each."""
    runs = {}

    def run_once(name, ranks=4):
        if name not in runs:
            run = run_with_tracer(name, ranks, tmp_path_factory.mktemp(name))
            runs[name], = run.trace_directory.glob("*.proj")
        return runs[name]

    return run_once
