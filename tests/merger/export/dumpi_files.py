"""Reads files of DUMPI, by their description alone: nothing here is shared with what writes them. Whatever a reader of DUMPI would
stumble over is an error."""
import struct
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = bytes.fromhex("ffaadd44554d5049")
FOOTER_MAGIC = 0xF007FEE7
FUNCTIONS = 290
ENTER, EXIT, END = 291, 292, 293

WIDTHS = {"i": ("i", 4), "l": ("q", 8), "rk": ("i", 4), "tg": ("i", 4), "rq": ("I", 4),
          **dict.fromkeys(("dt", "cm", "gr", "fl", "wn", "nf", "eh", "kv"), ("H", 2)),
          **dict.fromkeys(("op", "fm", "lk", "as", "tp", "cb", "cp", "od", "ds", "th", "tc", "wh"), ("B", 1))}

SEND = "count:i datatype:dt dest:rk tag:tg comm:cm"
RECEIVE = "count:i datatype:dt source:rk tag:tg comm:cm"
CREATE = "request:rq"
SOME = "count:i requests:rq[] outcount:i indices:i[] statuses:st"
RMA = "origincount:i origintype:dt targetrank:i targetdisp:i targetcount:i targettype:dt"
VECTOR = "count:i blocklength:i stride:i oldtype:dt newtype:dt"
GROUPS = "group1:gr group2:gr newgroup:gr"
RANKS = "group:gr count:i ranks:i[] newgroup:gr"
RANGES = "group:gr count:i ranges:i[][] newgroup:gr"
ACCESS = "file:fl count:i datatype:dt"
ACCESS_AT = "file:fl offset:l count:i datatype:dt"
LABELS = {
    (0, 3, 4, 5): ("Send Bsend Ssend Rsend", SEND),
    (1,): ("Recv", f"{RECEIVE} status:st"),
    (33,): ("Sendrecv", "sendcount:i sendtype:dt dest:rk sendtag:tg recvcount:i recvtype:dt source:rk recvtag:tg comm:cm status:st"),
    (34,): ("Sendrecv_replace", "count:i datatype:dt dest:rk sendtag:tg source:rk recvtag:tg comm:cm status:st"),
    (8, 9, 10, 11, 26, 27, 28, 29): ("Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init Rsend_init", f"{SEND} {CREATE}"),
    (12, 30): ("Irecv Recv_init", f"{RECEIVE} {CREATE}"),
    (31, 15, 24, 169): ("Start Request_free Cancel Grequest_complete", "request:rq"),
    (32,): ("Startall", "count:i requests:rq[]"),
    (13, 283): ("Wait MPIO_Wait", "request:rq status:st"),
    (14, 216, 282): ("Test Request_get_status MPIO_Test", "request:rq flag:i status:st"),
    (16,): ("Waitany", "count:i requests:rq[] index:i status:st"),
    (17,): ("Testany", "count:i requests:rq[] index:i flag:i status:st"),
    (18, 285): ("Waitall MPIO_Waitall", "count:i requests:rq[] statuses:st"),
    (19, 284): ("Testall MPIO_Testall", "count:i requests:rq[] flag:i statuses:st"),
    (20, 21, 288, 289): ("Waitsome Testsome MPIO_Waitsome MPIO_Testsome", SOME),
    (286,): ("MPIO_Testany", "count:i requests:rq[] flag:i index:i statuses:st"),
    (287,): ("MPIO_Waitany", "count:i requests:rq[] index:i statuses:st"),
    (23,): ("Probe", "source:rk tag:tg comm:cm status:st"),
    (22,): ("Iprobe", "source:rk tag:tg comm:cm flag:i status:st"),
    (2,): ("Get_count", "status:st datatype:dt count:i"),
    (48,): ("Get_elements", "status:st datatype:dt elements:i"),
    (25,): ("Test_cancelled", "status:st cancelled:i"),
    (174,): ("Status_set_cancelled", "status:st flag:i"),
    (175,): ("Status_set_elements", "status:st datatype:dt count:i"),
    (6, 7): ("Buffer_attach Buffer_detach", "size:i"),
    (170,): ("Grequest_start", "request:rq"),
    (52,): ("Barrier", "comm:cm"),
    (53,): ("Bcast", "count:i datatype:dt root:i comm:cm"),
    (54,): ("Gather", "commrank:i sendcount:i sendtype:dt root:i comm:cm ?recvcount:i ?recvtype:dt"),
    (55,): ("Gatherv", "commrank:i commsize:i sendcount:i sendtype:dt root:i comm:cm ?recvcounts:i[] ?displs:i[] recvtype:dt"),
    (56,): ("Scatter", "commrank:i recvcount:i recvtype:dt root:i comm:cm ?sendcount:i ?sendtype:dt"),
    (57,): ("Scatterv", "commrank:i commsize:i sendtype:dt recvcount:i recvtype:dt root:i comm:cm ?sendcounts:i[] ?displs:i[]"),
    (58, 60): ("Allgather Alltoall", "sendcount:i sendtype:dt recvcount:i recvtype:dt comm:cm"),
    (59,): ("Allgatherv", "commsize:i sendcount:i sendtype:dt recvcounts:i[] displs:i[] recvtype:dt comm:cm"),
    (61,): ("Alltoallv", "commsize:i sendcounts:i[] senddispls:i[] sendtype:dt recvcounts:i[] recvdispls:i[] recvtype:dt comm:cm"),
    (155,): ("Alltoallw", "commsize:i sendcounts:i[] senddispls:i[] sendtypes:dt[] recvcounts:i[] recvdispls:i[] recvtypes:dt[] comm:cm"),
    (62,): ("Reduce", "count:i datatype:dt op:op root:i comm:cm"),
    (65, 67, 156): ("Allreduce Scan Exscan", "count:i datatype:dt op:op comm:cm"),
    (66,): ("Reduce_scatter", "commsize:i recvcounts:i[] datatype:dt op:op comm:cm"),
    (63,): ("Op_create", "commute:i op:op"),
    (64,): ("Op_free", "op:op"),
    (81, 89): ("Comm_size Comm_remote_size", "comm:cm size:i"),
    (82,): ("Comm_rank", "comm:cm rank:i"),
    (83,): ("Comm_compare", "comm1:cm comm2:cm result:cp"),
    (84,): ("Comm_dup", "oldcomm:cm newcomm:cm"),
    (85,): ("Comm_create", "oldcomm:cm group:gr newcomm:cm"),
    (86,): ("Comm_split", "oldcomm:cm color:i key:i newcomm:cm"),
    (87, 132): ("Comm_free Comm_disconnect", "comm:cm"),
    (88,): ("Comm_test_inter", "comm:cm inter:i"),
    (90, 72): ("Comm_remote_group Comm_group", "comm:cm group:gr"),
    (91,): ("Intercomm_create", "localcomm:cm localleader:i remotecomm:cm remoteleader:i tag:tg newcomm:cm"),
    (92,): ("Intercomm_merge", "comm:cm high:i newcomm:cm"),
    (68,): ("Group_size", "group:gr size:i"),
    (69,): ("Group_rank", "group:gr rank:i"),
    (70,): ("Group_translate_ranks", "group1:gr count:i ranks1:i[] group2:gr ranks2:i[]"),
    (71,): ("Group_compare", "group1:gr group2:gr result:cp"),
    (73, 74, 75): ("Group_union Group_intersection Group_difference", GROUPS),
    (76, 77): ("Group_incl Group_excl", RANKS),
    (78, 79): ("Group_range_incl Group_range_excl", RANGES),
    (80,): ("Group_free", "group:gr"),
    (93, 94): ("Keyval_create Keyval_free", "key:kv"),
    (95, 97): ("Attr_put Attr_delete", "comm:cm key:i"),
    (96,): ("Attr_get", "comm:cm key:i flag:i"),
    (161, 163, 176, 179, 188, 190): (
        "Comm_create_keyval Comm_free_keyval Type_create_keyval Type_free_keyval Win_create_keyval Win_free_keyval", "keyval:kv"),
    (162, 166): ("Comm_delete_attr Comm_set_attr", "comm:cm keyval:kv"),
    (164,): ("Comm_get_attr", "comm:cm keyval:kv flag:i"),
    (165,): ("Comm_get_name", "comm:cm name:s resultlen:i"),
    (167,): ("Comm_set_name", "comm:cm name:s"),
    (160,): ("Comm_call_errhandler", "comm:cm errorcode:i"),
    (133,): ("Comm_get_parent", "parent:cm"),
    (35,): ("Type_contiguous", "count:i oldtype:dt newtype:dt"),
    (36, 37, 219): ("Type_vector Type_hvector Type_create_hvector", VECTOR),
    (38, 39): ("Type_indexed Type_hindexed", "count:i lengths:i[] indices:i[] oldtype:dt newtype:dt"),
    (40,): ("Type_struct", "count:i lengths:i[] indices:i[] oldtypes:dt[] newtype:dt"),
    (218,): ("Type_create_hindexed", "count:i blocklengths:i[] displacements:i[] oldtype:dt newtype:dt"),
    (222,): ("Type_create_struct", "count:i blocklengths:i[] displacements:i[] oldtypes:dt[] newtype:dt"),
    (220,): ("Type_create_indexed_block", "count:i blocklength:i displacments:i[] oldtype:dt newtype:dt"),
    (221,): ("Type_create_resized", "oldtype:dt lb:i extent:i newtype:dt"),
    (223,): ("Type_create_subarray", "ndims:i sizes:i[] subsizes:i[] starts:i[] order:od oldtype:dt newtype:dt"),
    (217,): ("Type_create_darray",
             "size:i rank:i ndims:i gsizes:i[] distribs:ds[] dargs:i[] psizes:i[] order:od oldtype:dt newtype:dt"),
    (178,): ("Type_dup", "oldtype:dt newtype:dt"),
    (46, 47): ("Type_commit Type_free", "datatype:dt"),
    (43,): ("Type_size", "datatype:dt size:i"),
    (42,): ("Type_extent", "datatype:dt extent:i"),
    (44,): ("Type_lb", "datatype:dt lb:i"),
    (45,): ("Type_ub", "datatype:dt ub:i"),
    (224, 225): ("Type_get_extent Type_get_true_extent", "datatype:dt lb:i extent:i"),
    (41, 204): ("Address Get_address", "address:i"),
    (182,): ("Type_get_envelope", "datatype:dt numintegers:i numaddresses:i numdatatypes:i combiner:cb"),
    (181,): ("Type_get_contents", "numdatatypes:i numaddresses:i numintegers:i datatype:dt maxintegers:i maxaddresses:i maxdatatypes:i "
             "arrintegers:i[] arraddresses:i[] arrdatatypes:dt[]"),
    (186,): ("Type_match_size", "typeclass:tc size:i datatype:dt"),
    (49,): ("Pack", "incount:i datatype:dt outcount:i position.in:i position.out:i comm:cm"),
    (50,): ("Unpack", "incount:i position.in:i position.out:i outcount:i datatype:dt comm:cm"),
    (51,): ("Pack_size", "incount:i datatype:dt comm:cm size:i"),
    (214,): ("Pack_external", "datarep:s incount:i intype:dt outcount:i position.in:i position.out:i"),
    (226,): ("Unpack_external", "datarep:s insize:i position.in:i position.out:i outcount:i datatype:dt"),
    (215,): ("Pack_external_size", "datarep:s incount:i datatype:dt size:i"),
    (177, 184): ("Type_delete_attr Type_set_attr", "datatype:dt keyval:kv"),
    (180,): ("Type_get_attr", "datatype:dt keyval:kv flag:i"),
    (183,): ("Type_get_name", "datatype:dt name:s resultlen:i"),
    (185,): ("Type_set_name", "datatype:dt name:s"),
    (98,): ("Topo_test", "comm:cm topo:tp"),
    (99,): ("Cart_create", "oldcomm:cm ndim:i dims:i[] periods:i[] reorder:i newcomm:cm"),
    (100,): ("Dims_create", "nodes:i ndim:i dims.in:i[] dims.out:i[]"),
    (104,): ("Cartdim_get", "comm:cm ndim:i"),
    (105,): ("Cart_get", "ndim:i comm:cm maxdims:i dims:i[] periods:i[] coords:i[]"),
    (106,): ("Cart_rank", "ndim:i comm:cm coords:i[] rank:i"),
    (107,): ("Cart_coords", "ndim:i comm:cm rank:i maxdims:i coords:i[]"),
    (110,): ("Cart_shift", "comm:cm direction:i displ:i source:rk dest:rk"),
    (111,): ("Cart_sub", "ndim:i oldcomm:cm remain_dims:i[] newcomm:cm"),
    (112,): ("Cart_map", "comm:cm ndim:i dims:i[] period:i[] newrank:i"),
    (101,): ("Graph_create", "numedges:i oldcomm:cm nodes:i index:i[] edges:i[] reorder:i newcomm:cm"),
    (102,): ("Graphdims_get", "comm:cm nodes:i edges:i"),
    (103,): ("Graph_get", "totedges:i totnodes:i comm:cm maxindex:i maxedges:i index:i[] edges:i[]"),
    (108,): ("Graph_neighbors_count", "comm:cm rank:i nneigh:i"),
    (109,): ("Graph_neighbors", "nneigh:i comm:cm rank:i maxneighbors:i neighbors:i[]"),
    (113,): ("Graph_map", "numedges:i comm:cm nodes:i index:i[] edges:i[] newrank:i"),
    (124,): ("Init", "argv:s[]"),
    (171,): ("Init_thread", "argv:s[] required:th provided:th"),
    (125, 122, 123, 203): ("Finalize Wtime Wtick Free_mem", ""),
    (126,): ("Initialized", "result:i"),
    (172, 202): ("Is_thread_main Finalized", "flag:i"),
    (173,): ("Query_thread", "supported:th"),
    (127,): ("Abort", "comm:cm errorcode:i"),
    (114,): ("Get_processor_name", "name:s resultlen:i"),
    (115,): ("Get_version", "version:i subversion:i"),
    (116, 196, 199, 227, 119): (
        "Errhandler_create Comm_create_errhandler File_create_errhandler Win_create_errhandler Errhandler_free", "errhandler:eh"),
    (117, 198, 118, 197): ("Errhandler_set Comm_set_errhandler Errhandler_get Comm_get_errhandler", "comm:cm errhandler:eh"),
    (201, 200): ("File_set_errhandler File_get_errhandler", "file:fl errhandler:eh"),
    (229, 228): ("Win_set_errhandler Win_get_errhandler", "win:wn errhandler:eh"),
    (120,): ("Error_string", "errorcode:i errorstring:s resultlen:i"),
    (121,): ("Error_class", "errorcode:i errorclass:i"),
    (157,): ("Add_error_class", "errorclass:i"),
    (158,): ("Add_error_code", "errorclass:i errorcode:i"),
    (159,): ("Add_error_string", "errorcode:i errorstring:s"),
    (168,): ("File_call_errhandler", "file:fl errorcode:i"),
    (187,): ("Win_call_errhandler", "win:wn errorcode:i"),
    (205, 208): ("Info_create Info_free", "info:nf"),
    (207,): ("Info_dup", "oldinfo:nf newinfo:nf"),
    (206,): ("Info_delete", "info:nf key:s"),
    (213,): ("Info_set", "info:nf key:s value:s"),
    (209,): ("Info_get", "info:nf key:s valuelength:i value:s flag:i"),
    (210,): ("Info_get_nkeys", "info:nf nkeys:i"),
    (211,): ("Info_get_nthkey", "info:nf n:i key:s"),
    (212,): ("Info_get_valuelen", "info:nf key:s valuelen:i flag:i"),
    (195,): ("Alloc_mem", "size:i info:nf"),
    (145,): ("Win_create", "size:i dispunit:i info:nf comm:cm win:wn"),
    (147, 144, 154): ("Win_free Win_complete Win_wait", "win:wn"),
    (146,): ("Win_fence", "assertion:as win:wn"),
    (150, 151): ("Win_post Win_start", "group:gr assertion:as win:wn"),
    (149,): ("Win_lock", "locktype:lk winrank:i assertion:as win:wn"),
    (153,): ("Win_unlock", "winrank:i win:wn"),
    (152,): ("Win_test", "win:wn flag:i"),
    (142, 143): ("Get Put", f"{RMA} win:wn"),
    (141,): ("Accumulate", f"{RMA} op:op win:wn"),
    (148,): ("Win_get_group", "win:wn group:gr"),
    (189, 193): ("Win_delete_attr Win_set_attr", "win:wn keyval:kv"),
    (191,): ("Win_get_attr", "win:wn keyval:kv flag:i"),
    (192,): ("Win_get_name", "win:wn name:s resultlen:i"),
    (194,): ("Win_set_name", "win:wn name:s"),
    (230,): ("File_open", "comm:cm filename:s amode:fm info:nf file:fl"),
    (231, 281): ("File_close File_sync", "file:fl"),
    (232,): ("File_delete", "filename:s info:nf"),
    (233, 234, 235): ("File_set_size File_preallocate File_get_size", "file:fl size:l"),
    (236,): ("File_get_group", "file:fl group:gr"),
    (237,): ("File_get_amode", "file:fl amode:fm"),
    (238, 239): ("File_set_info File_get_info", "file:fl info:nf"),
    (240,): ("File_set_view", "file:fl offset:l hosttype:dt filetype:dt datarep:s info:nf"),
    (241,): ("File_get_view", "file:fl offset:l hosttype:dt filetype:dt datarep:s"),
    (242, 243, 244, 245): ("File_read_at File_read_at_all File_write_at File_write_at_all", f"{ACCESS_AT} status:st"),
    (246, 247): ("File_iread_at File_iwrite_at", f"{ACCESS_AT} request:rq"),
    (248, 249, 250, 251, 257, 258, 261, 262): (
        "File_read File_read_all File_write File_write_all File_read_shared File_write_shared File_read_ordered File_write_ordered",
        f"{ACCESS} status:st"),
    (252, 253, 259, 260): ("File_iread File_iwrite File_iread_shared File_iwrite_shared", f"{ACCESS} request:rq"),
    (254, 263): ("File_seek File_seek_shared", "file:fl offset:l whence:wh"),
    (255, 264): ("File_get_position File_get_position_shared", "file:fl offset:l"),
    (256,): ("File_get_byte_offset", "file:fl offset:l bytes:l"),
    (265, 267): ("File_read_at_all_begin File_write_at_all_begin", ACCESS_AT),
    (269, 271, 273, 275): ("File_read_all_begin File_write_all_begin File_read_ordered_begin File_write_ordered_begin", ACCESS),
    (266, 268, 270, 272, 274, 276): (
        "File_read_at_all_end File_write_at_all_end File_read_all_end File_write_all_end File_read_ordered_end File_write_ordered_end",
        "file:fl status:st"),
    (277,): ("File_get_type_extent", "file:fl datatype:dt extent:i"),
    (278,): ("Register_datarep", "name:s"),
    (279, 280): ("File_set_atomicity File_get_atomicity", "file:fl flag:i"),
    (129,): ("Close_port", "portname:s"),
    (130, 131): ("Comm_accept Comm_connect", "portname:s info:nf root:i oldcomm:cm newcomm:cm"),
    (134,): ("Comm_join", "fd:i comm:cm"),
    (135,): ("Comm_spawn", "oldcommrank:i root:i oldcomm:cm newcomm:cm ?command:s ?argv:s[] ?maxprocs:i ?info:nf ?errcodes:i[]"),
    (136,): ("Comm_spawn_multiple", "totprocs:i oldcommrank:i root:i oldcomm:cm newcomm:cm "
             "?count:i ?commands:s[] ?argvs:s[][] ?maxprocs:i[] ?info:nf[] ?errcodes:i[]"),
    (137,): ("Lookup_name", "servicename:s info:nf portname:s"),
    (138,): ("Open_port", "info:nf portname:s"),
    (139, 140): ("Publish_name Unpublish_name", "servicename:s info:nf portname:s"),
}
FORMS = {label: (name, [argument.split(":") for argument in arguments.split()])
         for labels, (names, arguments) in LABELS.items() for label, name in zip(labels, names.split(), strict=True)}
