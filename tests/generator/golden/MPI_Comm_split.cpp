extern "C" HDT_EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    Call call(Function::MPI_Comm_split, with_attributes, Tracks::communicators);
    if (call.passes())
        return real.MPI_Comm_split(comm, color, key, newcomm);
    call.begin("Comm_split");
    const int rc = call.end(real.MPI_Comm_split(comm, color, key, newcomm));
    if (call.succeeded())
        created_from_parent(comm, *newcomm, "split");
    if (!call.is_recorded())
        return rc;
    const Comm& comm_object = call.comm(comm);
    Element element(call.trace());
    element.text("<Comm_split cid='").number(comm_object.id).text("' newcid='").number(call.succeeded() ? call.comm(*newcomm).id : -1).text("' color='").number(color == MPI_UNDEFINED ? -1 : color).text("' key='").number(key).text("'");
    call.finish_attributes(element).end("Comm_split");
    return rc;
}
HDT_WRAPS(MPI_Comm_split);
