"""Files of a few lines, written inline."""

import pytest

HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='100' version='1' rank='3' thread='1'>\n"


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path; text or bytes."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def write_trace(write):
    """Writes a trace of the given lines, closed."""

    def write_trace(lines, name="app_host_3_1.trc"):
        return write(name, f"{HEAD}{lines}</Program>\n")

    return write_trace


@pytest.fixture(scope="session")
def trace_program(tmp_path_factory):
    """Traces a program with four processes and returns the path of its project."""
    from support.runs import run_with_tracer

    def trace_program(program):
        run = run_with_tracer(program, 4, tmp_path_factory.mktemp("run"))
        assert run.project
        (path,) = run.trace_directory.glob("*.proj")
        return path

    return trace_program


@pytest.fixture(scope="session")
def heat(trace_program):
    """The project of a traced run with messages, requests and collective operations."""
    from support.runs import BUILD

    return trace_program(BUILD / "examples/06-heat")