assert sorted(FORMS) == [label for label in range(FUNCTIONS) if label != 128]

# Arrays of which several belong to one count: readers take the length of each for it.
SAME_LENGTH = [("recvcounts", "displs"), ("sendcounts", "displs"), ("sendcounts", "senddispls", "recvcounts", "recvdispls"),
               ("sendcounts", "senddispls", "sendtypes", "recvcounts", "recvdispls", "recvtypes"), ("lengths", "indices"),
               ("lengths", "indices", "oldtypes"), ("blocklengths", "displacements"), ("blocklengths", "displacements", "oldtypes"),
               ("sizes", "subsizes", "starts"), ("gsizes", "distribs", "dargs", "psizes"), ("ranks1", "ranks2"), ("dims", "periods"),
               ("dims", "periods", "coords"), ("dims.in", "dims.out")]
COUNTS = {"requests": "count", "recvcounts": "commsize", "sendcounts": "commsize", "dims": "ndim"}


class BrokenFile(Exception):
    pass


@dataclass(frozen=True)
class Status:
    bytes: int
    source: int
    cancelled: int
    error: int
    tag: int


@dataclass
class Record:
    name: str
    label: int
    thread: int
    start: float  # seconds since the epoch
    stop: float
    arguments: dict

    def __getitem__(self, name):
        return self.arguments[name]


