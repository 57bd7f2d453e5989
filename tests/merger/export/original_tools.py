"""What the original tools accept: a reader and a simulator with exactly the rules of theirs, of both generations.

Readers: HDTraceFormat of 2009-04-30 and of 2014. Simulator: PIOsimHD's loader of programs; what it simulates ends if each command does.
"""
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, deque

TIME = re.compile(r"-?\d+(\.\d{1,9})?(s|ms)?")
FINDABLE = re.compile(r"[a-z0-9.-]+")
SIZES = {"BYTE": 1, "CHAR": 1, "INT": 4, "INTEGER": 4, "LONG": 4, "LONG_LONG": 8, "FLOAT": 4, "DOUBLE": 8, "LB": 0, "UB": 0}
MOST = (1 << 31) - 1
OF_ALL = ("Init", "Finalize")
COLLECTIVES = ("Barrier", "Bcast", "Reduce", "Gather", "Scatter", "Allreduce", "Allgather")
ROOTED = ("Bcast", "Reduce", "Gather", "Scatter")
ACCESSES = ("File_read", "File_read_at", "File_write", "File_write_at", "File_read_all", "File_write_all")


def integer(text):
    """Of Java: 32 bits."""
    assert re.fullmatch(r"-?\d+", text or "") and -MOST - 1 <= int(text) <= MOST, text
    return int(text)


def long(text):
    assert re.fullmatch(r"-?\d+", text or "") and abs(int(text)) < 1 << 63, text
    return int(text)


def is_blank(text):
    return not (text or "").strip()


def seconds(text):
    assert TIME.fullmatch(text or ""), text
    integer(text.split(".")[0].rstrip("ms"))
    return float(text.rstrip("ms"))


def read_entries(parent):
    """The states and events of a trace or of a block of nested ones."""
    found, children = [], list(parent)
    for i, entry in enumerate(children):
        assert is_blank(entry.tail)
        if entry.tag == "Nested":
            owner = children[i + 1]
            # The newer reader gives the block to the first child element.
            assert owner.tag not in ("Nested", "Event") and len(owner) == 0, owner.tag
            read_entries(entry)
            continue
        time = seconds(entry.get("time"))
        if entry.tag == "Event":
            assert len(entry.get("name", "")) >= 2 and "end" not in entry.attrib and len(entry) == 0
        else:
            assert seconds(entry.get("end")) >= time
            found.append(entry)
    return found


