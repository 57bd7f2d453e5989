"""Compiles programs, runs each with the tracer, and asks hdtrace check what is wrong. README.md tells how it is used."""
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
NOT_HAD = 77  # the exit code of a program that needs what the MPI library does not have
SECONDS = 20  # for programs that should end, unless another number is asked for
SECONDS_IF_HANGING = 2  # after all processes have begun
CHECK_SECONDS = 60


@dataclass
class Result:
    name: str
    family: str
    form: str
    kinds: list  # that are expected; none: the program is correct
    lines: list
    mpi: str
    ended: str = ""  # "0", another exit code, or "hung"
    wrong: bool = False  # what the exit code of hdtrace check says
    findings: list = field(default_factory=list)  # [kind, [[file, line], ...], text]
    problem: str = ""  # why it could not be run or checked
    is_missing: bool = False  # the MPI library has not what it needs
    is_compiled: bool = True

    @property
    def kind_is_right(self):
        return any(self._is_expected(kind) for kind, _, _ in self.findings)

    def _is_expected(self, kind):
        return any(fnmatch.fnmatch(kind, pattern) for pattern in self.kinds)

    @property
    def line_is_right(self):
        """One of the findings of the right kind, or if there is none, any, names one of the lines."""
        of_kind = [places for kind, places, _ in self.findings if self._is_expected(kind)]
        places = [place for found in of_kind or [places for _, places, _ in self.findings] for place in found]
        return any(line in self.lines for _, line in places)


class NotCompiled(Exception):
    """What the compiler says."""


class Builder:
    """Makes programs of texts, in a folder of its own."""

    def __init__(self, settings, folder):
        self.settings, self.folder = settings, Path(folder)

    def build_all(self, programs):
        """C programs become one executable, since a compiler's start takes longer than its work; -> name -> command."""
        for program in programs:
            (self.folder / program.file_name).write_text(program.text, encoding="utf-8")
        shutil.copy(HERE / "collection.h", self.folder)
        in_c = [program for program in programs if program.language == "c"]
        commands = {}
        if in_c:
            (self.folder / "collection.c").write_text(_driver(in_c), encoding="utf-8")
            self.compile(self.settings["compiler"], "collection.c", "collection", "-pthread")
            commands = {program.name: [str(self.folder / "collection"), program.name] for program in in_c}
        for program in programs:
            if program.language == "python":
                commands[program.name] = ["/usr/bin/python3", str(self.folder / program.file_name)]
            elif program.language == "fortran":
                self.compile(_beside(self.settings["compiler"], "mpifort"), program.file_name, program.name)
                commands[program.name] = [str(self.folder / program.name)]
        return commands

    def build_one(self, program):
        """-> command, of a program with a path"""
        if program.language == "python":
            return ["/usr/bin/python3", str(program.path)]
        compiler = self.settings["compiler"] if program.language == "c" else _beside(self.settings["compiler"], "mpifort")
        self.compile(compiler, str(program.path), program.name, "-pthread", "-lm", f"-I{program.path.parent}")
        return [str(self.folder / program.name)]

    def compile(self, compiler, source, output, *options):
        command = [compiler, "-g", "-O0", "-w", "-fmax-errors=5", "-o", output, source, *options]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if result.returncode:
            raise NotCompiled(f"{self.folder / source} cannot be compiled:\n{result.stderr}")


def _beside(compiler, name):
    """mpifort.mpich for mpicc.mpich."""
    return compiler.replace("mpicc", name)


GLOBAL = ("main", "run", "used")  # what programs define outside functions


def _driver(programs):
    """Includes all programs, each with other names for what is global, so that lines and files are those of the programs."""
    suffixes = {program: "_of_" + program.name.replace("-", "_") for program in programs}
    parts = ['#include "collection.h"']
    for program, suffix in suffixes.items():
        include = "\n".join([*(f"#define {name} {name}{suffix}" for name in GLOBAL), f'#include "{program.file_name}"',
                             *(f"#undef {name}" for name in GLOBAL)])
        parts.append(f"#if {program.needs}\n{include}\n#endif" if program.needs else include)
    rows = []
    for program, suffix in suffixes.items():
        row = f'    {{"{program.name}", main{suffix}}},'
        rows.append(f"#if {program.needs}\n{row}\n#endif" if program.needs else row)
    parts += ["static const struct {\n    const char* name;\n    int (*run)(int, char**);\n} programs[] = {", *rows, "};",
              "int main(int argc, char** argv)\n{\n    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {\n"
              "        if (strcmp(argv[1], programs[i].name) == 0) {\n            return programs[i].run(argc, argv);\n        }\n    }\n"
              f"    return {NOT_HAD};\n}}\n"]
    return "\n".join(parts)


