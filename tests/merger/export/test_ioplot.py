"""The plot of a file shows the bytes that are in the file."""
import resource
from collections import namedtuple

import pytest
from conversions import call, convert, project_of
from support.extents import WITHOUT_DATA_SIEVING

Line = namedtuple("Line", "rank op offset length start end")
FILES = "File name='/data/a' Size=0 id=0 time=0.1\nComm map='0->0;' id=0 name='WORLD' uid='W'\n"
INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
EVERY_SECOND = INT + "Type id='1' combiner='MPI_COMBINER_RESIZED' name='' integers='' addresses='0;8;' types='0;' size=4 lb=0 extent=8\n"
OPEN = "<File_open cid='0' name='/data/a' flags='1' fid='0' amode='CREATE' time='1.000000000' end='1.500000000' />\n"
VIEW = "<File_set_view fid='0' offset='100' etid='0' filetid='1' representation='native' time='1.6' end='1.7' />\n"


def plot(path):
    for line in path.read_text().splitlines():
        rank, op, *numbers = line.split(" ")
        yield Line(int(rank), op, *map(int, numbers[:2]), *numbers[2:])


# --- real programs ---


@pytest.fixture(params=(2, 4), ids=lambda number: f"{number}ranks")
def exact_io(request, traced):
    return traced("exact_io", request.param, mpirun=WITHOUT_DATA_SIEVING)


def test_each_byte_of_the_file_is_in_a_line_of_who_wrote_it(exact_io, tmp_path):
    """Each rank writes values of its own, no byte twice; what was never written is 0."""
    conversion = convert(project_of(exact_io), "ioplot", tmp_path / "plot", "--file", "views.data")
    content = (exact_io.directory / "views.data").read_bytes()
    writers = [None] * len(content)
    for line in plot(tmp_path / "plot"):
        if line.op == "w":
            places = range(line.offset, line.offset + line.length)
            assert all(writers[place] is None for place in places)
            for place in places:
                writers[place] = line.rank
    assert writers == [(value - 1) // 60 if value else None for value in content]
    assert (conversion.exact, conversion.approximated, conversion.dropped) == (exact_io.ranks * 100, {}, {})


def test_shared_pointers_have_no_places(exact_io, tmp_path):
    conversion = convert(project_of(exact_io), "ioplot", tmp_path / "plot", "--file", "shared.data")
    (what, count), = conversion.dropped.items()
    assert "shared file pointer" in what and count == 4 * exact_io.ranks
    assert (tmp_path / "plot").read_text() == ""


def is_file_type(pieces, extent):
    ascending = all(first[1] <= second[0] for first, second in zip(pieces, pieces[1:]))
    return bool(pieces) and ascending and extent >= pieces[-1][1] - pieces[0][0]


def test_all_kinds_of_types_as_views(traced, tmp_path):
    """Through each type that may be a file type: from its middle on, two and a half of it. MPI_Pack has told its bytes."""
    run = traced("identity_listed_types", 1)
    tids = {state["name"]: state["tid"] for trace in run for state in trace if state.name == "Type_set_name"}
    lines, expected = [], []
    for number, line in enumerate((run.directory / "log-0").read_text().splitlines()):
        name, size, _, extent, _, _, *words = line.split()
        pieces, size, extent = [tuple(map(int, word.split(":"))) for word in words], int(size), int(extent)
        if not is_file_type(pieces, extent):
            continue
        skipped, wanted = size // 2, 2 * size + size // 2
        seen = expected_pieces(pieces, extent, skipped, wanted)
        lines.append(f"<File_set_view fid='0' offset='7' etid='0' filetid='{tids[name]}' time='1.0' end='1.0' />\n"
                     f"<File_read fid='0' offset='{seen[0][0] + 7}' size='{wanted}' time='{2 + number}.0' end='{2 + number}.5' />\n")
        expected += [Line(0, "r", begin + 7, end - begin, f"{1 + number}.000000000", f"{1 + number}.500000000") for begin, end in seen]
    project = tmp_path / "app.proj"
    text = project_of(run).read_text().replace("<FileList/>", "<FileList><File name='/a'><Rank global='0' thread='0' fid='0'/></File></FileList>")
    project.write_text(text)
    name = next(run.trace_directory.glob("*.trc")).name.split("_", 1)[1]
    (tmp_path / f"app_{name}").write_text("<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1' rank='0' thread='0'>\n"
                                          + "".join(lines) + "</Program>\n")
    conversion = convert(project, "ioplot", tmp_path / "plot")
    assert conversion.exact == len(lines) > 500
    found = list(plot(tmp_path / "plot"))
    assert next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None) is None
    assert len(found) == len(expected)


