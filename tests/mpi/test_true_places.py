"""The places of calls against what others say of them: gdb at run time, addr2line, gdb and the symbol tables afterwards."""
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import hdtrace
import pytest
from support.foreign import compiled, petsc, prepare
from support.runs import BUILD, LAUNCHER, SETTINGS, SOURCE, Run, only_with, program, run_with_tracer

TESTS = Path(__file__).parents[1]
CALL_SITES = TESTS / "mpi/programs/call_sites.c"
DEPTH = {"HDTRACE_CALL_SITES": "8"}

pytestmark = pytest.mark.skipif(SETTINGS["sanitizers"] != "", reason="sanitizers change stacks")
with_gdb = pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")


def opened(run):
    """The merged project, as users read it."""
    assert run.project
    (project,) = run.trace_directory.glob("*.proj")
    return hdtrace.open(project)


# ---- At run time ----

def run_in_gdb(path, ranks, directory, calls, args=()):
    """Traces a program inside gdb. Returns the run, and [(function, thread, frames), ...] of each rank."""
    environment = {**os.environ, "MPIEXEC": SETTINGS["mpiexec"], "HDTRACE_DIRECTORY": str(directory / "trace"), **DEPTH,
                   "STACKS_CALLS": " ".join(calls), "STACKS_FILES": str(directory / "stacks-"), "STACKS_LAUNCHER": str(LAUNCHER)}
    gdb = ["gdb", "-q", "-batch", "-iex", "set debuginfod enabled off", "-nx", "-x", TESTS / "support/stacks_of_calls.py", "--args"]
    command = [SOURCE / "scripts/mpirun", "-n", str(ranks), *gdb, path, *args]
    result = subprocess.run([str(word) for word in command], cwd=directory, env=environment, capture_output=True, text=True, timeout=300,
                            stdin=subprocess.DEVNULL, check=False)
    if "ptrace: Operation not permitted" in result.stdout + result.stderr:
        pytest.skip("gdb may not run programs here")
    assert result.stdout.count("exited normally]") == ranks, result.stdout + result.stderr
    stacks = [[json.loads(line) for line in (directory / f"stacks-{rank}").read_text().splitlines()] for rank in range(ranks)]
    return Run(directory, ranks, result.stdout, result.stderr, result.returncode), stacks


def outside_mpi(frames):
    """Without the wrapper, and the library and its bindings below it."""
    is_mpi = [any(name in (frame["object"] or "") for name in ("libHDTraceMPIWrapper", "libmpi")) for frame in frames]
    return frames[is_mpi.index(False):]


def name_of(function):
    """Without parameters, which only gdb or only the project may tell."""
    return function and re.sub(r"\(.*", "", function)


def compare(frames, truth):
    """Frames of the project with those of gdb: each return address, and where gdb knows the line this and the function. Returns how many."""
    def addresses(frames):
        return [(frame["object"] and os.path.realpath(frame["object"]), frame["offset"]) for frame in frames if not frame["is_inlined"]]

    def lines(frames):
        return [(name_of(frame["function"]), os.path.basename(frame["file"] or ""), frame["line"]) for frame in frames]

    ours = [{name: getattr(frame, name) for name in ("function", "file", "line", "object", "offset", "is_inlined")} for frame in frames]
    walked = addresses(ours)
    assert walked == addresses(truth)[:len(walked)]
    until = next((i for i, frame in enumerate(truth) if frame["file"] is None or "libc." in (frame["object"] or "")), len(truth))
    assert lines(ours)[:until] == lines(truth)[:len(ours)][:until]
    return len(walked)




TOUR = ["Irecv", "Send", "Wait", "Bcast", "Allreduce", "Gather", "Comm_dup", "Type_vector", "Sendrecv_replace", "File_open",
        "File_write_at", "File_close", "Comm_free", "Finalize"]
PROGRAMS = {
    "call_sites -O0": (lambda tmp_path: compiled(tmp_path, CALL_SITES, "-O0", "-pthread", "-ldl"), 1, ["Barrier", "Finalize"]),
    "call_sites -O2": (lambda tmp_path: compiled(tmp_path, CALL_SITES, "-O2", "-pthread", "-ldl"), 1, ["Barrier", "Finalize"]),
    **{name: (lambda tmp_path, name=name: program(name), 2, TOUR) for name in SETTINGS["languages"]},
    "petsc": (petsc, 2, ["Allreduce", "Bcast", "Barrier", "Comm_dup", "Isend", "Startall", "Waitall", "Finalize"]),
    "lammps": (None, 2, ["Allreduce", "Bcast", "Scan", "Sendrecv", "Irecv", "Send", "Finalize"]),
}


@with_gdb
@pytest.mark.parametrize("name", PROGRAMS)
def test_stacks_are_those_that_a_debugger_sees(tmp_path, name):
    make, ranks, calls = PROGRAMS[name]
    if make is None and SETTINGS["mpi"] != "Open MPI":
        pytest.skip("Debian's programs are made for Open MPI")
    path, args = (make(tmp_path), ()) if make else prepare(name, tmp_path)
    run, stacks = run_in_gdb(path, ranks, tmp_path, calls, args)
    with opened(run) as project:
        compared = defaultdict(int)
        for rank, of_rank in enumerate(stacks):
            by_thread = defaultdict(list)
            for function, thread, frames in of_rank:
                by_thread[thread].append((function.removeprefix("MPI_"), frames))
            # Threads have their numbers in the order of their first calls.
            for thread, seen in enumerate(by_thread.values()):
                expected = defaultdict(list)
                for function, frames in seen:
                    expected[function].append(outside_mpi(frames))
                for call in project.calls(rank=rank, thread=thread, name=list(expected)):
                    if expected[call.name]:
                        compared[call.name] += compare(call.site.frames, expected[call.name].pop(0))
                assert not any(expected.values())
    assert len(compared) >= 3 and sum(compared.values()) > 2 * len(compared), compared


