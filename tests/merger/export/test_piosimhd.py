"""Both generations of the original tools load the copy, and the simulator comes to its end (original_tools.py has their rules)."""
import struct

import pytest
from conversions import PROGRAMS, call, convert, project_of
from original_tools import simulate
from support.runs import LAUNCHER, merge, program, run_untraced

INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
BYTE = "Type id='1' combiner='MPI_COMBINER_NAMED' name='MPI_BYTE' size=1 lb=0 extent=1\n"
WORLD = "Comm map='{}' id=0 name='WORLD' uid='W'\n"
SKIPPED = "calls that the simulator could not bring to their end: shown as Skipped_…, computation for it"
UNKNOWN = "calls that the simulator does not know: computation for it"


# --- real programs ---


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_simulated_to_its_end(traced, tmp_path, program):
    run = traced(program, 4)
    conversion = convert(project_of(run), "piosimhd", tmp_path / "copy")
    project, simulation = simulate(tmp_path / "copy")
    assert conversion.dropped == {}
    top_level = sum(len(states) for states in project.traces.values())
    assert top_level == sum(not state.is_event for thread in run.threads.values() for state in thread)
    assert program == "threads" or simulation.done.total() > 0 or SKIPPED in conversion.approximated


def test_messages_and_collectives_of_a_blocking_program_are_simulated(traced, tmp_path):
    convert(project_of(traced("collectives", 4)), "piosimhd", tmp_path / "copy")
    _, simulation = simulate(tmp_path / "copy")
    assert simulation.done == {rank: 10 for rank in range(4)}


@pytest.mark.parametrize("settings", [{"HDTRACE_NESTED": "1"}, {"HDTRACE_COMPRESS": "zstd"}, {"HDTRACE_COMPRESS": "gzip"}])
@pytest.mark.parametrize("program_name", ["io_files", "nested", "regions"])
def test_other_forms_of_traces(tmp_path, program_name, settings):
    result = run_untraced(LAUNCHER, 2, tmp_path, env=settings, args=("--directory", tmp_path, program(program_name)))
    assert (result.returncode, result.stderr) == (0, "")
    merge(tmp_path / "app.proj", tmp_path)
    convert(tmp_path / "app.proj", "piosimhd", tmp_path / "copy")
    project, _ = simulate(tmp_path / "copy")
    assert all(project.traces[rank, 0] for rank in range(2))


# --- traces of a few lines ---


@pytest.fixture
def copied(run, tmp_path):
    """copied(trace of rank 0, ..., info=lines) -> (Conversion, Project, Simulation)"""

    def copied(*traces, info="", base="app", host="node01"):
        members = "".join(f"{rank}->{rank};" for rank in range(len(traces)))
        for rank, trace in enumerate(traces):
            run.process(rank, INT + BYTE + WORLD.format(members) + info, trace, size=len(traces), base=base, host=host)
        run.merge_cleanly("--no-audit", base, output=f"{base}.proj")
        conversion = convert(tmp_path / f"{base}.proj", "piosimhd", tmp_path / "copy")
        return conversion, *simulate(tmp_path / "copy")

    return copied


def element(name, attributes="", children="", at=1.0):
    end = f" time='{at:.9f}' end='{at:.9f}' "
    return f"<{name} {attributes}{end}" + (f">{children}</{name}>\n" if children else "/>\n")


def send(to, name="Send", at=1.0, more=""):
    return element(name, f"size='8' toRank='{to}' toTag='3' cid='0' {more}", at=at)


def receive(source, name="Recv", at=1.0, more=""):
    return element(name, f"fromRank='{source}' fromTag='3' cid='0' {more}", at=at)


def sendrecv(to, source, name="Sendrecv"):
    return element(name, f"size='8' toRank='{to}' toTag='3' fromRank='{source}' fromTag='3' cid='0'")


def tags(project, rank=0, thread=0):
    return [state.tag for state in project.traces[rank, thread]]


