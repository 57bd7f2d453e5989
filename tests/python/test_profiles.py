"""What is asked most often of a trace, in one call each."""
import hdtrace
import pytest

from projects_of_lines import add_thread, write_project

SENDER = """\
<Send size='8' count='2' tid='0' toRank='1' toTag='7' cid='0' time='1.000000000' end='2.000000000' />
<Send size='100' count='25' tid='0' toRank='1' toTag='7' cid='0' time='3.000000000' end='3.500000000' />
<Barrier cid='0' time='4.000000000' end='5.000000000' />
"""
RECEIVER = """\
<Recv fromRank='0' fromTag='7' cid='0' size='8' tid='0' time='1.000000000' end='2.000000000' />
<Event kind='begin' name='solve' time='2.000000000' />
<Recv fromRank='0' fromTag='7' cid='0' size='100' tid='0' time='2.000000000' end='3.500000000' />
<Event kind='end' name='solve' time='3.900000000' />
<Nested><Bcast cid='0' time='4.600000000' end='4.800000000' /></Nested><Barrier cid='0' time='4.500000000' end='5.000000000' />
"""


@pytest.fixture
def project(tmp_path):
    with hdtrace.open(write_project(tmp_path, SENDER, RECEIVER)) as project:
        yield project


def test_flat_profile(project):
    profile = project.flat_profile()
    assert profile.index.tolist() == ["Recv", "Send", "Barrier", "solve", "Bcast"]
    assert profile.loc["Recv", ["calls", "seconds", "exclusive", "shortest", "longest", "bytes"]].tolist() == [2, 2.5, 2.5, 1.0, 1.5, 108]
    assert project.flat_profile(["call", "rank"]).loc[("Barrier", 0), "exclusive"] == 1.0


def test_load_imbalance(project):
    imbalance = project.load_imbalance()
    assert imbalance.loc["Barrier"].tolist() == pytest.approx([0.65, 1.0, 0, 1 / 0.65])
    assert imbalance.loc["Recv"].tolist() == [1.25, 2.5, 1, 2.0]


def test_communication(project):
    assert project.communication_matrix().tolist() == [[0, 108], [0, 0]]
    assert project.communication_matrix("messages").tolist() == [[0, 2], [0, 0]]
    assert project.communication_matrix("bytes", ranks_together=2).tolist() == [[108]]
    for wrong in ("seconds", 1), ("bytes", 0):
        with pytest.raises(ValueError):
            project.communication_matrix(*wrong)
    by_process = project.communication_by_process()
    assert by_process.loc[0].tolist() == [2, 0, 108, 0] and by_process.loc[1].tolist() == [0, 2, 0, 108]


def test_what_nobody_received_is_only_sent(tmp_path):
    receiver = RECEIVER.splitlines()[0] + "\n"
    with hdtrace.open(write_project(tmp_path, SENDER, receiver)) as project:
        by_process = project.communication_by_process()
    assert by_process.loc[0].tolist() == [2, 0, 108, 0] and by_process.loc[1].tolist() == [0, 1, 0, 8]


def test_message_sizes(project):
    assert project.message_sizes().reset_index().values.tolist() == [[16, 1, 8], [128, 1, 100]]


def test_communication_over_time(project):
    over_time = project.communication_over_time(bins=4)
    assert over_time.index.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert over_time["messages"].tolist() == [1, 0, 0, 1] and over_time["bytes"].tolist() == [8, 0, 0, 100]


def test_time_profile_has_all_time_of_all_threads(project):
    profile = project.time_profile(bins=4)
    assert profile["point-to-point"].tolist() == pytest.approx([2.0, 1.0, 1.0, 0.0])
    assert profile["collective"].tolist() == pytest.approx([0.0, 0.0, 0.0, 1.5])
    assert profile["computation"].tolist() == pytest.approx([0.0, 1.0, 1.0, 0.5])
    assert profile.index.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_time_profile_is_exact(tmp_path):
    """Times since the epoch of today, as floats, are multiples of 256 nanoseconds."""
    calls = "".join(f"<Barrier cid='0' time='{second}.000000100' end='{second}.000000201' />\n" for second in range(1, 11))
    path = write_project(tmp_path, calls)
    trace = tmp_path / "app_node01_0_0.trc"
    trace.write_text(trace.read_text().replace("timeAdjustment='100'", "timeAdjustment='1796002726'"))
    with hdtrace.open(path) as project:
        profile = project.time_profile(bins=3)
    assert profile.sum().to_dict() == pytest.approx({"collective": 1.010e-6, "computation": 9 - 0.909e-6}, abs=1e-12)


def test_a_time_profile_has_the_time_in_regions_around_calls(tmp_path):
    """As the analysis has it. The region is called like what it has in it, and the second thread has but a region."""
    region = "<Event name='Barrier' kind='begin' time='{}' />\n{}<Event name='Barrier' kind='end' time='{}' />\n"
    path = write_project(tmp_path, region.format(1, "<Barrier cid='0' time='2' end='3' />\n", 7))
    add_thread(path, 0, region.format(5, "", 7))
    with hdtrace.open(path) as project:
        profile = project.time_profile(bins=2)
        computation = project.analyze().to_dataframe("activities").set_index("activity").loc["computation", "seconds"]
    assert {name: column.tolist() for name, column in profile.items()} == {"computation": [2, 5], "collective": [1, 0]}
    assert computation == 7


def test_a_time_profile_of_a_long_run(tmp_path):
    """In the middle of its run the sum of all begins until then, in nanoseconds, does not fit into 64 bits, that of the ends does."""
    calls = "".join(f"<Barrier cid='0' time='{begin}.000000000' end='{begin + 5000}.000000000' />\n" for begin in range(0, 27_160_001, 10_000))
    with hdtrace.open(write_project(tmp_path, calls)) as project:
        profile = project.time_profile(bins=2)
    assert profile["collective"].tolist() == [6_792_500, 6_792_500]
    assert profile["computation"].tolist() == [6_790_000, 6_790_000]


def test_wrong_arguments_are_refused(project):
    for by, problem in ([], "nothing is named"), (["call", "rank", "call"], "'call' is named twice"), ("counter", "counter"):
        with pytest.raises(ValueError, match=problem):
            project.flat_profile(by)
    with pytest.raises(ValueError, match="a single process"):
        project.load_imbalance("rank")
    for profile in project.time_profile, project.communication_over_time:
        with pytest.raises(ValueError, match="bins is 0, not 1 or more"):
            profile(0)


def test_idle_time(project):
    assert project.idle_time().to_dict() == pytest.approx({0: 0.5, 1: 1.0})


def test_runs_compared(project, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    with hdtrace.open(write_project(folder, SENDER)) as other:
        compared = hdtrace.compare(project, other)
        assert compared.columns.tolist() == [project.path, other.path]
        assert compared.loc["Recv"].tolist() == [2.5, 0.0] and compared.loc["Send"].tolist() == [1.5, 1.5]
        assert hdtrace.compare(project, other, by="rank", figure="calls").loc[0].tolist() == [3, 3]


def test_runs_without_calls(tmp_path):
    with hdtrace.open(write_project(tmp_path, "", "")) as project:
        assert project.flat_profile().empty and project.load_imbalance().empty and project.message_sizes().empty
        assert project.communication_over_time(2)["messages"].tolist() == [0, 0]
        assert project.time_profile(2)["computation"].tolist() == [0, 0]
