"""Turns the buffers of a function into C++ that describes them when the program is checked (HDTRACE_FOR_CHECK)."""

from .text import indent


def describe_buffers(function):
    """The function that tells Buffers (runtime/buffers/buffers.h) what MPI does with them; nothing if it does nothing."""
    body = [*_lifetime(function), *(line for buffer in _buffers(function) for line in _use(function, buffer)), *_window_memory(function)]
    if not any("buffers." in line and "until" not in line for line in body):
        return []
    return ["if (call.wants_buffers())", f"    call.keep_buffers([={_kept_answer(function)}](Buffers& buffers) {{",
            *indent(indent([*_lookups(body, function), *body])), "    });"]


def _kept_answer(function):
    """What the call changes: whether the message that a probe took is one."""
    message = function.of_kind("MESSAGE", direction="inout")
    return f", is_message = *{message[0].name} != MPI_MESSAGE_NO_PROC" if message else ""


def _lookups(body, function):
    """What the body needs."""
    text = "\n".join(body)
    comm = next((p.name for p in function.of_kind("COMM")), None)
    if "rooted." in text or "members." in text or "neighbors." in text:
        yield f"const Comm& members = buffers.comm({comm});"
    if "rooted." in text:
        yield f"const Rooted rooted(members, {function.of_kind('ROOT')[0].name});"
    if "neighbors." in text:
        yield f"const Neighbors& neighbors = neighbors_of({comm}, members);"


def _lifetime(function):
    """How long the buffers are used, and whose use ends with the call."""
    meaning = function.meaning
    window = next((p.name for p in function.of_kind("WIN", direction="in")), None)
    if meaning.access != "none":
        yield f"buffers.until_synchronised({window}, {function.of_kind('TARGET')[0].name});"
    if meaning.synchronisation in ("fence", "complete"):
        yield f"buffers.synchronised({window});"
    if meaning.synchronisation in ("unlock", "flush", "flush-local"):
        rank = next((p.name for p in function.parameters if p.name == "rank"), None)
        yield f"buffers.synchronised({', '.join(filter(None, (window, rank)))});"
    if _ends_split_access(function):
        yield "buffers.ended(ended.rid);"
    yield from _asked_requests(function)


def _asked_requests(function):
    """Of MPI_Request_get_status and its like, which say what is complete and leave the requests."""
    requests = function.of_kind("REQUEST", direction="in")
    if function.meaning.progress != "asks" or not function.of_kind("STATUS", direction="out"):
        return
    flags = function.of_kind("FLAG", direction="out")
    which = next((p.name for p in function.parameters if p.name in ("index", "array_of_indices")), None)
    if not flags:
        yield "for (int i = 0; i < *outcount; ++i)"
        yield f"    buffers.seen_complete({requests[0].name}[{which}[i]]);"
        return
    yield f"if (*{flags[0].name}{f' && *{which} != MPI_UNDEFINED' if which else ''})"
    if which:
        yield f"    buffers.seen_complete({requests[0].name}[*{which}]);"
    elif requests[0].is_array:
        yield f"    buffers.seen_complete({requests[0].name}, {requests[0].length});"
    else:
        yield f"    buffers.seen_complete({requests[0].name});"


def _ends_split_access(function):
    return function.meaning.file != "none" and function.meaning.progress == "waits" and not function.of_kind("REQUEST")


def _buffers(function):
    """The parameters that MPI reads data from or writes data to."""
    meaning = function.meaning
    if meaning.attaches:
        return function.of_kind("BUFFER")
    moves_data = ("one-to-all", "all-to-one", "all-to-all", "scan", "neighbourhood")
    if (meaning.send != "none" or meaning.receive != "none" or meaning.collective in moves_data or meaning.access != "none"
            or meaning.file in ("read", "write")) and not meaning.partitioned:
        return [p for p in function.of_kind("BUFFER") if _type_of(function, p)]
    return []


def _window_memory(function):
    """What becomes memory of a window, which is not used by the call."""
    for place in function.of_kind("POINTER", direction="out") if function.meaning.makes == "window" else ():
        yield f"buffers.becomes_window(*static_cast<void* const*>({place.name}), size);"
    for buffer in function.of_kind("BUFFER"):
        size = next(iter(_behind(function, buffer)), None)
        if size and size.name == "size" and (function.meaning.makes == "window" or function.of_kind("WIN")):
            yield f"buffers.becomes_window({buffer.name}, {size.name});"


def _behind(function, buffer):
    return function.parameters[function.parameters.index(buffer) + 1:]


def _count_of(function, buffer):
    """The number of elements stands behind the buffer, or behind another one that has the same; None: it is one."""
    for parameter in _behind(function, buffer):
        if parameter.kind.name == "COUNT":
            return parameter
        if parameter.kind.name != "BUFFER":
            return None
    return None


def _type_of(function, buffer):
    return next((p for p in _behind(function, buffer) if p.kind and p.kind.name == "DATATYPE"), None)