def test_messages_of_blocking_calls(copied):
    conversion, project, simulation = copied(send(1) + send(1, name="Ssend"), receive(0) + receive(0))
    assert (tags(project), tags(project, 1), simulation.done) == (["Send", "Send"], ["Recv", "Recv"], {0: 2, 1: 2})
    assert (conversion.exact, conversion.approximated) == (3, {"calls as others that the simulator knows and that do the same": 1})


@pytest.mark.parametrize("mine, other", [
    (send(1), element("Irecv", "fromRank='0' fromTag='3' cid='0' rid='0'") + element("Wait", "", "<For rid='0' fromRank='0' fromTag='3' />")),
    (send(-2), ""), (send(1), receive(0, more="unfinished='1'")), (send(1, more="unfinished='1'"), ""), (send(1, more="rc='MPI_ERR_TAG'"), ""),
    (receive(-2), ""), (receive(-1, more="unfinished='1'"), ""), (receive(1), element("Step", at=2).replace("<Step", f"<Nested>{send(0).strip()}</Nested><Step", 1)),
    (element("Bcast", "cid='0' size='8' rootRank='0'"), ""), (element("Barrier", "unfinished='1'"), ""), (element("Finalize"), "")])
def test_a_call_that_the_simulator_would_wait_in_for_ever(copied, mine, other):
    conversion, project, simulation = copied(mine, other)
    assert tags(project) == ["Skipped_" + mine[1:].split()[0]] and simulation.done[0] == 0
    assert conversion.approximated[SKIPPED] >= 1


def test_one_side_of_an_exchange(copied):
    _, project, simulation = copied(sendrecv(1, -2), receive(0) + sendrecv(-2, 0) + sendrecv(-2, -2), )
    assert (tags(project), tags(project, 1)) == (["Send"], ["Recv", "Skipped_Sendrecv", "Skipped_Sendrecv"])
    assert simulation.done == {0: 1, 1: 1}


def test_an_exchange_of_two(copied):
    _, project, simulation = copied(sendrecv(1, 1), sendrecv(0, 0, name="Sendrecv_replace"))
    assert (tags(project), tags(project, 1), simulation.done) == (["Sendrecv"], ["Sendrecv"], {0: 1, 1: 1})


def test_collective_operations_without_data_have_a_byte(copied):
    call = element("Bcast", "cid='0' size='0' rootRank='1'") + element("Gather", "cid='0' size='4' root='1'")
    conversion, project, simulation = copied(call, call)
    assert [state.get("size") for state in project.traces[0, 0]] == ["1", "4"] and simulation.done.total() == 4
    assert conversion.approximated == {"collective operations without data: with one byte": 2}


def test_roots_that_the_simulator_translates_twice(copied):
    """It stops where ranks in the communicator are others than those in the world."""
    turned = "Comm map='0->1;1->0;' id=1 name='turned' uid='T'\n"
    calls = element("Bcast", "cid='1' size='8' rootRank='0'") + element("Allreduce", "cid='1' size='8'")
    _, project, _ = copied(calls, calls, info=turned)
    assert tags(project) == ["Skipped_Bcast", "Allreduce"]


def test_init_and_finalize_of_all(copied):
    calls = element("Init_thread") + element("Finalize")
    _, project, simulation = copied(calls, calls)
    assert tags(project) == ["Init", "Finalize"] and simulation.done.total() == 4


def test_calls_inside_a_call_with_elements(copied):
    inside = f"<Nested>{element('Barrier').strip()}</Nested>" + element("File_open", "name='x' rc='MPI_ERR_IO'", "<Info key='a' value='b&amp;c' />")
    _, project, _ = copied(inside)
    opened, = project.traces[0, 0]
    assert (opened.get("elements"), len(opened)) == ("Info key=a value=b&c;", 0)


