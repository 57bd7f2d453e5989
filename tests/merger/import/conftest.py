"""Fixtures for projects of real programs."""
import pytest
from support.shared_runs import shared_run


@pytest.fixture(scope="session")
def traced():
    """traced(program) -> the path of its project, once for each."""
    runs = {}

    def run_once(name, ranks=4):
        if name not in runs:
            run = shared_run(name, ranks)
            runs[name], = run.trace_directory.glob("*.proj")
        return runs[name]

    return run_once
