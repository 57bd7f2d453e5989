#!/usr/bin/python3
"""Writes the .info files of a large program: many_processes.py COUNT FOLDER [--traces]

Each process knows the world, 4 sub-communicators, 12 datatypes and 3 files. Each file has about 3 KB, however many there are.
"""
import argparse
from pathlib import Path

NAMED = [("MPI_BYTE", 1), ("MPI_CHAR", 1), ("MPI_INT", 4), ("MPI_FLOAT", 4), ("MPI_DOUBLE", 8), ("MPI_LONG", 8)]
HEAD = "Process base='app' host='{host}' rank={rank} size={size} thread=0 version=1 timeAdjustment=1700000000 world='W'\n"
TRACE = """<?xml version='1.0' encoding='UTF-8'?>
<Program timeAdjustment='1700000000' version='1' rank='{rank}' thread='0'>
<Barrier cid='0' time='0.100000000' end='0.200000000' />
</Program>
"""


def types():
    lines = [f"Type id='{i}' combiner='MPI_COMBINER_NAMED' name='{name}' size={size} lb=0 extent={size}"
             for i, (name, size) in enumerate(NAMED)]
    lines += [
        "Type id='6' combiner='MPI_COMBINER_CONTIGUOUS' name='' integers='3;' types='4;' size=24 lb=0 extent=24",
        "Type id='7' combiner='MPI_COMBINER_VECTOR' name='' integers='10;2;5;' types='4;' size=160 lb=0 extent=376",
        "Type id='8' combiner='MPI_COMBINER_STRUCT' name='' integers='2;1;1;' addresses='0;8;' types='2;4;' size=12 lb=0 extent=16",
        "Type id='9' combiner='MPI_COMBINER_RESIZED' name='' addresses='0;32;' types='8;' size=12 lb=0 extent=32",
        "Type id='10' combiner='MPI_COMBINER_SUBARRAY' name='' integers='2;8;8;4;4;0;0;MPI_ORDER_C;' types='4;' size=128 lb=0 extent=512",
        "Type id='11' combiner='MPI_COMBINER_INDEXED' name='' integers='2;1;2;0;4;' types='2;' size=12 lb=0 extent=24",
    ]
    return "\n".join(lines) + "\n"


def ranges(first, last):
    return f"{first}..{last}->0..{last - first};" if last > first else f"{first}->0;"


def block(rank, length, size):
    """The block of consecutive ranks that a rank is in."""
    first = rank - rank % length
    return first, ranges(first, min(first + length, size) - 1)


def communicators(rank, size):
    yield f"Comm map='{ranges(0, size - 1)}' id=0 name='WORLD' uid='W'"
    for number, length in enumerate((64, 1000, (size + 1) // 2), start=1):
        first, members = block(rank, length, size)
        yield f"Comm map='{members}' id={number} name='WORLD split {number}' uid='W/{number}@{first}'"
    # every 8th of 256: a map that ranges do not shorten
    first = rank - rank % 256 + rank % 8
    members = range(first, min(rank - rank % 256 + 256, size), 8)
    entries = "".join(f"{world}->{local};" for local, world in enumerate(members))
    yield f"Comm map='{entries}' id=4 name='WORLD split 4' uid='W/4@{first}'"


def files(rank):
    for number, name in enumerate(("/scratch/input.nc", "/scratch/output.nc", f"/scratch/log.{rank:06}")):
        yield f"File name=\"{name}\" Size={number * 4096} id={number} time={number}.{rank:09}"


def write_processes(count, folder, with_traces=False):
    described_types = types()
    for rank in range(count):
        host = f"node{rank // 64:04}"
        stem = f"{folder}/app_{host}_{rank}_0"
        lines = "\n".join([*files(rank), *communicators(rank, count)])
        with open(stem + ".info", "w") as info:
            info.write(HEAD.format(host=host, rank=rank, size=count) + lines + "\n" + described_types)
        if with_traces:
            Path(stem + ".trc").write_text(TRACE.format(rank=rank))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--traces", action="store_true", help="write .trc files, too")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    write_processes(arguments.count, arguments.folder, arguments.traces)


if __name__ == "__main__":
    main()
