#include "mpiwrapper/runtime/calls/values.h"

#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/runtime/process/settings.h"

#include <stdlib.h>

namespace hdtrace::mpi {

template <typename Element> void put_list(Element& element, const int* values, int count)
{
    TextBuffer list;
    for (int i = 0; values != nullptr && i < count; ++i)
        list.number(values[i]).text(";");
    element.raw(list.data(), list.size());
}

template <typename Element> void put_local_ranks(Element& element, const int* ranks, int count)
{
    TextBuffer list;
    for (int i = 0; ranks != nullptr && i < count; ++i)
        list.number(local_rank(ranks[i])).text(";");
    element.raw(list.data(), list.size());
}

template <typename Element> void put_info(Element& element, const Call& call, MPI_Info info)
{
    if (!settings.file_info || !call.succeeded() || info == MPI_INFO_NULL)
        return;
    int count = 0;
    real.MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        int length = 0, is_defined = 0;
        real.MPI_Info_get_nthkey(info, i, key);
        real.MPI_Info_get_valuelen(info, key, &length, &is_defined);
        char* const value = static_cast<char*>(own_calloc(static_cast<size_t>(length) + 2, 1));
        if (value == nullptr)
            return;
        real.MPI_Info_get(info, key, length + 1, value, &is_defined);
        element.child("<Info key='").escaped(key).text("' value='").escaped(value).text("'").end_child();
        own_free(value);
    }
}

template <typename Element> void put_group(Element& element, const Call& call, GroupMembers& members)
{
    if (call.succeeded())
        members.ask();
    element.raw(members.text(), members.size());
}

template <typename Element> void put_sources(Element& element, const Neighbors& neighbors)
{
    TextBuffer list;
    add_ranks(list, neighbors.sources, neighbors.source_count);
    element.text(" sources='").raw(list.data(), list.size()).text("'");
}

template <typename Element> void put_ranges(Element& element, const int (*ranges)[3], int count)
{
    TextBuffer list;
    for (int i = 0; ranges != nullptr && i < count; ++i)
        list.number(ranges[i][0]).text(",").number(ranges[i][1]).text(",").number(ranges[i][2]).text(";");
    element.raw(list.data(), list.size());
}

int dimensions_of(MPI_Comm comm)
{
    int dimensions = 0;
    return real.MPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS ? dimensions : 0;
}

namespace {

int at_most(int most, int there)
{
    return there < most ? there : most;
}

} // namespace

int dimensions_of(MPI_Comm comm, int most)
{
    return at_most(most, dimensions_of(comm));
}

int nodes_of(MPI_Comm comm, int most)
{
    int nodes = 0, edges = 0;
    real.MPI_Graphdims_get(comm, &nodes, &edges);
    return at_most(most, nodes);
}

int edges_of(MPI_Comm comm, int most)
{
    int nodes = 0, edges = 0;
    real.MPI_Graphdims_get(comm, &nodes, &edges);
    return at_most(most, edges);
}

int indegree_of(MPI_Comm comm, int most)
{
    int in = 0, out = 0, is_weighted = 0;
    real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
    return at_most(most, in);
}

int outdegree_of(MPI_Comm comm, int most)
{
    int in = 0, out = 0, is_weighted = 0;
    real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
    return at_most(most, out);
}

int neighbors_of(MPI_Comm comm, int rank, int most)
{
    int count = 0;
    real.MPI_Graph_neighbors_count(comm, rank, &count);
    return at_most(most, count);
}

int last_of(const int* values, int count)
{
    return count > 0 ? values[count - 1] : 0;
}

int sum_of(const int* values, int count)
{
    int sum = 0;
    for (int i = 0; i < count; ++i)
        sum += values[i];
    return sum;
}

template <typename Element> void put_attribute_value(Element& element, int keyval, const void* value)
{
    const void* const place = *static_cast<const void* const*>(value);
    const bool is_rank = keyval == MPI_HOST || keyval == MPI_IO;
    const bool is_number = keyval == MPI_TAG_UB || keyval == MPI_WTIME_IS_GLOBAL || keyval == MPI_APPNUM ||
                           keyval == MPI_UNIVERSE_SIZE || keyval == MPI_LASTUSEDCODE ||
                           keyval == MPI_WIN_DISP_UNIT;
    if (place == nullptr)
        return;
    if (is_rank)
        element.text(" value='").number(local_rank(*static_cast<const int*>(place))).text("'");
    else if (is_number)
        element.text(" value='").number(*static_cast<const int*>(place)).text("'");
    else if (keyval == MPI_WIN_SIZE)
        element.text(" value='").number(*static_cast<const MPI_Aint*>(place)).text("'");
}

template <typename Element> void put_errors(Element& element, const int* codes, int count)
{
    TextBuffer list;
    for (int i = 0; i < count; ++i)
        list.string(error_class_name(codes[i])).text(";");
    element.raw(list.data(), list.size());
}

template <typename Element> void put_arguments(Element& element, const Call& call, char** arguments)
{
    if (!call.succeeded() || arguments == MPI_ARGV_NULL)
        return;
    for (; *arguments != nullptr; ++arguments)
        element.child("<Arg value='").escaped(*arguments).text("'").end_child();
}

template <typename Element>
void put_commands(Element& element, const Call& call, int count, char** commands, char*** arguments,
                  const MPI_Info* infos)
{
    if (!call.succeeded())
        return;
    for (int i = 0; i < count; ++i) {
        element.child("<Command name='").escaped(commands[i]).text("'").end_child();
        if (arguments != MPI_ARGVS_NULL)
            put_arguments(element, call, arguments[i]);
        put_info(element, call, infos[i]);
    }
}

#define HDT_FOR_ELEMENT(Element)                                                                             \
    template void put_list(Element&, const int*, int);                                                       \
    template void put_local_ranks(Element&, const int*, int);                                                \
    template void put_info(Element&, const Call&, MPI_Info);                                                 \
    template void put_group(Element&, const Call&, GroupMembers&);                                           \
    template void put_sources(Element&, const Neighbors&);                                                   \
    template void put_ranges(Element&, const int(*)[3], int);                                                \
    template void put_attribute_value(Element&, int, const void*);                                           \
    template void put_errors(Element&, const int*, int);                                                     \
    template void put_arguments(Element&, const Call&, char**);                                              \
    template void put_commands(Element&, const Call&, int, char**, char***, const MPI_Info*);

HDT_FOR_ELEMENT(TextElement)
HDT_FOR_ELEMENT(CompactElement)

} // namespace hdtrace::mpi
