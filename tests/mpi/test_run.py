"""What a project tells of the run: who ran what, and how."""
import getpass
import os
import re
import shlex
import subprocess

import hdtrace
import pytest
from support.checks import read_info
from support.runs import LAUNCHER, SETTINGS, SOURCE, TIMEOUT, need_several_programs, only_with, program

NOTES = {"purpose": "it's a = test", "empty": ""}


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory):
    """Of a run with notes, settings from both sides, and a secret."""
    directory = tmp_path_factory.mktemp("run")
    notes = [word for key, value in NOTES.items() for word in ("--note", f"{key}={value}")]
    command = [SOURCE / "scripts/mpirun", "-n", "3", LAUNCHER, *notes, "--time-digits=7", program("send_modes"), "two words", "it's", ""]
    environment = os.environ | {"MPIEXEC": SETTINGS["mpiexec"], "HDTRACE_BUFFER_SIZE": "64K", "OMP_NUM_THREADS": "7", "OMP_TOKEN": "hunter2"}
    subprocess.run(list(map(str, command)), cwd=directory, env=environment, check=True, timeout=TIMEOUT, capture_output=True)
    return directory


@pytest.fixture(scope="module")
def project(run_directory):
    infos = sorted(run_directory.glob("*.info"))
    subprocess.run([LAUNCHER.with_name("project-merger"), "-o", run_directory / "send-modes.proj", *infos], check=True, timeout=TIMEOUT)
    hdtrace.validate(run_directory / "send-modes.proj")
    return hdtrace.open(run_directory / "send-modes.proj")


def lines_of(directory, rank, kind):
    (info,) = directory.glob(f"*_{rank}_0.info")
    return [values for name, values in read_info(info) if name == kind]


def test_who_ran_what(project, run_directory):
    run = project.run
    assert run.uid == os.getuid()
    assert run.user in (os.environ.get("LOGNAME", os.environ.get("USER")), getpass.getuser() if run.user else None)
    assert shlex.split(run.command) == [str(program("send_modes")), "two words", "it's", ""]
    assert [run.program, run.directory] == [str(program("send_modes")), str(run_directory)]
    assert SETTINGS["mpi"].split()[0] in run.library and re.fullmatch(r"\d+\.\d+\.\d+", run.tracer)
    assert run.notes == NOTES


def test_every_setting_is_told_with_where_it_came_from(project):
    settings = project.run.settings
    table = [f"HDTRACE_{key}" for key in re.findall(r"^\[([A-Z_]+)\]$", (SOURCE / "hdtrace/options.toml").read_text(), re.M)]
    assert sorted(settings) == sorted(table)
    origins = {name: setting.origin for name, setting in settings.items() if setting.origin != "default"}
    assert origins == {"HDTRACE_BUFFER_SIZE": "environment", "HDTRACE_TIME_DIGITS": "hdtrace-run", "HDTRACE_NOTE": "hdtrace-run"}
    assert [settings[f"HDTRACE_{key}"].value for key in ("BUFFER_SIZE", "TIME_DIGITS", "COMPRESS", "NESTED")] == ["65536", "7", "none", "0"]


def test_the_environment_without_secrets(project, run_directory):
    environment = project.run.environment
    assert environment["OMP_NUM_THREADS"] == "7"
    assert environment["OMP_TOKEN"] is None
    assert all(name.startswith(("OMPI_", "PMIX_", "PMI_", "SLURM_", "MPICH_", "OMP_", "HDTRACE_")) for name in environment)
    for path in run_directory.iterdir():
        assert b"hunter2" not in path.read_bytes()


def test_what_is_the_same_in_all_processes_is_told_by_one(run_directory):
    for rank in (1, 2):
        for kind in ("User", "Library", "Variable", "Note", "Place"):
            assert not lines_of(run_directory, rank, kind)
        assert {line["name"] for line in lines_of(run_directory, rank, "Setting")} == {"HDTRACE_BUFFER_SIZE", "HDTRACE_TIME_DIGITS"}
        assert lines_of(run_directory, rank, "Command") == lines_of(run_directory, 0, "Command")


