"""Where the program calls MPI, as the package and the command tell it."""

import gc
import json

import hdtrace
import pytest
from projects import PROJECT
from projects_of_lines import write_project
from test_command import run

SITES = """<CallSiteList>
    <Object id="0" path="/home/u/app" buildId="0f"/>
    <Place id="0" object="0" offset="4457">
      <Function name="halo&lt;int&gt;(int)" file="/src/halo.h" line="3"/>
      <Function name="solve()" file="/src/solve.cpp" line="10"/>
    </Place>
    <Place id="1" object="0" offset="4711"><Function name="main" file="/src/main.cpp" line="7"/></Place>
    <Place id="2" object="0" offset="31"/>
    <Place id="3"><Function name="step" file="/src/step.py" line="12"/></Place>
    <CallSite id="0" places="0;1;"/>
    <CallSite id="1" places="2;"/>
    <CallSite id="2" places="3;"/>
    <Sites map="0..2=0..2;"><Ranks first="0" last="0"/></Sites>
    <Sites map="0=2;1=0;"><Ranks first="1" last="1"/></Sites>
  </CallSiteList>
</Application>"""
HALO = "halo<int>(int) (halo.h:3)"
INIT = "<Init time='1' end='2' />\n"
END = "<Finalize time='90' end='91' />\n"
TRACES = (
    INIT + "<Send toRank='1' toTag='5' cid='0' tid='0' size='8' site='0' time='3' end='4' />\n"
    "<Nested><Barrier cid='0' site='1' time='5' end='6' /></Nested><Comm_dup cid='0' newcid='-1' site='1' time='5' end='7' />\n" + END,
    INIT + "<Irecv fromRank='0' fromTag='5' cid='0' tid='0' size='8' rid='0' site='0' time='3' end='4' />\n"
    "<Wait site='1' time='5' end='6' ><For rid='0' fromRank='0' fromTag='5' size='8' /></Wait>\n"
    "<Comm_dup cid='0' newcid='-1' site='1' time='7' end='8' />\n" + END,
)


@pytest.fixture
def write(tmp_path):
    """Writes a project with call sites and these traces."""

    def write(*traces):
        path = write_project(tmp_path, *traces)
        path.write_text(path.read_text().replace("</Application>", SITES))
        return path

    return write


def test_calls(write):
    first = {call.name: call.site for call in hdtrace.open(write(*TRACES)).calls(rank=0)}
    site = first["Send"]
    assert (site.function, site.file, site.line) == ("halo<int>(int)", "/src/halo.h", 3)
    assert [(frame.function, frame.file, frame.line, frame.is_inlined, frame.object, frame.offset) for frame in site.frames] == [
        ("halo<int>(int)", "/src/halo.h", 3, True, "/home/u/app", 4457),
        ("solve()", "/src/solve.cpp", 10, False, "/home/u/app", 4457),
        ("main", "/src/main.cpp", 7, False, "/home/u/app", 4711),
    ]
    assert str(site) == HALO
    assert repr(site) == f"<CallSite {HALO} < solve() (solve.cpp:10) < main (main.cpp:7)>"
    unknown = first["Comm_dup"]
    assert (unknown.function, unknown.file, unknown.line, str(unknown)) == (None, None, None, "app+0x1f")
    assert first["Init"] is None


def test_ids_are_those_of_each_process(write):
    project = hdtrace.open(write(*TRACES))
    sites = {call.name: call.site for call in project.calls(rank=1)}
    assert [str(sites[name]) for name in ("Irecv", "Wait")] == ["step (step.py:12)", HALO]
    assert (sites["Irecv"].frames[0].object, sites["Irecv"].frames[0].offset) == (None, None)
    (send,) = project.calls(rank=0, name="Send")
    assert send.site is sites["Wait"] and send.site is project.call_sites[0]
    assert len(project.call_sites) == 3


def test_nested_calls(write):
    project = hdtrace.open(write(*TRACES))
    (call,) = project.calls(rank=0, name="Comm_dup")
    assert str(project.call_site(call.rank, call.nested[0])) == "app+0x1f"
    assert project.call_site(7, call.nested[0]) is None


def test_messages_and_collectives(write):
    project = hdtrace.open(write(*TRACES))
    (message,) = project.messages()
    assert (str(message.send.site), str(message.receive.site)) == (HALO, "step (step.py:12)")
    (operation,) = project.collectives()
    assert {call.rank: str(call.site) for call in operation.calls} == {0: "app+0x1f", 1: HALO}


def test_sites_outlive_their_project(write):
    path = write(*TRACES)
    sites = [next(iter(hdtrace.open(path).messages())).receive.site, next(iter(hdtrace.open(path).calls(name="Send"))).site]
    gc.collect()
    assert [str(site) for site in sites] == ["step (step.py:12)", HALO]


def test_columns(write):
    calls = hdtrace.open(write(*TRACES)).calls(rank=0).to_dataframe()
    rows = calls[["name", "site", "function", "source_file", "source_line"]].astype(object)
    assert rows.where(rows.notna(), None).values.tolist() == [
        ["Init", None, None, None, None],
        ["Send", 0, "halo<int>(int)", "/src/halo.h", 3],
        ["Barrier", 1, None, None, None],
        ["Comm_dup", 1, None, None, None],
        ["Finalize", None, None, None, None],
    ]
    assert calls.function.dtype == "category" and calls.source_file.dtype == "category"


