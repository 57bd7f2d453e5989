"""Replays converted traces with SimGrid."""
import re
import subprocess
from collections import Counter
from dataclasses import dataclass

from support.runs import SOURCE

PLATFORM = SOURCE / "examples/simulate/cluster.xml"


@dataclass
class Simulation:
    """What SimGrid says about the messages and collective operations of a replay."""

    messages: Counter  # (from, to, bytes) -> how many
    collectives: Counter  # (rank, name, bytes) -> how many


def replay(directory, ranks, platform=PLATFORM, *options):
    """The simulated time."""
    result = subprocess.run(["smpirun", "-no-privatize", "-np", str(ranks), "-platform", platform, *options, "-replay",
                             directory / "replay.txt"], cwd=directory, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and "Deadlock" not in result.stderr, result.stderr
    return max(map(float, re.findall(r"Simulation time ([\d.]+)", result.stderr)))


def other_network(path, latency, bandwidth):
    """Writes a platform that differs in its network only."""
    text = re.sub('bw="[^"]*" lat="[^"]*"', f'bw="{bandwidth}" lat="{latency}"', PLATFORM.read_text())
    assert text != PLATFORM.read_text()
    path.write_text(text)
    return path


def simulate(directory, ranks, paje):
    """Replays and reads SimGrid's own trace of it, which is written to `paje`."""
    replay(directory, ranks, PLATFORM, "-trace", "-trace-file", paje, "--cfg=tracing/smpi/display-sizes:yes")
    text = paje.read_text()
    message = re.compile(r'^15 \S+ \S+ \S+ PTP \S+ "?(\d+)_(\d+)_\S+ (\d+)', re.MULTILINE)
    messages = Counter((int(source) - 1, int(destination) - 1, int(size)) for source, destination, size in message.findall(text))
    rank_of = {container: int(rank) for container, rank in re.findall(r'^6 \S+ (\d+) .*"rank-(\d+)"', text, re.MULTILINE)}
    names = {value: name.removeprefix("action_") for value, name in re.findall(r"^5 (\d+) \d+ (\w+)", text, re.MULTILINE)}
    states = re.findall(r"^12 \S+ \S+ (\d+) (\d+) (\d+)$", text, re.MULTILINE)
    return Simulation(messages, Counter((rank_of[container], names[value], int(size)) for container, value, size in states))


SENDS = {"Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend", "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"}


def sent_messages(run):
    """(from, to, bytes) -> how many, of the calls that send and did not fail, and of starts of persistent ones."""
    return Counter((trace.rank, int(send["toRank"]), int(send.get("sendSize") or send["size"])) for trace in run.threads.values()
                   for send in _sends(trace) if int(send["toRank"]) >= 0 and "rc" not in send)


def _sends(trace):
    made = {state["rid"]: state for state in trace if state.name.endswith("end_init")}
    for state in trace:
        if state.name in SENDS:
            yield state
        starts = [state] if state.name == "Start" else [child for child in state.children if child.name == "Start"]
        yield from (made[start["initRid"]] for start in starts if start["initRid"] in made)


def collectives_of_all(run, *names):
    """(rank, name in lower case, bytes) -> how many calls of these names, in which all processes took part."""
    return Counter((trace.rank, state.name.lower(), int(state["size"])) for trace in run for state in trace
                   if state.name in names and len(run.project.communicator(trace.rank, state["cid"]).ranks) == run.ranks)
