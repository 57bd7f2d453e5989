/* What `hdtrace calibrate` runs under the tracer. Its trace has the times, and tags tell what was measured;
 * it prints nothing.
 *
 * Messages of growing sizes go between rank 0 and the first other process on its host (tags from LOCAL on),
 * then between rank 0 and the first process on another host (tags from REMOTE on), as far as there are such.
 * PING_PONG is there and back again; LATE goes to a process that says that it is there (READY), and receives
 * only when the message must have arrived; ISEND is sent without blocking to a receive that waits; EXCHANGE
 * goes both ways at once. Then come operations of all processes, each of them ROUNDS times for each size. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum Tag { LOCAL = 100, REMOTE = 200, PING_PONG = 0, LATE = 1, ISEND = 2, EXCHANGE = 3, READY = 9 };
enum { LONGEST = 4 << 20, SMALL = 4096, MOST_ROUNDS = 300, FEWEST_ROUNDS = 20, ROUNDS = 20 };

static char *out, *in;
static int rank, size;

static int rounds_for(int bytes)
{
    const int rounds = bytes <= SMALL ? MOST_ROUNDS : (int)((long)MOST_ROUNDS * SMALL / bytes);
    return rounds < FEWEST_ROUNDS ? FEWEST_ROUNDS : rounds;
}

static int next_size(int bytes)
{
    return bytes == 0 ? 1 : bytes < 1024 ? 4 * bytes : 2 * bytes;
}

static void send(int bytes, int peer, int tag)
{
    MPI_Send(out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

static void receive(int bytes, int peer, int tag)
{
    MPI_Recv(in, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns the mean time of a round trip. */
static double ping_pong(int bytes, int peer, int tag)
{
    const int rounds = rounds_for(bytes);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        if (rank == 0) {
            send(bytes, peer, tag);
            receive(bytes, peer, tag);
        } else {
            receive(bytes, peer, tag);
            send(bytes, peer, tag);
        }
    }
    return (MPI_Wtime() - begin) / rounds;
}

static void compute(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

/* The receiver says when it begins to wait, and waits long enough. */
static void late_receives(int bytes, int peer, int tags, double round_trip)
{
    for (int i = 0; i < ROUNDS; ++i) {
        if (rank == 0) {
            receive(0, peer, tags + READY);
            send(bytes, peer, tags + LATE);
        } else {
            send(0, peer, tags + READY);
            compute(2 * round_trip + 50e-6);
            receive(bytes, peer, tags + LATE);
        }
    }
}

static void non_blocking_sends(int bytes, int peer, int tags)
{
    for (int i = 0; i < ROUNDS; ++i) {
        MPI_Request request;
        if (rank == 0) {
            receive(0, peer, tags + READY);
            MPI_Isend(out, bytes, MPI_BYTE, peer, tags + ISEND, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(in, bytes, MPI_BYTE, peer, tags + ISEND, MPI_COMM_WORLD, &request);
            send(0, peer, tags + READY);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

static void exchanges(int bytes, int peer, int tags)
{
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Sendrecv(out, bytes, MPI_BYTE, peer, tags + EXCHANGE, in, bytes, MPI_BYTE, peer, tags + EXCHANGE,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Processes that have nothing to do leave the processors to those that are measured. */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        usleep(1000);
}

static void measure_messages(int peer, int tags)
{
    if (peer > 0 && (rank == 0 || rank == peer)) {
        const int other = rank == 0 ? peer : 0;
        for (int bytes = 0; bytes <= LONGEST; bytes = next_size(bytes)) {
            const double round_trip = ping_pong(bytes, other, tags + PING_PONG);
            late_receives(bytes, other, tags, round_trip);
            non_blocking_sends(bytes, other, tags);
            exchanges(bytes, other, tags);
        }
    }
    wait_for_all();
}

/* The first process after rank 0 that is on its host, or is not. 0: there is none. */
static int find_peer(int on_this_host)
{
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int first = rank; /* the lowest rank of the host tells the hosts apart */
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    const int fits = rank != 0 && (first == 0) == on_this_host;
    const int candidate = fits ? rank : size;
    int peer;
    MPI_Allreduce(&candidate, &peer, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return peer < size ? peer : 0;
}

static void operations_of_one(int bytes)
{
    const int count = bytes / (int)sizeof(double);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Each process has so many bytes for each. */
static void operations_with_parts(int bytes)
{
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void measure_operations(void)
{
    for (int i = 0; i < ROUNDS; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int bytes = 8; bytes <= LONGEST; bytes *= 32) {
        operations_of_one(bytes);
        if (bytes <= LONGEST / size)
            operations_with_parts(bytes);
    }
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(LONGEST, 1);
    in = calloc(LONGEST, 1);
    if (out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_messages(find_peer(1), LOCAL);
    measure_messages(find_peer(0), REMOTE);
    measure_operations();
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
