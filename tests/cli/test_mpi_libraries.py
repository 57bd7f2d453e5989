"""Programs of several MPI libraries on one machine: each is traced by the wrapper for its own, however it comes to it."""
import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, MPIRUN, PROGRAMS, compile_text, run, run_well, traces
from support.runs import NO_TRACE

LAUNCHER = BUILD / "bin/hdtrace-run"
WRAPPERS = next(BUILD.glob("lib/**/libHDTraceMPIWrapper-any.so")).parent
ANY = WRAPPERS / "libHDTraceMPIWrapper-any.so"
NAMES = {"openmpi": ("libmpi.so.40", "Open MPI"), "mpich": ("libmpich.so.12", "MPICH")}
COMPILERS = {name: f"mpicc.{name}" for name in NAMES} | {"abi": "mpicc_abi"}
LAUNCHERS = {name: f"mpiexec.{name}" for name in NAMES}
if shutil.which(COMPILERS["abi"]):
    # The standard ABI of MPI 5: a library by itself, which is one of the others inside.
    abi = next(Path("/usr/lib").glob("*/libmpi_abi.so.1"))
    inside = next(name for name in NAMES if name in abi.resolve().name)
    NAMES["abi"] = (abi.name, NAMES[inside][1])
    LAUNCHERS["abi"] = LAUNCHERS[inside]


@pytest.fixture(scope="module", params=COMPILERS)
def mpi(request, tmp_path_factory):
    """An MPI library: its name, and a folder with programs for it."""
    folder = tmp_path_factory.mktemp(request.param)
    compiler = COMPILERS[request.param]
    if request.param not in NAMES:
        pytest.skip(f"there is no {compiler}, which compiles for the standard ABI of MPI 5")
    run_well(compiler, PROGRAMS / "hello.c", "-o", folder / "hello")
    run_well(compiler, "-shared", "-fPIC", PROGRAMS / "plugin.c", "-o", folder / "plugin.so")
    run_well("cc", "-DHOST", PROGRAMS / "plugin.c", "-o", folder / "host")
    return request.param, folder


def with_launcher_of(name: str, **more: str) -> dict[str, str]:
    return os.environ | {"MPIEXEC": LAUNCHERS[name]} | more


def library_in(directory: Path) -> str:
    """What the processes of a run say that their MPI library is."""
    (library,) = {re.search(r" mpi='(\w+ ?\w*) ", info.read_text())[1].removesuffix(" Version") for info in directory.glob("*.info")}
    return library


def calls_in(trace: Path) -> list[str]:
    """The names, of a trace that ends as it should."""
    lines = trace.read_text().splitlines()
    assert lines[-1] == "</Program>"
    return [line[1:].split()[0] for line in lines[2:-1]]


PYTHON_PLUGIN = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).work()"
LOOKS_UP = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
try:
    world = ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
except ValueError:
    world = 0x101 if "abi" in sys.argv[1] else 0x44000000
rank = ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(ctypes.c_void_p(world), ctypes.byref(rank))
mpi.MPI_Barrier(ctypes.c_void_p(world))
if rank.value == 0:
    print("hello")
mpi.MPI_Finalize()
"""
WAYS = {
    "linked": (["{folder}/hello"], ["Init", "Barrier", "Finalize"]),
    "shell": (["sh", "-c", "exec {folder}/hello"], ["Init", "Barrier", "Finalize"]),
    "plugin": (["{folder}/host", "{folder}/plugin.so"], ["Init", "Allreduce", "Pcontrol", "Finalize"]),
    "python": (["/usr/bin/python3", "-c", PYTHON_PLUGIN, "{folder}/plugin.so"], ["Init", "Allreduce", "Pcontrol", "Finalize"]),
    "looked-up": (["/usr/bin/python3", "-c", LOOKS_UP, "{library}"], ["Init", "Barrier", "Finalize"]),
}


def command_of(way: str, name: str, folder: Path) -> list[str]:
    return [word if "\n" in word else word.format(folder=folder, library=NAMES[name][0]) for word in WAYS[way][0]]


@pytest.mark.parametrize("way", WAYS)
def test_a_program_gets_the_wrapper_for_its_library(mpi, tmp_path, way):
    name, folder = mpi
    command, calls = command_of(way, name, folder), WAYS[way][1]
    assert run_well(MPIRUN, "-n", "2", LAUNCHER, *command, cwd=tmp_path, env=with_launcher_of(name)) == "hello\n"
    assert len(traces(tmp_path)) == 4 and library_in(tmp_path) == NAMES[name][1]
    assert all(calls_in(trace) == calls for trace in tmp_path.glob("*.trc"))


NEXT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int value(void)
{
    int (*const next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "value");
    return next != value && next != NULL ? 10 * next() : 1;
}
"""


