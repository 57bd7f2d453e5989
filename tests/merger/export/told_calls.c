/* Tells what it calls: a line for each call, with all arguments and answers, as the test reads them back from
 * what the trace is converted to. Objects have names that the program gives them; `null` and those of MPI
 * itself are the same for all. Its argument is the beginning of the name of the file that gets the lines. */
#include "../../mpi/programs/check.h"
#include <stdarg.h>

static FILE* told;
static MPI_Comm world;

static void tell(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(told, format, arguments);
    va_end(arguments);
    fputc('\n', told);
}

/* bytes:source:cancelled:tag */
static const char* text_of(const MPI_Status* status)
{
    static char texts[8][80];
    static int next;
    char* text = texts[next = (next + 1) % 8];
    int bytes, cancelled;
    MPI_Status copy = *status;
    PMPI_Get_count(&copy, MPI_BYTE, &bytes);
    PMPI_Test_cancelled(&copy, &cancelled);
    snprintf(text, sizeof texts[0], "%d:%d:%d:%d", bytes, status->MPI_SOURCE, cancelled, status->MPI_TAG);
    return text;
}

static void messages(void)
{
    int numbers[4] = {rank, 1, 2, 3}, received[4], flag, count;
    MPI_Status status = {0}; // MPICH's Probe leaves in it whether something was cancelled
    if (rank == 0) {
        MPI_Send(numbers, 3, MPI_INT, 1, 7, world);
        tell("Send count=3 datatype=INT dest=1 tag=7 comm=WORLD");
        MPI_Ssend(numbers, 2, MPI_INT, 1, 8, world);
        tell("Ssend count=2 datatype=INT dest=1 tag=8 comm=WORLD");
        MPI_Send(numbers, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, world);
        tell("Send count=0 datatype=DOUBLE dest=-2 tag=0 comm=WORLD");
    } else if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        tell("Probe source=-1 tag=-1 comm=WORLD status=%s", text_of(&status));
        MPI_Recv(received, 4, MPI_INT, MPI_ANY_SOURCE, 7, world, &status);
        tell("Recv count=4 datatype=INT source=-1 tag=7 comm=WORLD status=%s", text_of(&status));
        MPI_Get_count(&status, MPI_INT, &count);
        tell("Get_count datatype=INT count=3");
        MPI_Recv(received, 4, MPI_INT, 0, MPI_ANY_TAG, world, &status);
        tell("Recv count=4 datatype=INT source=0 tag=-1 comm=WORLD status=%s", text_of(&status));
        MPI_Iprobe(0, 99, world, &flag, &status);
        tell("Iprobe source=0 tag=99 comm=WORLD flag=0 status=");
    }
    MPI_Sendrecv(numbers, 1, MPI_INT, right, 3, received, 4, MPI_INT, left, 3, world, &status);
    tell("Sendrecv sendcount=1 sendtype=INT dest=%d sendtag=3 recvcount=4 recvtype=INT source=%d recvtag=3 "
         "comm=WORLD status=%s",
         right, left, text_of(&status));
    MPI_Sendrecv_replace(numbers, 2, MPI_INT, left, 4, MPI_ANY_SOURCE, 4, world, &status);
    tell("Sendrecv_replace count=2 datatype=INT dest=%d sendtag=4 source=-1 recvtag=4 comm=WORLD status=%s",
         left, text_of(&status));
}

