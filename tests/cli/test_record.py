"""hdtrace record: the run is the program's, and it leaves a merged trace."""
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD, MPIRUN, compile_text, run, run_well
from support.runs import need_several_programs, only_with

sys.path.insert(0, str(BUILD / "python"))
from hdtrace.cli.launchers import UnknownOption, launcher_of, programs_in  # noqa: E402

HDTRACE = BUILD / "bin/hdtrace"
USAGE, NOT_FOUND, NOT_EXECUTABLE = 2, 127, 126

VICTIM = """
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char line[100] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "echo") == 0 && rank == 0 && fgets(line, sizeof line, stdin)) {
        printf("out:%s", line);
        fprintf(stderr, "err:%s", line);
    }
    if (strcmp(argv[1], "die") == 0 && rank == 0)
        raise(SIGSEGV);
    if (strcmp(argv[1], "vanish") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(argv[1], "write") == 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, RLIM_INFINITY});
    if (strcmp(argv[1], "wait") == 0) {
        printf("waiting\\n");
        fflush(stdout);
        pause();
    }
    MPI_Finalize();
    return strcmp(argv[1], "seven") == 0 ? 7 : 0;
}
"""


@pytest.fixture(scope="session")
def victim(tmp_path_factory):
    return compile_text("mpicc", tmp_path_factory.mktemp("victim") / "victim", VICTIM)


def record(*words, **options):
    return run(HDTRACE, "record", *words, **options)


