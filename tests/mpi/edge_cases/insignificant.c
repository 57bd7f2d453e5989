/* Arguments that MPI does not look at: garbage at all who are not the root, nothing at all, and MPI_IN_PLACE.
 */
#include "edge_cases.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 64 };

static void* const nowhere = (void*)(intptr_t)0x18;
static int* const no_list = (int*)(intptr_t)0x10;

/* root: as in MPI, so that MPI_ROOT and MPI_PROC_NULL can be given; is_root: who has the lists. */
static void rooted(MPI_Comm comm, int root, int is_root, int is_leaf, int members)
{
    int mine[4] = {rank, 1, 2, 3}, all[MOST * 4] = {0}, counts[MOST], places[MOST];
    const MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL,
                       leaf_type = is_leaf ? MPI_INT : MPI_DATATYPE_NULL;
    const int junk = is_root ? 1 : -77, leaf_junk = is_leaf ? 1 : -77;
    void *const list = is_root ? (void*)all : nowhere, *const leaf = is_leaf ? (void*)mine : nowhere;
    for (int i = 0; i < members; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    SAY(MPI_Gather(leaf, leaf_junk, leaf_type, list, junk, type, root, comm));
    SAY(MPI_Scatter(list, junk, type, leaf, leaf_junk, leaf_type, root, comm));
    SAY(MPI_Gatherv(leaf, leaf_junk, leaf_type, list, is_root ? counts : no_list, is_root ? places : no_list,
                    type, root, comm));
    SAY(MPI_Scatterv(list, is_root ? counts : no_list, is_root ? places : no_list, type, leaf, leaf_junk,
                     leaf_type, root, comm));
    MPI_Request requests[4];
    SAY(MPI_Igather(leaf, leaf_junk, leaf_type, list, junk, type, root, comm, &requests[0]));
    SAY(MPI_Iscatter(list, junk, type, leaf, leaf_junk, leaf_type, root, comm, &requests[1]));
    SAY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    SAY(MPI_Reduce(is_leaf || is_root ? mine : nowhere, is_root ? all : nowhere, 1, MPI_INT, MPI_SUM, root,
                   comm));
    say("at the root: %d", is_root ? all[0] : -1);
}

static void in_place(int root)
{
    int all[MOST] = {0}, counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < size; ++i) {
        all[i] = rank + i;
        counts[i] = 1;
        places[i] = i;
        types[i] = MPI_INT;
    }
    const int is_root = rank == root;
    SAY(MPI_Gather(is_root ? MPI_IN_PLACE : all, is_root ? -3 : 1, is_root ? MPI_DATATYPE_NULL : MPI_INT, all,
                   1, MPI_INT, root, MPI_COMM_WORLD));
    SAY(MPI_Scatter(all, 1, MPI_INT, is_root ? MPI_IN_PLACE : all, is_root ? -3 : 1,
                    is_root ? MPI_DATATYPE_NULL : MPI_INT, root, MPI_COMM_WORLD));
    SAY(MPI_Allgather(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    SAY(MPI_Allgatherv(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD));
    SAY(MPI_Alltoall(MPI_IN_PLACE, -3, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    SAY(MPI_Alltoallv(MPI_IN_PLACE, no_list, no_list, MPI_DATATYPE_NULL, all, counts, places, MPI_INT,
                      MPI_COMM_WORLD));
    for (int i = 0; i < size; ++i) {
        places[i] *= (int)sizeof(int);
    }
    SAY(MPI_Alltoallw(MPI_IN_PLACE, no_list, no_list, (MPI_Datatype*)nowhere, all, counts, places, types,
                      MPI_COMM_WORLD));
    SAY(MPI_Reduce(is_root ? MPI_IN_PLACE : all, all, size, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
    SAY(MPI_Allreduce(MPI_IN_PLACE, all, size, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    SAY(MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    SAY(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    SAY(MPI_Scan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    SAY(MPI_Exscan(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say("%d %d", rank == 0 ? 0 : all[0], all[size - 1]);
}

static void nothing(void)
{
    int zeros[MOST] = {0};
    MPI_Request request;
    MPI_Status status = untouched();
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    SAY(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    SAY(MPI_Bcast(NULL, 3, empty, 0, MPI_COMM_WORLD));
    SAY(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    SAY(MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
    SAY(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    SAY(MPI_Isend(NULL, 0, MPI_BYTE, right, 1, MPI_COMM_WORLD, &request));
    SAY(MPI_Recv(NULL, 0, MPI_BYTE, left, 1, MPI_COMM_WORLD, &status));
    SAY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    say_status("received nothing", &status);
    SAY(MPI_Sendrecv(NULL, 0, empty, right, 1, NULL, 7, empty, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Type_free(&empty);
}

static void nobody(void)
{
    int value = 7, flag = 0, memory = 0;
    MPI_Status status = untouched();
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Win win;
    SAY(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    SAY(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    say_status("recv", &status);
    SAY(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    say_status("probe", &status);
    SAY(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    SAY(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    say("no process %d", message == MPI_MESSAGE_NO_PROC);
    SAY(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    say_status("mrecv", &status);
    say("null %d", message == MPI_MESSAGE_NULL);
    SAY(MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    SAY(MPI_Imrecv(&value, 1, MPI_INT, &message, &requests[0]));
    SAY(MPI_Wait(&requests[0], &status));
    say_status("imrecv", &status);
    SAY(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    SAY(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < 3; ++i) {
        SAY(MPI_Startall(2, requests));
        SAY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    SAY(MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                             &status));
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    SAY(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    SAY(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
    MPI_Win_fence(0, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    SAY(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    SAY(MPI_Win_unlock(MPI_PROC_NULL, win));
    MPI_Win_free(&win);
}

static void from_the_bottom(void)
{
    int numbers[2] = {rank, 3}, received[2] = {0}, lengths[2] = {1, 1};
    MPI_Aint places[2];
    MPI_Datatype out, in, types[2] = {MPI_INT, MPI_INT};
    MPI_Get_address(&numbers[0], &places[0]);
    MPI_Get_address(&numbers[1], &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &out);
    MPI_Get_address(received, &places[0]);
    MPI_Type_create_hindexed(1, (int[]){2}, places, MPI_INT, &in);
    MPI_Type_commit(&out);
    MPI_Type_commit(&in);
    SAY(MPI_Sendrecv(MPI_BOTTOM, 1, out, right, 1, MPI_BOTTOM, 1, in, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    say("%d %d", received[0], received[1]);
    SAY(MPI_Bcast(MPI_BOTTOM, 1, out, 0, MPI_COMM_WORLD));
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

static void between_groups(void)
{
    MPI_Comm half, inter;
    int members;
    const int color = rank % 2, leader = color == 0 ? 1 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(inter, &members);
    if (color == 0) {
        rooted(inter, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, rank == 0, 0, members);
    } else {
        rooted(inter, 0, 0, 1, members);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Nothing is combined, so nobody looks at what with (MPI 4.1, 12.3.4). */
static void no_operation(void)
{
    int memory = 100 + rank, result = -1;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Datatype type, freed;
    MPI_Type_contiguous(2, MPI_INT, &type);
    freed = type;
    MPI_Type_free(&type);
    MPI_Win_fence(0, window);
    SAY(MPI_Get_accumulate(nowhere, 77, freed, &result, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, window));
    MPI_Win_fence(0, window);
    say("of the right neighbour: %d", result);
    MPI_Win_free(&window);
}

/* Open MPI takes what MPI does not allow: room for less than there is, and an array of no dimensions. */
static void too_little(void)
{
#ifdef OPEN_MPI
    const long page = sysconf(_SC_PAGESIZE);
    char* const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + page, page, PROT_NONE);
    int* const last = (int*)(pages + page) - 1;
    const int dims[2] = {1, 1}, periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid);
    SAY(MPI_Cart_coords(grid, 0, 1, last));
    SAY(MPI_Cart_get(grid, 1, last, last, last));
    MPI_Comm_free(&grid);
    munmap(pages, 2 * page);
    MPI_Datatype type;
    SAY(MPI_Type_create_darray(1, 0, 0, NULL, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &type));
    MPI_Type_free(&type);
#endif
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    return_errors();
    for (int root = 0; root < size; ++root) {
        rooted(MPI_COMM_WORLD, root, rank == root, 1, size);
        in_place(root);
    }
    rooted(MPI_COMM_SELF, 0, 1, 1, 1);
    nothing();
    nobody();
    from_the_bottom();
    no_operation();
    too_little();
    if (size > 1) {
        between_groups();
    }
    return finish();
}
