"""What `cmake --install` makes: everything in its place, and usable from other projects in every way that is documented."""
import json
import os
import re
from pathlib import Path

import pytest
from conftest import BUILD, MPIRUN, PROGRAMS, SOURCE, run_well, traces

LANGUAGES = {"c": ("mpicc", "hello.c"), "cxx": ("mpicxx", "hello.cpp"), "fortran": ("mpifort", "hello.f90")}
WAYS_TO_LINK = ["hdtrace-mpi", "hdtrace-mpi-static"]


def library_directory(prefix: Path) -> Path:
    return next(prefix.rglob("libhdTrace.a")).parent


def package_flags(prefix: Path, package: str, *options: str) -> list[str]:
    """What pkg-config prints, as words."""
    search = {"PKG_CONFIG_PATH": str(library_directory(prefix) / "pkgconfig")}
    return run_well("pkg-config", *options, "--cflags", "--libs", package, env=os.environ | search).split()


def assert_is_traced(program: Path, directory: Path):
    """Runs a linked hello program; each process must leave a trace that holds its calls."""
    directory.mkdir()
    assert run_well(MPIRUN, "-n", "2", program, cwd=directory) == "hello\n"
    assert len(traces(directory)) == 4
    for trace in directory.glob("*.trc"):
        lines = trace.read_text().splitlines()
        assert lines[-1] == "</Program>"
        assert any(line.startswith("<Barrier ") for line in lines)


@pytest.mark.parametrize("file", [
    "bin/hdtrace", "bin/hdtrace-convert", "bin/hdtrace-import", "bin/hdtrace-run", "bin/project-merger", "bin/project-merger-mpi", "include/hdTrace.h",
    "include/hdRegion.h", "include/hdVT.h", "include/hdVTObjects.h", "include/hdVTClasses.h", "include/hdregion.f90",
    "libhdtrace-functions.so", "libhdtrace-kokkos.so", "libhdtrace-itt.so", "pkgconfig/hdtrace-region.pc",
    "libhdTrace.a", "libhdTrace.so", "libhdTraceReader.a", "libhdTraceReader.so", "libHDTraceMPIWrapper.a", "libHDTraceMPIWrapper.so",
    "pkgconfig/hdtrace.pc", "pkgconfig/hdtrace-reader.pc", "pkgconfig/hdtrace-mpi.pc", "pkgconfig/hdtrace-mpi-static.pc",
    "cmake/hdtrace/hdtrace-config.cmake", "cmake/hdtrace/hdtrace-config-version.cmake",
    "share/hdtrace/schemas/hdtrace-trc.rng", "share/hdtrace/schemas/hdtrace-proj.rng", "share/hdtrace/schemas/hdtrace-stats.rng", "share/hdtrace/platforms/cluster.xml",
    "share/man/man1/hdtrace.1", "share/man/man1/hdtrace-convert.1", "share/man/man1/hdtrace-import.1", "share/man/man1/hdtrace-run.1", "share/man/man1/project-merger.1",
    "share/bash-completion/completions/hdtrace", "share/zsh/site-functions/_hdtrace", "share/fish/vendor_completions.d/hdtrace.fish",
    "share/doc/hdtrace/python.md", "share/doc/hdtrace/regions.md", "share/doc/hdtrace/counters.md", "share/doc/hdtrace/simulate.md", "share/doc/hdtrace/format.md", "share/doc/hdtrace/options.md",
    "share/doc/hdtrace/mpi.md", "share/doc/hdtrace/reliability.md", "share/doc/hdtrace/identity.md",
    "share/doc/hdtrace/LICENSE", "share/doc/hdtrace/SECURITY.md",
])
def test_is_installed(prefix, file):
    assert (prefix / file).exists() or (library_directory(prefix) / file).exists()


def test_pages_lead_to_each_other(prefix):
    """Not to sources, which are not installed."""
    sources = ("../", "examples/", "hdtrace/", "tests/", "CONTRIBUTING.md")
    pages = prefix / "share/doc/hdtrace"
    links = [(page, link) for page in pages.glob("**/*.md") for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())]
    assert len(links) > 100
    assert [(page.name, link) for page, link in links if not link.startswith(sources) and not (page.parent / link).exists()] == []


def test_the_environment_module_leads_to_the_installation(prefix):
    modules = next(Path("/usr/lib").glob("**/modulecmd.tcl"), Path("missing"))
    if not modules.exists():
        pytest.skip("environment-modules is not installed")
    environment = {"MODULEPATH": str(prefix / "share/modulefiles"), "PATH": os.environ["PATH"]}
    load = run_well("/usr/bin/tclsh", modules, "bash", "load", "hdtrace", env=environment)
    said = run_well("bash", "-c", load + "command -v hdtrace; hdtrace --version; /usr/bin/python3 -c 'import hdtrace; print(hdtrace.__file__)'; "
                    "pkg-config --variable=prefix hdtrace", env=environment).splitlines()
    assert said[0] == str(prefix / "bin/hdtrace")
    assert said[2].startswith(str(prefix))
    assert Path(said[3]).samefile(prefix)


