// What statuses tell of messages and accesses.
#pragma once

#include "hdtrace/writer/element.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/request.h"

#include <limits.h>

namespace hdtrace::mpi {

/// What a status holds. Those of Fortran are arrays of INTEGER, which MPI hands on as they are: they may be
/// less aligned.
inline MPI_Status value_of(const MPI_Status* status)
{
    MPI_Status copy;
    memcpy(&copy, static_cast<const void*>(status), sizeof copy);
    return copy;
}

/// A status for the runtime to read: the program's own, or ours where the program does not want one.
class StatusArgument {
  public:
    explicit StatusArgument(MPI_Status* given) : m_used(given == MPI_STATUS_IGNORE ? &m_own : given) {}
    StatusArgument(const StatusArgument&) = delete;
    StatusArgument& operator=(const StatusArgument&) = delete;
    MPI_Status* get() { return m_used; }
    MPI_Status value() const { return value_of(m_used); }

  private:
    MPI_Status m_own;
    MPI_Status* m_used;
};

int64_t ask_for_bytes(const MPI_Status& status);

/// The bytes that a status tells of.
template <typename Status> inline int64_t status_bytes(const Status& status)
{
    if constexpr (requires { status._ucount; })
        return static_cast<int64_t>(status._ucount); // Open MPI's header shows them
    else
        return ask_for_bytes(status);
}

/// How many of the bytes that an access was asked for it transferred. Some libraries leave statuses as they
/// were where there is nothing to do, and what is in them then may be any number.
template <typename Status> inline int64_t transferred_bytes(const Status& status, int64_t asked)
{
    const int64_t told = asked > 0 ? status_bytes(status) : asked;
    return told >= 0 && told <= asked ? told : asked;
}

/// A tag as it stands in the trace.
inline int64_t tag_value(int tag)
{
    return tag == MPI_ANY_TAG ? -1 : tag;
}

/// What a receive or probe asked for and got.
struct Received {
    int64_t posted_source;
    int64_t posted_tag;
    int64_t source;
    int64_t tag;
    int64_t size = 0;
    bool is_known = false; ///< there is a message

    /// What was asked is as it stands in the trace. @p told is read only if @p has_message.
    Received(const Comm& comm, int64_t source_asked, int64_t tag_asked, bool has_message,
             const MPI_Status* told)
        : posted_source(source_asked), posted_tag(tag_asked), source(posted_source), tag(posted_tag),
          is_known(has_message)
    {
        if (!has_message)
            return;
        // From MPI_PROC_NULL not all libraries write the status. Unknown messages have no communicator.
        if (source == no_process && &comm != &null_comm) {
            tag = tag_value(MPI_ANY_TAG);
            return;
        }
        const MPI_Status status = value_of(told);
        source = world_rank(comm, status.MPI_SOURCE);
        tag = tag_value(status.MPI_TAG);
        size = status_bytes(status);
    }
    /// `postedRank`, `postedTag`: what was asked, where it differs from what came.
    template <typename Element> __attribute__((always_inline)) void put_posted(Element& element) const
    {
        if (__builtin_expect(posted_source != source, false))
            element.add(" postedRank='"_xml, posted_source, "'"_xml);
        if (__builtin_expect(posted_tag != tag, false))
            element.add(" postedTag='"_xml, posted_tag, "'"_xml);
    }
};

/// Stands in a status of ours until MPI writes it: some libraries leave some out.
inline constexpr int no_source_yet = INT_MIN;

/// For completion calls: `<For rid= />` with what is known of the message or the access. @p told is read only
/// if it tells of such a request.
template <typename Element>
void put_completed(Element& element, const Request& request, const MPI_Status* told);
/// The same for a request that failed, with the error that its status tells.
template <typename Element> void put_failed(Element& element, const Request& request, int error);

} // namespace hdtrace::mpi
