"""--statistics-only: sums over the calls, in place of the calls themselves."""
import json
import os
import re
import shutil
import signal
import subprocess

import hdtrace
import pytest
from support.runs import BUILD, LAUNCHER, MERGER, SETTINGS, SOURCE, TIMEOUT, program, run_untraced, run_with_tracer

HDTRACE = BUILD / "bin/hdtrace"
BOTH = {"HDT_TEST_STATES_AND_STATISTICS": "1"}
ONLY = {"HDTRACE_STATISTICS_ONLY": "1"}
TABLES = [*([name] for name in hdtrace.GROUPINGS), ["call", "rank", "thread", "site"], ["call", "communicator", "peer", "size"], ["region", "call", "peer"], ["class", "file", "size"]]
FIGURES = ("calls", "time", "exclusive", "shortest", "longest", "bytes", "sent", "received", "posted", "entered", "inside")
COME_LATER = ("bytes", "sent", "received")  # of calls that only posted something, statistics do not know them


def read(what):
    while what.read(10_000):
        pass
    return what


def figures_of(totals):
    return {name: getattr(totals, name) for name in FIGURES if not (totals.posted and name in COME_LATER)}


def sums_of(project, **selected):
    """All figures that statistics have: also without the calls that only post something, for what comes and its size are known of the others."""
    figures = figures_of_all(project, [by for by in TABLES if "size" not in by], selected)
    names = {label: totals.posted for (label,), totals in read(project.calls(**selected).statistics([["call"]])).groups(["call"])}
    others = [name for name, posted in names.items() if not posted]
    selected.pop("call_class", None)  # whatever fits one of both would be selected
    return figures | {"others": figures_of_all(project, TABLES, selected | ({"name": others} if others else {}))}


def figures_of_all(project, tables, selected):
    calls = project.calls(**selected)
    statistics = read(calls.statistics(tables))
    groups = {",".join(by): {labels: figures_of(totals) for labels, totals in statistics.groups(by)} for by in tables}
    whole = {"totals": figures_of(statistics.totals), "unfinished": statistics.unfinished, "begin": statistics.begin, "end": statistics.end}
    return groups | {"whole": whole, "matrix": read(calls.message_matrix()).cells()}


def only_sums(trace_directory, folder):
    """The same run as if nothing but statistics had been recorded."""
    folder.mkdir()
    for path in (*trace_directory.glob("*.info"), *trace_directory.glob("*.stats")):
        shutil.copy(path, folder)
    return hdtrace.open(folder)


# ---- the same as of the traces ----

RUNS = [
    ("collectives", 4, {}), ("vector_collectives", 4, {}), ("in_place", 4, {}), ("neighbourhood", 4, {}), ("intercomm_collectives", 4, {}),
    ("persistent", 2, {}), ("persistent_collectives", 2, {}), ("partitioned", 2, {}), ("receive", 2, {}), ("probe", 2, {}), ("completion", 2, {}),
    ("windows", 2, {}), ("io_explicit", 2, {}), ("io_nonblocking", 2, {}), ("errors", 2, {}), ("nested", 2, {"HDTRACE_NESTED": "1"}),
    ("threads", 2, {}), ("sub_communicator", 4, {}), ("topologies", 4, {}),
]


@pytest.mark.parametrize("name, ranks, env", [pytest.param(*run, id=run[0]) for run in RUNS if program(run[0]).exists()])
def test_all_figures_are_those_of_the_traces(name, ranks, env, tmp_path):
    run = run_with_tracer(name, ranks, tmp_path, env | BOTH)
    traced, summed = hdtrace.open(run.trace_directory), only_sums(run.trace_directory, tmp_path / "sums")
    assert summed.statistics_only and not traced.statistics_only
    assert sums_of(summed) == sums_of(traced)
    assert sums_of(summed, rank=1, call_class=["point-to-point", "collective"]) == sums_of(traced, rank=1, call_class=["point-to-point", "collective"])


