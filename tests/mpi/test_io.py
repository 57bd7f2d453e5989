"""Files: which file, which bytes of it, in which way."""
import re

import pytest
from support.calls import ANY, Call, For
from support.runs import ranks, run_with_tracer

ALL = ranks(1, 2, 3, 4)
BLOCK = 16  # bytes that each process writes at once in the programs io_*


@ALL
def test_a_file_has_one_id_by_all_its_names(run_traced, ranks):
    run = run_traced("io_files", ranks)
    for trace in run:
        def opened(name):
            return trace.value(Call("File_open", name=name, cid=0), "fid")

        first = opened("first.data")
        assert opened("./first.data") == opened("link.data") == first != opened("second.data")
        assert run.project.file_name(trace.rank, first) == str(run.directory.resolve() / "first.data")
        if trace.rank == 0:
            assert Call("File_delete", fid=first, name="first.data") in trace
        assert len(trace.find(Call("File_close", fid=first))) == 3
        assert run.project.files[trace.rank, int(first)].findtext("InitialSize") == "0"


@ALL
def test_questions_about_files(run_traced, ranks):
    for trace in run_traced("io_files", ranks):
        assert Call("File_open", amode="CREATE|RDWR", flags=ANY) in trace
        assert Call("File_open", amode="CREATE|WRONLY") in trace
        assert Call("File_set_size", fid=0, size=1000) in trace
        assert Call("File_get_size", fid=0, size=1000) in trace
        assert Call("File_preallocate", fid=0, size=2000) in trace
        assert Call("File_get_size", fid=0, size=2000) in trace
        assert Call("File_set_info", [], fid=0) in trace
        assert Call("File_set_atomicity", fid=0, flag=1) in trace
        assert Call("File_set_atomicity", fid=0, flag=0) in trace
        assert Call("File_sync", fid=0) in trace


@ranks(1, 2)
def test_what_asks_for_nothing_transfers_nothing(run_traced, ranks):
    """MPICH leaves the status of a collective access as it was whose datatype is empty."""
    for trace in run_traced("io_empty", ranks):
        accesses = [state for state in trace if state.name.startswith(("File_read", "File_write"))]
        assert len(accesses) == 2 * 4 + 1 and all(state["size"] == "0" and "actual" not in state for state in accesses)
        completed = [child for state in trace if state.name == "Wait" for child in state.children]
        assert len(completed) == 1 and all("actual" not in child for child in completed)
        assert Call("Recv", fromRank=-2, fromTag=-1, size=0) in trace


@ALL
def test_explicit_offsets(run_traced, ranks):
    run = run_traced("io_explicit", ranks)
    for trace in run:
        def access(name, region, **more):
            offset = (region * ranks + trace.rank) * BLOCK
            return Call(name, fid=0, offset=offset, etOffset=offset, size=BLOCK, count=4, tid=run.tid(trace, "MPI_INT"), **more)

        for kind in ("write", "read"):
            assert access(f"File_{kind}_at", 0, actual=None) in trace
            assert access(f"File_{kind}_at_all", 1, actual=None) in trace
            for name, region in ((f"File_i{kind}_at", 2), (f"File_i{kind}_at_all", 3)):
                rid = trace.value(access(name, region), "rid")
                assert any(For(rid=rid, actual=None).matches(child) for state in trace for child in state.children)
            _check_split(trace, access(f"File_{kind}_at_all_begin", 4))


def _check_split(trace, begin):
    state = trace.only(begin)
    (data,) = state.children
    assert data.name == "Data"
    for key in ("offset", "size", "count", "tid"):
        assert data.get(key) == state.get(key)
    assert Call("Wait", [For(rid=state["rid"], actual=None)]) in trace


@ALL
def test_reading_past_the_end_shows_how_much_was_there(run_traced, ranks):
    """As far as the MPI library tells: it may tell what was asked."""
    run = run_traced("io_end", ranks)
    told = {way: int(size) for way, size in re.findall(r"(File_\w+) (\d+)", run.stdout)}
    assert told["File_read_at"] == BLOCK // 2
    trace = run.traces[0]
    for way, size in told.items():
        actual = None if size == BLOCK else size
        starts = trace.find(Call(way, size=BLOCK, count=4))
        assert len(starts) == 2  # with and without a status of the program's own
        for start in starts:
            if way in ("File_read_at", "File_read_at_all"):
                assert Call(way, actual=actual).matches(start)
            else:
                assert any(For(rid=start["rid"], actual=actual).matches(child) for state in trace for child in state.children)


@ALL
def test_individual_pointers(run_traced, ranks):
    run = run_traced("io_individual", ranks)
    for trace in run:
        def access(name, region, **more):
            return Call(name, fid=0, offset=(region * ranks + trace.rank) * BLOCK, size=BLOCK, count=4, tid=run.tid(trace, "MPI_INT"), **more)

        for kind in ("write", "read"):
            assert access(f"File_{kind}", 0, actual=None) in trace
            assert access(f"File_{kind}_all", 1, actual=None) in trace
            for name, region in ((f"File_i{kind}", 2), (f"File_i{kind}_all", 3)):
                assert Call("Wait", [For(rid=trace.value(access(name, region), "rid"), actual=None)]) in trace
            _check_split(trace, access(f"File_{kind}_all_begin", 4))