static void requests(void)
{
    int out[4] = {0}, in[4], index, flag, outcount, indices[4];
    MPI_Request all[4];
    MPI_Status statuses[4];
    for (int i = 0; i < 3; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, left, 20 + i, world, &all[i]);
        tell("Irecv count=1 datatype=INT source=%d tag=%d comm=WORLD request=receive%d", left, 20 + i, i);
    }
    MPI_Testany(3, all, &index, &flag, statuses);
    tell("Testany count=3 requests=[receive0,receive1,receive2] index=-32766 flag=0 status=");
    MPI_Testall(3, all, &flag, statuses);
    tell("Testall count=3 requests=[receive0,receive1,receive2] flag=0 statuses=");
    MPI_Barrier(world);
    tell("Barrier comm=WORLD");
    MPI_Ssend(out, 1, MPI_INT, right, 21, world); /* nobody can be blocked: the receives are there */
    tell("Ssend count=1 datatype=INT dest=%d tag=21 comm=WORLD", right);
    MPI_Waitany(3, all, &index, statuses);
    tell("Waitany count=3 requests=[receive0,receive1,receive2] index=1 status=%s", text_of(statuses));
    MPI_Barrier(world);
    tell("Barrier comm=WORLD");
    MPI_Isend(out, 1, MPI_INT, right, 22, world, &all[3]);
    tell("Isend count=1 datatype=INT dest=%d tag=22 comm=WORLD request=send", right);
    MPI_Wait(&all[3], MPI_STATUS_IGNORE);
    tell("Wait request=send status=?");
    MPI_Waitsome(3, all, &outcount, indices, statuses);
    tell("Waitsome count=3 requests=[receive0,null,receive2] outcount=1 indices=[2] statuses=%s",
         text_of(&statuses[0]));
    MPI_Barrier(world);
    tell("Barrier comm=WORLD");
    MPI_Ssend(out, 1, MPI_INT, right, 20, world);
    tell("Ssend count=1 datatype=INT dest=%d tag=20 comm=WORLD", right);
    MPI_Waitall(3, all, statuses);
    tell("Waitall count=3 requests=[receive0,null,null] statuses=%s,0:-1:0:-1,0:-1:0:-1",
         text_of(&statuses[0]));
    MPI_Waitany(3, all, &index, statuses);
    tell("Waitany count=3 requests=[null,null,null] index=-32766 status=");
    MPI_Irecv(in, 1, MPI_INT, left, 30, world, &all[0]);
    tell("Irecv count=1 datatype=INT source=%d tag=30 comm=WORLD request=cancelled", left);
    MPI_Cancel(&all[0]);
    tell("Cancel request=cancelled");
    MPI_Wait(&all[0], statuses);
    tell("Wait request=cancelled status=?");
}

static void persistent_requests(void)
{
    int out = 1, in;
    MPI_Request both[2];
    MPI_Status statuses[2];
    MPI_Recv_init(&in, 1, MPI_INT, left, 40, world, &both[0]);
    tell("Recv_init count=1 datatype=INT source=%d tag=40 comm=WORLD request=again", left);
    MPI_Send_init(&out, 1, MPI_INT, right, 40, world, &both[1]);
    tell("Send_init count=1 datatype=INT dest=%d tag=40 comm=WORLD request=to", right);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, both);
        tell("Startall count=2 requests=[again,to]");
        MPI_Waitall(2, both, statuses);
        tell("Waitall count=2 requests=[again,to] statuses=%s,?", text_of(&statuses[0]));
    }
    MPI_Start(&both[0]);
    tell("Start request=again");
    MPI_Send(&out, 1, MPI_INT, right, 40, world);
    tell("Send count=1 datatype=INT dest=%d tag=40 comm=WORLD", right);
    MPI_Wait(&both[0], statuses);
    tell("Wait request=again status=%s", text_of(statuses));
    MPI_Request_free(&both[0]);
    tell("Request_free request=again");
    MPI_Request_free(&both[1]);
    tell("Request_free request=to");
}

