"""What project-merger wrote, by (rank, id): independent of our own reader of it."""
import xml.etree.ElementTree as ET
from collections import Counter, namedtuple

Communicator = namedtuple("Communicator", "name uid ranks groups")
Communicator.ranks.__doc__ = "world rank -> rank in its group"
Communicator.groups.__doc__ = "world rank -> the group of an inter-communicator, else None"


class Project:
    def __init__(self, path):
        self.root = ET.parse(path).getroot()
        self.process_count = int(self.root.get("processCount"))
        self.communicators = {}
        for element in self.root.iter("Communicator"):
            self._add_communicator(element)
        self.files = {}
        for element in self.root.iter("File"):
            for rank in element.iter("Rank"):
                self.files[int(rank.get("global")), int(rank.get("fid"))] = element
        self.datatypes = {}
        for rank in self.root.find("Datatypes"):
            for element in rank:
                self.datatypes[int(rank.get("name")), int(element.get("id"))] = element

    def _add_communicator(self, element):
        ranks = element.findall("Rank")
        communicator = Communicator(element.get("name"), element.get("uid"),
                                    {int(rank.get("global")): int(rank.get("local")) for rank in ranks},
                                    {int(rank.get("global")): rank.get("group") for rank in ranks})
        for rank in ranks:
            if rank.get("cid") is not None:
                key = int(rank.get("global")), int(rank.get("cid"))
                assert key not in self.communicators, f"rank {key[0]} has two communicators with cid {key[1]}"
                self.communicators[key] = communicator

    def communicator(self, rank, cid):
        return self.communicators[rank, int(cid)]

    def file_name(self, rank, fid):
        return self.files[rank, int(fid)].get("name")

    def datatype(self, rank, tid):
        return self.datatypes[rank, int(tid)]

    def named_datatype(self, rank, name):
        """The id of a datatype by its name, or a text that is no id."""
        found = [tid for (r, tid), element in self.datatypes.items() if r == rank and element.get("name") == name]
        return found[0] if len(found) == 1 else f"(one of {found} for {name})"

    def uids(self):
        """How often each uid occurs."""
        return Counter(element.get("uid") for element in self.root.iter("Communicator"))