@only_with("Open MPI")
def test_each_program_of_a_run_is_told(tmp_path):
    need_several_programs()
    each = [LAUNCHER, program("send_modes")]
    command = [SOURCE / "scripts/mpirun", "-n", "2", *each, "first", ":", "-n", "2", "env", "OMP_X=1", *each, "second"]
    environment = os.environ | {"HDTRACE_NAME": "both"}
    subprocess.run(list(map(str, command)), cwd=tmp_path, env=environment, check=True, timeout=TIMEOUT, capture_output=True)
    assert [bool(lines_of(tmp_path, rank, "User")) for rank in range(4)] == [True, False, True, False]
    assert {"name": "OMP_X", "value": "1"} in lines_of(tmp_path, 2, "Variable")
    subprocess.run([LAUNCHER.with_name("project-merger"), "-o", "both.proj", *tmp_path.glob("*.info")], cwd=tmp_path, check=True, timeout=TIMEOUT)
    commands = {fact.values["line"].split()[-1]: fact.ranks for fact in hdtrace.open(tmp_path / "both.proj").run.of_kind("Command")}
    assert commands == {"first": [(0, 1)], "second": [(2, 3)]}


def test_the_settings_repeat_the_run(project, run_directory, tmp_path):
    """As docs/options.md says."""
    hdtrace_command = LAUNCHER.with_name("hdtrace")
    again = subprocess.run([hdtrace_command, "info", "--settings", project.path], check=True, timeout=TIMEOUT, capture_output=True, text=True).stdout
    (tmp_path / "again.conf").write_text(again)
    command = [SOURCE / "scripts/mpirun", "-n", "1", LAUNCHER, program("init_null")]
    script = f"set -a; . ./again.conf; set +a; exec {shlex.join(map(str, command))}"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HDTRACE_")} | {"MPIEXEC": SETTINGS["mpiexec"]}
    subprocess.run(["sh", "-c", script], cwd=tmp_path, env=clean, check=True, timeout=TIMEOUT)
    repeated = {line["name"]: line["value"] for line in lines_of(tmp_path, 0, "Setting")}
    assert repeated == {line["name"]: line["value"] for line in lines_of(run_directory, 0, "Setting")}
    assert "TIME_DIGITS" in again and {line["from"] for line in lines_of(tmp_path, 0, "Setting")} == {"default", "environment"}


def told_of(run):
    assert run.project
    (path,) = run.trace_directory.glob("*.proj")
    return hdtrace.open(path).run


def processes_of(run):
    return told_of(run).processes


def used(run, when):
    return int(re.search(rf"^{when} (\d+)$", run.stdout, re.M)[1]) * 1000


def test_processors(run_directory):
    (told,) = lines_of(run_directory, 2, "Processors")
    usable, online = int(told["usable"]), int(told["online"])
    assert 1 <= usable <= len(os.sched_getaffinity(0)) and online == os.sysconf("SC_NPROCESSORS_ONLN")


