"""What all tests share: the build that they test, and what a failed assertion about a trace says."""
import os
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("TESTED_BUILD", TESTS.parent / "build/dev"))
sys.path[:0] = [str(TESTS), str(BUILD / "python")]
pytest.register_assert_rewrite("support")

# Runs of Open MPI that begin and end at the same time fall over each other in its usual folder, which the last one removes; what a
# killed one of Open MPI 5 leaves there is in the way of another launcher with its process number.
_MPI_FOLDER = tempfile.TemporaryDirectory(prefix="hdtrace-mpi-", ignore_cleanup_errors=True)
for launcher in ("OMPI_MCA_orte", "PRTE_MCA_prte"):
    os.environ[f"{launcher}_tmpdir_base"] = _MPI_FOLDER.name
# What it chooses anyway where there is no fabric; to look for one takes each MPI_Init 0.2 s.
os.environ.setdefault("OMPI_MCA_pml", "ob1")
# Else each MPI_Init, and each mpirun, looks for graphics cards with OpenCL: 0.1 s of processor time of each process.
os.environ.setdefault("HWLOC_COMPONENTS", "-opencl")


@pytest.fixture(scope="session")
def folder_with_short_name():
    """MPI's hints, which have room for 255 letters, tell children where their traces go."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as folder:
        yield Path(folder)


def pytest_assertrepr_compare(op, left, right):
    if type(left).__name__ == "Call":
        return left.explain(op, right)
    return None