def _displacements_of(function, count):
    """They stand behind the counts of all members."""
    behind = _behind(function, count)[:1] if count and count.is_array else []
    return next((p for p in behind if p.is_array and p.kind.name in ("DISPLACEMENT", "AINT")), None)


def _use(function, buffer):
    count, datatype = _count_of(function, buffer), _type_of(function, buffer)
    displacements = _displacements_of(function, count)
    if _is_replaced(function, buffer):
        arguments = f"{buffer.name}, {count.name}, {datatype.name}"
        return ["if (source != MPI_PROC_NULL)", f"    buffers.writes({arguments});", "else if (dest != MPI_PROC_NULL)", f"    buffers.reads({arguments});"]
    if displacements:
        arguments = f"{buffer.name}, {count.name}, {displacements.name}, {datatype.name}, {_length(function, count)}{_partners(function, buffer)}"
        lines = [f"buffers.{_verb(buffer)}_each({arguments});"]
    elif function.meaning.collective == "one-to-all" and buffer.direction == "inout":
        arguments = f"{buffer.name}, {count.name}, {datatype.name}"
        return ["if (rooted.is_root)", f"    buffers.reads({arguments});", "else if (rooted.is_leaf)", f"    buffers.writes({arguments});"]
    elif _has_parts_of_neighbors(function, buffer):
        arguments = f"{buffer.name}, {count.name}, {datatype.name}, neighbors.{_side(buffer)}_count{_partners(function, buffer)}"
        lines = [f"buffers.{_verb(buffer)}_parts({arguments});"]
    else:
        elements = f"{_elements(function, buffer, count)}, {datatype.name if datatype else 'MPI_BYTE'}"
        lines = [f"buffers.{_verb(buffer)}({buffer.name}, {elements});"]
    condition = _condition(function, buffer)
    return [f"if ({condition})", *indent(lines)] if condition else lines


def _is_replaced(function, buffer):
    """What is received comes into the place of what is sent."""
    return buffer.direction == "inout" and function.meaning.send != "none" and function.meaning.receive != "none"


def _verb(buffer):
    return "reads" if buffer.direction == "in" else "writes"


def _side(buffer):
    return "destination" if buffer.direction == "in" else "source"


def _partners(function, buffer):
    """Those of the parts: MPI does not look at parts of MPI_PROC_NULL (MPI 4.1, 8.6)."""
    return f", neighbors.{_side(buffer)}s" if function.meaning.collective == "neighbourhood" else ""


def _has_parts_of_neighbors(function, buffer):
    meaning = function.meaning
    return meaning.collective == "neighbourhood" and (meaning.scatters if buffer.direction == "in" else meaning.gathers)


def _elements(function, buffer, count):
    """How many there are in the whole buffer."""
    meaning = function.meaning
    if count is None:
        return "1"
    if count.is_array:  # MPI_Reduce_scatter: all parts, and the own one
        whole = f"Buffers::sum({count.name}, members.local_size)"
        own = f"{count.name}[members.rank]"
        return whole if buffer.direction == "in" else f"sendbuf == MPI_IN_PLACE ? {whole} : {own}"
    is_reduction = bool(function.of_kind("OP")) and meaning.collective != "none"
    if buffer.direction == "in" and meaning.scatters:
        return f"static_cast<int64_t>({count.name}) * {'members.local_size' if is_reduction else 'members.peer_count()'}"
    if buffer.direction != "in" and is_reduction and meaning.scatters:  # MPI_Reduce_scatter_block
        return f"static_cast<int64_t>({count.name}) * (sendbuf == MPI_IN_PLACE ? members.local_size : 1)"
    if buffer.direction != "in" and meaning.gathers:
        return f"static_cast<int64_t>({count.name}) * members.peer_count()"
    return count.name


def _length(function, counts):
    """Of the array of counts."""
    return {"members": "members.peer_count()", "local_members": "members.local_size", "sources": "neighbors.source_count",
            "destinations": "neighbors.destination_count"}[counts.length]


def _condition(function, buffer):
    """When MPI looks at the buffer: not of everybody in a call that has a root, not if the other end is nobody, not where the first member
    gets nothing, and at nothing to combine with where nothing is combined (MPI 4.1, 12.3.4)."""
    is_read = buffer.direction == "in"
    sides = {"one-to-all": ("is_root", "is_leaf"), "all-to-one": ("is_leaf", "is_root")}.get(function.meaning.collective)
    if sides:
        return f"rooted.{sides[0 if is_read else 1]}"
    if function.meaning.exclusive and not is_read:
        return "members.rank > 0"
    if function.meaning.collective == "neighbourhood" and is_read and not function.meaning.scatters:
        return "neighbors.outdegree > 0"
    peer = function.of_kind("TARGET") or function.of_kind("DEST" if is_read else "SOURCE")
    conditions = [f"{peer[0].name} != MPI_PROC_NULL"] if peer else []
    if function.of_kind("MESSAGE", direction="inout"):
        conditions.append("is_message")
    if is_read and function.meaning.access in ("get-accumulate", "fetch-and-op"):
        conditions.append(f"{function.of_kind('OP')[0].name} != MPI_NO_OP")
    return " && ".join(conditions)
