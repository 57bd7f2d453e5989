"""The language of the tables."""

from pathlib import Path

import pytest
from generate import tables
from generate.tables import Argument, Attribute, Child, Product, Special

API = Path(__file__).resolve().parents[2] / "mpiwrapper/api"


def parameters(text, kinds):
    return tables.parse_parameters("x.toml", "MPI_X", text, kinds)


def logged(text, **lines):
    return tables.parse_logged("x.toml", "MPI_X", (), {"MPI_X": text, **lines})


def test_c_types_follow_kind_and_direction(kinds):
    found = parameters("BUFFER buf, out BUFFER target, COUNT count, out COUNT n, COUNT counts[n], inout COMM comm, STRING name, "
                       "out STRING text, <char ***> argv, ...", kinds)
    assert [p.c_type for p in found] == ["const void *", "void *", "int", "int *", "const int *", "MPI_Comm *", "const char *",
                                         "char *", "char ***", "..."]


def test_conditions_tell_when_an_argument_is_significant(kinds):
    assert parameters("COUNT sendcount @leaf !sendbuf", kinds)[0].significant == ("@leaf", "!sendbuf")


def test_a_rank_can_count_in_another_communicator(kinds):
    parameter, = parameters("RANK leader of peer_comm @leader", kinds)
    assert (parameter.of, parameter.significant) == ("peer_comm", ("@leader",))


@pytest.mark.parametrize("text, message", [("COUNT", "cannot read 'COUNT'"), ("COWNT count", "no kind 'COWNT'")])
def test_bad_parameters_are_named(kinds, text, message):
    with pytest.raises(tables.TableError, match=f"x.toml: MPI_X: {message}"):
        parameters(text, kinds)


def test_values(kinds):
    line = logged("size=count*datatype/recvcount*recvtype tid=datatype fromRank=$source count Info(info) Send(counts*types) Data(offset=$offset count)")
    assert line.attributes == (
        Attribute("size", (Product("count", "datatype"), Product("recvcount", "recvtype"))),
        Attribute("tid", (Argument("datatype"),)),
        Attribute("fromRank", (Special("source"),)),
        Attribute("count", (Argument("count"),)))
    assert line.children == (
        Child("Info", argument="info"),
        Child("Send", each=Product("counts", "types")),
        Child("Data", (Attribute("offset", (Special("offset"),)), Attribute("count", (Argument("count"),)))))


def test_like_puts_new_attributes_before_the_children():
    line = logged("like MPI_Y, rid=request", MPI_Y="cid=comm Send(counts*type)")
    assert [a.name for a in line.attributes] == ["cid", "rid"]
    assert [c.name for c in line.children] == ["Send"]


def test_as_changes_the_element():
    assert logged("as Wait: For($split)").element == "Wait"


def test_unknown_model_is_named():
    with pytest.raises(tables.TableError, match=r"MPI_X: \[logged\] has no MPI_Z"):
        logged("like MPI_Z")


def test_variants_are_derived(api):
    names = {f.name: f for f in api.functions}
    assert [p.name for p in names["MPI_Ibcast"].parameters][-1] == "request"
    assert [p.name for p in names["MPI_Bcast_init"].parameters][-2:] == ["info", "request"]
    assert [a.name for a in names["MPI_Ibcast"].logged.attributes] == [a.name for a in names["MPI_Bcast"].logged.attributes] + ["rid"]
    assert "MPI_Ireduce_local" not in names


def test_a_function_needs_only_its_parameters(kinds):
    found = parameters("COMM comm, INT value, DATATYPE datatype, out COMM newcomm", kinds)
    line = tables.parse_logged("x.toml", "MPI_X", found, {})
    assert [a.name for a in line.attributes] == ["cid", "value", "tid", "newcid"]


def test_every_value_names_a_parameter(api):
    for function in api.functions:
        for attribute in function.logged.attributes:
            for value in attribute.values:
                if isinstance(value, Argument):
                    function.parameter(value.parameter)  # raises


TABLE = """title = "A chapter"
standard = "MPI"
class = "collective"

variants = ["nonblocking"]
with_variants = ["MPI_Bcast"]

[calls]
MPI_Bcast = "BUFFER buf, COUNT count, COMM comm"
MPI_Get = "COMM comm, out COMM newcomm, STATUS status"

[classes]
query = ["MPI_Get"]

[does]
MPI_Bcast = "blocking"

[logged]
MPI_Bcast = "cid=comm count"
MPI_Get = "newcid=newcomm"

[creation]
MPI_Get = "from_parent get"
"""


