"""The examples run, and their traces show what they promise."""
import re
import shutil
import subprocess

import hdtrace
import pytest
from support.calls import Call
from support.extents import written_pieces
from support.runs import BUILD, SETTINGS, SOURCE, link_options, ranks, run_with_tracer
from support.runs import run_untraced as run_anew

EXAMPLES = BUILD / "examples"


def example(name):
    return EXAMPLES / name


@ranks(1, 2, 4)
@pytest.mark.parametrize("name, calls", [
    ("01-hello", ["Init", "Finalize"]),
    ("03-pi", ["Bcast", "Reduce"]),
    ("04-neighbours", ["Irecv", "Isend", "Waitall", "Reduce"]),
    ("06-heat", ["Cart_create", "Type_vector", "Isend", "Waitall", "Allreduce"]),
    ("07-matrix-file", ["File_set_view", "File_write_all", "File_read_at"]),
])
def test_an_example(run_traced, run_untraced, ranks, name, calls):
    if not example(name).exists():
        pytest.skip("it is not built")
    run = run_traced(example(name), ranks)
    assert sorted(run.stdout.splitlines()) == sorted(run_untraced(example(name), ranks).stdout.splitlines())
    for trace in run:
        assert set(calls) <= set(trace.names())
    assert run.project.process_count == ranks


@ranks(2, 4)
def test_the_ring(run_traced, ranks):
    run = run_traced(example("02-ring"), ranks)
    assert run.stdout == f"The sum of all ranks is {ranks * (ranks - 1) // 2}\n"
    for trace in run:
        assert trace.only(Call("Send", toRank=trace.right, toTag=1))
        assert trace.only(Call("Recv", fromRank=trace.left, fromTag=1))


@pytest.mark.skipif(SETTINGS["mpi"] != "Open MPI", reason="Debian's mpi4py is made for Open MPI")
def test_python(tmp_path):
    run = run_with_tracer("/usr/bin/python3", 3, tmp_path, args=(SOURCE / "examples/05-gather.py",))
    assert run.stdout == "The squares add up to 5\n"
    assert all(Call("Gather", root=0, size=12) in trace for trace in run)


@ranks(1, 2, 3, 4)
def test_the_matrix_is_written_completely(run_traced, ranks):
    run = run_traced(example("07-matrix-file"), ranks)
    size = 8 * 4 * 4 * ranks
    assert written_pieces(run) == {str(run.directory.resolve() / "matrix.data"): [(0, size)]}


def test_only_one_phase_is_traced(run_traced):
    for trace in run_traced(example("08-one-phase"), 2):
        assert len(trace.find(Call("Barrier"))) == 10


def test_own_states(tmp_path):
    result = subprocess.run([example("09-own-states")], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "2 traces are written\n", "")
    paths = sorted(tmp_path.glob("*.trc"))
    assert [path.name for path in paths] == ["own-states_here_0.trc", "own-states_here_1.trc"]
    for worker, path in enumerate(paths):
        hdtrace.validate(path)
        begin, *steps, end, done = hdtrace.read_trace(path)
        assert [(mark["name"], mark["kind"]) for mark in (begin, end)] == [("Work", "begin"), ("Work", "end")]
        assert [(child.name, child["who"]) for child in end.children] == [("Work", "worker <one of two>")]
        assert (done.is_event, done["name"]) == (True, "done")
        assert [step["number"] for step in steps] == ["0", "1", "2"]
        assert [step.children[0]["size"] for step in steps] == [str(100 * worker + step) for step in range(3)]


# ---- the walk-through of the specification ----

_OUTPUT = re.compile(r"""# Using mpi-io calls\.
nr_procs = 3, nr_iter = (\d+), blk_sz = (\d+), coll = ([01])
# total_size = (\d+)
# Write: min_t = (\d+\.\d+), max_t = (\d+\.\d+), mean_t = (\d+\.\d+), var_t = \d+\.\d+
# Read: min_t = \d+\.\d+, max_t = \d+\.\d+, mean_t = \d+\.\d+, var_t = \d+\.\d+
Write bandwidth = \d+\.\d+ Mbytes/sec
Read bandwidth = \d+\.\d+ Mbytes/sec
""")


@pytest.mark.parametrize("args, options, write, read", [
    ((), ("1", "16777216", "0"), "File_write_at", "File_read_at"),
    (("-c", "-b", "65536", "-i", "4"), ("4", "65536", "1"), "File_write_at_all", "File_read_at_all"),
])
def test_mpi_io_test(run_traced, args, options, write, read):
    run = run_traced(example("mpi-io-test"), 3, args=args)
    match = _OUTPUT.fullmatch(run.stdout)
    assert match and match.groups()[:3] == options
    iterations, block = map(int, options[:2])
    assert int(match[4]) == 3 * iterations * block
    assert float(match[5]) <= float(match[7]) <= float(match[6])
    for trace in run:
        for name in (write, read):
            assert [int(state["offset"]) for state in trace.find(Call(name, size=block))] == \
                [(i * 3 + trace.rank) * block for i in range(iterations)]
    assert list(written_pieces(run).values()) == [[(0, 3 * iterations * block)]]


def test_the_walk_through_of_the_specification(tmp_path):
    """Linked with plain mpicc, run with three processes, merged by the script's old name."""
    shutil.copy(SOURCE / "examples/mpi-io-test.c", tmp_path)
    subprocess.run([SETTINGS["compiler"], "-o", "mpi-io-test", "mpi-io-test.c", *link_options()], cwd=tmp_path, check=True)

    run = run_anew(tmp_path / "mpi-io-test", 3, tmp_path)
    assert (run.returncode, run.stderr) == (0, "") and _OUTPUT.fullmatch(run.stdout)
    traces = sorted(tmp_path.glob("mpi-io-test_*.trc"))
    assert len(traces) == len(list(tmp_path.glob("*.info"))) == 3

    merger = BUILD / "bin/project-description-merger.py"
    result = subprocess.run([merger, "-o", "mpi-io-test.proj", *traces], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    for path in [*traces, tmp_path / "mpi-io-test.proj"]:
        hdtrace.validate(path)
