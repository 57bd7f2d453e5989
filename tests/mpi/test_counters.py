"""Counters of the system, and the processor time of calls."""
import json
import re
import subprocess
from collections import defaultdict

import hdtrace
import pytest
from support.calls import Call
from support.checks import info_of, read_info
from support.runs import MERGER, SOURCE, preload, program, ranks
from support.sanitizers import HAS_ADDRESS_SANITIZER, with_own_memory
from support.watchpoints import has_watchpoints

EACH_CALL = {"HDTRACE_COUNTER_DELAY": "0"}
DOCUMENTED = re.findall(r"^\| `(\w[\w-]*)` \|", (SOURCE / "docs/counters.md").read_text(), re.MULTILINE)


def counting(counters, **env):
    return {"HDTRACE_COUNTERS": counters, **EACH_CALL, **env}


def values(trace):
    """{counter: [(time, value), ...]}."""
    found = defaultdict(list)
    for event in trace.find(Call("Event", kind="count")):
        found[event["name"]].append((event.time, float(event["value"])))
    return found


def between(trace, counter, first, second):
    """How far a counter grew from the end of the first call to the begin of the second."""
    before, after = trace.only(Call(first)), trace.only(Call(second))
    samples = values(trace)[counter]
    begin = next(value for time, value in samples if time >= before.end)
    end = [value for time, value in samples if time <= after.time][-1]
    return end - begin


def described(run, rank=0):
    path = next(path for path in run.paths if path.name.endswith(f"_{rank}_0.trc"))
    return {line["name"]: line for kind, line in read_info(info_of(path)) if kind == "Counter"}


def test_nothing_is_counted_by_default(run_traced):
    run = run_traced("counters", 1, args=("work",))
    assert set(run.threads) == {(0, 0)} and not described(run)
    assert not values(run.traces[0]) and not any("cpu" in state.attributes for state in run.traces[0])


def test_processor_time(run_traced):
    """Each source has its own clock; none is coarser than a tick. task-clock also counts what interrupts and other virtual machines took."""
    trace = run_traced("counters", 1, counting("cpu_time,user_time,system_time,task-clock"), ("work",)).traces[0]
    times = {name: between(trace, name, "Barrier", "Allreduce") for name in ("cpu_time", "user_time", "system_time", "task-clock")}
    assert 0.2 <= times["cpu_time"] < 0.3
    elapsed = trace.only(Call("Allreduce")).time - trace.only(Call("Barrier")).end
    assert times["cpu_time"] - 0.02 <= times["task-clock"] <= elapsed + 0.02
    assert times["user_time"] + times["system_time"] == pytest.approx(times["cpu_time"], abs=0.02)


def test_page_faults(run_traced):
    trace = run_traced("counters", 1, counting("*_faults,page-faults"), ("work",)).traces[0]
    pages = 16 * 2**20 // 4096
    for name in ("minor_faults", "page-faults"):  # of huge pages there are fewer
        few, many = between(trace, name, "Barrier", "Allreduce"), between(trace, name, "Allreduce", "Bcast")
        assert few < 50 < many or 8 <= many - few <= pages + 1000, (name, few, many)


def test_switches(run_traced):
    trace = run_traced("counters", 1, counting("voluntary_switches"), ("work",)).traces[0]
    assert between(trace, "voluntary_switches", "Bcast", "Iprobe") >= 20


def test_samples_stand_at_both_ends_of_calls(run_traced):
    trace = run_traced("counters", 1, counting("cpu_time"), ("work",)).traces[0]
    shape = "".join("c" if state.is_event else "S" for state in trace)
    assert re.fullmatch(r"Sc(cSc)+", shape), shape
    ends = [state.end for state in trace]
    assert ends == sorted(ends)


def test_samples_after_a_delay(run_traced):
    env = {"HDTRACE_COUNTERS": "cpu_time", "HDTRACE_COUNTER_DELAY": "150ms"}
    samples = [time for time, _ in values(run_traced("counters", 1, env, ("work",)).traces[0])["cpu_time"]]
    gaps = [after - before for before, after in zip(samples, samples[1:-1])]  # the last one is taken anyway
    assert gaps and all(gap >= 150_000_000 for gap in gaps)


def test_a_long_delay_leaves_first_and_last(run_traced):
    env = {"HDTRACE_COUNTERS": "cpu_time,process_cpu_time", "HDTRACE_COUNTER_DELAY": "1000s"}
    run = run_traced("counters", 1, env, ("work",))
    (_, first), (_, last) = values(run.threads[0, 0])["cpu_time"]
    assert last - first > 0.2
    (_, first), (_, last) = values(run.threads[0, 1])["process_cpu_time"]
    assert last - first > 0.2


OF_PROCESS = "process_cpu_time,resident,max_rss,read_*,writ*"
OF_NODE = "cpu_[usi]*,disk_*,net_*,memory_available"


