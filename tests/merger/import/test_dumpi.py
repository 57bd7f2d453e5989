"""Traces of DUMPI: those that hdtrace-convert has made of real programs, and such as only DUMPI makes."""
import random
import struct
from collections import Counter

import hdtrace
import pytest
from importing import call, convert, findings, import_well, refused, states, works_with_everything

IDS = ("cid", "cid2", "newcid", "peerCid", "tid", "recvtid", "oldTid", "etid", "filetid", "targetTid", "fid", "wid", "rid", "initRid")
SAME = ["send_modes", "receive", "isend_modes", "completion", "persistent", "collectives", "vector_collectives", "intercomm_collectives",
        "sub_communicator", "communicators", "intercommunicators", "topologies", "groups", "datatypes", "pack", "operations", "windows",
        "io_explicit", "io_individual", "io_shared", "io_nonblocking", "io_views", "threads", "many_calls", "probe"]
# What these have no place for, or have in another form.
OTHERS = {"site", "amode", "flags", "group", "wtime", "Info", "displ"}
NOT_THERE = ("Dist_graph", "Neighbor_", "Ineighbor_", "Win_allocate", "Win_create_dynamic", "Comm_dup_with_info", "Comm_split_type", "Comm_idup",
             "Improbe", "Mprobe", "Mrecv", "Imrecv", "Isendrecv", "Reduce_scatter_block", "_all", "R", "Type_create_hindexed_block", "Get_acc", "Fetch",
             "Compare_and_swap")


def back(project, folder):
    """The same trace, by way of DUMPI's files."""
    meta, = convert(project, "dumpi", folder / "dumpi").glob("*.meta")
    import_well(folder / "back.proj", meta)
    return folder / "back.proj"


class Ids:
    """Ids of two traces of one process that mean the same."""

    def __init__(self):
        self.known = {}

    def check(self, kind, before, after):
        if before == "-1" or after == "-1":
            assert before == after
            return
        assert self.known.setdefault((kind, before), after) == after, (kind, before, after)


def kind_of(attribute):
    return {"tid": "type", "recvtid": "type", "oldTid": "type", "etid": "type", "filetid": "type", "targetTid": "type", "fid": "file",
            "wid": "window", "rid": "request", "initRid": "request"}.get(attribute, "communicator")


def compare(ids, before, after):
    """All that the one that was imported says the other one says, too."""
    assert before.name == after.name
    for name, value in after.attributes.items():
        if name in OTHERS or (name not in before and value in ("0", "-1")):  # there is always a place for some, with nothing
            continue
        assert name in before, (before, name, value)
        if name in IDS:
            ids.check(kind_of(name), before[name], value)
        else:
            assert before[name] == value, (before, name, value)


def children(state):
    ordered = sorted((child for child in state.children if child.name != "Info"), key=lambda child: child.name)
    return sorted(ordered, key=lambda child: (child.name, child.get("rank") or ""))


@pytest.mark.parametrize("program", SAME)
def test_what_was_converted_comes_back(program, traced, tmp_path):
    project = traced(program)
    copy = back(project, tmp_path)
    compared = 0
    for rank in range(4):
        ids = Ids()
        imported = Counter()
        after = states(copy, rank)
        for state in after:
            imported[state.name] += 1
        before = [state for state in states(project, rank) if imported[state.name] and not state.name.startswith(NOT_THERE)]
        names = {state.name for state in before}
        both = Counter(state.name for state in before)
        # Names of which DUMPI has the same calls; others stand for several.
        equal = {name for name in names if both[name] == imported[name]}
        for one, other in zip([state for state in before if state.name in equal], [state for state in after if state.name in equal]):
            compare(ids, one, other)
            if one.name not in ("Init", "Init_thread"):
                assert one.end == other.end and other.time in (one.time, one.end)  # after the collective operation that it ended
            if len(one.children) == len(other.children):  # not those that wait for what DUMPI does not have
                for child, copied in zip(children(one), children(other)):
                    compare(ids, child, copied)
                compared += 1
    assert compared >= 8


