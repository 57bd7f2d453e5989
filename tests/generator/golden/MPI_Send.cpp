extern "C" HDT_EXPORT int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " size='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " tid='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " toRank='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " toTag='"},
        {.kind = Argument::Kind::number, .value = 5, .start = " cid='"},
    };
    static constexpr StateForm form = {"Send", arguments};
    Call call(Function::MPI_Send, Tracks::nothing);
    if (call.passes())
        return real.MPI_Send(buf, count, datatype, dest, tag, comm);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x3f);
        const Type datatype_object = call.type(datatype);
        const Comm& comm_object = call.comm(comm);
        state.set(0, datatype_object.size * count);
        state.set(1, count);
        state.set(2, datatype_object.id);
        state.set(3, world_rank(comm_object, dest));
        state.set(4, tag_value(tag));
        state.set(5, comm_object.id);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            if (dest != MPI_PROC_NULL)
                buffers.reads(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Send(buf, count, datatype, dest, tag, comm));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Type datatype_object = call.type(datatype);
            const Comm& comm_object = call.comm(comm);
            Figures figures;
            Transfer transfer;
            transfer.bytes = (datatype_object.size * count);
            transfer.sent_message = (datatype_object.size * count);
            figures.receiver = (world_rank(comm_object, dest));
            figures.communicator = (comm_object.id);
            static constexpr CallFacts facts = {.name = "Send", .operation = "Send", .call_class = CallClass::point_to_point, .progress = CallProgress::blocking, .sends = SendMode::standard, .sent_size = "size"};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Send size='"_xml, state.value(0), "' count='"_xml, state.value(1), "' tid='"_xml, state.value(2), "' toRank='"_xml, state.value(3), "' toTag='"_xml, state.value(4), "' cid='"_xml, state.value(5), "'"_xml);
        call.finish_with_buffers(element).end("Send");
    });
    return rc;
}
HDT_WRAPS(MPI_Send);
