"""What a project tells of the run, as objects and as `hdtrace info` shows it."""

import json
import re
import shlex
import subprocess
from dataclasses import dataclass

import hdtrace
import pytest
from hdtrace.cli.output import clock_table
from hdtrace.cli.run import run_rows
from hdtrace.run import Run

from projects_of_lines import write_project
from test_command import ERROR, run, run_well
from test_terminal import HOSTILE, is_harmless

RUN = """\
<User name="alice" uid="1000"><Ranks first="0" last="0"/></User>
<Library version="Open MPI v4" tracer="0.1.0"><Ranks first="0" last="0"/></Library>
<Command line="./app 'a b'"><Ranks first="0" last="0"/></Command>
<Command line="./app c" omitted="12"><Ranks first="1" last="1"/></Command>
<Directory path="/home/u"><Ranks first="0" last="1"/></Directory>
<Note key="why" value="test"><Ranks first="0" last="0"/></Note>
<Setting name="HDTRACE_COMPRESS" value="none" from="default"><Ranks first="0" last="0"/></Setting>
<Setting name="HDTRACE_NAME" value="$(touch x); it's" from="hdtrace-run"><Ranks first="0" last="0"/></Setting>
<Setting name="HDTRACE_NESTED" value="0" from="environment"><Ranks first="1" last="1"/></Setting>
<Setting name="HDTRACE_NESTED" value="1" from="environment"><Ranks first="0" last="0"/></Setting>
<Variable name="OMP_KEY" hidden="1"><Ranks first="0" last="0"/></Variable>
<Variable name="OMP_X" value="1"><Ranks first="0" last="0"/></Variable>
<Calls name="Barrier" recorded="0" ignored="2"><Ranks first="0" last="0"/><Ranks first="2" last="4"/></Calls>
<Calls name="Send" recorded="3" ignored="1"><Ranks first="0" last="1"/></Calls>
<Calls name="Send" recorded="4" ignored="0"><Ranks first="2" last="2"/></Calls>
<Place host="node01" by="infiniband" address="0x1a" device="mlx5_0" port="1" guid="5:6"><Ranks first="0" last="0"/></Place>
<Process rank="0" pid="4711" began="100">
  <CpuTime time="0.000000100" user="1.500000000" system="0.000000000" waited="0.125000000"/><CpuTime time="2.000000000" user="3.000000000" system="0.250000000"/>
  <Signal name="SIGTERM" time="1.500000000"/><Signal name="SIGSEGV" time="2.000000000" thread="0"/>
  <Thread name="main" number="0" tid="4711" begin="0.000000200" end="2.000000000"/>
</Process>
<Process rank="1" pid="4712" began="101"><Thread number="0" tid="4712" begin="0.500000000"/></Process>
"""


def write(tmp_path, text=RUN):
    path = write_project(tmp_path, "", "")
    path.write_text(path.read_text().replace("</Application>", f"<Run>{text}</Run></Application>"))
    return path


PROCESSORS = '<Processors usable="{usable}" online="{online}"><Ranks first="0" last="{last}"/></Processors>'
PROCESSES = """
<Process rank="0" pid="1" began="100"><CpuTime time="1.000000000" user="0.000000000" system="0.000000000"/><CpuTime time="3.000000000" user="1.000000000" system="0.250000000"/></Process>
<Process rank="1" pid="2" began="100"><CpuTime time="1.000000000" user="1.000000000" system="0.000000000"/><CpuTime time="3.000000000" user="1.750000000" system="0.000000000"/></Process>
"""


@pytest.mark.parametrize("usable, online, last, processors", [(1, 1, 1, 1), (64, 1, 1, 1), (1, 64, 1, None), (2, 2, 1, None), (1, 1, 0, None)])
def test_more_processes_than_processors(tmp_path, usable, online, last, processors):
    path = write(tmp_path, PROCESSORS.format(usable=usable, online=online, last=last) + PROCESSES)
    hdtrace.validate(path)
    hosts = hdtrace.open(path).run.oversubscribed_hosts
    assert [(one.host, one.processes, one.processors, one.running) for one in hosts] == ([("node01", 2, processors, 0.5)] if processors else [])
    said = "2 processes on 1 processor of node01, each running 50 % of the time"
    for command in ("info", "analyze"):
        assert (said in run_well(command, path)) is bool(processors)


