"""Where the program calls MPI: compared with what addr2line says and with what stands there in the source."""
import platform
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from support.foreign import prepare
from support.runs import LAUNCHER, SETTINGS, only_with, program, run_untraced, run_with_tracer

TESTS = Path(__file__).parents[1]
SITES = TESTS / "mpi/programs/call_sites.c"
NOT_COMPARED = {"abort", "exit_early", "raise", "spawn", "connect"}  # end early, or are several programs
PROGRAMS = [name for name in SETTINGS["names"] if name not in NOT_COMPARED]


def info_lines(run, rank, kind):
    """[{key: value}, ...] of the lines of a kind in a process's .info."""
    (path,) = (path for path in run.trace_directory.glob("*.info") if path.stem.split("_")[-2] == str(rank))
    return [dict(re.findall(r"(\w+)='?([^' ]*)'?", line)) for line in path.read_text().splitlines() if line.startswith(kind + " ")]


def frames_of(run, rank):
    """site -> [(path, address of the call), ...]"""
    paths = {line["id"]: line["path"] for line in info_lines(run, rank, "Object")}
    frames = {}
    for line in info_lines(run, rank, "Site"):
        parts = [part.split("+") for part in line["frames"].split(";") if part]
        frames[line["id"]] = [(paths.get(number), int(offset) - 1) for number, offset in parts]
    return frames


@cache
def places(path, addresses):
    """address -> (source file, line number), by addr2line."""
    text = "\n".join(hex(address) for address in addresses)
    output = subprocess.run(["addr2line", "-e", path], input=text, capture_output=True, text=True, check=True).stdout
    found = (line.split(" ")[0].rsplit(":", 1) for line in output.splitlines())
    return {address: (file, int(line) if line.isdigit() else 0) for address, (file, line) in zip(addresses, found)}


def innermost_places(run, rank):
    """site -> (source file, line number)"""
    innermost = {site: frames[0] for site, frames in frames_of(run, rank).items()}
    by_path = defaultdict(set)
    for path, address in innermost.values():
        by_path[path].add(address)
    known = {path: places(path, tuple(sorted(addresses))) for path, addresses in by_path.items()}
    return {site: known[path][address] for site, (path, address) in innermost.items()}


def called_at(file, line):
    """The functions of MPI that a statement of a test program calls by name, in small letters; none where the source is not ours."""
    source = TESTS / file.rpartition("/tests/")[2]  # compiler caches may have kept the name of another folder
    if "/tests/" not in file or not source.exists():
        return set()
    statement = "".join(source.read_text().splitlines(True)[line - 1:line + 2])
    statement = statement.partition(";")[0] if source.suffix in (".c", ".cpp") else statement.partition("\n")[0]
    called = re.findall(r"\bP?MPI_(\w+?)(?:_c)?\(", statement, re.IGNORECASE)
    return {"wait" if name.endswith("_end") else name.lower() for name in called}


def calls_of(trace):
    """(name, site) of all calls of the program itself; what it marks is none."""
    return [(state.name, state.get("site")) for state in trace if not state.is_event]


@pytest.mark.parametrize("name", PROGRAMS + SETTINGS["languages"])
def test_each_call_has_the_line_that_makes_it(run_traced, name):
    run = run_traced(name, 2)
    compared = 0
    for (rank, _), trace in run.threads.items():
        where = innermost_places(run, rank)
        for call, site in calls_of(trace):
            assert site in where, f"{call} of rank {rank} has no site"
            file, line = where[site]
            called = called_at(file, line)  # else it is called by a pointer, or last in a function that its caller's line names
            assert not called or call.lower() in called, f"{call}: {file}:{line}"
            compared += len(called)
    assert compared > 0


# Without lines: the instruction before a return address tells which function it calls.
@only_with("Open MPI")  # Debian's programs are made for it
@pytest.mark.parametrize("name", ["lammps", "hpcc"])
def test_programs_of_others_have_sites_outside_mpi(tmp_path, name):
    path, args = prepare(name, tmp_path)
    run = run_with_tracer(path, 4, tmp_path, {"HDTRACE_CALL_SITES": "2"}, args)
    seen = set()
    for rank, trace in enumerate(run):
        frames = frames_of(run, rank)
        for call, site in calls_of(trace):
            assert site in frames, call
            (innermost, address), *callers = frames[site]
            assert innermost and "libmpi" not in innermost and callers, f"{call} at {innermost}+{address:x}"
            seen.add((call, innermost, address))
    checked = [call for call, innermost, address in seen if call_before(innermost, address) in {f"MPI_{call}", f"mpi_{call.lower()}_"}]
    assert len(checked) > len(seen) / 2


