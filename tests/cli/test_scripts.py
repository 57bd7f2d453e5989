"""The small commands in scripts/, and that the README tells the truth about them."""
import json
import os
import re

import pytest
from conftest import BUILD, SOURCE, run, run_well


def test_the_readme_s_commands_and_links_exist():
    readme = (SOURCE / "README.md").read_text()
    for command in re.findall(r"^(scripts/\S+)", readme, re.MULTILINE):
        assert (SOURCE / command).stat().st_mode & 0o111
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (SOURCE / target).exists()


def test_what_has_to_pass_is_the_readme_s_test_command():
    assert re.search(r"^scripts/test\b", (SOURCE / "README.md").read_text(), re.MULTILINE)
    assert "/scripts/test" in (SOURCE / ".ci/run").read_text()


def test_benchmark_compares_tracers():
    """Times of so few calls say nothing; that there is a trace of them does."""
    results = json.loads(run_well(SOURCE / "scripts/benchmark", "--build", os.path.relpath(BUILD), "--json", "--repetitions", "1", "--scale", "0.001",
                                  "--loop", "ping-pong", "--loop", "8-threads"))
    assert [(result["loop"], result["tracer"]) for result in results] == [
        (loop, tracer) for loop in ("ping-pong", "8-threads") for tracer in ("untraced", "hdtrace")]
    for result in results:
        assert result["nanoseconds"] > 0
        assert (result["bytes"] > 50) == (result["tracer"] == "hdtrace")


@pytest.mark.parametrize("arguments, message", [
    (["--with", "nothing"], "benchmark: nothing is not a known tracer that is installed; NAME=LIBRARY preloads any other"),
    (["--build", "/missing"], "benchmark: /missing/bin/hdtrace-run does not exist: build it"),
    (["--compiler", "false"], "benchmark: false -O2")])
def test_benchmark_says_what_is_wrong(arguments, message):
    result = run(SOURCE / "scripts/benchmark", *["--build", BUILD, *arguments])
    assert result.returncode == 1 and message in result.stderr