static void collective_calls(void)
{
    int one = rank, many[8] = {0}, more[8];
    int counts[4] = {1, 2, 1, 2}, places[4] = {0, 1, 3, 4}, ones[4] = {1, 1, 1, 1}, steps[4] = {0, 1, 2, 3},
        bytes[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_FLOAT, MPI_INT, MPI_FLOAT}, mine[4];
    for (int i = 0; i < 4; ++i)
        mine[i] = rank % 2 ? MPI_FLOAT : MPI_INT;
    MPI_Bcast(many, 5, MPI_INT, 2, world);
    tell("Bcast count=5 datatype=INT root=2 comm=WORLD");
    MPI_Gather(&one, 1, MPI_INT, more, 1, MPI_INT, 1, world);
    tell("Gather commrank=%d sendcount=1 sendtype=INT root=1 comm=WORLD%s", rank,
         rank == 1 ? " recvcount=1 recvtype=INT" : "");
    MPI_Gatherv(many, counts[rank], MPI_INT, more, counts, places, MPI_INT, 0, world);
    tell("Gatherv commrank=%d commsize=4 sendcount=%d sendtype=INT root=0 comm=WORLD%s", rank, counts[rank],
         rank == 0 ? " recvcounts=[1,2,1,2] displs=[0,1,3,4] recvtype=INT" : " recvtype=error");
    MPI_Scatter(many, 1, MPI_INT, &one, 1, MPI_INT, 3, world);
    tell("Scatter commrank=%d recvcount=1 recvtype=INT root=3 comm=WORLD%s", rank,
         rank == 3 ? " sendcount=1 sendtype=INT" : "");
    MPI_Scatterv(many, counts, places, MPI_INT, more, counts[rank], MPI_INT, 0, world);
    tell("Scatterv commrank=%d commsize=4 sendtype=%s recvcount=%d recvtype=INT root=0 comm=WORLD%s", rank,
         rank == 0 ? "INT" : "error", counts[rank],
         rank == 0 ? " sendcounts=[1,2,1,2] displs=[0,1,3,4]" : "");
    MPI_Allgather(&one, 1, MPI_INT, more, 1, MPI_INT, world);
    tell("Allgather sendcount=1 sendtype=INT recvcount=1 recvtype=INT comm=WORLD");
    MPI_Allgatherv(many, counts[rank], MPI_INT, more, counts, places, MPI_INT, world);
    tell("Allgatherv commsize=4 sendcount=%d sendtype=INT recvcounts=[1,2,1,2] displs=[0,1,3,4] recvtype=INT "
         "comm=WORLD",
         counts[rank]);
    MPI_Alltoall(many, 2, MPI_INT, more, 2, MPI_INT, world);
    tell("Alltoall sendcount=2 sendtype=INT recvcount=2 recvtype=INT comm=WORLD");
    MPI_Alltoallv(many, ones, steps, MPI_FLOAT, more, ones, steps, MPI_FLOAT, world);
    tell("Alltoallv commsize=4 sendcounts=[1,1,1,1] senddispls=[0,1,2,3] sendtype=FLOAT recvcounts=[1,1,1,1] "
         "recvdispls=[0,1,2,3] "
         "recvtype=FLOAT comm=WORLD");
    MPI_Alltoallw(many, ones, bytes, types, more, ones, bytes, mine, world);
    const char* name = rank % 2 ? "FLOAT" : "INT";
    tell("Alltoallw commsize=4 sendcounts=[1,1,1,1] senddispls=[0,4,8,12] sendtypes=[INT,FLOAT,INT,FLOAT] "
         "recvcounts=[1,1,1,1] "
         "recvdispls=[0,4,8,12] recvtypes=[%s,%s,%s,%s] comm=WORLD",
         name, name, name, name);
    MPI_Reduce(&one, more, 1, MPI_INT, MPI_MAX, 1, world);
    tell("Reduce count=1 datatype=INT op=MAX root=1 comm=WORLD");
    MPI_Allreduce(&one, more, 1, MPI_INT, MPI_BXOR, world);
    tell("Allreduce count=1 datatype=INT op=BXOR comm=WORLD");
    MPI_Reduce_scatter(many, more, counts, MPI_INT, MPI_SUM, world);
    tell("Reduce_scatter commsize=4 recvcounts=[1,2,1,2] datatype=INT op=SUM comm=WORLD");
    MPI_Scan(&one, more, 1, MPI_INT, MPI_SUM, world);
    tell("Scan count=1 datatype=INT op=SUM comm=WORLD");
    MPI_Exscan(&one, more, 1, MPI_INT, MPI_PROD, world);
    tell("Exscan count=1 datatype=INT op=PROD comm=WORLD");
}

