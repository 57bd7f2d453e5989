"""Loads the tables of mpiwrapper/api into plain objects. Knows their language, but neither mpi.h nor C++."""

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from .meanings import Meaning, MeaningError, parse, with_progress

NOT_CHAPTERS = ("kinds", "own", "exempt", "meanings")

# What there can be in the table of a chapter; classes and what functions do have their words in meanings.toml.
SECTIONS = ("title", "standard", "class", "does_unless_told", "variants", "with_variants", "calls", "classes", "does", "logged",
            "creation")
VARIANTS = ("nonblocking", "persistent")
CREATION_RULES = ("from_parent", "from_parent_later", "from_group", "from_tagged_group", "from_two_groups", "by_leaders",
                  "through_port", "by_join", "by_parents", "by_spawn")
CHILDREN = ("Arg", "Command", "Data", "For", "Info", "Recv", "Send")
SPECIALS = ("actual", "comm", "doubtful", "errors", "indegree", "named", "offset", "outdegree",
            "posted", "ranges", "size", "source", "split", "tag", "value")


class TableError(Exception):
    """Something in the tables is wrong; the message names the file and the function."""


@dataclass(frozen=True)
class Kind:
    """What a parameter is for, see kinds.toml."""

    name: str
    c: str
    large: str = ""
    pointer: bool = False
    attribute: str = ""
    value: str = ""
    names: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: Kind | None  # None: the C type is given literally
    direction: str = "in"  # in, out, inout
    length: str | None = None  # the length of an array; "" if it is not known
    of: str = ""  # the communicator that a rank counts in, if it is not the function's first
    significant: tuple[str, ...] = ()  # all must hold, else MPI does not define the value
    literal_type: str = ""
    declared_type: str = ""  # what mpi.h says, where MPI libraries differ

    @property
    def is_array(self):
        return self.length is not None

    @property
    def is_written(self):
        return self.direction != "in"

    @property
    def c_type(self):
        if self.declared_type or self.kind is None:
            return self.declared_type or self.literal_type
        const = "const " if self.direction == "in" and (self.kind.pointer or self.is_array) else ""
        is_pointer = self.kind.pointer or self.is_array or self.is_written
        return f"{const}{self.kind.c}{' *' if is_pointer else ''}"


@dataclass(frozen=True)
class Product:
    """The bytes of `count` elements of `datatype`; the count may be a product itself."""

    count: str
    datatype: str
    displacements: str = ""  # where the elements for each member are


@dataclass(frozen=True)
class Argument:
    """The value of a parameter, written as its kind says, or as its plain number."""

    parameter: str
    is_plain: bool = False


@dataclass(frozen=True)
class Special:
    """Something that only the runtime knows, e.g. where a message came from."""

    name: str


Value = Product | Argument | Special


@dataclass(frozen=True)
class Attribute:
    name: str
    values: tuple[Value, ...]  # the first one that is significant is written


@dataclass(frozen=True)
class Child:
    """Child elements: `Data(offset=$offset ...)` is one, `Send(counts*types)` one for each member."""

    name: str
    attributes: tuple[Attribute, ...] = ()
    each: Product | None = None
    argument: str = ""


@dataclass(frozen=True)
class Logged:
    element: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Child, ...] = ()
    handwritten: str | None = None  # what the handwritten wrapper logs, for the documentation

    @property
    def is_empty(self):
        """Whether only times are known of it; `wtime` is one."""
        return self.handwritten in ("", "wtime") if self.handwritten is not None else not (self.attributes or self.children)


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    chapter: str
    meaning: Meaning
    logged: Logged
    creation: tuple[str, str] | None = None  # the rule and the word for a new communicator
    operation: str = ""  # the function that does the same, but returns when it is done; empty: itself

    @property
    def standard_name(self):
        """What rules and counts call it."""
        return self.name.replace("MPIX_", "MPI_")

    @property
    def returns(self):
        return "int"

    @property
    def tells_sources(self):
        """Whether checks need to be told from which neighbours data comes: it does not stand in a list."""
        return self.meaning.collective == "neighbourhood" and all(child.name != "Recv" for child in self.logged.children)

    def parameter(self, name):
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise TableError(f"{self.chapter}.toml: {self.name} has no parameter '{name}'")

    def of_kind(self, *kinds, direction=None):
        return [p for p in self.parameters
                if p.kind and p.kind.name in kinds and (direction is None or p.direction == direction)]


