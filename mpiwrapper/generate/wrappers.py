"""Emits the wrappers. Every function returns text; nothing here reads or writes files.

A wrapper has four parts: what must be known before the call, the call, what must be remembered after it even if
nothing is recorded (`track`), and the element. The values in the element come from `Values`.
"""

from .tables import Argument, Product, Special, TableError

HEADER = "// Generated from mpiwrapper/api - do not edit.\n"


def emit_chapter(chapter):
    """The C++ file with all generated wrappers of a chapter."""
    functions = [function for function in chapter.functions if function.logged.handwritten is None]
    return (HEADER + '#include "mpiwrapper/runtime/values.h"\n\n'
            "using namespace hdtrace;\nusing namespace hdtrace::mpi;\n\n"
            + "\n".join(emit_function(function) for function in functions))


def emit_real_functions(names):
    """One line for each function that is called past the wrappers."""
    return HEADER + "".join(f"HDT_REAL({name})\n" for name in sorted(names))


def emit_hidden_functions(functions):
    """Declarations of functions that mpi.h hides; it may have macros in their place, which tell what to use instead."""
    return HEADER + "".join(
        f'#undef {function.name}\nextern "C" int {function.name}({prototype(function)});\n' for function in functions)


def emit_named_values(kinds, is_declared):
    """The constants that values of the kinds can be, as far as mpi.h declares them: a table for each kind."""
    tables = []
    for kind in kinds:
        if kind.names:
            rows = [f'    {{{name}, "{name.removeprefix(kind.prefix)}"}},' for name in kind.names if is_declared(name)]
            tables.append("\n".join([f"inline constexpr NamedValue {names_of(kind)}[] = {{", *rows, "};", ""]))
    return HEADER + "\n".join(tables)


def names_of(kind):
    """The table of a kind's constants."""
    return f"{kind.name.lower()}_names"


def emit_wrapped_functions(names):
    """One line for each function that has a wrapper."""
    return HEADER + "".join(f"HDT_WRAPPED({name})\n" for name in sorted(names))


def emit_function(function):
    """A wrapper under both of its names."""
    wrapper = Wrapper(function)
    lines = [
        f'extern "C" HDT_EXPORT int {function.name}({prototype(function)})', "{",
        *indent(wrapper.body()), "}", f"HDT_WRAPS({function.name});", ""]
    return "\n".join(lines)


def prototype(function):
    """'const void *buf, int count'; arrays as pointers, which is the same to C."""
    return ", ".join(declaration(p) for p in function.parameters)


def declaration(parameter):
    if "(*)" in parameter.c_type:  # a pointer to an array
        return parameter.c_type.replace("(*)", f"(*{parameter.name})")
    return f"{parameter.c_type}{'' if parameter.c_type.endswith('*') else ' '}{parameter.name}"


def indent(lines):
    return [f"    {line}" if line else "" for line in lines]


