"""What messages cost on a machine, measured with the tracer, as a platform of SimGrid.

`hdtrace calibrate` runs hdtrace-measure under the tracer; this reads its trace. All times are in seconds, sizes in bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from .project import Project

DEFAULT_SPEED = 1e9  # of processors, in operations per second, as in hdtrace-convert

# As in hdtrace-measure.
LOCAL, REMOTE = 100, 200
_PING_PONG, _LATE, _ISEND, _EXCHANGE = 0, 1, 2, 3
_PAUSE = 50e-6  # for which a late receiver waits at least

# SimGrid sends this along with each message, and counts it in the size of what the network carries.
_ENVELOPE = 16
_ALGORITHMS = "smpi/coll-selector"
_SHORTEST = 1e-9  # the precision of the simulation
_NO_BOTTLENECK = 4  # how much more the links can than one message was seen to use
_SHARED = 1.5  # messages that go both ways at once share what they go through if they take so many times as long
_LARGE = 4  # so many of the largest sizes tell that


@dataclass(frozen=True)
class Sample:
    """Of messages of one size, the median of each.

    one_way: from the beginning of the send to the end of a receive that waited for it
    both_ways: what an exchange takes in which another one of this size goes the other way
    in_send: what a blocking send takes whose receiver waits
    in_isend: the same of a non-blocking one
    in_receive: what a receive takes that comes when the message has arrived
    is_eager: the send did not wait for the receive
    """

    size: int
    one_way: float
    both_ways: float
    in_send: float
    in_isend: float
    in_receive: float
    is_eager: bool

    @property
    def bandwidth(self) -> float:
        return self.size / self.one_way


class _Key(NamedTuple):
    kind: int
    rank: int
    name: str
    size: int


def _durations(project: Project, tags: int) -> dict[_Key, list[float]]:
    """What the calls take; of ping-pongs at rank 0 also the round trips, named "round"."""
    found: dict[_Key, list[float]] = defaultdict(list)
    began = 0
    for call in project.calls(name=["Send", "Recv", "Isend", "Sendrecv"]):
        tag = call.integer("fromTag" if call.name == "Recv" else "toTag")
        size = call.integer("size")
        if tag is None or size is None or not tags <= tag <= tags + _EXCHANGE:
            continue
        kind = tag - tags
        found[_Key(kind, call.rank, call.name, size)].append((call.end - call.time) / 1e9)
        if kind == _PING_PONG and call.rank == 0:
            if call.name == "Send":
                began = call.time
            else:
                found[_Key(kind, 0, "round", size)].append((call.end - began) / 1e9)
    return found


def samples(project: Project, tags: int) -> list[Sample]:
    """What hdtrace-measure measured of messages with these tags (LOCAL, REMOTE), by size; none if it did not."""
    found = _durations(project, tags)
    others = {key.rank for key in found if key.rank != 0}
    if len(others) != 1:
        return []
    (other,) = others
    measured = []
    for size in sorted({key.size for key in found if key.kind == _PING_PONG}):
        one_way = median(found[_Key(_PING_PONG, 0, "round", size)]) / 2
        late_send = median(found[_Key(_LATE, 0, "Send", size)])
        measured.append(
            Sample(
                size=size,
                one_way=one_way,
                both_ways=median(found[_Key(_EXCHANGE, 0, "Sendrecv", size)]),
                in_send=median(found[_Key(_PING_PONG, 0, "Send", size)]),
                in_isend=median(found[_Key(_ISEND, 0, "Isend", size)]),
                in_receive=median(found[_Key(_LATE, other, "Recv", size)]),
                is_eager=late_send < 2 * one_way + _PAUSE / 2,
            )
        )
    return measured


def eager_limit(measured: Sequence[Sample]) -> int:
    """The largest size up to which no send waits for its receive."""
    limit = 0
    for sample in measured:
        if not sample.is_eager:
            break
        limit = sample.size
    return limit


# ---- lines through what was measured ----


@dataclass(frozen=True)
class _Line:
    """Of sizes above `above`: how long it takes, which is `constant` and what each byte adds."""

    above: int
    constant: float
    per_byte: float


def _lines(points: Sequence[tuple[int, float]], least_per_byte: float = 0.0) -> list[_Line]:
    """Through neighbouring points, each from the size of the first on. Never falling, and never below 0."""
    lines = [_Line(0, points[0][1], least_per_byte)] if points[0][0] > 0 else []
    for (size, time), (next_size, next_time) in pairwise(points):
        per_byte = max((next_time - time) / (next_size - size), least_per_byte)
        constant = next_time - next_size * per_byte
        lines.append(_Line(size, constant, per_byte) if constant >= 0 else _Line(size, 0.0, max(next_time / next_size, least_per_byte)))
    return lines


class _Parts(NamedTuple):
    """Of the way of a message: what its sender, the network and its receiver need, one after the other."""

    sender: float
    network: float
    receiver: float


def _parts(sample: Sample, limit: int, overheads: Sample) -> _Parts:
    """Those who wait for each other need no time but that of the network. overheads: of the same size, perhaps of nearer processes."""
    if sample.size > limit:
        return _Parts(0.0, max(sample.one_way, _SHORTEST), 0.0)
    sender = min(overheads.in_send, overheads.one_way / 2)
    receiver = min(overheads.in_receive, overheads.one_way / 2)
    return _Parts(sender, max(sample.one_way - sender - receiver, _SHORTEST), receiver)


# ---- the platform ----


def _factors(values: Iterable[tuple[int, float]]) -> str:
    """As SimGrid reads them, without those that repeat the last."""
    text: list[str] = []
    last = None
    for above, value in values:
        if value != last:
            text.append(f"{above}:{value:.6g}")
            last = value
    return ";".join(text)


def _overheads(points: Sequence[tuple[int, float]]) -> str:
    """Of calls of a process, as SimGrid reads them: above a size the constant, and what each byte adds."""
    return ";".join(f"{line.above}:{line.constant:.6g}:{line.per_byte:.6g}" for line in _lines(points))


@dataclass(frozen=True)
class Platform:
    """A cluster of computers with one processor each per process, all connected with one switch, on which a replay takes as long as on the machine that was measured.

    settings: of SimGrid's models, by name
    latency: of each of the two links between two computers
    bandwidth: in bytes per second
    loopback: latency and bandwidth between processes of one computer; none: each process has a computer of its own
    cores: of one computer
    is_shared: what goes both ways at once shares the bandwidth
    """

    settings: dict[str, str]
    latency: float
    bandwidth: float
    loopback: tuple[float, float] | None = None
    cores: int = 1
    is_shared: bool = False

    @property
    def algorithms(self) -> str:
        """Of collective operations, as SimGrid calls the MPI library that has them."""
        return self.settings[_ALGORITHMS]

    def with_algorithms(self, name: str) -> Platform:
        return replace(self, settings={**self.settings, _ALGORITHMS: name})

    def xml(self, hosts: int, speed: float, description: str) -> str:
        """The text of the file. speed: operations per second, as hdtrace-convert was told."""
        settings = "\n".join(f'    <prop id="{name}" value="{value}"/>' for name, value in self.settings.items())
        inside = ""
        if self.loopback:
            inside = f' core="{self.cores}" loopback_lat="{self.loopback[0]:.6g}s" loopback_bw="{self.loopback[1]:.6g}Bps"'
        return f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- {description.replace("--", "- -")} -->
<platform version="4.1">
  <config>
{settings}
  </config>
  <cluster id="cluster" prefix="node-" suffix="" radical="0-{hosts - 1}" speed="{speed:.10g}f"{inside}
           lat="{self.latency:.6g}s" bw="{self.bandwidth:.6g}Bps" sharing_policy="{'SHARED' if self.is_shared else 'SPLITDUPLEX'}"/>
</platform>
"""


