"""What the environment changes, and what becomes of values that are wrong."""
import os
import subprocess
import tomllib

import hdtrace
import pytest
from support.calls import Call
from support.runs import LAUNCHER, NO_TRACE, SOURCE, TIMEOUT, WRAPPER, only_with, preload, ranks, romio, run_untraced, run_with_tracer

TABLE = tomllib.loads((SOURCE / "hdtrace/options.toml").read_text())

ORDINARY = {"Init", "Finalize"}
QUERIES = {"Comm_rank", "Comm_size"}


@pytest.mark.parametrize("level, logged, not_logged", [
    (0, set(), ORDINARY | QUERIES), (1, ORDINARY, QUERIES), (2, ORDINARY | QUERIES, set())])
def test_all_functions(run_traced, level, logged, not_logged):
    for trace in run_traced("send_modes", 2, {"HDTRACE_ALL_FUNCTIONS": str(level)}):
        names = set(trace.names())
        assert logged <= names and not names & not_logged
        assert {"Wait", "Ssend"} <= names, "what has attributes or completes something is always there"


def test_split_ends_are_no_ordinary_functions(run_traced):
    for trace in run_traced("io_explicit", 2, {"HDTRACE_ALL_FUNCTIONS": "0"}):
        begins = [state["rid"] for state in trace if state.name.endswith("_begin")]
        waits = [child["rid"] for state in trace.find(Call("Wait")) for child in state.children]
        assert len(begins) == 2 and set(begins) <= set(waits)


@ranks(1, 2, 3)
def test_nested_calls_are_logged_on_demand(run_traced, ranks):
    for trace in run_traced("nested", ranks, {"HDTRACE_NESTED": "1"}):
        dup = trace.only(Call("Comm_dup"))
        assert [inner.name for inner in dup.nested if inner.name == "Barrier"] == ["Barrier"]
        assert "Barrier" not in trace.names()
    for trace in run_traced("nested", ranks):
        assert Call("Comm_dup") in trace and Call("Barrier") not in trace


def test_nested_calls_are_logged_to_a_depth(run_traced):
    (trace,) = run_traced("nested_deep", 1, {"HDTRACE_NESTED": "1", "HDTRACE_ALL_FUNCTIONS": "2"})
    (state,), depth = [state for state in trace if state.name == "Reduce_local"], 1
    while state.nested:
        (state,) = state.nested
        depth += 1
    assert state.name == "Reduce_local" and depth == 32  # HD_LOG_MAX_DEPTH in hdTrace.h


@only_with("MPICH")
def test_calls_inside_the_mpi_library(run_traced):
    for trace in run_traced("io_views", 2, {"HDTRACE_NESTED": "1"}):
        assert trace.only(Call("File_open")).nested


WITH_ROMIO = pytest.mark.skipif(not romio(), reason="the MPI library has no component romio")


@WITH_ROMIO
def test_calls_inside_romio(run_traced):
    for trace in run_traced("io_views", 2, {"HDTRACE_NESTED": "1"}, mpirun=("--mca", "io", romio())):
        assert any(state.nested for state in trace if state.name.startswith("File_"))


@WITH_ROMIO
def test_the_request_of_a_call_is_that_of_the_call_inside_it(run_traced):
    for trace in run_traced("io_nonblocking", 2, {"HDTRACE_NESTED": "1"}, mpirun=("--mca", "io", romio())):
        accesses = [state for state in trace if state.name in ("File_iwrite_at", "File_iread_at")]
        rids = [access["rid"] for access in accesses]
        assert len(set(rids)) == len(rids) == 6
        for access in accesses:
            inner = [state["rid"] for state in access.nested if state.name.startswith("Grequest_")]
            assert inner and set(inner) == {access["rid"]}
        assert [child["rid"] for state in trace.find(Call("Wait")) for child in state.children] == rids


def test_the_trace_is_the_same_without_buffering(run_traced):
    def shape(run):
        return [[(state.name, len(state.children)) for state in trace] for trace in run]

    assert shape(run_traced("send_modes", 2)) == shape(run_traced("send_modes", 2, {"HDTRACE_FORCE_FLUSH": "1"}))


