"""Where the program calls MPI: the sites of all processes in one list."""

import pytest

BUILD_ID = "0123456789abcdef"


def described(*sites, path="/home/u/app", build_id=BUILD_ID):
    """An object file and its sites, each with these offsets."""
    lines = f"Object id=0 path='{path}' buildId='{build_id}'\n"
    for id, offsets in enumerate(sites):
        lines += f"Site id={id} frames='" + "".join(f"0+{offset};" for offset in offsets) + "'\n"
    return lines


def write(run, *lines):
    for rank, of_rank in enumerate(lines):
        run.process(rank, of_rank, size=len(lines))


def merge(run):
    return run.merge_cleanly("app", "--no-sources").project.find("CallSiteList")


def sites(call_sites):
    """[[offset, ...] of each site]"""
    offsets = [int(place.get("offset")) for place in call_sites.findall("Place")]
    return [[offsets[int(place)] for place in site.get("places").split(";")[:-1]] for site in call_sites.findall("CallSite")]


def ids(call_sites):
    """[(map, [(first rank, last rank), ...]), ...]"""
    return [
        (of_ranks.get("map"), [(int(ranks.get("first")), int(ranks.get("last"))) for ranks in of_ranks])
        for of_ranks in call_sites.findall("Sites")
    ]


def test_form(run):
    write(run, described([4457], [4498, 4711]) + "Object id=1 path='/lib/it.so'\nSite id=2 frames='1+7;-1+140000;'\n")
    text = run.merge_cleanly("app", "--no-sources").output.read_text()
    assert """\
  </Datatypes>
  <CallSiteList>
    <Object id="0" path="/home/u/app" buildId="0123456789abcdef"/>
    <Object id="1" path="/lib/it.so"/>
    <Place id="0" object="0" offset="4457"/>
    <Place id="1" object="0" offset="4498"/>
    <Place id="2" object="0" offset="4711"/>
    <Place id="3" object="1" offset="7"/>
    <Place id="4" offset="140000"/>
    <CallSite id="0" places="0;"/>
    <CallSite id="1" places="1;2;"/>
    <CallSite id="2" places="3;4;"/>
    <Sites map="0..2=0..2;">
      <Ranks first="0" last="0"/>
    </Sites>
  </CallSiteList>
</Application>
""" in text


def test_no_list_without_sites(run):
    write(run, "", "Object id=0 path='/home/u/app'\n")
    assert merge(run) is None


def test_processes_that_number_alike_share_a_line(run):
    write(run, *[described([1], [2], [3])] * 3)
    call_sites = merge(run)
    assert sites(call_sites) == [[1], [2], [3]]
    assert ids(call_sites) == [("0..2=0..2;", [(0, 2)])]


def test_ids_differ_between_ranks(run):
    write(run, described([1], [2], [3]), described([2], [1], [3]), described([1], [2], [3]), "", described([2], [1], [3]))
    call_sites = merge(run)
    assert sites(call_sites) == [[1], [2], [3]]
    assert ids(call_sites) == [("0..2=0..2;", [(0, 0), (2, 2)]), ("0=1;1=0;2=2;", [(1, 1), (4, 4)])]


def test_ids_may_be_missing(run):
    write(run, "Object id=3 path='/a'\nSite id=5 frames='3+1;'\nSite id=4 frames='3+2;'\nSite id=1 frames='3+3;'\n")
    call_sites = merge(run)
    assert sites(call_sites) == [[3], [2], [1]]
    assert ids(call_sites) == [("1=0;4..5=1..2;", [(0, 0)])]


def test_equal_build_ids_are_one_object_file(run):
    write(run, described([1], path="/node1/app"), described([1], path="/node2/app"), described([1], build_id="ff"))
    call_sites = merge(run)
    assert [object.attrib for object in call_sites.findall("Object")] == [
        {"id": "0", "path": "/node1/app", "buildId": BUILD_ID}, {"id": "1", "path": "/home/u/app", "buildId": "ff"}
    ]
    assert sites(call_sites) == [[1], [1]]