static void later_calls(void) /* that DUMPI has another function for, or does not have where they begin */
{
    int one = rank, sum;
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell("Allreduce count=1 datatype=INT op=SUM comm=WORLD");
    tell("Wait request=null status=?");
    MPI_Reduce_scatter_block(MPI_IN_PLACE, (int[4]){0}, 1, MPI_INT, MPI_SUM, world);
    tell("Reduce_scatter commsize=4 recvcounts=[1,1,1,1] datatype=INT op=SUM comm=WORLD");
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type)
{
    (void)type;
    for (int i = 0; i < *count; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
}

static void operations(void)
{
    int one = 1, sum;
    MPI_Op own;
    MPI_Op_create(add, 1, &own);
    tell("Op_create commute=1 op=own");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, own, world);
    tell("Allreduce count=1 datatype=INT op=own comm=WORLD");
    MPI_Op_free(&own);
    tell("Op_free op=own");
}

static void communicators(void)
{
    MPI_Comm half, copy, members, between, merged;
    MPI_Group all, odd, none;
    int compared, ranks[2] = {1, 3}, found[2], name_length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_dup(world, &copy);
    tell("Comm_dup oldcomm=WORLD newcomm=copy");
    MPI_Comm_set_name(copy, "the \"copy\"");
    tell("Comm_set_name comm=copy name=the_\"copy\"");
    MPI_Comm_get_name(copy, name, &name_length);
    tell("Comm_get_name comm=copy name=the_\"copy\" resultlen=10");
    MPI_Comm_compare(world, copy, &compared);
    tell("Comm_compare comm1=WORLD comm2=copy result=2");
    MPI_Comm_split(copy, rank % 2, -rank, &half);
    tell("Comm_split oldcomm=copy color=%d key=%d newcomm=half", rank % 2, -rank);
    /* Ranks are those of the communicator: 0 and 1 are 2 and 0, or 3 and 1. */
    if (rank >= 2) {
        MPI_Send(&compared, 1, MPI_INT, 1, 5, half);
        tell("Send count=1 datatype=INT dest=1 tag=5 comm=half");
    } else {
        MPI_Status status;
        MPI_Recv(&compared, 1, MPI_INT, 0, 5, half, &status);
        tell("Recv count=1 datatype=INT source=0 tag=5 comm=half status=4:0:0:5");
    }
    MPI_Bcast(&compared, 1, MPI_INT, 1, half);
    tell("Bcast count=1 datatype=INT root=1 comm=half");
    MPI_Intercomm_create(half, 0, world, rank % 2 ? 2 : 3, 6, &between);
    tell("Intercomm_create localcomm=half localleader=0 remotecomm=%s remoteleader=%d tag=6 newcomm=between",
         rank >= 2 ? "WORLD" : "null",
         rank < 2   ? 0
         : rank % 2 ? 2
                    : 3);
    MPI_Barrier(between);
    tell("Barrier comm=between");
    MPI_Intercomm_merge(between, rank % 2, &merged);
    tell("Intercomm_merge comm=between high=%d newcomm=merged", rank % 2);
    MPI_Comm_group(world, &all);
    tell("Comm_group comm=WORLD group=all");
    MPI_Group_incl(all, 2, ranks, &odd);
    tell("Group_incl group=all count=2 ranks=[1,3] newgroup=odd");
    MPI_Group_translate_ranks(all, 2, (int[2]){3, 0}, odd, found);
    tell("Group_translate_ranks group1=all count=2 ranks1=[3,0] group2=odd ranks2=[1,-32766]");
    MPI_Group_difference(odd, all, &none);
    tell("Group_difference group1=odd group2=all newgroup=EMPTY");
    MPI_Comm_create(world, odd, &members);
    tell("Comm_create oldcomm=WORLD group=odd newcomm=%s", rank % 2 ? "members" : "null");
    if (rank % 2) {
        MPI_Comm_free(&members);
        tell("Comm_free comm=members");
    }
    MPI_Comm_free(&merged);
    tell("Comm_free comm=merged");
    MPI_Comm_free(&between);
    tell("Comm_free comm=between");
    MPI_Comm_free(&half);
    tell("Comm_free comm=half");
    MPI_Comm_split(world, rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
    tell("Comm_split oldcomm=WORLD color=%d key=0 newcomm=%s", rank == 0 ? -32766 : 1,
         rank == 0 ? "null" : "others");
}

static void topologies(void)
{
    MPI_Comm grid, row, graph;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1}, coords[2], from, to,
        index[4] = {1, 3, 5, 6}, kind;
    int edges[6] = {1, 0, 2, 1, 3, 2}, found, neighbours[4];
    MPI_Dims_create(4, 2, dims);
    tell("Dims_create nodes=4 ndim=2 dims.in=[2,2] dims.out=[2,2]");
    MPI_Cart_create(world, 2, dims, periods, 0, &grid);
    tell("Cart_create oldcomm=WORLD ndim=2 dims=[2,2] periods=[1,0] reorder=0 newcomm=grid");
    MPI_Cart_coords(grid, rank, 2, coords);
    tell("Cart_coords ndim=2 comm=grid rank=%d maxdims=2 coords=[%d,%d]", rank, rank / 2, rank % 2);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    tell("Cart_shift comm=grid direction=1 displ=1 source=%d dest=%d", rank % 2 ? rank - 1 : -2,
         rank % 2 ? -2 : rank + 1);
    MPI_Topo_test(grid, &kind);
    tell("Topo_test comm=grid topo=2");
    MPI_Cart_sub(grid, remain, &row);
    tell("Cart_sub ndim=2 oldcomm=grid remain_dims=[0,1] newcomm=row");
    MPI_Graph_create(world, 4, index, edges, 0, &graph);
    tell("Graph_create numedges=6 oldcomm=WORLD nodes=4 index=[1,3,5,6] edges=[1,0,2,1,3,2] reorder=0 "
         "newcomm=graph");
    MPI_Graph_neighbors_count(graph, 1, &found);
    tell("Graph_neighbors_count comm=graph rank=1 nneigh=2");
    MPI_Graph_neighbors(graph, 1, 4, neighbours);
    tell("Graph_neighbors nneigh=2 comm=graph rank=1 maxneighbors=4 neighbors=[0,2]");
}

