/* Calls MPI in regions of its own for a while, then for as long again; prints what the second half asked the
 * C library for. */
#include "../programs/check.h"
#include "counter.h"

#include <hdRegion.h>

enum { ROUNDS = 1000 };

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_File file;

static hdRegion region = HD_REGION("round"), mark = HD_REGION("mark");
static hdCounter number = HD_COUNTER("number", HD_FLOAT);

static void round_of_calls(void)
{
    int out[2] = {1, 2}, in[2], flag;
    double mine = 1, sum;
    MPI_Request requests[2];
    MPI_Status status;
    hdR_begin(&region);
    hdR_beginNamed("name");
    MPI_Irecv(in, 1, type, 0, 1, comm, &requests[0]);
    MPI_Isend(out, 1, type, 0, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, 2, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Iprobe(MPI_ANY_SOURCE, 3, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 2, MPI_INT, 0, 2, in, 2, MPI_INT, MPI_ANY_SOURCE, 2, comm, &status);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_File_write_at(file, 0, out, 1, type, MPI_STATUS_IGNORE);
    hdR_mark(&mark, "text");
    hdR_countFloat(&number, sum / 3);
    hdR_endNamed("name");
    hdR_end(&region);
}

/* Once only in the machine code, so that the second half has no new places of calls. */
__attribute__((noinline)) static struct counts calls(void)
{
    static hdRegion around_all = HD_REGION("around all");
    const struct counts before = counted();
    hdR_begin(&around_all);
    for (int i = 0; i < ROUNDS; ++i) {
        round_of_calls();
    }
    hdR_end(&around_all);
    const struct counts after = counted();
    return (struct counts){after.allocations - before.allocations, after.locks - before.locks,
                           after.writes - before.writes};
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_MPI(MPI_File_open(comm, "steady.data", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file));
    calls();
    const struct counts counts = calls();
    printf("{\"allocations\": %ld, \"locks\": %ld, \"writes\": %ld}\n", counts.allocations, counts.locks,
           counts.writes);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