@dataclass
class Process:
    records: list = field(default_factory=list)
    version: tuple = ()
    start: int = 0
    host: str = ""
    user: str = ""
    called: dict = field(default_factory=dict)  # {name: times}, with "all"
    ignored: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    perf_labels: list = field(default_factory=list)
    sizes: list = field(default_factory=list)
    functions: dict = field(default_factory=dict)  # {address: name}

    def calls(self, *names):
        return [record for record in self.records if record.name in names]


class Reader:
    def __init__(self, data):
        self.data = data
        self.place = 0

    def take(self, form):
        size = struct.calcsize(">" + form)
        if self.place + size > len(self.data):
            raise BrokenFile(f"the file ends at {self.place}")
        values = struct.unpack_from(">" + form, self.data, self.place)
        self.place += size
        return values[0] if len(values) == 1 else values

    def text(self, length):
        size = self.take(length)
        if self.place + size > len(self.data):
            raise BrokenFile(f"a text ends behind the file: {self.place}")
        self.place += size
        return self.data[self.place - size:self.place].decode("utf-8", "surrogateescape")

    def at(self, place):
        self.place = place
        return self

    def value(self, code, with_statuses=True):
        if code == "st":
            return [Status(*self.take("iibbi")) for _ in range(self.take("I"))] if with_statuses else []
        if code.endswith("[]"):
            return [self.value(code[:-2]) for _ in range(self.take("I"))]
        return self.text("I") if code == "s" else self.take(WIDTHS[code][0])


