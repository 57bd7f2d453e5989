/* A program that waits: each of the ways that ARGUMENTS name happens in a phase of its own between barriers.
 * Whoever is late says "WAY RANK SECONDS": how long it was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static int rank, numbers[2 * LARGE];
static const char* way;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Is late by so many milliseconds, and says how many seconds it really was. */
static void be_late(int milliseconds)
{
    const double begin = now();
    usleep(milliseconds * 1000);
    printf("%s %d %.6f\n", way, rank, now() - begin);
    fflush(stdout);
}

#define send(to, tag) MPI_Send(numbers, 1, MPI_INT, to, tag, MPI_COMM_WORLD)
#define receive(from, tag) MPI_Recv(numbers, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

static void late_sender(void)
{
    if (rank == 1) {
        be_late(100);
        send(0, 0);
    } else if (rank == 0) {
        receive(1, 0);
    }
}

static void late_sender_nonblocking(void)
{
    MPI_Request requests[2];
    if (rank == 1) {
        be_late(100);
        MPI_Isend(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (rank == 2) {
        send(0, 1);
    } else if (rank == 0) {
        MPI_Irecv(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(numbers + 1, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void wrong_order(void)
{
    if (rank == 1) {
        send(0, 1);
        be_late(100);
        send(0, 2);
    } else if (rank == 0) {
        receive(1, 2);
        receive(1, 1);
    }
}

static void late_receiver(void)
{
    if (rank == 0) {
        MPI_Ssend(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        be_late(100);
        receive(0, 0);
    }
}

static void late_receiver_nonblocking(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        be_late(100);
        receive(0, 0);
    }
}

static void probe(void)
{
    if (rank == 1) {
        be_late(100);
        send(0, 0);
    } else if (rank == 0) {
        MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(1, 0);
    }
}

static void barrier(void)
{
    if (rank == 2) {
        be_late(100);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    if (rank == 1) {
        be_late(100);
    }
    MPI_Allreduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void iallreduce(void)
{
    MPI_Request request;
    if (rank == 1) {
        be_late(100);
    }
    MPI_Iallreduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
    if (rank == 2) {
        be_late(100);
    }
    MPI_Reduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
    if (rank == 1) {
        be_late(100);
    }
    MPI_Gather(numbers, 1, MPI_INT, numbers + 1, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void broadcast(void)
{
    if (rank == 0) {
        be_late(100);
    }
    MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
    if (rank == 0) {
        be_late(100);
    }
    MPI_Scatter(numbers, 1, MPI_INT, numbers + LARGE, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void scan(void)
{
    if (rank == 1) {
        be_late(100);
    }
    MPI_Scan(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Of a ring: each has those before and behind it as neighbours. */
static MPI_Comm new_ring(void)
{
    MPI_Comm ring;
    const int size = 4, periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    return ring;
}

static void let_one_be_late(MPI_Comm all)
{
    MPI_Barrier(all);
    if (rank == 1) {
        be_late(100);
    }
}

static void neighbours(void)
{
    const int counts[] = {1, 1}, places[] = {0, 1};
    MPI_Comm ring = new_ring();
    let_one_be_late(ring);
    MPI_Neighbor_allgatherv(numbers, 1, MPI_INT, numbers + 1, counts, places, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void exchange_on(MPI_Comm ring)
{
    let_one_be_late(ring);
    MPI_Neighbor_allgather(numbers, 1, MPI_INT, numbers + 1, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void cartesian(void)
{
    exchange_on(new_ring());
}

static void subgrid(void)
{
    MPI_Comm grid, ring;
    const int sizes[] = {1, 4}, periodic[] = {0, 1}, remain[] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
    MPI_Cart_sub(grid, remain, &ring);
    MPI_Comm_free(&grid);
    exchange_on(ring);
}

static void graph(void)
{
    MPI_Comm ring;
    const int ends[] = {2, 4, 6, 8}, edges[] = {3, 1, 0, 2, 1, 3, 2, 0};
    MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges, 0, &ring);
    exchange_on(ring);
}

static void adjacent(void)
{
    MPI_Comm ring;
    const int both[] = {(rank + 3) % 4, (rank + 1) % 4};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    exchange_on(ring);
}

/* Process 0 names all edges. */
static void distributed(void)
{
    MPI_Comm ring;
    const int nodes[] = {0, 1, 2, 3}, degrees[] = {2, 2, 2, 2}, edges[] = {3, 1, 0, 2, 1, 3, 2, 0};
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? 4 : 0, nodes, degrees, edges, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &ring);
    exchange_on(ring);
}

static void copied(void)
{
    MPI_Comm ring = new_ring(), copy;
    MPI_Comm_dup(ring, &copy);
    MPI_Comm_free(&ring);
    exchange_on(copy);
}

static void neighbours_nonblocking(void)
{
    const int counts[] = {1, 1}, places[] = {0, 1};
    MPI_Request request;
    MPI_Comm ring = new_ring();
    let_one_be_late(ring);
    MPI_Ineighbor_alltoallv(numbers, counts, places, MPI_INT, numbers + 2, counts, places, MPI_INT, ring,
                            &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ring);
}

/* Twice; of Open MPI before 5 not at all. */
static void persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Allreduce_init(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1 && i == 1) {
            be_late(100);
        }
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#endif
}

/* Processes 0 and 1, and 2 and 3. */
static MPI_Comm new_groups(void)
{
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 1, &both);
    MPI_Comm_free(&own);
    let_one_be_late(MPI_COMM_WORLD);
    return both;
}

static void between_groups(void)
{
    MPI_Comm both = new_groups();
    MPI_Allreduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
}

static void broadcast_to_group(void)
{
    MPI_Comm both = new_groups();
    MPI_Bcast(numbers, 1, MPI_INT, rank == 1 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 1, both);
    MPI_Comm_free(&both);
}

static void reduce_from_group(void)
{
    MPI_Request request;
    MPI_Comm both = new_groups();
    MPI_Ireduce(numbers, numbers + 1, 1, MPI_INT, MPI_SUM,
                rank == 2   ? MPI_ROOT
                : rank == 3 ? MPI_PROC_NULL
                            : 0,
                both, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&both);
}

static void file(void)
{
    MPI_File handle;
    MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &handle);
    if (rank == 1) {
        be_late(100);
    }
    MPI_File_write_at_all(handle, rank * 4, numbers, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&handle);
}

static void fence(void)
{
    MPI_Win window;
    MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 1) {
        be_late(100);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static MPI_Win start_accesses(int other, MPI_Group* group)
{
    MPI_Win window;
    MPI_Group world;
    MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, group);
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

static void post(void)
{
    MPI_Group group;
    MPI_Win window = start_accesses(rank == 0 ? 1 : 0, &group);
    if (rank == 0) {
        MPI_Win_start(group, 0, window);
        MPI_Put(numbers, 1, MPI_INT, 1, LARGE, 1, MPI_INT, window);
        MPI_Win_complete(window);
    } else if (rank == 1) {
        be_late(100);
        MPI_Win_post(group, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
}

static void complete(void)
{
    MPI_Group group;
    MPI_Win window = start_accesses(rank == 0 ? 1 : 0, &group);
    if (rank == 1) {
        MPI_Win_start(group, 0, window);
        MPI_Put(numbers, 1, MPI_INT, 0, LARGE, 1, MPI_INT, window);
        be_late(100);
        MPI_Win_complete(window);
    } else if (rank == 0) {
        MPI_Win_post(group, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
}

static const struct {
    const char* name;
    void (*run)(void);
} ways[] = {
#define WAY(name)                                                                                            \
    {                                                                                                        \
#name, name                                                                                          \
    }
    WAY(late_sender),
    WAY(late_sender_nonblocking),
    WAY(wrong_order),
    WAY(late_receiver),
    WAY(probe),
    WAY(late_receiver_nonblocking),
    WAY(barrier),
    WAY(allreduce),
    WAY(iallreduce),
    WAY(reduce),
    WAY(gather),
    WAY(broadcast),
    WAY(scatter),
    WAY(scan),
    WAY(neighbours),
    WAY(neighbours_nonblocking),
    WAY(persistent),
    WAY(between_groups),
    WAY(broadcast_to_group),
    WAY(reduce_from_group),
    WAY(cartesian),
    WAY(subgrid),
    WAY(graph),
    WAY(adjacent),
    WAY(distributed),
    WAY(copied),
    WAY(file),
    WAY(fence),
    WAY(post),
    WAY(complete),
};

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int argument = 1; argument < argc; ++argument) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
            if (strcmp(argv[argument], ways[i].name) == 0) {
                way = ways[i].name;
                ways[i].run();
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    way = "finalize";
    if (rank == 1) {
        be_late(100);
    }
    return MPI_Finalize();
}