def test_a_process_that_computes_has_counters_of_its_own(run_traced):
    run = run_traced("counters", 2, {"HDTRACE_COUNTERS": OF_PROCESS, "HDTRACE_COUNTER_DELAY": "50ms"}, ("compute",))
    for rank in (0, 1):
        found = values(run.threads[rank, 1])
        assert len(found["resident"]) >= 10
        written = found["written_chars"]
        assert written[-1][1] - written[0][1] >= 8 * 2**20
        assert found["written_bytes"][-1][1] - found["written_bytes"][0][1] in (0, *range(8 * 2**20, 64 * 2**20))  # 0: no disk
        assert found["max_rss"][-1][1] >= max(value for _, value in found["resident"]) * 0.9 > 2**20
        threads = [line for kind, line in read_info(info_of(run.paths[0])) if kind == "Thread" and line["number"] == "1"]
        assert threads[-1]["name"] == "counters" and threads[0]["tid"] == threads[-1]["tid"]


def test_bytes_on_a_disk(run_traced, tmp_path):
    file_system = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout.strip()
    if file_system not in ("ext2/ext3", "xfs", "btrfs"):
        pytest.skip(f"{tmp_path} is on no disk, but {file_system}")
    run = run_traced("counters", 1, {"HDTRACE_COUNTERS": "written_bytes"}, ("compute",))
    (_, first), *_, (_, last) = values(run.threads[0, 1])["written_bytes"]
    assert last - first >= 8 * 2**20