@pytest.mark.parametrize("program", ["send_modes", "isend_modes", "persistent", "completion", "sub_communicator", "intercommunicators", "threads"])
def test_messages_are_the_same(program, traced, tmp_path):
    def messages(path):
        with hdtrace.open(path) as project:
            return Counter((message.source, message.destination, message.tag, message.send.bytes, message.receive is not None)
                           for message in project.messages() if message.send)

    project = traced(program)
    assert messages(project) and messages(back(project, tmp_path)) == messages(project)


@pytest.mark.parametrize("program", ["send_modes", "collectives", "communicators", "io_explicit", "datatypes", "persistent", "windows", "operations", "intercomm_collectives"])
def test_everything_works_on_it(program, traced, tmp_path):
    copy = back(traced(program), tmp_path)
    later = "did not record functions that came after MPI 2"
    works_with_everything(copy, later)
    assert findings(copy, later).keys() <= findings(traced(program)).keys()


def test_regions_and_facts_of_the_run(traced, tmp_path):
    copy = back(traced("rules"), tmp_path)
    with hdtrace.open(copy) as project:
        assert project.process_count == 4
    text = copy.read_text()
    assert "Origin" in text and "DUMPI" in text and "<Command" in text


# --- files as DUMPI writes them ---

MAGIC = bytes.fromhex("ffaadd44554d5049")
COMM_GROUP, GROUP_INCL, CREATE = 72, 76, 85
SEND, RECV, ISEND, IRECV, WAIT, WAITALL, BARRIER, DUP, SPLIT, INIT, FINALIZE, ADDRESS = 0, 1, 8, 12, 13, 18, 52, 84, 86, 124, 125, 41
ALLREDUCE, PUT, WIN_CREATE, FENCE = 65, 143, 145, 146
INT, WORLD, ANY, MPI_2INTEGER, MINLOC, NO_OP, WINDOW = 9, 2, -1, 28, 11, 14, 4


class File:
    """A binary file, by its description alone."""

    def __init__(self, bias=1000, mask=0x4B, version=(1, 1, 0), start=1_700_000_000):
        self.body, self.mask, self.bias, self.version, self.start = b"", mask, bias, version, start

    def call(self, label, form, *values, time=1.0, end=None, thread=0):
        def moment(value):
            return struct.pack(">HI", int(value) % 65536, round(value % 1 * 1e9))
        times = moment(time) + moment(end if end is not None else time)
        self.body += struct.pack(">HB", label, self.mask) + (struct.pack(">H", thread) if self.mask & 0x40 else b"")
        self.body += (times if self.mask & 8 else b"") + struct.pack(">" + form, *values)
        return self

    def bytes(self, sizes=28):
        head = MAGIC + struct.pack(">ii", 0, self.bias)
        text = head + self.body + struct.pack(">H", 293)
        header = len(text)
        text += struct.pack(">BBBQH", *self.version, self.start, 4) + b"node" + struct.pack(">H", 4) + b"alex" + struct.pack(">II", 0, 0)
        footer = len(text)
        text += struct.pack(">Q", 0xF007FEE7) + struct.pack(">582I", *[0] * 582)
        types = len(text)
        text += struct.pack(f">I{sizes}i", sizes, *[4 if i == INT else 0 for i in range(sizes)])
        return text + MAGIC + struct.pack(">7Q", types, 0, 0, header, 8, footer, 0)


STATUS = "Iiibbi"


@pytest.fixture
def imported(tmp_path):
    """imported(File, ...) -> the path of the project"""

    def imported(*files):
        folder = tmp_path / "source"
        folder.mkdir()
        for rank, file in enumerate(files):
            (folder / f"dumpi-run-{rank:04}.bin").write_bytes(file.bytes())
        (folder / "dumpi-run.meta").write_text(f"hostname=node\nnumprocs={len(files)}\nusername=u\nstartime=1700000000\nfileprefix=dumpi-run\n"
                                               "version=1\nsubversion=1\nsubsubversion=0\n")
        import_well(tmp_path / "app.proj", folder / "dumpi-run.meta")
        return tmp_path / "app.proj"

    return imported


