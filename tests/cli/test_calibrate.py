"""hdtrace calibrate: what is measured, and that SimGrid's replay on the platform takes what was measured."""
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import BUILD, MPIRUN, run
from hdtrace.calibration import Sample, eager_limit, platform_of

CALIBRATE = [BUILD / "bin/hdtrace", "calibrate"]
replays = pytest.mark.skipif(not shutil.which("smpirun"), reason="SimGrid is not installed")

SIZES = [0, 1, 4, 16, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576]
EAGER = 4096


def sample(size: int, latency: float, bandwidth: float, both_ways: float = 1.0) -> Sample:
    """Of a network whose messages wait for the receiver when they are long; both_ways: how many times as long an exchange takes."""
    is_eager = size <= EAGER
    one_way = latency + size / bandwidth + (0 if is_eager else 2 * latency)
    return Sample(size, one_way, both_ways * one_way, in_send=0.1 * latency if is_eager else one_way, in_isend=0.1 * latency, in_receive=0.2 * latency, is_eager=is_eager)


def network(latency: float, bandwidth: float, both_ways: float = 1.0) -> list[Sample]:
    return [sample(size, latency, bandwidth, both_ways) for size in SIZES]


SLOW, FAST = (20e-6, 1e8), (1e-6, 5e9)


ROUNDS = 100


def replayed_one_way(folder: Path, platform: str, size: int, hosts: tuple[str, str]) -> float:
    """What a message takes in a ping-pong that SimGrid replays."""
    return replayed(folder, platform, hosts, [[f"{rank} {call} {1 - rank} 0 {size} 6" for call in calls] for rank, calls in enumerate([("send", "recv"), ("recv", "send")])]) / 2


def replayed_exchange(folder: Path, platform: str, size: int) -> float:
    return replayed(folder, platform, ("node-0", "node-1"), [[f"{rank} irecv {1 - rank} 0 {size} 6", f"{rank} send {1 - rank} 0 {size} 6", f"{rank} wait {1 - rank} {rank} 0"] for rank in (0, 1)])


