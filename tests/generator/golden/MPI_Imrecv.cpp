extern "C" HDT_EXPORT int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    Call call(Function::MPI_Imrecv, with_attributes, Tracks::operations);
    if (call.passes())
        return real.MPI_Imrecv(buf, count, datatype, message, request);
    const MatchedMessage matched(message);
    call.begin("Imrecv");
    const int rc = call.end(real.MPI_Imrecv(buf, count, datatype, message, request));
    Request started;
    if (call.succeeded()) {
        started.depth = call.depth();
        started.kind = RequestKind::receive;
        started.comm = &(*matched.comm);
        add_request(*request, request, started);
    }
    if (!call.is_recorded())
        return rc;
    const Type datatype_object = call.type(datatype);
    Element element(call.trace());
    element.text("<Imrecv fromRank='").number(world_rank(*matched.comm, matched.source)).text("' fromTag='").number(tag_value(matched.tag)).text("' cid='").number(matched.comm->id).text("' rid='").number(started.rid).text("' size='").number(datatype_object.size * count).text("' count='").number(count).text("' tid='").number(datatype_object.id).text("'");
    call.finish_attributes(element).end("Imrecv");
    return rc;
}
HDT_WRAPS(MPI_Imrecv);
