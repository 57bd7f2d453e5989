extern "C" HDT_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    Call call(Function::MPI_Improbe, with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_Improbe(source, tag, comm, flag, message, status);
    StatusArgument used_status(status);
    call.begin("Improbe");
    const int rc = call.end(real.MPI_Improbe(source, tag, comm, flag, message, used_status.get()));
    const Comm& comm_object = call.comm(comm);
    if (call.succeeded() && *flag)
        add_message(*message, {&comm_object, used_status.value().MPI_SOURCE, used_status.value().MPI_TAG});
    if (!call.is_recorded())
        return rc;
    const Received received(comm_object, source, tag, call.succeeded() && *flag, used_status.get());
    Element element(call.trace());
    element.text("<Improbe source='").number(world_rank(comm_object, source)).text("' tag='").number(tag_value(tag)).text("' cid='").number(comm_object.id).text("'");
    if (call.succeeded())
        element.text(" flag='").number(*flag).text("'");
    if (received.is_known)
        element.text(" fromRank='").number(received.source).text("'");
    if (received.is_known)
        element.text(" fromTag='").number(received.tag).text("'");
    if (received.is_known)
        element.text(" size='").number(received.size).text("'");
    call.finish_attributes(element).end("Improbe");
    return rc;
}
HDT_WRAPS(MPI_Improbe);
