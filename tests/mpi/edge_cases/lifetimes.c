/* Types and communicators freed while they are in use, thousands that live, and many that come and go. */
#include "edge_cases.h"

enum { MANY = 1000, CYCLES = 5000, LARGE = 1 << 20 };
enum { MOST_KILOBYTES = CYCLES / 10 }; // the least leak that is found is 100 bytes in each cycle

static long resident_kilobytes(void)
{
    char line[200];
    long kilobytes = -1;
    FILE* file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) {
            break;
        }
    }
    fclose(file);
    return kilobytes;
}

static void free_while_active(void)
{
    int *const out = calloc(LARGE, sizeof *out), *const in = calloc(LARGE, sizeof *in);
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    out[LARGE - 1] = rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(LARGE, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 1, type, left, 1, comm, &requests[0]);
    MPI_Isend(out, 1, type, right, 1, comm, &requests[1]);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    statuses[0] = untouched();
    SAY(MPI_Waitall(2, requests, statuses));
    say_status("received", &statuses[0]);
    say("%d", in[LARGE - 1]);
    free(out);
    free(in);
}

static void duplicate_and_forget(void)
{
    for (int i = 0; i < 20; ++i) {
        MPI_Comm later, comm;
        MPI_Request request;
        MPI_Pcontrol(0);
        MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&later);
        MPI_Pcontrol(1);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
}

static void live(void)
{
    static MPI_Comm comms[MANY];
    static MPI_Datatype types[MANY];
    int sum = 0;
    for (int i = 0; i < MANY; ++i) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
        MPI_Type_vector(2, 1, i + 1, i > 0 ? types[i / 2] : MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    for (int i = 0; i < MANY; ++i) {
        int one = 1, got = 0;
        MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, comms[i]);
        MPI_Send(NULL, 0, types[i], MPI_PROC_NULL, 0, comms[i]);
        sum += got;
    }
    for (int i = 0; i < MANY; ++i) {
        MPI_Type_free(&types[(i * 7) % MANY]);
        MPI_Comm_free(&comms[i]);
    }
    say("sum %d", sum);
}

static void come_and_go(int cycles)
{
    for (int i = 0; i < cycles; ++i) {
        MPI_Datatype type;
        MPI_Type_contiguous(i % 7 + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Send(NULL, 0, type, MPI_PROC_NULL, 0, MPI_COMM_SELF);
        MPI_Type_free(&type);
        if (i % 10 == 0) {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
            MPI_Comm_free(&comm);
        }
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    return_errors();
    free_while_active();
    duplicate_and_forget();
    live();
    come_and_go(CYCLES / 2);
    const long before = resident_kilobytes();
    come_and_go(CYCLES);
    const long grown = resident_kilobytes() - before;
    say("memory is constant: %d", grown < MOST_KILOBYTES);
    if (grown >= MOST_KILOBYTES) {
        say("grown by %ld KiB", grown);
    }
    return finish();
}
