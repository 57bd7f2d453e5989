extern "C" HDT_EXPORT int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " fid='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " offset='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " size='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " tid='"},
    };
    static constexpr StateForm form = {"File_write", arguments};
    Call call(Function::MPI_File_write, Tracks::nothing);
    if (call.passes())
        return real.MPI_File_write(fh, buf, count, datatype, status);
    const File fh_object = call.file(fh);
    const int64_t offset_in_bytes = call.is_recorded() ? byte_offset_of_pointer(fh, fh_object) : no_offset;
    StatusArgument used_status(status);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1d);
        const Type datatype_object = call.type(datatype);
        state.set(0, fh_object.id);
        if (offset_in_bytes != no_offset) {
            state.set(1, offset_in_bytes);
            state.add(1);
        }
        state.set(2, datatype_object.size * count);
        state.set(3, count);
        state.set(4, datatype_object.id);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            buffers.reads(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_File_write(fh, buf, count, datatype, used_status.get()));
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            const Type datatype_object = call.type(datatype);
            const int64_t actual = call.succeeded() ? transferred_bytes(used_status.value(), datatype_object.size * count) : 0;
            Figures figures;
            Transfer transfer;
            figures.file = (fh_object.id);
            transfer.bytes = (datatype_object.size * count);
            if (call.succeeded() && actual != datatype_object.size * count)
                transfer.transferred_bytes = actual;
            static constexpr CallFacts facts = {.name = "File_write", .operation = "File_write", .call_class = CallClass::file, .progress = CallProgress::blocking, .file = FileAccess::write, .pointer = FilePointer::individual};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const Type datatype_object = call.type(datatype);
    const int64_t actual = call.succeeded() ? transferred_bytes(used_status.value(), datatype_object.size * count) : 0;
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<File_write fid='"_xml, state.value(0), "'"_xml);
        if (state.has(1))
            element.add(" offset='"_xml, state.value(1), "'"_xml);
        element.add(" size='"_xml, state.value(2), "' count='"_xml, state.value(3), "' tid='"_xml, state.value(4), "'"_xml);
        if (call.succeeded() && actual != datatype_object.size * count)
            element.add(" actual='"_xml, actual, "'"_xml);
        call.finish_with_buffers(element).end("File_write");
    });
    return rc;
}
HDT_WRAPS(MPI_File_write);
