// How arguments of MPI functions are written, beyond plain numbers.
#pragma once

#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/calls/statuses.h"
#include "mpiwrapper/runtime/objects/groups.h"
#include "mpiwrapper/runtime/objects/messages.h"
#include "mpiwrapper/runtime/objects/neighbors.h"
#include "mpiwrapper/runtime/objects/new_communicators.h"
#include "mpiwrapper/runtime/objects/request_view.h"
#include "mpiwrapper/runtime/objects/requests.h"
#include "mpiwrapper/runtime/process/fatal_errors.h"

namespace hdtrace::mpi {

/// A string of the program, which may be null.
template <typename Element> void put_string(Element& element, const char* text)
{
    if (text != nullptr)
        element.escaped(text);
}
/// "1;2;3;"
template <typename Element> void put_list(Element& element, const int* values, int count);
/// The same for ranks in a group.
template <typename Element> void put_local_ranks(Element& element, const int* ranks, int count);
/// The world ranks of a group, "1;2;3;" or "0..999;", if the call succeeded.
template <typename Element> void put_group(Element& element, const Call& call, GroupMembers& members);
/// " sources='1;2;'": the neighbours from which data comes.
template <typename Element> void put_sources(Element& element, const Neighbors& neighbors);
/// " handle='17'": of an object that has no number what MPI calls it until it is freed.
template <typename Element, typename Handle> void put_handle(Element& element, const Handle* handle)
{
    if (handle != nullptr)
        element.text(" handle='").number(static_cast<int64_t>(handle_bits(*handle))).text("'");
}
/// Ranges of ranks, first, last and stride of each: "0,6,2;"
template <typename Element> void put_ranges(Element& element, const int (*ranges)[3], int count);
/// Of a communicator with a Cartesian topology.
int dimensions_of(MPI_Comm comm);
int dimensions_of(MPI_Comm comm, int most);
/// How much there is of an answer for which the program has room for @p most: of a graph, of what a process
/// has in a distributed one, of a rank's neighbors in a graph.
int nodes_of(MPI_Comm comm, int most);
int edges_of(MPI_Comm comm, int most);
int indegree_of(MPI_Comm comm, int most);
int outdegree_of(MPI_Comm comm, int most);
int neighbors_of(MPI_Comm comm, int rank, int most);
/// The last of some numbers, and their sum; 0 if there are none.
int last_of(const int* values, int count);
int sum_of(const int* values, int count);
inline bool has_weights(const int* weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}
/// Children `<Arg value= />` of a started command, if the call succeeded. @p arguments end with a null
/// pointer, or are MPI_ARGV_NULL.
template <typename Element> void put_arguments(Element& element, const Call& call, char** arguments);
/// Children `<Command name= />`, each with its arguments and hints behind it, if the call succeeded.
template <typename Element>
void put_commands(Element& element, const Call& call, int count, char** commands, char*** arguments,
                  const MPI_Info* infos);
/// Children `<Info key= value= />`, if HDTRACE_FILE_INFO asks for them and the call succeeded.
template <typename Element> void put_info(Element& element, const Call& call, MPI_Info info);

/// " value='...'" for an attribute that MPI itself has. @p value is where MPI has put the pointer to it.
template <typename Element> void put_attribute_value(Element& element, int keyval, const void* value);
/// "MPI_SUCCESS;MPI_ERR_SPAWN;"
template <typename Element> void put_errors(Element& element, const int* codes, int count);

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

} // namespace hdtrace::mpi