def test_the_name_of_the_trace(run_traced):
    run = run_traced("init_null", 1, {"HDTRACE_NAME": "my app"})
    assert [path.name.split("_")[0] for path in run.trace_directory.glob("*.trc")] == ["my-app"]


@ranks(1, 2)
def test_runs_keep_apart(tmp_path_factory, ranks):
    runs = [run_with_tracer("init_null", ranks, tmp_path_factory.mktemp(which), {"HDTRACE_RUNS_APART": "1"}) for which in ("one", "other")]
    names = [{path.name.split("_")[0] for path in run.trace_directory.glob("*.trc")} for run in runs]
    assert len(names[0]) == len(names[1]) == 1 and names[0] != names[1], "one in all processes"
    assert all(name.startswith("init-null-") for name in names[0] | names[1])


@pytest.mark.parametrize("name, base", [("-rf", "xrf"), ("../a\nb", "..-a-b"), ("/a", "xa"), ("ä", "x-")])
def test_no_name_leads_elsewhere_or_looks_like_an_option(run_traced, name, base):
    run = run_traced("init_null", 1, {"HDTRACE_NAME": name})
    assert {path.name.split("_")[0] for path in run.trace_directory.iterdir() if path.suffix != ".proj"} == {base}
    assert [path.name for path in run.directory.iterdir()] == ["trace"]


WRONG_VALUES = [
    ("FOLLOW", "yes", "0 or 1"), ("RUNS_APART", "yes", "0 or 1"), ("NESTED", "2", "0 or 1"), ("FILE_INFO", "01", "0 or 1"), ("FORCE_FLUSH", " 1", "0 or 1"), ("FOR_CHECK", "2", "0 or 1"), ("STATISTICS_ONLY", "yes", "0 or 1"), ("REUSE_THREADS", "on", "0 or 1"),
    ("ALL_FUNCTIONS", "3", "a number from 0 to 2"), ("CALL_SITES", "65", "a number from 0 to 64"), ("VERBOSITY", "4", "a number from 0 to 3"), ("WATCHPOINTS", "5", "a number from 0 to 4"),
    ("FLUSH_SECONDS", "1K", "a number of seconds from 0 to 3600"), ("FLUSH_SECONDS", " 1", "a number of seconds from 0 to 3600"),
    ("TIME_DIGITS", "10", "a number of digits from 6 to 9"),
    ("BUFFER_SIZE", "4095", "a number of bytes of at least 4K, e.g. 256K"), ("BUFFER_SIZE", "64KB", "a number of bytes of at least 4K, e.g. 256K"),
    ("CPU_TIME", "2", "0 or 1"), ("COUNTER_DELAY", "100", "a time such as 100ms, 1s, or 0"), ("COUNTER_DELAY", "1 s", "a time such as 100ms, 1s, or 0"),
    ("LIMIT", "1000K", "a number of bytes of at least 1M, e.g. 2G"), ("KEEP_LAST", "60", "a number of bytes of at least 2M or a time above 0, e.g. 64M or 60s"),
    ("KEEP_LAST", "0", "a number of bytes of at least 2M or a time above 0, e.g. 64M or 60s"), ("KEEP_LAST", "0s", "a number of bytes of at least 2M or a time above 0, e.g. 64M or 60s"),
    ("FORM", "text", "auto, xml or compact"), ("FILES", "host", "process or node"), ("COMPRESS", "zst", "none, zstd or gzip"), ("NOTE", "why", "key=value, each in a line of its own")]
wrong_values = pytest.mark.parametrize("key, value, expected", WRONG_VALUES, ids=lambda text: text)


