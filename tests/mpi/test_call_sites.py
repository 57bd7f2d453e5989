"""Where the program calls MPI: compared with what addr2line says and with what stands there in the source."""
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from support.runs import SETTINGS

LINES_OF_A_CALL = 4  # of one that does not fit into one line
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


def source_at(file, line):
    lines = Path(file).read_text().splitlines()
    return "\n".join(lines[max(line - LINES_OF_A_CALL, 0):line + LINES_OF_A_CALL - 1])


def calls_of(trace):
    """(name, site) of all calls of the program itself."""
    return [(state.name, state.get("site")) for state in trace]


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_has_the_line_that_makes_it(run_traced, name):
    run = run_traced(name, 2)
    compared = 0
    for (rank, _), trace in run.threads.items():
        where = innermost_places(run, rank)
        for call, site in calls_of(trace):
            assert site in where, f"{call} of rank {rank} has no site"
            file, line = where[site]
            if not file.startswith("/"):
                continue  # no source
            assert call in source_at(file, line) or "MPI_" not in source_at(file, line), f"{call}: {file}:{line}"
            compared += call in source_at(file, line)
    assert compared > 0
