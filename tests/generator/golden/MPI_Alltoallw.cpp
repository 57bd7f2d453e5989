extern "C" HDT_EXPORT int MPI_Alltoallw(const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " inPlace='"},
    };
    static constexpr StateForm form = {"Alltoallw", arguments};
    Call call(Function::MPI_Alltoallw, Tracks::nothing);
    if (call.passes())
        return real.MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1);
        const Comm& comm_object = call.comm(comm);
        call.keep(comm_object);
        state.set(0, comm_object.id);
        if (sendbuf == MPI_IN_PLACE) {
            state.set(1, 1);
            state.add(1);
        }
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            const Comm& members = buffers.comm(comm);
            buffers.reads_each(sendbuf, sendcounts, sdispls, sendtypes, members.peer_count());
            buffers.writes_each(recvbuf, recvcounts, rdispls, recvtypes, members.peer_count());
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Comm& comm_object = call.comm(comm);
            Figures figures;
            Transfer transfer;
            figures.communicator = (comm_object.id);
            if ((sendbuf == MPI_IN_PLACE))
                transfer.in_place = (1);
            if (call.succeeded() && sendbuf != MPI_IN_PLACE) {
                for (int i = 0, n = comm_object.peer_count(); i < n; ++i) {
                    if (sendcounts[i] == 0)
                        continue;
                    const Type type = call.type(sendtypes[i]);
                    transfer.sends.add(world_rank(comm_object, i), this_process().rank, sendcounts[i] * type.size);
                }
            }
            if (call.succeeded()) {
                for (int i = 0, n = comm_object.peer_count(); i < n; ++i) {
                    if (recvcounts[i] == 0)
                        continue;
                    const Type type = call.type(recvtypes[i]);
                    transfer.receives.add(world_rank(comm_object, i), this_process().rank, recvcounts[i] * type.size);
                }
            }
            transfer.partner_count = call.comm(comm).peer_count();
            static constexpr CallFacts facts = {.name = "Alltoallw", .operation = "Alltoallw", .call_class = CallClass::collective, .progress = CallProgress::blocking, .collective = CollectiveKind::all_to_all, .members = CollectiveMembers::communicator, .scatters = true, .gathers = true, .lists_sends = true, .lists_receives = true};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const Comm& comm_object = call.kept_comm();
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Alltoallw cid='"_xml, state.value(0), "'"_xml);
        if (state.has(1))
            element.add(" inPlace='"_xml, state.value(1), "'"_xml);
        call.finish_with_buffers(element);
        if (call.succeeded() && sendbuf != MPI_IN_PLACE) {
            for (int i = 0, n = comm_object.peer_count(); i < n; ++i) {
                if (sendcounts[i] == 0)
                    continue;
                const Type type = call.type(sendtypes[i]);
                element.child("<Send rank='");
                element.add(world_rank(comm_object, i), "' size='"_xml, sendcounts[i] * type.size, "' count='"_xml, sendcounts[i], "' tid='"_xml, type.id);
                element.add("' displ='"_xml, sdispls[i]);
                element.text("'").end_child();
            }
        }
        if (call.succeeded()) {
            for (int i = 0, n = comm_object.peer_count(); i < n; ++i) {
                if (recvcounts[i] == 0)
                    continue;
                const Type type = call.type(recvtypes[i]);
                element.child("<Recv rank='");
                element.add(world_rank(comm_object, i), "' size='"_xml, recvcounts[i] * type.size, "' count='"_xml, recvcounts[i], "' tid='"_xml, type.id);
                element.add("' displ='"_xml, rdispls[i]);
                element.text("'").end_child();
            }
        }
        element.end("Alltoallw");
    });
    return rc;
}
HDT_WRAPS(MPI_Alltoallw);
