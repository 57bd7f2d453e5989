"""Traces that Python programs write are read back."""
import re
import tomllib
from pathlib import Path

import hdtrace
import pytest

SOURCE = Path(__file__).resolve().parents[2]
PLACE = {"Host": "node01", "Worker": 3}


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(tmp_path))
    return tmp_path


@pytest.fixture
def read(directory):
    """Reads what was written to adder_node01_3."""
    def read():
        hdtrace.validate(directory / "adder_node01_3.trc")
        return hdtrace.read_trace(directory / "adder_node01_3.trc")
    return read


def test_states_and_events(read):
    with hdtrace.TraceWriter("adder", PLACE) as trace:
        with trace.state("Step", number=1, comment="a < 'b' & \"c\"\n"):
            with trace.state("Sum"):
                pass
            trace.set(weight=0.25)
            trace.element("Result", value="100% <'\">", count=2)
        trace.event("done")
    begin, inner, end, event = read()
    assert [(mark["name"], mark["kind"]) for mark in (begin, end)] == [("Step", "begin"), ("Step", "end")]
    assert [(child.name, child.attributes) for child in end.children] == [
        ("Step", {"number": "1", "comment": "a < 'b' & \"c\"\n", "weight": "0.25"}), ("Result", {"value": "100% <'\">", "count": "2"})]
    assert inner.name == "Sum" and begin.time <= inner.time <= inner.end <= end.time <= event.time
    assert event.is_event and event["name"] == "done"


def test_info(directory):
    text = "it's \"one\"\\\n\t\x01\x7fü"
    with hdtrace.TraceWriter("adder", PLACE) as trace:
        assert trace.name == "adder_node01_3"
        trace.info("Adder", steps=3, text=text)
    (line,) = [line for line in hdtrace.Info(directory / "adder_node01_3.info").lines if line.kind == "Adder"]
    assert line.values == {"steps": "3", "text": text}
    written = (directory / "adder_node01_3.info").read_text()
    assert r"""Adder steps=3 text='it\'s \"one\"\\\n\t\x01\x7fü'""" in written.splitlines()


def test_an_exception_ends_its_states(read):
    with pytest.raises(ZeroDivisionError), hdtrace.TraceWriter("adder", PLACE) as trace:
        with trace.state("Outer"), trace.state("Inner"):
            1 / 0
    begin, inner, end = read()
    assert (begin["name"], inner.name, end["name"]) == ("Outer", "Inner", "Outer")


def test_as_a_decorator(read):
    with hdtrace.TraceWriter("adder", PLACE) as trace:
        @trace.state("Add")
        def add(a, b):
            return a + b

        assert add(1, 2) + add(3, 4) == 10
    assert [state.name for state in read()] == ["Add", "Add"]


def test_recording_can_be_switched_off(read):
    with hdtrace.TraceWriter("adder", PLACE) as trace:
        assert trace.enabled
        trace.enabled = False
        with trace.state("Hidden"):
            pass
        trace.enabled = True
        trace.event("seen")
    assert [state.name for state in read()] == ["Event"]


def test_flush(directory):
    with hdtrace.TraceWriter("adder", PLACE, force_flush=False) as trace:
        trace.event("here")
        assert "here" not in (directory / "adder_node01_3.trc").read_text()
        trace.flush()
        assert "here" in (directory / "adder_node01_3.trc").read_text()


def test_force_flush(directory):
    with hdtrace.TraceWriter("adder", PLACE, force_flush=True) as trace:
        trace.event("here")
        assert "here" in (directory / "adder_node01_3.trc").read_text()


def test_wrong_use(read):
    with pytest.raises(ValueError):
        hdtrace.TraceWriter("adder", {})
    trace = hdtrace.TraceWriter("adder", PLACE)
    for use in (lambda: trace.set(a=1), lambda: trace.element("Result"), lambda: trace.event("")):
        with pytest.raises(ValueError):
            use()
    for name in ("no name", "Event", ""):
        with pytest.raises(ValueError), trace.state(name):
            pytest.fail("the state was begun")
    with trace.state("Good"), pytest.raises(ValueError):
        trace.set(time=1)
    trace.close()
    trace.close()
    with pytest.raises(ValueError):
        trace.event("too late")
    assert [state.name for state in read()] == ["Good"]


def test_texts_with_a_null_character(read):
    """Nothing is cut off there."""
    for labels in ({"Host": "a\0b"}, {"Ho\0st": "a"}):
        with pytest.raises(ValueError):
            hdtrace.TraceWriter("adder", labels)
    with pytest.raises(ValueError):
        hdtrace.TraceWriter("add\0er", PLACE)
    with hdtrace.TraceWriter("adder", PLACE) as trace:
        with pytest.raises(ValueError), trace.state("St\0ep"):
            pytest.fail("the state was begun")
        with trace.state("Step"):
            for use in (lambda: trace.set(text="a\0b"), lambda: trace.set(**{"a\0b": 1}), lambda: trace.element("Result\0"),
                        lambda: trace.element("Result", text="a\0b"), lambda: trace.event("a\0b"), lambda: trace.info("Ad\0der")):
                with pytest.raises(ValueError):
                    use()
    (step,) = read()
    assert (step.name, step.children, list(step.attributes)) == ("Step", [], [])


def test_states_that_are_too_deep(read):
    def nest(trace, depth):
        with trace.state("Level"):
            nest(trace, depth + 1)

    with hdtrace.TraceWriter("adder", PLACE) as trace, pytest.raises(ValueError):
        nest(trace, 1)
    *_, outermost = read()
    assert (outermost["name"], outermost["kind"]) == ("Level", "end")


def test_a_directory_that_cannot_be_made(directory, monkeypatch):
    (directory / "file").touch()
    monkeypatch.setenv("HDTRACE_DIRECTORY", str(directory / "file"))
    with pytest.raises(OSError) as error:
        hdtrace.TraceWriter("adder", PLACE)
    assert error.value.errno


def test_traces_that_look_like_those_of_mpi_programs(directory):
    for rank in range(2):
        with hdtrace.TraceWriter("adder", {"Hostname": "node01", "Rank": rank, "Thread": 0}) as trace:
            with trace.state("Step"):
                pass
    assert [(t.rank, t.thread) for t in map(hdtrace.Trace, sorted(directory.glob("*.trc")))] == [(0, 0), (1, 0)]


def test_documented_settings_are_those_that_are_understood(monkeypatch):
    (listed,) = re.findall(r"\*\*Settings:\*\* (.*?) as\s", (SOURCE / "docs/library.md").read_text(), re.DOTALL)
    settings = tomllib.loads((SOURCE / "hdtrace/options.toml").read_text())
    understood = {"HDTRACE_DIRECTORY"}  # as all these tests show; the others refuse what makes no sense
    for setting in settings.keys() - {"DIRECTORY"}:
        with monkeypatch.context() as patch:
            patch.setenv(f"HDTRACE_{setting}", "of no use")
            try:
                hdtrace.TraceWriter("adder", PLACE).close()
            except ValueError:
                understood.add(f"HDTRACE_{setting}")
    assert set(re.findall(r"HDTRACE_\w+", listed)) == understood
