"""docs/reliability.md names the test of each promise."""
import re
from pathlib import Path

from support.runs import SOURCE


def test_the_tests_exist():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    page = (SOURCE / "docs/reliability.md").read_text()
    named = set(re.findall(r"`(test_\w+)(?:\[\w+\])?`", page))
    assert len(named) > 20
    assert {name for name in named if f"def {name}(" not in tests} == set()
    assert all((SOURCE / path).exists() for path in re.findall(r"`(\w+/[\w./]+\.\w+)`", page))
    assert all((Path(__file__).parent / file).exists() for file in re.findall(r"`(test_\w+\.py)`", page))
