"""Fixtures for projects of real programs."""
import pytest
from support.runs import run_with_tracer


@pytest.fixture(scope="session")
def traced(tmp_path_factory):
    """traced(program, ranks, ...) -> Run, once for each way in which it is asked for."""
    runs = {}

    def run_once(name, ranks, **options):
        key = (name, ranks, *sorted(options.items()))
        if key not in runs:
            runs[key] = run_with_tracer(name, ranks, tmp_path_factory.mktemp(name), **options)
        return runs[key]

    return run_once