def test_communicators_are_found_by_what_all_did(imported):
    """The same number stands for different ones, and different numbers for the same."""
    even = File().call(SPLIT, "HiiH", WORLD, 0, 5, 7).call(SEND, "iHiiH", 1, INT, 1, 3, 7)
    odd = File().call(DUP, "HH", 3, 7).call(SPLIT, "HiiH", WORLD, 1, 0, 4).call(BARRIER, "H", 4)
    last = File().call(SPLIT, "HiiH", WORLD, 0, 9, 4).call(RECV, "iHiiH" + STATUS, 1, INT, 0, 3, 4, 1, 4, 0, 0, 0, 3)
    project = imported(even, odd, last)
    assert states(project, 0)[1]["toRank"] == "2" and states(project, 2)[1]["fromRank"] == "0"
    with hdtrace.open(project) as opened:
        message, = opened.messages()
        assert message.receive and (message.source, message.destination) == (0, 2)


def test_members_give_groups_of_their_own(imported):
    """Each two of four, the later one first."""
    def member(rank):
        pair = [rank // 2 * 2 + 1, rank // 2 * 2]
        file = File().call(COMM_GROUP, "HH", WORLD, 4).call(GROUP_INCL, "HiIiiH", 4, 2, 2, *pair, 5).call(CREATE, "HHH", WORLD, 5, 4)
        return file.call(SEND, "iHiiH", 1, INT, 0, 3, 4) if rank % 2 == 0 else file.call(RECV, "iHiiH" + STATUS, 1, INT, 1, 3, 4, 1, 4, 1, 0, 0, 3)

    with hdtrace.open(imported(*map(member, range(4)))) as opened:
        assert {(message.source, message.destination) for message in opened.messages() if message.receive} == {(0, 1), (2, 3)}


def test_requests_that_have_the_number_of_earlier_ones(imported):
    file = File()
    for tag in (5, 6):
        file.call(IRECV, "iHiiHI", 1, INT, 0, tag, WORLD, 2).call(ISEND, "iHiiHI", 1, INT, 0, tag, WORLD, 3)
        file.call(WAITALL, "iIII" + "I" + "iibbi" * 2, 2, 2, 2, 3, 2, 4, 0, 0, 0, tag, 99, 77, 3, 0, 5)
    waits = [state for state in states(imported(file), 0) if state.name == "Waitall"]
    assert [[(child["rid"], child.get("fromTag"), child.get("size")) for child in wait.children] for wait in waits] == [
        [("0", "5", "4"), ("1", None, None)], [("2", "6", "4"), ("3", None, None)]]


def test_what_is_not_kept_is_missing(imported):
    """A receive whose status the program ignored: nobody knows what came."""
    file = File(mask=0x48).call(RECV, "iHiiH", 4, INT, ANY, ANY, WORLD)
    receive, = states(imported(file), 0)
    assert receive["fromRank"] == "-1" and receive["fromTag"] == "-1" and receive.get("postedRank") is None


@pytest.mark.parametrize("call", [
    (ALLREDUCE, "iHBH", 1, MPI_2INTEGER, MINLOC, WORLD),  # a type that DUMPI has no name for
    (ALLREDUCE, "iHBH", 1, INT, NO_OP, WORLD),  # none of its own: what writers give where they know none
    (PUT, "iHiiiHH", 1, INT, 0, 2**31 - 1, 1, INT, WINDOW),  # an address, in a window that was made without memory
])
def test_what_files_cannot_tell_is_not_held_against_the_program(imported, call):
    file = File().call(WIN_CREATE, "iiHHH", 0, 1, 0, WORLD, WINDOW).call(FENCE, "BH", 0, WINDOW).call(*call).call(FENCE, "BH", 0, WINDOW)
    project = imported(file)
    assert [state.name for state in states(project, 0)] == ["Win_create", "Win_fence", "Put" if call[0] == PUT else "Allreduce", "Win_fence"]
    assert not findings(project, "did not record").keys() & {"invalid-operation", "invalid-argument"}


def test_clocks_of_the_machine_and_runs_of_more_than_18_hours(imported):
    file = File(bias=50).call(INIT, "I", 0, time=0.5).call(BARRIER, "H", WORLD, time=65000.0, end=65540.25).call(FINALIZE, "", time=70000.0)
    _, barrier, finalize = states(imported(file), 0)
    start = 1_700_000_000 * 10**9
    assert (barrier.time, barrier.end, finalize.time) == (start + 64999_500_000_000, start + 65539_750_000_000, start + 69999_500_000_000)


def test_old_files_have_shorter_statuses(imported):
    file = File(version=(0, 6, 1)).call(RECV, "iHiiH" + "Iiibb", 1, INT, 0, 3, WORLD, 1, 4, 0, 0, 0)
    receive, = states(imported(file), 0)
    assert (receive["size"], receive["fromTag"], receive["postedTag"]) == ("4", "-1", "3")


def test_who_ran_it(imported):
    project = imported(File().call(INIT, "II3s", 1, 3, b"app"))
    assert '<User name="alex">' in project.read_text() and "<Command line=\"'app'\">" in project.read_text()
    hdtrace.validate(project)


# --- files that nobody writes ---

def check_refused(tmp_path, data, *words):
    folder = tmp_path / "source"
    folder.mkdir(exist_ok=True)
    path = folder / "broken.bin"
    path.write_bytes(data)
    said = refused(tmp_path, path)
    assert str(path) in said and "at byte " in said and said.count("\n") == 1 and all(word in said for word in words), said


WHOLE = File().call(SEND, "iHiiH", 1, INT, 0, 3, WORLD).call(WAITALL, "iII", 0, 0, 0)


@pytest.mark.parametrize("length", [8, 30, 63, 100, 1000, -1, -64])
def test_files_that_are_cut(length, tmp_path):
    check_refused(tmp_path, WHOLE.bytes()[:length], "does not end with an index")


@pytest.mark.parametrize("file, words", [
    (File().call(128, "i", 1), ["no function has the label 128"]),
    (File().call(4711, ""), ["label 4711"]),
    (File().call(WAITALL, "iI", 1, 0xFFFFFFFF), ["a list of 4294967295 elements ends behind the file"]),
    (File().call(INIT, "II", 1, 0x7FFFFFFF), ["a text of 2147483647 bytes ends behind the file"]),
    (File(mask=0x5B).call(BARRIER, "H", WORLD), ["bits that mean nothing"]),
    (File(mask=0x43).call(BARRIER, "H", WORLD), ["no wall-clock time"]),
    (File().call(BARRIER, "H", WORLD, time=5.0, end=4.0), ["ends before it begins"]),
    (File().call(BARRIER, "H", WORLD, time=5.0).call(BARRIER, "H", WORLD, time=2.0), []),
    (File().call(145, "iiHHH", -8, 4, 0, WORLD, 1), ["negative size"]),
    (File(start=(1 << 63) - 1).call(BARRIER, "H", WORLD), []),
    (File().call(38, "iIIIIIIHH", 2, 2, 1, 1, 1, 3, 0, INT, 28), []),
])
def test_files_that_contradict_themselves(file, words, tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "broken.bin").write_bytes(file.bytes())
    said = refused(tmp_path, folder / "broken.bin")
    assert "broken.bin" in said and all(word in said for word in words), said


def test_random_changes(tmp_path):
    """Whatever is changed, there is a project or a message."""
    random.seed(7)
    whole = bytearray(WHOLE.call(DUP, "HH", WORLD, 4).call(BARRIER, "H", 4).bytes())
    folder = tmp_path / "source"
    folder.mkdir()
    for i in range(60):
        changed = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            changed[random.choice([random.randrange(len(changed)), random.randrange(140)])] = random.choice([0, 1, 127, 128, 255])
        (folder / "changed.bin").write_bytes(changed)
        result = call("-o", tmp_path / f"app{i}.proj", folder / "changed.bin", timeout=20)
        assert result.returncode in (0, 1) and (result.returncode == 0) == (tmp_path / f"app{i}.proj").exists(), result
        assert result.returncode == 0 or "changed.bin" in result.stderr


def test_metafiles(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    meta = folder / "x.meta"
    meta.write_text("numprocs=2\nfileprefix=x\n")
    (folder / "x-0000.bin").write_bytes(WHOLE.bytes())
    assert "x-0001.bin: the metafile says that there is this file" in refused(tmp_path, meta)
    meta.write_text("numprocs=99999999999999999999\nfileprefix=x\n")
    assert "no usable numprocs" in refused(tmp_path, meta)
