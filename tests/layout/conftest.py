"""The files of the project, as Git knows them."""
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]


def tracked(*patterns):
    """The paths of all tracked files that match; without Git the test is skipped."""
    # The folder may belong to somebody else, as in a container.
    command = ["git", "-c", f"safe.directory={SOURCE}", "ls-files", "-z", *patterns]
    try:
        result = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if result.returncode != 0:
        pytest.skip(f"Git does not know which files there are: {result.stderr.strip()}")
    return sorted(filter(None, result.stdout.split("\0")))