def chapter(tmp_path, text):
    """A chapter's table, loaded with the real kinds."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    api = tables.load(API)
    return tables._load_chapter(path, {kind.name: kind for kind in api.kinds}, api.vocabularies)


def test_a_table_without_mistakes_is_read(tmp_path):
    assert [f.name for f in chapter(tmp_path, TABLE).functions] == ["MPI_Bcast", "MPI_Get", "MPI_Ibcast"]


@pytest.mark.parametrize("right, wrong, message", [
    ("[classes]", "[clases]", "x.toml:12: there is no section 'clases'"),
    ('title = "A ch', 'titel = "A ch', "x.toml:1: there is no section 'titel'"),
    ('["nonblocking"]', '["nonblockin"]', "x.toml:5: there is no variant 'nonblockin'"),
    ('with_variants = ["MPI_Bcast"]', 'with_variants = ["MPI_Bcst"]', "x.toml:6: MPI_Bcst is not in [calls]"),
    ('["MPI_Get"]', '["MPI_Gte"]', "x.toml:13: MPI_Gte is not in [calls]"),
    ('["MPI_Get"]', '["MPI_Get"]\nfile = ["MPI_Get"]', "x.toml:13: MPI_Get has two classes"),
    ("MPI_Get = \"newcid", "MPI_Gte = \"newcid", "x.toml:20: MPI_Gte is not in [calls]"),
    ("newcid=newcomm", "like MPI_Gte", "x.toml:20: MPI_Get is like MPI_Gte, which is not in [logged]"),
    ("newcid=newcomm", "newcid=newcom", "x.toml:20: MPI_Get: there is no parameter 'newcom'"),
    ("newcid=newcomm", "newcid=status", "x.toml:20: MPI_Get: 'status' has no kind that can be written"),
    ("newcid=newcomm", "size=comm*type", "x.toml:20: MPI_Get: there is no parameter 'type'"),
    ("newcid=newcomm", "size=$sice", "x.toml:20: MPI_Get: nothing is known as $sice"),
    ("newcid=newcomm", "Inof(comm)", "x.toml:20: MPI_Get: there is no child element 'Inof'"),
    ("newcid=newcomm", "Data(size=$sice)", "x.toml:20: MPI_Get: nothing is known as $sice"),
    ('MPI_Get = "from', 'MPI_Gte = "from', "x.toml:23: MPI_Gte is not in [calls]"),
    ("from_parent get", "form_parent get", "x.toml:23: MPI_Get: 'form_parent get' is not one of the rules"),
    ("from_parent get", "from_parent", "x.toml:23: MPI_Get: 'from_parent' is not one of the rules"),
])
def test_mistakes_are_named_with_file_and_line(tmp_path, right, wrong, message):
    assert right in TABLE
    with pytest.raises(tables.TableError) as error:
        chapter(tmp_path, TABLE.replace(right, wrong))
    assert str(error.value).startswith(message)


# Appendix A of the specification: the attributes of every function, without time and end.
APPENDIX_A = {
    "Allgather": "size recvSize cid count tid recvCount recvtid", "Allgatherv": "size cid count tid",
    "Allreduce": "size cid count tid", "Alltoall": "size cid count tid", "Alltoallv": "cid", "Barrier": "cid",
    "Bcast": "size rootRank cid count tid", "Bsend": "size count tid toRank toTag cid", "Exscan": "size cid count tid",
    "File_close": "fid", "File_delete": "fid", "File_get_size": "fid size", "File_iread": "fid rid offset size count tid",
    "File_iread_at": "fid rid offset size count tid", "File_iread_shared": "fid rid",
    "File_iwrite": "fid rid offset size count tid", "File_iwrite_at": "fid rid offset size count tid",
    "File_iwrite_shared": "fid rid", "File_open": "cid name flags fid", "File_preallocate": "fid size",
    "File_read": "fid offset size count tid", "File_read_all": "fid offset size count tid", "File_read_all_begin": "fid rid",
    "File_read_at": "fid offset size count tid", "File_read_at_all": "fid offset size count tid",
    "File_read_at_all_begin": "fid rid offset size count tid", "File_read_ordered": "fid size count tid",
    "File_read_ordered_begin": "fid rid", "File_read_shared": "fid size count tid",
    "File_seek": "fid relative-offset whence offset", "File_seek_shared": "fid relative-offset whence offset",
    "File_set_atomicity": "fid flag", "File_set_info": "fid", "File_set_size": "fid size",
    "File_set_view": "fid offset etid filetid representation", "File_sync": "fid", "File_write": "fid offset size count tid",
    "File_write_all": "fid offset size count tid", "File_write_all_begin": "fid rid",
    "File_write_at": "fid offset size count tid", "File_write_at_all": "fid offset size count tid",
    "File_write_at_all_begin": "fid rid offset size count tid", "File_write_ordered": "fid size count tid",
    "File_write_ordered_begin": "fid rid", "File_write_shared": "fid size count tid",
    "Gather": "size recvSize root cid count tid recvCount recvtid", "Gatherv": "size root cid count tid",
    "Ibsend": "size count tid toRank toTag cid rid", "Iprobe": "source tag cid", "Irecv": "fromRank fromTag cid rid",
    "Irsend": "size count tid toRank toTag cid rid", "Isend": "size count tid toRank toTag cid rid",
    "Issend": "size count tid toRank toTag cid rid", "Recv": "fromRank fromTag cid", "Reduce": "size rootRank cid count tid",
    "Reduce_scatter": "cid", "Rsend": "size count tid toRank toTag cid", "Scan": "size cid count tid",
    "Scatter": "size recvSize root cid count tid recvCount recvtid", "Scatterv": "recvSize root cid recvCount recvtid",
    "Send": "size count tid toRank toTag cid", "Sendrecv": "size toRank toTag fromRank fromTag cid count tid",
    "Sendrecv_replace": "sendSize toRank toTag fromRank fromTag cid count tid", "Ssend": "size count tid toRank toTag cid",
    "Type_commit": "tid", "Type_vector": "oldTid",
}


@pytest.mark.parametrize("name", APPENDIX_A)
def test_appendix_a_is_written_in_its_order(api, name):
    function = next(f for f in api.functions if f.name == f"MPI_{name}")
    names = [a.name for a in function.logged.attributes]
    expected = APPENDIX_A[name].split()
    assert [n for n in names if n in expected][:len(expected)] == expected
