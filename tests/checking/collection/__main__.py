"""Runs the collection, or a folder of other programs, and says what hdtrace check finds in it."""
import argparse
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import describe  # noqa: E402
import foreign  # noqa: E402
import run  # noqa: E402
import score  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", action="append", help="folder of a build; may be given for each MPI library (default: build/dev)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name or family this is found in")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth program of each family, and its twin")
    parser.add_argument("--jobs", type=int, default=2, help="programs that run at once (default: 2)")
    parser.add_argument("--seconds", type=int, default=run.SECONDS, help=f"after which a program is ended that hangs (default: {run.SECONDS})")
    parser.add_argument("--results", default=str(run.SOURCE / "build/collection.json"),
                        help="where all results are written (default: build/collection.json)")
    parser.add_argument("--page", help="where the tables are written as Markdown")
    parser.add_argument("--foreign", metavar="FOLDER", help="run the programs of this folder instead, which tell in comments what is wrong in them")
    parser.add_argument("--labels", metavar="FILE", help="with --foreign: what is wrong in which, see README.md")
    parser.add_argument("--wrong", metavar="REGEX", help="with --foreign: what the paths of wrong programs look like; all others are correct")
    parser.add_argument("--write", metavar="FOLDER", help="only write the programs")
    arguments = parser.parse_args()

    known = list(foreign.load(arguments.foreign, arguments.labels, arguments.wrong)) if arguments.foreign else describe.load()
    programs = describe.some(known, arguments.only, arguments.every)
    if not programs:
        parser.error("no program is chosen")
    if arguments.write:
        folder = Path(arguments.write)
        folder.mkdir(parents=True, exist_ok=True)
        for program in programs:
            (folder / program.file_name).write_text(program.text, encoding="utf-8")
        return
    results = []
    for build in arguments.build or [str(run.SOURCE / "build/dev")]:
        results += run.run_all(programs, build, arguments.jobs, seconds=arguments.seconds, progress=score.tell_if_not_as_expected)
    run.save(results, arguments.results)
    print(score.summary(results))
    if arguments.page:
        Path(arguments.page).write_text(score.page(results, f"/usr/bin/python3 tests/checking/collection {shlex.join(sys.argv[1:])}"), encoding="utf-8")


try:
    main()
except (describe.DescriptionError, run.NotCompiled) as error:
    sys.exit(f"collection: {error}")
