"""The generated text. The golden files are read by people: look at every difference before you accept it:

    UPDATE_GOLDEN=1 python3 -m pytest tests/generator
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from generate import __main__ as generator
from generate import documentation, tables, wrappers
from generate.tables import TableError

GOLDEN = Path(__file__).parent / "golden"
FUNCTIONS = ["MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Gather", "MPI_Alltoallw", "MPI_Improbe", "MPI_Imrecv", "MPI_Comm_split",
             "MPI_Request_get_status_any", "MPI_Type_create_struct", "MPI_Type_get_value_index", "MPI_File_open", "MPI_File_write",
             "MPI_File_write_at_all_begin", "MPI_File_write_all_end", "MPI_Grequest_complete", "MPI_Isendrecv_replace"]


def compare(path, text):
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrapper_text(api, name):
    function = next(f for f in api.functions if f.name == name)
    compare(GOLDEN / f"{name}.cpp", wrappers.emit_function(function))


def test_every_function_has_a_wrapper_under_both_names(api):
    text = "".join(wrappers.emit_chapter(chapter) for chapter in api.chapters)
    handwritten = "".join(path.read_text(encoding="utf-8") for path in
                      (Path(__file__).resolve().parents[2] / "mpiwrapper/runtime/calls/handwritten").glob("*.cpp"))
    for function in api.functions:
        source = text if function.logged.handwritten is None else handwritten
        assert f"int {function.name}(" in source
        assert f"HDT_WRAPS({function.name});" in source


def test_insignificant_arguments_are_not_read(api):
    """Outside the call itself a Gather's receive arguments stand behind the condition for the root."""
    function = next(f for f in api.functions if f.name == "MPI_Gather")
    lines = [line for line in wrappers.emit_function(function).splitlines()[1:] if "real." not in line]
    for line, before in zip(lines[1:], lines):
        if "recvtype" in line and "_object." not in line:
            assert "rooted.is_root" in line or "rooted.is_root" in before


def test_unknown_special_value_is_named(api):
    from generate.tables import Attribute, Special
    function = next(f for f in api.functions if f.name == "MPI_Send")
    wrong = replace(function, logged=replace(function.logged, attributes=(Attribute("x", (Special("nonsense"),)),)))
    with pytest.raises(TableError, match=r"pt2pt.toml: MPI_Send: nothing is known as \$nonsense"):
        wrappers.emit_function(wrong)


def test_every_special_value_of_the_tables_can_be_written():
    written = {name.removeprefix("_special_") for name in vars(wrappers.Values) if name.startswith("_special_")}
    assert written == set(tables.SPECIALS)


def test_every_rule_for_communicators_can_be_written(api):
    function = next(f for f in api.functions if f.name == "MPI_Comm_create_group")
    tagged = next(f for f in api.functions if f.name == "MPI_Comm_create_from_group")
    for rule in tables.CREATION_RULES:
        maker = tagged if rule == "from_tagged_group" else function
        assert f"created_{rule}(" in wrappers.emit_function(replace(maker, creation=(rule, "word")))


def test_a_hidden_function_is_declared_in_place_of_its_macro(api):
    files = generator.emit(api, {"MPI_Init": None}, set(), {"MPI_Address", "MPI_Unknown"})
    assert files["hidden_functions.inc"] == (
        f"{wrappers.HEADER}#undef MPI_Address\nextern \"C\" int MPI_Address(void *location, MPI_Aint *address);\n")
    assert ('HDT_WRAPPED(MPI_Address, "MPI_Address", local_query, "datatype", false, false)\n'
            'HDT_WRAPPED(MPI_Init, "MPI_Init", ordinary, "process", false, false)\n') in files["wrapped_functions.inc"]
    assert "HDT_ABSENT(MPI_Send)\n" in files["absent_functions.inc"] and "MPI_Init)" not in files["absent_functions.inc"]
    assert "HDT_WRAPS(MPI_Address);" in files["wrappers_packing.cpp"]


def test_an_early_form_is_traced_as_what_became_of_it(api):
    forms = tables.with_all_forms(api)
    files = generator.emit(forms, {"MPI_Init": None}, set(), {"MPIX_Barrier_init"})
    assert "MPIX_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);" in files["hidden_functions.inc"]
    assert "HDT_WRAPS(MPIX_Barrier_init);" in files["wrappers_collective.cpp"] and "<Barrier_init " in files["wrappers_collective.cpp"]
    assert 'HDT_WRAPPED(MPIX_Barrier_init, "MPI_Barrier_init", with_attributes, "collective", false, false)' in files["wrapped_functions.inc"]
    assert "Barrier_init" not in files["absent_functions.inc"] and "MPIX" not in files["absent_functions.inc"]


def test_code_can_ask_whether_a_function_is_there(api):
    files = generator.emit(api, {"MPI_Init": None, "MPI_Group_from_session_pset": None}, set(), {"MPI_Address"})
    available = files["available_functions.inc"].splitlines()
    assert {f"#define HDT_HAS_{name} 1" for name in ("MPI_Init", "MPI_Address", "MPI_Group_from_session_pset")} <= set(available)
    assert not any("MPI_Session_init" in line for line in available)


def test_documentation_names_every_function(api):
    text = documentation.emit(api)
    for function in api.functions:
        assert f"| `{function.name.removeprefix('MPI_')}` |" in text
    assert "| `Wait` | completion | waits(one) | `<Wait><For rid fromRank fromTag size cancelled /></Wait>` |" in text
    assert "| `Send` | point-to-point | blocking sends(standard) | `<Send size count tid toRank toTag cid />` |" in text
    assert "| standard | the MPI library decides whether it buffers the message |" in text


def run(tmp_path, *arguments):
    api = Path(__file__).resolve().parents[2] / "mpiwrapper/api"
    return generator.main(["--api", str(arguments[0] if arguments else api), "--output", str(tmp_path),
                           "--compiler", os.environ.get("MPI_C_COMPILER", "mpicc")])


def test_the_program_writes_all_files_and_leaves_equal_ones_alone(tmp_path):
    assert run(tmp_path) == 0
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {"real_functions.inc", "wrapped_functions.inc", "wrappers_pt2pt.cpp"} <= set(before)
    assert run(tmp_path) == 0
    assert before == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_the_program_refuses_tables_that_do_not_fit(tmp_path, capsys):
    source = Path(__file__).resolve().parents[2] / "mpiwrapper/api"
    wrong = tmp_path / "api"
    wrong.mkdir()
    for path in source.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        (wrong / path.name).write_text(text.replace('MPI_Barrier = "COMM comm"', 'MPI_Barrier = "FILE comm"'), encoding="utf-8")
    output = tmp_path / "out"
    assert run(output, wrong) == 1
    assert "collective.toml: MPI_Barrier: parameter 'comm' is 'MPI_File', mpi.h says 'MPI_Comm'" in capsys.readouterr().err
    assert not output.exists()