def test_moments(copied):
    copied("<Event name='x' time='1.0' />\n<Event name='Step' kind='end' time='2.0' ><Step a='b' /></Event>\n")


def test_old_spellings(copied):
    """A call with `aid` would not be waited for."""
    calls = element("Barrier", "comm='0'")
    wait = element("Wait", "aid='3'")
    _, project, simulation = copied(calls + wait, calls)
    assert project.traces[0, 0][1].get("rid") == "3" and simulation.done.total() == 3


FILE = "File name=\"/home/u/DATA\" Size=7 id=3 time=1.0\n"
OPEN = "cid='0' name='DATA' fid='3'"


def test_a_file_has_one_name(copied):
    calls = (element("File_open", OPEN) + element("File_write_at_all", "fid='3' offset='0' size='8'") + element("File_close", "fid='3'")
             + element("File_read", "fid='3' offset='0' size='8'"))
    conversion, project, simulation = copied(calls, calls, info=FILE)
    assert project.traces[0, 0][0].get("name") == "/home/u/DATA" and project.files == {"/home/u/DATA"}
    assert tags(project) == ["File_open", "File_write_all", "File_close", "Skipped_File_read"] and simulation.done.total() == 6
    assert conversion.approximated["files opened: by the name that the project gives the file"] == 2


def described(number, combiner, integers="", addresses="", types="0;", size=8, lb=0, extent=8):
    return (f"Type id='{number}' combiner='MPI_COMBINER_{combiner}' name='' integers='{integers}' addresses='{addresses}' types='{types}' "
            f"size={size} lb={lb} extent={extent}\n")


@pytest.mark.parametrize("line, size, extent", [
    (described(2, "CONTIGUOUS", "2;"), 8, 8), (described(2, "DUP", size=4, extent=4), 4, 4),
    (described(2, "VECTOR", "2;1;3;", extent=16), 8, 16), (described(2, "HVECTOR", "2;1;", "12;", extent=16), 8, 16),
    (described(2, "INDEXED", "2;1;1;0;3;", extent=16), 8, 16), (described(2, "HINDEXED", "2;1;1;", "0;12;", extent=16), 8, 16),
    (described(2, "INDEXED_BLOCK", "2;1;0;3;", extent=16), 8, 16), (described(2, "HINDEXED_BLOCK", "2;1;", "0;12;", extent=16), 8, 16),
    (described(2, "INDEXED", "1500;1+0*1500;0+3*1500;", extent=17992, size=6000), 6000, 17992),
    (described(2, "HINDEXED_BLOCK", "9000;1;", "0+12*9000;", extent=107992, size=36000), 36000, 36000),
    (described(2, "SUBARRAY", "2;4;4;1;2;2;1;MPI_ORDER_C;", size=8, extent=64), 8, 44), (described(2, "RESIZED", "", "0;64;", size=4, extent=64), 4, 4),
    (described(2, "CONTIGUOUS", "0;", size=0, extent=0), 1, 1), (described(2, "HVECTOR", "1000000;1;", "8;", size=4000000, extent=8000000), 4000000, 4000000),
    (described(2, "CONTIGUOUS", "2;") + described(3, "STRUCT", "2;1;2;", "0;8;", "2;0;", size=16, extent=16), 8, 8)])
def test_datatypes(copied, line, size, extent):
    view = element("File_open", OPEN) + element("File_set_view", "fid='3' offset='0' etid='0' filetid='2' representation='native'")
    _, project, simulation = copied(view, info=FILE + line)
    assert (project.types[0].sizes[2], project.types[0].extents[2], simulation.done.total()) == (size, extent, 2)


@pytest.mark.parametrize("name, size", [("LONG", 8), ("LONG", 4), ("SIGNED_CHAR", 1), ("LONG_LONG_INT", 8), ("UNSIGNED_CHAR", 1), ("DOUBLE_INT", 12), ("CHAR", 1)])
def test_predefined_datatypes(copied, name, size):
    line = f"Type id='2' combiner='MPI_COMBINER_NAMED' name='MPI_{name}' size={size} lb=0 extent={size}\n"
    assert copied("", info=line)[1].types[0].sizes[2] == size


