import pytest

WORLD2 = "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"
INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"


def win(id, uid=None, cid=0, size=8, unit=1):
    uid_key = "" if uid is None else f" uid='{uid}'"
    return f"Win id={id} cid={cid}{uid_key} size={size} dispUnit={unit}\n"


def windows(result):
    """(uid, [(global, local, wid, size, dispUnit), ...]) of each window."""
    keys = ("global", "local", "wid", "size", "dispUnit")
    return [
        (window.get("uid"), [tuple(int(rank.get(key, -1)) for key in keys) for rank in window])
        for window in result.project.findall("WindowList/Window")
    ]


def write_two(run, *lines, trace=""):
    """Two processes with these lines behind that of the world."""
    for rank in range(2):
        run.process(rank, WORLD2 + lines[rank], trace, size=2)


def test_form(run):
    lines = win(0, "W/w3", size=800, unit=8) + "WinName id=0 name='box'\n"
    run.process(0, "Comm map='0->0;' id=0 name='WORLD' uid='W'\n" + lines, size=1)
    text = run.merge_cleanly().output.read_text()
    assert """\
  </CommunicatorList>
  <WindowList>
    <Window name="box" uid="W/w3" communicator="W">
      <Rank global="0" local="0" wid="0" size="800" dispUnit="8"/>
    </Window>
  </WindowList>
  <Datatypes>
""" in text


def test_no_list_without_windows(run):
    write_two(run, "", "")
    assert run.merge_cleanly().project.find("WindowList") is None


def test_uid_pairs_windows_made_in_different_order(run):
    write_two(run, win(0, "W/w1", size=8) + win(1, "W/w2", size=16), win(4, "W/w2", size=32) + win(7, "W/w1", size=64))
    assert windows(run.merge_cleanly()) == [
        ("W/w1", [(0, 0, 0, 8, 1), (1, 1, 7, 64, 1)]),
        ("W/w2", [(0, 0, 1, 16, 1), (1, 1, 4, 32, 1)]),
    ]


def test_displacement_units_may_differ(run):
    write_two(run, win(0, "W/w1", size=0, unit=1), win(0, "W/w1", size=1 << 40, unit=8))
    assert windows(run.merge_cleanly()) == [("W/w1", [(0, 0, 0, 0, 1), (1, 1, 0, 1 << 40, 8)])]


def test_local_ranks_are_those_of_the_communicator(run):
    lines = "Comm map='0->1;1->0;' id=1 name='x' uid='W/1'\n" + win(0, "W/1/w1", cid=1)
    write_two(run, lines, lines)
    result = run.merge_cleanly()
    assert windows(result) == [("W/1/w1", [(0, 1, 0, 8, 1), (1, 0, 0, 8, 1)])]
    assert result.project.find("WindowList/Window").get("communicator") == "W/1"


def test_member_that_does_not_describe_the_window(run):
    write_two(run, win(0, "W/w1"), "")
    assert windows(run.merge_cleanly()) == [("W/w1", [(0, 0, 0, 8, 1), (1, 1, -1, -1, -1)])]


def test_same_windows_described_in_two_lines(run):
    write_two(run, win(0, "W/w1") * 2, win(0, "W/w1"))
    run.merge_cleanly()


def test_order_of_the_lines_does_not_matter(run):
    for rank in range(2):
        run.process(rank, "WinName id=0 name='box'\n" + win(0, "W/w1") + WORLD2, size=2)
    assert run.merge_cleanly().project.find("WindowList/Window").get("name") == "box"


def test_members_of_another_world_are_left_out(run):
    for rank in range(2):
        lines = "Comm map='-4->0;-4->1;0->2;1->3;' id=1 name='all' uid='a'\n" + win(0, "a/w1", cid=1)
        run.process(rank, WORLD2 + lines, size=2)
    assert windows(run.merge_cleanly()) == [("a/w1", [(0, 2, 0, 8, 1), (1, 3, 0, 8, 1)])]


class TestWithoutUid:
    def warn(self, run):
        result = run.merge("app")
        assert result.code == 0
        return result

    def test_the_kth_on_equal_communicators_are_paired_with_a_warning(self, run):
        other = "Comm map='0->0;1->1;' id=1 name='x' uid='W/1'\n"
        write_two(
            run,
            other + win(0, size=1) + win(1, cid=1, size=2) + win(2, size=3),
            other + win(0, cid=1, size=20) + win(1, size=10) + win(2, size=30),
        )
        result = self.warn(run)
        assert len(result.warnings) == 1
        assert result.stderr.startswith("app_node01_0_0.info:4: warning: windows without uid: ")
        assert windows(result) == [
            (None, [(0, 0, 0, 1, 1), (1, 1, 1, 10, 1)]),
            (None, [(0, 0, 1, 2, 1), (1, 1, 0, 20, 1)]),
            (None, [(0, 0, 2, 3, 1), (1, 1, 2, 30, 1)]),
        ]

    def test_communicator_without_uid(self, run):
        lines = "Comm map='0->0;1->1;' id=1 name='x'\n"
        write_two(run, lines + win(0, cid=1), lines + win(0, cid=1))
        result = self.warn(run)
        assert len(result.warnings) == 2
        assert windows(result) == [(None, [(0, 0, 0, 8, 1), (1, 1, 0, 8, 1)])]
        assert result.project.find("WindowList/Window").attrib == {"name": ""}