def test_one_process_counts_for_the_node(run_traced):
    run = run_traced("counters", 2, {"HDTRACE_COUNTERS": OF_NODE, "HDTRACE_COUNTER_DELAY": "50ms"}, ("compute",))
    assert set(run.threads) == {(0, 0), (0, 1), (1, 0)}
    assert not described(run, 1) and {line["scope"] for line in described(run).values()} == {"node"}
    found = values(run.threads[0, 1])
    for name, samples in found.items():
        numbers = [value for _, value in samples]
        assert len(numbers) >= 10 and (numbers == sorted(numbers) or name in ("memory_available", "cpu_idle", "cpu_iowait")), name
    assert {"cpu_user", "cpu_system", "cpu_idle", "memory_available"} <= set(found)
    busy = sum(found[name][-1][1] - found[name][0][1] for name in ("cpu_user", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_steal"))
    processors = int(subprocess.run(["getconf", "_NPROCESSORS_ONLN"], capture_output=True, text=True, check=True).stdout)
    elapsed = found["cpu_user"][-1][0] - found["cpu_user"][0][0]
    assert busy == pytest.approx(processors * elapsed / 1e9, rel=0.25)
    total = int(re.search(r"MemTotal: +(\d+)", open("/proc/meminfo", encoding="ascii").read())[1]) * 1024
    assert all(0 < value < total for _, value in found["memory_available"])


def test_the_documentation_lists_all(run_traced):
    """What this machine has of them, and what it tells to be missing."""
    run = run_traced("counters", 1, counting("*", HDTRACE_VERBOSITY="0"), ("work",), complete=False)
    missing = [name for line in run.stderr.splitlines() for name in re.match(r"hdtrace: counters (.*) are left out: ", line)[1].split(", ")]
    assert sorted([*described(run), *missing]) == sorted(DOCUMENTED)
    assert run.returncode == 0
    written = set(values(run.threads[0, 0])) | set(values(run.threads[0, 1]))
    assert written == set(described(run))


@pytest.mark.parametrize("wrong, meant", [("user_tme", "user_time"), ("cache_misses", "cache-misses"), ("net_recieved", "net_received")])
def test_a_wrong_name(run_traced, wrong, meant):
    run = run_traced("counters", 2, counting(f"{wrong},cpu_time"), ("calls",), complete=False)
    assert (run.returncode, run.stderr) == (0, f"hdtrace: HDTRACE_COUNTERS: there is no counter '{wrong}'; did you mean '{meant}'?\n")
    assert list(described(run)) == ["cpu_time"]


def test_wildcards_and_repetitions(run_traced):
    run = run_traced("counters", 1, counting(" *_switches, minor_f?ults ,voluntary_switches"), ("calls",))
    assert list(described(run)) == ["voluntary_switches", "involuntary_switches", "minor_faults"]


def test_papi(run_traced):
    run = run_traced("counters", 1, counting("papi:perf::TASK-CLOCK,papi:perf::PAGE-FAULTS,papi:NONE_SUCH,cpu_time"), ("work",), complete=False)
    assert run.returncode == 0
    if "was not found" in run.stderr:
        pytest.skip("libpapi is not installed")
    assert "papi:NONE_SUCH are left out" in run.stderr
    trace = run.traces[0]
    if "papi:perf::TASK-CLOCK" not in described(run):
        pytest.skip(f"this machine counts nothing for PAPI: {run.stderr}")
    assert between(trace, "papi:perf::TASK-CLOCK", "Barrier", "Allreduce") / 1e9 == pytest.approx(0.2, abs=0.1)
    assert between(trace, "papi:perf::PAGE-FAULTS", "Allreduce", "Bcast") >= 8


def test_papi_s_components_in_any_order(run_traced):
    """PAPI counts for one set of each at a time."""
    names = ["papi:one::1", "papi:two::2", "papi:one::3", "papi:two::4"]
    run = run_traced("counters", 1, counting(",".join(names), LD_LIBRARY_PATH=str(program("fake_papi"))), ("calls",))
    assert {name: {value for _, value in samples} for name, samples in values(run.traces[0]).items()} == {name: {float(name[-1])} for name in names}


@pytest.mark.skipif(not has_watchpoints(), reason="the system lets nobody watch memory: see kernel.perf_event_paranoid")
def test_events_of_the_program_are_nobody_elses(run_traced):
    """It has them in the places of those that watch its buffers."""
    assert run_traced("counters", 1, {"HDTRACE_FOR_CHECK": "1", "HDTRACE_WATCHPOINTS": "1"}, ("close_watched",)).returncode == 0


def test_descriptors_are_nobody_elses(run_traced):
    run = run_traced("counters", 1, counting("page-faults,task-clock"), ("descriptors",))
    assert run.stdout.splitlines() == ["own 2", "after a thread 2", "child 0", "exec 0", "after Finalize 0"]


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="its library has descriptors of its own")
def test_a_program_that_closes_all_descriptors(run_traced):
    """Files that have their numbers now are not read."""
    run = run_traced("counters", 1, counting("page-faults,cpu_time"), ("close_all",), complete=False)
    assert run.returncode == 0, run.stderr


@with_own_memory
def test_samples_allocate_nothing(run_traced, run_untraced):
    counter = preload(program("libsteady_counter.so"))
    traced = run_traced("steady", 1, {**counter, **counting("*_time,*_faults,page-faults"), "HDTRACE_CPU_TIME": "1"})
    assert json.loads(traced.stdout)["allocations"] == json.loads(run_untraced("steady", 1, counter).stdout)["allocations"]


@pytest.mark.parametrize("way", ["exit", "kill"])
def test_deaths(run_traced, way):
    run = run_traced("counters", 1, counting("cpu_time,resident"), (way,), complete=False)
    assert run.returncode != 0 or way == "exit"  # mpirun's: MPICH's does not mind that MPI was not finalized
    assert between(run.threads[0, 0], "cpu_time", "Barrier", "Allreduce") >= 0.2
    assert len(values(run.threads[0, 1])["resident"]) >= 2


def test_what_else_shows_them(run_traced, tmp_path):
    run = run_traced("counters", 1, counting("cpu_time,resident"), ("work",))
    project = next(run.trace_directory.glob("*.proj"))
    frame = hdtrace.open(project).counters().to_dataframe()
    assert set(frame["name"]) == {"cpu_time", "resident"}
    command = MERGER.with_name("hdtrace")
    subprocess.run([command, "stats", project], check=True, capture_output=True)
    subprocess.run([command, "convert", "--to", "otf2", "-o", tmp_path / "otf2", project], check=True, capture_output=True)
    shown = subprocess.run(["otf2-print", tmp_path / "otf2/traces.otf2"], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"^METRIC .*cpu_time", shown, re.MULTILINE)) == len(values(run.traces[0])["cpu_time"])


# ---- the processor time of calls ----


@ranks(1, 2)
@pytest.mark.parametrize("digits", [9, 6])
def test_processor_time_of_calls(run_traced, ranks, digits):
    run = run_traced("counters", ranks, {"HDTRACE_CPU_TIME": "1", "HDTRACE_ALL_FUNCTIONS": "2", "HDTRACE_TIME_DIGITS": str(digits)}, ("calls",))
    for trace in run:
        for state in trace:
            assert re.fullmatch(rf"\d+\.\d{{{digits}}}", state["cpu"]), state
            assert list(state.attributes)[-1] == "cpu"
            assert float(state["cpu"]) <= (state.end - state.time) / 1e9 + 2e-6
        assert 0.1 <= float(trace.value(Call("Reduce_local"), "cpu")) < 0.2
    slept = run.traces[0].only(Call("Barrier"))
    assert float(slept["cpu"]) < 0.1


def test_processor_time_of_nested_calls(run_traced):
    (trace,) = run_traced("nested", 1, {"HDTRACE_CPU_TIME": "1", "HDTRACE_NESTED": "1"})
    dup = trace.only(Call("Comm_dup"))
    assert dup.nested and sum(float(state["cpu"]) for state in dup.nested) <= float(dup["cpu"])
