extern "C" HDT_EXPORT int MPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    Call call(with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_File_write_all_end(fh, buf, status);
    const int64_t split_rid = split_rid_of(fh);
    call.begin("Wait");
    const int rc = call.end(real.MPI_File_write_all_end(fh, buf, status));
    set_split_rid(fh, -1);
    if (!call.is_recorded())
        return rc;
    Element element(call.trace());
    element.text("<Wait");
    call.finish_attributes(element);
    if (split_rid >= 0)
        element.child("<For rid='").number(split_rid).text("'").end_child();
    element.end("Wait");
    return rc;
}
HDT_WRAPS(MPI_File_write_all_end);