def test_processor_time(run_traced):
    """What the process has used lies between what it sees right before and after."""
    run = run_traced("thread_lives", 1, None, ("1",))
    (process,) = processes_of(run)
    begin, end = process.cpu_times
    assert used(run, "before") <= begin.user + begin.system <= used(run, "begun")
    assert used(run, "ending") <= end.user + end.system <= used(run, "ended")
    assert end.user + end.system - begin.user - begin.system >= 90_000_000, "the program was busy for a tenth of a second"
    first, *_, last = list(run.traces[0])
    assert first.time <= begin.time <= first.time + (last.end - first.time) and begin.time < end.time


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the system does not tell")
def test_waiting_for_a_processor_is_told(run_traced):
    """One process has one processor, which another program uses, too."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as other:
            try:
                run = run_traced("thread_lives", 1, {"HDTRACE_NAME": "beside_another"}, ("1",))
            finally:
                other.kill()
    finally:
        os.sched_setaffinity(0, before)
    (process,) = processes_of(run)
    begin, end = process.cpu_times
    assert 0 <= begin.waited < end.waited
    (host,) = told_of(run).oversubscribed_hosts
    assert (host.processes, host.processors) == (1, 1)
    assert host.waiting == pytest.approx((end.waited - begin.waited) / (end.time - begin.time)) and 0.05 <= host.waiting <= 1
    assert re.match(r"1 process on 1 processor of .* and waiting \d+ % for a processor, beside other programs or threads$", str(host))


@pytest.mark.parametrize("reuse, numbers", [("0", [1, 2, 3]), ("1", [1, 1, 1])])
def test_threads_have_names_and_numbers(run_traced, reuse, numbers):
    run = run_traced("thread_lives", 1, {"HDTRACE_REUSE_THREADS": reuse}, ("3",))
    (process,) = processes_of(run)
    tids = [int(tid) for tid in re.findall(r"^thread (\d+)$", run.stdout, re.M)]
    threads = sorted(process.threads, key=lambda thread: thread.begin)
    assert [(one.number, one.tid, one.name) for one in threads] == [
        (0, process.pid, "main one"), *((number, tid, f"worker'{i}") for i, (number, tid) in enumerate(zip(numbers, tids, strict=True)))]
    for i, one in enumerate(threads[1:]):
        (call,) = [state for state in run.threads[0, one.number] if state.name == "Sendrecv" and state["toTag"] == str(i)]
        assert one.begin <= call.time and call.end <= one.end


def test_a_number_is_not_used_again_while_its_thread_lives(run_traced):
    """Where threads run at the same time, each has a trace of its own also then."""
    run = run_traced("identity_threads", 1, {"HDTRACE_REUSE_THREADS": "1"})
    (process,) = processes_of(run)
    lives = sorted((one.number, one.begin, one.end) for one in process.threads)
    assert len(lives) == 9
    for (number, _, end), (other, begin, _) in zip(lives, lives[1:]):
        assert number != other or end <= begin


def counts_of(run):
    """{(rank, function): (recorded, ignored)}"""
    return {(rank, line["name"]): (int(line["recorded"]), int(line["ignored"]))
            for rank in range(run.ranks) for line in lines_of(run.trace_directory, rank, "Calls")}


def test_calls_that_are_left_out_are_counted(run_traced):
    """With all functions none is left out, and together there are as many whatever is recorded. What is recorded is compared with the trace by
    all tests."""
    everything = counts_of(run_traced("send_modes", 2, {"HDTRACE_ALL_FUNCTIONS": "2"}))
    assert {ignored for _, ignored in everything.values()} == {0}
    for level in ("0", "1"):
        counts = counts_of(run_traced("send_modes", 2, {"HDTRACE_ALL_FUNCTIONS": level}))
        assert counts[0, "Comm_rank"] == (0, 1) and counts[1, "Send"] == (1, 0)
        assert {key: sum(both) for key, both in counts.items()} == {key: sum(both) for key, both in everything.items()}


def test_calls_while_recording_is_paused_are_counted(run_traced):
    counts = counts_of(run_traced("pcontrol", 1))
    assert [counts[0, name] for name in ("Bcast", "Send", "Irecv", "Wait", "Finalize")] == [(3, 2), (0, 1), (1, 0), (1, 0), (0, 1)]


def test_calls_inside_others_are_counted_where_they_are_recorded(run_traced):
    for nested, inside in (("0", 0), ("1", 1)):
        counts = counts_of(run_traced("nested", 1, {"HDTRACE_NESTED": nested}))
        assert counts.get((0, "Barrier"), (0, 0)) == (inside, 0)


def test_calls_of_threads_that_have_ended_are_counted(run_traced):
    for reuse in ("0", "1"):
        counts = counts_of(run_traced("thread_lives", 1, {"HDTRACE_REUSE_THREADS": reuse}, ("3",)))
        assert counts[0, "Sendrecv"] == (3, 0)