static void datatypes(void)
{
    int lengths[2] = {1, 2}, places[2] = {0, 3}, sizes[2] = {4, 6}, subsizes[2] = {2, 3}, starts[2] = {1, 2},
        size;
    MPI_Aint addresses[2] = {0, 8}, low, extent;
    MPI_Datatype row, column, far, blocks, places_only, both, part, copy, wide,
        members[2] = {MPI_INT, MPI_DOUBLE}, array;
    MPI_Type_contiguous(3, MPI_INT, &row);
    tell("Type_contiguous count=3 oldtype=INT newtype=row3");
    MPI_Type_commit(&row);
    tell("Type_commit datatype=row3");
    MPI_Type_size(row, &size);
    tell("Type_size datatype=row3 size=12");
    MPI_Type_vector(2, 1, 4, row, &column);
    tell("Type_vector count=2 blocklength=1 stride=4 oldtype=row3 newtype=column");
    MPI_Type_create_hvector(2, 1, 40, MPI_DOUBLE, &far);
    tell("Type_create_hvector count=2 blocklength=1 stride=40 oldtype=DOUBLE newtype=far");
    MPI_Type_indexed(2, lengths, places, MPI_INT, &blocks);
    tell("Type_indexed count=2 lengths=[1,2] indices=[0,3] oldtype=INT newtype=blocks");
    MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &places_only);
    tell("Type_create_indexed_block count=2 blocklength=2 displacments=[0,3] oldtype=INT newtype=places");
    MPI_Type_create_struct(2, lengths, addresses, members, &both);
    tell("Type_create_struct count=2 blocklengths=[1,2] displacements=[0,8] oldtypes=[INT,DOUBLE] "
         "newtype=both");
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &part);
    tell("Type_create_subarray ndims=2 sizes=[4,6] subsizes=[2,3] starts=[1,2] order=1 oldtype=INT "
         "newtype=part");
    MPI_Type_create_resized(MPI_INT, -4, 16, &wide);
    tell("Type_create_resized oldtype=INT lb=-4 extent=16 newtype=wide");
    MPI_Type_get_extent(wide, &low, &extent);
    tell("Type_get_extent datatype=wide lb=-4 extent=16");
    MPI_Type_create_darray(4, rank, 1, (int[1]){8}, (int[1]){MPI_DISTRIBUTE_BLOCK},
                           (int[1]){MPI_DISTRIBUTE_DFLT_DARG}, (int[1]){4}, MPI_ORDER_FORTRAN, MPI_INT,
                           &array);
    tell("Type_create_darray size=4 rank=%d ndims=1 gsizes=[8] distribs=[1] dargs=[%d] psizes=[4] order=2 "
         "oldtype=INT newtype=array",
         rank, MPI_DISTRIBUTE_DFLT_DARG);
    MPI_Type_dup(MPI_INT, &copy);
    tell("Type_dup oldtype=INT newtype=copied");
    MPI_Datatype* made[] = {&row, &column, &far, &blocks, &places_only, &both, &part, &copy, &wide, &array};
    const char* names[] = {"row3", "column", "far",    "blocks", "places",
                           "both", "part",   "copied", "wide",   "array"};
    for (int i = 0; i < LENGTH(made); ++i) {
        MPI_Type_free(made[i]);
        tell("Type_free datatype=%s", names[i]);
    }
    tell("sizes row3=12 column=24 far=16 blocks=12 places=16 both=20 part=24 wide=4 array=8 INT=4 DOUBLE=8");
}

