"""Emits what the reading side knows about calls: an enumeration for each vocabulary, and a row of facts for each function."""

from .meanings import KINDS, OVER, SIZES, VOCABULARY_OF
from .tables import Argument, Special

WARNING = "// Generated from mpiwrapper/api - do not edit.\n"

# The field of each fact, and the enumeration of its words.
ENUMERATIONS = {
    "class": ("call_class", "CallClass"),
    "progress": ("progress", "CallProgress"),
    "which": ("completes", "WhichRequests"),
    "send": ("sends", "SendMode"),
    "receive": ("receives", "ReceiveKind"),
    "probe": ("probes", "ProbeKind"),
    "collective": ("collective", "CollectiveKind"),
    "over": ("members", "CollectiveMembers"),
    "object": ("", "ObjectKind"),
    "topology": ("topology", "TopologyKind"),
    "file": ("file", "FileAccess"),
    "pointer": ("pointer", "FilePointer"),
    "access": ("access", "WindowAccess"),
    "synchronisation": ("synchronisation", "WindowSynchronisation"),
    "life": ("life", "LifeCycle"),
}


def emit_header(vocabularies):
    """facts.h"""
    enumerations = "".join(_enumeration(ENUMERATIONS[name][1], vocabulary) for name, vocabulary in vocabularies.items())
    return f"""{WARNING}// facts.h - what MPI calls do, as the tables of the wrapper say it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hdtrace {{

{enumerations}/// What is known about all calls of a function. Texts live forever.
struct CallFacts {{
    std::string_view name = {{}};      ///< of its states: "Ibcast"
    std::string_view operation = {{}}; ///< of the function that does the same and returns when it is done: "Bcast"
    CallClass call_class = CallClass::other;
    CallProgress progress = CallProgress::local;
    WhichRequests completes = WhichRequests::none;
    bool polls = false;   ///< it returns at once, and says whether something has happened
    bool cancels = false; ///< the operation of the request `rid`, if that is still possible
    bool raises = false;  ///< an error that the program names, of which the error handler is told
    SendMode sends = SendMode::none;
    std::string_view sent_size = {{}}; ///< the attribute with the bytes of the message that it sends
    ReceiveKind receives = ReceiveKind::none;
    std::string_view received_size = {{}}; ///< the same of the message that it receives
    ProbeKind probes = ProbeKind::none;
    bool partitioned = false; ///< the message is made ready in parts
    CollectiveKind collective = CollectiveKind::none;
    CollectiveMembers members = CollectiveMembers::none;
    bool scatters = false;       ///< who sends has another part of its data for each member
    bool gathers = false;        ///< who receives gets a part of its own from each member
    bool exclusive = false;      ///< who receives gets nothing of its own data: the first member gets nothing
    bool reduces = false;        ///< data is combined by an operation
    bool has_root = false;       ///< in `rootRank`
    bool lists_sends = false;    ///< `Send` elements tell what goes to each member
    bool lists_receives = false; ///< `Recv` elements tell what comes from each member, or what each one gets
    std::string_view agreed = {{}}; ///< attributes that must be the same of all members, with spaces between
    ObjectKind makes = ObjectKind::none;
    std::string_view made_id = {{}}; ///< the attribute that names what it makes; empty if none does
    ObjectKind frees = ObjectKind::none;
    std::string_view freed_id = {{}}; ///< the same of what it frees
    ObjectKind names = ObjectKind::none;
    TopologyKind topology = TopologyKind::none; ///< of the communicator that it makes
    FileAccess file = FileAccess::none;
    FilePointer pointer = FilePointer::none;
    WindowAccess access = WindowAccess::none;
    WindowSynchronisation synchronisation = WindowSynchronisation::none;
    bool allocates = false; ///< the memory of the window that it makes
    bool attaches = false;  ///< memory for buffered sends
    bool detaches = false;  ///< the same
    LifeCycle life = LifeCycle::none;
    bool anytime = false; ///< it may come before MPI is initialised, and after it is finalised
}};

}} // namespace hdtrace
"""


def emit_rows(api):
    """facts.inc: rows for macros. Who includes it defines those that it wants; they are gone behind it."""
    calls = "".join(f"HDT_CALL({', '.join(row_of_facts(function))})\n" for function in api.functions)
    references = "".join(f'HDT_REFERENCE("{attribute}", ObjectKind::{kind})\n' for attribute, kind in sorted(_references(api).items()))
    ranks = "".join(f'HDT_RANK("{_state(function.name)}", "{attribute}")\n'
                    for function in api.functions for attribute in sorted(_ranks(function)))
    words = "".join(f'{macro}("{word}", {enumeration}::{enumerator(word)})\n'
                    for macro, name, enumeration in (("HDT_CLASS", "class", "CallClass"), ("HDT_OBJECT", "object", "ObjectKind"))
                    for word in api.vocabularies[name].words)
    macros = {"HDT_CALL": "facts of a call", "HDT_REFERENCE": "attribute, what it names",
              "HDT_RANK": "call, attribute with ranks", "HDT_CLASS": "word, enumerator",
              "HDT_OBJECT": "word, enumerator"}
    defaults = "".join(f"#ifndef {name}\n#define {name}(...) // {row}\n#endif\n" for name, row in macros.items())
    return WARNING + defaults + calls + references + ranks + words + "".join(f"#undef {name}\n" for name in macros)