@ALL
def test_seeks_say_where_they_lead(run_traced, ranks):
    for trace in run_traced("io_individual", ranks):
        own = trace.rank * BLOCK
        assert Call("File_seek", fid=0, relative_offset=own, whence="MPI_SEEK_SET", offset=own) in trace
        assert Call("File_seek", fid=0, relative_offset=(ranks - 1) * BLOCK, whence="MPI_SEEK_CUR", offset=ranks * BLOCK + own) in trace
        assert Call("File_seek", fid=0, relative_offset=own - ranks * BLOCK, whence="MPI_SEEK_END", offset=4 * ranks * BLOCK + own) in trace


@ALL
def test_shared_pointers(run_traced, ranks):
    run = run_traced("io_shared", ranks)
    for trace in run:
        volume = {"fid": 0, "size": BLOCK, "count": 4, "tid": run.tid(trace, "MPI_INT"), "offset": None}
        for kind in ("write", "read"):
            assert Call(f"File_{kind}_shared", actual=None, **volume) in trace
            assert Call(f"File_{kind}_ordered", actual=None, **volume) in trace
            assert Call("Wait", [For(rid=trace.value(Call(f"File_i{kind}_shared", **volume), "rid"), actual=None)]) in trace
            _check_split(trace, Call(f"File_{kind}_ordered_begin", **volume))
        assert Call("File_seek_shared", fid=0, relative_offset=0, whence="MPI_SEEK_SET", offset=0) in trace


@ALL
def test_offsets_are_absolute_under_a_view(run_traced, ranks):
    """Each process sees blocks of 8 bytes, one in `ranks`, behind a header of 100 bytes."""
    run = run_traced("io_views", ranks)
    for trace in run:
        def place(etype):
            return 100 + 8 * trace.rank + etype // 2 * 8 * ranks + etype % 2 * 4

        tid = run.tid(trace, "MPI_INT")
        assert Call("File_set_view", fid=0, offset=place(0), etid=tid, filetid=trace.value(Call("Type_create_resized"), "tid"),
                    representation="native") in trace
        assert Call("File_write_all", offset=place(0), size=16) in trace
        assert Call("File_write", offset=place(4), size=4) in trace
        assert Call("File_write", offset=place(5), size=16) in trace
        assert Call("File_write_at", offset=place(21), etOffset=21, size=4) in trace
        assert Call("File_iwrite_at", offset=place(22), etOffset=22, size=16) in trace
        assert Call("File_read_at", offset=place(0), etOffset=0, size=16) in trace
        assert Call("File_seek", relative_offset=5, whence="MPI_SEEK_SET", offset=place(5)) in trace
        assert Call("File_seek", relative_offset=-1, whence="MPI_SEEK_CUR", offset=place(4)) in trace
        assert Call("File_read_all", offset=place(4), size=4) in trace
        assert Call("File_set_view", offset=8, etid=run.tid(trace, "MPI_CHAR"), filetid=run.tid(trace, "MPI_CHAR")) in trace
        assert Call("File_write_at", offset=11, etOffset=3, size=1) in trace


@ranks(1, 2)
def test_failed_calls_on_files(run_traced, ranks):
    for trace in run_traced("io_errors", ranks):
        assert Call("File_open", name="missing/file.data", rc="MPI_ERR_NO_SUCH_FILE", fid=lambda fid: fid in (None, "-1")) in trace
        assert Call("File_delete", name="missing.data", rc="MPI_ERR_NO_SUCH_FILE") in trace
        assert Call("File_open", name="readable.data", rc=None) in trace
        assert Call("File_read", rc=lambda rc: rc is not None and rc.startswith("MPI_ERR_")) in trace
        assert Call("File_write_at", rc=ANY) in trace
        rid = trace.value(Call("File_write_at_all_begin", offset=0, rc=None), "rid")
        assert Call("File_write_at_all_begin", rc=ANY) in trace
        assert Call("Wait", [For(rid=rid)]) in trace
        assert Call("File_close", rc=None) in trace


@pytest.mark.parametrize("file_info", ["0", "1"])
def test_hints_are_logged_on_demand(run_traced, file_info):
    pairs = {"access_style": "read_once", "note": "a<b & 'c'"}
    expected = [Call("Info", key=key, value=value) for key, value in pairs.items()] if file_info == "1" else []
    run = run_traced("io_info", 2, {"HDTRACE_FILE_INFO": file_info})
    for trace in run:
        for name in ("File_open", "File_set_info", "File_set_view"):
            assert Call(name, expected) in trace
    assert Call("File_delete", expected) in run.traces[0]


def type_frees_of(run):
    """How many calls free datatypes, of each process."""
    texts = [path.read_text() for path in sorted(run.trace_directory.glob("*.info"))]
    return [sorted(re.findall(r"^Calls name='(Type_free)' recorded=(\d+)", text, re.M)) for text in texts]


def test_what_the_library_frees_is_not_the_programs(tmp_path):
    """ROMIO frees what it has made by the functions that programs call."""
    runs = []
    for for_check in ("0", "1"):
        (tmp_path / for_check).mkdir()
        settings = {"HDTRACE_ALL_FUNCTIONS": "2", "HDTRACE_FOR_CHECK": for_check}
        runs.append(type_frees_of(run_with_tracer("io_views", 2, tmp_path / for_check, env=settings)))
    assert runs[0] == runs[1] and len(runs[0]) == 2 and all(runs[0])
