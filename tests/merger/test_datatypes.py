"""Each combiner of the specification's Appendix B, and those that it lacks."""

import pytest

INT = "Type id='0' combiner='MPI_COMBINER_NAMED' name='MPI_INT' size=4 lb=0 extent=4\n"
BYTE = "Type id='1' combiner='MPI_COMBINER_NAMED' name='MPI_BYTE' size=1 lb=0 extent=1\n"


def datatype(combiner, integers="", addresses="", types="", id=2, name="", measures=" size=8 lb=1 extent=16"):
    return (
        f"Type id='{id}' combiner='MPI_COMBINER_{combiner}' name='{name}' "
        f"integers='{integers}' addresses='{addresses}' types='{types}'{measures}\n"
    )


CASES = {
    "DUP": (("", "", "0;"), {"oldType": "0"}, []),
    "CONTIGUOUS": (("3;", "", "0;"), {"count": "3", "oldType": "0"}, []),
    "VECTOR": (("3;2;-5;", "", "0;"), {"count": "3", "blocklength": "2", "stride": "-5", "oldType": "0"}, []),
    "HVECTOR": (
        ("3;2;", "8589934592;", "0;"),
        {"count": "3", "blocklength": "2", "stride": "8589934592", "oldType": "0"},
        [],
    ),
    "HVECTOR_INTEGER": (("3;2;8;", "", "0;"), {"count": "3", "blocklength": "2", "stride": "8", "oldType": "0"}, []),
    "INDEXED": (
        ("2;10;20;1;2;", "", "0;"),
        {"count": "2", "oldType": "0"},
        [("BLOCK", {"len": "10", "index": "1"}), ("BLOCK", {"len": "20", "index": "2"})],
    ),
    "HINDEXED": (
        ("2;10;20;", "4;-4;", "0;"),
        {"count": "2", "oldType": "0"},
        [("BLOCK", {"len": "10", "index": "4"}), ("BLOCK", {"len": "20", "index": "-4"})],
    ),
    "HINDEXED_INTEGER": (
        ("1;10;4;", "", "0;"),
        {"count": "1", "oldType": "0"},
        [("BLOCK", {"len": "10", "index": "4"})],
    ),
    "INDEXED_BLOCK": (
        ("2;7;1;9;", "", "0;"),
        {"count": "2", "oldType": "0", "blockLength": "7"},
        [("Block", {"displacement": "1"}), ("Block", {"displacement": "9"})],
    ),
    "HINDEXED_BLOCK": (
        ("2;7;", "8;16;", "0;"),
        {"count": "2", "oldType": "0", "blockLength": "7"},
        [("Block", {"displacement": "8"}), ("Block", {"displacement": "16"})],
    ),
    "STRUCT": (
        ("2;4;5;", "6;32;", "0;1;"),
        {"count": "2"},
        [
            ("Type", {"id": "0", "displacement": "6", "blocklen": "4"}),
            ("Type", {"id": "1", "displacement": "32", "blocklen": "5"}),
        ],
    ),
    "STRUCT_INTEGER": (
        ("2;4;5;6;32;", "", "0;1;"),
        {"count": "2"},
        [
            ("Type", {"id": "0", "displacement": "6", "blocklen": "4"}),
            ("Type", {"id": "1", "displacement": "32", "blocklen": "5"}),
        ],
    ),
    "SUBARRAY": (
        ("2;10;20;3;4;5;6;MPI_ORDER_FORTRAN;", "", "0;"),
        {"count": "2", "order": "MPI_ORDER_FORTRAN", "ndims": "2", "oldType": "0"},
        [
            ("Dimension", {"size": "10", "subsize": "3", "start": "5"}),
            ("Dimension", {"size": "20", "subsize": "4", "start": "6"}),
        ],
    ),
    "F90_REAL": (("15;307;", "", ""), {"precision": "15", "range": "307"}, []),
    "F90_COMPLEX": (("15;-32766;", "", ""), {"precision": "15", "range": "-32766"}, []),
    "F90_INTEGER": (("9;", "", ""), {"range": "9"}, []),
}