@dataclass(frozen=True)
class Chapter:
    name: str
    title: str
    standard: str
    functions: tuple[Function, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The words that a fact can be, each with a sentence."""

    about: str
    words: dict[str, str]


@dataclass(frozen=True)
class Api:
    chapters: tuple[Chapter, ...]
    own: tuple[str, ...] = field(default=())  # what the runtime itself calls
    optional: tuple[str, ...] = field(default=())  # the same, if it is declared
    exempt: tuple[tuple[str, str], ...] = field(default=())  # regular expressions of what is not wrapped, with the reason
    kinds: tuple[Kind, ...] = field(default=())
    vocabularies: dict[str, Vocabulary] = field(default_factory=dict)

    @property
    def functions(self):
        return [function for chapter in self.chapters for function in chapter.functions]


def load(folder):
    """Reads all tables of a folder."""
    folder = Path(folder)
    kinds = {name: Kind(name, **entry) for name, entry in _read(folder / "kinds.toml").items()}
    vocabularies = {name: Vocabulary(entry.pop("about"), entry) for name, entry in _read(folder / "meanings.toml").items()}
    chapters = tuple(_load_chapter(path, kinds, vocabularies) for path in sorted(folder.glob("*.toml"))
                     if path.stem not in NOT_CHAPTERS)
    own = _read(folder / "own.toml")
    return Api(chapters, tuple(own["functions"]), tuple(own["optional"]), tuple(_read(folder / "exempt.toml").items()),
               tuple(kinds.values()), vocabularies)


def _read(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path.name}: {error}") from None


def _load_chapter(path, kinds, vocabularies):
    table = _read(path)
    calls = {name: parse_parameters(path.name, name, text, kinds) for name, text in table["calls"].items()}
    check_names(path, table)
    logged, does = dict(table.get("logged", {})), dict(table.get("does", {}))
    operations = _add_variants(table, calls, logged, does, kinds) if table.get("variants") else {}
    meanings = _load_meanings(path, table, does, operations, vocabularies)
    creation = table.get("creation", {})
    functions = tuple(
        Function(name, parameters, path.stem, meanings[name], parse_logged(path.name, name, parameters, logged),
                 tuple(creation[name].split()) if name in creation else None, operation=operations.get(name, ""))
        for name, parameters in calls.items())
    for function in functions:
        check_values(path, function)
    return Chapter(path.stem, table["title"], table["standard"], functions)


def check_names(path, table):
    """Every name beside those in [calls] is one that there can be; else the error names its line."""
    for section, name, problem in _wrong_names(table):
        raise TableError(f"{_place(path, section, name)}: {problem}")


def _wrong_names(table):
    for name in set(table) - set(SECTIONS):
        yield name if isinstance(table[name], dict) else "", name, f"there is no section '{name}'"
    yield from (("", name, f"there is no variant '{name}'") for name in set(table.get("variants", ())) - set(VARIANTS))
    yield from ((section, name, f"{name} is not in [calls]") for section, name in _functions_named(table)
                if name not in table["calls"])
    classified = [name for names in table.get("classes", {}).values() for name in names]
    yield from (("classes", name, f"{name} has two classes") for name in classified if classified.count(name) > 1)
    for name, text in table.get("logged", {}).items():
        model = _LIKE.match(text)
        if model and model.group(1) not in table["logged"]:
            yield "logged", name, f"{name} is like {model.group(1)}, which is not in [logged]"
    for name, text in table.get("creation", {}).items():
        if len(text.split()) != 2 or text.split()[0] not in CREATION_RULES:
            yield "creation", name, f"{name}: '{text}' is not one of the rules {', '.join(CREATION_RULES)} and a word"


def _functions_named(table):
    """Of which functions something is said: (section, name)."""
    yield from ((section, name) for section in ("logged", "does", "creation") for name in table.get(section, {}))
    yield from (("classes", name) for names in table.get("classes", {}).values() for name in names)
    yield from (("", name) for name in table.get("with_variants", ()))


def check_values(path, function):
    """What the function's line in [logged] names are parameters that can be written, and what the generator knows."""
    for problem in _wrong_values(function):
        raise TableError(f"{_place(path, 'logged', function.name)}: {function.name}: {problem}")


def _wrong_values(function):
    parameters = {parameter.name: parameter for parameter in function.parameters}
    for child in function.logged.children:
        if child.name not in CHILDREN:
            yield f"there is no child element '{child.name}'"
    for value in _values(function.logged):
        if isinstance(value, Special) and value.name not in SPECIALS:
            yield f"nothing is known as ${value.name}"
        for name in _named_in(value):
            if name not in parameters:
                yield f"there is no parameter '{name}'"
        if isinstance(value, Argument) and not (parameters[value.parameter].kind and parameters[value.parameter].kind.value):
            yield f"'{value.parameter}' has no kind that can be written"


def _values(logged):
    for part in (logged, *logged.children):
        for attribute in part.attributes:
            yield from attribute.values
    yield from (child.each for child in logged.children if child.each)


def _named_in(value):
    """The parameters that a value needs."""
    if isinstance(value, Product):
        return [name for name in (*value.count.split("*"), value.datatype, value.displacements) if name not in ("", "1")]
    return [value.parameter] if isinstance(value, Argument) else []


def _place(path, section, word):
    """Where a section says something: 'io.toml:12'. The section '' is what stands before the first one."""
    current = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("["):
            current = line.strip("[]")
        if current == section and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", line):
            return f"{path.name}:{number}"
    return path.name


def _load_meanings(path, table, does, operations, vocabularies):
    """Name -> Meaning, also of the forms that `operations` derives from others."""
    words = {name: vocabulary.words for name, vocabulary in vocabularies.items()}
    classes = {name: call_class for call_class, names in table.get("classes", {}).items() for name in names}
    for section, call_class in [("", table["class"]), *(("classes", name) for name in table.get("classes", {}))]:
        if call_class not in words["class"]:
            raise TableError(f"{_place(path, section, call_class)}: there is no class '{call_class}' in meanings.toml")
    meanings = {}
    for name in [*table["calls"], *operations]:
        text = does.get(name, table.get("does_unless_told", ""))
        call_class = classes.get(operations.get(name, name), table["class"])
        try:
            meanings[name] = Meaning(call_class, text, parse(text, words))
        except MeaningError as error:
            raise TableError(f"{_place(path, 'does', name)}: {name}: {error}") from None
    return meanings


def _add_variants(table, calls, logged, does, kinds):
    """Adds the forms that return at once; -> name -> the function that does the same and blocks."""
    request = Parameter("request", kinds["REQUEST"], "out")
    info = Parameter("info", kinds["INFO"])
    makers = {
        "nonblocking": lambda name: (f"MPI_I{name[4:5].lower()}{name[5:]}", (request,), "starts"),
        "persistent": lambda name: (f"{name}_init", (info, request), "prepares"),
    }
    operations = {}
    for name in table["with_variants"]:
        for variant in table["variants"]:
            new_name, more, progress = makers[variant](name)
            calls[new_name] = calls[name] + more
            logged[new_name] = f"like {name}, rid=request{' Info(info)' if info in more else ''}"
            does[new_name] = with_progress(does[name], progress)
            operations[new_name] = name
    return operations


_PARAMETER = re.compile(r"(?:(out|inout) )?(?:<([^>]*)>|([A-Z_]+)) (\w+)(?:\[([\w:]*)\])?(?: of (\w+))?((?: [@!]\w+)*)$")


def parse_parameters(file, function, text, kinds):
    """'BUFFER buf, COUNT counts[members] @root, out STATUS status' -> Parameters."""
    parameters = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part == "...":
            parameters.append(Parameter("...", None, literal_type="..."))
            continue
        match = _PARAMETER.match(part)
        if not match:
            raise TableError(f"{file}: {function}: cannot read '{part}'")
        direction, literal, kind, name, length, of, conditions = match.groups()
        if kind and kind not in kinds:
            raise TableError(f"{file}: {function}: no kind '{kind}' in kinds.toml")
        parameters.append(Parameter(name, kinds[kind] if kind else None, direction or "in", length, of or "",
                                    tuple(conditions.split()), literal or ""))
    return tuple(parameters)


_ITEM = re.compile(r"(?:[^\s()]|\([^()]*\))+")
_CHILD = re.compile(r"(\w+)\((.*)\)")
_LIKE = re.compile(r"like (\w+)(?:,(.*))?$")


def parse_logged(file, function, parameters, lines):
    """The line of a function in [logged], or what its parameters' kinds say, -> Logged."""
    element = function.removeprefix("MPI_")
    if function not in lines:
        return Logged(element, tuple(_default_attributes(parameters)))
    text = lines[function]
    if text.startswith("handwritten:"):
        return Logged(element, handwritten=text.removeprefix("handwritten:").strip())
    if text.startswith("as "):
        element, text = text.removeprefix("as ").split(":", 1)
    attributes, children = [], []
    for item in _ITEM.findall(_expand_like(file, function, text, lines)):
        match = _CHILD.fullmatch(item)
        if match:
            children.append(_parse_child(*match.groups()))
        else:
            attributes.append(_parse_attribute(item))
    return Logged(element, tuple(attributes), tuple(children))


def _expand_like(file, function, text, lines):
    match = _LIKE.match(text.strip())
    if not match:
        return text
    other, more = match.groups()
    if other not in lines:
        raise TableError(f"{file}: {function}: [logged] has no {other}")
    # The attributes of the other function come first, then the new ones, then its children.
    items = _ITEM.findall(_expand_like(file, other, lines[other], lines))
    attributes = [item for item in items if not _CHILD.fullmatch(item)]
    return " ".join(attributes + (more or "").split() + [item for item in items if _CHILD.fullmatch(item)])


def _default_attributes(parameters):
    for parameter in parameters:
        kind = parameter.kind
        if kind is None or not kind.attribute or (parameter.is_array and parameter.length == ""):
            continue
        name = parameter.name if kind.attribute == "=" else kind.attribute
        if kind.name == "COMM" and parameter.direction == "out":
            name = "newcid"
        if kind.name == "STRING" and parameter.is_written:
            continue
        yield Attribute(name, (Argument(parameter.name),))


def _parse_attribute(item):
    name, _, value = item.partition("=")
    return Attribute(name.removeprefix("$") if not value and name.startswith("$") else name,
                     tuple(_parse_value(v) for v in (value or name).split("/")))


def _parse_value(text):
    if text.startswith("$"):
        return Special(text[1:])
    if text.startswith("number("):
        return Argument(text.removeprefix("number(").removesuffix(")"), is_plain=True)
    if "*" in text:
        product, _, displacements = text.partition("@")
        return Product(*product.rsplit("*", 1), displacements)
    return Argument(text)


def _parse_child(name, text):
    value = _parse_value(text) if text and " " not in text and "=" not in text else None
    if isinstance(value, Product):
        return Child(name, each=value)
    if isinstance(value, (Argument, Special)):
        return Child(name, argument=text.removeprefix("$"))
    return Child(name, attributes=tuple(_parse_attribute(item) for item in _ITEM.findall(text)))


def with_large_forms(api):
    """The same tables with the large-count form MPI_X_c behind every function that can have one."""
    return replace(api, chapters=tuple(
        replace(chapter, functions=tuple(form for f in chapter.functions for form in (f, _large_form(f)) if form))
        for chapter in api.chapters))


def _large_form(function):
    if not any(p.kind and p.kind.large for p in function.parameters):
        return None
    parameters = tuple(replace(p, kind=replace(p.kind, c=p.kind.large)) if p.kind and p.kind.large else p
                       for p in function.parameters)
    return replace(function, name=f"{function.name}_c", parameters=parameters)


def with_all_forms(api):
    """The same tables with the large-count forms, and those that Open MPI had of functions before the standard had them: MPIX_X."""
    api = with_large_forms(api)
    return replace(api, chapters=tuple(
        replace(chapter, functions=tuple(form for f in chapter.functions for form in (f, _early_form(f)) if form))
        for chapter in api.chapters))


def _early_form(function):
    """Of the persistent collectives; other functions with such names are not what the standard made of them."""
    is_early = function.operation and function.meaning.progress == "prepares" and not function.name.endswith("_c")
    return replace(function, name=function.name.replace("MPI_", "MPIX_", 1)) if is_early else None


def only(api, names):
    """The same tables without the functions that are not in `names`."""
    return replace(api, chapters=tuple(
        replace(chapter, functions=tuple(f for f in chapter.functions if f.name in names)) for chapter in api.chapters))