@pytest.mark.parametrize("waited, usable, said", [
    (("0.09", "0.08"), 2, None),
    (("0.1", "0.5"), 2, "2 processes on 4 processors of node01, each running 50 % of the time and waiting 15 % for a processor (rank 1: 25 %), beside other programs or threads"),
    (("0.12", "0.12"), 1, "2 processes on 2 processors of node01, each running 50 % of the time and waiting 6 % for a processor, beside other programs or threads"),
    (("0.9", "0.5"), 0.5, "2 processes on 1 processor of node01, each running 50 % of the time and waiting 35 % for a processor (rank 0: 45 %)"),
    ((None, None), 2, None),
])
def test_waiting_for_a_processor(tmp_path, waited, usable, said):
    """Nothing is said of less than a twentieth of the time; here that is 0.1 seconds."""
    told = PROCESSES
    for rank, time in enumerate(waited):
        line = told.splitlines()[1 + rank]
        if time:
            begun = line.replace("/>", ' waited="1.000000000"/>', 1)
            told = told.replace(line, begun.replace("/></Process>", f' waited="{1 + float(time):.9f}"/></Process>'))
    path = write(tmp_path, PROCESSORS.format(usable=max(1, int(usable)), online=int(2 * usable), last=1) + told)
    hdtrace.validate(path)
    assert [str(host) for host in hdtrace.open(path).run.oversubscribed_hosts] == ([said] if said else [])


@dataclass
class Host:
    name: str
    waiting: float
    running: float = 0.5

    def __str__(self):
        return self.name


def test_many_hosts_without_room_are_told_in_one_line():
    hosts = [Host(f"node{number}", 0.2 if number == 1 else 0.1) for number in range(12)]
    assert len(Run([], [], hosts[:3]).oversubscription) == 3
    assert Run([], [], hosts).oversubscription == ["Oversubscribed: node1, and 11 more hosts ('hdtrace info --json' names them): times hold waiting for a processor, too"]
    (rows,) = [rows for heads, rows in run_rows(Run([], [], hosts * 2)) if heads[0] == "run"]
    assert len(rows) == 21 and rows[-1][:2] == ["oversubscribed", "... and 4 more"]


def test_the_clocks_that_are_shifted_most_are_shown():
    clocks = [{"host": f"node{number}", "offset": 0.001 * (number % 23), "uncertainty": None, "parts": [{"drift": 0, "jump": 0}]} for number in range(46)]
    lines = clock_table(clocks, False).splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == [f"node{number}" for number in (*range(13, 23), *range(36, 46))]
    assert lines[-1] == "and 26 more hosts, whose times are shifted less; --all shows all"
    assert len(clock_table(clocks, True).splitlines()) == 47


def test_objects(tmp_path):
    path = write(tmp_path)
    hdtrace.validate(path)
    run = hdtrace.open(path).run
    assert (run.user, run.uid, run.library, run.tracer, run.program) == ("alice", 1000, "Open MPI v4", "0.1.0", None)
    assert (run.command, run.directory, run.notes) == ("./app 'a b'", "/home/u", {"why": "test"})
    assert run.environment == {"OMP_KEY": None, "OMP_X": "1"}
    assert run.settings["HDTRACE_NESTED"] == hdtrace.Setting("1", "environment")
    assert run.calls == {"Barrier": hdtrace.CallCount(0, 8), "Send": hdtrace.CallCount(10, 2)}
    assert run.places == [{"host": "node01", "by": "infiniband", "address": "0x1a", "device": "mlx5_0", "port": "1", "guid": "5:6"}]
    assert [(fact.values["line"], fact.ranks) for fact in run.of_kind("Command")] == [("./app 'a b'", [(0, 0)]), ("./app c", [(1, 1)])]
    first, second = run.processes
    assert [(cpu.time, cpu.user, cpu.system, cpu.waited) for cpu in first.cpu_times] == [
        (100_000_000_100, 1_500_000_000, 0, 125_000_000), (102_000_000_000, 3_000_000_000, 250_000_000, None)]
    assert [(one.number, one.tid, one.name, one.begin, one.end) for one in first.threads] == [(0, 4711, "main", 100_000_000_200, 102_000_000_000)]
    assert [(one.name, one.time, one.thread) for one in first.signals] == [("SIGTERM", 101_500_000_000, None), ("SIGSEGV", 102_000_000_000, 0)]
    assert [(second.pid, one.name, one.begin, one.end) for one in second.threads] == [(4712, "", 101_500_000_000, None)]


