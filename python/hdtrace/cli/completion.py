"""hdtrace completion: what shells offer, made from the table of commands."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from .table import COMMANDS, Argument, Command

_BASH = """\
# Completion of hdtrace for bash.
_hdtrace() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} options= suffixes=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    local prefix=
    case ${{COMP_WORDS[1]}}$before in
{values}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options --help" -- "$word"))
    elif [ -n "$suffixes" ]; then
        local IFS=$'\\n'
        COMPREPLY=($(compgen -d -- "$word") $(compgen -f -X "!*.@($suffixes)" -- "$word"))
    fi
}}
shopt -s extglob
complete -o filenames -o bashdefault -F _hdtrace hdtrace
"""


_ZSH = """\
#compdef hdtrace
# Completion of hdtrace for zsh.
_hdtrace() {{
    if (( CURRENT == 2 )); then
        local -a commands=(
{commands}
        )
        _describe -t commands command commands
        compadd -- --help --version
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{cases}
    esac
}}
if [[ $funcstack[1] = _hdtrace ]]; then
    _hdtrace "$@"
else
    compdef _hdtrace hdtrace
fi
"""

_FISH = """\
# Completion of hdtrace for fish.
function __hdtrace_files
    __fish_complete_path (commandline -ct) | string match -r "^.*(?:/|\\.(?:$argv[1]))(?=\\t|\\$)"
end
complete -c hdtrace -f
complete -c hdtrace -n __fish_use_subcommand -l help
complete -c hdtrace -n __fish_use_subcommand -l version
{lines}
"""


def _case(command: Command) -> str:
    options = " ".join(argument.name for argument in command.arguments if argument.is_option)
    suffixes = "|".join(suffix for argument in command.arguments for suffix in argument.files)
    return f"    {command.name}) options='{options}' suffixes='{suffixes}' ;;"


def _values(command: Command, argument: Argument) -> str:
    """After the option, or, for what stands on its own, after the command; in lists behind the last comma."""
    before = argument.name if argument.is_option else command.name
    reply = f'COMPREPLY=($(compgen -P "$prefix" -W "{" ".join(argument.choices)}" -- "${{word##*,}}"))'
    return f'    {command.name}{before}) [[ $word == *,* ]] && prefix=${{word%,*}},; {reply}; return ;;'


def bash() -> str:
    return _BASH.format(
        commands=" ".join(command.name for command in COMMANDS),
        cases="\n".join(_case(command) for command in COMMANDS),
        values="\n".join(
            _values(command, argument) for command in COMMANDS for argument in command.arguments if argument.choices
        ),
    )


def _quoted(text: str) -> str:
    """As a word for zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh_action(argument: Argument) -> str:
    if argument.choices and argument.is_list:
        return f"_values -s , {argument.value} {' '.join(argument.choices)}"
    if argument.choices:
        return f"({' '.join(argument.choices)})"
    if not argument.files:
        return " "
    return "_files -g \"" + " ".join(f"*.{suffix}" for suffix in argument.files) + "\""


def _zsh_argument(argument: Argument) -> str:
    repeated = "*" if argument.is_list else ""
    if argument.is_rest:
        return _quoted(f"*::{argument.name}:_normal")
    if not argument.is_option:
        return _quoted(f"{repeated or '1'}:{argument.name}:{_zsh_action(argument)}")
    value = f":{argument.value}:{_zsh_action(argument)}" if argument.value else ""
    return _quoted(f"{repeated}{argument.name}[{argument.help.replace(']', '')}]{value}")


def _zsh_case(command: Command) -> str:
    if command.program:
        return f"    {command.name}) _files ;;"
    arguments = "".join(f" \\\n            {_zsh_argument(argument)}" for argument in command.arguments)
    return f"    {command.name})\n        _arguments '(- *)--help[show what the command does]'{arguments}\n        ;;"


def zsh() -> str:
    return _ZSH.format(
        commands="\n".join(f"            {_quoted(f'{command.name}:{command.help}')}" for command in COMMANDS),
        cases="\n".join(map(_zsh_case, COMMANDS)),
    )


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_values(argument: Argument) -> str:
    """What stands for the value, as code that prints a line for each."""
    if argument.is_rest:
        return " -a " + _fish_quoted("(__fish_complete_subcommand)")
    if argument.choices and argument.is_list:
        choices = ",".join(argument.choices)
        return " -x -a " + _fish_quoted(f'(__fish_complete_list , "string split , {choices}")')
    if argument.choices:
        return " -x -a " + _fish_quoted(" ".join(argument.choices))
    if argument.files:
        suffixes = "|".join(argument.files)
        return " -a " + _fish_quoted(f'(__hdtrace_files "{suffixes}")')
    return " -x" if argument.value else ""


def _fish_lines(command: Command) -> Iterator[str]:
    yield f"complete -c hdtrace -n __fish_use_subcommand -a {command.name} -d {_fish_quoted(command.help)}"
    begin = f"complete -c hdtrace -n '__fish_seen_subcommand_from {command.name}'"
    if command.program:
        yield f"{begin} -F"
        return
    yield f"{begin} -l help -d 'show what the command does'"
    for argument in command.arguments:
        option = f" -l {argument.name.lstrip('-')} -d {_fish_quoted(argument.help)}" if argument.is_option else ""
        yield begin + option + _fish_values(argument)


def fish() -> str:
    return _FISH.format(lines="\n".join(line for command in COMMANDS for line in _fish_lines(command)))


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def run(arguments: Namespace) -> int:
    print(SHELLS[arguments.shell](), end="")
    return 0
