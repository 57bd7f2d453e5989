"""Projects that nobody writes by mistake are refused in little time, memory and disk."""
import os
import resource

import pytest
from conversions import call

HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1' rank='0' thread='0'>\n"
NAMED = '<NAMED id="0" name="MPI_INT" size="4" lb="0" extent="4"/>'
OPEN = "<File_open cid='0' name='/a' flags='1' fid='0' time='1' end='1' />\n"
SET_VIEW = "<File_set_view fid='0' offset='{}' etid='0' filetid='{}' representation='native' time='2' end='2' />\n"
READ = "<File_read fid='0' offset='{}' size='{}' time='3' end='4' />\n"
FORMATS = ["chrome", "csv", "dumpi", "ioplot", "otf2", "paje", "piosimhd", "sqlite", "tit"]
HUGE = (1 << 63) - 1


def write_project(folder, types="", calls="", processes=1):
    project = folder / "app.proj"
    project.write_text(f"""<Application name="app" processCount="{processes}" version="1"><Description/>
<FileList><File name="/a"><Rank global="0" thread="0" fid="0"/></File></FileList>
<Topology><Level name="Hostname" type="Hostname"><Level name="Rank" type="Rank"><Level name="Thread" type="Thread"/></Level></Level>
<Node name="h"><Node name="0"><Node name="0"/></Node></Node></Topology>
<CommunicatorList><Communicator name="WORLD" uid="W"><Rank global="0" local="0" cid="0"/></Communicator></CommunicatorList>
<Datatypes><Rank name="0" thread="0">{NAMED}{types}</Rank></Datatypes></Application>
""")
    (folder / "app_h_0_0.trc").write_text(HEAD + calls + "</Program>\n")
    return project


def refusal(project, to="ioplot", *arguments):
    """The message; nothing is left of the output."""
    folder = project.parent
    before = sorted(folder.iterdir())
    limits = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    result = call("--to", to, *arguments, "-o", folder / "x", project, timeout=20, preexec_fn=limits)
    assert (result.returncode, result.stderr.count("\n"), sorted(folder.iterdir())) == (1, 1, before), result
    return result.stderr


DARRAY = ('<DARRAY id="1" oldType="0" order="MPI_ORDER_C" size="4" rank="{rank}" ndims="1" worldSize="1" lb="0" extent="{extent}">'
          '<Dimension gsize="{gsize}" distrib="{distrib}" darg="{darg}" psize="{psize}"/></DARRAY>')
USE = OPEN + SET_VIEW.format(0, 1) + READ.format(0, 1000)


@pytest.mark.parametrize("psize", [0, -1, -(1 << 40)])
@pytest.mark.parametrize("distrib", ["MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC", "MPI_DISTRIBUTE_NONE"])
def test_arrays_that_are_distributed_to_nobody(tmp_path, psize, distrib):
    types = DARRAY.format(rank=0, gsize=8, distrib=distrib, darg=2, psize=psize, extent=32)
    assert "an array is distributed to" in refusal(write_project(tmp_path, types, USE))


@pytest.mark.parametrize("values", [
    {"gsize": HUGE}, {"gsize": 1 << 60}, {"darg": HUGE}, {"psize": HUGE}, {"darg": 1 << 40, "psize": 1 << 40}, {"extent": HUGE}, {"extent": -HUGE}])
def test_arrays_that_are_too_large(tmp_path, values):
    usual = {"rank": 0, "gsize": 8, "distrib": "MPI_DISTRIBUTE_BLOCK", "darg": 2, "psize": 2, "extent": 32}
    assert "larger than 2^60 bytes" in refusal(write_project(tmp_path, DARRAY.format(**usual | values), USE))


@pytest.mark.parametrize("types", [
    f'<CONTIGUOUS id="1" count="{HUGE}" oldType="0" size="4" lb="0" extent="8"/>',
    f'<VECTOR id="1" count="3" blocklength="1" stride="{HUGE}" oldType="0" size="4" lb="0" extent="8"/>',
    f'<HINDEXED id="1" count="1" oldType="0" size="4" lb="0" extent="8"><Block len="1" index="{-HUGE}"/></HINDEXED>',
    f'<STRUCT id="1" count="1" size="4" lb="0" extent="8"><Type id="0" displacement="{HUGE}" blocklen="{HUGE}"/></STRUCT>'])
def test_types_that_are_too_large(tmp_path, types):
    assert "larger than 2^60 bytes" in refusal(write_project(tmp_path, types, USE))


def test_types_that_are_nested_too_deeply(tmp_path):
    """Each was described, and used, before the next one."""
    member = '<Type id="{}" displacement="{}" blocklen="1"/>'
    types = "".join(f'<STRUCT id="{i}" count="2" size="4" lb="0" extent="8">{member.format(i - 1, 0)}{member.format(0, 4 * i)}</STRUCT>'
                    for i in range(1, 20_001))
    views = "".join(SET_VIEW.format(0, i) for i in range(1, 20_001))
    assert "nested more than 1000 times" in refusal(write_project(tmp_path, types, OPEN + views))


