WORLD2 = "Comm map='0->0;1->1;' id=0 name='WORLD' uid='W'\n"


def comm(mapping, id, name="", uid=None, remote=None):
    line = f"Comm map='{mapping}' id={id} name='{name}'"
    if uid is not None:
        line += f" uid='{uid}'"
    if remote is not None:
        line += f" remote='{remote}'"
    return line + "\n"


def test_uid_pairs_communicators_created_in_different_order(run):
    run.process(0, WORLD2 + comm("0->0;1->1;", 1, "a", "W/1") + comm("0->0;1->1;", 2, "b", "W/2"), size=2)
    run.process(1, WORLD2 + comm("0->0;1->1;", 5, "b", "W/2") + comm("0->0;1->1;", 6, "a", "W/1"), size=2)
    assert run.merge_cleanly().communicators() == [
        ("WORLD", [(0, 0, 0), (1, 1, 0)]),
        ("a", [(0, 0, 1), (1, 1, 6)]),
        ("b", [(0, 0, 2), (1, 1, 5)]),
    ]


def test_without_uid_the_kth_of_equal_maps_are_paired_with_a_warning(run):
    run.process(0, comm("0->0;1->1;", 0, "WORLD") + comm("0->0;1->1;", 1) + comm("0->0;1->1;", 2))
    run.process(1, comm("0->0;1->1;", 0, "WORLD") + comm("1->0;", 3) + comm("1->1;0->0;", 7) + comm("0->0;1->1;", 8))
    result = run.merge("app")
    assert result.code == 0
    assert len(result.warnings) == 1
    assert result.stderr.startswith("app_node01_0_0.info:3: warning: communicators without uid")
    assert result.communicators() == [
        ("WORLD", [(0, 0, 0), (1, 1, 0)]),
        ("", [(0, 0, 1), (1, 1, 7)]),
        ("", [(0, 0, 2), (1, 1, 8)]),
        ("", [(1, 0, 3)]),
    ]


def test_members_that_contradict_each_other(run):
    run.process(0, WORLD2 + comm("0->0;1->1;", 1, uid="W/1"), size=2)
    run.process(1, WORLD2 + comm("0->1;1->0;", 1, uid="W/1"), size=2)
    message = run.fail()
    assert "app_node01_1_0.info:3: error: communicator 'W/1' has other members than in app_node01_0_0.info:3" in message


def test_one_uid_twice_in_a_process(run):
    run.process(0, comm("0->0;", 0, "WORLD", "W") + comm("0->0;", 1, uid="x") + comm("0->0;", 2, uid="x"), size=1)
    assert "with the ids 1 and 2" in run.fail()


def test_process_that_is_not_a_member(run):
    run.process(0, WORLD2 + comm("1->0;", 1, uid="x"), size=2)
    run.process(1, WORLD2, size=2)
    assert "app_node01_0_0.info:3: error: rank 0 is not in the map of its communicator 1" in run.fail()


def test_ranges_in_maps(run):
    run.process(0, comm("0..2->0..2;3->3;", 0, "WORLD", "W") + comm("0..1->2..3;2..3->0..1;", 1, "x", "x"), size=4)
    run.process(1, comm("0->0;1->1;2..3->2..3;", 0, "WORLD", "W"), size=4)
    run.process(2, comm("0..3->0..3;", 0, "WORLD", "W"), size=4)
    run.process(3, comm("3->3;2->2;1->1;0->0;", 0, "WORLD", "W"), size=4)
    world, other = run.merge_cleanly().communicators()
    assert world == ("WORLD", [(rank, rank, 0) for rank in range(4)])
    assert other == ("x", [(0, 2, 1), (1, 3, None), (2, 0, None), (3, 1, None)])


def test_broken_maps(run):
    for mapping, message in [
        ("0->0;0->1;", "rank 0 twice"),
        ("0..3->0..2;", "different lengths"),
        ("3..0->0..3;", "different lengths"),
        ("0-0;", "not world->local"),
        ("0->x;", "not world->local"),
        ("0->-1;", "not world->local"),
        ("0..99999999999->0..99999999999;", "beyond"),
        ("0..5->0..5;", "rank 5, but the program has 1"),
        ("", "needs a map"),
    ]:
        run.process(0, comm(mapping, 0, "WORLD", "W"), size=1)
        error = run.fail()
        assert "app_node01_0_0.info:2:" in error
        assert message in error


def test_inter_communicator(run):
    everyone = comm("0..2->0..2;", 0, "WORLD", "W")
    run.process(0, everyone + comm("0->0;", 4, "x", "i", remote="1->0;2->1;"), size=3)
    run.process(1, everyone + comm("1->0;2->1;", 3, "x", "i", remote="0->0;"), size=3)
    run.process(2, everyone + comm("1->0;2->1;", 2, "x", "i", remote="0->0;"), size=3)
    communicator = run.merge_cleanly().project.findall("CommunicatorList/Communicator")[1]
    members = [tuple(rank.get(key) for key in ("global", "local", "cid", "group")) for rank in communicator]
    assert members == [("0", "0", "4", "0"), ("1", "0", "3", "1"), ("2", "1", "2", "1")]


