"""Hosts whose clocks differ, as they would stand in the traces of a run whose true times are known."""
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import hdtrace
import pytest
from support.runs import BUILD, run_with_tracer

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
from projects_of_lines import HEAD, project_text  # noqa: E402

LATENCY = 20_000  # nanoseconds, at least
START = 1_000_000_000


class Clock:
    """What a host shows at a true time in nanoseconds."""

    def __init__(self, offset=0, drift=0.0, step=0, step_at=None, wander=lambda seconds: 0):
        self.offset, self.drift, self.step, self.step_at, self.wander = offset, drift, step, step_at, wander

    def show(self, time):
        late = self.step if self.step_at is not None and time >= self.step_at else 0
        return time + self.offset + round(self.drift * time) + late + round(self.wander((time - START) / 1e9))


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


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
def test_number_of_cores_does_not_matter(tmp_path):
    luck = random.Random(3)
    clocks = [Clock(luck.randrange(10**7), luck.randrange(-50, 50) * 1e-6) for _ in range(5)]
    lines = lines_of(clocks, rounds=200)
    now = START + 10**9
    for turn in range(2000):
        sender, receiver = luck.sample(range(len(clocks)), 2)
        kind = "Ssend" if turn % 3 == 0 else "Send"
        arrives = now + LATENCY + luck.randrange(LATENCY)
        lines[sender] += message(kind, now, arrives if kind == "Ssend" else now + 1000, receiver, clocks[sender])
        lines[receiver] += message("Recv", now, arrives, sender, clocks[receiver])
        if turn % 10 == 0:
            for rank, clock in enumerate(clocks):
                begin, end = clock.show(arrives + luck.randrange(10**6)), clock.show(arrives + 10**6 + LATENCY)
                lines[rank] += f"<Barrier cid='0' time='{begin / 1e9:.9f}' end='{end / 1e9:.9f}' />\n"
            arrives += 2 * 10**6
        now = arrives + luck.randrange(1_000_000)
    project = write(tmp_path, clocks, lines)
    show = [sys.executable, "-c", "import hdtrace, sys\nwith hdtrace.open(sys.argv[1]) as project: print(project.analyze().clocks)", project]

    def clocks_on(cores):
        return subprocess.run(show, preexec_fn=lambda: os.sched_setaffinity(0, cores), capture_output=True, text=True, check=True, timeout=60).stdout

    cores = os.sched_getaffinity(0)
    assert clocks_on(cores) == clocks_on({min(cores)})
    assert all(f"host{rank}" in clocks_on(cores) for rank in range(len(clocks)))


def test_clock_that_is_set(tmp_path):
    clock = Clock(1_000_000, 10e-6, step=300_000_000, step_at=START + 200_000_000)
    analysis = analyze(tmp_path, [Clock(), clock], rounds=500)
    first, second = analysis.clocks[1]["parts"]
    assert analysis.reversed_messages == 0
    assert second["offset"] - first["offset"] == pytest.approx(-0.3, abs=1e-4)


def corrected(parts, time):
    part = max((part for part in parts if part["from"] / 1e9 <= time), key=lambda part: part["from"], default=parts[0])
    return time + part["offset"] + part["drift"] * (time - part["from"] / 1e9)


# By so many nanoseconds, after so many seconds of the run.
WANDERING = {
    "temperature": Clock(5_000_000, 20e-6, wander=lambda seconds: 500_000 * math.sin(2 * math.pi * seconds / 100)),
    "daemon": Clock(wander=lambda seconds: 100_000 * min(max(seconds - 50, 0), 10)),
    "and-set": Clock(0, -50e-6, 300_000_000, START + 77 * 10**9, lambda seconds: 200_000 * math.sin(2 * math.pi * seconds / 60)),
}


