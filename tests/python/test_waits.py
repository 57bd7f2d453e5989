"""Who waited for whom, in traces of a few lines."""
import random

import hdtrace
import pytest
from projects_of_lines import write_project

MESSAGE = "source='1' tag='5' fromRank='1' fromTag='5' cid='0' size='4'"


def line(call, begin, end, more=""):
    return f"<{call} {more} time='{begin}' end='{end}' />\n"


def received(begin, end, mid=None):
    name, more = ("Recv", "") if mid is None else ("Mrecv", f"mid='{mid}' ")
    return line(name, begin, end, f"{more}fromRank='1' fromTag='5' cid='0' size='4' count='1' tid='0'")


def sent(begin, end):
    return line("Send", begin, end, "toRank='0' toTag='5' cid='0' size='4' count='1' tid='0'")


def taken(mid, begin, end):
    return line("Mprobe", begin, end, f"{MESSAGE} mid='{mid}'")


def waits(tmp_path, *traces):
    with hdtrace.open(write_project(tmp_path, *traces)) as project:
        return [(wait["rank"], wait["call"], wait["kind"], round(wait["seconds"], 3)) for wait in project.analyze().wait_states]


@pytest.mark.parametrize("fetched", ["in order", "in the other order", "at once"])
def test_a_probe_that_takes_a_message_waits_for_that_one(tmp_path, fetched):
    probes = taken(0, 1, 1.5), taken(1, 2, 9.1)
    mine = {"in order": probes[0] + probes[1] + received(10, 10.1, 0) + received(10.2, 10.3, 1),
            "in the other order": probes[0] + probes[1] + received(10, 10.1, 1) + received(10.2, 10.3, 0),
            "at once": probes[0] + received(1.6, 1.7, 0) + probes[1] + received(10.2, 10.3, 1)}[fetched]
    ((rank, call, kind, seconds),) = waits(tmp_path, mine, sent(0.5, 0.6) + sent(9, 9.05))
    assert (rank, call, seconds) == (0, "Mprobe", 7.0) and kind in ("late-sender", "wrong-order"), "one message was not fetched yet"


def test_who_was_told_of_an_error_waited_for_nobody(tmp_path):
    failed = "cid='0' rc='MPI_ERR_REVOKED'"
    assert not waits(tmp_path, line("Barrier", 1, 1.5, failed), line("Barrier", 5, 5.001, failed))
    (tmp_path / "right").mkdir()
    assert waits(tmp_path / "right", line("Barrier", 1, 5.001, "cid='0'"), line("Barrier", 5, 5.001, "cid='0'"))


@pytest.mark.parametrize("probes", [0, 1, 2])
def test_a_message_that_goes_back_in_time_is_one_however_often_it_was_looked_for(tmp_path, probes):
    looks = "".join(line("Probe", 1 + number, 1.5 + number, MESSAGE) for number in range(probes))
    with hdtrace.open(write_project(tmp_path, looks + received(3.5, 4), sent(5, 6))) as project:
        assert project.analyze().reversed_messages == 1


def random_calls(rng):
    traces, rids = ["", ""], [0, 0]
    for number in range(rng.randrange(4, 30)):
        rank = rng.randrange(2)
        call = rng.choice(["Isend", "Irecv", "Send", "Recv"])
        side = "to" if "end" in call else "from"
        more = f"{side}Rank='{1 - rank}' {side}Tag='5' cid='0' size='400' count='100' tid='0'"
        if call.startswith("I"):
            more += f" rid='{rids[rank]}'"
            rids[rank] += 1
        traces[rank] += line(call, 1 + number, 1.5 + number, more)
    return traces


def test_requests_are_in_flight_also_where_rules_leave_out_one_side(tmp_path):
    """The rule is about calls that the program does not make: nothing is missing."""
    rule = '<Run><Rule ranks="0..1;" record="none" call="Bsend" size=":100"/></Run></Application>'
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = write_project(folder, *random_calls(random.Random(seed)))
        started = [trace.count(" rid=") for trace in random_calls(random.Random(seed))]
        path.write_text(path.read_text().replace("</Application>", rule))
        with pytest.warns(hdtrace.MergeWarning), hdtrace.open(path) as project:
            assert len(project.pending(at=10**12).requests) == sum(started), "none is waited for"
