"""Emits the wrappers. Every function returns text; nothing here reads or writes files.

A wrapper has four parts: what must be known before the call, the call, what must be remembered after it even if
nothing is recorded (`track`), and the element. The values in the element come from `Values`.
"""

from .buffers import describe_buffers
from .facts import row_of_facts
from .text import TextWriter, indent
from .values import Values, names_of

# Objects without a number: checks tell them apart by their handles.
HANDLES_OF = {"group": "GROUP", "op": "OP", "info": "INFO", "errhandler": "ERRHANDLER"}

HEADER = "// Generated from mpiwrapper/api - do not edit.\n"


def emit_chapter(chapter):
    """The C++ file with all generated wrappers of a chapter."""
    functions = [function for function in chapter.functions if function.logged.handwritten is None]
    return (HEADER + '#include "mpiwrapper/runtime/buffers/buffers.h"\n#include "mpiwrapper/runtime/calls/children.h"\n#include "mpiwrapper/runtime/calls/transfer.h"\n'
            '#include "mpiwrapper/runtime/calls/values.h"\n\n'
            "using namespace hdtrace;\nusing namespace hdtrace::mpi;\n\n"
            + "\n".join(emit_function(function) for function in functions))


def emit_real_functions(names):
    """One line for each function that is called past the wrappers."""
    return HEADER + "".join(f"HDT_REAL({name})\n" for name in sorted(names))


def emit_available_functions(names):
    """A macro for each function that is there, for code that not every MPI library has a use for."""
    return HEADER + "".join(f"#define HDT_HAS_{name} 1\n" for name in sorted(names))


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


def emit_wrapped_functions(functions):
    """One line for each function that has a wrapper: what rules call it, when it is recorded unless told, the class that rules know
    it by, whether it may come before and after MPI, and whether it frees an object."""
    rows = sorted((function.name, function.standard_name, level_of(function), function.meaning) for function in functions)
    return HEADER + "".join(
        f'HDT_WRAPPED({name}, "{standard_name}", {level}, "{meaning.call_class}", {_flag(meaning.anytime)}, {_flag(meaning.frees != "none")})\n'
        for name, standard_name, level, meaning in rows)


def _flag(is_set):
    return "true" if is_set else "false"


def emit_absent_functions(names):
    """One line for each function that only other MPI libraries have: rules may name it."""
    return HEADER + "".join(f"HDT_ABSENT({name})\n" for name in sorted(names))


def level_of(function):
    """From which value of HDTRACE_ALL_FUNCTIONS on it is recorded: enum Level in functions.h."""
    return "local_query" if function.meaning.is_query else "ordinary" if function.logged.is_empty else "with_attributes"


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