def test_who_looks_up_what_follows_finds_it(tmp_path):
    """The next definition behind the library that asks, not behind the tracer."""
    second = compile_text("cc", tmp_path / "libsecond.so", "int value(void) { return 2; }\n", "-shared", "-fPIC")
    first = compile_text("cc", tmp_path / "libfirst.so", NEXT, "-shared", "-fPIC")
    main = "#include <stdio.h>\nint value(void);\nint main(void) { return printf(\"%d\\n\", value()) < 0; }\n"
    program = compile_text("cc", tmp_path / "main", main, first, "-Wl,--no-as-needed", second, f"-Wl,-rpath,{tmp_path}")
    assert "any" in run_well(LAUNCHER, "--print-library", program)
    assert run(LAUNCHER, "-d", tmp_path, program).stdout == "20\n"


def test_mpi4py_gets_the_wrapper_for_its_library(tmp_path):
    script = "from mpi4py import MPI; MPI.COMM_WORLD.barrier()"
    run_well(MPIRUN, "-n", "2", LAUNCHER, "/usr/bin/python3", "-c", script, cwd=tmp_path)
    assert library_in(tmp_path) == "Open MPI"
    assert all("Barrier" in calls_in(trace) for trace in tmp_path.glob("*.trc"))


def test_record_traces_programs_of_each_library(mpi, tmp_path):
    name, folder = mpi
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec {folder}/host {folder}/plugin.so\n")
    script.chmod(0o755)
    launcher = MPIRUN if LAUNCHERS[name] == "mpiexec.openmpi" else LAUNCHERS[name]
    output = tmp_path / "run"
    command = [BUILD / "bin/hdtrace", "record", "-o", output, "--quiet", launcher, "-n", "2", script]
    assert run_well(*command, cwd=tmp_path, env=with_launcher_of(name)) == "hello\n"
    assert library_in(output) == NAMES[name][1]
    assert NAMES[name][1] in run_well(BUILD / "bin/hdtrace", "info", output)


FATAL = """
#include <mpi.h>
#include <stdio.h>
static int fail(MPI_Comm comm, int key, void *value, void *more)
{
    MPI_Send(NULL, 0, MPI_INT, 77, 0, MPI_COMM_WORLD);
    fprintf(stderr, "error ignored\\n");
    return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
    int rank, key;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail, &key, NULL);
    MPI_Comm_set_attr(copy, key, NULL);
    if (rank == 0 && argc > 1)
        MPI_Comm_free(&copy);
    else if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 77, 0, copy);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize("argument", ["", "callback"])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_fatal_error_ends_the_run_as_it_does_untraced(tmp_path, name, argument):
    """What it says goes to a file, since launchers may lose it when they end the others. Open MPI's says it itself."""
    program = compile_text(COMPILERS[name], tmp_path / "fatal", FATAL)
    record = [BUILD / "bin/hdtrace", "record", "-o", "run", "--quiet", "--check"]
    launcher = MPIRUN if name == "openmpi" else LAUNCHERS[name]
    results = []
    for said, before in ((tmp_path / "untraced", []), (tmp_path / "checked", record)):
        result = run(*before, launcher, "-n", "4", "sh", "-c", f"exec {program} {argument} 2>> {said}", cwd=tmp_path, env=with_launcher_of(name))
        errors = [line for line in said.read_text().splitlines() if "rror" in line]
        results.append((result.returncode, [re.sub(r"\(\d+\)|:\d+\]", "", line) for line in errors]))
    assert results[0] == results[1] and (results[0][1] or name == "openmpi")


