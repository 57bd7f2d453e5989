extern "C" HDT_EXPORT int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype)
{
    static constexpr Argument arguments[] = {
        {.kind = Argument::Kind::number, .value = 0, .start = " fid='"},
        {.kind = Argument::Kind::number, .value = 1, .start = " size='"},
        {.kind = Argument::Kind::number, .value = 2, .start = " count='"},
        {.kind = Argument::Kind::number, .value = 3, .start = " tid='"},
        {.kind = Argument::Kind::number, .value = 4, .start = " etOffset='"},
    };
    static constexpr StateForm form = {"File_write_at_all_begin", arguments};
    Call call(Function::MPI_File_write_at_all_begin, Tracks::operations);
    if (call.passes())
        return real.MPI_File_write_at_all_begin(fh, offset, buf, count, datatype);
    const File fh_object = call.file(fh);
    const auto set_arguments = [=, &call](OpenState& state) __attribute__((always_inline)) {
        state.start(&form, 0x1f);
        const Type datatype_object = call.type(datatype);
        state.set(0, fh_object.id);
        state.set(1, datatype_object.size * count);
        state.set(2, count);
        state.set(3, datatype_object.id);
        state.set(4, offset);
    };
    if (call.wants_buffers())
        call.keep_buffers([=](Buffers& buffers) {
            buffers.reads(buf, count, datatype);
        });
    call.begin(form, set_arguments);
    const int rc = call.end(real.MPI_File_write_at_all_begin(fh, offset, buf, count, datatype));
    const Type datatype_object = call.type(datatype);
    Request started;
    if (call.succeeded()) {
        started.rid = next_rid();
        started.kind = RequestKind::access;
        started.size = datatype_object.size * count;
        set_split_access(fh, started);
    }
    if (!call.is_plain()) {
        if (!call.is_recorded())
            return rc;
        if (call.is_summed()) {
            Figures figures;
            Transfer transfer;
            figures.file = (fh_object.id);
            transfer.bytes = (datatype_object.size * count);
            static constexpr CallFacts facts = {.name = "File_write_at_all_begin", .operation = "File_write_at_all_begin", .call_class = CallClass::file, .progress = CallProgress::starts, .collective = CollectiveKind::file, .members = CollectiveMembers::file, .file = FileAccess::write, .pointer = FilePointer::explicit_offset};
            figures.volume = volume_by(facts, TransferArguments(figures, transfer));
            if (call.sum(figures))
                return rc;
        }
    }
    const OpenState& state = call.arguments(set_arguments);
    const int64_t offset_in_bytes = call.succeeded() ? byte_offset(fh, fh_object, offset) : no_offset;
    call.write([&](auto& element) __attribute__((always_inline)) {
        element.add("<File_write_at_all_begin fid='"_xml, state.value(0), "' rid='"_xml, started.rid, "'"_xml);
        if (offset_in_bytes != no_offset)
            element.add(" offset='"_xml, offset_in_bytes, "'"_xml);
        element.add(" size='"_xml, state.value(1), "' count='"_xml, state.value(2), "' tid='"_xml, state.value(3), "' etOffset='"_xml, state.value(4), "'"_xml);
        call.finish_with_buffers(element, started);
        element.child("<Data");
        if (offset_in_bytes != no_offset)
            element.add(" offset='"_xml, offset_in_bytes, "'"_xml);
        element.add(" size='"_xml, datatype_object.size * count, "' count='"_xml, count, "' tid='"_xml, datatype_object.id, "'"_xml);
        element.end_child();
        element.end("File_write_at_all_begin");
    });
    return rc;
}
HDT_WRAPS(MPI_File_write_at_all_begin);
