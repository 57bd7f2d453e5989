"""What is printed for people has no character that a terminal obeys."""
import json
import os
import pty
import subprocess
import unicodedata

import pytest
from hdtrace import _hdtrace

from projects_of_lines import project_text, write_project
from test_command import COMMAND, run, run_well

# Clears the screen in one character, turns text around, hides what follows, ends a line.
HOSTILE = "\u009b2J\u202egpj\u2066x\u200f\u061c\u2028\u00adend"
SHOWN = r"\xc2\x9b2J\xe2\x80\xaegpj\xe2\x81\xa6x\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xc2\xadend"


@pytest.mark.parametrize("text, shown", [
    ("", ""),
    ("plain ~ 'text' \\ äöü €", "plain ~ 'text' \\ äöü €"),
    ("日本語 \U0001f600 é", "日本語 \U0001f600 é"),
    ("\x1b]0;title\x07\x00\x7f", r"\x1b]0;title\x07\x00\x7f"),
    ("a\tb\rc", r"a\tb\rc"),
    (HOSTILE, SHOWN),
    (os.fsdecode(b"\xff \xc3( \xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82"), r"\xff \xc3( \xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82"),
    (os.fsdecode(b"\xc0\x9b"), r"\xc0\x9b"),
])
def test_printable(text, shown):
    assert _hdtrace.printable(text) == _hdtrace.printable_lines(text) == shown


def test_line_feeds():
    assert (_hdtrace.printable("a\nb"), _hdtrace.printable_lines("a\nb")) == (r"a\nb", "a\nb")


def is_harmless(text):
    return all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp") for c in text)


@pytest.fixture
def project(tmp_path):
    """Names from files and programs in all places."""
    line = f"<A{HOSTILE[-3:]} name='{HOSTILE}' cid='0' fid='0' size='1' time='1.000000000' end='2.000000000' ><B value='{HOSTILE}' /></Aend>\n"
    path = write_project(tmp_path, f"{line}<Send size='4' count='1' tid='0' toRank='0' toTag='1' cid='0' time='2' end='3' />\n")
    text = project_text(1).replace("<Description/>", f"<Description>{HOSTILE}\n{HOSTILE}</Description>")
    for name in ("app", "WORLD", "/data/out", "MPI_INT"):
        text = text.replace(f'name="{name}"', f'name="{HOSTILE}"')
    path.write_text(text)
    return path


@pytest.mark.parametrize("words", [("info",), ("stats", "--by", "call,communicator,file"), ("dump",), ("check",), ("check", "--all")])
def test_what_commands_print(project, words):
    result = run(*words, project)
    assert SHOWN in result.stdout and is_harmless(result.stdout + result.stderr), result


@pytest.mark.parametrize("words", [("info", "--json"), ("dump", "--json"), ("stats", "--json", "--by", "file")])
def test_data_stays_data(project, words):
    lines = run_well(*words, project)
    data = json.loads(lines.splitlines()[0] if words[0] == "dump" else lines)
    assert is_harmless(lines) and HOSTILE in json.dumps(data, ensure_ascii=False)


def test_xml_on_a_terminal(project):
    assert HOSTILE in run_well("dump", "--xml", project)
    ours, theirs = pty.openpty()
    with os.fdopen(ours) as terminal:
        subprocess.run([COMMAND, "dump", "--xml", project], stdout=theirs, check=True, timeout=60)
        shown = "".join(terminal.readline() for _ in range(4))
        os.close(theirs)
    assert SHOWN in shown and is_harmless(shown)


