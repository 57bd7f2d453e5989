"""Calls in which their process ended are told, and what was inside them is there."""
import pytest
from archives import events, messages
from conversions import convert

DROPPED = {"calls in which the process ended": 4}


@pytest.fixture
def project(run, tmp_path):
    """The first of two messages was inside a call that did not end; another was received in vain."""
    end = "{} size='8' count='1' tid='0' cid='0' time='{}.1' end='{}.2' />"
    for rank, (send, receive) in enumerate([("<Send toRank='1' toTag='{}'", ""), ("", "<Recv fromRank='0' fromTag='{}'")]):
        inner, outer = (end.format((send or receive).format(time), time, time) for time in (2, 1))
        calls = f"{outer}\n<Nested>{inner}</Nested><Comm_free time='2.0' end='3.0' unfinished='1' />\n<{'Recv' if rank else 'Test'} time='4.0' end='5.0' unfinished='1' />\n"
        run.process(rank, "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\nComm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n", calls, size=2)
    run.merge("--no-audit", "app")
    return tmp_path / "app.proj"


def test_otf2(project, tmp_path):
    conversion = convert(project, "otf2", tmp_path / "otf2")
    path = tmp_path / "otf2/traces.otf2"
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (6, {}, {})
    sent, received = messages(path)
    assert sent == received and sent.total() == 2
    regions = [event.region.name for location, event in events(path, "Enter") if location.group.name == "Rank 1"]
    assert regions == ["MPI_Recv", "MPI_Comm_free", "MPI_Recv", "MPI_Recv"]


@pytest.mark.parametrize("to", ["tit", "dumpi"])
def test_formats_without_them(project, tmp_path, to):
    conversion = convert(project, to, tmp_path / "out")
    assert (conversion.exact + sum(conversion.approximated.values()), conversion.dropped) == (2, DROPPED)


@pytest.mark.parametrize("failed", [0, 1])
def test_a_replay_has_the_calls_inside_what_the_program_marks(run, tmp_path, failed):
    """As traces of earlier versions have it. Where a call failed, messages are matched first."""
    message = "{} size='8' count='1' tid='0' cid='0' time='1.0' end='1.2' />"
    before = failed * "<Barrier cid='0' rc='MPI_ERR_COMM' time='0.5' end='1.0' />\n"
    for rank, call in enumerate(["<Send toRank='1' toTag='1'", "<Recv fromRank='0' fromTag='1'"]):
        step = f"<Nested>{message.format(call)}</Nested><Step time='1.0' end='3.0' unfinished='1' />\n"
        run.process(rank, "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n", before + step, size=2)
    run.merge("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "tit", tmp_path / "tit")
    assert (tmp_path / "tit/rank-0.txt").read_text().splitlines() == ["0 init", "0 send 1 1 8 6", "0 finalize"]
    assert conversion.exact == 2 and conversion.dropped["calls in which the process ended"] == 2


def test_ioplot(run, tmp_path):
    run.process(0, "File name='/a' Size=0 id=0 time=0.1\n", "<File_write time='1.0' end='2.0' unfinished='1' />\n", size=1)
    run.merge("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "ioplot", tmp_path / "plot")
    assert conversion.dropped == {"accesses in which the process ended, of whatever file": 1}