class Runner:
    """Runs programs with the tracer and checks their traces."""

    def __init__(self, build, folder, options=(), seconds=SECONDS):
        self.build, self.folder, self.seconds = Path(build).resolve(), Path(folder), seconds
        self.settings = json.loads((self.build / "tests/mpi/settings.json").read_text())
        self.options = ["--for-check", "--all-functions=2", *options]  # as hdtrace record --check
        self.check = [str(self.build / "bin/hdtrace"), "check", "--strict", "--json"]
        self.environment = os.environ | {"MPIEXEC": self.settings["mpiexec"], "OMPI_MCA_pml": "ob1", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, program, command):
        """command: a function that gives it; -> Result"""
        result = Result(program.name, program.family, program.form, list(program.kinds), list(program.lines), self.settings["mpi"])
        if program.language == "python" and self.settings["mpi"] != "Open MPI":  # Debian's mpi4py is for that one
            result.is_missing = True
            return result
        directory = self.folder / f"run-{program.name}"
        directory.mkdir()
        try:
            result.ended, output = self._trace(program, command(), directory)
            if result.ended == str(NOT_HAD):
                result.is_missing = True
            else:
                self._check(directory, result, output)
        except NotCompiled as error:
            result.problem, result.is_compiled = str(error), False
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        return result

    def _trace(self, program, command, directory):
        full = [str(SOURCE / "scripts/mpirun"), "-n", str(program.ranks), str(self.build / "bin/hdtrace-run"), "-d", str(directory / "trace"),
                *self.options, *command, *program.arguments]
        # Runs that share Open MPI's folder fall over each other: the one that ends removes it while another begins.
        environment = self.environment | {"OMPI_MCA_orte_tmpdir_base": str(directory)}
        with open(directory / "output", "w+b") as output:
            run = subprocess.Popen(full, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=directory,
                                   env=environment, start_new_session=True)
            if program.hangs:
                _wait_for_traces(run, directory / "trace", program.ranks)
            ended = _end_of(run, SECONDS_IF_HANGING if program.hangs else self.seconds)
            output.seek(0)
            return ended, output.read().decode(errors="replace")

    def _check(self, directory, result, output):
        trace = directory / "trace"
        if not trace.exists() or not any(trace.iterdir()):
            result.problem = f"no trace: {output[-2000:]}"
            return
        try:
            check = subprocess.run([*self.check, str(trace)], capture_output=True, text=True, timeout=CHECK_SECONDS, env=self.environment)
        except subprocess.TimeoutExpired:
            result.problem = "hdtrace check does not end"
            return
        result.wrong = check.returncode == 1
        try:
            answer = json.loads(check.stdout)
        except json.JSONDecodeError:
            result.problem = f"hdtrace check: {check.stderr.strip()[-300:]}"
            return
        for finding in answer["findings"] if isinstance(answer, dict) else answer:
            result.findings.append([finding["kind"], list(_places(finding)), finding["text"]])


def _places(finding):
    """Every place of the program that a finding names."""
    for site in (finding.get("site"), finding.get("other_site"), *(finding.get("sites") or [])):
        for frame in (site or {}).get("frames") or ([site] if site else []):
            if frame.get("file"):
                yield [os.path.basename(frame["file"]), frame["line"]]
                break  # the callers are the driver


def _wait_for_traces(run, directory, count):
    """On a busy machine processes may take long to begin."""
    latest = time.monotonic() + SECONDS
    while run.poll() is None and time.monotonic() < latest and len(list(directory.glob("*.trc"))) < count:
        time.sleep(0.05)


def _end_of(run, seconds):
    """How it ended; who hangs is asked to end, as a batch system does it."""
    try:
        return str(run.wait(seconds))
    except subprocess.TimeoutExpired:
        pass
    run.send_signal(signal.SIGTERM)
    try:
        run.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    return "hung"


def run_all(programs, build, jobs=2, options=(), folder=None, seconds=SECONDS, progress=None):
    """Results of all programs, in their order."""
    with tempfile.TemporaryDirectory(prefix="hdtrace-collection-", ignore_cleanup_errors=True) as temporary:
        runner = Runner(build, folder or temporary, options, seconds)
        builder = Builder(runner.settings, runner.folder)
        commands = builder.build_all([program for program in programs if program.path is None])

        def run(program):
            result = runner.run(program, lambda: commands.get(program.name) or builder.build_one(program))
            if progress:
                progress(result)
            return result

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(run, programs))


def save(results, path):
    Path(path).write_text(json.dumps([asdict(result) for result in results], indent=1), encoding="utf-8")


def load(path):
    return [Result(**entry) for entry in json.loads(Path(path).read_text(encoding="utf-8"))]
