"""Several worlds in one project, from files of a few lines."""

import pytest

WORLD = "Comm map='0..{last}->0..{last};' id=0 name='WORLD' uid='{uid}'\n"


def comm(id, uid, mapping, remote=None, rest=""):
    inter = "" if remote is None else f" remote='{remote}'"
    return f"Comm map='{mapping}' id={id} name='{uid}' uid='{uid}'{inter} {rest}\n"


@pytest.fixture
def process(run):
    """process(world, rank, size, lines): of the launch 7."""

    def write(world, rank, size, lines="", run_name=None):
        base = "app" if world == 1 else f"app-world{world}"
        uid = "W" if world == 1 else f"W{world}"
        name = run_name or (7 << 16) + world
        run.process(rank, WORLD.format(last=size - 1, uid=uid) + lines, base=base, size=size, keys=f"world='{uid}' run='{name}'")

    return write


def members(project, name):
    communicator = project.find(f"CommunicatorList/Communicator[@name='{name}']")
    return [(int(rank.get("global")), int(rank.get("local")), rank.get("group")) for rank in communicator]


def files(project):
    return [(one.get("base"), one.get("first"), one.get("last")) for one in project.iter("Files")]


def foreign(project):
    return [(one.get("first"), one.get("last"), one.get("map")) for one in project.findall("WorldList/Foreign")]


def test_large_worlds(run, process):
    """Of 300 children one has files: it tells of all."""
    process(1, 0, 1, comm(1, "W/1@children", "0->0;", "-304..-5->0..299;", "side='first'"))
    process(2, 7, 300, comm(1, "W/1@children", "0..299->0..299;", "-5->0;", "side='second'"))
    project = run.merge(".").project
    assert members(project, "W/1@children") == [(0, 0, "0"), *((1 + rank, rank, "1") for rank in range(300))]
    assert foreign(project) == [("0", "0", "-304..-5=1..300;"), ("8", "8", "-5=0;")]
    assert [(world.get("uid"), world.get("first"), world.get("size")) for world in project.iter("World")] == [("W", "0", "1"), ("W2", "1", "300")]
    assert files(project) == [("app", "0", "0"), ("app-world2", "8", "8")]


def test_a_first_process_that_was_killed_before_it_told_its_world(run, process):
    process(1, 1, 3)
    process(1, 2, 3)
    run.info(0, header=False)
    run.trace(0)
    project = run.merge(".").project
    assert [(world.get("uid"), world.get("size")) for world in project.iter("World")] in ([], [("W", "3")])
    assert len(members(project, "WORLD")) == 3


def test_a_child_that_was_killed_before_it_told_its_world(run, process):
    for rank in range(2):
        process(1, rank, 2, comm(1, "W/1@children", "0..1->0..1;", "-6..-5->0..1;", "side='first'"))
    process(2, 1, 2, comm(1, "W/1@children", "0..1->0..1;", "-6..-5->0..1;", "side='second'"))
    run.info(0, header=False, base="app-world2")
    run.trace(0, base="app-world2")
    project = run.merge(".").project
    assert files(project) == [("app", "0", "1"), ("app-world2", "2", "3")]


def test_a_program_of_several_that_was_killed_before_it_told_its_world(run):
    for rank in (0, 2):
        run.process(rank, WORLD.format(last=2, uid="W"), base="a", size=3, keys="world='W'")
    run.info(1, header=False, base="b")
    run.trace(1, base="b")
    project = run.merge(".").project
    assert files(project) == [("a", "0", "0"), ("b", "1", "1"), ("a", "2", "2")]


def test_a_program_of_which_nothing_tells_the_world(run, process):
    for rank in (0, 2):
        process(1, rank, 3, comm(1, "W/1@children", "0..2->0..2;", "-5->0;", "side='first'"))
    process(2, 0, 1, comm(1, "W/1@children", "0->0;", "-7..-5->0..2;", "side='second'"))
    run.info(1, header=False, base="b")
    run.trace(1, base="b")
    assert ("/app_node01_0_0.info: error: this is rank 0, but comes behind ./b_node01_1_0.info, of which nothing tells the world: merge without that"
            in run.fail("."))


def test_ten_worlds_are_in_the_order_of_their_numbers(run, process):
    process(1, 0, 1, "".join(comm(i, f"W/{i}@children", "0->0;", f"-{3 + i}->0;", "side='first'") for i in range(2, 12)))
    for world in range(2, 12):
        process(world, 0, 1, comm(1, f"W/{world}@children", "0->0;", "-5->0;", "side='second'"))
    project = run.merge_cleanly(".").project
    assert [world.get("uid") for world in project.iter("World")] == ["W", *(f"W{number}" for number in range(2, 12))]
    assert foreign(project)[0] == ("0", "0", "".join(f"-{3 + i}={i - 1};" for i in range(11, 1, -1)))