def replayed(folder: Path, platform: str, hosts: tuple[str, str], round_of_ranks: list[list[str]]) -> float:
    """What a round takes in SimGrid's replay."""
    (folder / "platform.xml").write_text(platform)
    (folder / "hosts").write_text("\n".join(hosts))
    for rank, actions in enumerate(round_of_ranks):
        (folder / f"{rank}.txt").write_text("\n".join([f"{rank} init", *ROUNDS * actions, f"{rank} finalize"]))
    (folder / "replay.txt").write_text("".join(f"{folder}/{rank}.txt\n" for rank in (0, 1)))
    command = ["smpirun", "-no-privatize", "-np", "2", "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "replay.txt", "--log=smpi_replay.fmt:%.12r%e%m%n"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    (end,) = re.findall(r"^(\S+) Simulation time", result.stderr, re.MULTILINE)
    return float(end) / ROUNDS


@replays
@pytest.mark.parametrize("size", [1, 100, 4096, 4097, 70000, 300000, 1048576, 5000000])
def test_a_replayed_message_takes_what_was_measured(tmp_path, size):
    """Also between the sizes that were measured, and above them."""
    platform = platform_of(network(*FAST), []).xml(4, 1e9, "test")
    expected = sample(size, *FAST).one_way
    assert replayed_one_way(tmp_path, platform, size, ("node-0", "node-1")) == pytest.approx(expected, rel=0.02 if size != 4097 else 0.5)


@replays
@pytest.mark.parametrize("both_ways", [1, 2])
def test_what_goes_both_ways_shares_the_bandwidth_if_it_does_on_the_machine(tmp_path, both_ways):
    size = 1048576
    platform = platform_of(network(*FAST, both_ways), []).xml(4, 1e9, "test")
    assert replayed_one_way(tmp_path, platform, size, ("node-0", "node-1")) == pytest.approx(sample(size, *FAST).one_way, rel=0.02)
    assert replayed_exchange(tmp_path, platform, size) == pytest.approx(both_ways * sample(size, *FAST).one_way, rel=0.15)


@replays
def test_messages_inside_a_host_and_between_hosts(tmp_path):
    platform = platform_of(network(*FAST), network(*SLOW), cores=2).xml(4, 1e9, "test")
    for size in (256, 1048576):
        assert replayed_one_way(tmp_path, platform, size, ("node-0", "node-1")) == pytest.approx(sample(size, *SLOW).one_way, rel=0.02)
        inside = replayed_one_way(tmp_path, platform, size, ("node-0", "node-0"))
        assert inside == pytest.approx(sample(size, *FAST).one_way, rel=0.5)


def test_the_largest_size_that_needs_no_receiver():
    assert eager_limit(network(*FAST)) == EAGER
    assert eager_limit([]) == 0


def test_measurements_that_fall_and_repeat_themselves_make_a_platform():
    measured = [Sample(size, 1e-6 if size < 4096 else 5e-7, 1e-6, 1e-7, 1e-7, 2e-6, True) for size in SIZES]
    factors = platform_of(measured, []).settings["smpi/bw-factor"]
    assert all(0 < float(entry.split(":")[1]) <= 1 for entry in factors.split(";"))


def calibrate(*arguments, **options):
    """What it prints. On a machine that does something else, too, it may warn of that."""
    result = run(*CALIBRATE, *arguments, **options)
    assert result.returncode == 0, result
    assert all("Oversubscribed: " in line or "factor of two" in line for line in result.stderr.splitlines()), result.stderr
    return result.stdout


@pytest.mark.parametrize("launcher, where", [(MPIRUN, "local"), ("mpiexec.mpich", "remote")], ids=["a host", "several hosts"])
def test_calibrating_this_machine(tmp_path, monkeypatch, launcher, where):
    monkeypatch.setenv("MPIR_CVAR_NOLOCAL", "1")  # MPICH takes each process for one of another host
    output = tmp_path / "machine.xml"
    result = json.loads(calibrate("-o", output, "--hosts", "5", "--json", "--", launcher, "-n", "2"))
    assert result["platform"] == str(output)
    measured = result["messages"].pop(where)
    assert not any(result["messages"].values())
    assert [one["size"] for one in measured][:3] == [0, 1, 4] and measured[-1]["size"] == 4 << 20
    assert all(one["one_way"] > 0 for one in measured)
    if shutil.which("smpirun"):
        assert {one["operation"] for one in result["operations"]} == {"Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"}
    root = ElementTree.parse(output).getroot()
    assert root.find("cluster").attrib["radical"] == "0-4"
    assert {prop.attrib["id"]: prop.attrib["value"] for prop in root.iter("prop")}["smpi/coll-selector"] in ("ompi", "mpich", "default")
    assert list(tmp_path.iterdir()) == [output]


def test_the_tables(tmp_path):
    text = calibrate("--", MPIRUN, "-n", "2", cwd=tmp_path)
    assert "Messages between processes of a host" in text and text.endswith("Platform: platform.xml\n")


def test_it_warns_of_what_it_cannot_reproduce(capsys):
    from types import SimpleNamespace

    from hdtrace.cli.calibrate import Comparison, _warn

    busy = SimpleNamespace(run=SimpleNamespace(oversubscription=["Oversubscribed: 2 processes on 1 processor"]))
    good, slow, fast = (Comparison("Bcast", 4, 1e-3, replayed) for replayed in (1.9e-3, 2.1e-3, 0.4e-3))
    _warn(busy, [good, slow])
    assert capsys.readouterr().err == "hdtrace: Oversubscribed: 2 processes on 1 processor\n"
    _warn(busy, [good, slow, fast])
    assert "2 of 3 operations are off by more than a factor of two" in capsys.readouterr().err


@pytest.mark.parametrize("arguments, complaint", [
    ([], "name the launcher"),
    (["--", MPIRUN, "-n", "2", "./app"], "without a program"),
    (["-o", "nowhere/p.xml", "--", MPIRUN, "-n", "2"], "there is no folder nowhere"),
    (["--", MPIRUN, "-n", "1"], "two processes at least"),
    (["--hosts", "0", "--", MPIRUN, "-n", "2"], "--hosts"),
    (["--speed", "fast", "--", MPIRUN, "-n", "2"], "--speed"),
], ids=str)
def test_wrong_arguments(tmp_path, arguments, complaint):
    result = run(*CALIBRATE, *arguments, cwd=tmp_path)
    assert result.returncode == 2 and complaint in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_that_fails(tmp_path):
    result = run(*CALIBRATE, "--", "false", "-n", "2", cwd=tmp_path)
    assert result.returncode == 1 and "ended with exit code 1" in result.stderr
    assert list(tmp_path.iterdir()) == []
