"""Time-independent traces, those of hdtrace-convert and those of people."""
import pytest
from importing import convert, findings, import_well, refused, states, works_with_everything


@pytest.mark.parametrize("program", ["send_modes", "receive", "completion", "collectives", "vector_collectives", "persistent"])
def test_what_was_converted_comes_back(program, traced, tmp_path):
    """The same actions: they are converted again."""
    first = convert(traced(program), "tit", tmp_path / "first")
    import_well(tmp_path / "back.proj", "--speed", "1e9", first / "replay.txt")
    works_with_everything(tmp_path / "back.proj")
    assert findings(tmp_path / "back.proj").keys() <= findings(traced(program)).keys()
    second = convert(tmp_path / "back.proj", "tit", tmp_path / "second")
    for path in sorted(first.glob("rank-*.txt")):
        def actions(file):
            return [line for line in file.read_text().splitlines() if " compute " not in line and " sleep " not in line]
        assert actions(second / path.name) == actions(path)


def test_sizes_counts_and_types(tmp_path):
    (tmp_path / "t").write_text("""\
0 init 1
0 bcast 1e2 0
0 reducescatter 4 0 1e3 1
0 isend 1 5 10 1
0 waitall 1
0 finalize
1 init 1
1 bcast 1e2 0
1 reducescatter 4 0 1e3 1
1 irecv 0 5 10 1
1 wait 0 1 5
1 finalize
""")
    import_well(tmp_path / "app.proj", tmp_path / "t")
    _, bcast, scatter, _, _, _ = states(tmp_path / "app.proj", 0)
    assert (bcast["size"], bcast["count"], bcast["rootRank"]) == ("800", "100", "0")
    assert [(child.name, child["rank"], child["size"]) for child in scatter.children] == [("Recv", "0", "16")]
    receive, wait = states(tmp_path / "app.proj", 1)[3:5]
    assert receive["rid"] == "0" and receive["size"] == "40"
    assert [(child["rid"], child["fromRank"], child["size"]) for child in wait.children] == [("0", "0", "40")]


def test_sends_that_nothing_waits_for_are_buffered(tmp_path):
    actions = "0 isend 1 5 10 1\n0 irecv 1 6 10 1\n0 isend 1 6 10 1\n0 wait 0 1 6\n0 wait 1 0 6\n0 finalize\n"
    (tmp_path / "t").write_text(f"0 init\n{actions}1 init\n1 recv 0 5 10 1\n1 send 0 6 10 1\n1 recv 0 6 10 1\n1 finalize\n")
    import_well(tmp_path / "app.proj", tmp_path / "t")
    calls = states(tmp_path / "app.proj", 0)
    assert [(call.name, call.attributes.get("rid")) for call in calls[1:4]] == [("Bsend", None), ("Irecv", "0"), ("Isend", "1")]
    assert not findings(tmp_path / "app.proj")


def test_times_are_a_model_only_if_asked_for(tmp_path):
    (tmp_path / "t").write_text("0 init\n0 compute 3e9\n0 sleep 0.5\n0 barrier\n0 finalize\n")
    import_well(tmp_path / "none.proj", tmp_path / "t")
    assert {(state.time, state.end) for state in states(tmp_path / "none.proj", 0)} == {(0, 0)}
    import_well(tmp_path / "model.proj", "--speed", "2e9", tmp_path / "t")
    assert [state.time for state in states(tmp_path / "model.proj", 0)] == [0, 2_000_000_000, 2_000_000_000]


@pytest.mark.parametrize("line, complaint", [
    ("0 send 1 0", "send: an argument is missing"),
    ("0 send 1 0 -5", "send: a count is not negative"),
    ("0 send 1 0 9223372036854775807 0", "send: a size is too large"),
    ("0 send 1 0 1e40 0", "send: '1e40' is not a number"),
    ("0 send 1 0 1 77", "send: there is no datatype 77"),
    ("0 wait 0 0 0", "wait: nothing was started that it could wait for"),
    ("0 bcast 1 5", "bcast: there is no process 5"),
    ("x send", "a line begins with a rank, not with 'x'"),
    ("99999999999 send", "a line begins with a rank, not with '99999999999'"),
    ("0 compute -1", "compute: '-1' is not an amount"),
    ("0", "the action is missing"),
])
def test_broken_lines_are_named(line, complaint, tmp_path):
    (tmp_path / "t").write_text(f"0 init\n{line}\n")
    assert refused(tmp_path, tmp_path / "t") == f"hdtrace-import: error: {tmp_path}/t:2: {complaint}\n"


def test_all_processes_must_be_there(tmp_path):
    (tmp_path / "t").write_text("0 init\n2 init\n")
    assert "process 1 does nothing, but there is a process 2" in refused(tmp_path, tmp_path / "t")


def test_a_list_names_files_that_are_there(tmp_path):
    (tmp_path / "rank-0").write_text("0 init\n")
    (tmp_path / "list").write_text("rank-0\n\nrank-1\n")
    assert f"{tmp_path}/list:3: there is no file rank-1" in refused(tmp_path, tmp_path / "list")
