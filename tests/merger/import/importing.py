"""Calls hdtrace-import, and compares what it made with what was recorded."""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import hdtrace
from support.runs import BUILD

CONVERT = BUILD / "bin/hdtrace-convert"
HDTRACE = BUILD / "bin/hdtrace"
MERGER = BUILD / "bin/project-merger"
IMPORT = BUILD / "bin/hdtrace-import"
SEVERAL_COMMANDS = """
import sys
from hdtrace.cli.main import main
*commands, project = sys.argv[1:]
for command in commands:
    sys.argv = ["hdtrace", *command.split(), project]
    if code := main():
        sys.exit(f"hdtrace {command}: exit code {code}")
"""


def call(*arguments, **options):
    return subprocess.run([IMPORT, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def import_well(output, *arguments):
    """Must be done without a complaint; the lines that tell what became of the calls."""
    result = call("-o", output, *arguments)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    with tempfile.TemporaryDirectory() as folder:
        merged = subprocess.run([MERGER, "-o", Path(folder) / "app.proj", output.parent], capture_output=True, text=True)
    assert "states, but its process wrote" not in merged.stderr
    return result.stdout.splitlines()


def states(project, rank, thread=0):
    """The calls and events of a thread, as they stand in its trace."""
    path, = project.parent.glob(f"{project.stem.replace('_', '-')}_*_{rank}_{thread}.trc")
    return list(hdtrace.read_trace(path))


def convert(project, to, output, *arguments):
    subprocess.run([CONVERT, "--quiet", "--to", to, "-o", output, *arguments, project], check=True)
    return output


def findings(project, warning="are left out, as was asked for"):
    """What hdtrace check says, by kind; `warning` is the only one that it may give."""
    result = subprocess.run([HDTRACE, "check", "--json", project], capture_output=True, text=True)
    assert all(warning in line for line in result.stderr.splitlines()), result.stderr
    return Counter(finding["kind"] for finding in json.loads(result.stdout))


def works_with_everything(project, warning=None):
    """The commands that people use, without a complaint but `warning`. In one process: to start Python takes longer than what they do."""
    commands = ["info", "stats", "stats --matrix bytes", "analyze", "dump"]
    result = subprocess.run([sys.executable, "-c", SEVERAL_COMMANDS, *commands, project], env=os.environ | {"PYTHONPATH": str(BUILD / "python")},
                            capture_output=True, text=True)
    complaints = [line for line in result.stderr.splitlines() if warning is None or warning not in line]
    assert (result.returncode, complaints) == (0, []), result.stderr


def refused(tmp_path, *arguments):
    """What is said about files that cannot be imported, of which nothing must stay."""
    before = sorted(path.name for path in tmp_path.iterdir())
    result = call("-o", tmp_path / "app.proj", *arguments)
    assert (result.returncode, result.stdout) == (1, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    return result.stderr
