"""What the functions mean: the words of [classes] and [does], whose vocabulary is meanings.toml."""

import re
from dataclasses import dataclass, field

# What the arguments of each word are: vocabularies of meanings.toml, or an attribute of the call.
WORDS = {
    "waits": ("which",),
    "tests": ("which",),
    "sends": ("send", "sent_size"),
    "receives": ("receive", "received_size"),
    "probes": ("probe",),
    "collective": ("collective",),
    "over": ("over",),
    "makes": ("makes",),
    "frees": ("frees",),
    "names": ("names",),
    "topology": ("topology",),
    "file": ("file", "pointer"),
    "accesses": ("access",),
    "synchronises": ("synchronisation",),
    "life": ("life",),
}
FLAGS = ("cancels", "raises", "partitioned", "scatters", "gathers", "exclusive", "allocates", "attaches", "detaches", "anytime")
LISTS = {"agree": "agreed"}  # words with any number of attributes, as one text
VOCABULARY_OF = {"makes": "object", "frees": "object", "names": "object"}  # where a field is called otherwise
SIZES = {"sent_size": "send", "received_size": "receive"}

# Whose members call together: of the first such object that a function is given.
OVER = {"COMM": "communicator", "FILE": "file", "WIN": "window"}
# What makes an object makes it of this kind, so that the call can be asked which one it was.
KINDS = {"communicator": "COMM", "datatype": "DATATYPE", "file": "FILE", "window": "WIN"}


class MeaningError(Exception):
    """A word that is not known; the message says which."""


@dataclass(frozen=True)
class Meaning:
    """The facts about a function; what is not said of it has the first value of its vocabulary."""

    call_class: str
    text: str = ""  # as in the table
    facts: dict = field(default_factory=dict)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.facts.get(name, False if name in FLAGS else "local" if name == "progress" else "none")

    @property
    def moves_data(self):
        """Whether its calls may have a volume (hdtrace/calls/volume.h)."""
        return (self.send != "none" or self.receive != "none" or self.access != "none" or self.file in ("read", "write")
                or self.collective in ("one-to-all", "all-to-one", "all-to-all", "scan", "neighbourhood"))

    @property
    def is_query(self):
        return self.progress == "query"

    @property
    def is_poll(self):
        """Its calls return at once, and say whether something has happened."""
        return (self.progress in ("tests", "asks") or self.synchronisation == "test"
                or (self.probe != "none" and self.progress != "blocking"))


def parse(text, vocabularies):
    """'blocking sends(standard)' -> {'progress': 'blocking', 'send': 'standard', ...}"""
    facts = {}
    for word, arguments in re.findall(r"([\w-]+)(?:\(([^()]*)\))?", text):
        if word in FLAGS:
            facts[word] = True
            continue
        if word in LISTS:
            facts[LISTS[word]] = " ".join(arguments.split())
            continue
        if word in vocabularies["progress"]:
            facts["progress"] = word
        elif word not in WORDS:
            raise MeaningError(f"nothing is known as '{word}'")
        facts |= _arguments(word, arguments.split(), vocabularies)
    for size, transfer in SIZES.items():
        if facts.get(transfer, "none") != "none":
            facts.setdefault(size, "size")
    return facts


def _arguments(word, arguments, vocabularies):
    fields = WORDS.get(word, ())
    if len(arguments) > len(fields) or (fields and not arguments):
        raise MeaningError(f"'{word}' takes {' and '.join(fields) or 'no arguments'}")
    for name, value in zip(fields, arguments):
        if name not in SIZES and value not in vocabularies[VOCABULARY_OF.get(name, name)]:
            raise MeaningError(f"'{word}' cannot be '{value}'")
    return dict(zip(fields, arguments))


def with_progress(text, progress):
    """The same for another form of a function."""
    return f"{progress} {text.removeprefix('blocking ')}"