def test_linked_programs_are_traced_once(prefix, mpi, tmp_path):
    """By the library that they are linked with, also where the shell's library was not known before."""
    name, _ = mpi
    libraries = next(prefix.rglob("libhdTrace.a")).parent
    search = os.environ | {"PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    archives = [libraries / "hdtrace" / NAMES[name][0] / "libHDTraceMPIWrapper.a", libraries / "libhdTrace.a"]
    ways = {"archives": [*archives, *run_well("pkg-config", "--libs", "glib-2.0").split()]}
    for package in (f"hdtrace-mpi-{name}", f"hdtrace-mpi-{name}-static"):
        ways[package] = run_well("pkg-config", "--cflags", "--libs", package, env=search).split()
    for package, flags in ways.items():
        program = tmp_path / package
        run_well(COMPILERS[name], PROGRAMS / "hello.c", "-o", program, *flags)
        for command in ([program], [LAUNCHER, program], [LAUNCHER, "sh", "-c", f"exec {program}"]):
            directory = tmp_path / f"{package}-{len(command)}"
            directory.mkdir()
            assert run_well(MPIRUN, "-n", "2", *command, cwd=directory, env=with_launcher_of(name)) == "hello\n"
            assert len(traces(directory)) == 4 and library_in(directory) == NAMES[name][1]
            assert all(calls_in(trace) == ["Init", "Barrier", "Finalize"] for trace in directory.glob("*.trc"))


def test_a_project_finds_the_wrapper_of_each_library(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""
        cmake_minimum_required(VERSION 3.25)
        project(consumer LANGUAGES C)
        find_package(hdtrace REQUIRED)
        foreach(target mpi mpi_openmpi mpi_mpich mpi_static mpi_mpich_static)
            get_target_property(options hdtrace::${target} INTERFACE_LINK_OPTIONS)
            message(NOTICE "${target} ${options}")
        endforeach()
    """)
    result = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert result.returncode == 0, result.stderr
    options = dict(line.split(" ", 1) for line in result.stderr.splitlines())
    for target, soname in (("mpi_openmpi", "libmpi.so.40"), ("mpi_mpich", "libmpich.so.12"), ("mpi_mpich_static", "libmpich.so.12")):
        (wrapper,) = re.findall(r"[^,]*libHDTraceMPIWrapper\.\w+", options[target])
        assert f"/hdtrace/{soname}/" in wrapper and Path(wrapper).exists()


def test_the_library_is_printed(mpi):
    name, folder = mpi
    wrapper = WRAPPERS / NAMES[name][0] / "libHDTraceMPIWrapper.so"
    assert run_well(LAUNCHER, "--print-library", folder / "hello") == f"{wrapper}\n"
    assert run_well(LAUNCHER, "--print-library", folder / "host") == f"{ANY}\n"
    assert run_well(LAUNCHER, "--follow", "--print-library", folder / "hello") == f"{ANY}\n"
    assert run_well(LAUNCHER, "--print-library") == f"{ANY}\n"
    assert NAMES[name][0] in run_well(LAUNCHER, "--version").split()


def test_no_library_is_printed_for_what_cannot_be_traced():
    for program, reason in (("no-such-program", "there is no such program"), ("mpirun", "hdtrace-run belongs behind it")):
        result = run(LAUNCHER, "--print-library", program)
        assert (result.returncode, result.stdout) == (1, "") and reason in result.stderr


def test_programs_without_mpi_load_no_mpi_library():
    loaded = run_well(LAUNCHER, "cat", "/proc/self/maps")
    assert str(ANY) in loaded and "libmpi" not in loaded and "libglib" not in loaded


def test_a_trace_is_whole_when_a_plugin_s_program_dies(mpi, tmp_path):
    """What the tracer hears of a death it must hear where it was loaded late, too."""
    name, folder = mpi
    begin = "import ctypes, os, signal, sys; mpi = ctypes.CDLL(sys.argv[1]); ctypes.CDLL(None); mpi.start();"
    plugin = compile_text(COMPILERS[name], tmp_path / "start.so", "#include <mpi.h>\nint start(void) { return MPI_Init(0, 0); }\n", "-shared", "-fPIC")
    for number, (end, code) in enumerate([("os._exit(3)", 3), ("os.kill(os.getpid(), signal.SIGKILL)", -9), ("os.execv('/bin/sh', ['sh', '-c', 'exit 4'])", 4)]):
        directory = tmp_path / str(number)
        directory.mkdir()
        result = run(LAUNCHER, "/usr/bin/python3", "-c", begin + end, plugin, cwd=directory)
        assert result.returncode == code
        (trace,) = directory.glob("*.trc")
        assert "<Init " in trace.read_text()


# ---- what has no wrapper ----

@pytest.fixture(scope="module")
def only_openmpi(tmp_path_factory) -> Path:
    """The launcher of an installation without a wrapper for MPICH."""
    folder = tmp_path_factory.mktemp("only")
    shutil.copytree(WRAPPERS, folder / WRAPPERS.relative_to(BUILD), symlinks=True, ignore=lambda _, names: {"libmpich.so.12"} & {*names})
    (folder / "bin").mkdir()
    return Path(shutil.copy(LAUNCHER, folder / "bin"))


@pytest.mark.parametrize("way", WAYS)
def test_a_library_without_wrapper_is_named(only_openmpi, mpi, tmp_path, way):
    name, folder = mpi
    if name != "mpich":
        pytest.skip("it has a wrapper")
    command = command_of(way, name, folder)
    result = run("mpiexec.mpich", "-n", "2", only_openmpi, *command, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "hello\n")
    (line,) = result.stderr.splitlines()
    assert "libmpich.so.12" in line and "untraced" in line and "cmake -DHDTRACE_MPI_COMPILERS=" in line
    assert traces(tmp_path) == []


CALL_PCONTROL = """
    int MPI_Pcontrol(int level, ...);
    int work(void) {
        for (int i = 0; i < 2; ++i)
            MPI_Pcontrol(1, 1, .25, 2, .5, 3, 1.5, 4, 2.5, 5, 3.5, 6, 4.5, 7, 5.5, 8, 6.5, 9, 7.5, 10, 8.5);
        return 7;
    }
"""


@pytest.mark.parametrize("flags, says", [([], NO_TRACE), (["-DWITH_PMPI"], "which has no wrapper here")])
def test_what_is_not_traced_is_called_as_it_was(tmp_path, flags, says):
    """The arguments in all registers, the result, and what dlerror() says."""
    library = tmp_path / "libmpi_other.so"
    run_well("cc", *flags, "-shared", "-fPIC", PROGRAMS / "serial_mpi.c", "-o", library)
    plugin = compile_text("cc", tmp_path / "plugin.so", CALL_PCONTROL, "-shared", "-fPIC", library, f"-Wl,-rpath,{tmp_path}")
    command = ["/usr/bin/python3", "-c", "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).work())", plugin]
    plain, seen = run(*command), run(LAUNCHER, *command, cwd=tmp_path)
    assert plain.returncode == 7 and len(plain.stdout.split()) == 2
    assert (seen.returncode, seen.stdout) == (plain.returncode, plain.stdout)
    assert says in seen.stderr and len(seen.stderr.splitlines()) == 1


def exported(library):
    return {line.split()[-1] for line in run_well("nm", "-D", "--defined-only", library).splitlines()}


CALL_WEAKLY = """
    #include <mpi.h>
    int FUNCTION(void) __attribute__((weak));
    int main(int argc, char **argv) {
        MPI_Init(&argc, &argv);
        return FUNCTION ? FUNCTION() : 1;
    }
"""


def test_functions_that_only_another_library_s_wrapper_has(mpi, tmp_path):
    """The program may have one from elsewhere. If not, it ends as the loader would end it."""
    name, _ = mpi
    function = min(name for name in exported(ANY) - exported(WRAPPERS / NAMES[name][0] / "libHDTraceMPIWrapper.so") if name.startswith("MPI"))
    library = compile_text("cc", tmp_path / "libmore.so", f"int {function}(void) {{ return 7; }}", "-shared", "-fPIC")
    for libraries, expected in ((["-Wl,--no-as-needed", library], (7, "")), ([], (127, f"symbol lookup error: undefined symbol: {function}\n"))):
        program = compile_text(COMPILERS[name], tmp_path / "weak", CALL_WEAKLY, f"-DFUNCTION={function}", *libraries)
        result = run(LAUNCHER, "sh", "-c", f"exec {program}", cwd=tmp_path)
        assert (result.returncode, result.stderr) == expected


def test_the_functions_of_all_wrappers_can_be_traced():
    wrappers = [WRAPPERS / soname / "libHDTraceMPIWrapper.so" for soname, _ in NAMES.values()]
    assert exported(ANY) == set.union({"dlsym"}, *map(exported, wrappers)), "and who looks them up in a library gets them, too"