# ---- Afterwards ----

def tool(*command, text=""):
    return subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout


def places_of(project):
    """{(path, address inside the call): [(function, file, line), ...]}, the innermost first."""
    places = defaultdict(list)
    for frame in {(site, i): frame for site, one in enumerate(project.call_sites) for i, frame in enumerate(one.frames)}.values():
        if frame.object and frame.offset is not None:
            found = (name_of(frame.function), frame.file and os.path.basename(frame.file), frame.line)
            place = places[frame.object, frame.offset - 1]
            if found not in place:
                place.append(found)
    return places


def by_addr2line(path, addresses):
    """[[(function, line), ...] of each address]"""
    output = tool("addr2line", "-a", "-f", "-i", "-C", "-e", path, text="".join(f"{address:#x}\n" for address in addresses))
    for part in re.split(r"^0x[0-9a-f]{16}\n", output, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        yield [(name_of(function), int(re.match(r"\d*", place.rpartition(":")[2])[0] or 0)) for function, place in zip(lines[::2], lines[1::2])]


def symbols_at(path, addresses):
    """[the names of functions that the symbol tables have at each address]"""
    symbols = {tuple(line.split(" ", 3)) for table in ([], ["-D"]) for line in tool("nm", "-C", "-S", "--defined-only", *table, path).splitlines()}
    ranges = [(int(words[0], 16), int(words[1], 16), words[3].split("@")[0]) for words in symbols if len(words) == 4 and words[2] in "tTwWiuV"]
    return [{name_of(name) for begin, size, name in ranges if begin <= address < begin + size} for address in addresses]


def by_gdb(path, addresses):
    """[(function, (file, line)) of each address]"""
    commands = [word for address in addresses for word in ("-ex", f"info symbol {address:#x}", "-ex", f"info line *{address:#x}")]
    output = tool("gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set width 0", *commands, path)
    pairs = re.findall(r"^(No symbol matches|\S.*? in section).*\n(.*)$", output, re.MULTILINE)
    assert len(pairs) == len(addresses), output
    for symbol, line in pairs:
        name = re.sub(r"( \+ \d+)? in section$", "", symbol)
        found = re.match(r'Line (\d+) of "(.*?)"', line)
        yield None if symbol.startswith("No symbol") else name_of(name), (os.path.basename(found[2]), int(found[1])) if found else None


FOREIGN = {
    **{name: (lambda tmp_path, name=name: prepare(name, tmp_path)) for name in ("lammps", "hpcc")},
    "petsc": lambda tmp_path: (petsc(tmp_path), ()),
    "tour_f08": lambda tmp_path: (program("tour_f08"), ()),
    "tour_cpp": lambda tmp_path: (program("tour_cpp"), ()),
}


@with_gdb
@pytest.mark.parametrize("name", FOREIGN)
def test_functions_and_lines_are_those_that_other_tools_find(tmp_path, name):
    if SETTINGS["mpi"] != "Open MPI" and not name.startswith("tour"):
        pytest.skip("Debian's programs are made for Open MPI")
    if name not in SETTINGS["languages"] and name.startswith("tour"):
        pytest.skip("there is no compiler for it")
    path, args = FOREIGN[name](tmp_path)
    run = run_with_tracer(path, 4, tmp_path, {"HDTRACE_CALL_SITES": "3"}, args)
    assert "solved: no" not in run.stdout
    with opened(run) as project:
        by_path = defaultdict(dict)
        for (path, address), place in places_of(project).items():
            by_path[path][address] = place
    compared = 0
    for path, places in by_path.items():
        addresses = sorted(places)[:200]
        for address, lines, names, (symbol, line) in zip(
                addresses, by_addr2line(path, addresses), symbols_at(path, addresses), by_gdb(path, addresses), strict=True):
            ours, where = places[address], f"{path}+{address:#x}"
            if ours[0][2] is not None:  # with debug information
                # A Fortran program has its own name there, and the compiler's in the symbol table.
                functions = ["MAIN__" if lines[-1][0] == "MAIN__" else function for function, _, _ in ours]
                assert [*zip(functions, (line for _, _, line in ours))] == lines and ours[0][1:] == line, where
            elif ours[0][0] is None:
                assert not names, where
            else:
                assert ours[0][0] in names and symbol in names, where
            compared += ours[0][0] is not None
    assert compared > 10 or name == "hpcc"  # which has no symbols at all


@only_with("Open MPI")  # Debian's mpi4py is made for it
def test_lines_of_a_python_program_call_what_was_traced(tmp_path):
    benchmark = tmp_path / "bench.py"  # what is in mpi4py's own folder is a binding of MPI
    benchmark.write_text(Path("/usr/lib/python3/dist-packages/mpi4py/bench.py").read_text().replace("from . import", "from mpi4py import"))
    run = run_with_tracer("/usr/bin/python3", 2, tmp_path, {"HDTRACE_CALL_SITES": "2"}, ("-m", "bench", "ringtest", "-q", "-l", "20"))
    seen = set()
    with opened(run) as project:
        for call in project.calls():
            if call.name not in ("Init_thread", "Finalize"):
                innermost = call.site.frames[0]
                statement = "".join(Path(innermost.file).read_text().splitlines(True)[innermost.line - 1:innermost.line + 1])
                assert f"{call.name}(" in statement, f"{call.name}: {innermost.file}:{innermost.line}"
                seen.add((call.name, innermost.function))
    assert len(seen) > 2
