"""Functions, files and lines of call sites."""

import os
import random
import re

import pytest

from compiled import CLANG, C, Library, tool

CPP = """\
extern "C" void wanted(int);
namespace flow {
inline __attribute__((always_inline)) void send_halo(int n)
{
    wanted(n);
}
template <class T> struct Solver {
    __attribute__((noinline)) void step(T n)
    {
        send_halo(n);
        asm volatile("");
    }
};
namespace {
__attribute__((noinline)) void hidden(int n)
{
    wanted(n);
    asm volatile("");
}
}
}
void run(int n)
{
    flow::Solver<int>().step(n);
    flow::hidden(n);
}
"""
NO_RETURN = """\
__attribute__((noreturn)) void wanted(void);
void last(void)
{
    wanted();
}
void other(void) {}
"""


def places(result):
    """[[(function, file, line), ...] of each address]"""
    return [
        [(function.get("name"), function.get("file"), int(function.get("line", 0))) for function in place]
        for place in result.project.findall("CallSiteList/Place")
    ]


def merged(run, lines, *arguments):
    run.process(0, lines, size=1)
    return run.merge_cleanly("app", *arguments)


def solve(library):
    return [[("solve", str(library.source), library.line_of("wanted(n,"))]]


COMPILERS = [("gcc", ()), ("gcc", ("-gdwarf-4",)), ("gcc", ("-gz",)), *((name, options) for name in CLANG for options in ((), ("-gdwarf-4",)))]


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_c(run, tmp_path, compiler, options):
    library = Library(tmp_path, compiler=compiler, options=("-g", "-O1", *options))
    assert places(merged(run, library.described())) == solve(library)


@pytest.mark.parametrize("compiler, options", COMPILERS)
def test_inlined_functions(run, tmp_path, compiler, options):
    library = Library(tmp_path, CPP, "cpp", compiler, ("-g", "-O2", *options))
    file = str(library.source)
    found = places(merged(run, library.described()))
    inlined = [
        ("flow::send_halo(int)", file, 5),
        ("flow::Solver<int>::step(int)", file, library.line_of("send_halo(n);")),
    ]
    assert inlined in found
    found.remove(inlined)
    (hidden,) = found
    assert re.fullmatch(r"flow::\(anonymous namespace\)::hidden\(int\)", hidden[0][0])


def test_the_line_is_that_of_the_call(run, tmp_path):
    """What does not return is followed by another function."""
    library = Library(tmp_path, NO_RETURN)
    assert places(merged(run, library.described())) == [[("last", str(library.source), library.line_of("    wanted();"))]]


