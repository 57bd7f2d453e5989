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
def heat(tmp_path_factory):
    """The project of a traced run of four processes with messages, requests and collective operations."""
    from support.runs import BUILD, run_with_tracer

    run = run_with_tracer(BUILD / "examples/06-heat", 4, tmp_path_factory.mktemp("heat"))
    assert run.project
    (path,) = run.trace_directory.glob("*.proj")
    return path