@pytest.mark.parametrize("combiner", CASES)
def test_combiner(run, combiner):
    contents, attributes, children = CASES[combiner]
    run.process(0, INT + BYTE + datatype(combiner, *contents, name="n"), size=1)
    element = run.merge_cleanly().datatype(2)
    assert element.tag == combiner
    assert element.attrib == {"id": "2", "name": "n", "size": "8", "lb": "1", "extent": "16", **attributes}
    assert list(element.attrib)[:2] == ["id", "name"]
    assert [(child.tag, child.attrib) for child in element] == children


def test_resized_has_the_extent_in_both_spellings(run):
    run.process(0, INT + datatype("RESIZED", "", "-4;16;", "0;"), size=1)
    attributes = run.merge_cleanly().datatype(2).attrib
    assert attributes == {
        **{"id": "2", "name": "", "lowerBound": "-4", "extend": "16", "extent": "16", "oldType": "0"},
        **{"size": "8", "lb": "1"},
    }
    assert list(attributes)[:5] == ["id", "name", "lowerBound", "extend", "oldType"]  # as in Appendix B


def test_darray_has_the_size_of_the_group(run):
    integers = (
        "4;1;2;100;200;MPI_DISTRIBUTE_BLOCK;MPI_DISTRIBUTE_CYCLIC;MPI_DISTRIBUTE_DFLT_DARG;3;2;2;MPI_ORDER_C;"
    )
    run.process(0, INT + datatype("DARRAY", integers, "", "0;"), size=1)
    element = run.merge_cleanly().datatype(2)
    assert element.attrib == {
        **{"id": "2", "name": "", "size": "4", "order": "MPI_ORDER_C", "rank": "1", "dims": "2"},
        **{"ndims": "2", "oldType": "0", "lb": "1", "extent": "16"},
    }
    assert [dimension.attrib for dimension in element] == [
        {"gsize": "100", "distrib": "MPI_DISTRIBUTE_BLOCK", "darg": "MPI_DISTRIBUTE_DFLT_DARG", "psize": "2"},
        {"gsize": "200", "distrib": "MPI_DISTRIBUTE_CYCLIC", "darg": "3", "psize": "2"},
    ]


def test_no_blocks(run):
    run.process(0, INT + datatype("INDEXED", "0;", "", "0;") + datatype("STRUCT", "0;", "", "", id=3), size=1)
    result = run.merge_cleanly()
    assert list(result.datatype(2)) == list(result.datatype(3)) == []


def listed(numbers):
    return "".join(f"{number};" for number in numbers)


@pytest.mark.parametrize("count, is_listed", [(1000, False), (1001, True)])
@pytest.mark.parametrize("combiner, integers, addresses, attributes", [
    ("INDEXED", "{n};2+0*{n};5-3*{n};", "", {"len": "2+0*{n};", "index": "5-3*{n};"}),
    ("HINDEXED", "{n};2+0*{n};", "5-3*{n};", {"len": "2+0*{n};", "index": "5-3*{n};"}),
    ("HINDEXED_INTEGER", "{n};2+0*{n};5-3*{n};", "", {"len": "2+0*{n};", "index": "5-3*{n};"}),
    ("INDEXED_BLOCK", "{n};2;5-3*{n};", "", {"displacement": "5-3*{n};"}),
    ("HINDEXED_BLOCK", "{n};2;", "5-3*{n};", {"displacement": "5-3*{n};"})])
def test_many_blocks_are_lists(run, combiner, integers, addresses, attributes, count, is_listed):
    run.process(0, INT + datatype(combiner, integers.format(n=count), addresses.format(n=count), "0;"), size=1)
    rows = list(run.merge_cleanly().datatype(2))
    if is_listed:
        assert [(row.tag, row.attrib) for row in rows] == [("Blocks", {key: value.format(n=count) for key, value in attributes.items()})]
    else:
        values = {"len": lambda i: "2", "index": lambda i: str(5 - 3 * i), "displacement": lambda i: str(5 - 3 * i)}
        assert [row.attrib for row in rows] == [{key: values[key](i) for key in attributes} for i in range(count)]


def test_many_blocks_may_be_single_values(run):
    """As in traces of datatypes that follow no rule."""
    run.process(0, INT + datatype("INDEXED_BLOCK", f"2000;1;{listed(i * i for i in range(2000))}", "", "0;"), size=1)
    row, = run.merge_cleanly().datatype(2)
    assert (row.tag, row.get("displacement")) == ("Blocks", listed(i * i for i in range(2000)))


