import pytest


def file(name, id, size=0, time=None, inode=None, host=None, device=1, birth=None, handle=None, local=None):
    line = f'File name="{name}" Size={size} id={id}'
    if time is not None:
        line += f" time={time}"
    if inode is not None:
        line += f" device={device} inode={inode}"
    if host is not None:
        line += f" host='{host}'"
    if birth is not None:
        line += f" birth={birth}"
    if handle is not None:
        line += f" handle='{handle}'"
    if local is not None:
        line += f" local={local}"
    return line + "\n"


def files(result):
    return {
        f.get("name"): (
            int(f.findtext("InitialSize")),
            int(f.find("InitialSize").get("from")),
            [(int(r.get("global")), int(r.get("fid"))) for r in f.findall("Rank")],
        )
        for f in result.project.find("FileList")
    }


def test_same_name_is_the_same_file(run):
    run.process(0, file("/a", 0) + file("/b", 1), size=2)
    run.process(1, file("/b", 0) + file("/c", 1), size=2)
    assert {name: uses for name, (_, _, uses) in files(run.merge_cleanly()).items()} == {
        "/a": [(0, 0)],
        "/b": [(0, 1), (1, 0)],
        "/c": [(1, 1)],
    }


def hosts(result):
    """[(name, host, ranks)] of all files."""
    return [(f.get("name"), f.get("host"), [int(r.get("global")) for r in f.findall("Rank")]) for f in result.project.find("FileList")]


def test_local_disks_of_two_hosts_are_two_files(run):
    for rank, host in enumerate(["n", "m", "n"]):
        run.process(rank, file("/tmp/a", 0, inode=7, host=host, local=1) + file("/tmp/only", 1, host=host, local=int(rank == 1)), size=3)
    assert hosts(run.merge_cleanly()) == [("/tmp/a", "m", [1]), ("/tmp/a", "n", [0, 2]), ("/tmp/only", None, [0, 1, 2])]


def test_the_local_disk_of_a_server_is_the_shared_one_of_others(run):
    run.process(0, file("/home/a", 0, inode=7, host="server", local=1), size=3)
    run.process(1, file("/home/a", 0, inode=9, host="n"), size=3)
    run.process(2, file("/home/a", 0, inode=9, host="m", local=0), size=3)
    assert hosts(run.merge_cleanly()) == [("/home/a", None, [0, 1, 2])]


def test_hard_links_are_the_same_file(run):
    run.process(0, file("/a", 0, time=2.0, inode=7, host="n"), size=2)
    run.process(1, file("/b", 0, time=1.0, inode=7, host="n"), size=2)
    assert files(run.merge_cleanly()) == {"/b": (0, 1, [(0, 0), (1, 0)])}


def test_links_of_links(run):
    run.process(0, file("/a", 0, inode=1, host="n") + file("/b", 1, inode=2, host="n"), size=2)
    run.process(1, file("/a", 0, inode=3, host="m") + file("/c", 1, inode=3, host="m") + file("/b", 2, inode=3, host="m"), size=2)
    assert files(run.merge_cleanly()) == {"/a": (0, 0, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)])}


@pytest.mark.parametrize(
    "other",
    [
        dict(inode=8, host="n"),
        dict(inode=7, host="m"),
        dict(inode=7, host="n", device=2),
        dict(inode=7, host="n", birth="5.2", handle="0a"),
        dict(inode=7, host="n", birth="5.1", handle="0b"),
        dict(),
    ],
)
def test_other_inode_device_host_birth_or_handle_is_another_file(run, other):
    run.process(0, file("/a", 0, inode=7, host="n", birth="5.1", handle="0a") + file("/b", 1, **other), size=1)
    assert len(files(run.merge_cleanly())) == 2


def test_initial_size_is_that_of_the_earliest_record(run):
    for rank, (size, time) in enumerate([(30, "2.000000001"), (10, "2.000000000"), (20, "2.5")]):
        run.process(rank, file("/f", 0, size, time), size=3)
    assert files(run.merge_cleanly())["/f"][:2] == (10, 1)


def test_times_of_different_processes_are_made_absolute(run):
    run.process(0, file("/f", 0, 1, time=5.0), size=2)
    info = run.folder / run.process(1, file("/f", 0, 2, time=6.0), size=2)
    info.write_text(info.read_text().replace("timeAdjustment=1240424724", "timeAdjustment=1240424722"))
    assert files(run.merge_cleanly())["/f"][:2] == (2, 1)


def test_records_without_time_come_last(run):
    run.process(0, file("/f", 0, 1), size=2)
    run.process(1, file("/f", 0, 2, time=9.0), size=2)
    assert files(run.merge_cleanly())["/f"][:2] == (2, 1)


def test_lowest_rank_wins_if_no_record_has_a_time(run):
    run.process(0, file("/f", 0, 1), size=2)
    run.process(1, file("/f", 0, 2), size=2)
    assert files(run.merge_cleanly())["/f"][:2] == (1, 0)


def test_large_and_overflown_sizes(run):
    run.process(0, file("/a", 0, 9223372036854775807) + file("/b", 1, -2147483648), size=1)
    assert {name: size for name, (size, _, _) in files(run.merge_cleanly()).items()} == {"/a": 2**63 - 1, "/b": 0}


@pytest.mark.parametrize(
    "written, name",
    [
        (rb"/a b", "/a b"),
        (rb"/it\'s \"so\" \\ & <b>", "/it's \"so\" \\ & <b>"),
        (rb"it's", "it's"),
        ("/käse/文件".encode(), "/käse/文件"),
        (rb"/line\nfeed\ttab\rreturn", "/line\nfeed\ttab\rreturn"),
        (rb"/\x01\x7f", "/�\x7f"),
        (rb"/\xff\xc3", "/��"),
        (b"/\xff raw", "/� raw"),
        (rb"/\xef\xbf\xbf", "/�"),
        (rb"/\xed\xa0\x80", "/���"),
        (rb"C:\qux\x4", "C:\\qux\\x4"),
        (rb"ufs:/a", "ufs:/a"),
    ],
)
def test_names_with_special_characters(run, written, name):
    run.process(0, b'File name="' + written + b'" Size=0 id=0\n', size=1)
    assert list(files(run.merge_cleanly())) == [name]


def test_described_twice(run):
    run.process(0, file("/a", 0) + file("/b", 0), size=1)
    message = run.fail()
    assert "app_node01_0_0.info:3:" in message
    assert "file 0 is described differently in app_node01_0_0.info:2" in message


@pytest.mark.parametrize(
    "line, message",
    [
        ("File Size=0 id=0", ":2:1: error: a File line needs name="),
        ("File name='/a' Size=0", ":2:1: error: a File line needs id="),
        ("File name='/a' Size=x id=0", ":2:21: error: Size is not a number"),
        ("File name='/a Size=0 id=0", ":2:11: error: the quote is not closed"),
        ("File name='/it's' Size=0 id=0", ":2:16: error: expected key=value"),
        ("File name='/a' Size=0 id=0 time=1.0000000001", ":2:33: error: time is not a time"),
        ("File name='/a' Size=0 id=99999999999999999999", ":2:26: error: id is not a number"),
    ],
)
def test_broken_lines(run, line, message):
    run.process(0, line + "\n", size=1)
    assert "app_node01_0_0.info" + message in run.fail()
