// How arguments of MPI functions are written, beyond plain numbers.
#pragma once

#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/objects/files.h"
#include "mpiwrapper/runtime/objects/requests.h"

#include <limits.h>
#include <span>

namespace hdtrace::mpi {

/// A constant of mpi.h, whose value depends on the library.
struct NamedValue {
    int value;
    const char* name;
};

#include "named_values.inc"

const char* error_class_name(int rc);
const char* op_name(MPI_Op op);
/// The name of a constant, or the number if it has none.
void put_name(Element& element, std::span<const NamedValue> names, int value);
/// A sum of constants, "CREATE|RDWR"; what has no name is a number, so that nothing is "0".
void put_names(Element& element, std::span<const NamedValue> names, int value);
/// A string of the program, which may be null.
inline void put_string(Element& element, const char* text)
{
    if (text != nullptr)
        element.escaped(text);
}
/// "1;2;3;"
void put_list(Element& element, const int* values, int count);
/// The world ranks of a group, "1;2;3;" or "0..999;", if the call succeeded.
void put_group(Element& element, const Call& call, MPI_Group group);
/// Ranges of ranks, first, last and stride of each: "0,6,2;"
void put_ranges(Element& element, const int (*ranges)[3], int count);
/// Of a communicator with a Cartesian topology.
int dimensions_of(MPI_Comm comm);
/// The last of some numbers, and their sum; 0 if there are none.
int last_of(const int* values, int count);
int sum_of(const int* values, int count);
inline bool has_weights(const int* weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}
/// Children `<Arg value= />` of a started command, if the call succeeded. @p arguments end with a null
/// pointer, or are MPI_ARGV_NULL.
void put_arguments(Element& element, const Call& call, char** arguments);
/// Children `<Command name= />`, each with its arguments and hints behind it, if the call succeeded.
void put_commands(Element& element, const Call& call, int count, char** commands, char*** arguments,
                  const MPI_Info* infos);
/// Children `<Info key= value= />`, if HDTRACE_FILE_INFO asks for them and the call succeeded.
void put_info(Element& element, const Call& call, MPI_Info info);

inline int64_t tag_value(int tag)
{
    return tag == MPI_ANY_TAG ? -1 : tag;
}

/// Which side of a rooted collective this process is on.
struct Rooted {
    bool is_root;   ///< the arguments for the root are significant
    bool is_leaf;   ///< the arguments of everyone are significant
    bool is_member; ///< the arguments of root and others are significant

    Rooted(const Comm& comm, int root)
        : is_root(comm.is_inter ? root == MPI_ROOT : root == comm.rank),
          is_leaf(!comm.is_inter || (root != MPI_ROOT && root != MPI_PROC_NULL)),
          is_member(!comm.is_inter || root != MPI_PROC_NULL)
    {
    }
};

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

/// A message that MPI_Mprobe found and MPI_Mrecv has not yet received.
struct Message {
    const Comm* comm = &null_comm;
    int source = MPI_PROC_NULL;
    int tag = MPI_ANY_TAG;
};

void add_message(MPI_Message handle, const Message& message);

/// A message that is about to be received: its handle ends with that.
class MatchedMessage : public Message {
  public:
    /// @p handle may be null, as far as MPI is asked to say so.
    explicit MatchedMessage(const MPI_Message* handle);
    ~MatchedMessage() { drop_reference(*comm); }
    MatchedMessage(const MatchedMessage&) = delete;
    MatchedMessage& operator=(const MatchedMessage&) = delete;
};

/// What a receive or probe asked for and got.
struct Received {
    int64_t posted_source;
    int64_t posted_tag;
    int64_t source;
    int64_t tag;
    int64_t size = 0;
    bool is_known = false; ///< there is a message

    /// @p told is read only if @p has_message.
    Received(const Comm& comm, int source_argument, int tag_argument, bool has_message,
             const MPI_Status* told)
        : posted_source(world_rank(comm, source_argument)), posted_tag(tag_value(tag_argument)),
          source(posted_source), tag(posted_tag), is_known(has_message)
    {
        if (!has_message)
            return;
        const MPI_Status status = value_of(told);
        source = world_rank(comm, status.MPI_SOURCE);
        tag = tag_value(status.MPI_TAG);
        size = status_bytes(status);
    }
    /// `postedRank`, `postedTag`: what was asked, where it differs from what came.
    void put_posted(Element& element) const
    {
        if (posted_source != source)
            element.text(" postedRank='").number(posted_source).text("'");
        if (posted_tag != tag)
            element.text(" postedTag='").number(posted_tag).text("'");
    }
};

inline RequestKind receive_kind(int source)
{
    return source == MPI_PROC_NULL ? RequestKind::receive_from_nobody : RequestKind::receive;
}

/// Of a request that both sends and receives. MPICH answers with the status of an earlier operation.
inline RequestKind exchange_kind(int source)
{
    const RequestKind kind = receive_kind(source);
#ifdef MPICH_NUMVERSION
    return kind == RequestKind::receive ? RequestKind::operation : kind;
#else
    return kind;
#endif
}

/// Stands in a status of ours until MPI writes it: some libraries leave some out.
inline constexpr int no_source_yet = INT_MIN;

/// For completion calls: " rid='...'" and what is known of the message or the access. Ends the child element.
/// @p told is read only if it tells of such a request.
void put_completed(Element& element, const Request& request, const MPI_Status* told);

} // namespace hdtrace::mpi