def test_values_of_two_runs_that_do_not_end_together(run):
    """A run of lengths may go on with the first displacements: both stand in the same array."""
    run.process(0, INT + datatype("INDEXED", "1002;3+0*1000;3+1*4;0+9*1000;", "", "0;"), size=1)
    row, = run.merge_cleanly().datatype(2)
    assert row.attrib == {"len": "3+0*1000;3+1*2;", "index": "5+1*2;0+9*1000;"}


def test_lists_are_not_longer_than_readers_of_xml_take_them(run):
    count = 250_000
    run.process(0, INT + datatype("HINDEXED", f"{count};1+0*{count};", listed(i * i for i in range(count)), "0;"), size=1)
    rows = list(run.merge_cleanly().datatype(2))
    assert [row.get("len") for row in rows] == ["1+0*100000;", "1+0*100000;", "1+0*50000;"]
    assert "".join(row.get("index") for row in rows) == listed(i * i for i in range(count))


@pytest.mark.parametrize("entry", ["0+8*", "0*8", "0+8*0", "0+8*-3", "x+8*3", "0+-8*3", "9223372036854775807+1*3", "0+8*3*3"])
def test_runs_that_are_none(run, entry):
    run.process(0, INT + datatype("INDEXED_BLOCK", f"4;1;{entry};", "", "0;"), size=1)
    message = run.fail()
    assert message.startswith("app_node01_0_0.info:3:") and f"error: '{entry}' is not first+step*count" in message


@pytest.mark.parametrize("combiner", ["STRUCT", "VECTOR", "SUBARRAY", "QUANTUM"])
def test_runs_are_those_of_blocks(run, combiner):
    run.process(0, INT + datatype(combiner, "3;1+0*3;", "0+8*3;", "0;0;0;"), size=1)
    message = run.fail()
    assert message.startswith("app_node01_0_0.info:3:") and "error: '1+0*3' is neither a number nor a constant" in message


@pytest.mark.parametrize("combiner", [*CASES, "RESIZED", "DARRAY"])
@pytest.mark.parametrize("contents", [("9;9;9;9;9;9;9;", "9;9;9;", "0;0;0;"), ("", "0;", "")])
def test_wrong_contents(run, combiner, contents):
    run.process(0, INT + datatype(combiner, *contents), size=1)
    message = run.fail()
    assert "app_node01_0_0.info:3: error: datatype 2: " + combiner + " needs " in message


@pytest.mark.parametrize("count", ["-1", "4611686018427387904", "MPI_ORDER_C"])
def test_absurd_counts(run, count):
    run.process(0, INT + datatype("INDEXED", f"{count};1;1;", "", "0;"), size=1)
    assert "INDEXED needs a count at integer 0" in run.fail()


@pytest.mark.parametrize("value", ["MPI_ORDER_CC", "5", "C"])
def test_constants_that_are_none(run, value):
    run.process(0, INT + datatype("SUBARRAY", f"1;8;4;0;{value};", "", "0;"), size=1)
    assert f"app_node01_0_0.info:3: error: datatype 2: '{value}' is not a value of order" in run.fail()


@pytest.mark.parametrize("value", ["8INDEXED", "MPI_ORDER_C", "-", "8-"])
def test_numbers_that_are_none(run, value):
    run.process(0, INT + datatype("SUBARRAY", f"1;{value};4;0;MPI_ORDER_C;", "", "0;"), size=1)
    assert f"app_node01_0_0.info:3: error: datatype 2: '{value}' is not a value of size" in run.fail()


@pytest.mark.parametrize("combiner", ["VALUE_INDEX", "UNKNOWN"])
def test_combiner_that_is_not_known(run, combiner):
    run.process(0, INT + BYTE + datatype(combiner, "7;MPI_ORDER_C;", "-8;", "0;1;"), size=1)
    element = run.merge_cleanly().datatype(2)
    assert (element.tag, element.attrib) == (combiner, {"id": "2", "name": "", "size": "8", "lb": "1", "extent": "16"})
    assert [(child.tag, child.attrib) for child in element] == [
        ("Integer", {"value": "7"}),
        ("Integer", {"value": "MPI_ORDER_C"}),
        ("Address", {"value": "-8"}),
        ("Type", {"id": "0"}),
        ("Type", {"id": "1"}),
    ]


