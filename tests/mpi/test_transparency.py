"""The application never notices: same output, same exit code, with all settings."""
import pytest
from support.runs import SETTINGS, ranks

OTHERWISE = ("abort", "exit_early", "raise", "connect", "spawn",  # end early, or are several programs
             "io_times")  # says what time it is
SAMPLE = ["completion", "datatypes", "communicators", "io_views", "io_shared", "errors", "threads", "windows", "vector_collectives"]


def same_as(untraced, run):
    return (run.stdout, run.stderr, run.returncode) == (untraced.stdout, untraced.stderr, untraced.returncode)


@pytest.mark.parametrize("name", [name for name in SETTINGS["names"] if name not in OTHERWISE])
def test_each_program(run_traced, run_untraced, name):
    assert same_as(run_untraced(name, 2), run_traced(name, 2, {"HDTRACE_ALL_FUNCTIONS": "2"}))


@ranks(3)
@pytest.mark.parametrize("name", SAMPLE)
def test_with_all_settings(run_traced, run_untraced, name, ranks):
    settings = {"HDTRACE_ALL_FUNCTIONS": "2", "HDTRACE_NESTED": "1", "HDTRACE_FILE_INFO": "1", "HDTRACE_FORCE_FLUSH": "1"}
    assert same_as(run_untraced(name, ranks), run_traced(name, ranks, settings))
