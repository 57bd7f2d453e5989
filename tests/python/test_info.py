import hdtrace
import pytest


def test_lines(write):
    text = "Process base='app' host='it\\'s' rank=0\n\nComm map='0->0;' id=0 name='WORLD'\n"
    info = hdtrace.Info(write("app_host_0_0.info", text))
    assert info.process == {"base": "app", "host": "it's", "rank": "0"}
    assert info.lines == [
        hdtrace.InfoLine("Process", info.process, 1),
        hdtrace.InfoLine("Comm", {"map": "0->0;", "id": "0", "name": "WORLD"}, 3),
    ]
    assert info.cut_off_line is None


def test_lines_of_the_specification(write):
    info = hdtrace.Info(write("old.info", 'File name="filetest_03.tmp" Size=0 id=2\n'))
    assert info.process == {}
    assert info.lines[0].values == {"name": "filetest_03.tmp", "Size": "0", "id": "2"}


def test_any_bytes(write):
    info = hdtrace.Info(write("app.info", b"File name='\\xff\xfe' id=0\n"))
    assert info.lines[0].values["name"] == "\udcff\udcfe"


def test_cut_off_line(write):
    info = hdtrace.Info(write("app.info", "Thread number=1\nType id='0' comb"))
    assert [line.kind for line in info.lines] == ["Thread"]
    assert info.cut_off_line == 2


def test_unknown_kinds_may_look_as_they_like(write):
    info = hdtrace.Info(write("app.info", "Note what 'ever\nThread number=1\n"))
    assert info.lines[0] == hdtrace.InfoLine("Note", {}, 1)
    assert info.lines[1].values == {"number": "1"}


def test_errors_name_their_place(write):
    path = write("app.info", "Thread number=1\nFile name='f id=1\n")
    with pytest.raises(hdtrace.ReadError) as error:
        hdtrace.Info(path)
    assert (error.value.file, error.value.line) == (str(path), 2)
    with pytest.raises(FileNotFoundError):
        hdtrace.Info("none.info")
