"""The commands and programs of docs/questions.md work, one after the other in one folder."""
import os
import re
import shutil
import subprocess

import pytest
from support.runs import BUILD, SETTINGS, SOURCE, TIMEOUT

PAGE = (SOURCE / "docs/questions.md").read_text()
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [(kind, command) for kind, block in BLOCKS for command in ([block] if kind == "python" else block.splitlines())]
HANGS = """#include <mpi.h>
int main(int argc, char** argv)
{
    int rank, number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
"""
ANSWERS = {  # what the answer has to have
    "hdtrace analyze run --by rank": "parallel efficiency",
    "hdtrace analyze run --by region": "late-sender",
    "hdtrace stats run --by site": "exchange_edges (06-heat.c:",
    "hdtrace stats run --by communicator,size": "plate",
    "hdtrace stats run --matrix bytes": "from \\ to",
    "hdtrace analyze run": "on the critical path",  # iterations are alike only where processors are free: tests/analysis
    "hdtrace analyze io-run": "matrix.data",
    "hdtrace stats io-run --by file,call,size": "matrix.data",
    "hdtrace analyze two run": "computational scalability",
    "hdtrace check hang-run": "deadlock: rank 0 waits in Recv",
    "smpirun -no-privatize -np 4 -platform cluster.xml -replay replay/replay.txt": "Simulation time",
}
FAILING = {"hdtrace record --stuck-seconds 2 --end-stuck -o hang-run mpirun -n 2 ./hang", "hdtrace check hang-run"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the programs and files that the page speaks of."""
    folder = tmp_path_factory.mktemp("questions")
    for name, example in (("app", "06-heat"), ("io", "07-matrix-file")):
        shutil.copy(BUILD / "examples" / example, folder / name)
    shutil.copy(SOURCE / "examples/simulate/cluster.xml", folder)
    (folder / "part.conf").write_text(re.search(r"^```ini\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1])
    (folder / "hang.c").write_text(HANGS)
    subprocess.run([SETTINGS["compiler"], "-o", folder / "hang", folder / "hang.c"], check=True)
    commands = folder / "bin"
    commands.mkdir()
    (commands / "mpirun").symlink_to(SOURCE / "scripts/mpirun")
    return folder


def environment_of(folder):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HDTRACE_")}
    return clean | {"PATH": f"{folder / 'bin'}:{BUILD / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(BUILD / "python"),
                    "MPIEXEC": shutil.which(SETTINGS["mpiexec"])}


@pytest.mark.parametrize("kind, command", COMMANDS, ids=[command.splitlines()[-1] for _, command in COMMANDS])
def test_command(folder, kind, command):
    words = ["/usr/bin/python3", "-c", command] if kind == "python" else ["sh", "-c", command]
    result = subprocess.run(words, cwd=folder, env=environment_of(folder), capture_output=True, text=True, timeout=TIMEOUT)
    assert (result.returncode != 0) == (command in FAILING), result
    assert ANSWERS.get(command, "") in result.stdout + result.stderr


def test_answers_are_of_the_page():
    commands = {command for _, command in COMMANDS}
    assert ANSWERS.keys() <= commands and FAILING <= commands


def printed(folder, word):
    """By the program in Python that has this word."""
    (program,) = [command for kind, command in COMMANDS if kind == "python" and word in command]
    words = ["/usr/bin/python3", "-c", program]
    return subprocess.run(words, cwd=folder, env=environment_of(folder), capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_matrix_of_a_communicator_is_one_of_processes(folder):
    lines = printed(folder, "pivot_table")
    assert lines[0].split()[0] == "destination" and lines[1].split() == ["communicator", "source"] and len(lines) > 2
    assert lines[2].split()[0] == "plate"


def test_hidden_time_is_numbers(folder):
    overlap = printed(folder, "hidden")
    assert [line.split()[0] for line in overlap] == ["rank", "0", "1", "2", "3", "Name:"]
    assert all(0 <= float(line.split()[1]) <= 1 for line in overlap[1:5])
