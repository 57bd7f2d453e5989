extern "C" HDT_EXPORT int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    Call call(Function::MPI_File_write, with_attributes, Tracks::nothing);
    if (call.passes())
        return real.MPI_File_write(fh, buf, count, datatype, status);
    const File fh_object = call.file(fh);
    const int64_t offset_in_bytes = call.is_recorded() ? byte_offset_of_pointer(fh, fh_object) : no_offset;
    StatusArgument used_status(status);
    call.begin("File_write");
    const int rc = call.end(real.MPI_File_write(fh, buf, count, datatype, used_status.get()));
    if (!call.is_recorded())
        return rc;
    const Type datatype_object = call.type(datatype);
    const int64_t actual = call.succeeded() ? status_bytes(used_status.value()) : 0;
    Element element(call.trace());
    element.text("<File_write fid='").number(fh_object.id).text("'");
    if (offset_in_bytes != no_offset)
        element.text(" offset='").number(offset_in_bytes).text("'");
    element.text(" size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("'");
    if (call.succeeded() && actual != datatype_object.size * count)
        element.text(" actual='").number(actual).text("'");
    call.finish_attributes(element).end("File_write");
    return rc;
}
HDT_WRAPS(MPI_File_write);
