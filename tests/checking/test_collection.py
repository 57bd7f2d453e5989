"""A part of the collection of small programs with errors, and the language that describes them; all of it is run by hand."""
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "collection"
sys.path.insert(0, str(FOLDER))

import describe  # noqa: E402
import foreign  # noqa: E402
import run  # noqa: E402
import score  # noqa: E402
from support.runs import BUILD, SOURCE  # noqa: E402

EVERY = 30  # of each kind; all together take minutes
LEAST = {"recall": 0.85, "specificity": 0.97}  # a library that falls over its own end in a correct program is an alarm


@pytest.fixture(scope="module")
def programs():
    return describe.load()


@pytest.fixture(scope="module")
def results(programs):
    return run.run_all(describe.some(programs, every=EVERY), BUILD)


def told(results):
    return "\n".join(score.explain(result) for result in results if score.verdict(result))


def test_errors_are_found_and_correct_programs_are_not_suspected(results):
    total = score.score(results)
    assert all(getattr(total, name) >= least for name, least in LEAST.items()), told(results)


def test_programs_run_as_they_are_described(results):
    assert all(result.is_compiled for result in results), told(results)
    assert not [result for result in results if not result.kinds and result.ended != "0" and not result.is_missing], told(results)


def test_there_are_programs_of_each_kind(programs):
    kinds = tomllib.loads((SOURCE / "hdtrace/checking/kinds.toml").read_text(encoding="utf-8"))
    described = {kind for program in programs for kind in program.kinds}
    assert described <= set(kinds)
    of_files = {"missing", "cut-off", "reference", "schema", "unfinished", "reversed-message"}
    notes = {name for name, kind in kinds.items() if kind["severity"] == "note"}  # of correct programs
    assert set(kinds) - described == of_files | notes


def test_a_program_and_its_twin_differ_where_the_error_is(programs):
    by_name = {program.name: program for program in programs}
    for program in programs:
        assert len([other for other in programs if other.name == program.name]) == 1
        if program.twin:
            assert by_name[program.twin].text.split("\n")[1:] != program.text.split("\n")[1:], program.name


def test_marked_lines_do_something(programs):
    """A line that is expected in a finding calls something, or stores to memory."""
    for program in programs:
        lines = program.text.split("\n")
        assert all(re.search(r"\w\(|\] = |^$", lines[line - 1].strip()) for line in program.lines), program.name


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


TEXT = "/*\n  $ mpirun -np {} ${{EXE}}\n  | {}\n*/\nint main(void) {{ return 0; }}\n"


def test_foreign_programs_tell_what_is_wrong_in_them(tmp_path):
    write(tmp_path, "a.c", TEXT.format(3, "ERROR: ResourceLeak"))
    write(tmp_path, "b.c", TEXT.format(2, "OK"))
    write(tmp_path, "c.c", "int part;\n")
    a, b = foreign.load(tmp_path)
    assert (a.ranks, a.kinds, b.ranks, b.kinds) == (3, ("*-not-freed", "*-not-closed"), 2, ())


def test_foreign_programs_have_labels_in_a_file(tmp_path):
    write(tmp_path, "a.c", "int main(void) {}\n")
    write(tmp_path, "b.c", "int main(void) {}\n")
    write(tmp_path, "labels", "# path kinds lines ranks\na.c message-not-sent,deadlock 3,4 3\nb.c -\n")
    a, b = foreign.load(tmp_path, labels=tmp_path / "labels")
    assert (a.kinds, a.lines, a.ranks, b.kinds) == (("message-not-sent", "deadlock"), (3, 4), 3, ())


def test_foreign_programs_are_wrong_by_their_names(tmp_path):
    for name in ("a_nok.c", "b_ok.c"):
        write(tmp_path, name, "int main(void) {}\n")
    assert [bool(program.kinds) for program in foreign.load(tmp_path, wrong="_nok")] == [True, False]


def test_a_foreign_folder_is_run(tmp_path):
    (tmp_path / "programs").mkdir()
    write(tmp_path / "programs", "leaves.c", '#include <mpi.h>\nint main(int c, char** v)\n{\n    MPI_Init(&c, &v);\n    int b = 0;\n'
          "    MPI_Recv(&b, -1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);\n    return MPI_Finalize();\n}\n")
    write(tmp_path, "labels", "leaves.c * 6 1\n")
    command = [sys.executable, FOLDER, "--build", BUILD, "--foreign", tmp_path / "programs", "--labels", tmp_path / "labels", "--results",
               tmp_path / "results.json"]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120).returncode == 0
    (result,) = run.load(tmp_path / "results.json")
    assert result.wrong
    assert result.kind_is_right
    assert result.line_is_right


def test_mistakes_in_labels_are_told(tmp_path):
    write(tmp_path, "a.c", "int main(void) {}\n")
    write(tmp_path, "labels", "a.c deadlock many\n")
    command = [sys.executable, FOLDER, "--foreign", tmp_path, "--labels", tmp_path / "labels"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert answer.returncode != 0
    assert "labels:1: not `path kinds [lines [ranks]]`" in answer.stderr