def expected_pieces(pieces, extent, skipped, wanted):
    """[(begin, end), ...] of `wanted` bytes behind the first `skipped` ones; pieces that touch are one."""
    seen = []
    for begin, end in ((begin + tile * extent, end + tile * extent) for tile in range(4) for begin, end in pieces):
        used = min(skipped, end - begin)
        begin, skipped = begin + used, skipped - used
        end = min(end, begin + wanted)
        wanted -= end - begin
        if begin < end and seen and seen[-1][1] == begin:
            seen[-1] = seen[-1][0], end
        elif begin < end:
            seen.append((begin, end))
    return seen


def test_the_original_form_has_operations_and_the_times_of_the_program(traced, tmp_path):
    run = traced("io_times", 2)
    logs = tmp_path / "logs"
    conversion = convert(project_of(run), "ioplot", logs, "--files=all", "--lines=operations", "--times=wtime")
    assert conversion.exact == 8 and {path.name for path in logs.iterdir()} == {"first.data", "second.data"}
    told = [line.split() for line in run.stdout.splitlines() if ".data " in line]
    written = [(name, line) for name in ("first.data", "second.data") for line in plot(logs / name)]
    assert [name for name, _ in written] == [name for name, _, _ in told]
    for number, ((_, line), (_, before, after)) in enumerate(zip(written, told)):
        assert (line.rank, line.op, line.offset, line.length) == (0, "w", 24 * (number % 4), 12)
        # The recorder has a clock of its own, and may be interrupted between a look at it and at MPI_Wtime.
        assert float(before) - 1e-4 <= float(line.start) <= float(line.end) <= float(after) + 1e-4


# --- traces of a few lines ---


def converted(run, tmp_path, trace, info=FILES + EVERY_SECOND):
    run.process(0, info, trace, size=1)
    run.merge_cleanly()
    conversion = convert(tmp_path / "app.proj", "ioplot", tmp_path / "plot")
    return conversion, list(plot(tmp_path / "plot"))


def test_the_format_of_a_line(run, tmp_path):
    access = "<File_write fid='0' offset='0' size='8' count='2' tid='0' time='2.000000000' end='3.250000000' />\n"
    converted(run, tmp_path, OPEN + access)
    assert (tmp_path / "plot").read_text() == "0 w 0 8 1.000000000 2.250000000\n"


def test_a_view_is_flattened_and_ends_with_the_next_open(run, tmp_path):
    access = "<File_read fid='0' offset='108' size='12' count='3' tid='0' time='2.0' end='3.0' />\n"
    conversion, lines = converted(run, tmp_path, OPEN + VIEW + access + OPEN + access)
    assert [(line.op, line.offset, line.length) for line in lines] == [("r", 108, 4), ("r", 116, 4), ("r", 124, 4), ("r", 108, 12)]
    assert conversion.exact == 2


@pytest.mark.parametrize("calls", [
    "<File_read {read} actual='5' time='2.0' end='3.0' />\n",
    "<File_iread {read} rid='0' time='2.0' end='3.0' />\n<Wait time='3.0' end='4.0' ><For rid='0' actual='5' /></Wait>\n"],
    ids=["blocking", "non-blocking"])
def test_what_the_end_of_the_file_cut_off_is_not_there(run, tmp_path, calls):
    _, lines = converted(run, tmp_path, OPEN + calls.format(read="fid='0' offset='0' size='12' count='3' tid='0'"))
    assert [(line.offset, line.length) for line in lines] == [(0, 5)]


def test_an_operation_ends_when_it_is_completed(run, tmp_path):
    write = ("<File_iwrite fid='0' rid='{}' offset='0' size='4' count='1' tid='0' time='2.0' end='2.1' />\n")
    wait = "<Wait time='3.0' end='4.0' ><For rid='0' /></Wait>\n"
    conversion, lines = converted(run, tmp_path, OPEN + write.format(0) + write.format(1) + wait)
    assert [(line.start, line.end) for line in lines] == [("1.000000000", "3.000000000"), ("1.000000000", "1.100000000")]
    assert list(conversion.approximated.values()) == [1]


