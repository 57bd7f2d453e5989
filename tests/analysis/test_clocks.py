"""Hosts whose clocks differ, as they would stand in the traces of a run whose true times are known."""
import random
import sys
from pathlib import Path

import hdtrace
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from projects_of_lines import HEAD, project_text  # noqa: E402

LATENCY = 20_000  # nanoseconds, at least
START = 1_000_000_000


class Clock:
    """What a host shows at a true time in nanoseconds."""

    def __init__(self, offset=0, drift=0.0, step=0, step_at=None):
        self.offset, self.drift, self.step, self.step_at = offset, drift, step, step_at

    def show(self, time):
        late = self.step if self.step_at is not None and time >= self.step_at else 0
        return time + self.offset + round(self.drift * time) + late


def message(kind, begin, end, other, clock):
    begin, end = clock.show(begin), clock.show(end)
    to = f"toRank='{other}' toTag='0'" if kind == "Send" else f"fromRank='{other}' fromTag='0'"
    return f"<{kind} {to} size='4' count='1' tid='0' cid='0' time='{begin / 1e9:.9f}' end='{end / 1e9:.9f}' />\n"


def lines_of(clocks, rounds, pause=1_000_000, back=True):
    """Rank 0 sends to each other rank, and gets an answer, with latencies that vary."""
    luck = random.Random(1)
    lines = ["" for _ in clocks]
    now = START
    for _ in range(rounds):
        for rank in range(1, len(clocks)):
            arrives = now + LATENCY + luck.randrange(LATENCY)
            lines[0] += message("Send", now, now + 1000, rank, clocks[0])
            lines[rank] += message("Recv", now, arrives, 0, clocks[rank])
            if back:
                answer = arrives + 5000
                done = answer + LATENCY + luck.randrange(LATENCY)
                lines[rank] += message("Send", answer, answer + 1000, 0, clocks[rank])
                lines[0] += message("Recv", now + 2000, done, rank, clocks[0])
                arrives = done
            now = arrives + pause
    return lines


def write(directory, clocks, lines):
    """A project with a host for each rank."""
    text = project_text(len(clocks))
    for kind, name in (("Node", "name"), ("Label", "value")):
        begin, end = text.index(f'    <{kind} {name}="node01"'), text.index(f"</{kind}>\n", text.index(f'<{kind} {name}="node01"'))
        hosts = "".join(f'    <{kind} {name}="host{rank}"><{kind} {name}="{rank}"><{kind} {name}="0"/></{kind}></{kind}>\n' for rank in range(len(clocks)))
        text = text[:begin] + hosts.rstrip("\n").removesuffix(f"</{kind}>") + text[end:]
    (directory / "app.proj").write_text(text)
    for rank, of_rank in enumerate(lines):
        (directory / f"app_host{rank}_{rank}_0.trc").write_text(HEAD.format(rank=rank).replace("'100'", "'1000'") + of_rank + "</Program>\n")
    return directory / "app.proj"


def analyze(directory, clocks, **how):
    directory.mkdir(exist_ok=True)
    with hdtrace.open(write(directory, clocks, lines_of(clocks, **how))) as project:
        return project.analyze()


@pytest.mark.parametrize("clock", [Clock(), Clock(3_000_000_000), Clock(-2_500_000_000, 100e-6), Clock(40_000, -100e-6), Clock(0, 3e-7)],
                         ids=lambda clock: f"{clock.offset}+{clock.drift}")
def test_offset_and_drift(tmp_path, clock):
    true = analyze(tmp_path / "true", [Clock(), Clock()], rounds=500)
    analysis = analyze(tmp_path / "seen", [Clock(), clock], rounds=500)
    reference, other = analysis.clocks
    assert reference == {"host": "host0", "offset": 0, "drift": 0, "uncertainty": 0, "parts": reference["parts"]}
    assert analysis.reversed_messages == 0
    assert len(other["parts"]) == 1
    shown = clock.show(START)
    assert other["offset"] * 1e9 == pytest.approx(START - shown, abs=LATENCY)
    assert other["drift"] == pytest.approx(-clock.drift, abs=1e-6)
    assert 0 < other["uncertainty"] * 1e9 < 2 * LATENCY
    for was, row in zip(sorted(true.time["rank"], key=lambda row: row["rank"]), sorted(analysis.time["rank"], key=lambda row: row["rank"])):
        assert row["waiting"] == pytest.approx(was["waiting"], abs=1000 * LATENCY / 1e9)
    assert analysis.seconds == pytest.approx(true.seconds, abs=2 * LATENCY / 1e9)


def test_hosts_that_meet_by_others(tmp_path):
    analysis = analyze(tmp_path, [Clock(0), Clock(1_000_000_000, 20e-6), Clock(-5_000_000, -50e-6)], rounds=300)
    assert [round(row["drift"] * 1e6) for row in analysis.clocks] == [0, -20, 50]
    assert analysis.reversed_messages == 0


def test_clock_that_is_set(tmp_path):
    clock = Clock(1_000_000, 10e-6, step=300_000_000, step_at=START + 200_000_000)
    analysis = analyze(tmp_path, [Clock(), clock], rounds=500)
    first, second = analysis.clocks[1]["parts"]
    assert analysis.reversed_messages == 0
    assert second["offset"] - first["offset"] == pytest.approx(-0.3, abs=1e-4)


def test_few_messages_say_little(tmp_path):
    analysis = analyze(tmp_path, [Clock(), Clock(7_000_000)], rounds=1)
    assert analysis.clocks[1]["uncertainty"] * 1e9 > LATENCY / 2
    assert analysis.clocks[1]["drift"] == 0


def test_messages_in_one_direction_bound_one_side(tmp_path):
    analysis = analyze(tmp_path, [Clock(), Clock(-7_000_000_000)], rounds=10, back=False)
    assert analysis.clocks[1]["uncertainty"] is None
    assert analysis.clocks[1]["offset"] == pytest.approx(7, abs=0.001)
    assert analysis.reversed_messages == 0