def test_options_are_looked_at_before_anything_is_started(tmp_path, victim):
    result = record("--keep-last", "1M", "-o", "run", MPIRUN, "-n", "2", victim, "seven", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (USAGE, "")
    assert result.stderr.startswith("hdtrace: record: --keep-last: '1M' is not a number of bytes of at least 2M") and result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("wanted", [["--check"], ["--stuck-seconds", "1"]])
@pytest.mark.parametrize("options, environment, source", [
    (["--statistics-only"], {}, "--statistics-only"),
    (["--config", "app.conf"], {}, "statistics-only in the settings file app.conf"),
    ([], {"HDTRACE_CONFIG": "app.conf"}, "statistics-only in the settings file app.conf"),
    ([], {"HDTRACE_STATISTICS_ONLY": "1"}, "HDTRACE_STATISTICS_ONLY=1 in the environment"),
])
def test_statistics_alone_have_nothing_to_look_at(tmp_path, wanted, options, environment, source):
    """Wherever that is said: it is refused before anything is started."""
    (tmp_path / "app.conf").write_text("statistics-only = 1\n")
    result = record(*wanted, *options, "-o", "run", "touch", "started", cwd=tmp_path, env={**os.environ, **environment})
    assert (result.returncode, result.stderr) == (USAGE, f"hdtrace: record: {source} keeps no single calls, which {wanted[0]} looks at\n")
    assert not (tmp_path / "run").exists() and not (tmp_path / "started").exists()


@pytest.mark.parametrize("environment", [{"HDTRACE_STATISTICS_ONLY": "0"}, {"HDTRACE_STATISTICS_ONLY": "perhaps", "HDTRACE_CONFIG": "other.conf"}])
def test_what_asks_for_statistics_alone_may_be_overruled(tmp_path, environment):
    (tmp_path / "app.conf").write_text("statistics-only = 1\n")
    (tmp_path / "other.conf").write_text("nested = 1\n")
    config = [] if "HDTRACE_CONFIG" in environment else ["--config", "app.conf"]
    record("--check", *config, "-o", "run", "touch", "started", cwd=tmp_path, env={**os.environ, **environment})
    assert (tmp_path / "started").exists()


def folder_in(directory):
    (folder,) = directory.glob("*.hdtrace")
    return folder


# ---- where the program is ----

def fake_launcher(directory, name, version):
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return str(path)


LINES = {
    "mpirun (Open MPI) 4.1.4": [
        "-np 4 | ./app -n 3",
        "-n 2 --mca btl self,vader --map-by core -x PATH --host a:2,b --bind-to none --report-bindings | app",
        "--hostfile=hosts --allow-run-as-root | app",
        "-- | app",
        "-n 1 | a -x : -n 2 -wdir /tmp | b : | c",
        "--timeout 10 -tag-output --output-filename out --prefix /opt/mpi --tune file -N 2 -H h | app --mca a b",
        "-fwd-mpirun-port -n 1 | app",
    ],
    "mpirun (Open MPI) 5.0.7": [
        "--prtemca a b --pmixmca c d --display map --runtime-options x --output tag --personality ompi -n 2 | app",
        "--map-by ppr:1:node --rank-by slot --with-ft mpi | app",
        "--forward-signals SIGUSR1,SIGURG | app",
    ],
    "HYDRA build details:": [
        "-n 4 -ppn 2 -f hosts -genv A 1 -genvall -env B 2 | app",
        "-l -bind-to core -launcher ssh -np 3 | app : -n 2 | other -n 5",
        "-prepend-rank -hosts a,b -iface=eth0 | app",
    ],
}


@pytest.mark.parametrize("version, line", [(version, line) for version, lines in LINES.items() for line in lines])
def test_programs_are_found(tmp_path, version, line):
    program = fake_launcher(tmp_path, "mpiexec", version)
    words = [program, *line.replace("|", " ").split()]
    after = [part.split()[0] for part in line.split("|")[1:]]
    assert [words[one.place] for one in programs_in(words, launcher_of(program))] == after


@pytest.mark.parametrize("line", [
    "-n4 | app -n 3", "-ln 4 -N1 | app", "--ntasks=4 --mpi=pmix -c 2 --cpu-bind=cores | app", "--ntasks 4 --mpi pmix --exclusive | app",
    "-N 1 -n 2 | a : -n 1 | b", "-u --label -t 1:00 -p debug -w host[1-2] --mem-per-cpu 1G | app"])
def test_programs_of_slurm_are_found(line):
    words = ["/usr/bin/srun", *line.replace("|", " ").split()]
    after = [part.split()[0] for part in line.split("|")[1:]]
    assert [words[one.place] for one in programs_in(words, launcher_of(words[0]))] == after


@pytest.mark.parametrize("line, reason", [
    ("--no-such-option 4 app", "'--no-such-option' is no option of srun"), ("-n 4 -?x app", "'-?x' is no option"), ("-n 4", "there is no program"),
    ("-n 2 a : -n 3", "there is no program"), ("--multi-prog file", "in the file of srun's option --multi-prog")])
def test_what_is_not_understood(line, reason):
    words = ["srun", *line.split()]
    with pytest.raises(UnknownOption, match=re.escape(reason)):
        programs_in(words, launcher_of(words[0]))


@pytest.mark.parametrize("line, is_missing", [
    ("java Main", True), ("java -cp . Main", True), ("/usr/bin/java -Djava.library.path=/lib Main : app -cp", True),
    ("java -cp . -Djava.library.path=/lib Main", False), ("java -Djava.library.path=/lib -jar main.jar", False), ("app : javac", False)])
def test_java_has_the_options_that_open_mpi_would_add(tmp_path, line, is_missing):
    program = fake_launcher(tmp_path, "mpirun", "mpirun (Open MPI) 4.1.4")
    result = record("-o", "run", program, "-n", "1", *line.split(), cwd=tmp_path)
    assert (result.returncode == USAGE and "give -cp and -Djava.library.path yourself" in result.stderr) is is_missing, result.stderr
    assert (tmp_path / "run").exists() is False


@pytest.mark.parametrize("name, option", [("mpirun", "-s"), ("mpirun", "--preload-binary"), ("srun", "--bcast=/tmp/app")])
def test_the_tracer_is_not_copied_for_the_program(tmp_path, name, option):
    program = fake_launcher(tmp_path, name, "mpirun (Open MPI) 4.1.4")
    with pytest.raises(UnknownOption, match=f"'{option}' is no option"):
        programs_in([program, option, "app"], launcher_of(program))


def test_launchers_that_are_not_known(tmp_path):
    assert launcher_of("./app") is None and launcher_of("mpirunner") is None
    with pytest.raises(UnknownOption, match="names neither Open MPI nor MPICH"):
        launcher_of(fake_launcher(tmp_path, "mpirun", "Other MPI 1.0"))
    with pytest.raises(UnknownOption, match="jsrun"):
        launcher_of("jsrun")


def test_the_user_learns_what_to_do(tmp_path):
    result = record("srun", "--strange", "./app", cwd=tmp_path)
    assert result.returncode == USAGE
    assert "srun" in result.stderr and "mpirun -n 4 hdtrace-run -d DIR ./app" in result.stderr
    assert list(tmp_path.iterdir()) == []


def script_that_tells(path):
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\necho "$(realpath "$0")" in "$PWD"\n')
    path.chmod(0o755)


@only_with("Open MPI")
@pytest.mark.parametrize("line", [
    "-n 1 here", "-wdir sub -n 1 there", "-path sub -n 1 there", "--path /nowhere:{folder}/sub -n 1 there", "-path sub -n 1 ls", "-wdir sub -n 1 ls -d .",
    "-path sub -n 1 there : -n 1 there"])
def test_a_program_is_found_where_open_mpi_finds_it(tmp_path, line):
    """In the folders of an option, in PATH, in the working directory; behind the tracer, too."""
    if ":" in line.split():
        need_several_programs()
    for name in "here", "sub/there", "sub/ls":
        script_that_tells(tmp_path / name)
    words = [MPIRUN, *line.format(folder=tmp_path).split()]
    untraced, traced = run(*words, cwd=tmp_path), record(*words, cwd=tmp_path)
    assert untraced.returncode == 0 and (traced.returncode, traced.stdout) == (0, untraced.stdout), traced.stderr


# ---- real runs ----

def test_a_run(tmp_path, victim):
    result = record(MPIRUN, "-n", "2", victim, "echo", cwd=tmp_path, input="word\n")
    assert (result.returncode, result.stdout) == (0, "out:word\n")
    assert result.stderr.startswith("err:word\n")
    folder = folder_in(tmp_path)
    assert re.fullmatch(r"victim-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.hdtrace", folder.name)
    assert sorted(path.suffix for path in folder.iterdir()) == [".compact", ".compact", ".info", ".info", ".proj"]
    assert "victim: 2 processes, 1 host," in result.stderr and "Barrier" in result.stderr and folder.name in result.stderr
    assert run(HDTRACE, "stats", folder).stderr == ""


def test_several_programs(tmp_path, victim):
    need_several_programs()
    other = shutil.copy(victim, tmp_path / "other")
    result = record("--quiet", "--output", "here", MPIRUN, "-n", "1", victim, "echo", ":", "-n", "1", other, "none", cwd=tmp_path, input="")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert "2 processes" in run(HDTRACE, "info", tmp_path / "here").stdout


def test_a_program_alone(tmp_path, victim):
    result = record("--quiet", "-" * 2, victim, "seven", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (7, "", "")
    assert len(list(folder_in(tmp_path).glob("*.trc.*"))) == 1


@pytest.mark.parametrize("options, environment, config, suffix", [
    ([], {}, "", ".compact"),
    (["--compress", "zstd"], {}, "", ".compact"),
    (["--form", "xml"], {}, "", ".trc"),
    ([], {"HDTRACE_FORM": "xml"}, "", ".trc"),
    ([], {}, "form = xml\n", ".trc"),
    (["--compress", "gzip"], {}, "", ".gz"),
    ([], {"HDTRACE_COMPRESS": "gzip"}, "", ".gz"),
    ([], {}, "compress = gzip\n", ".gz"),
    (["--form", "auto"], {"HDTRACE_FORM": "xml"}, "", ".compact"),
])
def test_a_trace_is_compact_unless_another_form_is_chosen(tmp_path, victim, options, environment, config, suffix):
    (tmp_path / "settings").write_text(config)
    record("--quiet", "--output", "here", "--config", "settings", *options, victim, "none", cwd=tmp_path, env={**os.environ, **environment})
    (trace,) = (tmp_path / "here").glob("*.trc*")
    assert trace.suffix == suffix


def test_options_of_the_tracer(tmp_path, victim):
    result = record("--quiet", "--all-functions", "0", "--note", "a=b c", "--output", tmp_path / "x", victim, "none", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    about = run(HDTRACE, "info", tmp_path / "x").stdout
    assert re.search(r"HDTRACE_ALL_FUNCTIONS +0 +hdtrace-run", about) and re.search(r"a +b c", about)
    wrong = record("--all-functions", "9", victim, "none", cwd=tmp_path)
    assert wrong.returncode == USAGE and "'9' is not a number from 0 to 2" in wrong.stderr


def test_letters_and_opposites_of_the_options_of_the_tracer(tmp_path, victim):
    environment = os.environ | {"HDTRACE_NESTED": "1"}
    result = record("--quiet", "-f", "--no-nested", "-o", tmp_path / "x", victim, "none", cwd=tmp_path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    about = run(HDTRACE, "info", tmp_path / "x").stdout
    assert re.search(r"HDTRACE_FOLLOW +1 +hdtrace-run", about) and re.search(r"HDTRACE_NESTED +0 +hdtrace-run", about)


def test_a_run_that_dies_is_merged(tmp_path, victim):
    result = record(victim, "die", cwd=tmp_path)
    assert result.returncode == 128 + signal.SIGSEGV
    assert "victim: 1 process," in result.stderr and f"exit code {128 + signal.SIGSEGV}" in result.stderr
    assert len(list(folder_in(tmp_path).glob("*.proj"))) == 1


def test_a_settings_file_with_an_error_is_told_before_anything_begins(tmp_path, victim):
    (tmp_path / "wrong.conf").write_text("[rule]\ncall = Isned\nrecord = none\n")
    result = record("-o", tmp_path / "trace", victim, "none", env=os.environ | {"HDTRACE_CONFIG": str(tmp_path / "wrong.conf")})
    assert result.returncode == USAGE and "did you mean Isend?" in result.stderr and len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "trace").exists()


def test_a_settings_file_may_have_any_name(tmp_path, victim):
    wrong = os.path.join(os.fsencode(tmp_path), b"\xff.conf")
    with open(wrong, "w") as file:
        file.write("[rule]\ncall = Isned\nrecord = none\n")
    result = record("-o", tmp_path / "trace", victim, "none", env=os.environb | {b"HDTRACE_CONFIG": wrong})
    assert result.returncode == USAGE and "did you mean Isend?" in result.stderr


def test_a_launcher_of_another_mpi_library(tmp_path, victim):
    """Each process is a world of its own; here one comes after the other, so that both names are free."""
    launcher = tmp_path / "mpirun"
    launcher.write_text(f'#!/bin/sh\n[ "$1" = -n ] || exec {MPIRUN} "$@"\nshift 2\nfor rank in 0 1; do PMI_SIZE=2 PMI_RANK=$rank "$@"; done\n')
    launcher.chmod(0o755)
    result = record("-o", tmp_path / "trace", launcher, "-n", "2", victim, "none")
    assert result.stderr.count("the launcher has started 2 processes, but each is alone in its MPI_COMM_WORLD") == 1
    assert "2 runs, exit code 0" in result.stderr and len(list((tmp_path / "trace").glob("*.proj"))) == 2


@pytest.mark.parametrize("options", [[], ["--force-flush"]])
def test_a_run_that_is_killed_before_anything_is_written(tmp_path, victim, options):
    """It says how that is avoided, and so it is."""
    result = record(*options, victim, "vanish", cwd=tmp_path)
    assert result.returncode == 7
    assert ("with --force-flush each call is written at once" in result.stderr) is not bool(options)
    assert ("0 calls in" in result.stderr) is not bool(options)


def test_a_run_whose_files_cannot_be_written(tmp_path, victim):
    """Nobody killed it."""
    result = record(victim, "write", cwd=tmp_path)
    assert result.returncode == 0
    assert "\nThe files of the trace could not be written to the end\n" in result.stderr and "were killed" not in result.stderr


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_process_is_left_behind(tmp_path, victim, is_complete):
    """As MPICH 4.2's launcher leaves those that are busy when another one fails."""
    launcher = tmp_path / "mpirun"
    launcher.write_text(f"""#!/bin/sh
        [ $1 != --version ] || {{ echo 'mpirun (Open MPI) 4.1.4'; exit; }}
        shift 2
        "$@" >out 2>&1 &
        echo $! >process
        until grep -q waiting out; do sleep 0.01; done
        {'(while kill -0 $$; do sleep 0.01; done; kill $!) >/dev/null 2>&1 &' if is_complete else ''}""")
    launcher.chmod(0o755)
    result = record("-o", tmp_path / "run", launcher, "-n", "1", victim, "wait", cwd=tmp_path)
    process = int((tmp_path / "process").read_text())
    if not is_complete:
        os.kill(process, signal.SIGKILL)
    told = rf"processes of the run that have not ended: {process}. The project has what they have written until now. When they have ended: (.*)"
    assert result.returncode == 0 and (tmp_path / "run/victim.proj").exists()
    later = re.search(told, result.stderr)
    assert (later is None) == is_complete
    if later:
        assert run(BUILD / "bin/hdtrace", *shlex.split(later[1])[1:]).returncode == 0


def test_what_record_ignored_it_ignores_behind_the_run(tmp_path, victim):
    """As behind nohup. The signal comes when the launcher has ended, and record waits for a process."""
    launcher = tmp_path / "mpirun"
    launcher.write_text("""#!/bin/sh
        [ $1 != --version ] || { echo 'mpirun (Open MPI) 4.1.4'; exit; }
        shift 2
        "$@" >out 2>&1 &
        until grep -q waiting out; do sleep 0.01; done
        (while kill -0 $$; do sleep 0.01; done; sleep 0.5; kill -HUP $PPID; kill $!) >/dev/null 2>&1 &""")
    launcher.chmod(0o755)
    words = [HDTRACE, "record", "-o", "run", launcher, "-n", "1", victim, "wait"]
    assert run("sh", "-c", 'trap "" HUP; exec "$@"', "sh", *words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "run/victim.proj").exists()


def test_signals_reach_the_program(tmp_path, victim):
    with subprocess.Popen([HDTRACE, "record", "--quiet", victim, "wait"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM
    assert len(list(folder_in(tmp_path).glob("*.proj"))) == 1


def test_the_program_has_the_terminal(tmp_path, victim):
    script = "import os, sys; print([os.isatty(number) for number in range(3)])"
    primary, secondary = pty.openpty()
    with subprocess.Popen([HDTRACE, "record", sys.executable, "-c", script], cwd=tmp_path, stdin=secondary, stdout=secondary, stderr=secondary) as child:
        os.close(secondary)
        assert b"[True, True, True]" in os.read(primary, 1000)
        child.wait(60)
    os.close(primary)


def test_findings_are_told(tmp_path, victim):
    result = record("--check", victim, "die", cwd=tmp_path)
    assert result.returncode == 128 + signal.SIGSEGV
    assert "SIGSEGV ended the process after its last call" in result.stderr


def test_a_quiet_check_says_nothing_when_all_is_well(tmp_path, victim):
    result = record("--quiet", "--check", victim, "none", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


SPAWNER = """
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    else
        child = parent;
    MPI_Comm_disconnect(&child);
    MPI_Finalize();
}
"""


@pytest.mark.parametrize("options, follows", [([], False), (["--follow"], True)])
def test_children_that_are_not_traced_are_told(tmp_path, options, follows):
    need_several_programs()
    spawner = compile_text("mpicc", tmp_path / "spawner", SPAWNER)
    result = record(*options, "-o", "run", MPIRUN, "-n", "1", spawner, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert ("spawned are not in the trace: hdtrace record --follow" in result.stderr) is not follows, result.stderr
    assert ("spawner: 2 processes" in result.stderr) is follows


def test_children_that_never_were_are_not_told(tmp_path):
    """With MPICH: Open MPI ends the program."""
    failing = SPAWNER.replace("MPI_Comm_get_parent(", "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); MPI_Comm_get_parent(")
    failing = failing.replace("argv[0], MPI_ARGV_NULL", '"/nonexistent", MPI_ARGV_NULL').replace("MPI_Comm_disconnect(&child);", "")
    spawner = compile_text("mpicc.mpich", tmp_path / "spawner", failing)
    untraced = subprocess.run(["timeout", "-k", "1", "20", "mpiexec.mpich", "-n", "1", spawner], stdin=subprocess.DEVNULL, capture_output=True)
    if untraced.returncode in (124, 128 + signal.SIGKILL):  # of timeout: after its TERM or its KILL
        subprocess.run(["pkill", "-KILL", "-f", str(spawner)])
        pytest.skip("this MPICH waits for a child that could not be started")
    result = record("-o", "run", "mpiexec.mpich", "-n", "1", spawner, cwd=tmp_path)
    assert result.returncode == 0 and "spawner: 1 process" in result.stderr, result.stderr
    assert "spawned" not in result.stderr


def test_runs_of_a_script_keep_apart(tmp_path, victim):
    launch = f"{shlex.quote(str(MPIRUN))} -n"
    (tmp_path / "job.sh").write_text(f"{launch} 3 {victim} none\n{launch} 2 {victim} none\n{victim} none\n{victim} seven\n")
    result = record("--follow", "--check", "-o", "run", "sh", "job.sh", cwd=tmp_path)
    assert result.returncode == 7
    projects = re.findall(r"^victim-[\w-]+: (\d) process(?:es)?, 1 host, \d+ calls: (run/victim-[\w-]+\.proj)$", result.stderr, re.M)
    assert [processes for processes, _ in projects] == ["3", "2", "1", "1"], result.stderr
    assert "4 runs, exit code 7" in result.stderr and f"hdtrace stats {projects[0][1]} --by call" in result.stderr
    assert {str(path.relative_to(tmp_path)) for path in (tmp_path / "run").glob("*.proj")} == {path for _, path in projects}
    assert "earlier run" not in result.stderr and result.stderr.count("nothing wrong was found") == 4


@pytest.mark.parametrize("place", ["environment", "file"])
def test_runs_of_a_script_need_not_keep_apart(tmp_path, victim, place):
    settings = tmp_path / "settings"
    settings.write_text("runs-apart = 0\n")
    chosen = {"HDTRACE_RUNS_APART": "0"} if place == "environment" else {"HDTRACE_CONFIG": str(settings)}
    result = record("--follow", "-o", "run", "sh", "-c", f"{victim} none; {victim} none", cwd=tmp_path, env={**os.environ, **chosen})
    assert [path.name for path in (tmp_path / "run").glob("*.proj")] == ["victim.proj"], result.stderr


# ---- what goes wrong ----

def through_shell(redirections, *words, cwd):
    """Of the command with these redirections."""
    return run("sh", "-c", f'"$@" {redirections}', "sh", *words, cwd=cwd)


@pytest.mark.parametrize("options, redirections", [
    *(([], redirections) for redirections in (">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full", ">/dev/full 2>&1")),
    *(([option], redirections) for option in ("--quiet", "--check", "--follow") for redirections in (">&-", ">/dev/full 2>&1")),
])
def test_the_exit_code_is_the_programs_whatever_can_be_written(tmp_path, victim, options, redirections):
    result = through_shell(redirections, HDTRACE, "record", *options, "-o", "run", victim, "seven", cwd=tmp_path)
    assert result.returncode == 7 and "Traceback" not in result.stderr
    assert list((tmp_path / "run").glob("*.proj"))


@pytest.mark.parametrize("redirections", [">&-", "2>/dev/full"])
def test_the_exit_code_is_the_launchers_whatever_can_be_written(tmp_path, victim, redirections):
    result = through_shell(redirections, HDTRACE, "record", "-o", "run", MPIRUN, "-n", "2", victim, "seven", cwd=tmp_path)
    assert result.returncode == 7 and "Traceback" not in result.stderr


@pytest.mark.parametrize("end", ["seven", "vanish"])
def test_a_run_is_merged_though_nobody_reads_what_is_said(tmp_path, victim, end):
    """Of the one that vanishes the merger has something to say."""
    inner = f"sleep 1; {HDTRACE} record -o run {victim} {end} >/dev/null; echo $? >code"
    assert run("sh", "-c", f"({inner}) 2>&1 | true; until [ -s code ]; do sleep 0.1; done", cwd=tmp_path).returncode == 0
    assert (tmp_path / "code").read_text() == "7\n" and (tmp_path / "run/victim.proj").exists()


@pytest.mark.parametrize("redirections", ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", "3>&1 7<&0"])
def test_the_program_has_the_descriptors_that_it_has_untraced(tmp_path, redirections):
    script = """
import fcntl
def tell(number):
    try:
        return fcntl.fcntl(number, fcntl.F_GETFL)
    except OSError:
        return "closed"
told = [tell(number) for number in range(10)]
print(told, file=open("told", "w"))
"""
    told = []
    for tracer in [], [HDTRACE, "record", "-o", "run"]:
        through_shell(redirections, *tracer, sys.executable, "-c", script, cwd=tmp_path)
        told.append((tmp_path / "told").read_text())
    assert told[0] == told[1]


def test_signals_do_in_the_program_what_they_do_untraced(tmp_path):
    command = ["grep", "SigIgn", "/proc/self/status"]
    assert record("-o", "run", *command, cwd=tmp_path).stdout == run_well(*command)


@pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}])
def test_the_program_has_the_locale_that_it_has_untraced(tmp_path, locale):
    """Python changes its own in the C locale."""
    result = record("-o", "run", "printenv", "LC_CTYPE", cwd=tmp_path, env={"PATH": os.environ["PATH"], **locale})
    assert result.stdout.split() == list(locale.values())


def test_nothing_was_recorded(tmp_path):
    result = record("sh", "-c", "exit 3", cwd=tmp_path)
    assert result.returncode == 3
    assert "hdtrace: nothing was recorded: sh ended with exit code 3 and did not call MPI_Init" in result.stderr
    assert "if sh starts MPI programs: hdtrace record --follow" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_that_was_there_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    for name in ("folder", "link"):
        assert "Not a directory" not in record("-o", name, "true", cwd=tmp_path).stderr
        assert (tmp_path / name).is_dir()


def test_the_folder_is_removed_while_the_program_runs(tmp_path, victim):
    """Which the program does not notice; nor does who looks at its exit code."""
    launcher = tmp_path / "mpirun"
    launcher.write_text(f"#!/bin/sh\n[ $1 != --version ] || {{ echo 'mpirun (Open MPI) 4.1.4'; exit; }}\nshift 2\n{MPIRUN} -n 2 \"$@\"\nrm -r run\nsleep 3\nexit 7\n")
    launcher.chmod(0o755)
    result = record("--stuck-seconds", "1", "-o", "run", launcher, "-n", "2", victim, "none", cwd=tmp_path)
    assert result.returncode == 7 and "Traceback" not in result.stderr
    assert "not looked at any more: run: No such file or directory" in result.stderr


def test_memory_is_short_behind_the_run(tmp_path, victim):
    """As for a large trace where a batch system limits it."""
    script = f"""
import sys, hdtrace.cli.main, hdtrace.cli.record
def fail(*_, **__):
    raise MemoryError
hdtrace.cli.record._tell_of_run = fail
sys.argv[0] = "{HDTRACE}"
sys.exit(hdtrace.cli.main.main())
"""
    result = run(sys.executable, "-c", script, "record", "-o", "run", victim, "die", cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(BUILD / "python")})
    assert result.returncode == 128 + signal.SIGSEGV and "Traceback" not in result.stderr and "MemoryError" in result.stderr


@pytest.mark.parametrize("launcher, code, why", [
    ("mpirun.missing", NOT_FOUND, "command not found"), ("./srun", NOT_FOUND, "No such file or directory"), ("./mpirun", NOT_EXECUTABLE, "Permission denied")])
def test_a_launcher_that_cannot_be_started(tmp_path, launcher, code, why):
    (tmp_path / "mpirun").write_text("data")
    result = record(launcher, "-n", "2", "./app", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (code, f"hdtrace: record: {launcher}: {why}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mpirun"]


@pytest.mark.parametrize("program, code", [("./nothing", NOT_FOUND), ("./data", NOT_EXECUTABLE)])
def test_programs_that_cannot_be_run(tmp_path, program, code):
    (tmp_path / "data").write_text("data\n")
    result = record(program, cwd=tmp_path)
    assert result.returncode == code and program in result.stderr


def test_a_folder_that_is_not_empty(tmp_path, victim):
    (tmp_path / "old").mkdir()
    (tmp_path / "old/file").write_text("")
    result = record("-o", "old", victim, "none", cwd=tmp_path)
    assert result.returncode == USAGE and "old is there and not empty" in result.stderr


@pytest.mark.parametrize("words, reason", [
    ([], "which program?"), (["--"], "which program?"), (["mpirun", "hdtrace-run", "./app"], "put no hdtrace-run into the command")])
def test_wrong_usage(tmp_path, words, reason):
    result = record(*words, cwd=tmp_path)
    assert result.returncode == USAGE and reason in result.stderr