def test_without_build_id_the_path_counts(run):
    write(run, described([1], build_id=""), described([1], build_id=""), described([1], build_id="", path="/other"))
    assert [object.get("path") for object in merge(run).findall("Object")] == ["/home/u/app", "/other"]


def test_code_without_object_file(run):
    write(run, "Site id=0 frames='-1+140000;'\n", "Site id=0 frames='-1+150000;'\n")
    call_sites = merge(run)
    assert sites(call_sites) == [[140000], [150000]]
    assert call_sites.find("Object") is None


def test_lines_of_python(run):
    line = "Source id={} path='/home/u/solve.py' function='exchange' line={}\n"
    write(
        run,
        line.format(0, 12) + "Site id=0 frames='s0;'\n" + described([7]).replace("Site id=0", "Site id=1"),
        line.format(0, 14) + line.format(1, 12) + "Site id=0 frames='s1;s0;'\nSite id=1 frames='s1;'\n",
    )
    call_sites = merge(run)
    assert [(place.attrib, [function.attrib for function in place]) for place in call_sites.findall("Place")] == [
        ({"id": "0"}, [{"name": "exchange", "file": "/home/u/solve.py", "line": "12"}]),
        ({"id": "1", "object": "0", "offset": "7"}, []),
        ({"id": "2"}, [{"name": "exchange", "file": "/home/u/solve.py", "line": "14"}]),
    ]
    assert [site.get("places") for site in call_sites.findall("CallSite")] == ["0;", "1;", "0;2;"]
    assert ids(call_sites) == [("0..1=0..1;", [(0, 0)]), ("0=2;1=0;", [(1, 1)])]


def test_described_in_two_lines(run):
    write(run, described([1]) * 2)
    assert sites(merge(run)) == [[1]]


@pytest.mark.parametrize(
    "lines, message",
    [
        ("Site id=0 frames='0+1;'", "object file 0 is not described before"),
        ("Site id=0 frames='-2+1;'", "'-2+1' is not object+offset"),
        ("Site id=0 frames='s1;'", "source 1 is not described before"),
        ("Site id=0 frames='s;'", "'s' is not object+offset"),
        ("Source id=0 line=1", "path"),
        ("Source id=0 path='a.py' line=-1", "line is negative"),
        ("Source id=0 path='a.py' line=1\nSource id=0 path='a.py' line=2", "source 0 is described differently in app_node01_0_0.info:2"),
        ("Site id=0", "frames"),
        ("Site id=0 frames=''", "a site has at least one frame"),
        ("Site id=0 frames='-1+1'", "'-1+1' is not object+offset"),
        ("Site id=0 frames='-1+;'", "'-1+' is not object+offset"),
        ("Site id=0 frames='-1-1;'", "'-1-1' is not object+offset"),
        ("Site id=0 frames='-1+-1;'", "'-1+-1' is not object+offset"),
        ("Site id=0 frames='-1+1;x'", "'x' is not object+offset"),
        ("Site id=0 frames='-1+9223372036854775808;'", "is not object+offset"),
        ("Site id=-1 frames='-1+1;'", "the id is negative"),
        ("Site id=9223372036854775807 frames='-1+1;'", "the id is too large"),
        ("Site id=0 frames='-1+1;'\nSite id=0 frames='-1+2;'", "call site 0 is described differently in app_node01_0_0.info:2"),
        ("Object id=0", "path"),
        ("Object id=-1 path='/a'", "the id is negative"),
        ("Object id=0 path='/a' buildId='../../x'", "'../../x' is no build id"),
        ("Object id=0 path='/a' buildId='abc'", "'abc' is no build id"),
        ("Object id=0 path='/a'\nObject id=0 path='/b'", "object file 0 is described differently in app_node01_0_0.info:2"),
    ],
)
def test_what_cannot_be_understood(run, lines, message):
    write(run, lines + "\n")
    text = run.fail()
    line = 2 + lines.count("\n")
    assert text.startswith(f"app_node01_0_0.info:{line}") and message in text
    assert text.count("\n") == 1