def _loopback(local: Sequence[_Parts], largest: Sample, network: Sequence[_Line], latency: float, bandwidth: float) -> tuple[float, float]:
    """Latency and bandwidth that come near to what messages inside a host take: the factors are those of the network."""
    latency_factor = max(network[0].constant / latency, 1e-3)
    bandwidth_factor = 1 / (network[-1].per_byte * bandwidth)
    return local[0].network / latency_factor, largest.bandwidth / bandwidth_factor


def _shares_bandwidth(measured: Sequence[Sample]) -> bool:
    """As inside a host, where all goes through the same memory."""
    return median(sample.both_ways / sample.one_way for sample in measured[-_LARGE:]) >= _SHARED


def platform_of(local: Sequence[Sample], remote: Sequence[Sample], cores: int = 1) -> Platform:
    """The platform on which messages take what was measured.

    local, remote: between processes of one host and of two, of the same sizes; one may be empty. SimGrid knows one overhead of calls and
        one limit for both: the overheads are those inside a host, the limit is that between hosts
    cores: of one host
    """
    measured = remote or local
    if not measured:
        raise ValueError("nothing was measured")
    limit = eager_limit(measured)
    parts = {sample.size: _parts(sample, limit, overheads) for sample, overheads in zip(measured, local or remote)}
    latency = measured[0].one_way
    bandwidth = _NO_BOTTLENECK * max(sample.bandwidth for sample in measured)
    lines = _lines([(size + _ENVELOPE, part.network) for size, part in parts.items()], 1 / bandwidth)
    settings = {
        "smpi/lat-factor": _factors((line.above, line.constant / latency) for line in lines),
        "smpi/bw-factor": _factors((line.above, 1 / (line.per_byte * bandwidth)) for line in lines),
        "smpi/os": _overheads([(size, part.sender) for size, part in parts.items()]),
        "smpi/or": _overheads([(size, part.receiver) for size, part in parts.items()]),
        "smpi/ois": _overheads([(sample.size, sample.in_isend) for sample in measured]),
        "smpi/async-small-thresh": str(limit + 1),
        "smpi/send-is-detached-thresh": str(limit + 1),
        _ALGORITHMS: "ompi",
        "network/crosstraffic": "0",
        "network/TCP-gamma": "1e15",  # no window limits the bandwidth
    }
    loopback = None
    if remote and local:
        loopback = _loopback([_parts(sample, limit, sample) for sample in local], local[-1], lines, latency, bandwidth)
    return Platform(settings, latency / 2, bandwidth, loopback, cores, _shares_bandwidth(measured))
