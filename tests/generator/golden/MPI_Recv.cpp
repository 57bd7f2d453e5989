extern "C" HDT_EXPORT int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " fromRank='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " fromTag='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " tid='"},
    };
    static constexpr StateForm form = {"Recv", arguments};
    Call call(Function::MPI_Recv, Tracks::nothing);
    if (call.passes())
        return real.MPI_Recv(buf, count, datatype, source, tag, comm, status);
    StatusArgument used_status(status);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1f);
        const Comm& comm_object = call.comm(comm);
        call.keep(comm_object);
        const Type datatype_object = call.type(datatype);
        state.set(0, world_rank(comm_object, source));
        state.set(1, tag_value(tag));
        state.set(2, comm_object.id);
        state.set(3, count);
        state.set(4, datatype_object.id);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            if (source != MPI_PROC_NULL)
                buffers.writes(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Recv(buf, count, datatype, source, tag, comm, used_status.get()));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Comm& comm_object = call.comm(comm);
            const Received received(comm_object, (world_rank(comm_object, source)), (tag_value(tag)), call.succeeded(), used_status.get());
            Figures figures;
            Transfer transfer;
            figures.sender = received.source;
            figures.communicator = (comm_object.id);
            if (received.is_known)
                transfer.bytes = received.size;
            if (received.is_known)
                transfer.received_message = received.size;
            static constexpr CallFacts facts = {.name = "Recv", .operation = "Recv", .call_class = CallClass::point_to_point, .progress = CallProgress::blocking, .receives = ReceiveKind::posted, .received_size = "size"};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const Comm& comm_object = call.kept_comm();
    const Received received(comm_object, state.value(0), state.value(1), call.succeeded(), used_status.get());
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Recv fromRank='"_xml, received.source, "' fromTag='"_xml, received.tag, "' cid='"_xml, state.value(2), "'"_xml);
        if (received.is_known)
            element.add(" size='"_xml, received.size, "'"_xml);
        element.add(" count='"_xml, state.value(3), "' tid='"_xml, state.value(4), "'"_xml);
        received.put_posted(element);
        call.finish_with_buffers(element).end("Recv");
    });
    return rc;
}
HDT_WRAPS(MPI_Recv);
