"""Runs of programs that several files of tests look at: whoever wants one first makes it, also for the other processes of ctest."""
import fcntl
import hashlib
import pickle
import shutil
import time
from dataclasses import fields

from .project import Project
from .runs import BUILD, LAUNCHER, MERGER, WRAPPER, Run, program, run_with_tracer

FOLDER = BUILD / "tests/runs"
LONGEST = 3600  # seconds for which a run is looked at again


def _is_current(kept, name):
    """Whether the run was made by this build, and not long ago."""
    if not kept.exists():
        return False
    made = kept.stat().st_mtime
    return time.time() - made < LONGEST and all(path.stat().st_mtime < made for path in (LAUNCHER, MERGER, WRAPPER, program(name)))


def shared_run(name, ranks, **options):
    """What run_with_tracer() returns, merged. Its files are others' as well: they are to be read only."""
    way = hashlib.sha256(repr((str(name), ranks, sorted(options.items()))).encode()).hexdigest()[:8]
    directory = FOLDER / f"{program(name).name}-{ranks}-{way}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(f"{directory}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = directory / "run.pickle"
        if not _is_current(kept, name):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            run = run_with_tracer(name, ranks, directory, **options)
            assert run.project
            kept.write_bytes(pickle.dumps({field.name: getattr(run, field.name) for field in fields(run)}))
            return run
    run = Run(**pickle.loads(kept.read_bytes()))
    path, = run.trace_directory.glob("*.proj")
    run.project = Project(path)  # which was merged then
    return run
