"""What the installed mpi.h declares, and the comparison with the tables."""

import subprocess
from dataclasses import replace

import pytest
from generate import header, tables


def changed(api, name, edit):
    """The tables with one function replaced."""
    return replace(api, chapters=tuple(
        replace(c, functions=tuple(edit(f) if f.name == name else f for f in c.functions)) for c in api.chapters))


def with_kind(kinds, parameter, kind):
    def edit(function):
        return replace(function, parameters=tuple(
            replace(p, kind=kinds[kind]) if p.name == parameter else p for p in function.parameters))
    return edit


def test_the_tables_fit_the_installed_header(api, declared):
    assert header.check(api, declared) == []


def test_a_wrong_type_is_found(api, kinds, declared):
    wrong = changed(api, "MPI_Send", with_kind(kinds, "count", "OFFSET"))
    assert header.check(wrong, declared) == [
        "mpiwrapper/api/pt2pt.toml: MPI_Send: parameter 'count' is 'MPI_Offset', mpi.h says 'int'"]


def test_a_missing_const_is_found(api, declared):
    def edit(function):
        return replace(function, parameters=(replace(function.parameters[0], direction="out"), *function.parameters[1:]))
    assert header.check(changed(api, "MPI_Send", edit), declared) == [
        "mpiwrapper/api/pt2pt.toml: MPI_Send: parameter 'buf' is 'void *', mpi.h says 'const void *'"]


def test_a_missing_parameter_is_found(api, declared):
    wrong = changed(api, "MPI_Wait", lambda f: replace(f, parameters=f.parameters[:1]))
    [problem] = header.check(wrong, declared)
    assert problem.startswith("mpiwrapper/api/pt2pt.toml: MPI_Wait: has 1 parameters, mpi.h says 2")


def types(api, declared, name):
    """The parameters' types in the wrapper of one function."""
    return [p.c_type for f in header.fit(api, declared).functions if f.name == name for p in f.parameters]


def test_the_header_decides_about_const(api):
    """MPICH 4.0 declares MPI_Pready_list without the const that the standard has."""
    for array in ("int *", "const int *"):
        declared = {"MPI_Pready_list": header.Prototype("int", ("int", array, "MPI_Request"))}
        assert header.check(api, declared) == []
        assert types(api, declared, "MPI_Pready_list") == ["int", array, "MPI_Request"]


def test_the_header_decides_how_wide_a_count_is(api):
    """MPI_Psend_init takes an MPI_Count in MPI 4, and an int where there is an MPI_Psend_init_c."""
    for count in ("int", "MPI_Count"):
        declared = {"MPI_Psend_init": header.Prototype("int", (
            "const void *", "int", count, "MPI_Datatype", "int", "int", "MPI_Comm", "MPI_Info", "MPI_Request *"))}
        assert header.check(api, declared) == []
        assert types(api, declared, "MPI_Psend_init")[2] == count


def test_little_is_left_to_the_header(api, declared):
    """The check of the tables would be worth little if many functions were taken as the header has them."""
    fitted = {f.name for f in header.fit(tables.with_all_forms(api), declared).functions for p in f.parameters if p.declared_type}
    assert fitted <= {"MPI_Pready_list", "MPI_Psend_init", "MPI_Precv_init",
                      *(f"MPI_Request_get_status_{which}" for which in ("all", "any", "some")),
                      *(f"MPI_Status_get_{what}" for what in ("source", "tag", "error"))}


def test_a_library_tells_what_it_exports_under_both_names(tmp_path):
    source, library = tmp_path / "mpi.c", tmp_path / "libmpi.so"
    source.write_text("int MPI_Old; int PMPI_Old;\n"  # no functions
                      "int PMPI_Both(void) { return 0; } int MPI_Both(void) __attribute__((weak, alias(\"PMPI_Both\")));\n"
                      "int MPI_Alone(void) { return 0; }\n"
                      "__attribute__((visibility(\"hidden\"))) int MPI_Hidden(void) { return 0; } int PMPI_Hidden(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    assert header.exported(library) == {"MPI_Both"}


def test_a_file_that_is_no_library_is_named(tmp_path):
    with pytest.raises(OSError, match=f"cannot read the symbols of {tmp_path}/no"):
        header.exported(tmp_path / "no")


def test_functions_without_twin_are_left_out():
    text = "int MPI_A(int x); int PMPI_A(int x); int MPI_B(void);"
    assert header.prototypes(text) == {"MPI_A": header.Prototype("int", ("int",))}


def test_the_tables_fit_the_early_forms(api, compiler):
    flags = ["-include", "mpi.h", "-include", "mpi-ext.h"]
    try:
        declared = header.prototypes(header.preprocess(compiler, flags))
    except OSError:
        pytest.skip("the MPI library has no mpi-ext.h")
    forms = tables.with_all_forms(api)
    early = {function.name for function in forms.functions if function.name.startswith("MPIX_")}
    assert len(early) == 22 and early <= set(declared)
    assert header.check(forms, declared) == []


def test_declarations_are_read_in_every_style():
    text = """
        __attribute__((visibility("default"))) int MPI_A(const int counts[], char *argv[], MPI_Comm
              comm, int (*function)(void *, int), int ranges[][3], ...) __attribute__((nonnull(1)));
        int PMPI_A(const int *, char **, MPI_Comm, int (*)(void *, int), int (*)[3], ...);
    """
    assert header.prototypes(text)["MPI_A"].parameters[:3] == ("const int *", "char **", "MPI_Comm")
    assert header.prototypes(text)["MPI_A"].parameters[-1] == "..."


def test_what_the_header_lacks_is_not_generated(api):
    assert tables.only(api, {"MPI_Send"}).functions[0].name == "MPI_Send"
    assert len(tables.only(api, {"MPI_Send"}).functions) == 1
