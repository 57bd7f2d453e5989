"""What accesses to files ask for and what they move, which may be less or nothing."""

import hdtrace
import pytest
from hdtrace.plot.kinds import _pieces_of_files

from projects_of_lines import write_project


def access(name, second, rid):
    return f"<{name} fid='0' rid='{rid}' offset='{100 * rid}' size='100' count='25' tid='0' time='{second}' end='{second}.5' />\n"


def completion(second, children, failed="", name="Wait"):
    return f"<{name} {failed} time='{second}' end='{second}.5' >{children}</{name}>\n"


#: A read at the end of the file, then writes that fail: one of two, the only one that is waited for, and a split collective.
LINES = "".join((
    access("File_iread_at", 1, 0), completion(2, "<For rid='0' actual='40' />"),
    access("File_iwrite_at", 3, 1), access("File_iwrite_at", 4, 2),
    completion(5, "<For rid='1' /><For rid='2' rc='MPI_ERR_NO_SPACE' />", "rc='MPI_ERR_IN_STATUS'", "Waitall"),
    access("File_iwrite_at", 6, 3), completion(7, "<For rid='3' />", "rc='MPI_ERR_IO'"),
    access("File_write_at_all_begin", 8, 4), completion(9, "<For rid='4' />", "rc='MPI_ERR_IO'"),
    access("File_iread_at", 10, 5), completion(11, "<For rid='5' actual='0' />")))


@pytest.fixture
def project(tmp_path):
    with hdtrace.open(write_project(tmp_path, LINES)) as opened:
        yield opened


def test_calls_move_what_was_transferred(project):
    statistics = project.calls().statistics([["call"]])
    while statistics.read(100):
        pass
    moved = {labels[0]: (totals.sent, totals.received, totals.posted) for labels, totals in statistics.groups(["call"]) if totals.posted}
    assert moved == {"File_iread_at": (0, 40, 200), "File_iwrite_at": (100, 0, 300), "File_write_at_all_begin": (0, 0, 100)}
    frame = project.calls().to_dataframe()
    assert frame.groupby("name", observed=True).bytes.sum().to_dict() == {"File_iread_at": 40, "File_iwrite_at": 100, "File_write_at_all_begin": 0, "Wait": 0, "Waitall": 0}


def test_requests_tell_how_much_came(project):
    columns = project.requests().to_columns()
    assert list(columns["outcome"]) == ["completed", "completed", "failed", "failed", "failed", "completed"]
    assert columns["bytes"].tolist() == [40, 100, None, None, None, 0]
    assert columns["posted_bytes"].tolist() == [100] * 6


def test_files_are_used_by_what_was_moved(project):
    (row,) = project.analyze().io["files"]
    assert (row["read_bytes"], row["written_bytes"], row["accesses"], row["placed"]) == (40, 100, 3, 2)


def test_maps_of_files_show_what_was_moved(project):
    ((file, pieces),) = _pieces_of_files(project)
    assert (file["accesses"], file["unplaced"]) == (2, 0)
    assert [(is_written, begin, end) for _, is_written, _, _, begin, end in pieces] == [(False, 0, 40), (True, 100, 200)]
