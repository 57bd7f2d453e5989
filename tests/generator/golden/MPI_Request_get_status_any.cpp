extern "C" HDT_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request *array_of_requests, int *index, int *flag, MPI_Status *status)
{
    Call call(Function::MPI_Request_get_status_any, with_attributes, Tracks::nothing);
    if (call.passes())
        return real.MPI_Request_get_status_any(count, array_of_requests, index, flag, status);
    call.begin("Request_get_status_any");
    const int rc = call.end(real.MPI_Request_get_status_any(count, array_of_requests, index, flag, status));
    if (!call.is_recorded())
        return rc;
    Element element(call.trace());
    element.text("<Request_get_status_any count='").number(count).text("'");
    if (call.succeeded())
        element.text(" flag='").number(*flag).text("'");
    if (call.succeeded())
        element.text(" index='").number(*index == MPI_UNDEFINED ? -1 : *index).text("'");
    call.finish_attributes(element).end("Request_get_status_any");
    return rc;
}
HDT_WRAPS(MPI_Request_get_status_any);
