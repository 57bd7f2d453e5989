"""What functions mean: the words, their mistakes, and that the tables say it of every function."""

import re
import shutil
from pathlib import Path

import pytest
from generate import __main__ as generator
from generate import facts, tables
from generate.meanings import MeaningError, parse

TABLES = Path(__file__).resolve().parents[2] / "mpiwrapper/api"
OBJECT_KINDS = {"COMM": "communicator", "WIN": "window", "FILE": "file", "GROUP": "group", "OP": "op", "INFO": "info",
                "SESSION": "session", "ERRHANDLER": "errhandler"}
# They answer an object that was made before, or one that another function's row describes.
ANSWERS = {"MPI_Comm_get_parent", "MPI_Type_get_contents", "MPI_Type_get_contents_c", "MPI_File_get_view", "MPI_Type_match_size",
           "MPI_Type_get_value_index"}


@pytest.fixture(scope="module")
def words(api):
    return {name: vocabulary.words for name, vocabulary in api.vocabularies.items()}


def test_words_become_facts(words):
    assert parse("blocking sends(standard) receives(posted recvSize)", words) == {
        "progress": "blocking", "send": "standard", "sent_size": "size", "receive": "posted", "received_size": "recvSize"}
    assert parse("waits(all)", words) == {"progress": "waits", "which": "all"}
    assert parse("prepares sends(standard) partitioned", words)["partitioned"] is True
    assert parse("blocking agree(dims  periods)", words) == {"progress": "blocking", "agreed": "dims periods"}


@pytest.mark.parametrize("text, message", [
    ("blocks", "nothing is known as 'blocks'"), ("sends(standart)", "'sends' cannot be 'standart'"),
    ("sends", "'sends' takes send and sent_size"), ("over(group window)", "'over' takes over"), ("blocking(one)", "'blocking' takes no arguments")])
def test_wrong_words_are_named(words, text, message):
    with pytest.raises(MeaningError, match=re.escape(message)):
        parse(text, words)


@pytest.mark.parametrize("file, old, new, message", [
    ("pt2pt.toml", 'MPI_Ssend = "blocking sends(synchronous)"', 'MPI_Ssend = "blocking sends(synchronus)"', "MPI_Ssend: 'sends' cannot be 'synchronus'"),
    ("pt2pt.toml", 'MPI_Start = "activates"', 'MPI_Strat = "activates"', "MPI_Strat is not in [calls]"),
    ("pt2pt.toml", 'query = ["MPI_Get_count"]', 'query = ["MPI_Get_cuont"]', "MPI_Get_cuont is not in [calls]"),
    ("pt2pt.toml", 'query = ["MPI_Get_count"]', 'qery = ["MPI_Get_count"]', "there is no class 'qery' in meanings.toml"),
    ("communicators.toml", 'MPI_Comm_dup = "from_parent dup"', 'MPI_Comm_dpu = "from_parent dup"', "MPI_Comm_dpu is not in [calls]"),
    ("collective.toml", '"MPI_Barrier", "MPI_Bcast"', '"MPI_Barier", "MPI_Bcast"', "MPI_Barier is not in [calls]"),
    ("rma.toml", 'class = "one-sided"', 'class = "onesided"', "there is no class 'onesided' in meanings.toml"),
])
def test_mistakes_in_tables_are_named_with_file_and_line(tmp_path, capsys, file, old, new, message):
    wrong = tmp_path / "api"
    shutil.copytree(TABLES, wrong)
    text = (wrong / file).read_text(encoding="utf-8")
    assert old in text
    (wrong / file).write_text(text.replace(old, new), encoding="utf-8")
    line = next(number for number, line in enumerate(text.replace(old, new).splitlines(), 1) if new in line)
    assert generator.main(["--api", str(wrong), "--output", str(tmp_path / "out"), "--facts"]) == 1
    assert f"{file}:{line}: {message}" in capsys.readouterr().err


def given(function, *kinds):
    return function.of_kind(*kinds, direction="in") + function.of_kind(*kinds, direction="inout")


def test_what_members_agree_about_is_logged(api):
    agreed = {function.name: set(function.meaning.agreed.split()) for function in api.functions if function.meaning.agreed != "none"}
    assert agreed["MPI_Cart_create"] == {"ndims", "dims", "periods", "reorder"}
    for function in api.functions:
        assert agreed.get(function.name, set()) <= {attribute.name for attribute in function.logged.attributes}, function.name


def test_parameters_and_meanings_agree(api):
    """What the parameters tell must be said."""
    for function in api.functions:
        meaning, name = function.meaning, function.name
        assert bool(function.of_kind("DEST")) == (meaning.send != "none"), name
        assert bool(function.of_kind("SOURCE") or given(function, "MESSAGE")) == (meaning.receive != "none" or meaning.probe != "none"), name
        if function.of_kind("ROOT"):
            assert meaning.collective != "none", name
        if function.of_kind("REQUEST", direction="out"):
            assert meaning.progress in ("starts", "prepares"), name
        for kind, made in OBJECT_KINDS.items():
            if function.of_kind(kind, direction="out") and name not in ANSWERS:
                assert meaning.makes == made, name
        is_freed = [p for p in given(function, "COMM", "WIN", "FILE", "OP", "SESSION") if p.direction == "inout"]
        assert bool(is_freed) <= (meaning.frees != "none"), name
        if meaning.send != "none":
            assert meaning.sent_size in [a.name for a in function.logged.attributes], name
        if meaning.receive != "none":
            assert meaning.received_size in [a.name for a in function.logged.attributes], name


def test_variants_do_the_same_at_another_time(api):
    functions = {function.name: function for function in api.functions}
    for name, progress in (("MPI_Bcast", "blocking"), ("MPI_Ibcast", "starts"), ("MPI_Bcast_init", "prepares")):
        assert (functions[name].meaning.collective, functions[name].meaning.progress) == ("one-to-all", progress)
    assert functions["MPI_Ineighbor_alltoall"].meaning.call_class == "collective"
    assert functions["MPI_Ibcast"].operation == "MPI_Bcast"


def row(api, name):
    return next(line for line in facts.emit_rows(api).splitlines() if line.startswith(f'HDT_CALL(.name = "{name}",'))


@pytest.mark.parametrize("name, expected", [
    ("Sendrecv", ".progress = CallProgress::blocking, .sends = SendMode::standard, .sent_size = \"size\", "
                 ".receives = ReceiveKind::posted, .received_size = \"recvSize\""),
    ("Ireduce_scatter", ".operation = \"Reduce_scatter\", .call_class = CallClass::collective, .progress = CallProgress::starts, "
                        ".collective = CollectiveKind::all_to_all, .members = CollectiveMembers::communicator, .scatters = true, .reduces = true, "
                        ".lists_receives = true"),
    ("Win_free", ".members = CollectiveMembers::window, .frees = ObjectKind::window, .freed_id = \"wid\""),
    ("Intercomm_create", ".makes = ObjectKind::communicator, .made_id = \"newcid\""),
    ("File_close", ".members = CollectiveMembers::file, .frees = ObjectKind::file, .freed_id = \"fid\""),
])
def test_rows_of_facts(api, name, expected):
    assert expected in row(api, name)


def test_every_attribute_that_names_an_object_is_known(api):
    text = facts.emit_rows(api)
    for attribute, kind in (("cid", "communicator"), ("peerCid", "communicator"), ("cid2", "communicator"), ("targetTid", "datatype"), ("wid", "window")):
        assert f'HDT_REFERENCE("{attribute}", ObjectKind::{kind})' in text
