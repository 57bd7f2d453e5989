"""Sums over intervals: what follows each other adds up to the whole."""
from itertools import pairwise

import hdtrace
import pytest

from projects_of_lines import write_project

SECOND = 1_000_000_000
ORIGIN = 100 * SECOND
RUN = """<Run><Region name="solve"><Ranks first="0" last="1"/></Region>{calls}</Run></Application>"""


def call(name, begin, end, attributes="", inside=""):
    nested = f"<Nested>{inside}</Nested>".replace("\n", "") if inside else ""
    return f"{nested}<{name} {attributes} time='{begin}.000000000' end='{end}.000000000' />\n"


def event(kind, time):
    return f"<Event kind='{kind}' name='solve' time='{time}.000000000' />\n"


# Calls that last over ends of intervals, with others inside; a message that is prepared long before it is started.
SENDER = (
    call("Send_init", 0, 1, "toRank='1' toTag='9' cid='0' rid='7' size='32' count='8' tid='0'")
    + event("begin", 1)
    + call("Start", 2, 3, "rid='8' initRid='7'")
    + event("begin", 4)
    + call("File_write", 5, 9, "fid='0' size='24' offset='0'", call("Barrier", 6, 7, "cid='0'") + call("Type_size", 7, 8, "tid='0'"))
    + event("end", 9)
    + call("Start", 10, 11, "rid='9' initRid='7'")
    + event("end", 12)
)
RECEIVER = call("Recv", 3, 8, "fromRank='0' fromTag='9' cid='0' size='32'") + event("begin", 8) + event("end", 10) + call("Barrier", 10, 12, "cid='0'")
TIMES = range(14)


@pytest.fixture(params=["with regions", "without"])
def project(request, tmp_path):
    has_regions = request.param == "with regions"
    lines = [text if has_regions else "".join(line for line in text.splitlines(True) if "Event" not in line) for text in (SENDER, RECEIVER)]
    path = write_project(tmp_path, *lines)
    if has_regions:
        path.write_text(path.read_text().replace("</Application>", RUN.format(calls="")))
    with hdtrace.open(path) as project:
        yield project


def interval(begin, end):
    return ORIGIN + begin * SECOND, ORIGIN + end * SECOND


def read(reader):
    while reader.read(1000):
        pass
    return reader


def sums_of(project, begin, end):
    """What adds up, of each group of each table."""
    statistics = read(project.calls(interval=interval(begin, end)).statistics())
    rows = {
        (by, labels): (of.calls, of.time, of.exclusive, of.bytes, of.sent, of.received, of.entered, of.inside)
        for by in hdtrace.GROUPINGS
        for labels, of in statistics.groups([by])
    }
    matrix = read(project.calls(interval=interval(begin, end)).message_matrix())
    return rows | {("matrix", cell[:2]): cell[2:] for cell in matrix.cells()}


def without(whole, part):
    """The sums of what is in the whole, but not in the part."""
    nothing = (0,) * 8
    left = {key: tuple(a - b for a, b in zip(sums, part.get(key, nothing))) for key, sums in whole.items()}
    return {key: sums for key, sums in left.items() if any(sums)}


def test_an_interval_is_what_its_end_has_more_than_its_begin(project):
    first = TIMES[0]
    for begin in TIMES:
        for end in TIMES[begin:]:
            assert sums_of(project, begin, end) == without(sums_of(project, first, end), sums_of(project, first, begin)), (begin, end)


def test_intervals_that_follow_each_other_have_everything_once(project):
    whole = read(project.calls().statistics()).totals
    parts = [read(project.calls(interval=interval(*ends)).statistics()).totals for ends in pairwise(TIMES)]
    for value in ("calls", "time", "exclusive", "bytes", "sent", "received"):
        assert sum(getattr(part, value) for part in parts) == getattr(whole, value), value


def test_calls_that_began_before_are_told(project):
    statistics = read(project.calls(interval=interval(6, 7), call_class=["file", "point-to-point"]).statistics())
    assert (statistics.totals.calls, statistics.begun_before) == (0, 2)


def test_processes_that_prepared_nothing_are_read_from_the_interval_on(tmp_path):
    """What stands before it need not even be legible."""
    lines = call("Barrier", 1, 2, "cid='0'") * 10_000 + call("Barrier", 5, 6, "cid='0'")
    path = write_project(tmp_path, lines)
    calls = """<Calls name="Barrier" recorded="10001"><Ranks first="0" last="0"/></Calls>"""
    path.write_text(path.read_text().replace("</Application>", f"<Run>{calls}</Run></Application>"))
    trace = next(tmp_path.glob("*.trc"))
    text = trace.read_text()
    trace.write_text(text[:1000] + "?" * 1000 + text[2000:])
    with hdtrace.open(path) as project:
        assert read(project.calls(interval=interval(5, 6)).statistics()).totals.calls == 1
