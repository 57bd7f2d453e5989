extern "C" HDT_EXPORT int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    Call call(Function::MPI_Gather, with_attributes, Tracks::nothing);
    if (call.passes())
        return real.MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    call.begin("Gather");
    const int rc = call.end(real.MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    if (!call.is_recorded())
        return rc;
    const Comm& comm_object = call.comm(comm);
    const Rooted rooted(comm_object, root);
    const Type sendtype_object = rooted.is_leaf && sendbuf != MPI_IN_PLACE ? call.type(sendtype) : Type();
    const Type recvtype_object = rooted.is_root ? call.type(recvtype) : Type();
    Element element(call.trace());
    element.text("<Gather");
    if ((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root)
        element.text(" size='").number(rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendtype_object.size * sendcount : recvtype_object.size * recvcount).text("'");
    if (rooted.is_root)
        element.text(" recvSize='").number(recvtype_object.size * recvcount).text("'");
    element.text(" root='").number(world_rank(comm_object, root)).text("' cid='").number(comm_object.id).text("'");
    if ((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root)
        element.text(" count='").number(rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendcount : recvcount).text("'");
    if ((rooted.is_leaf && sendbuf != MPI_IN_PLACE) || rooted.is_root)
        element.text(" tid='").number(rooted.is_leaf && sendbuf != MPI_IN_PLACE ? sendtype_object.id : recvtype_object.id).text("'");
    if (rooted.is_root)
        element.text(" recvCount='").number(recvcount).text("'");
    if (rooted.is_root)
        element.text(" recvtid='").number(recvtype_object.id).text("'");
    element.text(" rootRank='").number(world_rank(comm_object, root)).text("'");
    if (sendbuf == MPI_IN_PLACE)
        element.text(" inPlace='").number(1).text("'");
    call.finish_attributes(element).end("Gather");
    return rc;
}
HDT_WRAPS(MPI_Gather);