def read_process(path):
    data = Path(path).read_bytes()
    if data[:8] != MAGIC or data[-64:-56] != MAGIC:
        raise BrokenFile(f"{path}: no magic number")
    sizes, functions, labels, header, body, footer, notes = struct.unpack(">7Q", data[-56:])
    reader, process = Reader(data), Process()
    _read_records(reader.at(body), process, footer)
    if reader.place > footer:
        raise BrokenFile("readers stop at the footer")
    process.version = reader.at(header).take("BBB")
    process.start, process.host, process.user = reader.take("Q"), reader.text("H"), reader.text("H")
    if reader.take("I") != 0 or reader.take("I") != 0:
        raise BrokenFile("there is no mesh here")
    if reader.at(footer).take("Q") != FOOTER_MAGIC:
        raise BrokenFile("no footer")
    process.called, process.ignored = _read_counts(reader), _read_counts(reader)
    if notes:
        process.notes = dict((reader.text("H"), reader.text("H")) for _ in range(reader.at(notes).take("I")))
        assert len(process.notes) <= 1
    process.perf_labels = [reader.text("H") for _ in range(reader.at(labels).take("I"))]
    process.sizes = [reader.take("i") for _ in range(reader.at(sizes).take("I"))]
    process.functions = dict((reader.take("Q"), reader.text("H")) for _ in range(reader.at(functions).take("I")))
    assert len(process.sizes) >= 28
    return process


