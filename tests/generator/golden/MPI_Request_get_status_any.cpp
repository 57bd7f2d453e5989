extern "C" HDT_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request *array_of_requests, int *index, int *flag, MPI_Status *status)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " count='"},
    };
    static constexpr StateForm form = {"Request_get_status_any", arguments};
    Call call(Function::MPI_Request_get_status_any, Tracks::nothing);
    if (call.passes())
        return real.MPI_Request_get_status_any(count, array_of_requests, index, flag, status);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1);
        state.set(0, count);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            if (*flag && *index != MPI_UNDEFINED)
                buffers.seen_complete(array_of_requests[*index]);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Request_get_status_any(count, array_of_requests, index, flag, status));
    if (!call.is_plain()) {
        if (!call.is_recorded() || call.is_empty_poll([&] { return call.succeeded() && !*flag; }))
            return rc;
        if (call.is_summed()) {
            Figures figures;
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Request_get_status_any count='"_xml, state.value(0), "'"_xml);
        if (call.succeeded())
            element.add(" flag='"_xml, *flag, "'"_xml);
        if (call.succeeded())
            element.add(" index='"_xml, *index == MPI_UNDEFINED ? -1 : *index, "'"_xml);
        call.finish_with_buffers(element).end("Request_get_status_any");
    });
    return rc;
}
HDT_WRAPS(MPI_Request_get_status_any);
