"""Pages of traced runs, in a browser."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))  # projects_of_lines


@pytest.fixture(scope="session")
def browser():
    if not shutil.which("chromium"):
        pytest.skip("chromium is not installed")
    from browser import Browser

    with Browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def make_report():
    """Writes the page of a project with the command and returns its path."""
    from support.runs import BUILD
    import subprocess

    def make_report(project, *arguments):
        page = Path(project).with_suffix(".html")
        run = subprocess.run([BUILD / "bin/hdtrace", "report", project, "-o", page, *arguments], capture_output=True, text=True)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
        return page

    return make_report


@pytest.fixture(scope="session")
def heat(tmp_path_factory):
    """The project of a run of four processes with messages and collective operations."""
    from support.runs import BUILD, run_with_tracer

    run = run_with_tracer(BUILD / "examples/06-heat", 4, tmp_path_factory.mktemp("run"))
    (path,) = run.trace_directory.glob("*.proj")
    return path


@pytest.fixture
def page(browser, heat, make_report):
    """The browser with the timeline of that run. It must have nothing to complain about."""
    browser.said.clear()
    browser.resize(1280, 800)
    browser.open(make_report(heat), "#timeline")
    yield browser
    assert browser.said == []
    assert [one for one in browser.requests if not one.startswith(("file:", "about:"))] == []
