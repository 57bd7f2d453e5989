extern "C" HDT_EXPORT int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " fromRank='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " fromTag='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " mid='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " size='"},
        {.kind = Argument::Kind::number, .value = 5, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 6, .start = " tid='"},
    };
    static constexpr StateForm form = {"Imrecv", arguments};
    Call call(Function::MPI_Imrecv, Tracks::operations);
    if (call.passes())
        return real.MPI_Imrecv(buf, count, datatype, message, request);
    const MatchedMessage matched(message);
    const auto set_arguments = [=, &call, &matched](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x77);
        const Type datatype_object = call.type(datatype);
        state.set(0, world_rank(*matched.comm, matched.source));
        state.set(1, tag_value(matched.tag));
        state.set(2, matched.comm->id);
        if (matched.id >= 0) {
            state.set(3, matched.id);
            state.add(3);
        }
        state.set(4, datatype_object.size * count);
        state.set(5, count);
        state.set(6, datatype_object.id);
    };
    if (call.wants_buffers())
        call.keep_buffers([=, is_message = *message != MPI_MESSAGE_NO_PROC](Buffers& buffers) {
            if (is_message)
                buffers.writes(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Imrecv(buf, count, datatype, message, request));
    Request started;
    if (call.succeeded()) {
        started.depth = call.depth();
        started.kind = RequestKind::receive;
        started.comm = &(*matched.comm);
        add_request(*request, request, started);
    }
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Type datatype_object = call.type(datatype);
            Figures figures;
            Transfer transfer;
            figures.sender = (world_rank(*matched.comm, matched.source));
            figures.communicator = (matched.comm->id);
            transfer.bytes = (datatype_object.size * count);
            transfer.received_message = (datatype_object.size * count);
            static constexpr CallFacts facts = {.name = "Imrecv", .operation = "Imrecv", .call_class = CallClass::point_to_point, .progress = CallProgress::starts, .receives = ReceiveKind::probed, .received_size = "size"};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Imrecv fromRank='"_xml, state.value(0), "' fromTag='"_xml, state.value(1), "' cid='"_xml, state.value(2), "'"_xml);
        if (state.has(3))
            element.add(" mid='"_xml, state.value(3), "'"_xml);
        element.add(" rid='"_xml, started.rid, "' size='"_xml, state.value(4), "' count='"_xml, state.value(5), "' tid='"_xml, state.value(6), "'"_xml);
        call.finish_with_buffers(element, started).end("Imrecv");
    });
    return rc;
}
HDT_WRAPS(MPI_Imrecv);