def test_calls_that_failed_touch_nothing(run, tmp_path):
    access = "<File_read fid='0' offset='0' size='12' count='3' tid='0' rc='MPI_ERR_IO' time='2.0' end='3.0' />\n"
    conversion, lines = converted(run, tmp_path, OPEN + access)
    assert lines == [] and conversion.dropped == {"accesses that failed": 1}


def test_accesses_that_failed_after_they_were_started_touch_nothing(run, tmp_path):
    calls = ("<File_iread fid='0' offset='0' size='12' count='3' tid='0' rid='0' time='2.0' end='2.1' />\n"
             "<Waitall count='1' rc='MPI_ERR_IN_STATUS' time='3.0' end='4.0' ><For rid='0' rc='MPI_ERR_IO' /></Waitall>\n")
    conversion, lines = converted(run, tmp_path, OPEN + calls)
    assert lines == [] and (conversion.exact, conversion.dropped) == (0, {"accesses that failed": 1})


def test_one_of_several_files_is_chosen(run, tmp_path):
    second = "File name='/data/b' Size=0 id=1 time=0.1\n"
    run.process(0, FILES + second + INT, OPEN, size=1)
    run.merge_cleanly()
    result = call("--to", "ioplot", "-o", tmp_path / "plot", tmp_path / "app.proj")
    assert result.returncode == 1 and "/data/a" in result.stderr and "/data/b" in result.stderr and "--file" in result.stderr
    assert not (tmp_path / "plot").exists()
    convert(tmp_path / "app.proj", "ioplot", tmp_path / "plot", "--file", "b")


def test_a_log_of_each_file_has_a_name_of_its_own(run, tmp_path):
    others = "".join(f"File name='{name}' Size=0 id={number} time=0.1\n" for number, name in enumerate(("/other/a", "/data/..", "/data/b"), 1))
    run.process(0, FILES + others + INT, OPEN + "<File_write fid='1' offset='0' size='8' count='2' tid='0' time='2.0' end='3.0' />\n", size=1)
    run.merge_cleanly()
    convert(tmp_path / "app.proj", "ioplot", tmp_path / "logs", "--files=all")
    assert {path.name: len(path.read_text()) for path in (tmp_path / "logs").iterdir()} == {"a": 0, "a.2": 32, "...2": 0, "b": 0}


def test_more_files_than_may_be_open(run, tmp_path):
    """All have one name but for their folder."""
    count = 2000
    names = "".join(f"File name='/data/{number}/a' Size=0 id={number} time=0.1\n" for number in range(count))
    writes = "".join(f"<File_write fid='{number}' offset='{number}' size='8' count='2' tid='0' time='2.0' end='3.0' />\n" for number in range(count))
    run.process(0, names + INT, writes, size=1)
    run.merge_cleanly()
    limits = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    result = call("--to", "ioplot", "-o", tmp_path / "logs", "--files=all", tmp_path / "app.proj", preexec_fn=limits)
    assert (result.returncode, result.stderr) == (0, "")
    logs = {path.name: int(path.read_text().split()[2]) for path in (tmp_path / "logs").iterdir()}
    assert set(logs) == {"a", *(f"a.{number}" for number in range(2, count + 1))}
    assert sorted(logs.values()) == list(range(count))


@pytest.mark.parametrize("option, message", [
    ("--lines=calls", "--lines is pieces or operations, not 'calls'"),
    ("--times=wtime", "the trace of rank 0 does not tell MPI_Wtime: take --times=run")])
def test_wrong_forms_are_refused(run, tmp_path, option, message):
    access = "<File_write fid='0' offset='0' size='8' count='2' tid='0' time='2.0' end='3.0' />\n"
    run.process(0, FILES + INT, OPEN + access, size=1)
    run.merge_cleanly()
    result = call("--to", "ioplot", "-o", tmp_path / "plot", option, tmp_path / "app.proj")
    assert result.returncode in (1, 2) and message in result.stderr
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".info", ".proj", ".trc"]
