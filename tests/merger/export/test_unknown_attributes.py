"""What traces of other versions tell of calls besides passes through all tools untouched, and changes nothing that they make."""
import subprocess

import hdtrace
import pytest
from archives import events, place
from conversions import convert
from support.runs import BUILD

INFO = ("Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\nComm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"
        "File name='/data/a' Size=0 id=0 time=0.1\n")
CALLS = (
    "<Send size='4' count='1' tid='0' toRank='1' toTag='3' cid='0'{cpu} time='1.000000000' end='2.000000000' />\n"
    "<Nested><Type_size tid='0'{cpu} time='2.100000000' end='2.200000000' /></Nested>"
    "<Barrier cid='0'{cpu} time='2.000000000' end='3.000000000' >{child}</Barrier>\n"
    "<File_write_at fid='0' offset='0' size='4' count='1' tid='0'{cpu} time='4.000000000' end='5.000000000' />\n"
    "<Event name='here'{cpu} time='6.000000000' />\n")
RECEIVER = (
    "<Recv size='4' count='1' tid='0' fromRank='0' fromTag='3' cid='0' time='1.000000000' end='2.000000000' />\n"
    "<Barrier cid='0' time='2.000000000' end='3.000000000' />\n")
MORE = {"cpu": " cpu='0.000001234' colour='r&amp;b'", "child": "<Cache misses='3' />"}
PLAIN = {"cpu": "", "child": ""}


@pytest.fixture
def write(run):
    def write(more, end="</Program>\n"):
        run.process(0, INFO, CALLS.format(**more), size=2)
        run.trace(0, CALLS.format(**more), end=end)
        run.process(1, INFO, RECEIVER, size=2)
        return run

    return write


def dumped(folder):
    command = [BUILD / "bin/hdtrace", "dump", "--xml", folder / "app.proj"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_readers_hand_them_out(write, tmp_path):
    write(MORE).merge_cleanly()
    with hdtrace.open(tmp_path / "app.proj") as project:
        states = {state.name: state for call in project.calls(rank=0) for state in (call, *call.nested)}
        assert len(project.calls(rank=0).to_columns()["name"]) == 4
    assert states.keys() == {"Send", "Type_size", "Barrier", "File_write_at", "Event"}
    assert {(state["cpu"], state["colour"]) for state in states.values()} == {("0.000001234", "r&b")}
    (child,) = states["Barrier"].children
    assert (child.name, child.attributes) == ("Cache", {"misses": "3"})
    assert dumped(tmp_path).count(MORE["cpu"]) == 5 and MORE["child"] in dumped(tmp_path)


def test_repaired_traces_keep_them(write, tmp_path):
    result = write(MORE, end="<Barr").merge("app")
    assert result.code == 0 and "app_node01_0_0.trc" in result.stderr
    assert CALLS.format(**MORE) in (tmp_path / "app_node01_0_0.trc").read_text()
    assert dumped(tmp_path).count(MORE["cpu"]) == 5


@pytest.mark.parametrize("to", ["otf2", "tit", "ioplot"])
def test_converters_make_the_same(write, tmp_path, to):
    made = []
    for name, more in (("with", MORE), ("without", PLAIN)):
        write(more).merge_cleanly("app", "--overwrite")
        output = tmp_path / name
        conversion = convert(tmp_path / "app.proj", to, output)
        if to == "otf2":
            content = [(place(location), type(event).__name__, event.time, {key.name: value for key, value in (event.attributes or {}).items()})
                       for location, event in events(output / "traces.otf2")]
            content.sort(key=lambda event: event[0])
        else:
            files = sorted(path for path in output.rglob("*") if path.is_file()) if output.is_dir() else [output]
            content = [path.read_bytes().replace(name.encode(), b"") for path in files]
        made.append((conversion, content))
    assert made[0] == made[1] and made[0][1]
