// Much is always on its way: operations that are completed some steps after they were started, in every way
// that connects a call with several others. All processes do the same in each step; which way is random.
#include <mpi.h>
#include <stdlib.h>

enum { most_pending = 12, depth = 4, steps = 400, size = 8 };

static int rank, ranks, next, previous;
static int out[steps][size], in[steps][size];
static MPI_Request pending[most_pending];
static int pending_count;

static void complete_all(void)
{
    MPI_Waitall(pending_count, pending, MPI_STATUSES_IGNORE);
    pending_count = 0;
}

static void shift(int step, int tag)
{
    MPI_Sendrecv(out[step], size, MPI_INT, next, tag, in[step], size, MPI_INT, previous, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void start_shift(int step, int source)
{
    MPI_Irecv(in[step], size, MPI_INT, source, 1, MPI_COMM_WORLD, &pending[pending_count++]);
    MPI_Isend(out[step], size, MPI_INT, next, 1, MPI_COMM_WORLD, &pending[pending_count++]);
}

static void shift_probed(int step)
{
    MPI_Message message;
    MPI_Isend(out[step], size, MPI_INT, next, 2, MPI_COMM_WORLD, &pending[pending_count++]);
    MPI_Mprobe(previous, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in[step], size, MPI_INT, &message, &pending[pending_count++]);
}

// The first process sends long before the second one receives.
static void send_ahead(int step)
{
    if (rank == 0)
        for (int i = 0; i < depth; ++i)
            MPI_Send(out[step], size, MPI_INT, 1, 3, MPI_COMM_WORLD);
    shift(step, 4);
    if (rank == 1)
        for (int i = 0; i < depth; ++i)
            MPI_Recv(in[step], size, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The request is gone long before its message has come. */
static void send_ahead_and_free(int step)
{
    MPI_Request request;
    MPI_Send_init(out[step], size, MPI_INT, next, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    shift(step, 8);
    shift(step, 8);
    MPI_Recv(in[step], size, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    MPI_Request persistent[4];
    int persistent_count = 2;
    int static_out[size] = {0}, static_in[size];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    MPI_Send_init(static_out, size, MPI_INT, next, 5, MPI_COMM_WORLD, &persistent[0]);
    MPI_Recv_init(static_in, size, MPI_INT, previous, 5, MPI_COMM_WORLD, &persistent[1]);
#if MPI_VERSION >= 4
    int sums[size], first[size] = {0};
    MPI_Allreduce_init(static_out, sums, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &persistent[2]);
    MPI_Bcast_init(first, size, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[3]);
    persistent_count = 4;
#endif
    srand(7);
    for (int step = 0; step < steps; ++step) {
        switch (rand() % 9) {
        case 0:
            shift(step, 0);
            break;
        case 1:
            start_shift(step, previous);
            break;
        case 2:
            start_shift(step, MPI_ANY_SOURCE);
            break;
        case 3:
            shift_probed(step);
            break;
        case 4:
            send_ahead(step);
            break;
        case 5:
            MPI_Ibcast(in[step], size, MPI_INT, step % ranks, MPI_COMM_WORLD, &pending[pending_count++]);
            break;
        case 6:
            send_ahead_and_free(step);
            break;
        case 7:
            MPI_Allreduce(out[step], in[step], size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            break;
        default:
            MPI_Startall(persistent_count, persistent);
            shift(step, 6);
            MPI_Waitall(persistent_count, persistent, MPI_STATUSES_IGNORE);
        }
        if (pending_count > most_pending - 2)
            complete_all();
    }
    complete_all();
    for (int i = 0; i < persistent_count; ++i)
        MPI_Request_free(&persistent[i]);
    MPI_Finalize();
    return 0;
}
