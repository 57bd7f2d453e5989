extern "C" HDT_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " source='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " tag='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " cid='"},
    };
    static constexpr StateForm form = {"Improbe", arguments};
    Call call(Function::MPI_Improbe, Tracks::operations);
    if (call.passes())
        return real.MPI_Improbe(source, tag, comm, flag, message, status);
    StatusArgument used_status(status);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x7);
        const Comm& comm_object = call.comm(comm);
        call.keep(comm_object);
        state.set(0, world_rank(comm_object, source));
        state.set(1, tag_value(tag));
        state.set(2, comm_object.id);
    };
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Improbe(source, tag, comm, flag, message, used_status.get()));
    const Comm& comm_object = call.kept_comm(comm);
    int64_t mid = -1;
    if (call.succeeded() && *flag)
        mid = add_message(*message, {&comm_object, used_status.value().MPI_SOURCE, used_status.value().MPI_TAG});
    if (!call.is_plain()) {
        if (!call.is_recorded() || call.is_empty_poll([&] { return call.succeeded() && !*flag; }))
            return rc;
        if (call.is_summed()) {
            const Received received(comm_object, (world_rank(comm_object, source)), (tag_value(tag)), call.succeeded() && *flag, used_status.get());
            Figures figures;
            figures.sender = (world_rank(comm_object, source));
            figures.communicator = (comm_object.id);
            if (received.is_known)
                figures.sender = received.source;
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const Received received(comm_object, state.value(0), state.value(1), call.succeeded() && *flag, used_status.get());
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Improbe source='"_xml, state.value(0), "' tag='"_xml, state.value(1), "' cid='"_xml, state.value(2), "'"_xml);
        if (call.succeeded())
            element.add(" flag='"_xml, *flag, "'"_xml);
        if (received.is_known)
            element.add(" fromRank='"_xml, received.source, "'"_xml);
        if (received.is_known)
            element.add(" fromTag='"_xml, received.tag, "'"_xml);
        if (received.is_known)
            element.add(" size='"_xml, received.size, "'"_xml);
        if (mid >= 0)
            element.add(" mid='"_xml, mid, "'"_xml);
        call.finish_attributes(element).end("Improbe");
    });
    return rc;
}
HDT_WRAPS(MPI_Improbe);