@cache
def instructions(path):
    return subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout


def call_before(path, address):
    """The function that the instruction calls of which `address` is the last byte; empty if it calls by a pointer."""
    following = re.search(rf"\n +{address + 1:x}:\t", instructions(path))
    lines = instructions(path)[:following.start()].splitlines()[-2:] if following else []
    return next((found[1] for line in reversed(lines) if (found := re.search(r"call +\w+ <(\w+)@plt>", line))), "")


def build(tmp_path, source, *options, name=None):
    output = tmp_path / (name or source.stem)
    subprocess.run([SETTINGS["compiler"], "-g", "-o", output, source, *options], check=True)
    return output


def functions_of(path, addresses):
    text = "\n".join(hex(address) for address in addresses)
    output = subprocess.run(["addr2line", "-f", "-e", path], input=text, capture_output=True, text=True, check=True).stdout
    return output.splitlines()[::2]


def barriers(run, files=None):
    """For each Barrier its frames as names of functions, None in code that is in no file. files: that stand for others."""
    frames, found = frames_of(run, 0), []
    for (_, _), trace in sorted(run.threads.items()):
        for call, site in calls_of(trace):
            if call == "Barrier":
                found.append([functions_of((files or {}).get(path, path), [address])[0] if path else None for path, address in frames[site]])
    return found


WITH_DESCRIPTIONS = [["-O0"], ["-O2", "-fomit-frame-pointer"], ["-O2", "-fno-omit-frame-pointer"], ["-O2", "-no-pie"]]
WITHOUT = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
IN_ORDER = ["from_inner", "from_inner", "from_handler", *([None] if platform.machine() == "x86_64" else []), "from_thread"]


@pytest.mark.parametrize("options", [*WITH_DESCRIPTIONS, WITHOUT], ids=" ".join)
def test_the_place_of_a_call_needs_nothing_from_the_compiler(tmp_path, options):
    program = build(tmp_path, SITES, *options, "-pthread", "-ldl")
    run = run_with_tracer(program, 1, tmp_path)
    assert [frames[0] for frames in barriers(run)] == IN_ORDER


@pytest.mark.parametrize("options", WITH_DESCRIPTIONS, ids=" ".join)
def test_callers_of_callers(tmp_path, options):
    program = build(tmp_path, SITES, *options, "-pthread", "-ldl")
    run = run_with_tracer(program, 1, tmp_path, {"HDTRACE_CALL_SITES": "3"})
    found = barriers(run)
    assert found[:2] == [["from_inner", "from_outer", "main"]] * 2
    assert [frames[0] for frames in found] == IN_ORDER
    sites = [site for call, site in calls_of(run.threads[0, 0]) if call == "Barrier"]
    assert sites[0] != sites[1], "they are called from two lines of from_outer"


def test_without_descriptions_the_callers_are_not_known(tmp_path):
    program = build(tmp_path, SITES, *WITHOUT, "-pthread", "-ldl")
    run = run_with_tracer(program, 1, tmp_path, {"HDTRACE_CALL_SITES": "64"})
    assert [len(frames) for frames in barriers(run)[:2]] == [1, 1]


def test_a_stripped_program_has_the_same_sites(tmp_path):
    whole = build(tmp_path, SITES, "-O2", "-pthread", "-ldl")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, whole], check=True)
    run = run_with_tracer(stripped, 1, tmp_path, {"HDTRACE_CALL_SITES": "2"})
    assert barriers(run, {str(stripped): whole})[0] == ["from_inner", "from_outer"]


