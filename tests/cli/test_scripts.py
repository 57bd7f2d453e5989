"""The small commands in scripts/, and that the README tells the truth about them."""
import json
import os
import re
import shutil

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


@pytest.mark.parametrize("script, arguments", [
    ("test", ["--help"]), ("test", ["-h"]), ("test", ["--system", "--help"]), ("test", ["--arm64", "--help"]), ("test", ["--packages", "--help"]),
    ("demo", ["--help"]), ("setup", ["--help"]), ("package", ["--help"]), ("fuzz", ["--help"]), ("benchmark", ["--help"]),
    ("benchmark-analysis", ["--help"]), ("benchmark-page", ["--help"]), ("benchmark-reader", ["--help"]),
    ("benchmark-scale", ["--help"])])
def test_help_does_nothing_else(tmp_path, script, arguments):
    """Nothing is installed, built or made: the tools that would are replaced, and fail."""
    for name in ("apt-get", "cmake", "ctest", "mkdir", "mktemp", "debootstrap"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/log; exit 1\n")
        (tmp_path / name).chmod(0o755)
    result = run(SOURCE / "scripts" / script, *arguments, env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (result.returncode, result.stderr) == (0, "")
    assert re.match(rf"usage: (scripts/)?{script} ", result.stdout)
    assert not (tmp_path / "log").exists()


def test_the_help_of_test_names_what_it_does_besides():
    text = run_well(SOURCE / "scripts/test", "--help")
    for option in re.findall(r"^scripts/test (--\w+)", (SOURCE / "CONTRIBUTING.md").read_text(), re.MULTILINE):
        assert re.search(rf"^  {option} ", text, re.MULTILINE)


def test_the_demo_wants_a_number_of_processes():
    result = run(SOURCE / "scripts/demo", "four")
    assert result.returncode == 2 and "not a number of processes: four" in result.stderr


def test_benchmark_compares_tracers():
    """Times of so few calls say nothing; that there is a trace of them does."""
    results = json.loads(run_well(SOURCE / "scripts/benchmark", "--build", os.path.relpath(BUILD), "--json", "--repetitions", "1", "--scale", "0.001",
                                  "--loop", "ping-pong", "--loop", "8-threads"))
    assert [(result["loop"], result["tracer"]) for result in results] == [
        (loop, tracer) for loop in ("ping-pong", "8-threads") for tracer in ("untraced", "hdtrace")]
    for result in results:
        assert result["nanoseconds"] > 0
        assert (result["bytes"] > 50) == (result["tracer"] == "hdtrace")


@pytest.mark.parametrize("options", [[], ["--compressed"]])
def test_benchmark_repeats_steps_that_fit_together(options):
    """The checker, which ends with an error if it finds one, accepts what the script makes of a short trace."""
    results = json.loads(run_well(SOURCE / "scripts/benchmark-analysis", "--build", BUILD, "--json", "--ranks", "2", "--calls", "2000",
                                  "--only", "check", "--only", "stats", *options))
    assert [(result["command"], result["ranks"], result["calls"]) for result in results] == [("check", 2, 1830), ("stats", 2, 1830)]
    assert all(result["cpu_seconds"] > 0 and result["megabytes"] > 1 for result in results)


def test_benchmark_makes_runs_of_more_processes_than_ran():
    results = json.loads(run_well(SOURCE / "scripts/benchmark-scale", "--build", BUILD, "--json", "--processes", "20", "--steps", "10"))
    assert [result["command"] for result in results] == ["merge", "info", "stats", "check", "analyze", "report", "watch"]
    assert {(result["ranks"], result["calls"]) for result in results} == {(20, 20 * 65)}


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_benchmark_pans_the_page():
    text = run_well(SOURCE / "scripts/benchmark-page", "--build", BUILD, "--ranks", "2", "--calls", "40000", "--seconds", "0.1")
    assert re.match(r"39,\d+ calls of 2 processes; hdtrace view has them ready in [0-9.]+ s\ndrawn in [0-9.]+ s, complete in [0-9.]+ s\n\n", text)
    rows = [row.split() for row in text.splitlines()[4:]]
    assert len(rows) == 6 and all(float(frames) > 0 for _, _, _, frames, _, _ in rows)


@pytest.mark.parametrize("arguments, message", [
    (["--with", "nothing"], "benchmark: nothing is not a known tracer that is installed; NAME=LIBRARY preloads any other"),
    (["--build", "/missing"], "benchmark: /missing/bin/hdtrace-run does not exist: build it"),
    (["--compiler", "false"], "benchmark: false -O2")])
def test_benchmark_says_what_is_wrong(arguments, message):
    result = run(SOURCE / "scripts/benchmark", *["--build", BUILD, *arguments])
    assert result.returncode == 1 and message in result.stderr


@pytest.mark.parametrize("arguments, user, code, message", [
    (["--system"], 0, 2, "usage: scripts/test --system SUITE"), (["--system", "../trixie"], 0, 2, "usage: scripts/test --system SUITE"),
    (["--system", "trixie"], 1000, 1, "needs to be root"), (["--system", "trixie"], 0, 1, "needs debootstrap"),
    (["--arm64"], 1000, 1, "needs to be root"), (["--arm64"], 0, 1, "needs debootstrap")])
def test_another_system_says_what_it_needs(tmp_path, arguments, user, code, message):
    for command in ("dirname", "readlink"):
        (tmp_path / command).symlink_to(f"/usr/bin/{command}")
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    result = run("/bin/bash", SOURCE / "scripts/test", *arguments, env=os.environ | {"PATH": str(tmp_path)})
    assert result.returncode == code and message in result.stderr


def test_another_system_runs_what_the_readme_says(tmp_path):
    """Without making one: the tools that would are replaced, and say what they were asked."""
    tools = {"debootstrap": 'echo "$0 $*" >"$LOG"; mkdir -p "$3/etc/apt/apt.conf.d" "$3/root"',
             "unshare": 'echo "$*" >>"$LOG"', "id": "echo 0", "apt-get": "echo http://mirror/debian", "apt-config": "echo"}
    for name, text in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    system, log = tmp_path / "system", tmp_path / "log"
    result = run(SOURCE / "scripts/test", "--system", "trixie", system,
                 env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log)})
    assert (result.returncode, result.stderr) == (0, "")
    made, entered = log.read_text().split("\n", 1)
    assert re.search(rf" trixie {system} http://mirror/debian /usr/share/debootstrap/scripts/\w+$", made)
    assert entered.strip().endswith(f"{system} cd /root/hdtrace; scripts/demo; scripts/test")
    assert (system / "root/hdtrace/scripts/demo").exists()