def test_an_older_project_tells_nothing(tmp_path):
    path = write_project(tmp_path, "")
    run_of_older = hdtrace.open(path).run
    assert (run_of_older.user, run_of_older.uid, run_of_older.facts, run_of_older.processes) == (None, None, [], [])
    result = run("info", "--settings", path)
    assert (result.returncode, result.stdout) == (ERROR, "") and "does not tell the settings of its run" in result.stderr


def test_the_library_s_first_line_is_enough(tmp_path):
    path = write(tmp_path, '<Library version="MPICH Version:      5.0.2&#10;MPICH Device:       ch4:ucx" tracer="0.2.0"><Ranks first="0" last="0"/></Library>')
    assert hdtrace.open(path).run.library.endswith("ch4:ucx")
    (line,) = (line for line in run("info", path).stdout.splitlines() if line.startswith("MPI library"))
    assert re.split("  +", line) == ["MPI library", "MPICH Version: 5.0.2", "0"]


def told(*arguments):
    """What a command says, which must also say that calls are left out."""
    result = run(*arguments)
    assert result.returncode == 0 and result.stderr.endswith("10 calls are left out, as was asked for: Barrier (8), Send (2)\n")
    return result.stdout


def test_info(tmp_path):
    text = told("info", write(tmp_path))
    assert text[text.index("\nrun ") :] == """
run                                                                                                ranks
user            alice (1000)                                                                       0
command         ./app 'a b'                                                                        0
command         ./app c... (12 more bytes)                                                         1
directory       /home/u                                                                            0-1
MPI library     Open MPI v4                                                                        0
tracer          0.1.0                                                                              0
place           node01: 0x1a (infiniband device mlx5_0 port 1 guid 5:6)                            0
processor time  1.500000 s user, 0.250000 s system from the begin of MPI to the end, of 1 process

note  value  ranks
why   test   0

setting         value             from         ranks
HDTRACE_NAME    $(touch x); it's  hdtrace-run  0
HDTRACE_NESTED  1                 environment  0
HDTRACE_NESTED  0                 environment  1

variable  value     ranks
OMP_KEY   (hidden)  0
OMP_X     1         0

thread  count
main        1

function  recorded  ignored
Barrier          0        8
Send            10        2
"""


def test_each_process_may_have_a_command_of_its_own(tmp_path):
    commands = "".join(f'<Command line="./app {rank}"><Ranks first="{rank}" last="{rank}"/></Command>' for rank in range(1000))
    lines = run_well("info", write(tmp_path, commands)).splitlines()
    assert [line.split() for line in lines if line.startswith("command")][19:] == [["command", "./app", "19", "19"], ["command", "...", "and", "980", "more"]]


def test_time_of_calls_that_were_ignored(tmp_path):
    calls = '<Calls name="Iprobe" recorded="1" ignored="5" ignoredTime="0.5"><Ranks first="0" last="0"/></Calls><Calls name="Send" recorded="3" ignored="0"><Ranks first="0" last="0"/></Calls>'
    lines = [line.split() for line in run("info", write(tmp_path, calls)).stdout.splitlines()]
    assert lines[-3:] == [["function", "recorded", "ignored", "seconds", "ignored"], ["Iprobe", "1", "5", "0.500000"], ["Send", "3", "0"]]


