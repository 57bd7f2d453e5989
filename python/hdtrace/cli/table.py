"""The commands of `hdtrace` and their arguments. Help, man page and completion are made from this table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from .._hdtrace import CALL_CLASSES, GROUPINGS, finding_kinds
from .tracer_options import OPTIONS

COUNTER = "counter"


@dataclass(frozen=True)
class Argument:
    """An option if its name begins with '-', else what stands on its own.

    value: what the help calls the value; an option without it is a switch
    parse: makes the value from the text, raising ValueError
    is_list: the option may be repeated, or has several values with commas between them; a positional one is repeated
    is_grouped: of a list, the values between commas belong together
    files: the suffixes of files that the value can be
    short: another name of the option, with one letter
    is_rest: all that follows, whatever it is
    is_for_tracer: hdtrace-run gets it as it is, or its opposite
    """

    name: str
    help: str
    value: str = ""
    parse: Callable[[str], Any] = str
    is_list: bool = False
    is_grouped: bool = False
    choices: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    default: Any = None
    short: str = ""
    is_rest: bool = False
    is_for_tracer: bool = False

    @property
    def is_option(self) -> bool:
        return self.name.startswith("-")

    @property
    def key(self) -> str:
        return self.name.lstrip("-").replace("-", "_").lower()

    @property
    def opposite(self) -> str:
        """--no-nested of --nested; switches of the tracer may be on in the environment."""
        return f"--no-{self.name.removeprefix('--')}" if self.is_for_tracer and not self.value else ""

    @property
    def spellings(self) -> list[str]:
        return [name for name in (self.short, self.name, self.opposite) if name]


@dataclass(frozen=True)
class Command:
    """What one command does.

    module: has the function `run(arguments) -> int`, which returns the exit code
    program: instead of the module: another program, which gets all arguments
    is_shared: several processes that an MPI launcher starts are one command, whose traces they read together
    excluding: pairs of options of which one would have no effect
    needing: options that have none without the other one
    """

    name: str
    help: str
    details: str = ""
    arguments: tuple[Argument, ...] = ()
    module: str = ""
    program: str = ""
    is_shared: bool = False
    excluding: tuple[tuple[str, str], ...] = ()
    needing: tuple[tuple[str, str], ...] = ()


PACKED = ".hdt"  # what the names of packed projects end with
NODE_FILE = ".node"  # those of node files
LARGEST = 2**63 - 1  # number that the readers know
_MOST_NUMBERS = 10_000_000


def parse_numbers(text: str) -> list[int]:
    """4, 0..7 or, as tables have it, 0-7"""
    first, dots, last = re.sub(r"^(\d+)-(\d+)$", r"\1..\2", text).partition("..")
    numbers = range(int(first), int(last if dots else first) + 1)
    if not numbers or len(numbers[:_MOST_NUMBERS + 1]) > _MOST_NUMBERS or numbers[-1] > LARGEST:
        raise ValueError(text)
    return list(numbers)


def parse_moment(text: str) -> int:
    """Seconds in nanoseconds."""
    try:
        time = Decimal(text) * 1_000_000_000
        fits = abs(time) <= LARGEST
    except ArithmeticError as error:
        raise ValueError(text) from error
    if not fits:
        raise ValueError(text)
    return int(time)


def parse_interval(text: str) -> tuple[int | None, int | None]:
    """1.5..2 in nanoseconds; either end may be missing."""
    begin, dots, end = text.partition("..")
    if not dots:
        raise ValueError(text)
    first, last = parse_moment(begin) if begin else None, parse_moment(end) if end else None
    if first is not None and last is not None and first > last:
        raise ValueError(text)
    return first, last


def parse_seconds(text: str) -> float:
    """Of a clock, at least a tenth."""
    value = float(text)
    if not 0.1 <= value <= 1e9:
        raise ValueError(text)
    return value


def parse_count(text: str) -> int:
    """At least one."""
    value = int(text)
    if not 1 <= value <= LARGEST:
        raise ValueError(text)
    return value


def parse_port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise ValueError(text)
    return value


def parse_speed(text: str) -> float:
    """Of a processor, in operations per second."""
    value = float(text)
    if not 1 <= value <= 1e30:
        raise ValueError(text)
    return value


_PROJECT = Argument(
    "PROJECT",
    "a .proj file, whose traces are beside it; or a packed project; or a directory or .info and .trc files, which are merged in memory",
    is_list=True,
    files=("proj", "hdt"),
)
_ONE_PROJECT = replace(_PROJECT, name="SOURCE", help="a .proj file or a directory with one", is_list=False)
_SEVERAL_PROJECTS = replace(_PROJECT, help="a .proj file or a directory, each a project; or .info and .trc files of one")
_DESTINATION = Argument("DESTINATION", "a new name that ends with .proj, or a folder", files=("proj",))
_ELSEWHERE = Argument("--elsewhere", "also traces that are not in the folder of the project, which it leads to")
_ALL_ROWS = Argument("--all", "show all rows of tables, not only the first ones")
_JSON = Argument("--json", "write JSON, for programs")
_INTERVAL = Argument(
    "--interval",
    "calls that are at least partly in this time, in seconds after the first call; one end may be missing",
    "BEGIN..END",
    parse_interval,
    default=(None, None),
)
_FILTERS_BUT_TIME = (
    Argument("--rank", "calls of these processes, e.g. 0,8..15", "RANKS", parse_numbers, is_list=True),
    Argument("--thread", "calls of these threads of each process", "THREADS", parse_numbers, is_list=True),
    Argument("--call", "calls of these names, e.g. Send,Isend; with or without MPI_", "NAMES", is_list=True),
    Argument("--class", "calls of these classes", "CLASSES", is_list=True, choices=CALL_CLASSES),
)
_FILTERS = (*_FILTERS_BUT_TIME, _INTERVAL)

_KINDS = tuple(kind.name for kind in finding_kinds())
_PLOTS = ("timeline", "matrix", "sizes", "waits", "efficiency", "critical-path", "io-time", "io-size", "io-map")
_TRACER = tuple(Argument(name, help, value, short=short, is_for_tracer=True) for name, short, value, help in OPTIONS)
_SHARED = "Several processes that an MPI launcher starts (mpirun -n 8 hdtrace ...) read the traces together, which needs mpi4py."

COMMANDS = (
    Command(
        "record",
        "run an MPI program, trace it, and merge what was recorded",
        "COMMAND-LINE is what starts the program without the tracer, such as mpirun -n 4 ./app, srun ./app, or ./app alone; the tracer is put before "
        "the program (before each of them, between colons). Exit code, standard streams, signals and the terminal are the program's. When it has "
        "ended, also if it was killed, the trace is merged, and what the run was is said on standard error. The folder is made in the current "
        "directory, which all hosts of the run have to see. The files (.trc.compact) have the calls as records; hdtrace dump --xml shows them as XML, and with "
        "--form xml they are in the files as that, for programs that are not hdtrace's.",
        (
            Argument("--output", "the folder of the trace; it has to be new or empty [PROGRAM-TIME.hdtrace]", "FOLDER", short="-o"),
            Argument("--check", "record local queries, too, and then look for what is wrong, as hdtrace check does"),
            Argument("--stuck-seconds", "say who waits for whom, and where, once calls have lasted so long and processes can never go on, or none has moved",
                     "SECONDS", parse_seconds),
            Argument("--end-stuck", "end the run then, if processes wait for each other for ever; not where one of them polls, or calls only do not fit together, which may go on"),
            Argument("--quiet", "say nothing when all is well"),
            *_TRACER,
            Argument("COMMAND-LINE", "mpirun -n 4 ./app, or ./app alone", is_rest=True),
        ),
        "record",
        needing=(("--end-stuck", "--stuck-seconds"),),
    ),
    Command(
        "info",
        "show which processes, communicators, files and datatypes a run had, and how it was run",
        "What is known of the run itself comes last: user, command, directory, MPI library, settings, environment, notes, processor time, "
        "names of threads.",
        (_PROJECT, Argument("--settings", "write the settings of the tracer as a shell reads them: they repeat the run"), _ALL_ROWS, _JSON),
        module="info",
        excluding=(("--settings", "--json"), ("--settings", "--all")),
    ),
    Command(
        "stats",
        "sum up calls, their time and their bytes",
        "Each line has how many calls there were, their time in seconds, how much of it was their own, without what was called inside, and which share "
        "of that of all calls, the shortest, the mean and the longest call, and bytes. Calls inside other calls are counted too. Bytes are those that a call takes from the process and brings to it, by the counts and "
        "datatypes of its arguments; JSON and CSV tell both by themselves, as sent and received. A receive or an access to a file that does not wait, such as Irecv, "
        "counts what it moved, as the call told that completed it, and nothing before; posted, in JSON and CSV, is what it asked for. Of a collective operation that has a part for each "
        "member, such as Scatter and Alltoall, they are those of all parts. What else does not block counts where it is started, with what was "
        "asked for. Groups between commas are crossed: --by call,rank has a line for each call of each process; --by call --by rank are two tables. "
        "Of sizes, each line has those up to twice the first; a peer is whom a call sends to, else whom it receives from; of sites, each line is where "
        "MPI was called, with all that led there as far as it was recorded; of regions of the program's own, each line has the calls in this one and in no "
        "region inside it, how often it was entered and left, and the time between; (none) are the calls outside of regions. Other tables count a "
        "region as a call of its name. Of counters of the program's own, each line has the values that a process told, or a thread if the counter is of "
        "threads: how many, the first and the last, the smallest, the mean and the largest, and their sum if each is of its moment only and not of a time; "
        "--call and --class do not select among them. Marks are not counted. A matrix has a line for each process that sends and a column for each that "
        "its messages go to, for people a list if these are many; JSON has only pairs that exchange messages. Those of collective operations are not in it. "
        "In an interval a call counts whole where it begins, a region where it ends: the sums of intervals that follow each other add up.",
        (
            _PROJECT,
            Argument("--by", "a table of these groups, crossed where there are several; may be repeated [call]", "GROUPS", is_list=True,
                     is_grouped=True, choices=(*GROUPINGS, COUNTER)),
            Argument("--matrix", "instead of that who sends how much to whom", "WHAT", choices=("messages", "bytes")),
            *_FILTERS_BUT_TIME,
            replace(
                _INTERVAL,
                help="calls that begin in this time, in seconds after the first call; its end does not belong to it, and one end may be missing",
            ),
            _JSON,
            Argument("--csv", "write comma-separated values, for spreadsheets: times in seconds"),
        ),
        "stats",
        excluding=(("--csv", "--json"), ("--matrix", "--by")),
    ),
    Command(
        "dump",
        "print calls of all threads in the order of time",
        "Each line of text has the time in seconds after the first call, how long the call took, rank.thread, the name, "
        "the attributes and where it was called. What was called inside a call stands before it and is indented. Events of the program's own are begin, end, count and mark with their names. XML has absolute times; ofRank and ofThread "
        "tell whose call it is.",
        (
            _PROJECT,
            *_FILTERS,
            Argument("--unfinished", "also the calls in which processes ended"),
            Argument("--last", "only the last of these calls of each thread, so many, those in which processes ended among them", "COUNT", parse_count),
            Argument("--xml", "write XML, one call on each line"),
            Argument("--json", "write one JSON object on each line"),
        ),
        "dump",
        excluding=(("--xml", "--json"),),
    ),
    Command(
        "pending",
        "show what was going on at a moment of a run",
        "Tells of all threads which call they were in, or since when they were in none; and what had begun and was not over: operations with "
        "requests that were not completed, messages that were sent and not received, collective operations that some members had called and "
        "others had not. Attributes of a call that lasts are those that it has at its end. All calls before the moment are read; "
        "after hdtrace index only those shortly before it.",
        (
            _PROJECT,
            Argument("--at", "the moment, in seconds after the first call [the end of the run]", "SECONDS", parse_moment),
            _ALL_ROWS,
            _JSON,
        ),
        "pending",
    ),
    Command(
        "extract",
        "make a smaller project of a part of a run",
        "Writes a new folder with a project and its traces, which all commands read. Calls are kept whole: those that are at least partly in the interval, "
        "and those of the names or classes that are wanted, with all inside them; and of the time before the interval what is needed to understand it: "
        "where regions began, what had been prepared, started or opened. hdtrace stats of it counts the calls that begin in the interval, as it does with --interval; "
        "hdtrace check reports nothing that may be due to what is left out.",
        (
            _PROJECT,
            Argument("--output", "the folder of the part; it has to be new or empty [PROJECT-part]", "FOLDER", short="-o"),
            *_FILTERS,
        ),
        "extract",
    ),
    Command(
        "mv",
        "move a project with all its files, or give it another name",
        "What belongs to a project is moved together: the .proj file, the traces in all forms and segments, descriptions, and what was kept when traces were "
        "closed; other files stay. If DESTINATION ends with .proj, that is the new name, with which the names of all files begin then. Otherwise it is a "
        "folder: a folder that is there takes the files, or SOURCE as a folder in it if that is one; else it is made. Nothing is overwritten. On one file "
        "system no bytes are copied. Until all is safe at the destination the project stays where it was, so that an end of the command in between leaves "
        "it whole on one side.",
        (_ONE_PROJECT, _DESTINATION, _ELSEWHERE),
        "upkeep",
    ),
    Command(
        "cp",
        "copy a project with all its files",
        "As hdtrace mv, but the project stays. All traces of the copy are beside it, wherever they were.",
        (_ONE_PROJECT, _DESTINATION),
        "upkeep",
    ),
    Command(
        "rm",
        "remove projects with all their files",
        "Removes what belongs to each PROJECT, as hdtrace mv moves it, and its folder if that is empty then and not the current one. It asks nothing. Files that "
        "another project beside it leads to, too, stay.",
        (
            _SEVERAL_PROJECTS,
            Argument("--dry-run", "only say what would be removed, and how large it is"),
            _ELSEWHERE,
        ),
        "upkeep",
    ),
    Command(
        "compress",
        "compress the traces of projects",
        "The traces get the form that they would have if they had been recorded with HDTRACE_COMPRESS: every command reads it, finds times and lines in it "
        "without reading what is before, and zstdcat or zcat show it. Each trace is there as it was until the new one is whole and was read again. "
        "Compact traces, as hdtrace record writes them, stay compact: zstd leaves a third of their room or less, with gzip they stay as they are.",
        (
            _SEVERAL_PROJECTS,
            Argument("--form", "how; gzip where zstd is missing [zstd]", "FORM", choices=("zstd", "gzip"), default="zstd"),
        ),
        "trace_form",
    ),
    Command(
        "uncompress",
        "give compressed and compact traces back their text, byte for byte",
        "For programs that read XML only. It is the text that the tracer would have written, or that hdtrace compress has taken.",
        (_SEVERAL_PROJECTS,),
        "trace_form",
    ),
    Command(
        "split",
        "make files of each process's own of those in node files",
        "For programs that read files of single processes, and for compress, uncompress and pack. Node files are those that HDTRACE_FILES=node writes: one for "
        "all processes of a host. They are there until all of the others are whole and safe.",
        (_SEVERAL_PROJECTS,),
        "split",
    ),
    Command(
        "index",
        "sum up blocks of calls beside the traces, so that hdtrace stats need not read all of them",
        "Makes a file for each process, STEM.index beside its first trace, with sums over blocks of calls and over blocks of blocks. hdtrace stats then "
        "reads few of them, and single calls only at both ends of an interval; what it shows is the same. It also has what was in flight at some "
        "moments, from which hdtrace pending begins to read. Nothing depends on an index: it may be "
        "removed at any time, and one that is not of the traces as they are now is not used.",
        (
            _SEVERAL_PROJECTS,
            Argument("--calls", "how many states of the top level a block has at least [8192]", "COUNT", parse_count, default=8192),
            Argument("--remove", "remove the indexes"),
        ),
        "index",
        excluding=(("--calls", "--remove"),),
    ),
    Command(
        "pack",
        "make one file of a project, which all commands read as it is",
        "The packed file is a ZIP file in which files are stored as they are, so that also unzip opens it. Compress the traces before, as with "
        "hdtrace compress. What was not merged gets a project in it. The project itself stays.",
        (_PROJECT, Argument("--output", "the packed file, whose name ends with .hdt; it must not be there [PROJECT.hdt]", "FILE", short="-o")),
        "pack",
    ),
    Command(
        "unpack",
        "take the files of a packed project out again, byte for byte",
        "The packed file stays.",
        (
            Argument("FILE", "a packed project", files=("hdt",)),
            Argument("--output", "the folder of the files; it must not be there [FILE without .hdt]", "FOLDER", short="-o"),
        ),
        "pack",
    ),
    Command(
        "analyze",
        "say why a program takes the time that it takes",
        "Tells where the time went, and which calls waited for which other calls, why and how long. Times are sums over all processes unless "
        "something else is said. Of sites, each line is a call and where it is; its computation is the time from there to the next call. "
        "Several projects, each a .proj file or a directory, are told one after the other, and then side by side: how the program scales. " + _SHARED,
        (
            _PROJECT,
            Argument("--by", "also a table of the time for each of these", "GROUPS", is_list=True, choices=("site", "rank", "region", "communicator")),
            _ALL_ROWS,
            _INTERVAL,
            _JSON,
        ),
        "analyze",
        is_shared=True,
    ),
    Command(
        "report",
        "write a page that shows a run: its summary, a timeline, where time went, messages, what is wrong",
        "The page is one HTML file, for any browser of 2023 or later; it needs no network. Its figures are those of hdtrace analyze, check and stats. "
        "The timeline has a lane for each thread, with its calls, messages, wait states and the critical path; it is zoomed, searched and "
        "asked with mouse or keyboard. Where the file would become larger than --limit says, single calls of some threads are left out, those that are "
        "least on the critical path, and if need be rows of tables; the page says what it lacks. Several projects, each a .proj file or a directory, are compared: how the program scales, where the runs "
        "differ, and their timelines on one scale. " + _SHARED,
        (
            _PROJECT,
            Argument("--output", "the page [report.html]", "FILE", short="-o", default="report.html"),
            Argument("--limit", "how large the page may be, in megabytes [60]", "MEGABYTES", parse=parse_count, default=60),
        ),
        "report",
        is_shared=True,
    ),
    Command(
        "view",
        "show the same page from a server of this machine, for traces that are too large for a file",
        "Prints an address for a browser on this machine, and shows the page there until it is ended with Ctrl-C. The browser gets single calls of the threads that it "
        "shows, when it shows them: nothing is left out. Only this machine can reach the address, and only who knows it: it has a secret token in it. From another machine: ssh -L "
        "8080:127.0.0.1:8080 HOST, with --port 8080.",
        (_PROJECT, Argument("--port", "the port of the server [any that is free]", "PORT", parse_port, default=0)),
        "view",
    ),
    Command(
        "plot",
        "draw a figure of a run, for papers",
        "The file is SVG, PDF or PNG, as its name ends. In an SVG all of a rank is a group with the name rank-N, which editors show as an object. "
        "Needs matplotlib. timeline: calls over time; matrix: bytes between ranks; sizes: of messages; waits: wait states of each rank; "
        "efficiency; critical-path: how long it is in each rank; io-time: offsets in files over time; io-size: sizes of accesses to files; io-map: the bytes of "
        "each file in rows, coloured by rank.",
        (
            _PROJECT,
            Argument("--kind", "what is drawn [timeline]", "KIND", choices=_PLOTS, default="timeline"),
            Argument("--row", "of io-map: bytes in a row [a power of two, so that the map is about as high as wide]", "BYTES", parse_count),
            Argument("--output", "the figure [plot.svg]", "FILE", short="-o", default="plot.svg"),
        ),
        "plot",
    ),
    Command(
        "check",
        "look for what is wrong in a project and its traces",
        "Says what is wrong with the program, or works only by chance: processes that wait for each other for ever, collective calls, messages "
        "and datatypes that do not fit, arguments that MPI does not permit, requests and objects that are not completed or freed, epochs of "
        "windows, ends without MPI_Finalize; and whether the project and its traces are whole and as their schemas demand. "
        "Each finding is a line with file and line of the trace, the place in the program, and what it is. What explains most comes first; below "
        "traces that do not exist, were cut off, or whose process ended early stands what is found missing because of that, the first of each "
        "kind and how many more there are. Some kinds are only found in runs that were recorded with hdtrace record --check; it says so of others. The exit code is 1 if there is an error, with --strict also if there is a warning. "
        "Notes, which tell of what is permitted but may be worth knowing, are only shown if --only names their kind (message-order). "
        f"The kinds are: {', '.join(_KINDS)}. The documentation has a page for each of them, docs/findings. " + _SHARED,
        (
            _PROJECT,
            Argument("--strict", "warnings count for the exit code, too"),
            Argument("--only", "show only these kinds of findings", "KINDS", is_list=True, choices=_KINDS),
            Argument("--not", "leave these kinds out", "KINDS", is_list=True, choices=_KINDS),
            Argument("--suppress", "leave out what the lines of a file name: a kind, and perhaps a function, file or file:line", "FILE", is_list=True),
            Argument("--limit", "show so many findings of a kind, 50 if nothing is said", "NUMBER", parse=parse_count, default=50),
            Argument("--all", "show each finding on a line of its own, also what several ranks do alike"),
            Argument("--quiet", "say nothing when nothing is found, nor what is not known"),
            Argument("--no-schemas", "leave out the check against the schemas, which takes the most time"),
            Argument("--sarif", "print SARIF 2.1, for editors and continuous integration"),
            _JSON,
        ),
        "check",
        is_shared=True,
        excluding=(
            ("--sarif", "--json"), ("--limit", "--all"), ("--limit", "--sarif"), ("--limit", "--json"), ("--quiet", "--sarif"), ("--quiet", "--json"),
        ),
    ),
    Command(
        "watch",
        "show what the processes of a run are doing now",
        "FOLDER is where a run is being traced to. Each line has processes that are in the same call, or outside of MPI, for how long, and where they "
        "called it; it is as old as HDTRACE_FLUSH_SECONDS says, a second if nothing else was asked for. Below stands who waits for whom, where processes "
        "can never go on or none has moved. Ends when all processes have ended; of those that died it says in or after which call.",
        (
            Argument("FOLDER", "the folder of the trace"),
            Argument("--every", "look so often [1]", "SECONDS", parse_seconds, default=1.0),
            Argument("--stuck-seconds", "how long calls last before they are looked into [10]", "SECONDS", parse_seconds, default=10.0),
            Argument("--once", "look once"),
            Argument("--page", "show it as a page for a browser on this machine instead, until Ctrl-C is pressed, as hdtrace view does"),
            Argument("--port", "of that page [any that is free]", "PORT", parse_port, default=0),
            Argument("--json", "look once, and write JSON, for programs"),
        ),
        "watch",
        excluding=(
            ("--once", "--page"), ("--json", "--page"), ("--every", "--once"), ("--every", "--json"), ("--stuck-seconds", "--json"),
        ),
        needing=(("--port", "--page"),),
    ),
    Command(
        "merge",
        "unify the objects of all processes into a project",
        "This is project-merger(1), with its arguments.",
        program="project-merger",
    ),
    Command(
        "repair",
        "close traces that were cut off",
        "A trace with all whole lines takes the place of one that was cut off; the original stays beside it as "
        "name.trc.orig. Whole traces stay as they are.",
        (
            Argument("FILE", "a .trc file; or a .proj file, a .info file or a directory for all traces there", is_list=True, files=("proj", "trc")),
        ),
        "repair",
    ),
    Command(
        "convert",
        "convert a project to the format of another program",
        "This is hdtrace-convert(1), with its arguments.",
        program="hdtrace-convert",
    ),
    Command(
        "import",
        "make a project of traces that another tool has written",
        "This is hdtrace-import(1), with its arguments.",
        program="hdtrace-import",
    ),
    Command(
        "doctor",
        "say what of hdtrace works on this machine, and what to do where it does not",
        "Which MPI libraries there are and whether each has a wrapper, whether the tracer reaches the processes that a launcher starts, the clock, what "
        "recording a call costs, how fast the folder of the trace is, limits, and what else is installed. LAUNCHER is a launcher with its options and "
        "without a program, such as mpirun -n 2, behind -- ; its processes make some thousand calls, and what they write is removed again. Takes some "
        "seconds. The exit code is 1 if there is any problem.",
        (
            Argument("--directory", "the folder that traces shall be written to [.]", "FOLDER", short="-d", default="."),
            _JSON,
            Argument("LAUNCHER", "mpirun -n 2", is_rest=True),
        ),
        "doctor",
    ),
    Command(
        "calibrate",
        "measure what messages cost here, and write it down as a platform for SimGrid",
        "The processes that LAUNCHER starts, such as mpirun -n 2, exchange messages of growing sizes and make operations of all of them, under the tracer; it "
        "takes some seconds. Messages are measured between two processes of a host and, if there are several hosts, between two hosts. The platform file gives "
        "SimGrid what messages took, so that a replay (hdtrace convert --to tit) is of this machine; change it for another one. What is between the calls takes "
        "as long as it took if --speed is the same as in the conversion. If SimGrid is installed, the measurement itself is replayed and compared. Put LAUNCHER "
        "behind -- .",
        (
            Argument("--output", "the platform file [platform.xml]", "FILE", short="-o", default="platform.xml"),
            Argument("--hosts", "how many computers the platform has [64, or as many as processes]", "COUNT", parse_count),
            Argument("--speed", "how many operations a second a processor computes; as in the conversion [1e9]", "FLOPS", parse_speed, default=1e9),
            _JSON,
            Argument("LAUNCHER", "mpirun -n 2", is_rest=True),
        ),
        "calibrate",
    ),
    Command(
        "completion",
        "print the completion of this command for a shell",
        "For bash and zsh: source <(hdtrace completion bash). For fish: hdtrace completion fish | source. An installation in a "
        "prefix where the shell looks for completions, such as /usr, needs nothing for that.",
        (Argument("SHELL", "the shell", choices=("bash", "zsh", "fish")),),
        "completion",
    ),
)
