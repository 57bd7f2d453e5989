extern "C" HDT_EXPORT int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype)
{
    Call call(Function::MPI_File_write_at_all_begin, with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_File_write_at_all_begin(fh, offset, buf, count, datatype);
    const File fh_object = call.file(fh);
    call.begin("File_write_at_all_begin");
    const int rc = call.end(real.MPI_File_write_at_all_begin(fh, offset, buf, count, datatype));
    const Type datatype_object = call.type(datatype);
    Request started;
    if (call.succeeded()) {
        started.rid = next_rid();
        started.kind = RequestKind::access;
        started.size = datatype_object.size * count;
    }
    set_split_access(fh, started);
    if (!call.is_recorded())
        return rc;
    const int64_t offset_in_bytes = call.succeeded() ? byte_offset(fh, fh_object, offset) : no_offset;
    Element element(call.trace());
    element.text("<File_write_at_all_begin fid='").number(fh_object.id).text("' rid='").number(started.rid).text("'");
    if (offset_in_bytes != no_offset)
        element.text(" offset='").number(offset_in_bytes).text("'");
    element.text(" size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("' etOffset='").number(offset).text("'");
    call.finish_attributes(element);
    element.child("<Data");
    if (offset_in_bytes != no_offset)
        element.text(" offset='").number(offset_in_bytes).text("'");
    element.text(" size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("'");
    element.end_child();
    element.end("File_write_at_all_begin");
    return rc;
}
HDT_WRAPS(MPI_File_write_at_all_begin);