def _read_counts(reader):
    counts = reader.take(f"{FUNCTIONS + 1}I")
    return {name: counts[label] for label, (name, _) in FORMS.items() if counts[label]} | {"all": counts[FUNCTIONS]}


def _read_records(reader, process, footer):
    cpu_bias, wall_bias = reader.take("ii")
    while (label := reader.take("H")) != END:
        if label not in FORMS and label not in (ENTER, EXIT):
            raise BrokenFile(f"label {label} at {reader.place}")
        mask = reader.take("B")
        if mask & 0x30 or mask & 0x80:
            raise BrokenFile(f"mask {mask} at {reader.place}")
        thread = reader.take("H") if mask & 0x40 else 0
        if mask & 0x04:
            reader.take("HIHI")
        seconds, nanoseconds, end_seconds, end_nanoseconds = reader.take("HIHI") if mask & 0x08 else (0, 0, 0, 0)
        assert nanoseconds < 1e9 and end_nanoseconds < 1e9
        name, form = FORMS.get(label, ("enter" if label == ENTER else "exit", [["fn", "l"]]))
        arguments = _read_arguments(reader, form, bool(mask & 3))
        _check(name, arguments)
        process.records.append(Record(name, label, thread, wall_bias + seconds + nanoseconds / 1e9,
                                      wall_bias + end_seconds + end_nanoseconds / 1e9, arguments))
        if reader.place >= footer:
            raise BrokenFile("a record behind the footer")


