"""C and C++ are laid out as .clang-format says."""
import re
import subprocess

import pytest
from conftest import SOURCE, tracked

VERSION = 14  # Debian 12's; others lay out differently


def version():
    try:
        text = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        pytest.skip("clang-format is not installed")
    return int(re.search(r"version (\d+)", text)[1])


def test_all_files_are_laid_out():
    if version() != VERSION:
        pytest.skip(f"clang-format is {version()}, not {VERSION}")
    # What the generator writes is compared with tests/generator/golden as it is.
    files = tracked("*.c", "*.cpp", "*.h", ":!tests/generator/golden")
    assert files
    result = subprocess.run(["clang-format", "--dry-run", *files], cwd=SOURCE, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    deviating = sorted(set(re.findall(r"^(.*?):\d+:\d+: warning: code should be clang-formatted", result.stderr, re.MULTILINE)))
    assert not deviating, f"clang-format -i {' '.join(deviating)}"
