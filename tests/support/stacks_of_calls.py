"""Runs inside gdb: writes the stack of MPI calls that a program makes, from Init on, one JSON list a line.

STACKS_CALLS: the functions, STACKS_FILES: what the files' names begin with, STACKS_LAUNCHER: what runs the program.
"""
import json
import os
import subprocess
from functools import cache

import gdb

MOST = 50  # calls of each function: each takes gdb milliseconds
WRAPPER = "libHDTraceMPIWrapper"


def mappings():
    """[(begin, end, path or None, where the file begins), ...] of the program's memory."""
    found, base = [], 0
    for line in open(f"/proc/{gdb.selected_inferior().pid}/maps"):
        places, _, offset, *_, path = (line.rstrip("\n") + "  ").split(" ", 5)
        begin, end = (int(place, 16) for place in places.split("-"))
        path = path.strip() if path.strip().startswith("/") else None
        base = begin if path and int(offset, 16) == 0 else base
        found.append((begin, end, path, base))
    return found


@cache
def is_relocated(path):
    with open(path, "rb") as file:
        return file.read(18)[16] == 3  # ET_DYN


def offset_of(address, mapped):
    """Path of the object file that the address is in, and its place there as the file is linked."""
    path, base = next(((path, base) for begin, end, path, base in mapped if begin <= address < end), (None, 0))
    return path, address - base if path and is_relocated(path) else address


def stack():
    """What is a jump and no call any more left no return address."""
    frame, mapped = gdb.newest_frame(), mappings()
    while frame is not None:
        if frame.type() != gdb.TAILCALL_FRAME:
            place = frame.find_sal()
            path, offset = offset_of(frame.pc(), mapped)
            yield {"function": frame.name(), "file": place.symtab.filename if place.symtab else None, "line": place.line if place.symtab else None,
                   "object": path, "offset": offset, "is_inlined": frame.type() == gdb.INLINE_FRAME}
        frame = frame.older()


def record(function):
    frames = list(stack())
    own, *callers = [WRAPPER in (frame["object"] or "") for frame in frames]
    if own and not any(callers):
        OUTPUT.write(json.dumps([function, gdb.selected_thread().num, frames]) + "\n")
        OUTPUT.flush()


class Call(gdb.Breakpoint):
    """At a function of the wrapper by its address: gdb looks for names again with each library that MPI loads."""

    def __init__(self, function, address):
        super().__init__(f"*{address:#x}")
        self.function = function
        self.count = 0

    def stop(self):
        record(self.function)
        self.count += 1
        self.enabled = self.count < MOST
        return False


def functions_of_wrapper():
    """{name: address}"""
    path, base = next((path, base) for _, _, path, base in mappings() if path and WRAPPER in path)
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[2]: base + int(line.split()[0], 16) for line in lines}


rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
OUTPUT = open(f"{os.environ['STACKS_FILES']}{rank}", "w")
for setting in ("breakpoint pending on", "backtrace past-main on", "pagination off", "confirm off",
                f"exec-wrapper {os.environ['STACKS_LAUNCHER']}"):
    gdb.execute(f"set {setting}")
gdb.execute("handle all nostop noprint pass")
first = [gdb.Breakpoint(f"MPI_{name}") for name in ("Init", "Init_thread")]
gdb.execute("run")
record(gdb.newest_frame().name())
for breakpoint in first:
    breakpoint.delete()
gdb.execute("set auto-solib-add off")  # of what is loaded from now on nothing makes these calls
addresses = functions_of_wrapper()
for name in os.environ["STACKS_CALLS"].split():
    Call(f"MPI_{name}", addresses[f"MPI_{name}"])
gdb.execute("continue")