@pytest.mark.parametrize("offset, size", [(HUGE, 8), (-HUGE, 8), (1 << 60, HUGE), (0, 0), (HUGE, HUGE)])
def test_places_that_no_file_has(tmp_path, offset, size):
    project = write_project(tmp_path, DARRAY.format(rank=0, gsize=8, distrib="MPI_DISTRIBUTE_BLOCK", darg=2, psize=2, extent=1 << 58),
                            OPEN + READ.format(offset, size) + SET_VIEW.format(HUGE, 1) + READ.format(offset, size))
    assert call("--to", "ioplot", "-o", tmp_path / "x", project, timeout=20).returncode == 0


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("processes", [HUGE, -1, 2])
def test_processes_that_are_not_described(tmp_path, to, processes):
    message = refusal(write_project(tmp_path, processes=processes), to)
    assert f"the project says that it has {processes} processes, but describes 1" in message


EVERY_SECOND = '<RESIZED id="1" oldType="0" size="4" lb="0" extent="8"/>'


def test_an_access_with_too_many_pieces(tmp_path):
    project = write_project(tmp_path, EVERY_SECOND, OPEN + SET_VIEW.format(0, 1) + READ.format(0, 1 << 60))
    assert "there are more than 10000 pieces" in refusal(project, "ioplot", "--most-pieces", 10_000)
    assert call("--to", "ioplot", "--lines", "operations", "-o", tmp_path / "x", project).returncode == 0


def test_accesses_with_too_many_pieces(tmp_path):
    project = write_project(tmp_path, EVERY_SECOND, OPEN + SET_VIEW.format(0, 1) + READ.format(0, 400) * 100)
    assert "there are more than 9899 pieces" in refusal(project, "ioplot", "--most-pieces", 9899)
    assert call("--to", "ioplot", "--most-pieces", 9900, "-o", tmp_path / "x", project).returncode == 0
    assert call("--to", "ioplot", "--most-pieces", "many", "-o", tmp_path / "y", project).returncode == 2


def test_a_description_of_objects_is_never_replaced(tmp_path):
    project = write_project(tmp_path)
    info = tmp_path / "app_h_0_0.info"
    info.write_text("precious")
    (tmp_path / "link").symlink_to(info)
    os.link(info, tmp_path / "other_name")
    for name in ("app_h_0_0.info", "link", "other_name"):
        result = call("--to", "ioplot", "--overwrite", "-o", tmp_path / name, project)
        assert result.returncode == 1 and "belongs to the trace" in result.stderr
    assert info.read_text() == "precious"


@pytest.mark.parametrize("to", FORMATS)
def test_a_link_to_nothing_is_not_replaced(tmp_path, to):
    project = write_project(tmp_path)
    (tmp_path / "link").symlink_to("nothing")
    result = call("--to", to, "-o", tmp_path / "link", project)
    assert result.returncode == 1 and "link exists, and is no file that is replaced: give another name" in result.stderr
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("to", ["csv", "chrome"])
@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_a_directory_is_not_replaced(tmp_path, to, options):
    project = write_project(tmp_path)
    (tmp_path / "out").mkdir()
    result = call("--to", to, *options, "-o", tmp_path / "out", project)
    assert result.returncode == 1 and "out exists, and is no file that is replaced: give another name" in result.stderr


def test_times_at_both_ends_of_time(tmp_path):
    """What lies between them is more than a number holds."""
    first, last = -9000000000, 9000000000
    calls = (f"<Init time='{first}.0' end='{first}.0' />\n" + OPEN.replace("'1'", f"'{last}.0'").replace("flags='9000000000.0'", "flags='1'") +
             READ.format(0, 4).replace("time='3'", f"time='{last}.0'").replace("end='4'", f"end='{last}.0'"))
    project = write_project(tmp_path, "", calls)
    assert call("--to", "ioplot", "-o", tmp_path / "plot", project).returncode == 0
    assert (tmp_path / "plot").read_text() == "0 r 0 4 9223372036.854775807 9223372036.854775807\n"
    assert call("--to", "tit", "-o", tmp_path / "tit", project).returncode == 0
    assert "compute 9000000000000000000\n" in (tmp_path / "tit/rank-0.txt").read_text()


def test_messages_that_no_memory_holds(tmp_path):
    send = f"<Send size='{HUGE}' count='1' tid='0' toRank='0' toTag='1' cid='0' time='1' end='2' />\n"
    assert "app_h_0_0.trc:3: a message of 9223372036854775807 bytes" in refusal(write_project(tmp_path, calls=send), "tit")
