extern "C" HDT_EXPORT int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    Call call(Function::MPI_Irecv, with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_Irecv(buf, count, datatype, source, tag, comm, request);
    call.begin("Irecv");
    const int rc = call.end(real.MPI_Irecv(buf, count, datatype, source, tag, comm, request));
    const Comm& comm_object = call.comm(comm);
    Request started;
    if (call.succeeded()) {
        started.depth = call.depth();
        started.kind = receive_kind(source);
        started.comm = &comm_object;
        add_request(*request, request, started);
    }
    if (!call.is_recorded())
        return rc;
    const Type datatype_object = call.type(datatype);
    Element element(call.trace());
    element.text("<Irecv fromRank='").number(world_rank(comm_object, source)).text("' fromTag='").number(tag_value(tag)).text("' cid='").number(comm_object.id).text("' rid='").number(started.rid).text("' size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("'");
    call.finish_attributes(element).end("Irecv");
    return rc;
}
HDT_WRAPS(MPI_Irecv);
