"""Regions, marks and counters that programs write among their MPI calls, by every interface."""
import re
import subprocess

import hdtrace
import pytest
from support.calls import ANY, Call
from support.checks import info_of, read_info
from support.runs import BUILD, MERGER, SOURCE, only_with, program, ranks, run_with_tracer
from support.runs import run_untraced as run_anew


def events(trace):
    """(kind, name) of the events on lines of their own, and the names of the calls between."""
    return [(state.get("kind", "mark"), state["name"]) if state.is_event else state.name for state in trace]


def described(run, kind):
    """The .info lines of this kind of the first process, by name."""
    return {values["name"]: values for line, values in read_info(info_of(run.paths[0])) if line == kind}


def dumped(run):
    """What `hdtrace dump` says of the merged project."""
    project = next(run.trace_directory.glob("*.proj"))
    return subprocess.run([MERGER.with_name("hdtrace"), "dump", project], capture_output=True, text=True, check=True).stdout


@ranks(1, 2)
def test_regions_stand_among_the_calls(run_traced, ranks):
    for trace in run_traced("regions", ranks):
        assert events(trace) == [
            "Init", "Op_create",
            ("begin", "step"), "Allreduce", ("begin", "solver:smooth <&>"), ("begin", "solver:smooth <&>"),
            ("count", "solver:residual"), ("count", "cells"), "Barrier",
            ("end", "solver:smooth <&>"), ("end", "solver:smooth <&>"), ("mark", "converged"), ("end", "step"),
            ("begin", "first"), ("begin", "second"), ("end", "first"), ("end", "second"),
            ("begin", "first"), ("end", "first"), ("mark", "elsewhere"), "Op_free", "Finalize"]


def test_values_and_texts(run_traced):
    trace = run_traced("regions", 1).traces[0]
    assert Call("Event", name="solver:residual", kind="count", value="0.1") in trace
    assert Call("Event", name="cells", kind="count", value=-2**63) in trace
    assert Call("Event", name="converged", kind=None, text="after 'one'\nstep") in trace


