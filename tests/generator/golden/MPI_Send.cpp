extern "C" HDT_EXPORT int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    Call call(Function::MPI_Send, with_attributes, Tracks::nothing);
    if (call.passes())
        return real.MPI_Send(buf, count, datatype, dest, tag, comm);
    call.begin("Send");
    const int rc = call.end(real.MPI_Send(buf, count, datatype, dest, tag, comm));
    if (!call.is_recorded())
        return rc;
    const Type datatype_object = call.type(datatype);
    const Comm& comm_object = call.comm(comm);
    Element element(call.trace());
    element.text("<Send size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("' toRank='").number(world_rank(comm_object, dest)).text("' toTag='").number(tag_value(tag)).text("' cid='").number(comm_object.id).text("'");
    call.finish_attributes(element).end("Send");
    return rc;
}
HDT_WRAPS(MPI_Send);