class Wrapper:
    """Puts the parts of one wrapper together."""

    def __init__(self, function):
        self.function = function
        self.meaning = function.meaning
        self.values = Values(function)
        self.describes_buffers = describe_buffers(function)

    def body(self):
        function, values = self.function, self.values
        element = self.element()  # tells `values` what it needs
        track = self.track()
        figures = self.figures()
        arguments = ", ".join(values.passed(p) for p in function.parameters)
        set_arguments = values.set_arguments()
        lines = [
            *values.known.form(function.logged.element),
            f"Call call(Function::{function.name}, Tracks::{self.tracks()});",
            "if (call.passes())",
            f"    return {self.real()}({', '.join(p.name for p in function.parameters)});",
            *values.before,
            *set_arguments,
            *self.describes_buffers,
            f"call.begin({'form, set_arguments' if set_arguments else 'form'});",
            f"const int rc = call.end({self.real()}({arguments}));",
            *values.early_lookups(),
            *track,
            "if (!call.is_plain()) {",
            f"    if (!call.is_recorded(){self.or_is_empty_poll()})", "        return rc;",
            *indent(figures),
            "}",
            *self.arguments(element),
            *values.lookups(),
            *element,
            "return rc;"]
        return lines

    def real(self):
        """What does it: the library, behind what knows which communicators and groups there are, and which error handlers the program was told
        in the place of ours."""
        if self.meaning.frees == "communicator":
            return {"MPI_Comm_free": "free_comm", "MPI_Comm_disconnect": "disconnect_comm"}[self.function.name]
        return {"errhandler": "free_errhandler", "group": "free_group"}.get(self.meaning.frees, f"real.{self.function.name}")

    def arguments(self, element):
        """Where what was known at the beginning is kept, if something of it is written now."""
        if not self.values.known:
            return []
        is_used = any("state." in line for line in [*element, *self.values.lookups()])
        return [f"{'const OpenState& state = ' if is_used else ''}call.arguments(set_arguments);"]

    def tracks(self):
        """The least that must be followed; see Tracks in call.h."""
        changes = {self.meaning.makes, self.meaning.frees}
        if self.function.creation or "window" in changes:
            return "communicators"
        if self.function.of_kind("REQUEST", direction="out") or self.function.of_kind("MESSAGE") or "file" in changes or self.is_split():
            return "operations"
        return "nothing"

    def or_is_empty_poll(self):
        flags = self.function.of_kind("FLAG", direction="out")
        counts = [p for p in self.function.parameters if p.name == "outcount"]
        if not (flags or counts) or not self.meaning.is_poll:
            return ""
        found_nothing = f"!*{flags[0].name}" if flags else "*outcount == 0"
        return f" || call.is_empty_poll([&] {{ return call.succeeded() && {found_nothing}; }})"

    def is_split(self, progress=None):
        """A split collective access has no request; `progress` chooses its begin or its end."""
        return (self.meaning.file != "none" and self.meaning.progress in ((progress,) if progress else ("starts", "waits"))
                and not self.function.of_kind("REQUEST"))

    # What has to be remembered after the call.

    def track(self):
        lines = []
        for step in (self.track_communicator, self.track_window, self.track_request, self.track_message, self.track_file, self.track_group,
                     self.track_names, self.hide_own_handler, self.keep_own_handler):
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
            "by_leaders": f"{parent}, local_leader, peer_comm, remote_leader, tag, *{made}",
            "through_port": f"{parent}, root, port_name, *{made}", "by_join": f"*{made}", "by_parents": f"*{made}",
            "by_spawn": f"{parent}, *{made}"}
        return ["if (call.succeeded())", f'    created_{rule}({arguments[rule]}, "{word}");']

    def track_window(self):
        if self.meaning.makes == "window":
            comm = self.values.communicator(is_early=True)
            given = {p.name for p in self.function.parameters}
            size, unit = (name if name in given else unless for name, unless in (("size", "0"), ("disp_unit", "1")))
            return ["if (call.succeeded()) {", f"    created_window(*win, {comm}, {size}, {unit});", "    save_before_fatal_errors(*win);", "}"]
        if self.meaning.frees == "window":
            return ["if (call.succeeded())", "    freed_window(win_handle, win_before);"]
        return []

    def track_request(self):
        requests = self.function.of_kind("REQUEST", direction="out")
        is_split = self.is_split("starts")
        if not requests and not is_split:
            return []
        lines = ["Request started;", "if (call.succeeded()) {"]
        lines.append("    started.rid = next_rid();" if is_split else "    started.depth = call.depth();")
        if self.meaning.progress == "prepares":
            lines += ["    started.is_persistent = true;", "    started.is_active = false;"]
        if self.function.of_kind("SOURCE") or self.function.of_kind("MESSAGE"):
            comm = self.values.communicator(is_early=True)
            source = self.function.of_kind("SOURCE")
            kind_of = "exchange_kind" if self.function.of_kind("DEST") else "receive_kind"
            kind = f"{kind_of}({source[0].name})" if source else "RequestKind::receive"
            lines += [f"    started.kind = {kind};", f"    started.comm = &{comm};"]
        if self.function.of_kind("FILE"):
            lines += ["    started.kind = RequestKind::access;", f"    started.size = {self.values.wanted_bytes(is_early=True)};"]
        if is_split:
            return [*lines, "    set_split_access(fh, started);", "}"]
        request = requests[0].name
        return [*lines, f"    add_request(*{request}, {request}, started);", "}"]

    def track_message(self):
        for message in self.function.of_kind("MESSAGE", direction="out"):
            self.values.use_received()
            condition = "call.succeeded()" + (" && *flag" if self.function.of_kind("FLAG", direction="out") else "")
            return ["int64_t mid = -1;", f"if ({condition})",
                    f"    mid = add_message(*{message.name}, {{&{self.values.communicator(is_early=True)}, "
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
            return ["if (call.succeeded())", "    set_split_access(fh, Request());"]
        return []

    def track_group(self):
        return [line for group in self.function.of_kind("GROUP", direction="out")
                for line in ("if (call.succeeded())", f"    got_group(*{group.name});")]

    def track_names(self):
        namers = {"communicator": ("name_comm", "comm"), "datatype": ("name_type", "type"), "window": ("name_window", "window")}
        if self.meaning.names not in namers:
            return []
        namer, find = namers[self.meaning.names]
        handle, name = (p.name for p in self.function.parameters)
        return ["if (call.succeeded())", f"    {namer}(call.{find}({handle}), {name});"]

    def hide_own_handler(self):
        told = self.function.of_kind("ERRHANDLER", direction="out")
        if not told or not self.function.of_kind("COMM", "WIN", "FILE"):
            return []
        return ["if (call.succeeded())", f"    hide_own_handler({told[0].name});"]

    def keep_own_handler(self):
        given = self.function.of_kind("ERRHANDLER", direction="in")
        for kind, name in (("COMM", "comm"), ("WIN", "window"), ("FILE", "file")):
            for owner in self.function.of_kind(kind) if given else ():
                value = f"*{owner.name}" if owner.direction == "out" else owner.name
                return ["if (call.succeeded())", f"    keep_own_{name}_handler({value}, {given[0].name});"]
        return []

    # What is added up in place of the element.

    def figures(self):
        """Where the call is added up; the same numbers as in the element."""
        lines = [line for name, (condition, number) in self.values.figures.items()
                 for field in self._fields_of(name) for line in self._set_figure(field, condition, number)]
        moves = self.moves_data()
        lines = [self.values.known.without_state(line) for line in [*lines, *(self._volume() if moves else [])]]
        transfer = ["Transfer transfer;"] if moves else []
        return ["if (call.is_summed()) {", *indent(self.values.lookups_for(lines)),
                "    Figures figures;", *indent([*transfer, *lines]), "    if (call.sum(figures))", "        return rc;", "}"]

    def moves_data(self):
        """The end of a split access is a Wait, and what it moves counts where it is started."""
        return self.meaning.moves_data and not self.is_split("waits")

    def _fields_of(self, attribute):
        """What of the figures, and of the transfer, an attribute tells."""
        # Readers take the source that a probe asks for where it found nothing.
        fields = {"cid": "communicator", "fid": "file", "toRank": "receiver", "source": "sender", "fromRank": "sender"}
        transfers = {"rootRank": "root_rank", "size": "bytes", "recvSize": "received_bytes", "actual": "transferred_bytes", "inPlace": "in_place"}
        if attribute in fields:
            yield f"figures.{fields[attribute]}"
        if not self.moves_data():
            return
        if attribute in transfers:
            yield f"transfer.{transfers[attribute]}"
        if self.meaning.send != "none" and attribute == self.meaning.sent_size:
            yield "transfer.sent_message"
        if self.meaning.receive != "none" and attribute == self.meaning.received_size:
            yield "transfer.received_message"

    @staticmethod
    def _set_figure(field, condition, number):
        line = f"{field} = {number};"
        return [f"if ({condition})", f"    {line}"] if condition else [line]

    def _volume(self):
        """The facts are constants: what they rule out is no code."""
        lines = [line for child in self.function.logged.children if child.each for line in self._listed(child)]
        if self.meaning.scatters or self.meaning.gathers:
            comm = next(p.name for p in self.function.of_kind("COMM") if p.direction == "in")
            lines.append(f"transfer.partner_count = call.comm({comm}).peer_count();")
            if self.function.of_kind("OP"):
                lines.append(f"transfer.member_count = call.comm({comm}).local_size;")
        if self.meaning.collective == "neighbourhood":
            lines.append(f"const Neighbors& neighbors = neighbors_of({comm}, call.comm({comm}));")
            lines += [f"transfer.{name} = neighbors.{name};" for name in ("indegree", "outdegree")]
        if self.meaning.exclusive:
            lines.append(f"transfer.is_first = call.comm({self.function.of_kind('COMM')[0].name}).rank == 0;")
        lines += [f"static constexpr CallFacts facts = {{{', '.join(row_of_facts(self.function))}}};",
                  "figures.volume = volume_by(facts, TransferArguments(figures, transfer));"]
        if self.meaning.progress == "prepares":
            receiver = "figures.receiver" if self.meaning.send != "none" else "{}"
            lines += ["if (call.succeeded()) {", f"    remember_prepared(started.rid, {{figures.volume, {receiver}}});",
                      "    figures.volume.reset(); // it counts whenever it is started", "}"]
        return lines

    def _listed(self, child):
        """The same members as members_child() has."""
        list_name = {"Send": "sends", "Recv": "receives"}[child.name]
        return self.each_member(child, lambda rank, counts: [
            f"transfer.{list_name}.add({rank}, this_process().rank, {counts}[i] * type.size);"])

    # The element.

    def element(self):
        logged, values = self.function.logged, self.values
        writer = TextWriter(f"<{logged.element}")
        for attribute in logged.attributes:
            values.write_attribute(writer, attribute)
        writer.flush()
        children = [line for child in logged.children for line in self.child(child)]
        writer.lines += self.for_checks()
        finish = f"call.{self.finish()}"
        body = [*writer.lines, f"{finish};" if children else f'{finish}.end("{logged.element}");',
                *children, *([f'element.end("{logged.element}");'] if children else [])]
        return ["call.write([&](auto& element) __attribute__((always_inline)) {", *indent(body), "});"]

    def for_checks(self):
        """Attributes that only checks need."""
        lines = []
        if self.function.tells_sources:
            comm = self.function.of_kind("COMM")[0].name
            lines.append(f"put_sources(element, neighbors_of({comm}, {self.values.communicator()}));")
        if kind := HANDLES_OF.get(self.meaning.makes):
            lines += [f"put_handle(element, {p.name});" for p in self.function.of_kind(kind, direction="out") if not p.is_array]
        if kind := HANDLES_OF.get(self.meaning.frees):
            lines += [f"put_handle(element, &{p.name}_before);" for p in self.function.of_kind(kind, direction="inout")]
        return ["if (call.is_checked() && call.succeeded()) {", *indent(lines), "}"] if lines else []

    def finish(self):
        if not self.describes_buffers:
            return "finish_attributes(element)"
        outlasts = self.meaning.progress in ("starts", "prepares")
        return f"finish_with_buffers(element{', started' if outlasts else ''})"

    def child(self, child):
        if child.each:
            return self.members_child(child)
        if child.name in ("Info", "Arg"):
            return self.texts_child(child)
        if child.name == "Command":
            return self.commands_child()
        if child.argument == "split":
            self.values.use_status()
            self.values.add_waited_for()
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
        return self.each_member(child, lambda rank, counts: [
            f'element.child("<{child.name} rank=\'");',
            f'element.add({rank}, "\' size=\'"_xml, {counts}[i] * type.size, "\' count=\'"_xml, {counts}[i], "\' tid=\'"_xml, type.id);',
            *([f'element.add("\' displ=\'"_xml, {child.each.displacements}[i]);'] if child.each.displacements else []),
            'element.text("\'").end_child();'])

    def each_member(self, child, act):
        """A loop over the members whose count is not zero; act(rank, counts) are its statements, which may use `type`."""
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
                *indent(act(rank, counts.name)),
                "}"]
        condition = " && ".join(filter(None, ["call.succeeded()", condition]))
        return [f"if ({condition}) {{", *indent(loop), "}"]