def test_writes_that_do_not_wait_write_what_they_were_asked_for(tmp_path):
    run = run_with_tracer("io_nonblocking", 2, tmp_path, BOTH)

    def written(project):
        return {label: (totals.sent, totals.bytes) for (label,), totals in read(project.calls().statistics([["call"]])).groups(["call"]) if "write" in label}

    traced = written(hdtrace.open(run.trace_directory))
    assert any(name.startswith("File_iwrite") and sent for name, (sent, _) in traced.items())
    assert written(only_sums(run.trace_directory, tmp_path / "sums")) == traced


def test_regions_of_the_program_are_added_up(tmp_path):
    run = run_with_tracer("regions", 2, tmp_path, BOTH)
    summed = sums_of(only_sums(run.trace_directory, tmp_path / "sums"))
    assert summed == sums_of(hdtrace.open(run.trace_directory))
    assert any("/" in label for (label,) in summed["region"]), "there are regions inside others"


def test_slashes_of_names_are_told_from_those_between_regions(tmp_path):
    run = run_with_tracer("regions_cpp", 1, tmp_path, BOTH, complete=False)
    summed = sums_of(only_sums(run.trace_directory, tmp_path / "sums"))
    assert summed == sums_of(hdtrace.open(run.trace_directory))
    assert ("outer/by\\/name",) in summed["region"]


def test_calls_that_were_left_are_in_no_sum(tmp_path):
    run = run_with_tracer("many_kinds", 1, tmp_path, BOTH, args=("left",))
    summed = sums_of(only_sums(run.trace_directory, tmp_path / "sums"))
    assert summed == sums_of(hdtrace.open(run.trace_directory))
    assert summed["whole"]["unfinished"] == 3
    alone = tmp_path / "alone"
    alone.mkdir()
    statistics = read(hdtrace.open(record(alone, 1, "many_kinds", "left")).calls().statistics())
    assert statistics.unfinished == 3


# ---- nothing else is recorded ----

def record(folder, ranks, name, *args, env=None):
    run = run_untraced(LAUNCHER, ranks, folder, {"HDTRACE_DIRECTORY": str(folder / "trace"), **(env or ONLY)}, (program(name), *args))
    assert (run.returncode, run.stderr) == (0, "")
    return run.trace_directory


def calls_by_name(project):
    return {label: totals.calls for (label,), totals in read(project.calls().statistics([["call"]])).groups(["call"])}


def test_files_do_not_grow_with_the_run(tmp_path):
    sizes = {}
    for rounds in (10, 2000):
        folder = tmp_path / str(rounds)
        folder.mkdir()
        trace = record(folder, 2, "many_calls", 0, rounds)
        assert not list(trace.glob("*.trc*"))
        calls = calls_by_name(hdtrace.open(trace))
        assert calls["Send"] == calls["Wait"] == calls["Iprobe"] == 2 * rounds and calls["Init"] == 2
        sizes[rounds] = sum(path.stat().st_size for path in trace.iterdir())
    assert sizes[2000] < sizes[10] + 1000, "only the numbers have more digits"


def test_kinds_of_calls_are_bounded(tmp_path):
    communicators = 5000  # two kinds each
    trace = record(tmp_path, 1, "many_kinds", communicators)
    (sums,) = trace.glob("*.stats")
    assert sums.stat().st_size < 3 << 20
    project = hdtrace.open(trace)
    statistics = read(project.calls().statistics([["call"], ["communicator"]]))
    assert {label: totals.calls for (label,), totals in statistics.groups(["call"])}["Barrier"] == communicators
    apart = sum(totals.calls for _, totals in statistics.groups(["communicator"]))
    assert statistics.not_apart > 0 and apart + statistics.not_apart == 3 * communicators + 1, "Finalize came too late, too"
    result = hdtrace_on(trace, "stats", "--by", "communicator")
    assert result.returncode == 0 and f"{statistics.not_apart:,} calls are not in tables that ask for more than" in result.stderr
    assert hdtrace_on(trace, "stats").stderr == ""


