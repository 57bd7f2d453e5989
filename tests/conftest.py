"""What all tests share: the build that they test, and what a failed assertion about a trace says."""
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("HDTRACE_BUILD", TESTS.parent / "build/dev"))
sys.path[:0] = [str(TESTS), str(BUILD / "python")]
pytest.register_assert_rewrite("support")


def pytest_assertrepr_compare(op, left, right):
    if type(left).__name__ == "Call":
        return left.explain(op, right)
    return None
