"""hdtrace-run: what the program sees, and what the user sees."""
import os
import re
import shutil
import struct
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from conftest import BUILD, MPIRUN, PROGRAMS, SOURCE, compile_text, run, run_well, traces
from support.runs import NO_TRACE, only_with

REAL = BUILD / "bin/hdtrace-run"
TABLE = tomllib.loads((SOURCE / "hdtrace/options.toml").read_text())
PYTHON = sys.executable


def place_launcher(directory: Path) -> Path:
    """The launcher, moved to a place where it has no library."""
    launcher = directory / "bin/hdtrace-run"
    launcher.parent.mkdir(parents=True)
    shutil.copy(REAL, launcher)
    return launcher


@pytest.fixture(scope="session")
def launcher(tmp_path_factory) -> Path:
    """The launcher with a library that does nothing."""
    launcher = place_launcher(tmp_path_factory.mktemp("empty"))
    library = Path(run_well(launcher, "--print-library").strip())
    library.parent.mkdir(parents=True, exist_ok=True)
    compile_text("cc", library, "", "-shared", "-fPIC")
    return launcher


def environment_of(*command, **options) -> dict[str, str]:
    """The environment that the command hands to `env -0`."""
    text = run_well(*command, "env", "-0", **options)
    return dict(entry.split("=", 1) for entry in text.split("\0") if entry)


@pytest.mark.parametrize("name", ["mpirun", "mpiexec.hydra", "srun"])
def test_the_wrong_way_round(launcher, tmp_path, name):
    program = tmp_path / name
    program.write_text("#!/bin/sh\necho \"<$LD_PRELOAD>\"\n")
    program.chmod(0o755)
    result = run(launcher, program, "-n", "2", "./app")
    assert (result.returncode, result.stdout) == (0, "<>\n")
    assert "runs untraced" in result.stderr and "mpirun -n 4 hdtrace-run ./app" in result.stderr
    assert run_well(launcher, "--follow", program) != "<>\n"


# ---- options ----

@pytest.mark.parametrize("arguments, variable, value", [
    (["--nested"], "HDTRACE_NESTED", "1"),
    (["--no-nested"], "HDTRACE_NESTED", "0"),
    (["--nested", "--no-nested"], "HDTRACE_NESTED", "0"),
    (["-f"], "HDTRACE_FOLLOW", "1"),
    (["--file-info"], "HDTRACE_FILE_INFO", "1"),
    (["--force-flush"], "HDTRACE_FORCE_FLUSH", "1"),
    (["--all-functions", "0"], "HDTRACE_ALL_FUNCTIONS", "0"),
    (["--all-functions=2"], "HDTRACE_ALL_FUNCTIONS", "2"),
    (["--verbosity=3"], "HDTRACE_VERBOSITY", "3"),
    (["--buffer-size", "4K"], "HDTRACE_BUFFER_SIZE", "4K"),
    (["--buffer-size=1048576"], "HDTRACE_BUFFER_SIZE", "1048576"),
    (["-d", "some where"], "HDTRACE_DIRECTORY", "some where"),
    (["--directory=$HOME/'\"`x`"], "HDTRACE_DIRECTORY", "$HOME/'\"`x`"),
    (["--name", "-x"], "HDTRACE_NAME", "-x"),
    (["--note", "a=1"], "HDTRACE_NOTE", "a=1"),
    (["--note", "a=1", "--note=b=x y=z"], "HDTRACE_NOTE", "a=1\nb=x y=z"),
    (["--note", "a=1", "--no-nested", "-d", "x"], "HDTRACE_OPTIONS", "HDTRACE_DIRECTORY HDTRACE_NESTED HDTRACE_NOTE "),
])
def test_an_option_sets_its_variable(launcher, arguments, variable, value):
    assert environment_of(launcher, *arguments)[variable] == value


def test_an_option_wins_over_the_environment(launcher):
    environment = os.environ | {"HDTRACE_NESTED": "1", "HDTRACE_NAME": "kept"}
    seen = environment_of(launcher, "--no-nested", env=environment)
    assert (seen["HDTRACE_NESTED"], seen["HDTRACE_NAME"]) == ("0", "kept")


