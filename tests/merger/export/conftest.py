"""Fixtures for projects of real programs."""
import pytest
from conversions import convert, project_of
from support.shared_runs import shared_run


@pytest.fixture(scope="session")
def traced():
    """traced(program, ranks, ...) -> Run, once for each way in which it is asked for."""
    runs = {}

    def run_once(name, ranks, **options):
        key = (name, ranks, *sorted(options.items()))
        if key not in runs:
            runs[key] = shared_run(name, ranks, **options)
        return runs[key]

    return run_once


@pytest.fixture(scope="session")
def archive(traced, tmp_path_factory):
    """archive(program) -> (Run, path of the archive of OTF2, Conversion)"""
    converted = {}

    def of_program(program):
        if program not in converted:
            run, output = traced(program, 4), tmp_path_factory.mktemp(program) / "otf2"
            converted[program] = run, output / "traces.otf2", convert(project_of(run), "otf2", output)
        return converted[program]

    return of_program