static void files(const char* name)
{
    int numbers[4] = {0, 1, 2, 3};
    MPI_File file;
    MPI_Offset place;
    MPI_Status status;
    MPI_Request request;
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    tell("File_open comm=WORLD filename=%s amode=2 info=0 file=data", name);
    MPI_File_set_view(file, 16 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    tell("File_set_view file=data offset=%d hosttype=INT filetype=INT datarep=native info=0", 16 * rank);
    MPI_File_write_at(file, 1, numbers, 2, MPI_INT, &status);
    tell("File_write_at file=data offset=1 count=2 datatype=INT status=8:?");
    MPI_File_write_all(file, numbers, 1, MPI_INT, &status);
    tell("File_write_all file=data count=1 datatype=INT status=4:?");
    MPI_File_seek(file, -1, MPI_SEEK_CUR);
    tell("File_seek file=data offset=-1 whence=2");
    MPI_File_get_position(file, &place);
    tell("File_get_position file=data offset=0");
    MPI_File_iwrite_at(file, 3, numbers, 1, MPI_INT, &request);
    tell("File_iwrite_at file=data offset=3 count=1 datatype=INT request=writing");
    MPI_Wait(&request, &status);
    tell("Wait request=writing status=4:?");
    MPI_File_read_at_all_begin(file, 0, numbers, 2, MPI_INT);
    tell("File_read_at_all_begin file=data offset=0 count=2 datatype=INT");
    MPI_File_read_at_all_end(file, numbers, &status);
    tell("File_read_at_all_end file=data status=8:?");
    MPI_File_set_size(file, 100);
    tell("File_set_size file=data size=100");
    MPI_File_get_size(file, &place);
    tell("File_get_size file=data size=100");
    MPI_File_close(&file);
    tell("File_close file=data");
}

static void windows(void)
{
    int memory[4] = {0}, value = rank;
    MPI_Win window;
    MPI_Group world_group, partner;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &window);
    tell("Win_create size=16 dispunit=4 info=0 comm=WORLD win=board");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    tell("Win_fence assertion=8 win=board");
    MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, window);
    tell("Put origincount=1 origintype=INT targetrank=%d targetdisp=1 targetcount=1 targettype=INT win=board",
         right);
    MPI_Win_fence(0, window);
    tell("Win_fence assertion=0 win=board");
    MPI_Accumulate(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, window);
    tell("Accumulate origincount=1 origintype=INT targetrank=0 targetdisp=2 targetcount=1 targettype=INT "
         "op=SUM win=board");
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, window);
    tell("Win_fence assertion=20 win=board");
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, window);
    tell("Win_lock locktype=2 winrank=%d assertion=0 win=board", left);
    MPI_Get(&value, 1, MPI_INT, left, 1, 1, MPI_INT, window);
    tell("Get origincount=1 origintype=INT targetrank=%d targetdisp=1 targetcount=1 targettype=INT win=board",
         left);
    MPI_Win_unlock(left, window);
    tell("Win_unlock winrank=%d win=board", left);
    MPI_Comm_group(world, &world_group);
    tell("Comm_group comm=WORLD group=all");
    MPI_Group_incl(world_group, 1, (int[1]){rank ^ 1}, &partner);
    tell("Group_incl group=all count=1 ranks=[%d] newgroup=partner", rank ^ 1);
    MPI_Win_post(partner, 0, window);
    tell("Win_post group=partner assertion=0 win=board");
    MPI_Win_start(partner, 0, window);
    tell("Win_start group=partner assertion=0 win=board");
    MPI_Win_complete(window);
    tell("Win_complete win=board");
    MPI_Win_wait(window);
    tell("Win_wait win=board");
    MPI_Win_free(&window);
    tell("Win_free win=board");
}

