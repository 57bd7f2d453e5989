"""Figures of a project, and the notebook of the examples."""

import ast
import json
import shutil

import hdtrace
import pytest
from support.runs import SOURCE

pytest.importorskip("matplotlib")
from hdtrace.plot.kinds import KINDS  # noqa: E402

NOTEBOOK = json.loads((SOURCE / "examples/look-at-a-run.ipynb").read_text())


def shown_by(cell, names):
    """What a notebook shows below a cell: the value of the last line, if it is an expression."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_all_cells_of_the_notebook_run(heat, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    for path in heat.parent.iterdir():
        shutil.copy(path, tmp_path / ("heat.proj" if path == heat else path.name))
    monkeypatch.chdir(tmp_path)
    names = {}
    shown = [shown_by(cell, names) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert shown[0] == 4
    figures = [one for one in shown if hasattr(one, "savefig")]
    assert len(figures) == 5
    assert all(figure._repr_png_().startswith(b"\x89PNG") and figure.axes[0].has_data() for figure in figures)
    assert (tmp_path / "critical-path.svg").read_text().count('id="rank-') == 4
    assert list(names["waiting"].columns[:4]) == ["kind", "seconds", "count", "rank"]


def test_the_notebook_has_no_output():
    """What it shows differs each time."""
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code")


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_has_a_figure_of_each_kind(heat, kind):
    with hdtrace.open(heat) as project:
        assert getattr(project, kind.replace("-", "_"))().axes
