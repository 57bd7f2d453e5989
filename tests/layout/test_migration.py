"""docs/from-itc.md names what there is."""
import re
import tomllib

from conftest import SOURCE

CELLS = re.compile(r"(?<!\\)\|")
CODE = re.compile(r"`([^`]+)`")


def rows(heading):
    """The last two cells of the rows below a heading: what there is here."""
    text = (SOURCE / "docs/from-itc.md").read_text()
    part = text.split(f"## {heading}\n")[1].split("\n## ")[0] if heading else text
    return [CELLS.split(line)[2:-1] for line in part.splitlines() if line.startswith("| ") and not line.startswith("|---")]


def named_here():
    """What stands in code in the cells about hdtrace."""
    return [code for cells in rows("") for code in CODE.findall(" ".join(cells))]


def test_every_option_that_is_named_exists():
    options = tomllib.loads((SOURCE / "hdtrace/options.toml").read_text())
    known = {f"--{key.lower().replace('_', '-')}" for key in options}
    commands = (SOURCE / "python/hdtrace/cli/table.py").read_text() + (SOURCE / "merger/export/main.cpp").read_text() + (SOURCE / "merger/export/command_line.cpp").read_text()
    named = {option for code in named_here() if not code.startswith("pkg-config") for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", code)}
    assert len(named) > 20
    for option in named - known:
        assert f'"{option}"' in commands or f'"{option.removeprefix("--")}"' in commands, option


def test_every_variable_that_is_named_exists():
    options = tomllib.loads((SOURCE / "hdtrace/options.toml").read_text())
    named = {name for code in named_here() for name in re.findall(r"HDTRACE_([A-Z_]+)", code)} - {"OPTION"}
    assert named <= set(options)


def test_every_command_that_is_named_exists():
    table = (SOURCE / "python/hdtrace/cli/table.py").read_text()
    named = {command for code in named_here() for command in re.findall(r"\bhdtrace ([a-z]+)", code)}
    assert len(named) > 5
    for command in named:
        assert f'"{command}"' in table, command


def test_every_finding_that_is_named_exists():
    kinds = tomllib.loads((SOURCE / "hdtrace/checking/kinds.toml").read_text())
    named = {code for _, code in ((cells, code) for cells in rows("Checks")[1:] for code in CODE.findall(cells[0]))}
    assert len(named) > 20
    assert named <= set(kinds)