@pytest.mark.parametrize("clock", WANDERING.values(), ids=WANDERING)
def test_clock_whose_speed_changes(tmp_path, clock):
    analysis = analyze(tmp_path, [Clock(), clock], rounds=2000, pause=100_000_000)
    assert analysis.reversed_messages == 0
    parts = analysis.clocks[1]["parts"]
    ends = [before["offset"] + before["drift"] * (part["from"] - before["from"]) / 1e9 for before, part in zip(parts, parts[1:])]
    assert [part["jump"] for part in parts[1:] if part["jump"]] == [pytest.approx(-clock.step / 1e9, abs=1e-4)] * (clock.step != 0)
    assert [part["offset"] - part["jump"] for part in parts[1:]] == pytest.approx(ends, abs=1e-8)
    assert len(parts) < 100
    errors = [abs(corrected(parts, clock.show(time) / 1e9 + 1000) - time / 1e9 - 1000) for time in range(START, START + 200 * 10**9, 10**7)]
    assert sorted(errors)[len(errors) * 99 // 100] * 1e9 < LATENCY
    assert max(errors) < analysis.clocks[1]["uncertainty"]


def test_clock_that_is_set_all_the_time(tmp_path):
    """Nothing is right then, but what is said can be read."""
    clock = Clock(wander=lambda seconds: int(seconds * 10) % 2 * 10**9)
    analysis = analyze(tmp_path, [Clock(), clock], rounds=500, pause=10_000_000)
    assert analysis.clocks[1]["uncertainty"] is None
    assert max(abs(part["drift"]) for part in analysis.clocks[1]["parts"]) <= 0.01


def test_few_messages_say_little(tmp_path):
    analysis = analyze(tmp_path, [Clock(), Clock(7_000_000)], rounds=1)
    assert analysis.clocks[1]["uncertainty"] * 1e9 > LATENCY / 2
    assert analysis.clocks[1]["drift"] == 0


def test_messages_in_one_direction_bound_one_side(tmp_path):
    analysis = analyze(tmp_path, [Clock(), Clock(-7_000_000_000)], rounds=10, back=False)
    assert analysis.clocks[1]["uncertainty"] is None
    assert analysis.clocks[1]["offset"] == pytest.approx(7, abs=0.001)
    assert analysis.reversed_messages == 0


def run_of_three(directory, clocks, pause):
    """The first host says little of the others, which talk to each other a lot."""
    luck = random.Random(2)
    lines = ["" for _ in clocks]
    now = START
    for turn in range(400):
        first, second = (0, 1) if turn % 100 == 0 else (0, 2) if turn % 100 == 50 else (1, 2)
        for one, other in ((first, second), (second, first)):
            arrives = now + LATENCY + luck.randrange(LATENCY * (20 if first == 0 else 1))
            lines[one] += message("Send", now, now + 1000, other, clocks[one])
            lines[other] += message("Recv", now, arrives, one, clocks[other])
            now = arrives + pause
    with hdtrace.open(write(directory, clocks, lines)) as project:
        return project.analyze()


def test_hosts_fit_all_that_they_talk_to(tmp_path):
    clocks = [Clock(0), Clock(5_000_000, 80e-6), Clock(-1_000_000_000, -90e-6)]
    analysis = run_of_three(tmp_path, clocks, pause=500_000)
    assert analysis.reversed_messages == 0
    first, second = [row["drift"] + clock.drift for row, clock in zip(analysis.clocks[1:], clocks[1:])]
    assert first == pytest.approx(second, abs=2e-6), "of each other much is known"
    assert analysis.clocks[1]["uncertainty"] * 1e9 > LATENCY


def test_clocks_whose_speed_changes_fit_each_other(tmp_path):
    """By the first host nobody sees it."""
    clocks = [Clock(), Clock(wander=lambda seconds: 200_000 * math.sin(seconds)), Clock(wander=lambda seconds: 200_000 * math.cos(2 * seconds))]
    assert run_of_three(tmp_path, clocks, pause=10_000_000).reversed_messages == 0


OFFSET, DRIFT = 2_500_000_000, 90_000  # nanoseconds, and in a second


@pytest.fixture(scope="module", params=[(OFFSET, DRIFT), (-OFFSET, -DRIFT)], ids=["ahead", "behind"])
def run(request, tmp_path_factory):
    """A real run, half of whose processes were on a host whose clock is wrong, and how it is wrong."""
    offset, drift = request.param
    base = time.time_ns()
    env = {"TEST_CLOCK_BASE": base, "TEST_CLOCK_OFFSET": offset, "TEST_CLOCK_DRIFT": drift}
    run = run_with_tracer("hosts", 4, tmp_path_factory.mktemp("hosts"), env={name: str(value) for name, value in env.items()})
    (path,) = run.trace_directory.glob("*.proj")
    with hdtrace.open(path) as project:
        yield project, lambda shown: base + (shown - offset - base) / (1 + drift * 1e-9)


def test_times_of_a_real_run_are_right(run):
    project, true_time = run
    right, wrong = sorted(project.clocks, key=lambda clock: len(clock["host"]))
    assert (right["offset"], right["drift"], right["uncertainty"]) == (0, 0, 0)
    messages = project.messages().to_dataframe()
    between = messages[messages.source % 2 != messages.destination % 2]
    durations = between.receive_end - between.send_start
    assert len(between) == 1200 and durations.min() > 0
    shown = [call for thread in project.threads if thread.rank % 2 for call in hdtrace.read_trace(thread.path)]
    corrected = [call for call in project.calls(rank=[1, 3])]
    shown.sort(key=lambda call: call.time)
    errors = [abs(now.time - true_time(was.time)) for was, now in zip(shown, corrected)]
    rounding = 1000  # and what the clocks of processes on one host differ
    assert len(shown) == len(corrected)
    assert sorted(errors)[len(errors) // 2] < durations.min() + rounding
    assert max(errors[2:-2]) < 2 * durations.min() + rounding, "between the first message and the last one"
    assert max(errors) <= wrong["uncertainty"] * 1e9 + rounding


def test_commands_have_corrected_times(run, tmp_path):
    project, true_time = run

    def output(command, *arguments):
        return subprocess.run([BUILD / "bin/hdtrace", command, project.path, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    table = [line.split() for line in output("info").splitlines() if line.startswith(project.clocks[0]["host"])]
    assert len(table) == 2 and float(table[1][1]) == pytest.approx(project.clocks[1]["offset"], abs=1e-6)
    assert "reversed" not in output("check")
    assert project.analyze().clocks == project.clocks

    calls = list(project.calls())
    middle = calls[len(calls) // 2].time
    part = output("extract", "--interval", f"{(middle - project.start) / 1e9:.9f}..", "-o", tmp_path / "part")
    with pytest.warns(hdtrace.MergeWarning, match="part of a project"), hdtrace.open(tmp_path / "part") as extracted:
        assert [call.time for call in extracted.calls()][-100:] == [call.time for call in calls][-100:], part
        inside = [call for call in calls if call.end >= middle]
        assert len([call for call in extracted.calls() if call.end >= middle]) == len(inside)
    assert [(call.rank, call.time) for call in project.calls(interval=(middle, None))] == [(call.rank, call.time) for call in inside]


def clock_list(*clocks):
    return f"<ClockList>{''.join(clocks)}</ClockList></Application>"


def part(start, offset, drift):
    return f'<Part from="{start}" offset="{offset}" drift="{drift}"/>'


def open_with(directory, list_of_clocks, lines):
    path = write(directory, [Clock() for _ in lines], lines)
    path.write_text(path.read_text().replace("</Application>", list_of_clocks))
    hdtrace.validate(path)
    return hdtrace.open(path)


def test_readers_add_what_the_project_tells(tmp_path):
    lines = "".join(f"<Barrier cid='0' time='{second}.000000000' end='{second}.500000000' />\n" for second in range(10))
    clocks = clock_list(f'<Clock host="host1" uncertainty="0.000001000">{part("1000.000000000", "-1.000000000", "0.1")}{part("1005.000000000", "2.000000000", "0")}</Clock>',
                        '<Clock host="host0"/>')
    with open_with(tmp_path, clocks, [lines, lines]) as project:
        times = [call.time - 1000 * 10**9 for call in project.calls(rank=1)]
        assert times == [round(1e9 * (second - 1 + second * 0.1 if second < 5 else second + 2)) for second in range(10)]
        assert [call.time for call in project.calls(rank=0)] == [(1000 + second) * 10**9 for second in range(10)]
        late = project.calls(rank=1, interval=(1007 * 10**9, 1009 * 10**9))
        assert [call.time for call in late] == [(1000 + second) * 10**9 for second in (7, 8, 9)]
        first, second = sorted(project.clocks, key=lambda clock: clock["host"])
        assert (first["uncertainty"], second["uncertainty"]) == (None, 1e-6)


def test_time_does_not_go_back_where_a_clock_was_set(tmp_path):
    lines = "".join(f"<Barrier cid='0' time='{second}.000000000' end='{second}.500000000' />\n" for second in range(6))
    clocks = clock_list(f'<Clock host="host0">{part("1000.000000000", "0.000000000", "0")}{part("1003.000000000", "-2.000000000", "0")}</Clock>')
    with open_with(tmp_path, clocks, [lines]) as project:
        calls = [(call.time / 1e9 - 1000, call.end / 1e9 - 1000) for call in project.calls()]
    assert calls == [(0, 0.5), (1, 1.5), (2, 2.5), (2.5, 2.5), (2.5, 2.5), (3, 3.5)]


@pytest.mark.parametrize("clock", [part("x", "0.000000000", "0"), part("1.000000000", "9000000000.000000000", "0"), part("1.000000000", "0.000000000", "0.6"),
                                   part("2.000000000", "0.000000000", "0") + part("1.000000000", "0.000000000", "0"), "<Part/>"])
def test_clocks_that_cannot_be(tmp_path, clock):
    path = write(tmp_path, [Clock()], [""])
    path.write_text(path.read_text().replace("</Application>", clock_list(f'<Clock host="host0">{clock}</Clock>')))
    with pytest.raises(hdtrace.ReadError, match="clock"):
        hdtrace.open(path)


def test_messages_that_stay_reversed_are_found(tmp_path):
    lines = [message("Send", START + 10_000, START + 11_000, 1, Clock()), message("Recv", START, START + 7_000, 0, Clock())]
    with open_with(tmp_path, clock_list('<Clock host="host0"/>', '<Clock host="host1"/>'), lines) as project:
        (finding,) = [finding for finding in project.checker().read(1000) if finding.kind == "reversed-message"]
    assert (finding.rank, finding.severity) == (1, "warning")
    assert finding.text == "1 message from host0 to host1 seems to be received before being sent, by up to 0.000003000 s"
