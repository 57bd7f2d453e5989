"""With an index statistics are what they are without one, and come from few blocks."""
import os
import random
import shutil
import subprocess

import hdtrace
import pytest

from projects_of_lines import HEAD, write_project
from test_accesses import LINES as ACCESSES
from test_command import run, run_well
from test_statistics import OVERLAPPING, RECEIVES, call, came, completion, receive

TABLES = [["call"], ["class"], ["call", "rank", "size"], ["peer"], ["communicator"], ["site"], ["thread", "region"], ["region", "call"]]


def values(totals):
    names = ("calls", "time", "exclusive", "shortest", "longest", "bytes", "sent", "received", "posted", "entered", "inside")
    return [getattr(totals, name) for name in names]


def sums(path, indexed, **selection):
    """All that statistics tell; `indexed`: how many processes have to be told of by their index."""
    with hdtrace.open(path) as project:
        statistics = project.calls(**selection).statistics(TABLES, counters=False)
        while statistics.read(1000):
            pass
        assert statistics.indexed == indexed
        tables = [[(labels, values(totals)) for labels, totals in statistics.groups(by)] for by in TABLES]
        whole = (values(statistics.totals), statistics.unfinished, statistics.begun_before, statistics.begin, statistics.end)
        return tables, whole


def moments(path, count):
    """Of calls, and some between."""
    with hdtrace.open(path) as project:
        times = sorted({time for call in project.calls(unfinished=True) for time in (call.time, call.end)})
    chosen = random.Random(1).choices(times, k=count)
    return [time + random.Random(time).randint(-1, 1) for time in chosen]


def check_same(path, calls, selections=({},), intervals=25):
    """In many intervals."""
    ends = moments(path, 2 * intervals)
    asked = [{"interval": (None, None), **selection} for selection in selections]
    asked += [{"interval": (min(pair), max(pair)), **random.Random(pair[0]).choice(selections)} for pair in zip(ends[::2], ends[1::2])]
    expected = [sums(path, 0, **selection) for selection in asked]
    run_well("index", "--calls", calls, path)
    processes = len(list(path.parent.glob("*.index")))
    assert processes > 0
    with hdtrace.open(path) as project:
        ranks = {thread.rank for thread in project.threads}
    for selection, as_read in zip(asked, expected):
        wanted = set(selection.get("rank", ranks)) & ranks
        assert sums(path, len(wanted), **selection) == as_read, (selection, calls)


@pytest.mark.parametrize("calls", [1, 2, 3, 7])
def test_regions_that_overlap(tmp_path, calls):
    check_same(write_project(tmp_path, OVERLAPPING, OVERLAPPING), calls, ({}, {"rank": [0]}))


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_accesses_that_fail_in_later_blocks(tmp_path, calls):
    check_same(write_project(tmp_path, ACCESSES), calls)


@pytest.mark.parametrize("calls", [1, 2, 3, 7])
def test_receives_that_come_in_later_blocks(tmp_path, calls):
    check_same(write_project(tmp_path, RECEIVES, RECEIVES + call("Barrier", 20)), calls, ({}, {"name": ["Irecv"]}, {"rank": [1]}), 60)


@pytest.mark.parametrize("calls", [1, 3])
def test_regions_and_calls_of_several_threads(tmp_path, calls):
    def event(kind, name, time):
        return f"<Event name='{name}' kind='{kind}' time='{time}.000000000' />\n"

    nested = "<Nested><Send toRank='1' cid='0' size='8' time='{0}.200000000' end='{0}.300000000' /></Nested><Barrier cid='0' time='{0}.100000000' end='{1}.000000000' />\n"
    first = event("begin", "solve", 1)
    for step in range(2, 40, 4):
        first += event("begin", "step", step) + call("Barrier", step) + nested.format(step + 1, step + 2) + event("end", "step", step + 2) + call("Bcast", step + 2)
    first += event("end", "solve", 50) + receive("Irecv", 51, 1000, "rid='0'")
    path = write_project(tmp_path, first)
    facts = '<Run><Region name="solve"><Ranks first="0" last="0"/></Region></Run></Application>'
    path.write_text(path.read_text().replace("</Application>", facts))
    for thread in ('<Node name="0"/>', '<Label value="0"/>'):
        path.write_text(path.read_text().replace(thread, thread + thread.replace("0", "1")))
    second = nested.format(1, 30) + nested.format(30, 52) + completion(53, came(0, 10)) + "<Recv unfinished='1' time='54.000000000' end='60.000000000' />\n"
    (tmp_path / "app_node01_0_1.trc").write_text(HEAD.format(rank=0).replace("thread='0'", "thread='1'") + second + "</Program>\n")
    check_same(path, calls, ({}, {"thread": [0]}, {"thread": [1]}, {"call_class": ["collective"]}, {"unfinished": True}), 80)


def test_a_real_program(heat, tmp_path):
    path = tmp_path / "heat" / heat.name
    shutil.copytree(heat.parent, path.parent)
    check_same(path, 20, ({}, {"rank": [1, 2]}, {"name": ["Waitall", "Irecv"]}))