def on_terminal(*words, columns=200, **environment):
    """What a command prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm", "COLUMNS": str(columns), **environment}
    with os.fdopen(ours, errors="replace") as terminal:
        subprocess.run([COMMAND, *words], stdout=theirs, stderr=subprocess.DEVNULL, timeout=60, env=variables)
        os.write(theirs, b"\nend of output\n")
        os.close(theirs)
        return "".join(iter(terminal.readline, "end of output\n"))


def test_heads_stand_out_on_a_terminal(project):
    assert "\x1b[1mcall " in on_terminal("stats", project)
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal("stats", project, **plain)
    assert "\x1b" not in run_well("stats", project)


def test_severities_have_colours(tmp_path):
    path = write_project(tmp_path, "<Recv fromRank='0' fromTag='1' cid='0' size='4' count='1' tid='0' time='2' end='3' unfinished='1' />\n")
    assert "\x1b[1;31m" in on_terminal("check", path) and "\x1b" not in on_terminal("check", path, NO_COLOR="1")


def test_tables_fit_the_terminal(tmp_path):
    name = "A" + "b" * 98 + "C"
    path = write_project(tmp_path, f"<{name} time='1.000000000' end='2.000000000' />\n")
    narrow = on_terminal("stats", "--by", "call", path, columns=110, NO_COLOR="1")
    rows = [line for line in narrow.splitlines() if line.startswith(("call", "Ab"))]
    assert len(rows) == 2 and max(map(len, rows)) <= 110 and "…" in rows[1] and "bC " in rows[1]
    assert name in on_terminal("stats", "--by", "call", path) and name in run_well("stats", "--by", "call", path)


WIDE, COMBINING = "通信コミュニケータ世界", "e\u0301a\u0308" * 12


def columns_of(text):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def test_columns_of_tables_stand_below_each_other(tmp_path):
    events = "".join(f"<Event name='{name}' kind='{kind}' time='1' />\n" for name in (WIDE, COMBINING, "plain") for kind in ("begin", "end"))
    lines = run_well("stats", "--by", "region", write_project(tmp_path, events)).splitlines()
    assert [line[:3] for line in lines[-4:]] == ["reg", WIDE[:3], COMBINING[:3], "pla"]
    assert len({columns_of(line) for line in lines[-3:]}) == 1


@pytest.mark.parametrize("name", [WIDE * 8, COMBINING * 8, "x" + WIDE * 8], ids=["wide", "combining", "odd"])
def test_tables_fit_the_terminal_in_all_scripts(tmp_path, name):
    path = write_project(tmp_path, f"<Event name='{name}' kind='begin' time='1' />\n<Event name='{name}' kind='end' time='2' />\n")
    *_, row = on_terminal("stats", "--by", "region", path, columns=110, NO_COLOR="1").rstrip().splitlines()
    head, tail = row.split("  ")[0].split("…")
    assert 107 <= columns_of(row) <= 110 and name.startswith(head) and name.endswith(tail)
    assert not unicodedata.combining(tail[0]) and not unicodedata.combining(name[len(head)])


def test_messages(tmp_path):
    name = tmp_path / os.fsdecode(b"a\x1b[31m\xff\n.proj")
    for words in (("info", name), ("repair", tmp_path / f"{HOSTILE}.trc"), ("convert", "--to", "tit", "-o", tmp_path / "x", name)):
        errors = run(*words, errors="surrogateescape").stderr
        assert is_harmless(errors) and errors.count("\n") == 1 and ("\\x1b" in errors or SHOWN in errors), errors


def test_warnings_of_the_merger(tmp_path):
    (tmp_path / "app_h_0_0.info").write_bytes(
        f"Process base='{HOSTILE}\\x1b]0;x' host='h' rank=0 size=1 thread=0 version=1\nComm map='0->0;' id=0 name='WORLD' uid='W'\n".encode()
        + b"Unknown\x1b]0;title\x07 \xff\n"
        + b"Comm map='0->0;' id=1 name='a\\x1b[2J' uid='V'\nComm map='0->0;' id=2 name='\\x9b' uid='V'\nTypeName id='9' name='\\x1b[2J'\n")
    errors = run("merge", "-o", tmp_path / "app.proj", tmp_path, errors="surrogateescape").stderr
    assert "\\x1b]0;title\\x07" in errors and is_harmless(errors), errors


def test_what_the_terminal_cannot_show_is_written_in_other_words(tmp_path):
    project = write_project(tmp_path, "<Barrier cid='0' time='1.000000000' end='1.000005000' />\n")
    result = run("stats", project, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0 and "5.00 us" in result.stdout, result


def test_files_that_are_not_there_may_have_any_name():
    result = run("stats", os.fsdecode(b"/nowhere/a\xff"))
    assert (result.returncode, result.stderr) == (1, "hdtrace: /nowhere/a\\xff: No such file or directory\n")