def test_dump(write):
    path = write(*TRACES)
    lines = run("dump", path, "--rank", "0").stdout.splitlines()
    assert lines[1].endswith(f" size=8 at {HALO}")
    assert [line.endswith(" at app+0x1f") for line in lines] == [False, False, True, True, False]
    calls = [json.loads(line) for line in run("dump", path, "--rank", "0", "--json").stdout.splitlines()]
    assert "site" not in calls[0]
    assert (calls[1]["site"]["function"], calls[1]["site"]["file"], calls[1]["site"]["line"]) == ("halo<int>(int)", "/src/halo.h", 3)
    assert calls[1]["site"]["frames"][2] == {
        "function": "main", "file": "/src/main.cpp", "line": 7, "is_inlined": False, "object": "/home/u/app", "offset": 4711
    }
    assert calls[2]["nested"][0]["site"]["frames"][0]["offset"] == 31
    assert "site='0'" in run("dump", path, "--xml").stdout


def test_dump_keeps_lines(write):
    path = write(*TRACES)
    path.write_text(path.read_text().replace("halo&lt;int&gt;(int)", "ha&#10;lo\u202e"))
    (line,) = run("dump", path, "--call", "Send").stdout.splitlines()
    assert line.endswith("at ha\\nlo\\xe2\\x80\\xae (halo.h:3)")


def test_stats(write):
    groups = json.loads(run("stats", write(*TRACES), "--by", "site", "--json").stdout)["by"]["site"]
    assert {label: group["calls"] for label, group in groups.items()} == {
        f"{HALO} < solve() (solve.cpp:10) < main (main.cpp:7)": 3, "app+0x1f": 2, "step (step.py:12)": 1
    }


def findings(path):
    return [
        (finding["text"], (finding["site"] or {}).get("function"), (finding["other_site"] or {}).get("function"))
        for finding in json.loads(run("check", path, "--json", "--no-schemas").stdout)
    ]


SEND = "<Send toRank='1' toTag='5' cid='0' tid='0' size='8' site='0' time='3' end='4' />\n"
RECEIVE = "<Irecv fromRank='0' fromTag='5' cid='0' tid='0' size='8' rid='0' site='0' time='3' end='4' />\n"
WAIT = "<Wait time='5' end='6' ><For rid='0' fromRank='0' fromTag='5' size='8' /></Wait>\n"


@pytest.mark.parametrize("traces, expected", [
    ((SEND, ""), (f"sent at {HALO} to rank 1, tag 5 on WORLD, but never received", "halo<int>(int)", None)),
    (("", RECEIVE + WAIT), ("receive at step (step.py:12) from rank 0, tag 5 on WORLD, but never sent", "step", None)),
    ((SEND, RECEIVE), ("Irecv at step (step.py:12) with rid 0 was never completed", "step", None)),
    (("<Barrier cid='7' site='0' time='3' end='4' />\n", ""),
     (f"Barrier at {HALO} names cid='7', but the project has no such communicator of rank 0", "halo<int>(int)", None)),
    (("<Barrier cid='0' site='0' time='3' end='4' />\n", ""), (f"collective operation 1 on WORLD, Barrier at {HALO}, was not called by rank 1", "halo<int>(int)", None)),
    (("<Barrier cid='0' site='0' time='3' end='4' />\n", "<Bcast cid='0' rootRank='1' site='0' time='4' end='5' />\n"),
     (f"collective operation 1 on WORLD is Bcast with root 1 at step (step.py:12) here, but Barrier at {HALO} in ", "step", "halo<int>(int)")),
], ids=["send", "receive", "request", "reference", "absent", "different"])
def test_check(write, traces, expected):
    path = write(*(INIT + lines + END for lines in traces))
    (text, site, other_site) = findings(path)[-1]
    assert text.startswith(expected[0]) and (site, other_site) == expected[1:]


@pytest.mark.parametrize("function, pattern, fits", [
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()(int) const  # known", True),
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#*", True),
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#2}*", False),
    ("sum<int, 3>::operator[](int)", "sum<int, ?>::operator[](int)", True),
    ("sum::operator[](int*)", "sum::operator[](int*)", True),
    ("halo[a]", "halo[abc]", False),
])
def test_names_of_functions_are_suppressed(write, tmp_path, function, pattern, fits):
    path = write(INIT + SEND + END, INIT + END)
    path.write_text(path.read_text().replace("halo&lt;int&gt;(int)", function.replace("<", "&lt;")))
    (tmp_path / "known").write_text(f"message-not-received {pattern}\n")
    assert run("check", path, "--no-schemas", "--suppress", tmp_path / "known").returncode == (0 if fits else 1)


def test_check_names_the_last_call(write):
    path = write(INIT + "<Barrier cid='0' site='0' time='3' end='4' />\n", INIT + "<Barrier cid='0' site='0' time='3' end='4' />\n" + END)
    assert findings(path) == [(f"this is the last call at {HALO}, but Finalize was not called", "halo<int>(int)", None)]


def test_valid(tmp_path):
    path = tmp_path / "app.proj"
    path.write_text(PROJECT.replace("</Application>", SITES))
    hdtrace.validate(path)