def project_with_index(folder):
    path = write_project(folder, RECEIVES + call("Barrier", 20), RECEIVES)
    run_well("index", "--calls", 2, path)
    return path


def test_sums_of_an_interval_are_the_difference_of_two(tmp_path):
    """Of counts and times; what an Irecv got is known only once it came."""
    path = write_project(tmp_path, "".join(call("Barrier", time) + call("Bcast", time + 1) for time in range(1, 100, 2)))
    run_well("index", "--calls", 4, path)

    def until(end):
        return sums(path, 1, interval=(None, end))[1][0]

    for begin, end in ((101_000_000_000, 150_500_000_000), (120_000_000_000, 121_000_000_000), (99, 180_000_000_000)):
        exact = sums(path, 1, interval=(begin, end))[1][0]
        difference = [to - before for to, before in zip(until(end), until(begin))]
        assert exact[:3] == difference[:3]
        assert exact[5:9] == difference[5:9]


def test_an_index_of_other_traces_is_not_used(tmp_path):
    path = project_with_index(tmp_path)
    trace = tmp_path / "app_node01_0_0.trc"
    trace.write_text(trace.read_text().replace("</Program>", call("Barrier", 30) + "</Program>"))
    shown = run("stats", path)
    assert shown.returncode == 0
    assert "app_node01_0_0.index: this index is not of the traces as they are now" in shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    (tmp_path / "app_node01_0_0.index").unlink()
    assert run_well("stats", path) == shown.stdout


def checksum_of(text):
    """FNV-1a of 64 bits, as a signed number."""
    checksum = 0xCBF29CE484222325
    for byte in text:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return checksum - (checksum >> 63 << 64)


def age(index):
    """Makes it one of the version that did not tell slashes of names."""
    text = subprocess.run(["zstd", "-dc", index], capture_output=True, check=True).stdout
    begin, end = text.index(b"<Index "), text.index(b"<Directory ")
    directory = text[begin:end].replace(b" version='2'", b"")
    assert len(directory) < end - begin
    last = f"<Directory offset='{begin}' bytes='{len(directory)}' checksum='{checksum_of(directory)}' time='0.000000000' end='0.000000000' />\n"
    index.write_bytes(subprocess.run(["zstd", "-c"], input=text[:begin] + directory + last.encode(), capture_output=True, check=True).stdout)


@pytest.mark.parametrize("name, is_used", [("solve", True), ("I/O", False)])
def test_an_index_that_cannot_tell_regions_is_not_used_for_them(tmp_path, name, is_used):
    path = write_project(tmp_path, f"<Event name='{name}' kind='begin' time='1' />\n" + call("Barrier", 1) + f"<Event name='{name}' kind='end' time='3' />\n")
    as_read = run_well("stats", "--by", "region", path)
    run_well("index", path)
    assert sums(path, 1)
    age(tmp_path / "app_node01_0_0.index")
    shown = run("stats", "--by", "region", path)
    assert shown.stdout == as_read and ("cannot tell some regions" not in shown.stderr) == is_used
    assert run("stats", path).stderr == ""


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_index_is_not_used(tmp_path, seed):
    path = project_with_index(tmp_path)
    index = tmp_path / "app_node01_0_0.index"
    content = bytearray(index.read_bytes())
    chance = random.Random(seed)
    if seed % 3:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    else:
        del content[chance.randrange(len(content)):]
    index.write_bytes(content)
    interval = (101_500_000_000, 113_000_000_000)

    def figures():
        with hdtrace.open(path) as project:
            statistics = project.calls(interval=interval).statistics(TABLES)
            while statistics.read(1000):
                pass
            return [[(labels, values(totals)) for labels, totals in statistics.groups(by)] for by in TABLES]

    shown = figures()
    index.unlink()
    assert shown == figures()


def test_an_index_goes_with_its_project(tmp_path):
    path = project_with_index(tmp_path)
    run_well("cp", path, tmp_path / "copy")
    sums(tmp_path / "copy" / "app.proj", 2)
    run_well("mv", path, tmp_path / "other.proj")
    sums(tmp_path / "other.proj", 2)
    run_well("pack", tmp_path / "other.proj", "-o", tmp_path / "run.hdt")
    sums(tmp_path / "run.hdt", 2)
    run_well("unpack", tmp_path / "run.hdt", "-o", tmp_path / "again")
    sums(tmp_path / "again" / "other.proj", 2)
    run_well("compress", tmp_path / "again" / "other.proj")
    sums(tmp_path / "again" / "other.proj", 0)
    run_well("index", tmp_path / "again" / "other.proj")
    sums(tmp_path / "again" / "other.proj", 2)
    run_well("index", "--remove", tmp_path / "again" / "other.proj")
    assert not list((tmp_path / "again").glob("*.index"))
    run_well("rm", tmp_path / "other.proj")
    assert not list(tmp_path.glob("*.index"))


def test_a_trace_that_was_cut_off_has_no_index(tmp_path):
    path = write_project(tmp_path, call("Barrier", 1), closing="")
    shown = run("index", path)
    assert shown.returncode == 1
    assert "hdtrace repair" in shown.stderr
    assert [name for name in os.listdir(tmp_path) if "index" in name] == []
