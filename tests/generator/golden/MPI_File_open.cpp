extern "C" HDT_EXPORT int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    Call call(Function::MPI_File_open, with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_File_open(comm, filename, amode, info, fh);
    const FileBeforeCall before(filename);
    call.begin("File_open");
    const int rc = call.end(real.MPI_File_open(comm, filename, amode, info, fh));
    int64_t fid = -1;
    if (call.succeeded()) {
        fid = before.id();
        opened(*fh, fid, amode);
    }
    if (!call.is_recorded())
        return rc;
    const Comm& comm_object = call.comm(comm);
    Element element(call.trace());
    element.text("<File_open cid='").number(comm_object.id).text("' name='");
    put_string(element, filename);
    element.text("' flags='").number(amode).text("' fid='").number(fid).text("' amode='");
    put_names(element, amode_names, amode);
    element.text("'");
    call.finish_attributes(element);
    put_info(element, call, info);
    element.end("File_open");
    return rc;
}
HDT_WRAPS(MPI_File_open);