def test_a_killed_process_keeps_what_was_written(tmp_path):
    run = run_untraced(LAUNCHER, 1, tmp_path, {"HDTRACE_DIRECTORY": str(tmp_path / "trace"), "HDTRACE_FLUSH_SECONDS": "0", **ONLY}, (program("many_kinds"), "killed"))
    assert run.returncode != 0
    with pytest.warns(hdtrace.MergeWarning):
        project = hdtrace.open(run.trace_directory)
    calls = calls_by_name(project)
    assert calls == {"Init": 1, "Barrier": 10, "Pcontrol": 1}


def test_a_signal_does_not_take_what_was_not_written(tmp_path):
    env = {"HDTRACE_DIRECTORY": str(tmp_path / "trace"), "HDTRACE_FLUSH_SECONDS": "0", **ONLY}
    run_untraced(LAUNCHER, 1, tmp_path, env, (program("many_calls"), int(signal.SIGTERM), 100))
    assert calls_by_name(hdtrace.open(tmp_path / "trace"))["Sendrecv"] == 100


def test_traces_of_an_earlier_run_are_not_taken_for_those_of_this_one(tmp_path):
    trace = record(tmp_path, 1, "many_calls", 0, 3, env={"HDTRACE_COMPRESS": "gzip"})
    assert list(trace.glob("*.trc.gz"))
    record(tmp_path, 1, "many_calls", 0, 5)
    assert not list(trace.glob("*.trc*")) and calls_by_name(hdtrace.open(trace))["Send"] == 5
    record(tmp_path, 1, "many_calls", 0, 7, env={"HDTRACE_COMPRESS": "none"})
    assert not list(trace.glob("*.stats")) and calls_by_name(hdtrace.open(trace))["Send"] == 7


# ---- who reads them ----

