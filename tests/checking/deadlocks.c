/* Programs that can never go on, and some that only look so. ARGUMENT says which; each process says "here"
 * before it waits. A second one says how often each of them calls Sendrecv before. Whoever is in no circle
 * waits for ever in a call of its own: `compute`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 22 };

static int rank, size, buffer[LARGE];
static MPI_Request requests[4];
static MPI_Comm duplicate;
static MPI_Win window;

static void compute(void)
{
    for (;;) {
        pause();
    }
}

static void receive(int from, int tag)
{
    MPI_Recv(buffer, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag)
{
    MPI_Ssend(buffer, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static int next(void)
{
    return (rank + 1) % size;
}

static int before(void)
{
    return (rank + size - 1) % size;
}

static void start_receive(int number, int from)
{
    MPI_Irecv(buffer + number, 1, MPI_INT, from, number, MPI_COMM_WORLD, &requests[number]);
}

/* All of them with 3 processes. */
static void receive_first(void)
{
    receive(before(), 0);
    send(next(), 0);
}

static void send_first(void)
{
    send(next(), 0);
    receive(before(), 0);
}

static void large_sends(void)
{
    MPI_Send(buffer, LARGE, MPI_INT, next(), 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, LARGE, MPI_INT, before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void from_any(void)
{
    receive(MPI_ANY_SOURCE, 0);
}

static void wait_for_all(void)
{
    start_receive(0, before());
    start_receive(1, next());
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wait_for_any(void)
{
    int index;
    start_receive(0, before());
    start_receive(1, next());
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void wait_for_send(void)
{
    MPI_Issend(buffer, 1, MPI_INT, next(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    receive(before(), 0);
}

static void probe(void)
{
    MPI_Probe(before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void other_tag(void)
{
    rank == 0 ? send(1, 3) : rank == 1 ? receive(0, 4) : compute();
}

static void other_communicator(void)
{
    if (rank == 0) {
        send(1, 0);
    } else if (rank == 1) {
        MPI_Recv(buffer, 1, MPI_INT, 0, 0, duplicate, MPI_STATUS_IGNORE);
    }
    compute();
}

static void barrier_and_receive(void)
{
    rank == 0 ? receive(1, 0) : (void)MPI_Barrier(MPI_COMM_WORLD);
}

static void two_orders(void)
{
    MPI_Barrier(rank == 0 ? MPI_COMM_WORLD : duplicate);
    MPI_Barrier(rank == 0 ? duplicate : MPI_COMM_WORLD);
}

static void wait_for_barrier(void)
{
    if (rank == 0) {
        receive(1, 0);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void finalize_and_receive(void)
{
    rank == 0 ? receive(1, 0) : (void)MPI_Finalize();
}

static void from_oneself(void)
{
    rank == 0 ? receive(0, 0) : compute();
}

static void other_call(void)
{
    int sum;
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void other_order(void)
{
    static int given, sum;
    for (int i = 0; i < 2; ++i) {
        if ((i == 0) == (rank == 0)) {
            MPI_Ibcast(&given, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
        } else {
            MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        }
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_outside(void)
{
    receive(rank == 0 ? 1 : 0, 0);
}

static void fence_and_receive(void)
{
    rank == 0 ? receive(1, 0) : (void)MPI_Win_fence(0, window);
}

static void lock_and_get(int target)
{
    static int got;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Get(&got, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    MPI_Win_flush(target, window);
}

static void locks_crosswise(void)
{
    lock_and_get(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    lock_and_get(next());
}

static void lock_is_held(void)
{
    if (rank == 0) {
        lock_and_get(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    rank == 0 ? compute() : lock_and_get(0);
}

static MPI_Group group_of(int one)
{
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &some);
    return some;
}

static void start_without_post(void)
{
    if (rank == 2) {
        receive(0, 0);
    }
    MPI_Win_start(group_of(1 - rank), 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
}

static void post_without_complete(void)
{
    if (rank > 0) {
        receive(0, 0);
    }
    MPI_Win_post(group_of(1), 0, window);
    MPI_Win_wait(window);
}

static void create_group_without_one(void)
{
    const int members[] = {0, 1};
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, members, &some);
    if (rank > 0) {
        receive(0, 0);
    }
    MPI_Comm made;
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &made);
}

static void create_from_group_without_one(void)
{
#if MPI_VERSION >= 4
    const int members[] = {0, 1};
    MPI_Group all, some;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, members, &some);
    if (rank > 0) {
        receive(0, 0);
    }
    MPI_Comm_create_from_group(some, "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
#endif
}

/* Of the first process and of the others. */
static MPI_Comm side(void)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &made);
    return made;
}

static void create_intercomm(MPI_Comm own, int tag)
{
    MPI_Comm made;
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, tag, &made);
}

static void intercomm_without_one(void)
{
    MPI_Comm own = side();
    if (rank == 2) {
        receive(0, 0);
    }
    create_intercomm(own, 7);
}

static void intercomm_of_two_tags(void)
{
    create_intercomm(side(), rank > 0);
}

static void intercomm_while_one_computes(void)
{
    MPI_Comm own = side();
    if (rank == 2) {
        compute();
    }
    create_intercomm(own, 7);
}

static void poll_for_message(int count)
{
    for (int i = 0, flag = 0; i < count && !flag; ++i) {
        MPI_Iprobe(before(), 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void polls(void)
{
    poll_for_message(1000000);
}

static void polls_for_requests(void)
{
    start_receive(0, before());
    start_receive(1, next());
    for (int flag = 0; !flag;) {
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        usleep(1000);
    }
}

static void polls_for_status(void)
{
    start_receive(0, before());
    for (int flag = 0; !flag;) {
        MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void persistent_barrier(void)
{
#if MPI_VERSION >= 4
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    if (rank == 0) {
        receive(1, 0);
    }
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
}

/* --- these can go on --- */

static void polls_and_computes(void)
{
    poll_for_message(200);
    compute();
}

static void computes_between_polls(void)
{
    if (rank > 0) {
        receive(0, 0);
    }
    for (int flag = 0; !flag;) {
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (double end = MPI_Wtime() + 1e-3; MPI_Wtime() < end;) {
        }
    }
}

static void one_computes(void)
{
    rank == 0 ? compute() : receive(before(), 0);
}

static void any_may_come(void)
{
    rank == 0 ? compute() : receive(MPI_ANY_SOURCE, 0);
}

static void one_of_two_may_come(void)
{
    rank == 0 ? compute() : wait_for_any();
}

static void barrier_without_one(void)
{
    rank == 0 ? compute() : (void)MPI_Barrier(MPI_COMM_WORLD);
}

static void message_is_there(void)
{
    if (rank == 1) {
        MPI_Send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        receive(0, 1);
    }
    compute();
}

/* Rank 1 gets out of it when rank 0 comes, whatever rank 2 does. */
static void bcast_from_busy_root(void)
{
    rank == 0   ? compute()
    : rank == 1 ? (void)MPI_Bcast(buffer, LARGE, MPI_INT, 0, MPI_COMM_WORLD)
                : receive(1, 0);
}

static void ibcast_from_busy_root(void)
{
    if (rank == 1) {
        MPI_Ibcast(buffer, LARGE, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    rank == 0 ? compute() : receive(1, 0);
}

static void gather_to_busy_root(void)
{
    rank == 0   ? compute()
    : rank == 1 ? (void)MPI_Gather(buffer, LARGE / 4, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD)
                : receive(1, 0);
}

static void scan_behind_busy_one(void)
{
    rank == 0   ? compute()
    : rank == 1 ? (void)MPI_Scan(MPI_IN_PLACE, buffer, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                : receive(1, 0);
}

static void neighbour_of_busy_one(void)
{
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){0}, 0, &line);
    if (rank == 0) {
        compute();
    }
    rank == 1 ? (void)MPI_Neighbor_allgather(buffer, 1, MPI_INT, buffer + 1, 1, MPI_INT, line)
              : receive(1, 0);
}

/* Here rank 1 can't: rank 0 waits for rank 2. */
static void bcast_from_waiting_root(void)
{
    rank == 0   ? receive(2, 0)
    : rank == 1 ? (void)MPI_Bcast(buffer, LARGE, MPI_INT, 0, MPI_COMM_WORLD)
                : receive(1, 0);
}

static void scan_behind_waiting_one(void)
{
    rank == 0   ? receive(2, 0)
    : rank == 1 ? (void)MPI_Scan(MPI_IN_PLACE, buffer, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
                : receive(1, 0);
}

static const struct {
    const char* name;
    void (*run)(void);
} ways[] = {
#define WAY(name)                                                                                            \
    {                                                                                                        \
#name, name                                                                                          \
    }
    WAY(receive_first),
    WAY(send_first),
    WAY(large_sends),
    WAY(from_any),
    WAY(wait_for_all),
    WAY(wait_for_any),
    WAY(wait_for_send),
    WAY(probe),
    WAY(other_tag),
    WAY(other_communicator),
    WAY(barrier_and_receive),
    WAY(two_orders),
    WAY(wait_for_barrier),
    WAY(finalize_and_receive),
    WAY(from_oneself),
    WAY(other_call),
    WAY(other_order),
    WAY(one_outside),
    WAY(one_computes),
    WAY(any_may_come),
    WAY(one_of_two_may_come),
    WAY(barrier_without_one),
    WAY(message_is_there),
    WAY(bcast_from_busy_root),
    WAY(ibcast_from_busy_root),
    WAY(gather_to_busy_root),
    WAY(scan_behind_busy_one),
    WAY(neighbour_of_busy_one),
    WAY(bcast_from_waiting_root),
    WAY(scan_behind_waiting_one),
    WAY(fence_and_receive),
    WAY(locks_crosswise),
    WAY(lock_is_held),
    WAY(start_without_post),
    WAY(post_without_complete),
    WAY(create_group_without_one),
    WAY(create_from_group_without_one),
    WAY(intercomm_without_one),
    WAY(intercomm_of_two_tags),
    WAY(intercomm_while_one_computes),
    WAY(polls),
    WAY(polls_for_requests),
    WAY(polls_for_status),
    WAY(polls_and_computes),
    WAY(computes_between_polls),
    WAY(persistent_barrier),
};

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; --i) {
        const int is_near = i % 100 > 0; /* others take long where processes share a processor */
        MPI_Sendrecv(&rank, 1, MPI_INT, is_near ? MPI_PROC_NULL : next(), 0, buffer, 1, MPI_INT,
                     is_near ? MPI_PROC_NULL : before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("here\n");
    fflush(stdout);
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; ++i) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
        }
    }
    return 3; // none of them comes here
}