def test_file_names_that_begin_elsewhere(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library = Library(tmp_path)
    tool("gcc", "-g", "-shared", "-fPIC", "part.c", "-o", library.path)
    assert places(merged(run, library.described())) == solve(library)


def test_without_debug_information(run, tmp_path):
    library = Library(tmp_path, CPP, "cpp", options=("-O2",))
    assert sorted(places(merged(run, library.described()))) == [
        [("flow::(anonymous namespace)::hidden(int)", None, 0)], [("flow::Solver<int>::step(int)", None, 0)]
    ]


def test_stripped(run, tmp_path):
    library = Library(tmp_path, options=("-O2", "-s"))
    assert places(merged(run, library.described())) == [[("solve", None, 0)]]


def test_nothing_is_known(run, tmp_path):
    library = Library(tmp_path, C.replace("void solve", "__attribute__((visibility(\"hidden\"))) void solve"), options=("-O2", "-s"))
    assert places(merged(run, library.described())) == [[]]


def test_not_asked_for(run, tmp_path):
    assert places(merged(run, Library(tmp_path).described(), "--no-sources")) == [[]]


class TestSeparateDebugFile:
    def by_build_id(self, library, folder):
        return folder / ".build-id" / library.build_id[:2] / f"{library.build_id[2:]}.debug"

    def test_by_build_id(self, run, tmp_path):
        library = Library(tmp_path)
        library.separate(self.by_build_id(library, tmp_path / "debug"))
        assert places(merged(run, library.described(), f"--debug-directory={tmp_path}/debug")) == solve(library)

    @pytest.mark.parametrize("folder", [".", ".debug"])
    def test_by_its_name(self, run, tmp_path, folder):
        library = Library(tmp_path)
        library.separate(tmp_path / folder / "libpart.so.debug", link=True)
        assert places(merged(run, library.described())) == solve(library)

    def test_by_its_name_elsewhere(self, run, tmp_path):
        library = Library(tmp_path)
        library.separate(tmp_path / "debug" / str(tmp_path)[1:] / "libpart.so.debug", link=True)
        assert places(merged(run, library.described(), f"--debug-directory={tmp_path}/debug")) == solve(library)

    def test_of_another_build(self, run, tmp_path):
        library = Library(tmp_path)
        library.separate(tmp_path / "libpart.so.debug", link=True)
        (tmp_path / "other").mkdir()
        other = Library(tmp_path / "other", "\n" + C)
        other.separate(tmp_path / "libpart.so.debug")
        assert places(merged(run, library.described())) == [[("solve", None, 0)]]

    def test_that_is_no_file(self, run, tmp_path):
        library = Library(tmp_path)
        debug_file = self.by_build_id(library, tmp_path / "debug")
        library.separate(debug_file)
        debug_file.unlink()
        os.mkfifo(debug_file)
        assert places(merged(run, library.described(), f"--debug-directory={tmp_path}/debug")) == [[("solve", None, 0)]]


class TestUnusableObjectFiles:
    def warning(self, run, lines):
        """The only one."""
        run.process(0, lines, size=1)
        result = run.merge("app", timeout=60)
        assert result.code == 0 and len(result.warnings) == 1
        assert all(place == [] for place in places(result))
        prefix = "app_node01_0_0.info:2: warning: the lines of calls in "
        assert result.stderr.startswith(prefix)
        return result.stderr[len(prefix):].strip()

    def test_changed(self, run, tmp_path):
        library = Library(tmp_path, CPP, "cpp")
        lines = library.described()
        Library(tmp_path, CPP + "\nint more;\n", "cpp")
        assert self.warning(run, lines) == f"{library.path} are not known: it has changed since"

    def test_missing(self, run, tmp_path):
        library = Library(tmp_path)
        lines = library.described()
        library.path.unlink()
        assert self.warning(run, lines) == f"{library.path} are not known: No such file or directory"

    @pytest.mark.parametrize("make, reason", [
        (os.mkfifo, "this is not a regular file"), (os.mkdir, "this is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "this is not a regular file"),
        (lambda path: path.write_text("#!/bin/sh\n"), "this is no object file"),
        (lambda path: path.touch(), "this is no object file"),
    ], ids=["fifo", "directory", "device", "script", "empty"])
    def test_no_object_file(self, run, tmp_path, make, reason):
        library = Library(tmp_path)
        lines = library.described()
        library.path.unlink()
        make(library.path)
        assert self.warning(run, lines) == f"{library.path} are not known: {reason}"

    def test_without_build_id_it_must_be_older_than_the_run(self, run, tmp_path):
        from conftest import EPOCH

        library = Library(tmp_path, options=("-g", "-O2", "-Wl,--build-id=none"))
        lines = library.described(build_id="")
        os.utime(library.path, (EPOCH + 0.9, EPOCH + 0.9))
        assert places(merged(run, lines)) == solve(library)
        (run.folder / "app.proj").unlink()
        os.utime(library.path, (EPOCH + 1, EPOCH + 1))
        assert self.warning(run, lines) == f"{library.path} are not known: it has changed since"

    def test_offsets_outside(self, run, tmp_path):
        library = Library(tmp_path)
        lines = library.described() + "Site id=7 frames='0+0;0+9223372036854775807;-1+4096;'\n"
        assert places(merged(run, lines)) == [*solve(library), [], [], []]


def test_an_object_file_that_several_processes_call_otherwise(run, tmp_path):
    """It is opened where the first process had it."""
    library = Library(tmp_path)
    run.process(0, library.described(), size=2)
    run.process(1, library.described().replace(str(library.path), "/nowhere/libpart.so"), size=2)
    assert places(run.merge_cleanly()) == solve(library)


def test_damaged_object_files(run, tmp_path):
    """Whatever stands in it, the project is written."""
    library = Library(tmp_path, CPP, "cpp")
    run.process(0, library.described(), size=1)
    content = library.path.read_bytes()
    generator = random.Random(4711)
    for _ in range(100):
        damaged = bytearray(content)
        for _ in range(generator.choice([1, 10, 100])):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        library.path.write_bytes(damaged[:generator.choice([len(damaged), generator.randrange(len(damaged))])])
        assert run.merge("app", "--overwrite", timeout=60).code == 0
