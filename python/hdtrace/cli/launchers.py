"""Where the programs stand in the command line of mpirun and its like.

Each launcher has options that take values, which have to be known to find the first word that is none of them: the program. The lists
are those of the manuals: mpirun(1) of Open MPI 4 and 5, the help of MPICH's mpiexec.hydra, srun(1) of Slurm 22 to 24.
Those are missing that copy the program to the hosts (-s and --preload-binary, srun's --bcast): they would copy the tracer, and only that.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field


class UnknownOption(ValueError):
    """It cannot be told where the program is."""


class MissingOption(ValueError):
    """The launcher gives the program an option that it would not give it behind the tracer."""


@dataclass(frozen=True)
class Launcher:
    """How one launcher reads its command line.

    values: how many words follow an option, by its name without dashes; 0 is a switch
    words: names of several letters may have one dash only, so that letters cannot be written together
    files: options that name a file with the program in it
    folders: options that name the folders, between colons, where programs are looked for before PATH
    helps_java: it tells java where its own classes and libraries are
    """

    name: str
    values: dict[str, int]
    words: bool = True
    files: frozenset[str] = field(default_factory=frozenset)
    folders: frozenset[str] = field(default_factory=frozenset)
    helps_java: bool = False

    def width(self, option: str) -> int:
        """How many words the option has, with itself. Raises UnknownOption."""
        name, equals, _ = option.lstrip("-").partition("=")
        if name in self.files:
            raise UnknownOption(f"the programs are named in the file of {self.name}'s option {option}")
        if name in self.values:
            return 1 if equals else 1 + self.values[name]
        if not option.startswith("--") and not self.words:
            return self._width_of_letters(option)
        raise UnknownOption(f"'{option}' is no option of {self.name} that this command knows")

    def _width_of_letters(self, option: str) -> int:
        """Of -ln 4, -n4 and the like."""
        for position, letter in enumerate(option[1:], 1):
            if letter not in self.values:
                raise UnknownOption(f"'{option}' is no option of {self.name} that this command knows")
            if self.values[letter]:
                return 1 if option[position + 1 :] else 2
        return 1


def _values(switches: str = "", one: str = "", two: str = "") -> dict[str, int]:
    return {name: count for count, names in enumerate((switches, one, two)) for name in names.split()}


_OPEN_MPI = Launcher(
    "Open MPI's mpirun",
    _values(
        switches="""allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous debug debug-daemons debug-daemons-file
            debug-devel d disable-recovery display-allocation display-devel-allocation display-devel-map display-diffable-map display-map
            display-topo do-not-launch do-not-resolve dvm enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces
            index-argv-by-rank leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm nperdevice oversubscribe
            output-proctable parsable parseable pernode quiet q report-bindings report-child-jobs-separately
            report-state-on-timeout set-cwd-to-session-dir show-progress tag-output tv timestamp-output use-hwthread-cpus use-regexp
            verbose v version V xml daemonize no-ready-msg keepalive abort-on-non-zero-status no-app-prefix""",
        one="""am aca-agent bind-to cf cartofile c cpu-list cpu-set cpus-per-proc cpus-per-rank debugger default-hostfile display dvm-uri
            exec-agent forward-signals gpu-support H host hnp hostfile launch-agent machinefile map-by max-restarts max-vm-size n N np
            npernode npersocket ompi-server output output-filename path personality ppr prefix preload-files prtemca-params pset rank-by
            rankfile rf report-events report-pid report-uri rtos runtime-options set-sid server-wait-time spawn-timeout stdin
            stream-buffering tune timeout unset-env wd wdir with-ft x xml-file xterm""",
        two="mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca",
    ),
    files=frozenset({"app"}),
    folders=frozenset({"path"}),
    helps_java=True,
)

_HYDRA = Launcher(
    "mpiexec.hydra",
    _values(
        switches="""genvnone genvall envnone envall enable-x disable-x verbose v info print-all-exitcodes profile prepend-rank l
            disable-auto-cleanup disable-hostname-propagation skip-launch-node version V""",
        one="""genvlist f hosts host wdir wd envlist n np launcher launcher-exec rmk topolib bind-to map-by membind demux iface ppn
            prepend-pattern outfile-pattern errfile-pattern nameserver order-nodes localhost usize pmi-port gpus-per-proc
            gpu-subdevs-per-proc machinefile perhost timeout""",
        two="genv env",
    ),
    files=frozenset({"configfile"}),
)

_SRUN = Launcher(
    "srun",
    _values(
        switches="""E contiguous exact H hold h help I immediate interactive k no-kill K kill-on-bad-exit l label O overcommit overlap
            oversubscribe s preserve-env pty Q quiet quit-on-interrupt reboot spread-job test-only u unbuffered use-min-nodes usage v
            verbose V version X disable-status Z no-allocate exclusive propagate compress nice x11 wait-all-nodes
            stepmgr""",
        one="""A account acctg-freq bb bbf b begin B extra-node-info C constraint c cpus-per-task clusters cluster-constraint comment
            container container-id core-spec S cores-per-socket cpu-bind cpu-freq cpus-per-gpu D chdir d dependency deadline delay-boot e
            error epilog export export-file extra F nodefile gid gpu-bind gpu-freq G gpus gpus-per-node gpus-per-socket gpus-per-task gres
            gres-flags het-group hint i input J job-name jobid L licenses M m distribution mail-type mail-user mcs-label mem mem-bind
            mem-per-cpu mem-per-gpu mincpus mpi msg-timeout N nodes n ntasks network nodelist w ntasks-per-core ntasks-per-gpu
            ntasks-per-node ntasks-per-socket ntasks-per-tres o output open-mode p partition power prefer priority profile prolog q qos r
            relative reservation x exclude signal slurmd-debug sockets-per-node switches t time task-epilog task-prolog thread-spec T
            threads threads-per-core time-min tmp tres-bind tres-per-task treewidth uid W wait wckey""",
    ),
    words=False,
    files=frozenset({"multi-prog"}),
)

_BY_NAME = {"srun": _SRUN, "prterun": _OPEN_MPI, "orterun": _OPEN_MPI, "mpiexec.hydra": _HYDRA}
_BY_VERSION = (("Open MPI", _OPEN_MPI), ("OpenRTE", _OPEN_MPI), ("PRRTE", _OPEN_MPI), ("HYDRA", _HYDRA))
_OF_MPI = re.compile(r"mpi(run|exec)([.-].+)?")
_UNKNOWN = ("aprun", "flux", "jsrun", "lrun", "ibrun", "mpirun_rsh", "yod", "runjob", "pjrun", "ccc_mprun")


def _says_version(program: str) -> str:
    try:
        version = subprocess.run([program, "--version"], capture_output=True, timeout=20, stdin=subprocess.DEVNULL)
        return version.stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return ""


def is_launcher(word: str) -> bool:
    """By its name: it need not be here."""
    name = os.path.basename(word)
    return name in _BY_NAME or name in _UNKNOWN or _OF_MPI.fullmatch(name) is not None


def launcher_of(word: str) -> Launcher | None:
    """Which launcher this word of a command line is; None if it is none. Raises UnknownOption if it is one that is not known."""
    name = os.path.basename(word)
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _UNKNOWN:
        raise UnknownOption(f"the options of {name} are not known to this command")
    if not _OF_MPI.fullmatch(name):
        return None
    version = _says_version(word)
    for text, launcher in _BY_VERSION:
        if text in version:
            return launcher
    raise UnknownOption(f"it is not known whose {word} this is: '{word} --version' names neither Open MPI nor MPICH")


@dataclass(frozen=True)
class Program:
    """In a command line: where its word is, and the folders where the launcher is told to look for it first, between colons."""

    place: int
    folders: str = ""


def _check_java(program: str, arguments: Sequence[str]) -> None:
    has_classes = any(word.partition("=")[0] in ("-cp", "-classpath", "--class-path", "-jar") for word in arguments)
    has_libraries = any(word.startswith("-Djava.library.path=") for word in arguments)
    if os.path.basename(program) == "java" and not (has_classes and has_libraries):
        raise MissingOption(
            "mpirun tells java where Open MPI's classes and libraries are, but not where the tracer stands before java: "
            "give -cp and -Djava.library.path yourself (ompi_info --path libdir)"
        )


def programs_in(words: Sequence[str], launcher: Launcher) -> list[Program]:
    """The programs in the command line of a launcher, of which there are several between colons. Raises UnknownOption and MissingOption."""
    programs = []
    folders = ""  # Open MPI's option holds for the programs that follow, too
    position = 1
    while position < len(words):
        while position < len(words) and words[position].startswith("-") and words[position] not in ("-", "--"):
            width = launcher.width(words[position])
            name, equals, value = words[position].lstrip("-").partition("=")
            if name in launcher.folders:
                folders = value if equals else "".join(words[position + 1 : position + width])
            position += width
        position += position < len(words) and words[position] == "--"
        if position >= len(words) or words[position] == ":":
            raise UnknownOption(f"there is no program in the command line of {launcher.name}")
        programs.append(Program(position, folders))
        end = next((place for place in range(position, len(words)) if words[place] == ":"), len(words))
        if launcher.helps_java:
            _check_java(words[position], words[position + 1 : end])
        position = end + 1
    if not programs:
        raise UnknownOption(f"there is no program in the command line of {launcher.name}")
    return programs
