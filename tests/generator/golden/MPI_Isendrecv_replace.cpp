extern "C" HDT_EXPORT int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " sendSize='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " toRank='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " toTag='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " fromRank='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " fromTag='"},
        {.kind = Argument::Kind::number, .value = 5, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 6, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 7, .start = " tid='"},
        {.kind = Argument::Kind::number, .value = 0, .start = " size='"},
    };
    static constexpr StateForm form = {"Isendrecv_replace", arguments};
    Call call(Function::MPI_Isendrecv_replace, Tracks::operations);
    if (call.passes())
        return real.MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1ff);
        const Type datatype_object = call.type(datatype);
        const Comm& comm_object = call.comm(comm);
        call.keep(comm_object);
        state.set(0, datatype_object.size * count);
        state.set(1, world_rank(comm_object, dest));
        state.set(2, tag_value(sendtag));
        state.set(3, world_rank(comm_object, source));
        state.set(4, tag_value(recvtag));
        state.set(5, comm_object.id);
        state.set(6, count);
        state.set(7, datatype_object.id);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            if (source != MPI_PROC_NULL)
                buffers.writes(buf, count, datatype);
            else if (dest != MPI_PROC_NULL)
                buffers.reads(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request));
    const Comm& comm_object = call.kept_comm(comm);
    Request started;
    if (call.succeeded()) {
        started.depth = call.depth();
        started.kind = exchange_kind(source);
        started.comm = &comm_object;
        add_request(*request, request, started);
    }
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Type datatype_object = call.type(datatype);
            Figures figures;
            Transfer transfer;
            transfer.sent_message = (datatype_object.size * count);
            figures.receiver = (world_rank(comm_object, dest));
            figures.sender = (world_rank(comm_object, source));
            figures.communicator = (comm_object.id);
            transfer.bytes = (datatype_object.size * count);
            transfer.received_message = (datatype_object.size * count);
            static constexpr CallFacts facts = {.name = "Isendrecv_replace", .operation = "Isendrecv_replace", .call_class = CallClass::point_to_point, .progress = CallProgress::starts, .sends = SendMode::standard, .sent_size = "sendSize", .receives = ReceiveKind::posted, .received_size = "size"};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Isendrecv_replace sendSize='"_xml, state.value(0), "' toRank='"_xml, state.value(1), "' toTag='"_xml, state.value(2), "' fromRank='"_xml, state.value(3), "' fromTag='"_xml, state.value(4), "' cid='"_xml, state.value(5), "' count='"_xml, state.value(6), "' tid='"_xml, state.value(7), "' rid='"_xml, started.rid, "' size='"_xml, state.value(0), "'"_xml);
        call.finish_with_buffers(element, started).end("Isendrecv_replace");
    });
    return rc;
}
HDT_WRAPS(MPI_Isendrecv_replace);
