"""Finds the command, reads its arguments, and turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import codecs
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any, TextIO

from ..project import MergeWarning
from ..sharing import Reader, processes_of_launcher, share
from .output import UsageError, beside_this, forget_output, message, reason
from .table import COMMANDS, Argument, Command

FINE, ERROR, USAGE = 0, 1, 2

_ASCII = {"µ": b"u", "…": b"~", "–": b"-"}


class _TracerAction(argparse.Action):
    """Keeps options and their opposites in their order, by their long names."""

    def __call__(self, parser, namespace, values, option_string=None):
        name = option_string if option_string.startswith("--") else next(one for one in self.option_strings if one.startswith("--"))
        namespace.tracer = [*getattr(namespace, "tracer", []), name, *([values] if self.nargs is None else [])]


class _ListAction(argparse.Action):
    """Collects values between commas and of repeated options."""

    def __call__(self, parser, namespace, values, option_string=None):
        seen = self.__dict__.setdefault("values", [])
        seen.extend(values)
        setattr(namespace, self.dest, seen)


class _GroupAction(_ListAction):
    """Collects repeated options, each with its values between commas."""

    def __call__(self, parser, namespace, values, option_string=None):
        super().__call__(parser, namespace, [values], option_string)


def _parser(argument: Argument) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if argument.choices and text not in argument.choices:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(argument.choices)}")
        try:
            if not text:
                raise ValueError
            return argument.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}' is not {argument.value or argument.name}") from error

    return parse


def _list_parser(argument: Argument) -> Callable[[str], list[Any]]:
    parse_one = _parser(argument)

    def parse(text: str) -> list[Any]:
        values = []
        for word in text.split(","):
            value = parse_one(word)
            values.extend(value if isinstance(value, list) else [value])
        return values

    return parse


def _add(parser: argparse.ArgumentParser, argument: Argument) -> None:
    choices = f" ({', '.join(argument.choices)})" if argument.choices else ""
    text = (argument.help + choices).replace("%", "%%")
    if argument.is_for_tracer:
        switch: dict[str, Any] = {} if argument.value else {"nargs": 0}
        parser.add_argument(*argument.spellings, help=text, metavar=argument.value or None, action=_TracerAction, **switch)
    elif argument.is_rest:
        parser.add_argument(argument.key, metavar=argument.name, help=text, nargs=argparse.REMAINDER)
    elif not argument.is_option:
        repeated: dict[str, Any] = {"nargs": "+"} if argument.is_list else {}
        parser.add_argument(argument.key, metavar=argument.name, help=text, type=_parser(argument), **repeated)
    elif not argument.value:
        parser.add_argument(argument.name, action="store_true", help=text)
    elif argument.is_list:
        parser.add_argument(
            argument.name,
            metavar=argument.value,
            help=text,
            type=_list_parser(argument),
            action=_GroupAction if argument.is_grouped else _ListAction,
        )
    else:
        parser.add_argument(
            *argument.spellings,
            metavar=argument.value,
            help=text,
            type=_parser(argument),
        )


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hdtrace", description="Works on traces of MPI programs.", allow_abbrev=False
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        of_command = commands.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}. {command.details}".strip(),
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,  # so that it is known what was given
        )
        for argument in command.arguments:
            _add(of_command, argument)
    return parser


def _become(program: str, arguments: list[str]) -> int:
    path = beside_this(program)
    try:
        os.execv(path, [program, *arguments])
    except OSError as error:
        message(f"{path}: {error.strerror}: install {program} beside this command")
        return ERROR


def _default(argument: Argument) -> Any:
    return list(argument.default or []) if argument.is_list else argument.default if argument.value else False


def _complete_options(command: Command, arguments: argparse.Namespace) -> None:
    """Refuses what would have no effect, and adds the defaults."""
    given = {argument.name for argument in command.arguments if argument.key in arguments}
    for one, other in command.excluding:
        if {one, other} <= given:
            raise UsageError(f"{command.name}: {one} and {other} exclude each other")
    for one, other in command.needing:
        if one in given and other not in given:
            raise UsageError(f"{command.name}: {one} needs {other}")
    for argument in command.arguments:
        if argument.is_option and not argument.is_for_tracer and argument.name not in given:
            setattr(arguments, argument.key, _default(argument))


def _find(words: list[str]) -> Command | None:
    return next((command for command in COMMANDS if words and command.name == words[0]), None)


def run(words: list[str]) -> int:
    command = _find(words)
    if command and command.program:
        return _become(command.program, words[1:])
    parser = make_parser()
    arguments = parser.parse_args(words)
    if arguments.version:
        from .version import VERSION

        print(f"hdtrace {VERSION}")
        return FINE
    if command is None:
        parser.error("a command is missing; --help lists them")
    _complete_options(command, arguments)
    arguments.readers = []
    run_command = import_module(f".{command.module}", __package__).run
    if not command.is_shared or processes_of_launcher() == 1:
        return run_command(arguments)

    def run_shared(readers: list[Reader]) -> int:
        arguments.readers = readers
        return run_command(arguments)

    return share(run_shared)


def _unencodable(error: UnicodeError) -> tuple[bytes, int]:
    """What is written for characters that the terminal does not have, and for the bytes of names of files, which need not be UTF-8."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    refused = error.object[error.start : error.end]
    return b"".join(bytes([ord(char) - 0xDC00]) if 0xDC80 <= ord(char) <= 0xDCFF else _ASCII.get(char, b"?") for char in refused), error.end


class _Output(FileIO):
    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = "standard output"
            raise


class _Messages(FileIO):
    """The outcome is the same where they cannot be written."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            return super().write(content) or len(content)
        return len(content)


def _keep_closed() -> None:
    """No file gets the number of a standard stream that is closed. Output there fails all the same, and programs that are started find it closed."""
    for number, access in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, access)


def _text_stream(raw: FileIO, old: TextIO | None, line_buffering: bool) -> TextIO:
    is_unbuffered = isinstance(old, TextIOWrapper) and old.write_through
    encoding = old.encoding if old else "utf-8"
    return TextIOWrapper(raw if is_unbuffered else BufferedWriter(raw), encoding, "hdtrace", line_buffering=line_buffering, write_through=is_unbuffered)


def _open_streams() -> None:
    codecs.register_error("hdtrace", _unencodable)
    _keep_closed()
    output = _Output(1, "w", closefd=False)
    sys.stdout = _text_stream(output, sys.stdout, output.isatty())
    sys.stderr = _text_stream(_Messages(2, "w", closefd=False), sys.stderr, True)


def _complete(words: list[str]) -> int:
    """Runs it until its output is written."""
    try:
        code = run(words)
    except SystemExit as end:  # after --help, too
        code = int(end.code or FINE)
    sys.stdout.flush()
    return code


def _outcome(words: list[str]) -> tuple[int, str]:
    """The exit code, and what went wrong."""
    try:
        return _complete(words), ""
    except UsageError as error:
        return USAGE, str(error)
    except BrokenPipeError:
        return ERROR, ""
    except (OSError, ValueError, RuntimeError) as error:  # ReadError is a ValueError
        return ERROR, reason(error)
    except MemoryError:
        return ERROR, "not enough memory"


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        forget_output()  # so that Python's end stays quiet


def main() -> int:
    """The exit code: 0 fine, 1 error, 2 wrong usage. Raises KeyboardInterrupt."""
    warnings.simplefilter("always", MergeWarning)
    warnings.showwarning = lambda warning, *_: message(str(warning))
    _open_streams()
    try:
        code, wrong = _outcome(sys.argv[1:])
    finally:
        _flush()
    if wrong:
        message(wrong)
    return code
