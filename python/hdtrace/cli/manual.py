"""The man page, made from the table of commands."""

from __future__ import annotations

from .table import COMMANDS, Argument, Command

_HEAD = """\
.TH HDTRACE 1 "" "hdtrace {version}" "hdtrace"
.SH NAME
hdtrace \\- work on traces of MPI programs
.SH SYNOPSIS
{synopsis}
.SH DESCRIPTION
.B hdtrace
records MPI programs, and shows, checks and converts what was recorded.
A
.I PROJECT
is a file that
.BR project\\-merger (1)
has written, with the traces beside it; or what it would be written from, which is merged in memory: a directory, .info and .trc files, or
what the names of a program's files begin with.
Traces are read in bounded memory.
.SH COMMANDS
"""
_TAIL = """\
.SH EXIT STATUS
0 if all is well, 1 after an error or if
.B hdtrace check
has found an error (with
.B \\-\\-strict
also a warning), 2 after wrong usage.
.SH SEE ALSO
.BR hdtrace\\-run (1),
.BR project\\-merger (1),
.BR hdtrace\\-convert (1)
"""


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def _usage(argument: Argument) -> str:
    if not argument.is_option:
        return f"\\fI{_escape(argument.name)}\\fR" + (" ..." if argument.is_list or argument.is_rest else "")
    value = f" \\fI{_escape(argument.value)}\\fR" if argument.value else ""
    return f"[\\fB{_escape(argument.name)}\\fR{value}]"


def _synopsis(command: Command) -> str:
    arguments = " ".join(map(_usage, command.arguments)) if not command.program else "..."
    return f"\\fBhdtrace {_escape(command.name)}\\fR {arguments}"


def _option(argument: Argument) -> str:
    choices = f": {', '.join(argument.choices)}" if argument.choices else ""
    value = f" \\fI{_escape(argument.value)}\\fR" if argument.value else ""
    names = ", ".join(f"\\fB{_escape(name)}\\fR" for name in argument.spellings)
    return f".TP\n{names}{value}\n{_escape(argument.help + choices)}.\n"


def _section(command: Command) -> str:
    text = f"{command.help[0].upper()}{command.help[1:]}. {command.details}".strip()
    options = "".join(_option(argument) for argument in command.arguments if argument.is_option)
    return f".SS hdtrace {_escape(command.name)}\n{_escape(text)}\n{options}"


def page(version: str) -> str:
    synopsis = "\n.br\n".join(map(_synopsis, COMMANDS))
    return _HEAD.format(version=version, synopsis=synopsis) + "".join(map(_section, COMMANDS)) + _TAIL