def test_members_of_another_world_are_left_out(run):
    world = comm("0..1->0..1;", 0, "WORLD", "W")
    for rank in range(2):
        lines = comm("0->0;1->1;", 1, "children", "c", remote="-4->0;-4->1;") + comm("-4->0;-4->1;0->2;1->3;", 2, "all", "a")
        run.process(rank, world + lines, size=2)
    communicators = run.merge_cleanly().project.findall("CommunicatorList/Communicator")
    assert [[rank.get("group") for rank in communicator] for communicator in communicators[1:]] == [["0", "0"], [None, None]]
    assert [rank.get("local") for rank in communicators[2]] == ["2", "3"]


def test_other_number_of_members_of_another_world(run):
    run.process(0, comm("0->0;1->1;", 1, "x", "c", remote="-4->0;-4->1;"), size=2)
    run.process(1, comm("0->0;1->1;", 1, "x", "c", remote="-4->0;"), size=2)
    assert "other members" in run.fail()


def test_inter_communicators_without_uid(run):
    run.process(0, comm("0->0;1->1;", 0, "WORLD") + comm("0->0;", 1, remote="1->0;"))
    run.process(1, comm("0->0;1->1;", 0, "WORLD") + comm("1->0;", 5, remote="0->0;"))
    assert run.merge("app").communicators()[1] == ("", [(0, 0, 1), (1, 0, 5)])


class TestNames:
    def test_last_name_holds(self, run):
        lines = comm("0->0;", 0, "WORLD", "W") + comm("0->0;", 1, "WORLD dup", "x")
        run.process(0, lines + "CommName id=1 name='old'\nCommName id=1 name='new & \\'it\\''\n", size=1)
        assert run.merge_cleanly().communicators()[1][0] == "new & 'it'"

    def test_name_given_by_one_member_is_taken(self, run):
        run.process(0, WORLD2 + comm("0->0;1->1;", 1, "WORLD dup", "x"), size=2)
        run.process(1, WORLD2 + comm("0->0;1->1;", 1, "WORLD dup", "x") + "CommName id=1 name='grid'\n", size=2)
        assert run.merge_cleanly().communicators()[1][0] == "grid"

    def test_lowest_rank_names_if_members_disagree(self, run):
        for rank in range(2):
            line = comm("0->0;1->1;", 1, "", "x")
            run.process(rank, WORLD2 + line + f"CommName id=1 name='name {rank}'\n", size=2)
        result = run.merge("app")
        assert (result.code, len(result.warnings)) == (0, 1)
        assert "app_node01_1_0.info:3: warning: rank 1 names the communicator 'name 1'" in result.stderr
        assert result.communicators()[1][0] == "name 0"

    def test_world_keeps_its_name(self, run):
        run.process(0, comm("0->0;", 3, "WORLD", "W") + "CommName id=3 name='mine'\n", size=1, keys="world='W'")
        assert run.merge_cleanly().communicators() == [("WORLD", [(0, 0, 3)])]

    def test_no_other_communicator_may_be_called_world(self, run):
        lines = comm("0->0;", 0, "WORLD", "W") + comm("0->0;", 1, "SELF", "S0") + "CommName id=1 name='WORLD'\n"
        run.process(0, lines, size=1, keys="world='W'")
        result = run.merge("app")
        assert "app_node01_0_0.info:3: warning: the name WORLD is reserved" in result.stderr
        assert [name for name, _ in result.communicators()] == ["WORLD", "WORLD (not the world)"]

    def test_equal_names_are_no_clash(self, run):
        run.process(0, comm("0->0;", 0, "WORLD", "W") + comm("0->0;", 1, "x", "a") + comm("0->0;", 2, "x", "b"), size=1)
        assert [name for name, _ in run.merge_cleanly().communicators()] == ["WORLD", "x", "x"]

    def test_name_of_an_unknown_communicator(self, run):
        run.process(0, "CommName id=7 name='x'\n", size=1)
        assert "communicator 7 is named, but not described" in run.merge("app").stderr


def test_world_is_there_even_if_no_process_describes_it(run):
    for rank in range(2):
        run.process(rank, comm(f"{rank}->0;", 0, "SELF", f"S{rank}"), size=2)
    assert run.merge_cleanly().communicators()[0] == ("WORLD", [(0, 0, None), (1, 1, None)])


def test_world_is_first_even_if_it_was_used_last(run):
    run.process(0, comm("0->0;", 0, "SELF", "S") + comm("0->0;", 1, "WORLD", "W"), size=1)
    assert [name for name, _ in run.merge_cleanly().communicators()] == ["WORLD", "SELF"]


def test_described_twice(run):
    line = comm("0->0;", 0, "WORLD", "W")
    run.process(0, line + line, size=1)
    run.merge_cleanly()
    run.process(0, line + comm("0->0;", 0, "x", "other"), size=1)
    assert "communicator 0 is described differently" in run.fail("app", "--overwrite")


def test_a_world_and_communicators_of_one_process_are_known_without_uid(run):
    for rank in range(2):
        run.process(rank, comm("0->0;1->1;", 0, "WORLD") + comm(f"{rank}->0;", 1, "SELF"))
    assert run.merge_cleanly().communicators()[0] == ("WORLD", [(0, 0, 0), (1, 1, 0)])
