extern "C" HDT_EXPORT int MPI_Grequest_complete(MPI_Request request)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::found, .value = 0, .start = " rid='", .item_size = sizeof(MPI_Request), .find = find_rid},
    };
    static constexpr StateForm form = {"Grequest_complete", arguments};
    Call call(Function::MPI_Grequest_complete, Tracks::nothing);
    if (call.passes())
        return real.MPI_Grequest_complete(request);
    Request asked;
    find_request(request, nullptr, &asked);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1);
        state.set(0, static_cast<int64_t>(handle_bits(request)));
        state.set(1, nullptr);
    };
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_Grequest_complete(request));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            Figures figures;
            if (call.sum(figures))
                return rc;
        }
    }
    call.arguments(set_arguments);
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<Grequest_complete rid='"_xml, asked.rid, "'"_xml);
        call.finish_attributes(element).end("Grequest_complete");
    });
    return rc;
}
HDT_WRAPS(MPI_Grequest_complete);
