"""hdtrace completion: what a shell offers, made from the table of commands."""

from __future__ import annotations

from argparse import Namespace

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


def run(arguments: Namespace) -> int:
    print(bash(), end="")
    return 0
