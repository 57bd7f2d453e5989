"""Runs that a batch system starts: Slurm, in a cluster of this machine alone."""
import time
from collections import Counter, defaultdict

import hdtrace
import pytest
from support.checks import read_info
from support.runs import LAUNCHER, SETTINGS, SOURCE, merge, program
from support.slurm import Cluster, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
RANKS = 2
PLUGIN = "pmix" if SETTINGS["mpi"] == "Open MPI" else "pmi2"
SRUN = ["srun", f"--mpi={PLUGIN}", "-n", RANKS, "-O"]
MPIRUN = ["env", f"MPIEXEC={SETTINGS['mpiexec']}", SOURCE / "scripts/mpirun", "-n", RANKS]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        listed = running.run("srun", "--mpi=list")
        if PLUGIN not in (listed.stdout + listed.stderr).split():
            pytest.skip(f"this Slurm cannot start programs with {SETTINGS['mpi']}: it has no --mpi={PLUGIN}")
        yield running


def submit(cluster, folder, *steps, options=()):
    """A job with these steps, each a command."""
    script = folder / "job.sh"
    script.write_text("#!/bin/sh\n" + "\n".join(" ".join(map(str, step)) for step in steps) + "\n")
    return cluster.run("sbatch", "--parsable", "-n", RANKS, "-O", "-o", folder / "output-%j", *options, script, cwd=folder)


def infos_of_runs(folder):
    """{name of the run, as its processes say: their .info files}"""
    runs = defaultdict(list)
    for path in sorted(folder.glob("*.info")):
        runs[dict(read_info(path))["Process"]["run"]].append(path)
    return runs


def test_steps_and_array_tasks_keep_their_traces_apart(cluster, tmp_path):
    traced = [LAUNCHER, "-d", "trace", program("batch_step")]
    result = submit(cluster, tmp_path, SRUN + traced, SRUN + traced, MPIRUN + traced, options=["--wait", "--array=1-2"])
    outputs = [path.read_text() for path in tmp_path.glob("output-*")]
    assert (result.returncode, len(outputs)) == (0, 2), (result, outputs)
    assert not any("hdtrace" in output for output in outputs), outputs
    runs = infos_of_runs(tmp_path / "trace")
    assert Counter(len(infos) for infos in runs.values()) == {RANKS: 6}, runs
    for infos in runs.values():
        project = infos[0].parent / f"{infos[0].name.split('_')[0]}.proj"
        assert merge(project, *infos) == []
        assert {call.rank for call in hdtrace.open(project).calls(name="Barrier")} == {0, 1}


def test_a_cancelled_job_leaves_its_last_call(cluster, tmp_path):
    job = submit(cluster, tmp_path, SRUN + [LAUNCHER, "-d", "trace", program("batch_step"), "wait"]).stdout.strip()
    output = tmp_path / f"output-{job}"
    end = time.monotonic() + 60
    while not (output.exists() and output.read_text().count("waiting") == RANKS):
        assert time.monotonic() < end, output.exists() and output.read_text()
        time.sleep(0.1)
    # As at the end of its time: SIGTERM, and SIGKILL later.
    assert cluster.run("scancel", job).returncode == 0
    while cluster.run("squeue", "--noheader").stdout:
        assert time.monotonic() < end
        time.sleep(0.1)
    traces = sorted((tmp_path / "trace").glob("*.trc"))
    assert len(traces) == RANKS
    for path in traces:
        last = [call for call in hdtrace.read_trace(path)][-1]
        assert (last.name, last.attributes.get("unfinished")) == ("Recv", "1"), last