@pytest.mark.parametrize("arguments, complaint", [
    (["--all-functions=3"], "--all-functions: '3' is not a number from 0 to 2"),
    (["--all-functions="], "--all-functions: '' is not a number"),
    (["--verbosity", "-1"], "--verbosity: '-1' is not a number"),
    (["--buffer-size=4095"], "--buffer-size: '4095' is not a number of bytes of at least 4K, e.g. 256K"),
    (["--buffer-size=K"], "'K' is not a number"),
    (["--buffer-size=9999999999999G"], "is not a number"),
    (["--buffer-size=99999999999999999999"], "is not a number"),
    (["--buffer-size=1KM"], "is not a number"),
    (["--flush-seconds", "1K"], "--flush-seconds: '1K' is not a number of seconds from 0 to 3600"),
    (["--compress=zst"], "--compress: 'zst' is not none, zstd or gzip"),
    (["--directory="], "--directory: '' is not a path"),
    (["--wrong"], "'--wrong'"),
    (["-x"], "'x'"),
    (["--nested=1"], "'--nested'"),
    (["--name"], "'--name'"),
    (["--nested"], "which program?"),
    (["--explain", "--print-library"], "--explain and --print-library exclude each other"),
    (["--form=compact", "--compress=gzip", "true"], "--form compact and --compress gzip exclude each other"),
])
def test_wrong_options_are_named(launcher, arguments, complaint):
    result = run(launcher, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("hdtrace-run: ") and complaint in result.stderr
    assert result.stderr.endswith("Try 'hdtrace-run --help'.\n")


def test_help_has_every_option_and_fits_the_screen(launcher):
    text = run_well(launcher, "--help")
    for key, option in TABLE.items():
        assert "--" + key.lower().replace("_", "-") in text
    assert max(map(len, text.splitlines())) <= 100
    assert run_well(launcher, "-h") == text


def test_version(launcher):
    assert run_well(launcher, "--version").startswith("hdtrace-run ")


@pytest.mark.parametrize("option", ["--help", "--version", "--explain", "--print-library"])
def test_answers_that_cannot_be_written(launcher, option):
    result = run("sh", "-c", f"'{launcher}' {option} >/dev/full")
    assert (result.returncode, result.stderr) == (1, "hdtrace-run: standard output: No space left on device\n")


# ---- the program ----

ODD_ARGUMENTS = ["", " ", "a b", "--help", "--", "-x", "*", "$HOME", "'", '"', "\\", "line\nbreak", "ä", "`id`"]


@pytest.mark.parametrize("separator", [[], ["--"]])
def test_arguments_arrive_as_they_are(launcher, separator):
    show = [PYTHON, "-c", "import sys; print(ascii(sys.argv[1:]))"]
    assert run_well(launcher, *separator, *show, *ODD_ARGUMENTS) == ascii(ODD_ARGUMENTS) + "\n"


def test_bytes_that_are_no_text_arrive_as_they_are(launcher):
    result = run(launcher, "printf", "%s", os.fsdecode(b"a\xff\xfeb"), text=False)
    assert (result.stdout, result.stderr) == (b"a\xff\xfeb", b"")


def test_the_environment_is_otherwise_unchanged(launcher):
    environment = os.environ | {"BASH_FUNC_f%%": "() { :; }", "a.b": "1", "x y": "2", "EMPTY": "", "PWD": "/elsewhere", "OMPI_COMMAND": "sh"}
    plain = environment_of(env=environment)
    traced = environment_of(launcher, env=environment)
    assert traced.keys() - plain.keys() == {"LD_PRELOAD", "HDTRACE_PID"}
    assert plain.items() <= traced.items()


def test_the_library_is_loaded_behind_others(launcher, tmp_path):
    library = run_well(launcher, "--print-library").strip()
    assert library in run_well(launcher, "cat", "/proc/self/maps")
    other = compile_text("cc", tmp_path / "other.so", "", "-shared", "-fPIC")
    seen = environment_of(launcher, env=os.environ | {"LD_PRELOAD": str(other)})
    assert seen["LD_PRELOAD"] == f"{other}:{library}"


def test_the_program_is_the_process_that_is_traced(launcher):
    pid, own_pid = run_well(launcher, "sh", "-c", "echo $HDTRACE_PID $$").split()
    assert pid == own_pid


@pytest.mark.parametrize("text", ["#!/bin/sh\necho fine\n", "echo fine\n"])
def test_scripts_run(launcher, tmp_path, text):
    script = tmp_path / "script"
    script.write_text(text)
    script.chmod(0o755)
    assert run_well(launcher, script) == "fine\n"
    assert run_well(launcher, "script", env=os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin"}) == "fine\n"


@pytest.mark.parametrize("path", ["/usr/bin:/bin:", ":/usr/bin:/bin", "/usr/bin::/bin"])
def test_an_empty_folder_in_the_path_is_the_working_folder(launcher, tmp_path, path):
    script = tmp_path / "own-script"
    script.write_text("#!/bin/sh\necho $LD_PRELOAD\n")
    script.chmod(0o755)
    assert run_well(launcher, "own-script", cwd=tmp_path, env=os.environ | {"PATH": path}).strip() != ""


@pytest.mark.parametrize("environment, code", [({}, 127), ({"PMI_RANK": "0"}, 127), ({"SLURM_PROCID": "0"}, 127), ({"SLURM_STEP_ID": "0"}, 0)])
def test_the_working_folder_counts_where_the_launcher_looks_there(launcher, tmp_path, environment, code):
    script = tmp_path / "own-script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert run(launcher, "own-script", cwd=tmp_path, env=os.environ | environment).returncode == code


@pytest.mark.parametrize("status", [0, 1, 3, 125, 255])
def test_the_exit_status_is_the_program_s(launcher, status):
    assert run(launcher, "sh", "-c", f"exit {status}").returncode == status


def test_a_signal_is_the_program_s(launcher):
    assert run(launcher, "sh", "-c", "kill -KILL $$").returncode == -9


def test_no_such_program(launcher):
    result = run(launcher, "no-such-program")
    assert result.returncode == 127
    assert result.stderr == "hdtrace-run: no-such-program: No such file or directory\n"


def test_not_executable(launcher, tmp_path):
    (tmp_path / "text").write_text("text")
    for name in (tmp_path / "text", tmp_path):
        result = run(launcher, name)
        assert result.returncode == 126
        assert result.stderr == f"hdtrace-run: {name}: Permission denied\n"


# ---- what cannot be traced runs untraced ----

def assert_runs_untraced(launcher, reason: str):
    result = run(launcher, "env")
    assert result.returncode == 0
    assert result.stderr == f"hdtrace-run: env runs untraced: {reason}\n"
    assert "LD_PRELOAD" not in result.stdout and "HDTRACE_PID" not in result.stdout


def test_without_its_library(tmp_path):
    launcher = place_launcher(tmp_path)
    library = run_well(launcher, "--print-library").strip()
    assert_runs_untraced(launcher, f"the tracer's library is missing: {library}")


def test_with_a_blank_in_the_library_s_path(launcher, tmp_path):
    copy = tmp_path / "with blank"
    shutil.copytree(launcher.parents[1], copy)
    library = run_well(copy / "bin/hdtrace-run", "--print-library").strip()
    assert_runs_untraced(copy / "bin/hdtrace-run",
                         f"a library with a blank or a colon in its path cannot be preloaded: {library}")


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_static_programs(launcher, tmp_path, flag):
    program = compile_text("cc", tmp_path / "static", '#include <stdio.h>\nint main() { puts("fine"); return 3; }', flag)
    result = run(launcher, program)
    assert (result.returncode, result.stdout) == (3, "fine\n")
    assert "runs untraced: it is linked statically" in result.stderr


def test_static_programs_hand_the_tracer_on_to_what_they_start(launcher, tmp_path):
    program = compile_text("cc", tmp_path / "static", "#include <unistd.h>\nint main() { return execlp(\"env\", \"env\", \"-0\", (char*)0); }", "-static")
    assert "HDTraceMPIWrapper-any" in run_well(launcher, "--follow", program)


def test_programs_with_another_c_library_run_untraced(launcher, tmp_path):
    program = compile_text("cc", tmp_path / "other", "int main() { return 0; }", "-Wl,--dynamic-linker=/nowhere/ld-musl-x86_64.so.1")
    for options in ([], ["--follow"]):
        assert "runs untraced: it is linked with another C library than glibc" in run(launcher, *options, program).stderr


@pytest.fixture(scope="session")
def mpich_hello(tmp_path_factory):
    """The MPI program, for MPICH."""
    program = tmp_path_factory.mktemp("mpich") / "hello"
    run_well("mpicc.mpich", PROGRAMS / "hello.c", "-o", program)
    return program


def test_programs_of_an_mpi_library_without_wrapper(launcher, mpich_hello):
    result = run("mpiexec.mpich", "-n", "3", launcher, mpich_hello)
    assert (result.returncode, result.stdout) == (0, "hello\n")
    reason = ("it uses libmpich.so.12, which has no wrapper here (no library has one); cmake -DHDTRACE_MPI_COMPILERS=COMPILER builds one, "
              "with the MPI compiler of that library")
    assert result.stderr == f"hdtrace-run: {mpich_hello} runs untraced: {reason}\n"


NOBODY = 65534
RIGHTS = "it runs with rights that are not yours (set-uid, set-gid or capabilities); nothing can be preloaded into such programs"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def everybodys():
    """A directory that every user can enter, with the launcher and a program."""
    with tempfile.TemporaryDirectory(prefix="hdtrace-run-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        if os.statvfs(directory).f_flag & os.ST_NOSUID:
            pytest.skip("nobody gains rights here")
        launcher = place_launcher(directory)
        library = Path(run_well(launcher, "--print-library").strip())
        library.parent.mkdir(parents=True, exist_ok=True)
        compile_text("cc", library, "", "-shared", "-fPIC")
        program = 'int puts(const char *); char *getenv(const char *); int main(void) { puts(getenv("LD_PRELOAD") ? "traced" : "untraced"); return 0; }'
        compile_text("cc", directory / "program", program)
        yield directory


@as_root
@pytest.mark.parametrize("mode, owner, group, says", [
    (0o4755, NOBODY, 0, RIGHTS), (0o4711, NOBODY, 0, RIGHTS), (0o2755, 0, NOBODY, RIGHTS), (0o755, NOBODY, NOBODY, None), (0o6755, 0, 0, None),
    (0o2745, 0, NOBODY, None)])
def test_programs_with_the_rights_of_others(everybodys, mode, owner, group, says):
    """Found in PATH, too. Bits that give nothing do not matter."""
    program = everybodys / "program"
    os.chown(program, owner, group)
    program.chmod(mode)
    for name, path in [(program, "/bin"), ("program", f"{everybodys}:/bin")]:
        result = run(everybodys / "bin/hdtrace-run", name, env=os.environ | {"PATH": path})
        assert (result.returncode, result.stdout) == (0, "untraced\n" if says else "traced\n")
        assert result.stderr == (f"hdtrace-run: {name} runs untraced: {says}\n" if says else "")


@as_root
def test_programs_with_capabilities(everybodys):
    program = everybodys / "program"
    net_bind_service, version_with_effective = 1 << 10, 0x02000001
    os.setxattr(program, "security.capability", struct.pack("<5I", version_with_effective, net_bind_service, 0, 0, 0))
    as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    result = run(*as_nobody, everybodys / "bin/hdtrace-run", program)
    assert (result.returncode, result.stdout) == (0, "untraced\n")
    assert result.stderr == f"hdtrace-run: {program} runs untraced: {RIGHTS}\n"


@as_root
def test_scripts_have_the_rights_of_their_interpreter(everybodys):
    script = everybodys / "script"
    script.write_text("#!/bin/sh\necho ${LD_PRELOAD:+traced}\n")
    os.chown(script, NOBODY, NOBODY)
    script.chmod(0o6755)
    assert run_well(everybodys / "bin/hdtrace-run", script) == "traced\n"


# ---- with the real library ----


def test_an_mpi_program_is_traced(hello, tmp_path):
    assert run_well(MPIRUN, "-n", "2", REAL, hello, cwd=tmp_path) == "hello\n"
    host = re.sub("[^A-Za-z0-9.-]", "-", os.uname().nodename)
    assert traces(tmp_path) == [f"hello_{host}_{rank}_0.{suffix}" for rank in (0, 1) for suffix in ("info", "trc")]


@pytest.mark.parametrize("options, loader_options", [([], []), (["--follow"], []), ([], ["--library-path", "/nowhere", "--argv0", "hello"])])
def test_a_program_that_the_dynamic_loader_starts(hello, tmp_path, options, loader_options):
    loader = re.search(r"interpreter: (.*)]", run_well("readelf", "-l", hello))[1]
    result = run(MPIRUN, "-n", "1", REAL, *options, loader, *loader_options, hello, cwd=tmp_path)
    assert (result.stdout, result.stderr) == ("hello\n", "")
    (info,) = tmp_path.glob("hello_*.info")
    assert f" program='{hello}'" in info.read_text() and f"Object id=0 path='{hello}'" in info.read_text()


@only_with("Open MPI")
@pytest.mark.parametrize("arguments", [[], ["a", "", "b c"]])
def test_the_library_tells_the_program_s_command(tmp_path, arguments):
    program = compile_text("mpicc", tmp_path / "program", r"""
        #include <mpi.h>
        #include <stdio.h>
        int main(int argc, char **argv)
        {
            char value[100] = "none";
            int found;
            MPI_Init(&argc, &argv);
            MPI_Info_get(MPI_INFO_ENV, "command", 99, value, &found);
            printf("%s\n", value);
            MPI_Info_get(MPI_INFO_ENV, "argv", 99, value, &found);
            printf("%s\n", found ? value : "none");
            MPI_Finalize();
        }
    """)
    untraced = run_well(MPIRUN, "-n", "1", program, *arguments)
    assert run_well(MPIRUN, "-n", "1", REAL, "-d", tmp_path, program, *arguments) == untraced


def test_directory_and_name(hello, tmp_path):
    run_well(MPIRUN, "-n", "1", REAL, "-d", "new/place", "--name", "run1", hello, cwd=tmp_path)
    assert traces(tmp_path) == []
    assert [name.split("_")[0] for name in traces(tmp_path / "new/place")] == ["run1", "run1"]


def test_a_program_without_mpi_is_left_alone(tmp_path):
    plain = run_well("ls", "/", cwd=tmp_path)
    assert run_well(REAL, "ls", "/", cwd=tmp_path) == plain
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options, traced", [([], False), (["--follow"], True)])
def test_programs_that_the_program_starts(hello, tmp_path, options, traced):
    result = run(MPIRUN, "-n", "1", REAL, *options, "sh", "-c", f"{hello}; true", cwd=tmp_path)
    assert (result.returncode, bool(traces(tmp_path))) == (0, traced)
    assert result.stderr == ("" if traced else f"hdtrace: sh {NO_TRACE}")


@pytest.mark.parametrize("end", ["exit", "_exit"])
def test_a_program_that_could_use_mpi_and_does_not(tmp_path, end):
    program = compile_text("mpicc", tmp_path / "idle", f"""
        #include <mpi.h>
        #include <unistd.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {{
            if (argc > 1)
                MPI_Init(&argc, &argv);
            {end}(0);
        }}
    """)
    result = run(MPIRUN, "-n", "2", REAL, program, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, f"hdtrace: idle {NO_TRACE}")


def test_a_program_that_replaces_the_shell_is_traced(hello, tmp_path):
    run_well(MPIRUN, "-n", "1", REAL, "sh", "-c", f"exec {hello}", cwd=tmp_path)
    assert traces(tmp_path)


def test_a_traced_program_hands_on_a_clean_environment(tmp_path):
    program = compile_text("mpicc", tmp_path / "parent", r"""
        #include <mpi.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            MPI_Init(&argc, &argv);
            int status = system("test -z \"$LD_PRELOAD\"");
            MPI_Finalize();
            return status;
        }
    """)
    run_well(MPIRUN, "-n", "1", REAL, program, cwd=tmp_path)