def run_in(environment, *command):
    """A command with only these settings."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("HDTRACE_")}
    return subprocess.run(list(map(str, command)), env={**clean, **environment}, capture_output=True, text=True, timeout=TIMEOUT)


def test_each_setting_that_can_be_wrong_is_wrong_here():
    assert {key for key, _, _ in WRONG_VALUES} == {key for key, option in TABLE.items() if option["type"] not in ("text", "path", "file")}


@pytest.mark.parametrize("key, value, expected", [row for row in WRONG_VALUES if TABLE[row[0]]["type"] != "bool"], ids=lambda text: text)
def test_a_wrong_option_is_refused(key, value, expected):
    name = key.lower().replace("_", "-")
    result = run_in({}, LAUNCHER, f"--{name}={value}", "echo", "started")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"hdtrace-run: --{name}: '{value}' is not {expected}\nTry 'hdtrace-run --help'.\n"


UNKNOWN = [("HDTRACE_BUFFERSIZE", "HDTRACE_BUFFER_SIZE"), ("HDTRACE_compress", "HDTRACE_COMPRESS"), ("HDTRACE_WHATEVER", None)]


def warning(key, value, expected):
    return f"HDTRACE_{key}='{value}' is ignored: expected {expected}\n"


def warning_of_unknown(name, nearest):
    return f"{name}='1' is ignored: there is no such setting" + (f"; did you mean {nearest}?\n" if nearest else "\n")


def said_in_run(ranks, directory, environment):
    """What a program's run says on standard error; it leaves a trace."""
    run = run_untraced("init_null", ranks, directory, {**environment, "HDTRACE_DIRECTORY": str(directory)})
    assert run.returncode == 0 and len(list(directory.glob("*.trc"))) == ranks
    return run.stderr


@wrong_values
def test_a_wrong_variable_is_refused_by_the_launcher(key, value, expected):
    """Once: the tracer does not see it."""
    result = run_in({f"HDTRACE_{key}": value}, LAUNCHER, "sh", "-c", f"echo ${{HDTRACE_{key}-not set}}")
    assert (result.returncode, result.stdout) == (0, "not set\n")
    assert result.stderr == f"hdtrace-run: {warning(key, value, expected)}hdtrace: sh {NO_TRACE}"


@wrong_values
def test_a_wrong_variable_is_refused_by_the_runtime(tmp_path, key, value, expected):
    said = said_in_run(1, tmp_path, {f"HDTRACE_{key}": value, **preload(WRAPPER)})
    assert said == f"hdtrace: {warning(key, value, expected)}"


@pytest.mark.parametrize("name, nearest", UNKNOWN)
def test_a_variable_that_is_no_setting_is_named(tmp_path, name, nearest):
    """Once in a run, by hdtrace-run or, if there is none, by the tracer."""
    said = warning_of_unknown(name, nearest)
    assert said_in_run(2, tmp_path, {name: "1", **preload(WRAPPER)}) == f"hdtrace: {said}"
    assert run_with_tracer("init_null", 2, tmp_path, {name: "1"}, complete=False).stderr == f"hdtrace-run: {said}"


def test_programs_that_do_not_use_mpi_hear_nothing():
    assert run_in({"HDTRACE_BUFFERSIZE": "1", "HDTRACE_NESTED": "yes", **preload(WRAPPER)}, "true").stderr == ""


@wrong_values
def test_a_wrong_variable_is_refused_by_the_trace_library(monkeypatch, tmp_path, key, value, expected):
    """If it is one of those that the library takes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"HDTRACE_{key}", value)
    if TABLE[key].get("library"):
        with pytest.raises(ValueError, match="Invalid argument"):
            hdtrace.TraceWriter("app", {"Host": "a"})
        assert not list(tmp_path.iterdir())
    else:
        hdtrace.TraceWriter("app", {"Host": "a"}).close()


def test_a_wrong_variable_that_an_option_replaces_is_not_refused():
    result = run_in({"HDTRACE_COMPRESS": "zst"}, LAUNCHER, "--compress=zstd", "sh", "-c", "echo $HDTRACE_COMPRESS")
    assert (result.returncode, result.stdout, result.stderr) == (0, "zstd\n", f"hdtrace: sh {NO_TRACE}")


def test_the_digits_of_times(run_traced):
    """Also where nothing else asks for a form."""
    for path in run_traced("init_null", 1, {"HDTRACE_TIME_DIGITS": "6"}).paths:
        times = [word for word in path.read_text().split() if word.startswith(("time='", "end='"))]
        assert times and all(len(word.split(".")[1].rstrip("'")) == 6 for word in times)
