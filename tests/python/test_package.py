import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import hdtrace
from hdtrace import _hdtrace

PACKAGE = Path(hdtrace.__file__).parent


def members(node):
    return {item.name for item in node.body if isinstance(item, (ast.FunctionDef, ast.ClassDef))} | {
        item.target.id for item in node.body if isinstance(item, ast.AnnAssign)
    }


def test_public_names_are_documented():
    for name in hdtrace.__all__:
        item = getattr(hdtrace, name)
        assert inspect.isclass(item) or item.__doc__, name


def test_stubs_tell_what_the_compiled_module_has():
    stubs = ast.parse((PACKAGE / "_hdtrace.pyi").read_text())
    nodes = {node.name: node for node in stubs.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    constants = {node.target.id for node in stubs.body if isinstance(node, ast.AnnAssign)}
    assert set(nodes) | constants == {name for name in vars(_hdtrace) if not name.startswith("_")}
    for name, node in nodes.items():
        if isinstance(node, ast.ClassDef):
            has = {member for member in vars(getattr(_hdtrace, name)) if not member.startswith("_")}
            assert {member for member in members(node) if not member.startswith("_")} == has, name


def test_another_python_is_told_for_which_one_it_was_built(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "hdtrace", ignore=shutil.ignore_patterns("*.so"))
    (tmp_path / "hdtrace/_hdtrace.cpython-399-x86_64-linux-gnu.so").touch()
    result = subprocess.run([sys.executable, "-c", "import hdtrace"], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert result.stderr.splitlines()[-1].startswith("ImportError: hdtrace was built for another Python (cpython-399-x86_64-linux-gnu) than this one")
    assert f"cmake -DPython3_EXECUTABLE={sys.executable}" in result.stderr


def test_package_is_typed():
    assert (PACKAGE / "py.typed").exists()
