"""hdtrace plot."""

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
    assert "/data/out, written: rows of 80 bytes" in "".join(tree.getroot().itertext())


def test_rows_are_for_maps_only(heat, tmp_path):
    run = subprocess.run([BUILD / "bin/hdtrace", "plot", heat, "--kind", "waits", "--row", "80", "-o", tmp_path / "x.svg"], capture_output=True, text=True)
    assert run.returncode == 2 and "--row" in run.stderr


def test_accesses_of_files_are_drawn(writers, tmp_path):
    ids, text = drawn(writers, "io-time", tmp_path)
    assert {"rank-0", "rank-1"} <= set(ids)
    assert "offset in bytes" in text and "/data/out" in text
    assert "accesses to files" in drawn(writers, "io-size", tmp_path)[1]


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
