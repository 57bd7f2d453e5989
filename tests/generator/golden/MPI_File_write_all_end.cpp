extern "C" HDT_EXPORT int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::children, .value = 0, .start = "<Pending rid='", .item_size = sizeof(int64_t), .stride = sizeof(int64_t), .find = find_itself},
    };
    static constexpr StateForm form = {"Wait", arguments};
    Call call(Function::MPI_File_write_all_end, Tracks::operations);
    if (call.passes())
        return real.MPI_File_write_all_end(fh, buf, status);
    const Request ended = split_access_of(fh);
    StatusArgument used_status(status);
    const auto set_arguments = [=, &call, &ended](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1);
        state.set(0, &ended.rid);
        state.set(1, nullptr);
        state.set(2, 1);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            buffers.ended(ended.rid);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_File_write_all_end(fh, buf, used_status.get()));
    if (call.succeeded())
        set_split_access(fh, Request());
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
        element.add("<Wait"_xml);
        call.finish_with_buffers(element);
        if (ended.rid >= 0)
            put_completed(element, call.succeeded() ? ended : without_status(ended), used_status.get());
        element.end("Wait");
    });
    return rc;
}
HDT_WRAPS(MPI_File_write_all_end);
