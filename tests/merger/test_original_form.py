"""Lines exactly as the specification prints them (sections 2.3.3, 2.3.5 and 2.3.6)."""

COMMUNICATORS = """\
Comm map='0->0;1->1;2->2;3->3;4->4;' id=0 name='WORLD'  
Comm map='1->1;2->0;' id=1 name=''  
Comm map='1->1;3->0;' id=2 name=''
"""

TYPES = """\
Type id='1275069445' combiner='MPI_COMBINER_NAMED' name='MPI_INT'
Type id='1275070475' combiner='MPI_COMBINER_NAMED' name='MPI_DOUBLE'
Type id='-1946157050' combiner='MPI_COMBINER_STRUCT' name='' \\
  integers='2;4;5;' addresses='6;7;' types='1275069445;1275070475;'
"""

FILE = 'File name="filetest_03.tmp" Size=0 id=2\n'

TRACE = """\
<Init time='1240424724.508182' end='1240424724.508183' />
<File_write_at_all_begin file='2' aid='0'
  time='1240424724.531647' end='1240424724.531654' >
  <Data offset='0' size='1' count='1' type='1275069445' />
</File_write_at_all_begin>
<Wait time='1240497420.079011' end='1240497420.079028' >
  <For rid='1' />
</Wait>
"""


def write_process(run, rank):
    run.process(rank, COMMUNICATORS.splitlines(keepends=True)[0], header=False)


def test_example_of_the_specification(run):
    for rank in (0, 4):
        write_process(run, rank)
    run.info(1, COMMUNICATORS + TYPES + FILE + "\n\n", header=False)
    (run.folder / "app_node01_1_0.trc").write_text("<Program rank='1' thread='0'>\n" + TRACE + "</Program>\n")
    run.process(2, "Comm map='0->0;1->1;2->2;3->3;4->4;' id=0 name='WORLD'\nComm map='1->1;2->0;' id=2 name=''\n", header=False)
    run.process(3, "Comm map='0->0;1->1;2->2;3->3;4->4;' id=0 name='WORLD'\nComm map='1->1;3->0;' id=1 name=''\n", header=False)
    result = run.merge("app")
    assert result.code == 0
    assert len(result.warnings) == 1
    assert "communicators without uid" in result.stderr
    assert result.project.get("processCount") == "5"
    assert result.communicators() == [
        ("WORLD", [(rank, rank, 0) for rank in range(5)]),
        ("", [(1, 1, 1), (2, 0, 2)]),
        ("", [(1, 1, 2), (3, 0, 1)]),
    ]
    integer, double, struct = (result.datatype(id, rank=1) for id in (1275069445, 1275070475, -1946157050))
    assert integer.attrib == {"id": "1275069445", "name": "MPI_INT"}
    assert double.attrib == {"id": "1275070475", "name": "MPI_DOUBLE"}
    assert struct.attrib == {"id": "-1946157050", "name": "", "count": "2"}
    assert [child.attrib for child in struct] == [
        {"id": "1275069445", "displacement": "6", "blocklen": "4"},
        {"id": "1275070475", "displacement": "7", "blocklen": "5"},
    ]
    file = result.project.find("FileList/File")
    assert file.get("name") == "filetest_03.tmp"
    assert file.findtext("InitialSize") == "0"
    assert file.find("Rank").attrib == {"global": "1", "thread": "0", "fid": "2"}


def test_lines_on_one_line(run):
    run.process(0, TYPES.replace("\\\n ", ""), header=False)
    assert len(run.merge_cleanly().datatypes(0)) == 3


def test_carriage_returns(run):
    run.process(0, (TYPES + FILE).replace("\n", "\r\n"), header=False)
    assert len(run.merge_cleanly().datatypes(0)) == 3
