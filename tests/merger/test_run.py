"""What the processes tell of the run, in the project."""

import zlib

import pytest


def run_of(result):
    return result.project.find("Run")


def facts(result, kind):
    """[(attributes, [(first rank, last rank), ...]), ...]"""
    return [
        (dict(fact.items()), [(int(ranks.get("first")), int(ranks.get("last"))) for ranks in fact]) for fact in run_of(result).findall(kind)
    ]


def checksum(run):
    """As docs/format.md tells."""
    return sum(zlib.crc32(path.read_bytes()) + (path.stat().st_size << 32) for path in run.folder.glob("*.info")) % 2**63


def test_the_checksum_is_that_of_all_files(run):
    for rank in range(3):
        run.process(rank, f"Command line='{rank}'\n" * rank, size=3)
    assert int(run_of(run.merge_cleanly()).get("checksum")) == checksum(run)


def test_nothing_is_said_where_nothing_is_known(run):
    run.process(0, "Thread number=1\n", size=1)
    run.trace(0, thread=1)
    assert run_of(run.merge_cleanly()) is None


def test_form(run):
    run.process(
        0,
        "Command line='./app \\'a b\\''\nDirectory path='/home/u'\nSetting name='HDTRACE_NESTED' value='1' from='environment'\n"
        "User name='alice' uid=1000\nLibrary version='Open MPI\\nv4' tracer='0.1.0'\nNote key='a' value=''\n"
        "Variable name='OMP_X' value='1'\nVariable name='OMP_KEY' hidden=1\nPlace host='node01' by='slurm' address='s0.n' pattern='switch.node'\n"
        "Calls name='Send' recorded=5 ignored=0\nRegion name='n:solve' class='n' file='a.c' line=3\nGroup name='g' members='0;'\n"
        "Counter name='residual' type='float' unit='1' lower='0' upper='1' scope='thread' valid='after'\n"
        "CpuTime time=0.000100000 user=1.5 system=0 waited=0.125\nThread number=0 tid=4711 begin=0.000200000\n"
        "CpuTime time=2 user=3 system=0.25\nSignal name='SIGSEGV' time=1.5 thread=0\nSignal name='SIGTERM' time=1.75\nThread number=0 tid=4711 begin=0.000200000 end=2.000000001 name='main'\nEnd thread=0\n",
        size=1,
        keys="pid=4711 program='/bin/app' threadLevel='MPI_THREAD_SINGLE'",
    )
    assert f"""\
  <Run checksum="{checksum(run)}">
    <User name="alice" uid="1000">
      <Ranks first="0" last="0"/>
    </User>
    <Library version="Open MPI&#10;v4" tracer="0.1.0">
      <Ranks first="0" last="0"/>
    </Library>
    <Program path="/bin/app" threadLevel="MPI_THREAD_SINGLE">
      <Ranks first="0" last="0"/>
    </Program>
    <Command line="./app 'a b'">
      <Ranks first="0" last="0"/>
    </Command>
    <Directory path="/home/u">
      <Ranks first="0" last="0"/>
    </Directory>
    <Note key="a" value="">
      <Ranks first="0" last="0"/>
    </Note>
    <Setting name="HDTRACE_NESTED" value="1" from="environment">
      <Ranks first="0" last="0"/>
    </Setting>
    <Variable name="OMP_KEY" hidden="1">
      <Ranks first="0" last="0"/>
    </Variable>
    <Variable name="OMP_X" value="1">
      <Ranks first="0" last="0"/>
    </Variable>
    <Calls name="Send" recorded="5" ignored="0">
      <Ranks first="0" last="0"/>
    </Calls>
    <Region name="n:solve" class="n" file="a.c" line="3">
      <Ranks first="0" last="0"/>
    </Region>
    <Counter name="residual" type="float" unit="1" lower="0" upper="1" scope="thread" valid="after">
      <Ranks first="0" last="0"/>
    </Counter>
    <Place host="node01" by="slurm" address="s0.n" pattern="switch.node">
      <Ranks first="0" last="0"/>
    </Place>
    <Process rank="0" pid="4711" began="1240424724">
      <CpuTime time="0.000100000" user="1.500000000" system="0.000000000" waited="0.125000000"/>
      <CpuTime time="2.000000000" user="3.000000000" system="0.250000000"/>
      <Signal name="SIGSEGV" time="1.500000000" thread="0"/>
      <Signal name="SIGTERM" time="1.750000000"/>
      <Thread name="main" number="0" tid="4711" begin="0.000200000" end="2.000000001"/>
    </Process>
  </Run>
</Application>
""" in run.merge_cleanly().output.read_text()


def test_what_is_equal_stands_there_once(run):
    for rank, line in enumerate(["a", "a", "b", "a", "a"]):
        run.process(rank, f"Command line='{line}'\n" * 2, size=5)
    assert facts(run.merge_cleanly(), "Command") == [({"line": "a"}, [(0, 1), (3, 4)]), ({"line": "b"}, [(2, 2)])]


def test_threads_that_had_a_number_one_after_the_other(run):
    run.process(
        0,
        "Thread number=1 tid=5 begin=1\nThread number=1 tid=5 begin=1 end=2 name='a'\nThread number=1 tid=6 begin=3\n"
        "Thread number=1 tid=6 begin=3 end=4\nThread number=1 tid=5 begin=5\nEnd thread=0\nEnd thread=1\n",
        size=1,
        keys="pid=1",
    )
    run.trace(0, thread=1)
    threads = [dict(thread.items()) for thread in run_of(run.merge_cleanly()).iterfind("Process/Thread")]
    assert [(one["tid"], one["begin"][0], one.get("end", "-")[0], one.get("name")) for one in threads] == [
        ("5", "1", "2", "a"), ("6", "3", "4", None), ("5", "5", "-", None)]


@pytest.mark.parametrize("line, message", [
    ("Command", "a Command line needs line="),
    ("Library tracer='a'", "a Library line needs version="),
    ("User name='a' uid=-1", "uid is negative"),
    ("Variable value='a'", "a Variable line needs name="),
    ("Calls name='Send' recorded=1", "a Calls line needs ignored="),
    ("Calls name='Send' recorded=x ignored=0", "recorded is not a number"),
    ("CpuTime time=1 user=x system=0", "user is not a time"),
    ("CpuTime time=1 user=-1 system=0", "user is negative"),
    ("CpuTime time=1 user=1", "a CpuTime line needs system="),
    ("CpuTime time=1 user=1 system=1 waited=-1", "waited is negative"),
    ("Signal time=1", "a Signal line needs name="),
    ("Signal name='SIGSEGV' time=x", "time is not a time"),
    ("Thread number=0 tid=1", "a Thread line needs begin="),
    ("Thread number=0 tid=-1 begin=0", "tid is negative"),
    ("Thread number=0 tid=1 begin=0 end=-0.123456789", "end is negative"),
])
def test_lines_that_are_wrong(run, line, message):
    run.process(0, f"{line}\n", size=1, keys="pid=1")
    assert message in run.fail()


def test_texts_that_xml_cannot_hold(run):
    run.process(0, b"Command line='a\\x01\\xff'\n", size=1)
    assert facts(run.merge_cleanly(), "Command") == [({"line": "a��"}, [(0, 0)])]