def _read_arguments(reader, form, with_statuses):
    arguments = {}
    for name, code in form:
        if name.startswith("?"):
            if arguments.get("commrank", arguments.get("oldcommrank")) != arguments["root"]:
                continue
            name = name[1:]
        arguments[name] = reader.value(code, with_statuses)
    return arguments


def _check(name, arguments):
    """Lengths that readers take for the same count."""
    for names in SAME_LENGTH:
        if set(names) <= set(arguments):
            assert len({len(arguments[one]) for one in names} - {0}) <= 1, (name, arguments)
    for array, count in COUNTS.items():
        if count in arguments and arguments.get(array):
            assert len(arguments[array]) == arguments[count], (name, arguments)
    if "indices" in arguments and "outcount" in arguments:
        assert len(arguments["indices"]) == max(0, arguments["outcount"]) == len(arguments["statuses"]), (name, arguments)
    if "statuses" in arguments and "indices" not in arguments:
        assert len(arguments["statuses"]) in (0, arguments["count"]), (name, arguments)


@dataclass
class Trace:
    """What a metafile leads to."""

    meta: dict
    processes: list

    def __getitem__(self, rank):
        return self.processes[rank]


def read_trace(directory, meta=None):
    """The only trace in a directory, or that of a metafile."""
    meta = meta or next(iter(Path(directory).glob("*.meta")))
    text = meta.read_text()
    assert text.endswith("\n") and all(line.count("=") == 1 and "" not in line.split("=") for line in text.splitlines())
    facts = dict(line.split("=") for line in text.splitlines())
    assert list(facts) == ["hostname", "numprocs", "username", "startime", "fileprefix", "version", "subversion", "subsubversion"]
    paths = [meta.parent / f"{facts['fileprefix']}-{rank:04}.bin" for rank in range(int(facts["numprocs"]))]
    return Trace(facts, [read_process(path) for path in paths])
