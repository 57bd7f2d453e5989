"""What EZTrace has recorded of programs, imported, is what hdtrace has recorded of them."""
import os
import shutil
import subprocess
from collections import Counter

import pytest
from importing import findings, import_well, states, works_with_everything
from support.runs import SOURCE, only_with, program

pytestmark = [pytest.mark.skipif(shutil.which("eztrace") is None, reason="eztrace is not installed"), only_with("Open MPI")]

def version():
    """As 2.0.0."""
    return subprocess.run(["eztrace", "--version"], capture_output=True, text=True, check=False).stdout.split()[-1]


#: From EZTrace 2.1 on it does not record messages of some sends, nor bytes of collective operations, and ends at persistent requests.
records_all = pytest.mark.skipif(shutil.which("eztrace") is not None and not version().startswith("2.0."), reason="this EZTrace records less")
PROGRAMS = ["receive", "isend_modes", "collectives", "sub_communicator", "persistent"]
NOT_RECORDED = {"Init", "Finalize", "Buffer_attach", "Buffer_detach", "Request_free", "Exscan", "Reduce_scatter_block"}
NO_ENDS = "EZTrace did not record the ends of most operations"
WITHOUT_MESSAGES = ("Sendrecv", "Sendrecv_replace")  # of which EZTrace tells the call only


@pytest.fixture(scope="session")
def imported(tmp_path_factory):
    """imported(program) -> the project, and what the command told"""
    done = {}

    def of_program(name):
        if name not in done:
            folder = tmp_path_factory.mktemp(name)
            subprocess.run([SOURCE / "scripts/mpirun", "-n", "4", "eztrace", "-t", "openmpi", "-o", folder / "eztrace", program(name)],
                           cwd=folder, env=os.environ | {"EZTRACE_MPI_MODE": "1"}, capture_output=True, check=True, timeout=60)  # later versions want to be told
            archive, = folder.glob("eztrace/**/eztrace_log.otf2")
            done[name] = folder / "app.proj", import_well(folder / "app.proj", archive)
        return done[name]

    return of_program


def calls(project):
    """(rank, call), without those inside others."""
    return [(rank, state) for rank in range(4) for state in states(project, rank) if state.name not in NOT_RECORDED and state.name != "Event"]


def messages(project, *attributes):
    """(call, rank, ...) -> how many calls have these attributes."""
    return Counter((call.name, rank, *(call.attributes[name] for name in attributes)) for rank, call in calls(project)
                   if set(attributes) <= call.attributes.keys() and call.name not in WITHOUT_MESSAGES)


@pytest.mark.parametrize("name", [*PROGRAMS[:-1], pytest.param("persistent", marks=records_all)])
def test_each_process_makes_the_same_calls(name, traced, imported):
    def counts(project):
        return Counter((rank, call.name) for rank, call in calls(project))

    assert counts(imported(name)[0]) == counts(traced(name))


@pytest.mark.parametrize("name", ["receive", "isend_modes", "sub_communicator"])
def test_messages_have_the_same_ends_tags_and_bytes(name, traced, imported):
    project, _ = imported(name)
    for attributes in (("toRank", "toTag", "size"), ("fromRank", "fromTag", "size")):
        found, expected = messages(project, *attributes), messages(traced(name), *attributes)
        assert found == {key: count for key, count in expected.items() if key[0] != "Irecv"}  # EZTrace does not tell what they get
        assert found or name == "isend_modes"  # which receives with Irecv only


@records_all
def test_collective_operations_have_the_same_bytes_and_roots(traced, imported):
    def operations(project):  # of Scan EZTrace tells the call only
        return Counter((rank, call.name, call.attributes.get("size"), call.attributes.get("rootRank")) for rank, call in calls(project) if call.name != "Scan")

    assert operations(imported("collectives")[0]) == operations(traced("collectives"))


def test_who_is_nobody_is_told(imported):
    _, told = imported("receive")
    assert "approximated: 8 messages with a negative rank: as with MPI_PROC_NULL, which nobody is" in told


@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_works_on_it(name, imported):
    works_with_everything(imported(name)[0], NO_ENDS)


@records_all
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_wrong_is_found(name, imported):
    assert not findings(imported(name)[0], NO_ENDS)