class Wrapper:
    """Puts the parts of one wrapper together."""

    def __init__(self, function):
        self.function = function
        self.meaning = function.meaning
        self.values = Values(function)

    def body(self):
        function, values = self.function, self.values
        element = self.element()  # tells `values` what it needs
        track = self.track()
        level = "local_query" if function.meaning.is_query else "ordinary" if function.logged.is_empty else "with_attributes"
        arguments = ", ".join(values.passed(p) for p in function.parameters)
        lines = [
            f"Call call({level}, Tracks::{self.tracks()});",
            "if (call.passes())",
            f"    return real.{function.name}({', '.join(p.name for p in function.parameters)});",
            *values.before,
            f'call.begin("{function.logged.element}");',
            f"const int rc = call.end(real.{function.name}({arguments}));",
            *values.early_lookups(),
            *track,
            "if (!call.is_recorded())", "    return rc;",
            *values.lookups(),
            *element,
            "return rc;"]
        return lines

    def tracks(self):
        """The least that must be followed; see Tracks in call.h."""
        changes = {self.meaning.makes, self.meaning.frees}
        if self.function.creation or "window" in changes:
            return "communicators"
        if self.function.of_kind("REQUEST", direction="out") or self.function.of_kind("MESSAGE") or "file" in changes or self.is_split():
            return "operations"
        return "nothing"

    def is_split(self, progress=None):
        """A split collective access has no request; `progress` chooses its begin or its end."""
        return (self.meaning.file != "none" and self.meaning.progress in ((progress,) if progress else ("starts", "waits"))
                and not self.function.of_kind("REQUEST"))

    # What has to be remembered after the call.

    def track(self):
        lines = []
        for step in (self.track_communicator, self.track_window, self.track_request, self.track_message, self.track_file,
                     self.track_names):
            lines += step()
        return lines

    def track_communicator(self):
        if not self.function.creation:
            return []
        rule, word = self.function.creation
        made = self.function.of_kind("COMM", direction="out")[0].name
        parent = next((p.name for p in self.function.of_kind("COMM", direction="in")), None)
        arguments = {
            "from_parent": f"{parent}, *{made}", "from_parent_later": f"{parent}, *{made}",
            "from_group": f"{parent}, tag, *{made}", "from_two_groups": f"{parent or 'MPI_COMM_NULL'}, *{made}",
            "from_tagged_group": f"stringtag, *{made}",
            "from_two_worlds": f"*{made}"}
        return ["if (call.succeeded())", f'    created_{rule}({arguments[rule]}, "{word}");']

    def track_window(self):
        if self.meaning.makes == "window":
            comm = self.values.communicator(is_early=True)
            given = {p.name for p in self.function.parameters}
            size, unit = (name if name in given else unless for name, unless in (("size", "0"), ("disp_unit", "1")))
            return ["if (call.succeeded())", f"    created_window(*win, {comm}, {size}, {unit});"]
        if self.meaning.frees == "window":
            return ["if (call.succeeded())", "    freed_window(win_handle, win_before);"]
        return []

    def track_request(self):
        requests = self.function.of_kind("REQUEST", direction="out")
        is_split = self.is_split("starts")
        if not requests and not is_split:
            return []
        lines = ["Request started;", "if (call.succeeded()) {", "    started.rid = next_rid();"]
        if self.meaning.progress == "prepares":
            lines += ["    started.init_rid = started.rid;", "    started.is_persistent = true;", "    started.is_active = false;"]
        if self.function.of_kind("SOURCE") or self.function.of_kind("MESSAGE"):
            comm = self.values.communicator(is_early=True)
            source = self.function.of_kind("SOURCE")
            kind_of = "exchange_kind" if self.function.of_kind("DEST") else "receive_kind"
            kind = f"{kind_of}({source[0].name})" if source else "RequestKind::receive"
            lines += [f"    started.kind = {kind};", f"    started.comm = &{comm};"]
        if self.function.of_kind("FILE"):
            lines += ["    started.kind = RequestKind::access;", f"    started.size = {self.values.wanted_bytes(is_early=True)};"]
        if is_split:
            return [*lines, "}", "set_split_access(fh, started);"]
        request = requests[0].name
        return [*lines, f"    add_request(*{request}, {request}, started);", "}"]

    def track_message(self):
        for message in self.function.of_kind("MESSAGE", direction="out"):
            self.values.use_received()
            condition = "call.succeeded()" + (" && *flag" if self.function.of_kind("FLAG", direction="out") else "")
            return [f"if ({condition})",
                    f"    add_message(*{message.name}, {{&{self.values.communicator(is_early=True)}, "
                    "used_status.value().MPI_SOURCE, used_status.value().MPI_TAG});"]
        return []

    def track_file(self):
        if self.meaning.makes == "file":
            self.values.before.append("const FileBeforeCall before(filename);")
            return ["int64_t fid = -1;", "if (call.succeeded()) {", "    fid = before.id();", "    opened(*fh, fid, amode);", "}"]
        if self.meaning.frees == "file":
            return ["if (call.succeeded())", "    closed(fh_handle, fh_before);"]
        if self.is_split("waits"):
            self.values.before.insert(0, "const Request ended = split_access_of(fh);")
            return ["set_split_access(fh, Request());"]
        return []

    def track_names(self):
        namers = {"communicator": ("name_comm", "comm"), "datatype": ("name_type", "type"), "window": ("name_window", "window")}
        if self.meaning.names not in namers:
            return []
        namer, find = namers[self.meaning.names]
        handle, name = (p.name for p in self.function.parameters)
        return ["if (call.succeeded())", f"    {namer}(call.{find}({handle}), {name});"]

    # The element.

    def element(self):
        logged, values = self.function.logged, self.values
        writer = TextWriter(f"<{logged.element}")
        for attribute in logged.attributes:
            values.write_attribute(writer, attribute)
        writer.flush()
        children = [line for child in logged.children for line in self.child(child)]
        return ["Element element(call.trace());", *writer.lines,
                "call.finish_attributes(element);" if children else
                f'call.finish_attributes(element).end("{logged.element}");',
                *children, *([f'element.end("{logged.element}");'] if children else [])]

    def child(self, child):
        if child.each:
            return self.members_child(child)
        if child.name in ("Info", "Arg"):
            return self.texts_child(child)
        if child.name == "Command":
            return self.commands_child()
        if child.argument == "split":
            self.values.use_status()
            return ["if (ended.rid >= 0)",
                    "    put_completed(element, call.succeeded() ? ended : without_status(ended), used_status.get());"]
        writer = TextWriter(f"<{child.name}", child=True)
        for attribute in child.attributes:
            self.values.write_attribute(writer, attribute)
        writer.flush()
        return [*writer.lines, "element.end_child();"]

    def texts_child(self, child):
        """What an info object or an argument vector says, one element for each."""
        put = {"Info": "put_info", "Arg": "put_arguments"}[child.name]
        condition = self.values.condition(self.function.parameter(child.argument))
        lines = [f"{put}(element, call, {child.argument});"]
        return [f"if ({condition})", *indent(lines)] if condition else lines

    def commands_child(self):
        """The commands of MPI_Comm_spawn_multiple."""
        names = ["count", "array_of_commands", "array_of_argv", "array_of_info"]
        condition = self.values.condition(self.function.parameter(names[0]))
        return [f"if ({condition})", f"    put_commands(element, call, {', '.join(names)});"]

    def members_child(self, child):
        """One element for each member whose count is not zero."""
        counts = self.function.parameter(child.each.count)
        types = self.function.parameter(child.each.datatype)
        comm = self.values.communicator()
        comm_handle = self.function.of_kind("COMM")[0].name
        sizes = {"members": (f"{comm}.peer_count()", f"world_rank({comm}, i)"),
                 "local_members": (f"{comm}.local_size", f"({comm}.local ? {comm}.local[i] : i)"),
                 "sources": (f"neighbors_of({comm_handle}, {comm}).source_count", f"neighbors_of({comm_handle}, {comm}).sources[i]"),
                 "destinations": (f"neighbors_of({comm_handle}, {comm}).destination_count",
                                  f"neighbors_of({comm_handle}, {comm}).destinations[i]")}
        count, rank = sizes[counts.length]
        type_of_one = f"call.type({types.name}[i])" if types.is_array else f"{self.values.type_of(types)}"
        condition = self.values.condition(counts)
        loop = [f"for (int i = 0, n = {count}; i < n; ++i) {{",
                f"    if ({counts.name}[i] == 0)", "        continue;",
                f"    const Type type = {type_of_one};",
                f'    element.child("<{child.name} rank=\'").number({rank}).text("\' size=\'").number({counts.name}[i] * type.size);',
                f'    element.text("\' count=\'").number({counts.name}[i]).text("\' tid=\'").number(type.id);',
                *([f'    element.text("\' displ=\'").number({child.each.displacements}[i]);'] if child.each.displacements else []),
                '    element.text("\'").end_child();',
                "}"]
        condition = " && ".join(filter(None, ["call.succeeded()", condition]))
        return [f"if ({condition}) {{", *indent(loop), "}"]