def test_combiner_of_the_future(run):
    run.process(0, INT + datatype("QUANTUM", "7;", "", "0;"), size=1)
    result = run.merge("app")
    assert result.warnings == [
        "app_node01_0_0.info:3: warning: the combiner QUANTUM is not known: it is written as UNKNOWN"
    ]
    assert (result.datatype(2).tag, result.datatype(2).find("Integer").get("value")) == ("UNKNOWN", "7")


def test_components_come_before_their_users(run):
    lines = datatype("DUP", "", "", "7;", id=3) + datatype("STRUCT", "2;1;1;", "0;4;", "0;3;", id=1) + INT
    run.process(0, lines + datatype("CONTIGUOUS", "2;", "", "0;", id=7), size=1)
    assert [element.get("id") for element in run.merge_cleanly().datatypes(0)] == ["0", "7", "3", "1"]


def test_deep_types_need_no_stack(run):
    depth = 100_000
    lines = [datatype("DUP", "", "", f"{depth - i + 1};", id=depth - i) for i in range(depth)]
    lines.append(f"Type id='{depth + 1}' combiner='MPI_COMBINER_NAMED' name='MPI_INT'\n")
    run.process(0, "".join(reversed(lines)), size=1)
    assert len(run.merge_cleanly().datatypes(0)) == depth + 1


@pytest.mark.parametrize("combiner", [*CASES, "RESIZED", "DARRAY"])
def test_contents_that_mpi_did_not_tell(run, combiner):
    run.process(0, INT + datatype(combiner), size=1)
    result = run.merge("app")
    assert result.stderr == "app_node01_0_0.info:3: warning: the contents of datatype 2 are not known\n"
    assert result.datatype(2).attrib == {"id": "2", "name": "", "size": "8", "lb": "1", "extent": "16"}
    assert list(result.datatype(2)) == []


def test_null_component(run):
    run.process(0, datatype("STRUCT", "1;1;", "0;", "-1;"), size=1)
    assert run.merge_cleanly().datatype(2).find("Type").get("id") == "-1"


def test_component_that_is_not_described(run):
    run.process(0, datatype("DUP", "", "", "9;"), size=1)
    assert "app_node01_0_0.info:2: error: datatype 2 consists of datatype 9, which is not described" in run.fail()


def test_type_that_consists_of_itself(run):
    run.process(0, datatype("DUP", "", "", "3;", id=2) + datatype("DUP", "", "", "2;", id=3), size=1)
    assert "consists of itself" in run.fail()


def test_type_names(run):
    lines = INT + datatype("DUP", "", "", "0;") + "TypeName id='2' name='old'\nTypeName id='2' name='a<b'\n"
    run.process(0, lines + "TypeName id='0' name='mine'\n", size=1)
    result = run.merge_cleanly()
    assert result.datatype(2).get("name") == "a<b"
    assert result.datatype(0).get("name") == "MPI_INT"


def test_every_process_has_its_own_types(run):
    run.process(0, INT, size=3)
    run.process(1, INT.replace("MPI_INT", "MPI_FLOAT"), size=3)
    run.process(2, size=3)
    result = run.merge_cleanly()
    assert [[d.get("name") for d in result.datatypes(rank)] for rank in range(3)] == [["MPI_INT"], ["MPI_FLOAT"], []]


@pytest.mark.parametrize(
    "line, message",
    [
        ("Type combiner='MPI_COMBINER_NAMED' name='x'", "needs id="),
        ("Type id='0' name='x'", "needs combiner="),
        ("Type id='0' combiner='a b'", "neither a number nor a constant"),
        ("Type id='0' combiner='MPI_COMBINER_'", "neither a number nor a constant"),
        ("Type id='0' combiner='1X'", "not the name of a combiner"),
        ("Type id='0' combiner='MPI_COMBINER_DUP' types='x;'", "'x' is not an id"),
        ("Type id='0' combiner='MPI_COMBINER_CONTIGUOUS' integers='<;' types='0;'", "neither a number nor a constant"),
        ("Type id='zero' combiner='MPI_COMBINER_NAMED'", "id is not a number"),
    ],
)
def test_broken_lines(run, line, message):
    run.process(0, line + "\n", size=1)
    error = run.fail()
    assert error.startswith("app_node01_0_0.info:2:")
    assert message in error
