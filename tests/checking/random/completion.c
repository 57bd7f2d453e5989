/* completion.c - all ways to complete requests, at once or in some later step. */
#include <stdlib.h>

#include "steps.h"

static void complete_one_by_one(int count, MPI_Request* requests, MPI_Status* statuses, bool tests)
{
    for (int left = count; left > 0;) {
        MPI_Status status;
        int index, done = 1;
        if (tests)
            MPI_Testany(count, requests, &index, &done, &status);
        else
            MPI_Waitany(count, requests, &index, &status);
        if (!done)
            continue;
        if (index == MPI_UNDEFINED) /* all others are none */
            return;
        statuses[index] = status;
        --left;
    }
}

static void complete_some(int count, MPI_Request* requests, MPI_Status* statuses, bool tests)
{
    int* const indices = malloc(sizeof *indices * (size_t)count);
    MPI_Status* const of_some = malloc(sizeof *of_some * (size_t)count);
    for (int done = 0; done != MPI_UNDEFINED;) {
        if (tests)
            MPI_Testsome(count, requests, &done, indices, of_some);
        else
            MPI_Waitsome(count, requests, &done, indices, of_some);
        for (int i = 0; done != MPI_UNDEFINED && i < done; ++i)
            statuses[indices[i]] = of_some[i];
    }
    free(indices);
    free(of_some);
}

void complete(Random* own, int count, MPI_Request* requests, MPI_Status* statuses)
{
    int done = 0;
    switch (below(own, 8)) {
    case 0:
        MPI_Waitall(count, requests, statuses);
        break;
    case 1:
        while (!done)
            MPI_Testall(count, requests, &done, statuses);
        break;
    case 2:
    case 3:
        complete_one_by_one(count, requests, statuses, one_in(own, 2));
        break;
    case 4:
    case 5:
        complete_some(count, requests, statuses, one_in(own, 2));
        break;
    case 6:
        for (int i = count - 1; i >= 0; --i)
            MPI_Wait(&requests[i], &statuses[i]);
        break;
    default:
        for (int i = 0; i < count; ++i)
            for (done = 0; !done;) {
                if (one_in(own, 4))
                    MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
                MPI_Test(&requests[i], &done, &statuses[i]);
            }
    }
}

enum { most_pending = 16 };

static _Thread_local struct {
    Layout layout;
    int values, seed;
    const char* what;
} pending[most_pending];
static _Thread_local MPI_Request pending_requests[most_pending];
static _Thread_local int pending_count;

static void end_pending(int i)
{
    compare(&pending[i].layout, pending[i].values, pending[i].seed, pending[i].what);
    drop(&pending[i].layout);
    pending[i] = pending[--pending_count];
    pending_requests[i] = pending_requests[pending_count];
}

void complete_later(MPI_Request request, Layout layout, int values, int seed, const char* what)
{
    if (pending_count == most_pending)
        complete_all_of_those();
    pending[pending_count].layout = layout;
    pending[pending_count].values = values;
    pending[pending_count].seed = seed;
    pending[pending_count].what = what;
    pending_requests[pending_count++] = request;
}

void complete_some_of_those(Random* own)
{
    if (pending_count == 0 || !one_in(own, 3))
        return;
    int index = below(own, pending_count), done = 1;
    switch (below(own, 4)) {
    case 0:
        MPI_Wait(&pending_requests[index], MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Test(&pending_requests[index], &done, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Testany(pending_count, pending_requests, &index, &done, MPI_STATUS_IGNORE);
        break;
    default:
        complete_all_of_those();
        return;
    }
    if (done)
        end_pending(index);
}

void complete_all_of_those(void)
{
    MPI_Waitall(pending_count, pending_requests, MPI_STATUSES_IGNORE);
    while (pending_count > 0)
        end_pending(pending_count - 1);
}
