"""Datatypes: each constructor, and what the project says about its type."""
from collections import Counter

import pytest
from support.calls import Call
from support.checks import read_info

# name given by the program -> element, attributes, blocks, components; `oldType` names the component
EXPECTED = {
    "contiguous": ("CONTIGUOUS", {"count": 3, "size": 12, "extent": 12}, "MPI_INT"),
    "vector": ("VECTOR", {"count": 2, "blocklength": 3, "stride": 5, "size": 48, "extent": 64}, "MPI_DOUBLE"),
    "hvector": ("HVECTOR", {"count": 2, "blocklength": 3, "stride": 64, "size": 48, "extent": 88}, "MPI_DOUBLE"),
    "resized": ("RESIZED", {"lowerBound": -4, "extend": 16, "extent": 16, "size": 4, "lb": -4}, "MPI_INT"),
    "dup": ("DUP", {"size": 4}, "MPI_INT"),
    "indexed": ("INDEXED", {"count": 2, "size": 12, "extent": 20}, "MPI_INT"),
    "hindexed": ("HINDEXED", {"count": 2, "size": 12, "lb": 8, "extent": 36}, "MPI_INT"),
    "indexed_block": ("INDEXED_BLOCK", {"count": 2, "blockLength": 2, "size": 16}, "MPI_INT"),
    "hindexed_block": ("HINDEXED_BLOCK", {"size": 16}, None),
    "struct": ("STRUCT", {"count": 2, "size": 16}, None),
    "subarray": ("SUBARRAY", {"ndims": 2, "order": "MPI_ORDER_C", "size": 24, "extent": 96}, "MPI_INT"),
    "subarray_fortran": ("SUBARRAY", {"order": "MPI_ORDER_FORTRAN", "size": 24, "extent": 96}, "MPI_INT"),
    "darray": ("DARRAY", {"rank": 1, "dims": 2, "order": "MPI_ORDER_C", "size": 2}, "MPI_INT"),
    "nested": ("STRUCT", {"count": 2, "size": 14}, None),
    "five": ("CONTIGUOUS", {"count": 5, "size": 5}, "MPI_CHAR"),
    "six": ("CONTIGUOUS", {"count": 6, "size": 6}, "MPI_CHAR"),
}
BLOCKS = {
    "indexed": [{"len": "2", "index": "0"}, {"len": "1", "index": "4"}],
    "hindexed": [{"len": "2", "index": "8"}, {"len": "1", "index": "40"}],
    "indexed_block": [{"displacement": "0"}, {"displacement": "4"}],
    "subarray": [{"size": "4", "subsize": "2", "start": "1"}, {"size": "6", "subsize": "3", "start": "2"}],
    "darray": [{"gsize": "4", "distrib": "MPI_DISTRIBUTE_BLOCK", "darg": "MPI_DISTRIBUTE_DFLT_DARG", "psize": "2"},
               {"gsize": "6", "distrib": "MPI_DISTRIBUTE_CYCLIC", "darg": "2", "psize": "1"}],
}


@pytest.fixture(scope="module")
def run(run_traced):
    return run_traced("datatypes", 2)


def tid_of(trace, name):
    return trace.value(Call("Type_set_name", name=name), "tid")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_type_is_described(run, name):
    element, attributes, component = EXPECTED[name]
    for trace in run:
        tid = tid_of(trace, name)
        datatype = run.project.datatype(trace.rank, tid)
        assert datatype.tag == element and datatype.get("name") == name
        assert {key: datatype.get(key) for key in attributes} == {key: str(value) for key, value in attributes.items()}
        if component:
            assert run.project.datatype(trace.rank, datatype.get("oldType")).get("name") == component
        blocks = [dict(child.attrib) for child in datatype]
        if name in BLOCKS:
            assert blocks == BLOCKS[name]
        bytes_ = {"darray": 48}.get(name, datatype.get("size"))  # a DARRAY's size is that of the group
        assert Call("Sendrecv", tid=tid, count=1, size=bytes_, recvtid=tid) in trace
        assert Call("Type_commit", tid=tid) in trace and Call("Type_free", tid=tid) in trace


def test_members_of_a_struct(run):
    for trace in run:
        datatype = run.project.datatype(trace.rank, tid_of(trace, "struct"))
        members = [(run.project.datatype(trace.rank, m.get("id")).get("name"), m.get("displacement"), m.get("blocklen")) for m in datatype]
        assert members == [("MPI_INT", "8", "2"), ("MPI_DOUBLE", "40", "1")]


def test_three_levels_whose_inner_types_were_freed(run):
    for trace in run:
        def part(tid):
            return run.project.datatype(trace.rank, tid)

        outer = part(tid_of(trace, "nested"))
        vector = part(outer[0].get("id"))
        assert (vector.tag, vector.get("count"), vector.get("stride")) == ("VECTOR", "3", "2")
        pair = part(vector.get("oldType"))
        assert (pair.tag, pair.get("count")) == ("CONTIGUOUS", "2")
        assert part(pair.get("oldType")).get("name") == "MPI_SHORT"
        assert part(outer[1].get("id")).get("name") == "MPI_CHAR"


def test_components_stand_before_their_users(run):
    for rank in run.project.root.find("Datatypes"):
        seen = set()
        for datatype in rank:
            used = [datatype.get("oldType")] + [member.get("id") for member in datatype if datatype.tag.startswith("STRUCT")]
            assert seen.issuperset(filter(None, used)), f"{datatype.attrib} stands before a component"
            seen.add(datatype.get("id"))


def test_a_reused_handle_is_a_new_type(run):
    for trace in run:
        assert tid_of(trace, "five") != tid_of(trace, "six")


def test_types_of_fortran(run):
    for trace in run:
        for call, tag, name, bytes_ in (("Type_create_f90_integer", 2, "F90_INTEGER", 4), ("Type_create_f90_real", 3, "F90_REAL", 8),
                                        ("Type_create_f90_complex", 4, "F90_COMPLEX", 8)):
            tid = trace.value(Call(call), "tid")
            assert Call("Sendrecv_replace", tid=tid, toTag=tag, sendSize=bytes_) in trace
            assert run.project.datatype(trace.rank, tid).tag == name


def test_each_constructor_names_the_old_type_and_the_new_one(run):
    names = ["Type_contiguous", "Type_vector", "Type_create_hvector", "Type_create_resized", "Type_dup", "Type_indexed",
             "Type_create_hindexed", "Type_create_indexed_block", "Type_create_hindexed_block", "Type_create_subarray", "Type_create_darray"]
    for trace in run:
        for name in names:
            for state in trace.find(Call(name)):
                assert run.project.datatype(trace.rank, state["tid"]) is not None
                assert run.project.datatype(trace.rank, state["oldTid"]) is not None
        assert len(trace.find(Call("Type_create_struct"))) == 2


def test_a_type_of_any_depth_is_described_on_small_stacks(run_traced):
    (info,) = run_traced("identity_deep_types", 1).trace_directory.glob("*.info")
    combiners = Counter(values["combiner"] for kind, values in read_info(info) if kind == "Type")
    assert combiners["MPI_COMBINER_CONTIGUOUS"] == combiners["MPI_COMBINER_VECTOR"] == 1000
