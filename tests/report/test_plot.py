"""hdtrace plot."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree

import hdtrace
import pytest
from projects_of_lines import write_project
from support.runs import BUILD

pytest.importorskip("matplotlib")
from hdtrace.cli.table import _PLOTS  # noqa: E402
from hdtrace.plot import colours  # noqa: E402
from hdtrace.plot.kinds import KINDS  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402


WRITE = "<File_write_at fid='0' offset='{offset}' size='100' count='100' tid='0' time='{begin}' end='{end}' />\n"


def plot(project, kind, output):
    return subprocess.run([BUILD / "bin/hdtrace", "plot", project, "--kind", kind, "-o", output], capture_output=True, text=True)


def drawn(project, kind, tmp_path):
    run = plot(project, kind, tmp_path / "x.svg")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    tree = ElementTree.parse(tmp_path / "x.svg")
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    return ids, "".join(tree.getroot().itertext())


@pytest.fixture
def writers(tmp_path):
    """Each rank writes 100 bytes behind the other one."""
    return write_project(tmp_path, WRITE.format(offset=0, begin=1, end=2), WRITE.format(offset=100, begin=2, end=3))


def test_the_command_knows_all_kinds():
    assert set(_PLOTS) == set(KINDS)


@pytest.mark.parametrize("kind, words", [
    ("timeline", ["time in s", "rank", "collective"]),
    ("matrix", ["from rank", "to rank", "bytes sent"]),
    ("sizes", ["size in bytes", "messages"]),
    ("waits", ["waiting in s", "rank"]),
    ("efficiency", ["efficiency in %", "load balance"]),
    ("critical-path", ["critical path in s"]),
])
def test_axes_say_what_they_show(heat, tmp_path, kind, words):
    _, text = drawn(heat, kind, tmp_path)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("kind", ["timeline", "waits", "critical-path"])
def test_a_rank_is_a_group(heat, tmp_path, kind):
    ids, _ = drawn(heat, kind, tmp_path)
    assert [one for one in ids if one.startswith("rank-")] == [f"rank-{rank}" for rank in range(4)]


def test_a_run_may_lack_what_is_asked_for(tmp_path):
    with hdtrace.open(write_project(tmp_path, "<Barrier cid='0' time='1' end='2' />\n")) as project:
        for kind in KINDS:
            KINDS[kind](project).savefig(tmp_path / "x.svg")


ONE_OF_EACH = """\
<File_write_at fid='0' offset='0' size='1' count='1' tid='0' time='1.000000' end='1.000010' />
<Isend size='4' cid='0' toRank='0' toTag='1' count='1' tid='0' rid='5' time='2' end='2.1' />
<Recv size='4' cid='0' fromRank='0' fromTag='1' count='1' tid='0' time='3' end='4' />
<Wait time='5' end='6'><For rid='5' /></Wait>
"""
OF_WHOLE_NUMBERS = {"rank", "row", "byte in the row", "messages", "accesses to files", "from rank", "to rank", "offset in bytes"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_has_no_parts(tmp_path, kind):
    """Also where there is but one rank, message, access or byte."""
    with hdtrace.open(write_project(tmp_path, ONE_OF_EACH)) as project:
        figure = KINDS[kind](project)
    figure.savefig(tmp_path / "x.png")
    seen = [
        (axis.get_label_text(), tick.get_text())
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for place, tick in zip(axis.get_ticklocs(), axis.get_ticklabels())
        if min(axis.get_view_interval()) <= place <= max(axis.get_view_interval())
    ]
    assert [text for name, text in seen if name in OF_WHOLE_NUMBERS and not text.isdigit()] == []
    assert {text for name, text in seen if name == "rank"} <= {"0"}


def test_times_are_read_without_adding_anything_to_them(tmp_path):
    with hdtrace.open(write_project(tmp_path, "<Barrier cid='0' time='1' end='2' />\n" + WRITE.format(offset=0, begin="1.49201", end="1.49208"))) as project:
        figure = KINDS["io-time"](project)
    figure.savefig(tmp_path / "x.png")
    assert figure.axes[0].xaxis.get_offset_text().get_text() == ""


@pytest.mark.parametrize("kind", ["io-time", "io-map"])
def test_long_names_of_files_fit(tmp_path, kind):
    name = "/scratch/" + "a-long-directory/" * 12 + "result.dat"
    path = write_project(tmp_path, WRITE.format(offset=0, begin=1, end=2))
    path.write_text(path.read_text().replace("/data/out", name))
    with hdtrace.open(path) as project:
        figure = KINDS[kind](project)
    figure.savefig(tmp_path / "x.png")
    title = figure.axes[0]._left_title
    assert title.get_text().split("\n")[0].endswith("/result.dat")
    assert title.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_of_nothing_says_so(tmp_path, kind):
    with hdtrace.open(write_project(tmp_path, "<Barrier cid='0' time='1' end='1' />\n")) as project:
        (axes,) = KINDS[kind](project).axes
    assert axes.get_title(loc="left") and not [*axes.get_xticks(), *axes.get_yticks()]


def test_each_kind_of_waiting_has_a_colour_of_its_own():
    """Those that take least share one."""
    many = colours.for_each({f"kind {number}": number for number in range(20)})
    assert sorted(many) == sorted(f"kind {number}" for number in range(12, 20))
    assert len(set(many.values()) | {colours.REST}) == 9


def test_calls_are_drawn_above_the_regions_that_they_are_in(tmp_path):
    lines = "<Event name='Step' kind='begin' time='1.0' />\n<Barrier cid='0' time='1.2' end='1.3' />\n<Event name='Step' kind='end' time='2.0' />\n"
    with hdtrace.open(write_project(tmp_path, lines)) as project:
        (bars,) = KINDS["timeline"](project).axes[0].collections
    drawn_ones = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bars.get_paths()]
    assert drawn_ones == [pytest.approx((0, 1)), pytest.approx((0.2, 0.3))]


def test_a_row_of_many_calls_says_how_much_of_the_time_each_class_takes(tmp_path):
    """In each millisecond half is a region, of which half is in barriers: a picture has no column for each of them."""
    step = "<Event name='Step' kind='begin' time='{0}.000' />\n<Barrier cid='0' time='{0}.100' end='{0}.350' />\n<Event name='Step' kind='end' time='{0}.500' />\n"
    with hdtrace.open(write_project(tmp_path, "".join(step.format(second) for second in range(1, 3001)))) as project:
        figure = KINDS["timeline"](project)
        figure.savefig(tmp_path / "x.svg")
    (row,) = figure.axes[0].images
    pixels = row.get_array().reshape(-1, 4)
    share = {colour: (abs(pixels - to_rgba(colour)).sum(axis=1) < 0.01).mean() for colour in ("#e7ece4", colours.OF_CLASSES["collective"])}
    assert share == pytest.approx({"#e7ece4": 0.25, colours.OF_CLASSES["collective"]: 0.25}, abs=0.02)
    assert 'id="rank-0"' in (tmp_path / "x.svg").read_text()


def test_a_map_has_a_rectangle_for_each_part_of_a_row(tmp_path):
    """Rank 0 has the first 100 bytes, rank 1 the next 100: in rows of 80 each of them is 2 pieces."""
    project = write_project(tmp_path, *(WRITE.format(offset=100 * rank, begin=1, end=2) for rank in (0, 1)))
    run = subprocess.run([BUILD / "bin/hdtrace", "plot", project, "--kind", "io-map", "--row", "80", "-o", tmp_path / "x.svg"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    tree = ElementTree.parse(tmp_path / "x.svg")
    groups = {one.get("id"): one for one in tree.iter() if (one.get("id") or "").startswith("rank-")}
    assert {name: len([path for path in group.iter() if path.tag.endswith("path")]) for name, group in groups.items()} == {"rank-0": 2, "rank-1": 2}
    text = "".join(tree.getroot().itertext())
    assert "/data/out" in text and "written: rows of 80 bytes" in text


def test_a_map_shows_the_last_access_of_a_byte(tmp_path):
    """Rank 1 writes the bytes 0 to 99 and 100 to 199, later rank 0 the bytes 50 to 149, of which rank 2 has written the last ones before."""
    first = WRITE.format(offset=0, begin=1, end=2) + WRITE.format(offset=100, begin=2, end=3)
    with hdtrace.open(write_project(tmp_path, WRITE.format(offset=50, begin=5, end=6), first, WRITE.format(offset=120, begin=3, end=4))) as project:
        (axes, _) = KINDS["io-map"](project, row=1000).axes
    seen = {drawn.get_gid(): [(int(path.vertices[:, 0].min()), int(path.vertices[:, 0].max())) for path in drawn.get_paths()] for drawn in axes.collections}
    assert seen == {"rank-0": [(50, 150)], "rank-1": [(0, 50)], "rank-2": [(150, 220)]}


def test_rows_are_for_maps_only(heat, tmp_path):
    run = subprocess.run([BUILD / "bin/hdtrace", "plot", heat, "--kind", "waits", "--row", "80", "-o", tmp_path / "x.svg"], capture_output=True, text=True)
    assert run.returncode == 2 and "--row" in run.stderr


def test_accesses_of_files_are_drawn(writers, tmp_path):
    ids, text = drawn(writers, "io-time", tmp_path)
    assert {"rank-0", "rank-1"} <= set(ids)
    assert "offset in bytes" in text and "/data/out" in text
    assert "accesses to files" in drawn(writers, "io-size", tmp_path)[1]


def lines_of(axes):
    return [[(round(x, 6), int(y)) for x, y in path.vertices] for collection in axes.collections for path in collection.get_paths()]


def write_with_view(directory, lines):
    """From byte 100 on the view has 4 of each 12 bytes."""
    view = "<File_set_view fid='0' offset='100' etid='0' filetid='2' representation='native' time='1.0' end='1.1' />\n"
    path = write_project(directory, view + lines)
    datatype = '<RESIZED id="2" name="" lowerBound="0" extend="12" oldType="0" extent="12" size="4" lb="0"/></Rank></Datatypes>'
    path.write_text(re.sub(r"</Rank>\s*</Datatypes>", datatype, path.read_text()))
    return path


def test_an_access_is_drawn_until_its_last_byte_and_until_it_is_complete(tmp_path):
    """Both of them are complete with the same call."""
    start = "<File_iwrite_at fid='0' rid='{rid}' offset='{offset}' size='8' count='2' tid='0' time='{begin}' end='{end}' />\n"
    first, second = start.format(rid=0, offset=100, begin=1.2, end=1.3), start.format(rid=1, offset=124, begin=1.4, end=1.5)
    path = write_with_view(tmp_path, first + second + "<Waitall time='2.0' end='3.0'><For rid='0' /><For rid='1' /></Waitall>\n")
    with hdtrace.open(path) as project:
        (axes, _) = KINDS["io-time"](project).axes
    assert lines_of(axes) == [[(0.2, 100), (2.0, 116)], [(0.4, 124), (2.0, 140)]]
    assert axes.get_title(loc="left") == "/data/out"


SHARED = "<File_write_shared fid='0' size='{size}' count='1' tid='0' time='{begin}' end='{end}' />\n"
FAILED = "<File_write_at fid='0' offset='0' size='8' count='2' tid='0' rc='MPI_ERR_IO' time='8' end='9' />\n"


@pytest.mark.parametrize("kind", ["io-time", "io-map"])
def test_a_figure_says_which_accesses_it_lacks(tmp_path, kind):
    with hdtrace.open(write_project(tmp_path, WRITE.format(offset=0, begin=1, end=2) + SHARED.format(size=4, begin=3, end=4))) as project:
        title = KINDS[kind](project).axes[0].get_title(loc="left")
    assert title.endswith("\nwithout 1 access whose place in the file the traces do not tell")


def test_a_figure_says_which_accesses_it_lacks_of_very_many(tmp_path):
    """Each has 2,001 pieces."""
    lines = "".join(f"<File_write_at fid='0' offset='100' size='8004' count='2001' tid='0' time='{time}' end='{time}.5' />\n" for time in range(2, 28))
    with hdtrace.open(write_with_view(tmp_path, lines)) as project:
        (axes, _) = KINDS["io-time"](project).axes
    assert axes.get_title(loc="left").split("\n") == [
        "/data/out", "13 of 26 accesses to the file are drawn", "of accesses with very many pieces only the first ones are drawn"
    ]
    assert len(lines_of(axes)) == 13


def bars_of(figure):
    """How many there are from which size on."""
    return {bar.get_x(): bar.get_height() for bar in figure.axes[0].patches if bar.get_height()}


def test_sizes_of_all_accesses_are_shown(tmp_path):
    """Also of those of which nobody knows where they are, and of those that moved nothing. An access that failed is none."""
    lines = WRITE.format(offset=0, begin=1, end=2) + SHARED.format(size=4, begin=3, end=4) + SHARED.format(size=0, begin=5, end=6)
    with hdtrace.open(write_project(tmp_path, lines + "<File_sync fid='0' time='6' end='7' />\n" + FAILED)) as project:
        assert bars_of(KINDS["io-size"](project)) == {0: 1, 4: 1, 64: 1}


def test_messages_of_0_bytes_have_a_bar(tmp_path):
    def calls(name, peer, to):
        line = "<{name} size='{size}' count='1' tid='0' {to}Rank='{peer}' {to}Tag='1' cid='0' time='{at}.0' end='{at}.5' />\n"
        return "".join(line.format(name=name, size=size, to=to, peer=peer, at=at) for at, size in enumerate([0, 0, 4, 1], 1))

    with hdtrace.open(write_project(tmp_path, calls("Send", 1, "to"), calls("Recv", 0, "from"))) as project:
        figure = KINDS["sizes"](project)
        assert bars_of(figure) == {0: 2, 1: 1, 4: 1}
        assert sum(project.message_sizes()["messages"]) == sum(bars_of(figure).values())
    assert figure.axes[0].get_xlim() == (0, 8)


@pytest.mark.parametrize("name, begin", [("x.pdf", b"%PDF"), ("x.png", b"\x89PNG")])
def test_other_formats(heat, tmp_path, name, begin):
    assert plot(heat, "waits", tmp_path / name).returncode == 0
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_unknown_format_is_refused(heat, tmp_path):
    run = plot(heat, "waits", tmp_path / "x.doc")
    assert run.returncode == 2 and ".svg" in run.stderr


def test_whoever_may_not_read_the_traces_may_not_see_the_figure(heat, tmp_path):
    assert plot(heat, "timeline", tmp_path / "x.svg").returncode == 0
    assert (tmp_path / "x.svg").stat().st_mode & 0o777 == 0o600
