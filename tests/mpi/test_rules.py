"""What a settings file says, and what becomes of calls by its rules."""
import re

import hdtrace
import pytest
from hdtrace.cli.run import run_tables
from support.calls import ANY, Call, For
from support.runs import LAUNCHER, WRAPPER, preload, run_with_tracer
from test_settings import run_in

LARGE = 4000  # bytes of the program's larger messages


def config_in(folder, text):
    path = folder / "app.conf"
    path.write_text(text)
    return path


def rule(record, **conditions):
    return "\n".join(["[rule]", f"record = {record}", *(f"{key.rstrip('_')} = {value}" for key, value in conditions.items()), ""])


def counts(trace, name, **attributes):
    """The element counts of a function's calls."""
    return [int(call["count"]) for call in trace.find(Call(name, **attributes))]


# ---- rules by function, rank and class: decided before the program's first call ----

@pytest.fixture(scope="module")
def by_function(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by-function")
    text = "# by function\n" + rule("none", call="Isend, Issend") + rule("count", call="MPI_*dup") + rule("none", class_="collective") \
        + rule("all", class_="collective", rank="1") + rule("none", call="*red*", rank="0:1", host="nobody*") + rule("all", call="Comm_rank")
    return run_with_tracer("rules", 2, folder, {"HDTRACE_CONFIG": str(config_in(folder, text))}, leaves_out=True)


def test_functions_classes_and_ranks(by_function):
    first, second = by_function
    for trace in by_function:
        assert not {"Isend", "Issend", "Comm_dup"} & set(trace.names())
        assert {"Irecv", "Recv", "Iprobe", "Comm_rank", "Init", "Finalize"} <= set(trace.names())
    assert not {"Barrier", "Allreduce", "Bcast", "Gather"} & set(first.names())
    assert {"Barrier", "Allreduce", "Bcast", "Gather"} <= set(second.names()), "the last rule wins"


def test_identities_are_exact_whatever_is_left_out(by_function):
    for trace in by_function:
        first, second = trace.find(Call("Waitall"))
        assert Call("Waitall", [For(rid=0, fromRank=ANY), For(rid=1)]).matches(first), "the send that is left out has its number"
        assert Call("Waitall", [For(rid=2, fromRank=ANY), For(rid=3)]).matches(second)
    barrier = by_function.traces[1].find(Call("Barrier"))[0]
    assert by_function.project.communicator(1, barrier["cid"]).name == "WORLD dup 1"


def test_the_trace_says_what_is_left_out(by_function):
    with pytest.warns(hdtrace.MergeWarning, match=r"rules.proj: \d+ calls are left out, as was asked for: Isend \(6\), "):
        run = hdtrace.open(by_function.trace_directory).run
    assert (run.calls["Isend"].recorded, run.calls["Isend"].ignored) == (0, 6)
    assert (run.calls["Allreduce"].recorded, run.calls["Allreduce"].ignored) == (4, 4)
    assert (run.calls["Irecv"].recorded, run.calls["Irecv"].ignored) == (6, 0)
    text = next(by_function.trace_directory.glob("*_0_0.info")).read_text()
    lines = [line for line in text.splitlines() if line.startswith(("Rule", "Calls name='Comm_dup'"))]
    assert lines[0] == "Rule record='none' line=2 call='Isend, Issend'"
    assert "Rule record='none' line=15 call='*red*' rank='0:1' host='nobody*'" in lines
    assert "ignoredTime=0.0" in lines[-1], "the time of what is only counted"
    assert re.search(r"^15 +none +call = \*red\* and rank = 0:1 and host = nobody\*", "\n".join(run_tables(run)), re.M)


# ---- rules that ask for more ----

@pytest.fixture(scope="module")
def by_moment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by-moment")
    present = folder / "present"
    present.touch()
    text = "".join([
        rule("success", call="Iprobe, Test, Request_get_status"),
        rule("none", call="Isend, Irecv, Issend, Recv", size=":1K"),
        rule("none", call="Allreduce", occurrence="2:3"),
        rule("none", call="Bcast"), rule("all", call="Bcast", region="nothing, solve i*"),
        rule("none", call="Scan"), rule("all", call="Scan", from_="Allreduce 2", until="MPI_Allreduce 3"),
        rule("none", call="Reduce", time="0:1000s"), rule("none", call="Barrier", time="1000s:"),
        rule("none", call="Gather", file=present), rule("none", call="Exscan", file=folder / "absent"),
        rule("none", call="Waitall", peer="0"), rule("none", call="Issend", peer="0")])
    return run_with_tracer("rules", 2, folder, {"HDTRACE_CONFIG": str(config_in(folder, text))}, leaves_out=True)


def test_polls_without_success_are_counted(by_moment):
    for trace in by_moment:
        assert not trace.find(Call("Iprobe")) and not trace.find(Call("Request_get_status")), "none of them found anything"
        test = trace.only(Call("Test"))
        assert test["flag"] == "1" and int(test["polls"]) >= 5
        assert not any("pollTime" in call.attributes for call in trace), "not all calls would tell what came before them"
    calls = opened(by_moment).run.calls
    assert (calls["Iprobe"].recorded, calls["Iprobe"].ignored) == (calls["Request_get_status"].recorded, calls["Request_get_status"].ignored) == (0, 10)
    assert calls["Test"].recorded == 2 and calls["Test"].ignored >= 10


def test_few_polls_without_success_are_recorded_for_checks(tmp_path):
    run = run_with_tracer("rules", 2, tmp_path, {"HDTRACE_FOR_CHECK": "1"}, leaves_out=True)
    for trace in run:
        assert len(trace.find(Call("Iprobe", flag="0"))) == len(trace.find(Call("Request_get_status", flag="0"))) == 1, "the first of five in a row"
        tests = trace.find(Call("Test"))
        assert all("threadCpu" in test.attributes for test in tests if test["flag"] == "0")
        assert [test["flag"] for test in tests][0] == "0" and int(tests[1]["polls"]) == 4
        assert tests[-1]["flag"] == "1" and "threadCpu" not in tests[-1].attributes
    with pytest.warns(hdtrace.MergeWarning, match="calls that found nothing are left out, as --check does: (Test|Request_get_status)"):
        project = hdtrace.open(run.trace_directory)
    checker = project.checker()
    assert not checker.read(10_000) and checker.at_end, "nothing that is left out is missed"
    told = sum(float(call.attributes.get("pollTime", 0)) for trace in run for call in trace)
    ignored = sum(calls.ignored_time for calls in project.run.calls.values())
    assert 0 < told == pytest.approx(ignored, abs=1e-8), "the calls behind polls that are left out tell how long these took"


def test_sizes(by_moment):
    for trace in by_moment:
        assert {call["size"] for name in ("Isend", "Irecv") for call in trace.find(Call(name))} == {str(LARGE)}
        assert counts(trace, "Recv") == [LARGE // 4], "a blocking receive by its room"


def test_peers(by_moment):
    first, second = by_moment
    assert counts(first, "Issend") == [LARGE // 4] and not second.find(Call("Issend"))
    assert len(first.find(Call("Waitall"))) == 2, "it has no peer"


def test_occurrences_regions_and_spans(by_moment):
    for trace in by_moment:
        assert len(trace.find(Call("Allreduce"))) == 2
        assert counts(trace, "Bcast") == [2, 3]
        assert counts(trace, "Scan") == [2], "until is the last call that it is about"
        assert not trace.find(Call("Reduce")) and trace.find(Call("Barrier"))
        assert not trace.find(Call("Gather")) and trace.find(Call("Exscan"))


def test_calls_that_are_made_while_recording_is_paused_have_their_number(tmp_path):
    """The second broadcast is one of them."""
    config = config_in(tmp_path, rule("none", call="Bcast", occurrence="3"))
    run = run_with_tracer("pcontrol", 1, tmp_path, {"HDTRACE_CONFIG": str(config)}, leaves_out=True)
    assert counts(run.traces[0], "Bcast") == [1, 4]


def test_messages_whose_other_side_is_left_out_are_no_findings(by_function, by_moment):
    for run in (by_function, by_moment):
        assert not list(find_all(run))


def opened(run):
    with pytest.warns(hdtrace.MergeWarning, match="are left out, as was asked for"):
        return hdtrace.open(run.trace_directory)


def test_nothing_is_put_together_where_one_side_is_left_out(by_function, by_moment):
    for run in (by_function, by_moment):
        with pytest.warns(hdtrace.MergeWarning, match="so sends and receives, and collective calls, are not put together"):
            project = hdtrace.open(run.trace_directory)
        assert not [message for message in project.messages() if message.send and message.receive]
        assert not [collective for collective in project.collectives() if len(collective.calls) > 1]


def find_all(run):
    checker = opened(run).checker()
    while not checker.at_end:
        yield from checker.read(1000)


# ---- the file ----

SETTINGS_TEXT = """
nested = 1           # comments stand behind blanks
buffer-size = 64K
time-digits = 6
note = purpose=first try
note = who=me
"""


def test_the_environment_wins_over_the_file_and_an_option_over_both(tmp_path):
    config = config_in(tmp_path, SETTINGS_TEXT)
    run = run_with_tracer("init_null", 1, tmp_path, {"HDTRACE_CONFIG": str(config), "HDTRACE_BUFFER_SIZE": "32K"})
    settings = hdtrace.open(run.trace_directory).run.settings
    found = {key: (settings[f"HDTRACE_{key}"].value, settings[f"HDTRACE_{key}"].origin) for key in ("NESTED", "BUFFER_SIZE", "TIME_DIGITS")}
    assert found == {"NESTED": ("1", "file"), "BUFFER_SIZE": ("32768", "environment"), "TIME_DIGITS": ("6", "file")}
    assert hdtrace.open(run.trace_directory).run.notes == {"purpose": "first try", "who": "me"}


WRONG = [
    ("nestd = 1", 1, "'nestd' is not a setting; did you mean nested?"),
    ("\ncompress = zst", 2, "compress: 'zst' is not none, zstd or gzip; did you mean zstd?"),
    ("config = other", 1, "'config' is not a setting"),
    ("[rules]", 1, "'[rules]' is not a section; did you mean [rule]?"),
    ("nested", 1, "'nested' is not of the form name = value"),
    (rule("none", call="Send, MPI_Sned"), 3, "call: 'MPI_Sned' is not a function of MPI; did you mean MPI_Send?"),
    (rule("non", call="Send"), 2, "record: 'non' is not all, success, count or none; did you mean none?"),
    (rule("none", clas="file"), 3, "'clas' is not something that a rule can ask for; did you mean class?"),
    (rule("none", class_="fiel"), 3, "class: 'fiel' is not a class of calls; did you mean file?"),
    (rule("none", rank="3-5"), 3, "rank: '3-5' is not numbers such as 3, 0:64:8 or 100:"),
    (rule("none", size="1KB:"), 3, "size: '1KB:' is not bytes such as :1K or 1M:"),
    (rule("none", time="5"), 3, "time: '5' is not a span such as 10s:20s"),
    (rule("none", from_="Bcast ten"), 3, "from: 'Bcast ten' is not a call such as MPI_Allreduce 100"),
    ("[rule]\ncall = Send", 2, "'[rule]' is not complete: it lacks record = all, success, count or none"),
]


def test_what_is_wrong_is_named_with_its_line(tmp_path):
    """By the launcher, which runs nothing then, and by a program that carries the tracer, which runs."""
    for text, line, problem in WRONG:
        config = config_in(tmp_path, text)
        result = run_in({}, LAUNCHER, "--config", config, "echo", "started")
        assert (result.returncode, result.stdout, result.stderr) == (2, "", f"hdtrace-run: {config}:{line}: {problem}\n")
    config = config_in(tmp_path, "\n".join(text for text, _, _ in WRONG[:6]))
    result = run_in({"HDTRACE_CONFIG": str(config), **preload(WRAPPER)}, "true")
    assert result.returncode == 0
    assert f"hdtrace: {config}:1: {WRONG[0][2]}; it is ignored\n" in result.stderr
    assert f"{WRONG[5][2]}; the rule does not hold\n" in result.stderr


@pytest.mark.parametrize("name, reason", [("absent", "No such file or directory"), (".", "not a file")])
def test_a_file_that_cannot_be_read(tmp_path, name, reason):
    result = run_in({"HDTRACE_CONFIG": str(tmp_path / name)}, LAUNCHER, "echo", "started")
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"hdtrace-run: {tmp_path / name}: {reason}\n")
    result = run_in({"HDTRACE_CONFIG": str(tmp_path / name), **preload(WRAPPER)}, "true")
    assert result.returncode == 0 and result.stderr.startswith(f"hdtrace: {tmp_path / name}: {reason}")


def test_explain_tells_for_each_function_why(tmp_path):
    config = config_in(tmp_path, rule("none", call="*probe") + rule("success", call="Iprobe", rank="0:8:2"))
    result = run_in({}, LAUNCHER, "--config", config, "--explain")
    assert (result.returncode, result.stderr) == (0, "")
    told = dict(line.split(None, 1) for line in result.stdout.splitlines())
    assert told["MPI_Send"] == "all (default)"
    assert told["MPI_Probe"] == "none (app.conf:1)"
    assert told["MPI_Iprobe"] == "success if rank = 0:8:2 (app.conf:4), else none (app.conf:1)"
    assert told["MPI_Comm_rank"] == "none (a local query, --all-functions 1)"