def test_mpi_is_the_same_when_configured_again(tmp_path):
    def settings():
        run_well("cmake", "--preset", "mpich", "-B", tmp_path, cwd=SOURCE)
        return json.loads((tmp_path / "tests/mpi/settings.json").read_text())

    first = settings()
    assert first["mpi"] == "MPICH" and first["mpiexec"].endswith("mpiexec.mpich")
    assert settings() == first


def test_nothing_installed_names_the_build(prefix):
    binaries = [path for path in prefix.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(binaries) >= 4
    for path in binaries:
        assert "RUNPATH" not in run_well("readelf", "-d", path)
    for path in [*prefix.rglob("*.pc"), *prefix.rglob("*.cmake")]:
        assert str(BUILD) not in path.read_text()


@pytest.mark.parametrize("package", WAYS_TO_LINK)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_is_linked_with_pkg_config_is_traced(prefix, tmp_path, language, package):
    compiler, source = LANGUAGES[language]
    run_well(compiler, PROGRAMS / source, "-o", tmp_path / "hello", *package_flags(prefix, package))
    assert_is_traced(tmp_path / "hello", tmp_path / "run")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_is_linked_by_the_paths_of_the_archives_is_traced(prefix, tmp_path, language):
    compiler, source = LANGUAGES[language]
    libraries = library_directory(prefix)
    run_well(compiler, "-o", tmp_path / "hello", PROGRAMS / source, "-Wl,-u,MPI_Init",
             libraries / "libHDTraceMPIWrapper.a", libraries / "libhdTrace.a",
             *run_well("pkg-config", "--libs", "glib-2.0").split())
    assert_is_traced(tmp_path / "hello", tmp_path / "run")


def test_the_specification_s_link_line(prefix, tmp_path):
    libraries = library_directory(prefix)
    run_well("mpicc", "-o", tmp_path / "hello", PROGRAMS / "hello.c",
             libraries / "libHDTraceMPIWrapper.a", libraries / "libhdTrace.a",
             *run_well("pkg-config", "--libs", "glib-2.0").split())
    assert_is_traced(tmp_path / "hello", tmp_path / "run")


@pytest.fixture(scope="module")
def reading_example(tmp_path_factory) -> Path:
    """The example of docs/reading.md."""
    source = tmp_path_factory.mktemp("reading") / "reading.cpp"
    page = (SOURCE / "docs/reading.md").read_text()
    source.write_text(re.search(r"```cpp\n(.*?)```", page, re.DOTALL)[1])
    return source


@pytest.fixture(scope="module")
def consumer(prefix, reading_example, tmp_path_factory) -> Path:
    """The build folder of a project that uses find_package(hdtrace)."""
    build = tmp_path_factory.mktemp("consumer")
    run_well("cmake", "-S", Path(__file__).parent / "consumer", "-B", build, "-G", "Ninja",
             f"-DCMAKE_PREFIX_PATH={prefix}", f"-DREADER_SOURCE={reading_example}")
    run_well("cmake", "--build", build)
    return build


@pytest.mark.parametrize("library", ["", "_static"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_is_linked_with_find_package_is_traced(consumer, tmp_path, language, library):
    assert_is_traced(consumer / f"hello_{language}{library}", tmp_path / "run")


def test_a_project_in_fortran_alone(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.18)
project(user Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
find_package(hdtrace REQUIRED)
add_executable(hello {PROGRAMS / "hello.f90"})
target_link_libraries(hello PRIVATE hdtrace::mpi MPI::MPI_Fortran)
""")
    run_well("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run_well("cmake", "--build", tmp_path / "build")
    assert_is_traced(tmp_path / "build/hello", tmp_path / "run")


def assert_writes_a_trace(program: Path, directory: Path, **environment):
    run_well(program, cwd=directory, env=os.environ | environment)
    assert traces(directory) == ["solver_node01_3.info", "solver_node01_3.trc"]


def test_the_trace_library_with_find_package(consumer, tmp_path):
    assert_writes_a_trace(consumer / "writer", tmp_path)


@pytest.mark.parametrize("options", [[], ["--static"]])
def test_the_trace_library_with_pkg_config(prefix, tmp_path, options):
    flags = package_flags(prefix, "hdtrace", *options)
    if options:
        flags = ["-l:libhdTrace.a" if flag == "-lhdTrace" else flag for flag in flags]
    run_well("cc", PROGRAMS / "writer.c", "-o", tmp_path / "writer", *flags)
    assert_writes_a_trace(tmp_path / "writer", tmp_path, LD_LIBRARY_PATH=str(library_directory(prefix)))


def assert_reads_a_project(program: Path, **environment):
    project = SOURCE / "tests/unit/reading_example/app.proj"
    assert run_well(program, project, env=os.environ | environment).splitlines() == [
        "1000000002000000000: 0 to 1 on WORLD: 8 bytes in 3000000000 ns",
        "a message from 0 to 1 on WORLD was not received"]


@pytest.mark.parametrize("library", ["reader", "reader_static"])
def test_the_reader_with_find_package(consumer, library):
    assert_reads_a_project(consumer / library)


@pytest.mark.parametrize("options", [[], ["--static"]])
def test_the_reader_with_pkg_config(prefix, reading_example, tmp_path, options):
    flags = package_flags(prefix, "hdtrace-reader", *options)
    if options:
        flags = ["-l:libhdTraceReader.a" if flag == "-lhdTraceReader" else flag for flag in flags]
    run_well("c++", "-std=c++20", reading_example, "-o", tmp_path / "reader", *flags)
    assert_reads_a_project(tmp_path / "reader", LD_LIBRARY_PATH=str(library_directory(prefix)))


def test_the_reader_keeps_what_it_is_made_of_to_itself(prefix):
    assert "-lxml2" not in package_flags(prefix, "hdtrace-reader")


def test_the_soname_of_the_reader_has_the_minor_version(prefix):
    libraries = library_directory(prefix)
    (full,) = libraries.glob("libhdTraceReader.so.*.*.*")
    assert f"[{full.stem}]" in run_well("readelf", "-d", libraries / "libhdTraceReader.so")


def test_the_documented_headers_of_the_reader_are_installed(prefix):
    page = (SOURCE / "docs/reading.md").read_text()
    documented = set(re.findall(r"^\| `(\w+/\w+\.h)` \|", page, re.MULTILINE))
    headers = prefix / "include/hdtrace"
    installed = {str(path.relative_to(headers)) for path in headers.rglob("*.h")}
    assert len(documented) > 10 and documented == installed


def test_the_installed_launcher_traces(prefix, hello, tmp_path):
    assert run_well(MPIRUN, "-n", "2", prefix / "bin/hdtrace-run", hello, cwd=tmp_path) == "hello\n"
    assert len(traces(tmp_path)) == 4


@pytest.mark.parametrize("library", ["libhdTrace.a", "libHDTraceMPIWrapper.a"])
def test_the_archives_need_no_cxx_library(prefix, library):
    symbols = run_well("nm", "-u", library_directory(prefix) / library).split()
    foreign = ("_ZSt", "_ZNSt", "_Znw", "_Zna", "_Zdl", "_Zda", "__cxa_", "__gxx_personality", "_Unwind_")
    of_the_c_library = {"__cxa_atexit"}
    assert [symbol for symbol in symbols if symbol.startswith(foreign) and symbol not in of_the_c_library] == []


@pytest.mark.parametrize("library", ["libhdTrace.so", "libHDTraceMPIWrapper.so"])
def test_the_shared_libraries_need_no_cxx_library(prefix, library):
    needed = run_well("readelf", "-d", library_directory(prefix) / library)
    assert "libstdc++" not in needed and "libgcc_s" not in needed
    assert ("libmpi" in needed) == (library == "libHDTraceMPIWrapper.so")


@pytest.mark.parametrize("compiler", [["cc", "-ansi"], ["cc", "-std=c99"], ["cc", "-std=c17"], ["c++", "-std=c++98"], ["c++", "-std=c++20"]])
def test_every_header_compiles_alone(prefix, tmp_path, compiler):
    headers = sorted((prefix / "include").glob("*.h"))
    if "-std=c++20" in compiler:
        headers += sorted((prefix / "include/hdtrace").rglob("*.h"))
    assert headers
    suffix = ".c" if compiler[0] == "cc" else ".cpp"
    for header in headers:
        source = tmp_path / (header.stem + suffix)
        source.write_text(f'#include "{header}"\n')
        run_well(*compiler, "-I", prefix / "include", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", source)


def test_one_line_may_have_several_scopes(prefix, tmp_path):
    source = tmp_path / "scopes.cpp"
    source.write_text('#include <hdRegion.h>\n#define BOTH HD_SCOPE("one"); HD_SCOPE_IN("group", "other")\nint main() { BOTH; }\n')
    run_well("c++", "-std=c++98", "-I", prefix / "include", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", tmp_path / "scopes")
