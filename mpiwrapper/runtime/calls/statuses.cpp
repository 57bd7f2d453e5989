#include "mpiwrapper/runtime/calls/statuses.h"

#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/library/real.h"

namespace hdtrace::mpi {

namespace {

// Some libraries leave statuses of ours as they were.
bool is_written(const MPI_Status* status)
{
    return value_of(status).MPI_SOURCE != no_source_yet;
}

bool was_cancelled(const MPI_Status* told)
{
    const MPI_Status status = value_of(told);
    int answer = 0;
    real.MPI_Test_cancelled(&status, &answer);
    return answer != 0;
}

} // namespace

int64_t ask_for_bytes(const MPI_Status& status)
{
    MPI_Count bytes = 0;
    if (real.MPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    return bytes;
}

template <typename Element>
void put_completed(Element& element, const Request& request, const MPI_Status* told)
{
    element.begin_child();
    if (request.is_cancelled && was_cancelled(told)) {
        element.add("<For rid='"_xml, request.rid, "' cancelled='1' />"_xml);
    } else if (request.kind == RequestKind::receive_from_proc_null) {
        element.add("<For rid='"_xml, request.rid, "' fromRank='"_xml, no_process,
                    "' fromTag='-1' size='0' />"_xml);
    } else if (request.kind == RequestKind::receive && is_written(told)) {
        const Comm& comm = request.comm != nullptr ? *request.comm : null_comm;
        const Received received(comm, any_source, MPI_ANY_TAG, true, told);
        element.add("<For rid='"_xml, request.rid, "' fromRank='"_xml, received.source, "' fromTag='"_xml,
                    received.tag, "' size='"_xml, received.size, "' />"_xml);
    } else {
        const int64_t actual = request.kind == RequestKind::access && is_written(told)
                                   ? transferred_bytes(value_of(told), request.size)
                                   : request.size;
        if (actual != request.size)
            element.add("<For rid='"_xml, request.rid, "' actual='"_xml, actual, "' />"_xml);
        else if (request.is_doubtful)
            element.add("<For rid='"_xml, request.rid, "' doubtful='1' />"_xml);
        else
            element.add("<For rid='"_xml, request.rid, "' />"_xml);
    }
}

template <typename Element> void put_failed(Element& element, const Request& request, int error)
{
    element.child("<For rid='").number(request.rid);
    element.text("' rc='").name(error_class_name(error)).text("'").end_child();
}

template void put_completed(TextElement&, const Request&, const MPI_Status*);
template void put_completed(CompactElement&, const Request&, const MPI_Status*);
template void put_failed(TextElement&, const Request&, int);
template void put_failed(CompactElement&, const Request&, int);

} // namespace hdtrace::mpi
