extern "C" HDT_EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " cid='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " color='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " key='"},
    };
    static constexpr StateForm form = {"Comm_split", arguments};
    Call call(Function::MPI_Comm_split, Tracks::communicators);
    if (call.passes())
        return real.MPI_Comm_split(comm, color, key, newcomm);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x7);
        const Comm& comm_object = call.comm(comm);
        state.set(0, comm_object.id);
        state.set(1, color == MPI_UNDEFINED ? -1 : color);
        state.set(2, key);
    };
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Comm_split(comm, color, key, newcomm));
    if (call.succeeded())
        created_from_parent(comm, *newcomm, "split");
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Comm& comm_object = call.comm(comm);
            Figures figures;
            figures.communicator = (comm_object.id);
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Comm_split cid='"_xml, state.value(0), "' newcid='"_xml, call.succeeded() ? call.comm(*newcomm).id : -1, "' color='"_xml, state.value(1), "' key='"_xml, state.value(2), "'"_xml);
        call.finish_attributes(element).end("Comm_split");
    });
    return rc;
}
HDT_WRAPS(MPI_Comm_split);
