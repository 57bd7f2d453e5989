"""Calls hdtrace-convert."""
import subprocess
from dataclasses import dataclass

from support.runs import BUILD, SETTINGS

CONVERT = BUILD / "bin/hdtrace-convert"
# The programs of tests/mpi that come to their end in one world. Debian's MPICH cannot make connections.
NOT_CONVERTED = {"abort", "exit_early", "raise", "spawn", *(["connect"] if SETTINGS["mpi"] == "MPICH" else [])}
PROGRAMS = [name for name in SETTINGS["names"] if name not in NOT_CONVERTED]


# What to do next, which is told each time.
ADVICE = {"tit": "how long messages take is in the platform file: hdtrace calibrate writes one for this machine"}
# Of runs beside which the machine did something else.
BUSY = "computation holds the time without a processor, too: "


@dataclass
class Conversion:
    """What became of the calls, as the tool says it: {what: how many}."""

    exact: int
    approximated: dict
    dropped: dict
    notes: list


def call(*arguments, **options):
    return subprocess.run([CONVERT, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def convert(project, to, output, *arguments):
    """Must be done without a complaint."""
    result = call("--to", to, "-o", output, *arguments, project)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    sums, *kinds = result.stdout.splitlines()
    conversion = Conversion(int(sums.split()[0]), {}, {}, [])
    for line in kinds:
        category, text = line.split(": ", 1)
        if category == "note":
            conversion.notes += [text] if not text.startswith(BUSY) else []
            continue
        count, what = text.split(" ", 1)
        getattr(conversion, category)[what] = int(count)
    if to in ADVICE:
        conversion.notes.remove(ADVICE[to])
    assert sums == (f"{conversion.exact} calls are exact, {sum(conversion.approximated.values())} approximated, "
                    f"{sum(conversion.dropped.values())} dropped")
    return conversion


def project_of(run):
    """The path of the project of a run of support.runs."""
    path, = run.trace_directory.glob("*.proj")
    return path
