extern "C" HDT_EXPORT int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    Call call(Function::MPI_Recv, with_attributes, Tracks::nothing);
    if (call.passes())
        return real.MPI_Recv(buf, count, datatype, source, tag, comm, status);
    StatusArgument used_status(status);
    call.begin("Recv");
    const int rc = call.end(real.MPI_Recv(buf, count, datatype, source, tag, comm, used_status.get()));
    if (!call.is_recorded())
        return rc;
    const Comm& comm_object = call.comm(comm);
    const Received received(comm_object, source, tag, call.succeeded(), used_status.get());
    const Type datatype_object = call.type(datatype);
    Element element(call.trace());
    element.text("<Recv fromRank='").number(received.source).text("' fromTag='").number(received.tag).text("' cid='").number(comm_object.id).text("'");
    if (received.is_known)
        element.text(" size='").number(received.size).text("'");
    element.text(" count='").number(count).text("' tid='").number(datatype_object.id).text("'");
    received.put_posted(element);
    call.finish_attributes(element).end("Recv");
    return rc;
}
HDT_WRAPS(MPI_Recv);