def test_json(tmp_path):
    about = json.loads(told("info", "--json", write(tmp_path)))["run"]
    assert about["command"] == [{"line": "./app 'a b'", "ranks": [[0, 0]]}, {"line": "./app c", "omitted": "12", "ranks": [[1, 1]]}]
    assert about["processes"][1] == {
        "rank": 1, "pid": 4712, "cpu_times": [], "signals": [], "threads": [{"number": 0, "tid": 4712, "name": "", "begin": 101_500_000_000, "end": None}]}


def test_settings(tmp_path):
    assert told("info", "--settings", write(tmp_path)) == """\
# The settings of app. The same again: set -a; . ./FILE; set +a
# Command, in /home/u: ./app 'a b'
# default: HDTRACE_COMPRESS=none
# hdtrace-run:
HDTRACE_NAME='$(touch x); it'"'"'s'
# environment:
HDTRACE_NESTED=1
# ranks 1: HDTRACE_NESTED=0
"""


ATTACK = "&#10;touch attacked; $(touch attacked) `touch attacked` ' &quot; \\" + HOSTILE


@pytest.mark.parametrize("text", [
    f'<Setting name="HDTRACE_NAME" value="{ATTACK}" from="{ATTACK}"><Ranks first="0" last="0"/></Setting>',
    f'<Setting name="HDTRACE_NAME{ATTACK}" value="1" from="environment"><Ranks first="0" last="0"/></Setting>',
    f'<Setting name="PATH" value="{ATTACK}" from="environment"><Ranks first="0" last="0"/></Setting>',
    f'<Setting name="HDTRACE_NAME" value="{ATTACK}" from="default" omitted="{ATTACK}"><Ranks first="0" last="0"/></Setting>',
])
def test_settings_of_strangers_are_nothing_but_settings(tmp_path, text):
    """A shell reads them, so nothing in the project may become a command or another variable."""
    harmless = '<Setting name="HDTRACE_NESTED" value="1" from="environment"><Ranks first="0" last="0"/></Setting>'
    command = f'<Command line="{ATTACK}"><Ranks first="0" last="0"/></Command><Directory path="{ATTACK}"><Ranks first="0" last="0"/></Directory>'
    (tmp_path / "again.conf").write_text(run_well("info", "--settings", write(tmp_path, command + harmless + text)))
    shell = subprocess.run(
        ["sh", "-c", "set -a; . ./again.conf; exec env -0"], cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    variables = dict(entry.split("=", 1) for entry in shell.stdout.split("\0") if entry)
    assert (variables["PATH"], variables["HDTRACE_NESTED"], shell.stderr) == ("/usr/bin:/bin", "1", "")
    assert set(variables) <= {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "HDTRACE_NESTED", "HDTRACE_NAME"}
    assert not (tmp_path / "attacked").exists()


def test_what_terminals_obey_is_not_printed(tmp_path):
    about = "".join(f'<{kind} {key}="{HOSTILE}" {more}><Ranks first="0" last="0"/></{kind}>' for kind, key, more in (
        ("User", "name", 'uid="1"'), ("Command", "line", ""), ("Note", "key", 'value=""'), ("Variable", "name", ""),
        ("Place", "address", f'host="{HOSTILE}" by=""')))
    assert is_harmless(run_well("info", write(tmp_path, about)))


@pytest.mark.parametrize("text, message", [
    ("<Process rank='0' pid='1'/>", "<Process> has no attribute began"),
    ("<Process rank='0' pid='1' began='9223372036854775807'/>", "began is too large"),
    ("<Process rank='0' pid='1' began='0'><CpuTime time='x' user='0' system='0'/></Process>", "'x' is not a time in seconds"),
    ("<Command line='a'><Ranks first='0'/></Command>", "<Ranks> has no attribute last"),
])
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(hdtrace.ReadError, match=message):
        hdtrace.open(write(tmp_path, text))


def test_the_command_comes_apart(tmp_path):
    assert shlex.split(hdtrace.open(write(tmp_path)).run.command) == ["./app", "a b"]