class TextWriter:
    """Collects what is appended to the element; constant texts that touch become one."""

    def __init__(self, start, child=False):
        self.lines = []
        self._text = start
        self._chain = ""
        self._child = child  # the next text begins a child element

    def text(self, text):
        self._text += text

    def value(self, expression):
        """expression: e.g. '.number(count)'"""
        self._take_text()
        self._chain += expression

    def statement(self, *lines):
        """Something that is no part of a chain."""
        self.flush()
        self.lines += lines

    def flush(self):
        self._take_text()
        if self._chain:
            self.lines.append(f"element{self._chain};")
        self._chain = ""

    def _take_text(self):
        if self._text:
            self._chain += f'.{"child" if self._child else "text"}("{self._text}")'
            self._child = False
        self._text = ""


class Values:
    """Turns the values of a function's log line into C++, and collects what they need before and after the call."""

    def __init__(self, function):
        self.function = function
        self.before = []  # statements before the call
        self._lookups = {}  # name -> statement, after the call
        self._early = set()  # names of lookups that are needed even if nothing is recorded
        self._uses_status = False
        self._ids_before()

    # What is needed.

    def _ids_before(self):
        """A call that frees an object leaves a null handle: its id must be taken before."""
        for parameter in self.function.of_kind("COMM", "DATATYPE", "FILE", "WIN", direction="inout"):
            if parameter.is_array:
                continue
            kind, name = parameter.kind.name, parameter.name
            null = {"COMM": "MPI_COMM_NULL", "DATATYPE": "MPI_DATATYPE_NULL", "FILE": "MPI_FILE_NULL", "WIN": "MPI_WIN_NULL"}[kind]
            self.before.append(f"const {parameter.kind.c} {name}_handle = {name} ? *{name} : {null};")
            found = {"COMM": "call.comm({})", "DATATYPE": "call.type({})", "FILE": "call.file({})", "WIN": "call.window({})"}[kind].format(f"{name}_handle")
            if kind in ("FILE", "WIN"):  # what forgets them has to know which they were
                self.before.append(f"const auto {name}_before = {found};")
                found = f"{name}_before"
            self.before.append(f"const int64_t {name}_id = {found}.id;")
        if self.function.of_kind("MESSAGE", direction="inout"):
            self.before.append("const MatchedMessage matched(message);")

    def passed(self, parameter):
        """What the real function is given for a parameter."""
        return "used_status.get()" if self._uses_status and parameter.kind and parameter.kind.name == "STATUS" else parameter.name

    def early_lookups(self):
        return [line for name, line in self._lookups.items() if name in self._early]

    def lookups(self):
        return [line for name, line in self._lookups.items() if name not in self._early]

    def use_status(self):
        if not self._uses_status:
            status = self.function.of_kind("STATUS", direction="out")[0].name
            self.before.append(f"StatusArgument used_status({status});")
            self._uses_status = True

    def use_received(self):
        self.use_status()
        if "received" in self._lookups:
            return
        comm = self.communicator()
        source = self.function.of_kind("SOURCE")
        tag = "recvtag" if any(p.name == "recvtag" for p in self.function.parameters) else "tag"
        posted = f"{source[0].name}, {tag}" if source else "matched.source, matched.tag"
        flag = self.function.of_kind("FLAG", direction="out")
        has_message = "call.succeeded()" + (f" && *{flag[0].name}" if flag else "")
        self._lookups["received"] = f"const Received received({comm}, {posted}, {has_message}, used_status.get());"

    def communicator(self, parameter=None, is_early=False):
        """The object of the function's communicator, or of another one."""
        comms = [p for p in self.function.of_kind("COMM") if p.direction == "in"]
        if parameter is None and not comms:
            return "(*matched.comm)"  # of a matched message
        if is_early:
            self._early.add(f"{comms[0].name}_object")
        parameter = parameter or comms[0]
        name = f"{parameter.name}_object"
        if name not in self._lookups:
            condition = self.condition(parameter)
            find = f"call.comm({parameter.name})"
            self._lookups[name] = f"const Comm& {name} = {f'{condition} ? {find} : null_comm' if condition else find};"
        return name

    def rooted(self):
        root = self.function.of_kind("ROOT")[0]
        comm = self.communicator()
        self._lookups.setdefault("rooted", f"const Rooted rooted({comm}, {root.name});")
        return "rooted"

    def window(self, parameter):
        name = f"{parameter.name}_object"
        handle = f"*{parameter.name}" if parameter.is_written else parameter.name
        find = f"call.window({handle})"
        if parameter.direction == "out":
            find = f"call.succeeded() ? {find} : Window()"
        self._lookups.setdefault(name, f"const Window {name} = {find};")
        return name

    def type_of(self, parameter):
        name = f"{parameter.name}_object"
        handle = f"*{parameter.name}" if parameter.is_written else parameter.name
        find = f"call.type({handle})"
        condition = self.condition(parameter)
        if parameter.direction == "out":
            condition = "call.succeeded()"
            find = self._made_type(handle)
        statement = f"{condition} ? {find} : Type()" if condition else find
        self._lookups.setdefault(name, f"const Type {name} = {statement};")
        return name

    def wanted_bytes(self, is_early=False):
        """Of an access to a file."""
        size = next(value for a in self.function.logged.attributes if a.name == "size" for value in a.values)
        if is_early:
            self._early.add(self.type_of(self.function.parameter(size.datatype)))
        return _inside(self._value(size)[1])

    def _made_type(self, handle):
        """A new datatype is described by the handles that it was made of."""
        arrays = [p for p in self.function.of_kind("DATATYPE") if p.is_array and p.direction != "out"]
        single = [p for p in self.function.of_kind("DATATYPE", direction="in") if not p.is_array]
        if arrays:
            return f"find_type_made_of({handle}, {arrays[0].name}, {arrays[0].length})"
        return f"find_type_made_of({handle}, &{single[0].name}, 1)" if len(single) == 1 else f"call.type({handle})"

    def condition(self, parameter):
        """When MPI defines the value; '' is always."""
        conditions = []
        for item in parameter.significant:
            if item.startswith("!"):
                conditions.append(f"{item[1:]} != MPI_IN_PLACE")
            elif item == "@leader":
                conditions.append(f"{self.communicator()}.rank == local_leader")
            else:
                conditions.append(f"{self.rooted()}.is_{item[1:]}")
        return " && ".join(conditions)

    # Values.

    def write_attribute(self, writer, attribute):
        if isinstance(attribute.values[0], Special):
            self._write_special(writer, attribute.name, attribute.values[0].name)
            return
        pairs = [self._value(value) for value in attribute.values]
        conditions = [condition for condition, _ in pairs]
        expression = pairs[-1][1]
        for condition, value in reversed(pairs[:-1]):
            expression = f".number({condition} ? {_inside(value)} : {_inside(expression)})"
        if all(conditions):
            both = " || ".join(f"({c})" if " " in c and len(conditions) > 1 else c for c in conditions)
            self._write_if(writer, both, attribute.name, expression)
        else:
            self._write(writer, attribute.name, expression)

    def _write(self, writer, name, expression):
        writer.text(f" {name}='")
        self._write_value(writer, expression)
        writer.text("'")

    def _write_if(self, writer, condition, name, expression):
        inner = TextWriter(f" {name}='")
        self._write_value(inner, expression)
        inner.text("'")
        inner.flush()
        braces = len(inner.lines) > 1
        writer.statement(f"if ({condition}){' {' if braces else ''}", *indent(inner.lines), *(["}"] if braces else []))

    @staticmethod
    def _write_value(writer, expression):
        if expression.startswith("."):
            writer.value(expression)
        else:
            writer.statement(expression)

    def _value(self, value):
        """-> (when it is significant, how it is written)"""
        if isinstance(value, Product):
            datatype = self.function.parameter(value.datatype)
            if value.count == "1":
                return self.condition(datatype), f".number({self.type_of(datatype)}.size)"
            counts = [self.function.parameter(name) for name in value.count.split("*")]
            condition = self.condition(counts[-1])
            product = " * ".join([f"{self.type_of(datatype)}.size", *(count.name for count in counts)])
            return condition, f".number({product})"
        parameter = self.function.parameter(value.parameter)
        if not parameter.kind or not parameter.kind.value:
            raise TableError(f"{self.function.chapter}.toml: {self.function.name}: '{parameter.name}' has no kind that can be written")
        conditions = [self.condition(parameter)]
        is_answer = parameter.is_written and parameter.kind.name not in ("REQUEST", "COMM", "DATATYPE", "FILE", "WIN")
        if is_answer or parameter.is_array or parameter.kind.name == "GROUP":
            conditions.append("call.succeeded()")  # nobody else has looked at it
        if parameter.kind.value == "in_place":
            conditions = [f"{parameter.name} == MPI_IN_PLACE"]
        if parameter.kind.value == "weights":
            conditions.append(f"has_weights({parameter.name})")
        value = "number" if value.is_plain else parameter.kind.value
        return " && ".join(filter(None, conditions)), getattr(self, f"_format_{value}")(parameter)

    # One function for each `value` of kinds.toml.

    @staticmethod
    def _plain(parameter):
        return f"*{parameter.name}" if parameter.is_written else parameter.name

    def _format_number(self, parameter):
        if parameter.is_array:
            return f"put_list(element, {parameter.name}, {self._length(parameter)});"
        return f".number({self._plain(parameter)})"

    _format_weights = _format_number

    def _length(self, parameter):
        """'n', or what the runtime derives: 'dimensions' of the communicator, the 'last:' or the 'sum:' of another array."""
        if parameter.length == "dimensions":
            return f"dimensions_of({self.function.of_kind('COMM')[0].name})"
        derived, _, other = parameter.length.rpartition(":")
        return f"{derived}_of({other}, {self.function.parameter(other).length})" if derived else other

    def _format_index(self, parameter):
        value = self._plain(parameter)
        return f".number({value} == MPI_UNDEFINED ? -1 : {value})"

    def _format_in_place(self, _parameter):
        return ".number(1)"

    def _format_string(self, parameter):
        return f"put_string(element, {parameter.name});"

    def _format_rank(self, parameter):
        comm = self.communicator(self.function.parameter(parameter.of) if parameter.of else None)
        return f".number(world_rank({comm}, {self._plain(parameter)}))"

    def _format_target(self, parameter):
        window = self.window(self.function.of_kind("WIN")[0])
        return f".number(world_rank(*{window}.comm, {self._plain(parameter)}))"

    def _format_win(self, parameter):
        return f".number({parameter.name}_id)" if parameter.direction == "inout" else f".number({self.window(parameter)}.id)"

    def _format_group(self, parameter):
        return f"put_group(element, call, {self._plain(parameter)});"

    def _format_tag(self, parameter):
        return f".number(tag_value({self._plain(parameter)}))"

    def _format_one_of(self, parameter):
        return f"put_name(element, {names_of(parameter.kind)}, {self._plain(parameter)});"

    def _format_any_of(self, parameter):
        return f"put_names(element, {names_of(parameter.kind)}, {self._plain(parameter)});"

    def _format_op(self, parameter):
        return f".name(op_name({self._plain(parameter)}))"

    def _format_comm(self, parameter):
        if parameter.direction == "inout":
            return f".number({parameter.name}_id)"
        if parameter.direction == "out":
            return f".number(call.succeeded() ? call.comm(*{parameter.name}).id : -1)"
        return f".number({self.communicator(parameter)}.id)"

    def _format_datatype(self, parameter):
        if parameter.direction == "inout":
            return f".number({parameter.name}_id)"
        return f".number({self.type_of(parameter)}.id)"

    def _format_file(self, parameter):
        if parameter.direction == "inout":
            return f".number({parameter.name}_id)"
        if parameter.direction == "out":
            return ".number(fid)"
        return f".number({self._file(parameter)}.id)"

    def _format_request(self, parameter):
        if parameter.direction == "out":
            return ".number(started.rid)"
        self._lookups.setdefault("given", "Request given;")
        self._lookups.setdefault("given_found", f"find_request({parameter.name}, nullptr, &given);")
        return ".number(given.rid)"

    def _file(self, parameter=None):
        name = (parameter or self.function.of_kind("FILE")[0]).name
        statement = f"const File {name}_object = call.file({name});"
        if statement not in self.before:
            self.before.append(statement)
        return f"{name}_object"

    # Values that only the runtime knows.

    def _write_special(self, writer, name, special):
        handler = getattr(self, f"_special_{special}", None)
        if handler is None:
            raise TableError(f"{self.function.chapter}.toml: {self.function.name}: nothing is known as ${special}")
        handler(writer, name)

    def _write_received(self, writer, name, member):
        if not self.function.of_kind("STATUS", direction="out"):
            self._write(writer, name, ".number(world_rank(*matched.comm, matched.source))" if member == "source"
                        else ".number(tag_value(matched.tag))")
            return
        self.use_received()
        is_probe = any(value.parameter == "source" for a in self.function.logged.attributes for value in a.values
                       if isinstance(value, Argument))
        if is_probe or member == "size":
            self._write_if(writer, "received.is_known", name, f".number(received.{member})")
        else:
            self._write(writer, name, f".number(received.{member})")

    def _special_source(self, writer, name):
        self._write_received(writer, name, "source")

    def _special_tag(self, writer, name):
        self._write_received(writer, name, "tag")

    def _special_size(self, writer, name):
        self._write_received(writer, name, "size")

    def _special_posted(self, writer, _name):
        self.use_received()
        writer.statement("received.put_posted(element);")

    def _special_comm(self, writer, name):
        self._write(writer, name, ".number(matched.comm->id)")

    def _special_split(self, writer, name):
        self._write(writer, name, ".number(started.rid)")

    def _special_ranges(self, writer, name):
        self._write(writer, name, "put_ranges(element, ranges, n);")

    def _special_named(self, writer, name):
        self.before.append("const FileBeforeCall before(filename);")
        self._write(writer, name, ".number(call.succeeded() ? before.id() : -1)")

    def _special_actual(self, writer, name):
        """The bytes that were really transferred, where that is not what was asked for."""
        self.use_status()
        wanted = self.wanted_bytes()
        self._lookups["actual"] = "const int64_t actual = call.succeeded() ? status_bytes(used_status.value()) : 0;"
        self._write_if(writer, f"call.succeeded() && actual != {wanted}", name, ".number(actual)")

    def _special_offset(self, writer, name):
        file = self._file()
        handle = self.function.of_kind("FILE")[0].name
        if self.function.meaning.file == "seek":
            # Where the shared pointer is, other processes may change at any time.
            is_shared = self.function.meaning.pointer == "shared"
            find = f"byte_offset({handle}, {file}, offset)" if is_shared else f"byte_offset_of_pointer({handle}, {file})"
            condition = "call.succeeded()" + (" && whence == MPI_SEEK_SET" if is_shared else "")
            self._lookups.setdefault("offset_in_bytes", f"const int64_t offset_in_bytes = {condition} ? {find} : no_offset;")
        elif self.function.of_kind("OFFSET"):
            statement = f"const int64_t offset_in_bytes = call.succeeded() ? byte_offset({handle}, {file}, offset) : no_offset;"
            self._lookups.setdefault("offset_in_bytes", statement)
        else:
            # The call moves the pointer.
            statement = f"const int64_t offset_in_bytes = call.is_recorded() ? byte_offset_of_pointer({handle}, {file}) : no_offset;"
            if statement not in self.before:
                self.before.append(statement)
        self._write_if(writer, "offset_in_bytes != no_offset", name, ".number(offset_in_bytes)")


def _inside(expression):
    """'.number(x)' -> 'x'"""
    return expression.removeprefix(".number(").removesuffix(")")