static void other_objects(void)
{
    int key, flag;
    void* value;
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL];
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    tell("Comm_create_keyval keyval=key");
    MPI_Comm_set_attr(world, key, &key);
    tell("Comm_set_attr comm=WORLD keyval=key");
    MPI_Comm_get_attr(world, MPI_TAG_UB, &value, &flag);
    tell("Comm_get_attr comm=WORLD keyval=0 flag=1");
    MPI_Comm_delete_attr(world, key);
    tell("Comm_delete_attr comm=WORLD keyval=key");
    MPI_Info_create(&info);
    tell("Info_create info=hints");
    MPI_Info_set(info, "striping_unit", "65536");
    tell("Info_set info=hints key=striping_unit value=65536");
    MPI_Info_get(info, "nothing", sizeof text - 1, text, &flag);
    tell("Info_get info=hints key=nothing flag=0");
    MPI_Info_free(&info);
    tell("Info_free info=hints");
}

int main(int argc, char** argv)
{
    char name[4096];
    begin(&argc, &argv);
    CHECK(argc == 2 && size == 4);
    world = MPI_COMM_WORLD;
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    told = fopen(name, "w");
    CHECK(told != NULL);
    messages();
    requests();
    persistent_requests();
    collective_calls();
    later_calls();
    operations();
    communicators();
    topologies();
    datatypes();
    snprintf(name, sizeof name, "%s.data", argv[1]);
    files(name);
    windows();
    other_objects();
    CHECK(fclose(told) == 0);
    return finish();
}