def read_trace(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == "Program" and is_blank(root.text)
    integer(root.get("timeAdjustment"))
    return read_entries(root)


class Types:
    """Of one process: sizes and extents as the newer reader computes them."""

    def __init__(self, rank):
        self.sizes, self.extents = {}, {}
        for element in rank:
            assert list(element.attrib)[:2] == ["id", "name"]
            number = long(element.get("id"))
            assert number not in self.sizes
            self.sizes[number], self.extents[number] = getattr(self, element.tag.lower())(element)
            assert element.tag == "NAMED" or self.sizes[number] > 0

    def named(self, element):
        assert element.get("name").startswith("MPI_")
        size = SIZES[element.get("name").removeprefix("MPI_")]
        return size, size

    def vector(self, element):
        count, length, stride = (integer(element.get(key)) for key in ("count", "blocklength", "stride"))
        old = long(element.get("oldType"))
        return count * length * self.sizes[old], ((count - 1) * stride + length) * self.extents[old]

    def struct(self, element):
        size = end = 0
        for part in element:
            assert part.tag == "Type"
            number, displacement, length = long(part.get("id")), integer(part.get("displacement")), integer(part.get("blocklen"))
            size, end = size + length * self.sizes[number], displacement + length * self.extents[number]
        assert size <= MOST and abs(end) <= MOST
        return size, end


class Project:
    def __init__(self, directory):
        self.path, = directory.glob("*.proj")
        assert FINDABLE.fullmatch(self.path.name)
        self.root = root = ElementTree.parse(self.path).getroot()
        self.ranks = integer(root.get("processCount"))
        assert {child.tag for child in root} <= {"Description", "FileList", "Topology", "ExternalStatistics", "CommunicatorList", "Datatypes"}
        for name in ("Application", "Node", "Communicator", "File"):
            assert all(list(element.attrib)[0] == "name" for element in root.iter(name))
        self.files = self.read_files(root.find("FileList"))
        self.traces = self.read_topology(root.find("Topology"))
        self.communicators = self.read_communicators(root.findall("CommunicatorList/Communicator"))
        ranks = root.findall("Datatypes/Rank")
        assert len({rank.get("name") for rank in ranks}) == len(ranks)
        self.types = {int(rank.get("name")): Types(rank) for rank in ranks}
        for group in root.findall("ExternalStatistics/*"):
            assert len(group) > 0 and all(value.get("multiplier") and value.get("type") in ("INT32", "INT64", "FLOAT", "DOUBLE") for value in group)

    def read_files(self, files):
        names = [file.get("name") for file in files]
        assert len(set(names)) == len(names)
        for file in files:
            assert re.fullmatch(r"\d+[KMG]?", file.find("InitialSize").text) and file.find("Distribution").get("implementation")
            assert re.fullmatch(r"\d+[KMG]?", file.find("Distribution/ChunkSize").text)
        return set(names)

    def read_topology(self, topology):
        assert [level.get("type") for level in topology.iter("Level")] == ["Hostname", "Rank", "Thread"]
        assert [level.get("name") for level in topology.iter("Level")] == ["Hostname", "Rank", "Thread"]
        traces, labels = self.leaves(topology, "Node", "name"), self.leaves(topology, "Label", "value")
        assert traces == labels
        assert {int(rank) for _, rank, _ in traces} == set(range(self.ranks))
        stem = self.path.stem
        paths = {(int(rank), int(thread)): self.path.with_name(f"{stem}_{host}_{rank}_{thread}.trc") for host, rank, thread in traces}
        return {key: read_trace(path) for key, path in sorted(paths.items())}

    def leaves(self, parent, tag, attribute):
        children = parent.findall(tag)
        names = [child.get(attribute) for child in children]
        assert len(set(names)) == len(names) and all(FINDABLE.fullmatch(name) for name in names)
        return [(name, *rest) for name, child in zip(names, children) for rest in self.leaves(child, tag, attribute) or [()]]

    def read_communicators(self, communicators):
        """{(rank, cid): [world ranks of the members by their rank in it]}"""
        found, worlds = {}, 0
        for communicator in communicators:
            members = [tuple(integer(member.get(key)) for key in ("global", "local", "cid")) for member in communicator]
            by_rank = {local: rank for rank, local, _ in members}
            assert len(by_rank) == len(members)
            if communicator.get("name") == "WORLD":
                worlds += 1
                assert by_rank == {rank: rank for rank in range(self.ranks)}
            for rank, _, cid in members:
                assert (rank, cid) not in found and 0 <= rank < self.ranks
                found[rank, cid] = tuple(sorted(by_rank.items()))
        assert worlds == 1
        return found


class Simulation:
    """Counts the commands that it brought to their end. Sends are buffered: it ends if that of the original does with an endless buffer."""

    def __init__(self, project):
        self.project, self.done = project, Counter()
        self.sent, self.open = {}, {}
        self.programs = {key: deque(self.commands(key, states)) for key, states in project.traces.items()}
        self.run()

    def commands(self, key, states):
        known = {*OF_ALL, *COLLECTIVES, *ACCESSES, "Send", "Recv", "Sendrecv", "Wait", "File_open", "File_close", "File_set_view"}
        for state in states:
            if state.tag in known:
                assert "aid" not in state.attrib
                self.check(key[0], state)
                yield state

    def check(self, rank, state):
        name = state.tag
        if name in ("Send", "Sendrecv"):
            self.check_partner(rank, state, "toRank", "toTag")
            assert long(state.get("size")) >= 0
        if name in ("Recv", "Sendrecv"):
            self.check_partner(rank, state, "fromRank", "fromTag")
        if name in COLLECTIVES:
            members = self.members(rank, state)
            assert name == "Barrier" or long(state.get("size")) > 0
            if name in ROOTED:  # its rank is translated twice
                root = integer(state.get("rootRank"))
                assert dict(members)[dict(members)[root]] == root
        if name == "File_open":
            assert state.get("name") in self.project.files and self.members(rank, state)
            self.open.setdefault(rank, set()).add(integer(state.get("fid")))
        if name.startswith("File_") and name != "File_open":
            assert integer(state.get("fid")) in self.open.get(rank, ())
        if name == "File_close":
            self.open[rank].remove(integer(state.get("fid")))
        if name == "File_set_view":
            types = self.project.types[rank]
            assert integer(state.get("offset")) >= 0 and types.sizes[long(state.get("etid"))] > 0 and types.extents[long(state.get("filetid"))] > 0
        if name in ACCESSES:
            assert long(state.get("offset")) >= 0 and long(state.get("size")) >= 0

    def members(self, rank, state):
        return self.project.communicators[rank, integer(state.get("cid"))]

    def check_partner(self, rank, state, partner, tag):
        assert integer(state.get(partner)) in dict(self.members(rank, state)).values() and integer(state.get(tag)) >= 0

    def run(self):
        while any(self.programs.values()):
            before = self.done.total()
            for key, program in self.programs.items():
                while program and self.step(key, program[0]):
                    program.popleft()
                    self.done[key[0]] += 1
            self.meet()
            assert self.done.total() > before, {key: program[0].tag for key, program in self.programs.items() if program}

    def step(self, key, state):
        rank, name = key[0], state.tag
        if name in OF_ALL or name in COLLECTIVES or name == "File_open":
            return False
        if name in ("Send", "Sendrecv") and "sent" not in state.attrib:
            self.sent.setdefault((self.members(rank, state), rank, state.get("toRank"), state.get("toTag")), []).append(state)
            state.set("sent", "1")
        if name in ("Recv", "Sendrecv"):
            queue = self.sent.get((self.members(rank, state), int(state.get("fromRank")), str(rank), state.get("fromTag")))
            if not queue:
                return False
            queue.pop(0)
        return True

    def meet(self):
        """Collective commands that all members have come to."""
        at = {key: program[0] for key, program in self.programs.items() if program}
        for key, state in at.items():
            if state.tag in OF_ALL:
                needed = set(self.programs)
                met = {other for other, one in at.items() if one.tag == state.tag}
            elif state.tag in COLLECTIVES or state.tag == "File_open":
                members = self.members(key[0], state)
                needed = set(dict(members).values())
                met = {other for other, one in at.items() if one.tag == state.tag and "cid" in one.attrib and self.members(other[0], one) == members}
                if {rank for rank, _ in met} >= needed:
                    needed = met
            else:
                continue
            if met >= needed:
                for other in met:
                    self.programs[other].popleft()
                    self.done[other[0]] += 1
                return


def load(directory):
    return Project(directory)


def simulate(directory):
    """What was brought to its end. Fails where one of the tools would."""
    project = load(directory)
    return project, Simulation(project)