def test_window_of_two_worlds(run, process):
    merged = "Win id=0 cid=2 uid='W/1@children/1/w1' size=8 dispUnit=4\n"
    process(1, 0, 1, comm(1, "W/1@children", "0->0;", "-5->0;", "side='first'") + comm(2, "W/1@children/1", "0->1;-6->0;") + merged)
    process(2, 0, 1, comm(1, "W/1@children", "0->0;", "-5->0;", "side='second'") + comm(2, "W/1@children/1", "-6->1;0->0;") + merged)
    (window,) = run.merge_cleanly(".").project.find("WindowList")
    assert [(part.get("global"), part.get("local"), part.get("wid")) for part in window] == [("0", "1", "0"), ("1", "0", "0")]


class TestPorts:
    """A parent whose two children meet again through a port."""

    def parents(self, process):
        process(1, 0, 1, comm(1, "W/1@children", "0->0;", "-5->0;", "side='first'") + comm(2, "W/2@children", "0->0;", "-6->0;", "side='first'") +
                comm(3, "W/3@children", "0->0;", "-7->0;", "side='first'"))

    def child(self, process, number, *meetings):
        lines = comm(1, f"W/{number - 1}@children", "0->0;", "-5->0;", "side='second'")
        for i, (word, port) in enumerate(meetings):
            side = "first" if word == "accept" else "second"
            lines += comm(2 + i, f"W{number}/{word}{i + 1}", "0->0;", f"-{6 + i}->0;", f"side='{side}' {word}s='{port}'")
        process(number, 0, 1, lines)

    def test_again_and_again(self, run, process):
        self.parents(process)
        self.child(process, 2, ("accept", "a"), ("accept", "b"), ("accept", "a"))
        self.child(process, 3, ("connect", "a"), ("connect", "b"), ("connect", "a"))
        self.child(process, 4)
        project = run.merge_cleanly(".").project
        for number in (1, 2, 3):
            assert members(project, f"W2/accept{number}") == [(1, 0, "0"), (2, 0, "1")]
        assert foreign(project)[1:3] == [("1", "1", "-8=2;-7=2;-6=2;-5=0;"), ("2", "2", "-8=1;-7=1;-6=1;-5=0;")]

    def test_of_several_clients_nobody_knows_which_was_first(self, run, process):
        self.parents(process)
        self.child(process, 2, ("accept", "a"), ("accept", "a"))
        self.child(process, 3, ("connect", "a"))
        self.child(process, 4, ("connect", "a"))
        project = run.merge_cleanly(".").project
        assert members(project, "W2/accept1") == [(1, 0, "0")]
        assert foreign(project)[1:] == [("1", "3", "-5=0;")]


class TestRefused:
    def test_members_of_both_worlds_in_one_place(self, run, process):
        process(1, 0, 1, comm(1, "x", "0->0;-5->1;"))
        process(2, 0, 1, comm(1, "x", "0->0;-5->1;"))
        assert "app_node01_0_0.info:3: error: communicator 'x' has other members than in" in run.fail(".")

    def test_sizes_that_differ(self, run, process):
        process(1, 0, 1, comm(1, "x", "0->0;-5->1;"))
        process(2, 0, 1, comm(1, "x", "0->1;-6->0;-5->2;"))
        assert "communicator 'x' has other members than in" in run.fail(".")

    def test_another_launch(self, run, process):
        process(1, 0, 1, comm(1, "x", "0->0;-5->1;"))
        process(2, 0, 1, comm(1, "x", "0->1;-5->0;"), run_name=8 << 16)
        assert "the inputs are of 2 runs: ./app-world2_node01_0_0.info (1 process), ./app_node01_0_0.info (1 process)" in run.fail(".")

    @pytest.mark.parametrize("mapping", ["-3->1;", "-5..2->1..8;", "-99999999999->1;", "-5..-9->1..5;", "--5->1;"])
    def test_numbers(self, run, process, mapping):
        process(1, 0, 1, comm(1, "x", "0->0;" + mapping))
        assert f"app_node01_0_0.info:3:10: error: '{mapping[:-1]}' in the map" in run.fail(".")

    def test_ranks_that_would_be_of_the_next_world(self, run, process):
        process(1, 0, 1, comm(1, "x", "0->0;1->2;-5->1;"))
        process(2, 0, 1, comm(1, "x", "-6->2;-5->0;0->1;"))
        assert "the map has rank 1, but the program has 1 processes" in run.fail(".")