class TestNames:
    def names(self, result):
        return [window.get("name") for window in result.project.findall("WindowList/Window")]

    def test_no_name(self, run):
        write_two(run, win(0, "W/w1"), win(0, "W/w1"))
        assert self.names(run.merge_cleanly()) == [""]

    def test_last_name_given_by_any_member_holds(self, run):
        write_two(run, win(0, "u"), win(3, "u") + "WinName id=3 name='old'\nWinName id=3 name='a<b'\n")
        assert self.names(run.merge_cleanly()) == ["a<b"]

    def test_lowest_rank_names_if_members_disagree(self, run):
        write_two(run, *(win(0, "u") + f"WinName id=0 name='name {rank}'\n" for rank in range(2)))
        result = run.merge("app")
        assert result.stderr == (
            "app_node01_1_0.info:3: warning: rank 1 names the window 'name 1', "
            "but rank 0 names it 'name 0', which is used\n"
        )
        assert self.names(result) == ["name 0"]

    def test_name_of_an_unknown_window(self, run):
        write_two(run, "WinName id=7 name='x'\n", "")
        assert "app_node01_0_0.info:3: warning: window 7 is named, but not described" in run.merge("app").stderr


class TestContradictions:
    def test_other_communicator(self, run):
        other = "Comm map='0->0;1->1;' id=1 name='x' uid='W/1'\n"
        write_two(run, other + win(0, "u"), other + win(0, "u", cid=1))
        assert run.fail() == (
            "app_node01_1_0.info:4: error: window 'u' is on another communicator than in app_node01_0_0.info:4\n"
        )

    def test_one_uid_twice_in_a_process(self, run):
        write_two(run, win(0, "u") + win(1, "u"), "")
        assert run.fail() == (
            "app_node01_0_0.info:4: error: rank 0 describes window 'u' with the ids 0 and 1\n"
        )

    @pytest.mark.parametrize("other", [win(0, "v"), win(0, "u", cid=1), win(0, "u", size=9), win(0, "u", unit=2)])
    def test_one_id_with_two_descriptions(self, run, other):
        write_two(run, win(0, "u") + other, "")
        message = run.fail()
        assert message.startswith("app_node01_0_0.info:4:")
        assert "window 0 is described differently in app_node01_0_0.info:3" in message

    def test_communicator_that_is_not_described(self, run):
        write_two(run, win(0, "u", cid=5), "")
        assert run.fail() == (
            "app_node01_0_0.info:3: error: window 0 is on communicator 5, which is not described\n"
        )

    def test_communicator_that_is_wrong_is_reported_once(self, run):
        write_two(run, "Comm map='1->0;' id=1 name='x' uid='x'\n" + win(0, "u", cid=1), "")
        assert run.fail() == "app_node01_0_0.info:3: error: rank 0 is not in the map of its communicator 1\n"

    def test_inter_communicator(self, run):
        write_two(run, "Comm map='0->0;' id=1 name='x' uid='i' remote='1->0;'\n" + win(0, "u", cid=1), "")
        assert run.fail() == "app_node01_0_0.info:4: error: window 0 is on an inter-communicator\n"


@pytest.mark.parametrize(
    "line, message",
    [
        ("Win cid=0 size=8 dispUnit=1", "needs id="),
        ("Win id=0 size=8 dispUnit=1", "needs cid="),
        ("Win id=0 cid=0 dispUnit=1", "needs size="),
        ("Win id=0 cid=0 size=8", "needs dispUnit="),
        ("Win id=0 cid=0 size=-8 dispUnit=1", "size is negative"),
        ("Win id=0 cid=0 size=8 dispUnit=-1", "dispUnit is negative"),
        ("Win id=0 cid=x size=8 dispUnit=1", "cid is not a number"),
        ("WinName id=0", "needs name="),
    ],
)
def test_broken_lines(run, line, message):
    write_two(run, line + "\n", "")
    error = run.fail()
    assert error.startswith("app_node01_0_0.info:3:")
    assert message in error


class TestAudit:
    def test_described_objects(self, run):
        trace = (
            "<Put size='4' toRank='1' wid='0' count='1' tid='0' targetOffset='3' targetCount='1' targetTid='0' "
            "time='0.1' end='0.2' />\n<Win_free wid='-1' time='0.3' end='0.4' />\n"
        )
        write_two(run, INT + win(0, "W/w1"), INT + win(0, "W/w1"), trace=trace)
        run.merge_cleanly()

    @pytest.mark.parametrize(
        "line, message",
        [
            ("<Put wid='3' time='0' end='1' />", "window 3 is used"),
            ("<Get wid='0' targetTid='7' time='0' end='1' />", "datatype 7 is used"),
        ],
    )
    def test_undescribed_objects(self, run, line, message):
        run.process(0, WORLD2 + win(0, "W/w1"), line + "\n", size=2)
        run.process(1, WORLD2, size=2)
        result = run.merge("app")
        assert (result.code, len(result.warnings)) == (0, 1)
        assert result.stderr.startswith("app_node01_0_0.trc:3: warning: " + message)
