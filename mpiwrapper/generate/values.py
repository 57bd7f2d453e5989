"""Turns the values of a function's line in [logged] into C++."""

import re
from contextlib import contextmanager

from .known import KnownArguments
from .tables import Argument, Product, Special, TableError
from .text import Name, Number, Statement, TextWriter, indent


def names_of(kind):
    """The table of a kind's constants."""
    return f"{kind.name.lower()}_names"


class Values:
    """Turns the values of a function's log line into C++, and collects what they need before and after the call."""

    def __init__(self, function):
        self.function = function
        self.before = []  # statements before the call
        self.known = KnownArguments()
        self.figures = {}  # attribute -> (when it is written, '' is always; the number), of the element itself
        self._begin_lookups = {}  # name -> statement, for what is known at the beginning
        self._after_lookups = {}  # the same after the call
        self._lookups = self._after_lookups
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
        for freed in self.function.of_kind("GROUP", "OP", "INFO", "ERRHANDLER", direction="inout"):
            null = {"GROUP": "MPI_GROUP_NULL", "OP": "MPI_OP_NULL", "INFO": "MPI_INFO_NULL", "ERRHANDLER": "MPI_ERRHANDLER_NULL"}[freed.kind.name]
            self.before.append(f"const {freed.kind.c} {freed.name}_before = {freed.name} ? *{freed.name} : {null};")
        for keyval in self.function.of_kind("KEYVAL", direction="inout"):
            self.before.append(f"const int {keyval.name}_before = {keyval.name} ? *{keyval.name} : MPI_KEYVAL_INVALID;")
        if self._spawns():
            self._infos_for_children()
        if self.function.of_kind("MESSAGE", direction="inout"):
            self.before.append("const MatchedMessage matched(message);")

    def _spawns(self):
        return bool(self.function.creation) and self.function.creation[0] == "by_spawn" and bool(self.function.of_kind("INFO"))

    def _infos_for_children(self):
        """What MPI_Comm_spawn gives to the processes that it starts."""
        info = self.function.of_kind("INFO")[0]
        comm = self.function.of_kind("COMM", direction="in")[0].name
        infos = f"{info.length}, {info.name}" if info.is_array else f"1, &{info.name}"
        self.before.append(f"const InfosForChildren infos(call.comm({comm}), root, {infos});")

    def passed(self, parameter):
        """What the real function is given for a parameter."""
        if self._spawns() and parameter.kind and parameter.kind.name == "INFO":
            return "infos.get()" if parameter.is_array else "*infos.get()"
        return "used_status.get()" if self._uses_status and parameter.kind and parameter.kind.name == "STATUS" else parameter.name

    def early_lookups(self):
        lookups = {name: line for name, line in self._after_lookups.items() if name in self._early}
        return [line.replace("call.comm(", "call.kept_comm(") if name == self._kept_communicator() else line
                for name, line in lookups.items()]

    def lookups(self):
        lookups = {name: line for name, line in self._after_lookups.items() if name not in self._early}
        return [f"const Comm& {name} = call.kept_comm();" if name == self._kept_communicator() else line
                for name, line in lookups.items()]

    def lookups_for(self, lines):
        """Statements for what they need, where nothing was kept since the call began."""
        found = {name: line for lookups in (self._after_lookups, self._begin_lookups) for name, line in lookups.items() if name not in self._early}
        found = {name: self.known.without_state(line) for name, line in found.items()}
        needed = set()
        text = "\n".join(lines)
        for name in reversed(self._in_order(found)):
            if re.search(rf"\b{name}\b", text):
                needed.add(name)
                text += "\n" + found[name]
        return [found[name] for name in self._in_order(found) if name in needed]

    def _in_order(self, lookups):
        """What others need comes first: what the call was given, before what it answered."""
        return [*(name for name in self._begin_lookups if name in lookups), *(name for name in self._after_lookups if name in lookups and name not in self._begin_lookups)]

    # What is known when the call begins.

    @contextmanager
    def _at_begin(self):
        self._lookups = self._begin_lookups
        yield
        self._lookups = self._after_lookups

    def _is_at_begin(self):
        return self._lookups is self._begin_lookups

    def _write_known(self, writer, name, condition, value):
        """Something that is known at the beginning, kept until it is written."""
        place = self.known.add(name, condition, value)
        kept = value.read_from(self.known.kept(place))
        if condition:
            self._write_if(writer, f"state.has({place})", name, kept)
        else:
            self._write(writer, name, kept)

    def add_waited_for(self):
        """The split access that the call ends, told as what it waits for."""
        self.known.add("Pending", "", Statement("", "children", ("&ended.rid", "nullptr", "1"),
                                                ".item_size = sizeof(int64_t), .stride = sizeof(int64_t), .find = find_itself"))

    def _kept_communicator(self):
        """The one that is needed after the call as well as before it."""
        return next((name for name, line in self._begin_lookups.items()
                     if name in self._after_lookups and line.startswith("const Comm&")), None)

    def set_arguments(self):
        """The function that sets what is known of a call when it begins; nothing if there is nothing."""
        kept = self._kept_communicator()
        return self.known.setting([statement for name, line in self._begin_lookups.items()
                                   for statement in (line, *([f"call.keep({name});"] if name == kept else []))])

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
        posted = ", ".join(self.known.kept(place) for place in self._posted())
        flag = self.function.of_kind("FLAG", direction="out")
        has_message = "call.succeeded()" + (f" && *{flag[0].name}" if flag else "")
        self._lookups["received"] = f"const Received received({comm}, {posted}, {has_message}, used_status.get());"

    def _posted(self):
        """What a receive or probe asks for: the places of the source and the tag among the known."""
        source = self.function.of_kind("SOURCE")
        tag = "recvtag" if any(p.name == "recvtag" for p in self.function.parameters) else "tag"
        with self._at_begin():
            comm = self.communicator()
        asked = (source[0].name, tag) if source else ("matched.source", "matched.tag")
        values = (Number(f"world_rank({comm}, {asked[0]})"), Number(f"tag_value({asked[1]})"))
        names = (None, None) if self._is_probe() else ("fromRank", "fromTag")  # a probe has them as source and tag
        return [self.known.add(name, "", value) for name, value in zip(names, values)]

    def _is_probe(self):
        return any(value.parameter == "source" for a in self.function.logged.attributes for value in a.values
                   if isinstance(value, Argument))

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
        return self._value(size)[1].expression

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
            elif item == "@combined":
                conditions.append(f"{self.function.of_kind('OP')[0].name} != MPI_NO_OP")
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
        if writer.is_element and all(self._is_known_at_begin(value) for value in attribute.values):
            with self._at_begin():
                condition, value = self._condition_and_value(attribute)
            if not isinstance(value, Statement):
                self._write_known(writer, attribute.name, condition, value)
                return
            if value.kind:
                self.known.add(attribute.name, condition, value)
        condition, value = self._condition_and_value(attribute)
        if condition:
            self._write_if(writer, condition, attribute.name, value)
        else:
            self._write(writer, attribute.name, value)

    def _condition_and_value(self, attribute):
        """When the attribute is written ('' is always), and what of its values."""
        pairs = [self._value(value) for value in attribute.values]
        conditions = [condition for condition, _ in pairs]
        expression = pairs[-1][1]
        for condition, value in reversed(pairs[:-1]):
            expression = Number(f"{condition} ? {value.expression} : {expression.expression}")
        if not all(conditions):
            return "", expression
        return " || ".join(f"({c})" if " " in c and len(conditions) > 1 else c for c in conditions), expression

    def _is_known_at_begin(self, value):
        """Neither what the call answers, nor what only MPI can tell."""
        if isinstance(value, Product):
            return True
        parameter = self.function.parameter(value.parameter)
        if not parameter.kind or parameter.direction == "out":
            return False
        if parameter.kind.name == "GROUP":
            return self._is_told_early(parameter)
        if parameter.is_array:  # a length that is derived needs MPI or what is in another array
            return any(other.name == parameter.length for other in self.function.parameters)
        return parameter.direction == "in" or parameter.kind.name in ("COMM", "DATATYPE", "FILE", "WIN", "KEYVAL", "MESSAGE")

    def _keep_figure(self, writer, name, condition, value):
        if writer.is_element and isinstance(value, Number):
            self.figures.setdefault(name, (condition, value.expression))

    def _write(self, writer, name, expression):
        self._keep_figure(writer, name, "", expression)
        writer.text(f" {name}='")
        writer.value(expression)
        writer.text("'")

    def _write_if(self, writer, condition, name, expression):
        self._keep_figure(writer, name, condition, expression)
        inner = TextWriter(f" {name}='")
        inner.value(expression)
        inner.text("'")
        inner.flush()
        braces = len(inner.lines) > 1
        writer.statement(f"if ({condition}){' {' if braces else ''}", *indent(inner.lines), *(["}"] if braces else []))

    def _value(self, value):
        """-> (when it is significant, how it is written)"""
        if isinstance(value, Product):
            datatype = self.function.parameter(value.datatype)
            if value.count == "1":
                return self.condition(datatype), Number(f"{self.type_of(datatype)}.size")
            counts = [self.function.parameter(name) for name in value.count.split("*")]
            condition = self.condition(counts[-1])
            product = " * ".join([f"{self.type_of(datatype)}.size", *(count.name for count in counts)])
            return condition, Number(product)
        parameter = self.function.parameter(value.parameter)
        if not parameter.kind or not parameter.kind.value:
            raise TableError(f"{self.function.chapter}.toml: {self.function.name}: '{parameter.name}' has no kind that can be written")
        conditions = [self.condition(parameter)]
        is_known = parameter.kind.name in ("REQUEST", "COMM", "DATATYPE", "FILE", "WIN", "MESSAGE") or self._is_freed(parameter)
        is_answer = parameter.is_written and not is_known
        if parameter.kind.name == "GROUP" and self._is_told_early(parameter):
            is_told = f"{parameter.name}_members.find()"  # and stays told, if the call fails
            conditions.append(is_told if self._is_at_begin() else f"(call.succeeded() || {is_told})")
        elif is_answer or not self._is_at_begin() and (parameter.is_array or parameter.kind.name == "GROUP"):
            conditions.append("call.succeeded()")  # nobody else has looked at it
        if parameter.kind.value == "in_place":
            conditions = [f"{parameter.name} == MPI_IN_PLACE"]
        if parameter.kind.value == "message":
            conditions = [f"{self._message_id(parameter)} >= 0"]
        if parameter.kind.value == "weights":
            conditions.append(f"has_weights({parameter.name})")
        value = "number" if value.is_plain else parameter.kind.value
        return " && ".join(filter(None, conditions)), getattr(self, f"_format_{value}")(parameter)

    # One function for each `value` of kinds.toml.

    @staticmethod
    def _is_freed(parameter):
        return parameter.kind.name == "KEYVAL" and parameter.direction == "inout"

    @staticmethod
    def _plain(parameter):
        return f"*{parameter.name}" if parameter.is_written else parameter.name

    def _format_number(self, parameter):
        if parameter.is_array:
            return self._numbers("put_list", parameter)
        return Number(f"{self._plain(parameter)}")

    _format_weights = _format_number

    def _numbers(self, put, parameter, details=""):
        length = self._length(parameter)
        kind = "numbers" if parameter.kind.c == "int" else ""
        return Statement(f"{put}(element, {parameter.name}, {length});", kind, (parameter.name, length), details)

    def _length(self, parameter):
        """'n', or what the runtime derives: 'dimensions' of the communicator, the 'last:' or the 'sum:' of another array, or of
        an answer how much there is, 'edges:most'."""
        comm = next((p.name for p in self.function.of_kind("COMM")), None)
        if parameter.length == "dimensions":
            return f"dimensions_of({comm})"
        derived, _, other = parameter.length.rpartition(":")
        if derived in ("dimensions", "indegree", "outdegree", "nodes", "edges"):
            return f"{derived}_of({comm}, {other})"
        if derived == "neighbors":
            return f"neighbors_of({comm}, rank, {other})"
        return f"{derived}_of({other}, {self.function.parameter(other).length})" if derived else other

    def _format_index(self, parameter):
        value = self._plain(parameter)
        return Number(f"{value} == MPI_UNDEFINED ? -1 : {value}")

    def _format_in_place(self, _parameter):
        return Number("1")

    def _format_string(self, parameter):
        return Statement(f"put_string(element, {parameter.name});", "string", (parameter.name,))

    def _format_rank(self, parameter):
        comm = self.communicator(self.function.parameter(parameter.of) if parameter.of else None)
        return Number(f"world_rank({comm}, {self._plain(parameter)})")

    def _format_target(self, parameter):
        window = self.window(self.function.of_kind("WIN")[0])
        return Number(f"world_rank(*{window}.comm, {self._plain(parameter)})")

    def _format_win(self, parameter):
        return Number(f"{parameter.name}_id") if parameter.direction == "inout" else Number(f"{self.window(parameter)}.id")

    def _format_group(self, parameter):
        members = f"{parameter.name}_members"
        lookup = f"GroupMembers {members}({self._plain(parameter)});"
        if not self._is_told_early(parameter):
            return Statement(f"{lookup} put_group(element, call, {members});")
        if lookup not in self.before:
            self.before.append(lookup)
        return Statement(f"put_group(element, call, {members});", "string", (f"{members}.text()",))

    def _is_told_early(self, group):
        """Whoever waits for the members of a group is asked for whom while the call lasts."""
        return group.kind.name == "GROUP" and group.direction == "in" and self.function.meaning.progress == "blocking"

    def _format_tag(self, parameter):
        return Number(f"tag_value({self._plain(parameter)})")

    def _format_one_of(self, parameter):
        value = f"{parameter.name}_before" if self._is_freed(parameter) else self._plain(parameter)
        return Statement(f"element.name_of({names_of(parameter.kind)}, {value});", "one_of", (value,), f".names = {names_of(parameter.kind)}")

    def _format_local_rank(self, parameter):
        if parameter.is_array:
            return self._numbers("put_local_ranks", parameter, ".meaning = local_rank")
        return Number(f"local_rank({self._plain(parameter)})")

    def _format_any_of(self, parameter):
        value = self._plain(parameter)
        return Statement(f"element.names_of({names_of(parameter.kind)}, {value});", "any_of", (value,), f".names = {names_of(parameter.kind)}")

    def _format_op(self, parameter):
        return Name(f"op_name({self._plain(parameter)})")

    def _format_comm(self, parameter):
        if parameter.direction == "inout":
            return Number(f"{parameter.name}_id")
        if parameter.direction == "out":
            return Number(f"call.succeeded() ? call.comm(*{parameter.name}).id : -1")
        return Number(f"{self.communicator(parameter)}.id")

    def _format_datatype(self, parameter):
        if parameter.direction == "inout":
            return Number(f"{parameter.name}_id")
        return Number(f"{self.type_of(parameter)}.id")

    def _format_file(self, parameter):
        if parameter.direction == "inout":
            return Number(f"{parameter.name}_id")
        if parameter.direction == "out":
            return Number("fid")
        return Number(f"{self._file(parameter)}.id")

    @staticmethod
    def _message_id(parameter):
        return "mid" if parameter.direction == "out" else "matched.id"

    def _format_message(self, parameter):
        return Number(self._message_id(parameter))

    def _format_request(self, parameter):
        if parameter.direction == "out":
            return Number("started.rid")
        if self._is_at_begin():
            handle = f"static_cast<int64_t>(handle_bits({parameter.name}))"
            return Statement("", "found", (handle, "nullptr"), ".item_size = sizeof(MPI_Request), .find = find_rid")
        self._lookups.setdefault("asked", "Request asked;")
        find = f"find_request({parameter.name}, nullptr, &asked);"
        if self.function.meaning.progress == "asks":
            self._lookups.setdefault("asked_found", find)
        else:  # its completion may be told to another thread, which starts what has the same handle, before the call returns
            self.before += [self._lookups.pop("asked"), find]
        return Number("asked.rid")

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
            self._write_known(writer, name, "", Number("world_rank(*matched.comm, matched.source)") if member == "source"
                              else Number("tag_value(matched.tag)"))
            return
        self.use_received()
        if self._is_probe() or member == "size":
            self._write_if(writer, "received.is_known", name, Number(f"received.{member}"))
        else:
            self._write(writer, name, Number(f"received.{member}"))

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
        self._write_known(writer, name, "", Number("matched.comm->id"))

    def _special_split(self, writer, name):
        self._write(writer, name, Number("started.rid"))

    def _special_value(self, writer, _name):
        """Of an attribute that MPI itself has."""
        keyval, value = (next(p for p in self.function.parameters if word in p.name).name for word in ("keyval", "attribute_val"))
        writer.statement("if (call.succeeded() && *flag)", f"    put_attribute_value(element, {keyval}, {value});")

    def _special_errors(self, writer, name):
        """Of the processes that MPI_Comm_spawn was to start; only the root knows how many there are."""
        count = self.function.parameter("array_of_maxprocs" if self.function.of_kind("INFO")[0].is_array else "maxprocs")
        length = f"sum_of({count.name}, {count.length})" if count.is_array else count.name
        condition = f"call.succeeded() && {self.rooted()}.is_root && array_of_errcodes != MPI_ERRCODES_IGNORE"
        self._write_if(writer, condition, name, Statement(f"put_errors(element, array_of_errcodes, {length});"))

    def _special_ranges(self, writer, name):
        self._write(writer, name, Statement("put_ranges(element, ranges, n);"))

    def _special_named(self, writer, name):
        self.before.append("const FileBeforeCall before(filename);")
        self._write(writer, name, Number("call.succeeded() ? before.id() : -1"))

    def _special_actual(self, writer, name):
        """The bytes that were really transferred, where that is not what was asked for."""
        self.use_status()
        wanted = self.wanted_bytes()
        self._lookups["actual"] = f"const int64_t actual = call.succeeded() ? transferred_bytes(used_status.value(), {wanted}) : 0;"
        self._write_if(writer, f"call.succeeded() && actual != {wanted}", name, Number("actual"))

    def _special_doubtful(self, writer, name):
        """Whether `rid`, which stands before it, may be another operation with an equal handle."""
        self._write_if(writer, "asked.is_doubtful", name, Number("1"))

    def _special_indegree(self, writer, name):
        self._write_degree(writer, name)

    def _special_outdegree(self, writer, name):
        self._write_degree(writer, name)

    def _write_degree(self, writer, name):
        """How many neighbours the process has."""
        handle = self.function.of_kind("COMM")[0].name
        self._write_if(writer, "call.succeeded()", name, Number(f"neighbors_of({handle}, {self.communicator()}).{name}"))

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
            if writer.is_element:
                self._write_known(writer, name, "offset_in_bytes != no_offset", Number("offset_in_bytes"))
                return
        self._write_if(writer, "offset_in_bytes != no_offset", name, Number("offset_in_bytes"))