def test_values_are_right_however_the_program_computes(run_traced):
    """And it finds its flags and modes as they were, or says so and ends."""
    run = run_traced("float_counters", 1)
    assert (run.stdout, run.returncode) == ("all is well with 1 ranks\n", 0)
    values = [float(event["value"]) for event in run.traces[0].find(Call("Event", name="value"))]
    expected = [0.1, 0.30000000000000004, -2 / 3, 1e300, 123456.000001, 5e-324]
    assert len(values) >= 7 * len(expected) and values == expected * (len(values) // len(expected))


def test_events_inside_a_call(run_traced):
    """A reduction operator's stand in the call that runs it."""
    for trace in run_traced("regions", 2):
        inside = trace.only(Call("Allreduce")).nested
        assert [(event.get("kind"), event["name"]) for event in inside[:3]] == [
            ("begin", "in operator"), ("end", "in operator"), (None, "in operator")] or not inside
    assert any(trace.only(Call("Allreduce")).nested for trace in run_traced("regions", 2))


def test_events_inside_nested_calls(run_traced):
    for trace in run_traced("regions", 2, {"HDTRACE_NESTED": "1"}):
        assert len(trace.find(Call("Event", name="step"))) == 2


def test_what_is_constant_stands_in_the_info(run_traced):
    run = run_traced("regions", 1)
    regions, counters = described(run, "Region"), described(run, "Counter")
    assert set(regions) == {"step", "solver:smooth <&>", "first", "second", "in operator", "converged", "elsewhere", "work",
                            "nobody sees this"} - ({"in operator"} if not run.traces[0].only(Call("Allreduce")).nested else set())
    assert regions["solver:smooth <&>"]["class"] == "solver"
    assert regions["step"]["file"].endswith("regions.c") and int(regions["step"]["line"]) > 1
    assert counters["cells"] == {"name": "cells", "type": "integer", "scope": "process", "valid": "after"}
    assert counters["solver:residual"] == {
        "name": "solver:residual", "class": "solver", "type": "float", "unit": "1", "lower": "-0.5", "upper": "1e+30",
        "scope": "thread", "valid": "sample", "display": "rate"}


def test_threads_have_their_own_events(run_traced):
    assert events(run_traced("regions", 1).threads[0, 1]) == [("begin", "work"), ("end", "work")]


def test_events_have_places(run_traced):
    """The merged project knows the lines."""
    text = dumped(run_traced("regions", 1))
    assert re.search(r"begin step at iterate \(regions\.c:\d+\)", text), text
    assert re.search(r"mark elsewhere at advance \(model\.f:12\)", text), text


@pytest.mark.parametrize("name", ["regions", "regions_cpp"])
def test_untraced_programs_run_as_they_are(run_untraced, name):
    run = run_untraced(name, 2)
    assert (run.returncode, run.stderr) == (0, "")


def test_regions_in_cpp_end_with_their_block(run_traced):
    run = run_traced("regions_cpp", 1, complete=False)
    assert run.stderr == "hdtrace: region, mark or counter 'too early': before MPI_Init: it is not recorded; further ones are not reported\n"
    assert events(run.traces[0]) == [
        "Init", ("begin", "outer"), "Barrier", ("begin", "numerics:solve"), ("begin", "numerics:solve"),
        ("end", "numerics:solve"), ("end", "numerics:solve"), ("mark", "caught"),
        ("begin", "by/name"), "Barrier", ("end", "by/name"), "Barrier", ("end", "outer"), "Finalize"]


def test_named_levels_of_pcontrol(run_traced):
    run = run_traced("pcontrol_names", 1, complete=False)
    trace = run.traces[0]
    assert run.returncode == 0 and run.stderr.count("it has no name") == 1
    assert [event for event in events(trace) if event != "Pcontrol"] == [
        "Init", ("begin", "outer"), ("begin", "inner"), ("mark", "a mark"), ("end", "inner"), ("end", "outer"), "Finalize"]
    levels = [(state["level"], state["site"]) for state in trace if state.name == "Pcontrol"]
    assert [int(level) for level, _ in levels] == [100, 100, 101, -100, -100, -1, 3, 4, 5, 99, 1, 100, 100]
    assert len({site for _, site in levels}) == 8
    outer = trace.find(Call("Event", name="outer"))
    assert (outer[0]["site"], outer[1]["site"]) == (levels[0][1], levels[4][1])


def test_named_levels_untraced(run_untraced):
    run = run_untraced("pcontrol_names", 1)
    assert (run.returncode, run.stderr) == (0, "")


def test_the_interface_of_the_collector(run_traced):
    run = run_traced("vt", 1, complete=False)
    assert run.returncode == 0, run.stderr
    solve, copy = "numerics:solver:solve", "MPI:COPY"
    assert events(run.traces[0]) == [
        "Init", ("mark", "thread name"), ("begin", solve), ("begin", "phase"), ("begin", "other phase"), ("begin", "interface:old"), ("begin", solve),
        ("end", solve), ("end", "interface:old"), ("end", "phase"), "Barrier", ("count", "numerics:solver:load"), ("count", "wide"),
        ("count", "split"), ("end", solve), ("end", "other phase"), ("mark", "comment"), ("begin", copy), ("end", copy), "Finalize"]
    values = [event["value"] for event in run.traces[0].find(Call("Event", kind="count"))]
    assert values == ["12.5", "-7", str(2**33 - 1)]
    assert Call("Event", name="comment", text="a comment") in run.traces[0]
    assert described(run, "Region")[solve]["class"] == "numerics:solver"
    assert described(run, "Region")["phase"]["file"] == "model.f"
    assert described(run, "Group") == {"some": {"name": "some", "members": "2;1.3;"}}
    assert described(run, "Counter") == {
        "numerics:solver:load": {"name": "numerics:solver:load", "class": "numerics:solver", "type": "float", "unit": "%", "lower": "0",
                                 "upper": "100", "scope": "thread", "valid": "sample", "display": "rate"},
        "wide": {"name": "wide", "type": "integer", "unit": "B", "lower": "-1", "upper": "1", "scope": "group", "of": "some", "valid": "after"},
        "split": {"name": "split", "type": "integer", "scope": "node", "valid": "after"}}


def test_the_classes_of_the_collector(run_traced):
    names = [("begin", "main:call"), ("begin", "C++:handles"), ("begin", "C++:no handles"), ("end", "C++:no handles"), ("end", "C++:handles"),
             ("end", "main:call"), "Barrier", ("begin", "main:second"), "Finalize"]
    assert events(run_traced("vt_cpp", 1, complete=False).traces[0]) == ["Init", *names]


@pytest.mark.parametrize("name", ["vt", "vt_cpp"])
def test_programs_for_the_collector_run_untraced(run_untraced, name):
    run = run_untraced(name, 1)
    assert (run.returncode, run.stderr) == (0, "")


FORTRAN = pytest.mark.skipif(not program("regions_fortran").exists(), reason="no Fortran compiler for this MPI library")


@FORTRAN
def test_regions_in_fortran(run_traced):
    run = run_traced("regions_fortran", 1, complete=False)
    assert run.stdout.splitlines() == ["early: 800200", "not open: 800203", "long: 800206", "type: 800207"]
    assert events(run.traces[0]) == [
        "Init", ("begin", "solve"), ("begin", "solver:smooth"), ("count", "solver:residual"), ("count", "solver:residual"), ("count", "cells"),
        ("count", "cells"), "Barrier", ("mark", "converged"), ("mark", "solver:smooth"), ("end", "solver:smooth"), ("end", "solve"),
        ("begin", "by name"), ("end", "by name"), "Finalize"]
    assert [event["value"] for event in run.traces[0].find(Call("Event", kind="count"))] == ["0.25", "0.5", "3", "-4000000000"]
    assert Call("Event", name="converged", text="after one step") in run.traces[0]
    assert described(run, "Counter")["solver:residual"] == {
        "name": "solver:residual", "class": "solver", "type": "float", "unit": "1", "lower": "0", "upper": "1", "scope": "thread",
        "valid": "after", "display": "rate"}


@FORTRAN
def test_fortran_runs_untraced(run_untraced):
    run = run_untraced("regions_fortran", 1)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines() == ["early: 0", "not open: 0", "long: 0", "type: 0"]


PYTHON_PROGRAM = """
from mpi4py import MPI
from {module} import counter, mark, region

residual = counter("residual", unit="1", upper=1.0, scope="thread", rate=True)
cells = counter("cells", int, group="grid")

@region("step")
def step(number):
    if number == 0:
        raise RuntimeError
    with region("inner", group="solver") as again, again:
        MPI.COMM_WORLD.Barrier()
        step(number - 1)

try:
    step(1)
except RuntimeError:
    mark("failed", "<as expected>")
residual(0.75)
cells(-3)
"""


@pytest.fixture(params=["hdtrace", "copy_of_regions"])
def python_program(request, tmp_path, monkeypatch):
    """A program that uses the package, or a copy of its one file."""
    path = tmp_path / "solver.py"
    path.write_text(PYTHON_PROGRAM.format(module=request.param))
    if request.param == "hdtrace":
        monkeypatch.setenv("PYTHONPATH", str(BUILD / "python"))
    else:
        monkeypatch.delenv("PYTHONPATH", raising=False)
        (tmp_path / "copy_of_regions.py").write_bytes((SOURCE / "python/hdtrace/regions.py").read_bytes())
    return path


@only_with("Open MPI")  # Debian's mpi4py is made for it
def test_regions_in_python(python_program, tmp_path):
    run = run_with_tracer("/usr/bin/python3", 2, tmp_path, args=(python_program,))
    for trace in run:
        own = [event for event in events(trace) if event not in ("Init_thread", "Finalize")]
        assert own == [
            ("begin", "step"), ("begin", "solver:inner"), ("begin", "solver:inner"), "Barrier", ("begin", "step"), ("end", "step"),
            ("end", "solver:inner"), ("end", "solver:inner"), ("end", "step"), ("mark", "failed"), ("count", "residual"),
            ("count", "grid:cells")]
        assert Call("Event", name="failed", text="<as expected>") in trace
        assert Call("Event", name="residual", kind="count", value="0.75") in trace
        assert Call("Event", name="grid:cells", kind="count", value="-3") in trace
    assert described(run, "Region")["step"]["file"].endswith("solver.py")
    assert described(run, "Region")["step"]["line"] == "8"


@only_with("Open MPI")
def test_python_runs_untraced(python_program, tmp_path):
    run = run_anew("/usr/bin/python3", 1, tmp_path, args=(python_program,))
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


NOT_STARTED, ENDED, NOT_TRACED, NOT_OPEN, _, NAME, LONG, TYPE, _, MANY = range(1, 11)


@pytest.fixture(scope="module")
def misuse(run_traced):
    run = run_traced("regions_misuse", 1, complete=False)
    assert run.returncode == 0
    return run


def test_wrong_use_is_an_error(misuse):
    assert dict(line.rsplit(": ", 1) for line in misuse.stdout.splitlines()) == {what: str(error) for what, error in {
        "begin before Init": NOT_STARTED, "end before Init": NOT_STARTED, "end of what never began": NOT_OPEN,
        "end of nothing": NOT_OPEN, "begin": 0, "end of another": NOT_OPEN, "end": 0, "end again": NOT_OPEN, "no name": NAME,
        "null name": NAME, "long name": LONG, "longest name": 0, "long text": LONG, "longest text": 0, "bad bytes": 0, "integer": 0,
        "float for integer": TYPE, "other type of the same name": TYPE, "never ended": 0, "child": NOT_TRACED, "crowd": 0,
        "one too many": MANY,
        "end after Finalize": ENDED, "mark after Finalize": ENDED}.items()}


def test_wrong_use_is_reported_once(misuse):
    lines = misuse.stderr.splitlines()
    assert len(lines) == 8 and all(line.startswith("hdtrace: region, mark or counter") for line in lines), lines
    for message in ("'good': before MPI_Init", "'other': after MPI_Finalize", "'good': in a forked child", "'good': the thread that leaves",
                    "it has no name", "is too long", "'number': the counter has another type", "too many names"):
        assert sum(message in line for line in lines) == 1, message


def test_wrong_use_leaves_whole_traces(misuse):
    assert events(misuse.traces[0]) == [
        "Init", ("begin", "good"), ("end", "good"), ("mark", 255 * "n"), ("mark", "good"), ("mark", "good"), ("count", "number"),
        ("begin", "other"), "Comm_dup", "Comm_free", "Finalize"]
    assert len(misuse.traces[0].only(Call("Comm_dup")).nested) == 100_000
    texts = [event["text"] for event in misuse.traces[0].find(Call("Event", name="good", text=ANY))]
    assert texts == [1000 * "<", "\ufffd\ufffd\ufffd"]


def test_untraced_programs_are_told_nothing(run_untraced):
    run = run_untraced("regions_misuse", 1)
    assert run.stderr == "" and all(line.endswith(": 0") for line in run.stdout.splitlines())


def test_signal_handlers(run_traced):
    run = run_traced("regions_signals", 1, complete=False)
    assert run.returncode == 0 and all("a signal handler interrupted the tracer" in line for line in run.stderr.splitlines())
    recorded = int(run.stdout.split()[0])
    trace = run.traces[0]
    in_handler = [event for event in trace.everything() if event.is_event and event["name"] in ("tick", "in handler")]
    begun = sum(event.get("kind") == "begin" for event in in_handler)
    assert sum(event.get("kind") in (None, "end") for event in in_handler) == recorded + 2
    assert begun == sum(event.get("kind") == "end" for event in in_handler)
    assert len(trace.find(Call("Event", name="step"))) == 40000 and len(trace.find(Call("Bcast"))) == 20000


def test_statistics_and_checks_read_them(run_traced):
    run = run_traced("regions", 2)
    project = run.trace_directory / "regions.proj"
    assert run.project.process_count == 2
    for command in ("stats", "check", "info"):
        result = subprocess.run([MERGER.with_name("hdtrace"), command, project], capture_output=True, text=True)
        said = f"hdtrace: {project}: 2 calls are left out, as was asked for: Barrier (2)\n"  # by MPI_Pcontrol
        assert result.returncode == 0 and result.stderr.startswith(said), result
        assert command != "stats" or re.search(r"^solver:smooth <&> +4 ", result.stdout, re.MULTILINE), result.stdout
    assert hdtrace.open(project)