def test_libraries_that_take_each_other_s_place(tmp_path):
    """They are loaded where the one before them was."""
    libraries = []
    for name in ("first", "second"):
        source = tmp_path / f"{name}.c"
        source.write_text("#include <mpi.h>\nint done;\nvoid call_mpi(MPI_Comm comm) { MPI_Barrier(comm); ++done; }\n")
        libraries.append(build(tmp_path, source, "-shared", "-fPIC", name=f"{name}.so"))
    program = build(tmp_path, SITES, "-O2", "-pthread", "-ldl")
    run = run_with_tracer(program, 1, tmp_path, {"UCX_MEM_EVENTS": "n"}, map(str, libraries))  # docs/mpi.md tells why
    frames = frames_of(run, 0)
    last_two = [frames[site][0] for call, site in calls_of(run.threads[0, 0]) if call == "Barrier"][-2:]
    assert [path for path, _ in last_two] == [str(library) for library in libraries]
    assert last_two[0][1] == last_two[1][1], "the libraries do not have the same layout"


@only_with("Open MPI")  # Debian's mpi4py is made for it
@pytest.mark.parametrize("depth, frames", [
    (1, [["line 1"], ["exchange 5"], ["exchange 6"], ["exchange 6"], ["ünïcode 8"], ["<string> 1"], ["<string> 3"], ["<string> 2"]]),
    (2, [["line 1"], ["exchange 5", "line 9"], ["exchange 6", "line 9"], ["exchange 6", "line 9"], ["ünïcode 8", "line 10"],
         ["<string> 1", "line 11"], ["<string> 3", "line 11"], ["<string> 2", "line 12"]])])
def test_lines_of_python(tmp_path, depth, frames):
    program = tmp_path / "lines of python.py"
    program.write_text("from mpi4py import MPI\n"
                       "comm = MPI.COMM_WORLD\n"
                       "def exchange(n):\n"
                       "    for _ in range(n):\n"
                       "        comm.Barrier()\n"
                       "        comm.bcast({'a': n}, root=0)\n"
                       "def ünïcode():\n"
                       "    comm.Barrier()\n"
                       "exchange(1)\n"
                       "ünïcode()\n"
                       "exec('comm.Barrier()\\n\\ncomm.Barrier()')\n"
                       "exec('\\ncomm.Barrier()')\n")
    run = run_with_tracer("/usr/bin/python3", 2, tmp_path, {"HDTRACE_CALL_SITES": str(depth)}, (program,))
    for rank, trace in enumerate(run):
        (info,) = (path for path in run.trace_directory.glob("*.info") if path.stem.split("_")[-2] == str(rank))
        sources = re.findall(r"^Source id=(\d+) path='(.*)' function='(.*)' line=(\d+)$", info.read_text(), re.MULTILINE)
        described = {f"s{number}": ("line" if function == "<module>" and path == str(program) else path if path == "<string>" else function,
                                    int(line)) for number, path, function, line in sources}
        sites = {line["id"]: [" ".join(map(str, described[frame])) for frame in line["frames"].split(";")[:-1]]
                 for line in info_lines(run, rank, "Site") if "s" in line["frames"]}
        assert [sites[state["site"]] for state in trace if state.name != "Finalize"] == frames
        assert {path for _, path, _, _ in sources} <= {str(program), "<string>"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the calls are written in assembler")
def test_calls_from_more_places_than_are_described_have_none(tmp_path):
    described, calls = 1_000_000, 1_000_101
    run = run_untraced(LAUNCHER, 1, tmp_path, {"HDTRACE_DIRECTORY": str(tmp_path / "trace")}, (program("many_sites"), "all"))
    assert (run.returncode, run.stderr) == (0, "")
    (info,), (trace,) = ((tmp_path / "trace").glob(pattern) for pattern in ("*.info", "*.trc"))
    assert sum(line.startswith("Site ") for line in info.open()) == described
    has_site = [" site='" in line for line in trace.open() if line.startswith(("<Init", "<Barrier", "<Finalize"))]
    assert len(has_site) == calls + 2 and all(has_site[:described]) and not any(has_site[described:])


def test_no_sites_if_they_are_not_wanted(run_traced):
    run = run_traced("collectives", 2, {"HDTRACE_CALL_SITES": "0"})
    assert all(site is None for trace in run for _, site in calls_of(trace))
    assert info_lines(run, 0, "Site") == info_lines(run, 0, "Object") == []
