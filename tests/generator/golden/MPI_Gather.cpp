extern "C" HDT_EXPORT int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " size='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " recvSize='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " root='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 5, .start = " tid='"},
        {.kind = Argument::Kind::number, .value = 6, .start = " recvCount='"},
        {.kind = Argument::Kind::number, .value = 7, .start = " recvtid='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " rootRank='"},
        {.kind = Argument::Kind::number, .value = 8, .start = " inPlace='"},
    };
    static constexpr StateForm form = {"Gather", arguments};
    Call call(Function::MPI_Gather, Tracks::nothing);
    if (call.passes())
        return real.MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x10c);
        const Comm& comm_object = call.comm(comm);
        const Rooted rooted(comm_object, root);
        const Type sendtype_object = rooted.is_leaf && sendbuf != MPI_IN_PLACE ? call.type(sendtype) : Type();
        const Type recvtype_object = rooted.is_root ? call.type(recvtype) : Type();
        if ((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root) {
            state.set(0, rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendtype_object.size * sendcount : recvtype_object.size * recvcount);
            state.add(0);
        }
        if (rooted.is_root) {
            state.set(1, recvtype_object.size * recvcount);
            state.add(1);
        }
        state.set(2, world_rank(comm_object, root));
        state.set(3, comm_object.id);
        if ((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root) {
            state.set(4, rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendcount : recvcount);
            state.add(4);
            state.set(5, rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendtype_object.id : recvtype_object.id);
            state.add(5);
        }
        if (rooted.is_root) {
            state.set(6, recvcount);
            state.add(6);
            state.set(7, recvtype_object.id);
            state.add(7);
        }
        if (sendbuf == MPI_IN_PLACE) {
            state.set(8, 1);
            state.add(9);
        }
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            const Comm& members = buffers.comm(comm);
            const Rooted rooted(members, root);
            if (rooted.is_leaf)
                buffers.reads(sendbuf, sendcount, sendtype);
            if (rooted.is_root)
                buffers.writes(recvbuf, static_cast<int64_t>(recvcount) * members.peer_count(), recvtype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Comm& comm_object = call.comm(comm);
            const Rooted rooted(comm_object, root);
            const Type sendtype_object = rooted.is_leaf && sendbuf != MPI_IN_PLACE ? call.type(sendtype) : Type();
            const Type recvtype_object = rooted.is_root ? call.type(recvtype) : Type();
            Figures figures;
            Transfer transfer;
            if (((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root))
                transfer.bytes = (rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendtype_object.size * sendcount : recvtype_object.size * recvcount);
            if ((rooted.is_root))
                transfer.received_bytes = (recvtype_object.size * recvcount);
            figures.communicator = (comm_object.id);
            transfer.root_rank = (world_rank(comm_object, root));
            if ((sendbuf == MPI_IN_PLACE))
                transfer.in_place = (1);
            transfer.partner_count = call.comm(comm).peer_count();
            static constexpr CallFacts facts = {.name = "Gather", .operation = "Gather", .call_class = CallClass::collective, .progress = CallProgress::blocking, .collective = CollectiveKind::all_to_one, .members = CollectiveMembers::communicator, .gathers = true, .has_root = true};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Gather"_xml);
        if (state.has(0))
            element.add(" size='"_xml, state.value(0), "'"_xml);
        if (state.has(1))
            element.add(" recvSize='"_xml, state.value(1), "'"_xml);
        element.add(" root='"_xml, state.value(2), "' cid='"_xml, state.value(3), "'"_xml);
        if (state.has(4))
            element.add(" count='"_xml, state.value(4), "'"_xml);
        if (state.has(5))
            element.add(" tid='"_xml, state.value(5), "'"_xml);
        if (state.has(6))
            element.add(" recvCount='"_xml, state.value(6), "'"_xml);
        if (state.has(7))
            element.add(" recvtid='"_xml, state.value(7), "'"_xml);
        element.add(" rootRank='"_xml, state.value(2), "'"_xml);
        if (state.has(9))
            element.add(" inPlace='"_xml, state.value(8), "'"_xml);
        call.finish_with_buffers(element).end("Gather");
    });
    return rc;
}
HDT_WRAPS(MPI_Gather);