def _enumeration(name, vocabulary):
    words = "".join(f"    {enumerator(word)}, ///< {meaning}\n" for word, meaning in vocabulary.words.items())
    return f"/// {vocabulary.about}\nenum class {name} : std::uint8_t {{\n{words}}};\n\n"


def enumerator(word):
    return word.replace("-", "_")


def row_of_facts(function):
    """'.name = "Isend"', '.sends = SendMode::standard', ...; what has its default is left out."""
    meaning = function.meaning
    yield f'.name = "{_state(function.name)}"'
    yield f'.operation = "{_state(function.operation or function.name)}"'
    yield f".call_class = CallClass::{enumerator(meaning.call_class)}"
    yield from (f".{name} = {value}" for name, value in _facts(function) if value)


def _state(function):
    return function.removeprefix("MPI_")


def _facts(function):
    """In the order of the fields."""
    meaning = function.meaning
    yield _fact(meaning, "progress")
    yield _fact(meaning, "which")
    yield "polls", _flag(meaning.is_poll)
    yield "cancels", _flag(meaning.cancels)
    yield "raises", _flag(meaning.raises)
    yield _fact(meaning, "send")
    yield "sent_size", _size(meaning, "sent_size")
    yield _fact(meaning, "receive")
    yield "received_size", _size(meaning, "received_size")
    yield _fact(meaning, "probe")
    yield "partitioned", _flag(meaning.partitioned)
    is_collective = meaning.collective != "none"
    yield _fact(meaning, "collective")
    yield "members", f"CollectiveMembers::{_members(function)}" if is_collective else ""
    yield "scatters", _flag(meaning.scatters)
    yield "gathers", _flag(meaning.gathers)
    yield "exclusive", _flag(meaning.exclusive)
    yield "reduces", _flag(is_collective and function.of_kind("OP"))
    yield "has_root", _flag(is_collective and function.of_kind("ROOT"))
    listed = {child.name for child in function.logged.children if child.each}
    yield "lists_sends", _flag("Send" in listed)
    yield "lists_receives", _flag("Recv" in listed)
    yield "agreed", f'"{meaning.agreed}"' if meaning.agreed != "none" else ""
    for verb, identity, direction in (("makes", "made_id", "out"), ("frees", "freed_id", "inout")):
        yield _fact(meaning, verb)
        yield identity, _identity(function, getattr(meaning, verb), direction)
    yield _fact(meaning, "names")
    for name in ("topology", "file", "pointer", "access", "synchronisation"):
        yield _fact(meaning, name)
    for name in ("allocates", "attaches", "detaches"):
        yield name, _flag(getattr(meaning, name))
    yield _fact(meaning, "life")
    yield "anytime", _flag(meaning.anytime)


def _fact(meaning, name):
    field, enumeration = ENUMERATIONS[VOCABULARY_OF.get(name, name)]
    value = getattr(meaning, name)
    is_default = value == ("local" if name == "progress" else "none")
    return field or name, "" if is_default else f"{enumeration}::{enumerator(value)}"


def _flag(value):
    return "true" if value else ""


def _size(meaning, name):
    return f'"{getattr(meaning, name)}"' if getattr(meaning, SIZES[name]) != "none" else ""


def _members(function):
    """Whose members call: of the first communicator, file or window that the function is given."""
    if function.meaning.over != "none":
        return function.meaning.over
    return next(OVER[p.kind.name] for p in function.parameters if p.kind and p.kind.name in OVER and p.direction != "out")


def _identity(function, kind, direction):
    """The attribute with the id of the object that is made or freed."""
    for attribute in function.logged.attributes:
        for value in attribute.values:
            if isinstance(value, Argument):
                parameter = function.parameter(value.parameter)
                if parameter.kind.name == KINDS.get(kind) and parameter.direction == direction and not parameter.is_array:
                    return f'"{attribute.name}"'
    return ""


def _ranks(function):
    """The attributes with ranks in MPI_COMM_WORLD."""
    if function.tells_sources:
        yield "sources"
    for attribute in function.logged.attributes:
        for value in attribute.values:
            if isinstance(value, Argument) and function.parameter(value.parameter).kind.value in ("rank", "target", "group"):
                yield attribute.name
            elif isinstance(value, Special) and value.name == "source":
                yield attribute.name
            elif isinstance(value, Special) and value.name == "posted":
                yield "postedRank"


def _references(api):
    """Attribute -> what it names an object of."""
    objects = {name: kind for kind, name in KINDS.items()}
    found = {}
    for function in api.functions:
        for attribute in function.logged.attributes:
            for value in attribute.values:
                if isinstance(value, Argument) and function.parameter(value.parameter).kind.name in objects:
                    found[attribute.name] = objects[function.parameter(value.parameter).kind.name]
    return found