def test_members_without_a_number(run, tmp_path):
    """A process's description is missing."""
    run.process(0, INT + WORLD.format("0->0;1->1;"), element("Barrier", "cid='0'"), size=2)
    run.merge("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "piosimhd", tmp_path / "copy")
    project, _ = simulate(tmp_path / "copy")
    assert set(project.traces) == {(0, 0), (1, 0)} and conversion.notes == ["1 traces are not there: they are empty in the copy"]


def test_names_that_the_readers_look_for(copied, tmp_path):
    copied("", base="My-App.x", host="Node-01")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["my-app.x.proj", "my-app.x_node-01_0_0.trc"]


def test_times_are_relative_to_one_second(run, tmp_path):
    names = [run.process(rank, INT + WORLD.format("0->0;1->1;"), element("Barrier", "cid='0'", at=at), size=2) for rank, at in ((0, 2.5), (1, 3.25))]
    assert len(names) == 2
    run.merge_cleanly("--no-audit", "app")
    convert(tmp_path / "app.proj", "piosimhd", tmp_path / "copy")
    project, _ = simulate(tmp_path / "copy")
    assert [project.traces[rank, 0][0].get("time") for rank in (0, 1)] == ["0.500000000", "1.250000000"]


def statistics(group, values='<Value name="Watts" type="DOUBLE" unit="W" grouping="x"/>'):
    header = f'<Statistics><TopologyNode><Label value="node01"/></TopologyNode><Group name="{group}" timestampDatatype="EPOCH">{values}</Group></Statistics>\n'
    return f"{len(header):05}\n{header}".encode() + struct.pack(">iiiid", 1, 0, 2, 0, 0.5)


def test_statistics_beside_the_traces(run, tmp_path):
    run.process(0, INT + WORLD.format("0->0;"), element("Barrier", "cid='0'"), size=1)
    (tmp_path / "app_node01_Energy.stat").write_bytes(statistics("Energy"))
    (tmp_path / "app_node01_0_0_Counts.stat").write_bytes(statistics("Counts", '<Value name="n" type="INT64" unit=""/>'))
    (tmp_path / "app_node01_Other.stat").write_bytes(statistics("Energy"))
    (tmp_path / "app_node01_Wide.stat").write_bytes(statistics("Wide", '<Value name="n" type="UINT64" unit=""/>'))
    (tmp_path / "app_node01_Cut.stat").write_bytes(b"99999\n<Stat")
    (tmp_path / "else_node01_Energy.stat").write_bytes(statistics("Energy"))
    run.merge_cleanly("--no-audit", "app")
    conversion = convert(tmp_path / "app.proj", "piosimhd", tmp_path / "copy")
    project, _ = simulate(tmp_path / "copy")
    assert {group.tag: [value.tag for value in group] for group in project.root.find("ExternalStatistics")} == {"Counts": ["n"], "Energy": ["Watts"]}
    assert (tmp_path / "copy/app_node01_Energy.stat").read_bytes() == statistics("Energy")
    assert len(conversion.notes) == 3 and all("cannot read it" in note for note in conversion.notes)


def test_several_worlds_are_refused(tmp_path):
    worlds = '<WorldList><World uid="W" first="0" size="1"/></WorldList>'
    communicators = '<CommunicatorList><Communicator name="WORLD"><Rank global="0" local="0" cid="0"/></Communicator></CommunicatorList>'
    (tmp_path / "app.proj").write_text(f'<Application name="app" processCount="1"><Topology/>{worlds}{communicators}</Application>')
    result = call("--to", "piosimhd", "-o", tmp_path / "copy", tmp_path / "app.proj")
    assert result.returncode == 1 and "one MPI_COMM_WORLD only" in result.stderr