def hdtrace_on(folder, command, *arguments):
    return subprocess.run([HDTRACE, command, folder, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    command = [HDTRACE, "record", "--statistics-only", "-o", folder / "run", SOURCE / "scripts/mpirun", "-n", "2", program("receive")]
    result = subprocess.run(list(map(str, command)), cwd=folder, env=os.environ | {"MPIEXEC": SETTINGS["mpiexec"]}, capture_output=True, text=True,
                            timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    assert "Statistics: " in result.stderr and "analyze" not in result.stderr
    return folder / "run"


def test_the_project_finds_its_statistics(recorded):
    (project,) = recorded.glob("*.proj")
    for where in (project, recorded, *recorded.glob("*_0_0.stats")):
        result = hdtrace_on(where, "stats", "--by", "call,rank", "--json")
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["by"]["call,rank"]["Recv"]["0"]["calls"] > 0
    assert hdtrace_on(project, "info").returncode == 0
    matrix = hdtrace_on(project, "stats", "--matrix", "messages")
    assert (matrix.returncode, matrix.stderr) == (0, "")
    with hdtrace.open(project) as opened:
        by_process = opened.communication_by_process()
    assert by_process["messages_received"].sum() == by_process["messages_sent"].sum() > 0


def test_they_move_with_the_project(recorded, tmp_path):
    result = hdtrace_on(recorded, "cp", tmp_path / "copy")
    assert result.returncode == 0, result.stderr
    assert len(list((tmp_path / "copy").glob("*.stats"))) == 2
    assert hdtrace_on(tmp_path / "copy", "stats").stdout == hdtrace_on(recorded, "stats").stdout


def test_the_report_has_tables(recorded, tmp_path):
    page = tmp_path / "page.html"
    result = hdtrace_on(recorded, "report", "-o", page)
    assert result.returncode == 0, result.stderr
    text = page.read_text()
    assert "so there is no timeline" in text and "<td class=\"label\">Sendrecv_replace</td>" in text and "<script" not in text


@pytest.mark.parametrize("command", [["dump"], ["check"], ["analyze"]], ids=" ".join)
def test_whoever_needs_single_calls_says_that_there_are_none(recorded, command):
    result = hdtrace_on(recorded, *command)
    assert result.returncode == 1 and "there are only sums over the calls, since the run was recorded with --statistics-only" in result.stderr
    assert result.stdout == ""


def test_watch_says_so_too(recorded):
    result = hdtrace_on(recorded, "watch", "--once")
    assert result.returncode == 2 and "has statistics only (--statistics-only)" in result.stderr


@pytest.mark.parametrize("command", ["repair", "compress"])
def test_there_is_no_trace_to_change(recorded, command):
    result = hdtrace_on(recorded, command)
    assert (result.returncode, result.stderr) == (0, "")


def test_converters_say_so_too(recorded, tmp_path):
    (project,) = recorded.glob("*.proj")
    result = subprocess.run([BUILD / "bin/hdtrace-convert", "--to", "csv", "-o", tmp_path / "out", project], capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 1 and "there are only sums" in result.stderr and not (tmp_path / "out").exists()


def test_python_says_so_too(recorded):
    project = hdtrace.open(recorded)
    assert project.statistics_only and project.start > 0 and project.has_calls_named("Recv")
    for ask in (lambda: list(project.calls()), project.to_columns, lambda: list(project.messages()), project.analyze, project.checker):
        with pytest.raises(hdtrace.ReadError, match="only sums"):
            ask()


@pytest.mark.parametrize("arguments, said", [
    (["--interval", "0..1"], "its sums are those of the whole run"), (["--by", "counter"], "which has no counters"),
    (["--call", "Receive"], "nothing is called 'Receive' here"),
], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_stats_refuses_what_sums_do_not_tell(recorded, arguments, said):
    result = hdtrace_on(recorded, "stats", *arguments)
    assert result.returncode == 2 and said in result.stderr


@pytest.mark.parametrize("option", ["--limit=2M", "--keep-last=2M", "--counters=user_time", "--cpu-time", "--for-check"])
def test_options_about_single_calls_are_refused(option, tmp_path):
    result = subprocess.run([LAUNCHER, "--statistics-only", option, "true"], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 2 and f"{option.split('=')[0]} is about them" in result.stderr


def test_in_the_environment_they_are_ignored(tmp_path):
    run = run_untraced(LAUNCHER, 1, tmp_path, {"HDTRACE_DIRECTORY": str(tmp_path / "trace")}, (program("many_calls"),))
    assert run.returncode == 0
    linked = run_untraced("many_calls", 1, tmp_path, ONLY | {"HDTRACE_CPU_TIME": "1", "LD_PRELOAD": str(LAUNCHER)})
    assert linked.returncode == 0


# ---- the file ----

def test_files_fit_the_schema(recorded):
    schema = SOURCE / "hdtrace/schemas/hdtrace-stats.rng"
    files = list(recorded.glob("*.stats"))
    result = subprocess.run(["xmllint", "--noout", "--relaxng", schema, *files], capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and len(files) == 2, result.stderr


@pytest.mark.parametrize("old, new, said", [
    ("<Statistics ", "<Program ", ""), ("</Statistics>\n", "", "cut off"), ("calls='", "calls='-", "calls is negative"), ("total='", "total='x", "has no time total"),
    (" calls=", " region='7' calls=", "there is no region 7"),
], ids=["root", "cut", "negative", "time", "region"])
def test_broken_files_are_named(recorded, tmp_path, old, new, said):
    folder = tmp_path / "broken"
    shutil.copytree(recorded, folder)
    (path,) = folder.glob("*_1_0.stats")
    path.write_text(path.read_text().replace(old, new, 1))
    result = hdtrace_on(folder, "stats")
    assert path.name in result.stderr and said in result.stderr and (result.returncode == 1 or said == "cut off")
