/* Generalized requests: work of the program's own behind a request. */
#include "check.h"

static int query(void* state, MPI_Status* status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}

static int release(void* state)
{
    *(int*)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void* state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char** argv)
{
    int elements = 3, counted, flag;
    MPI_Request request;
    MPI_Status status;

    begin(&argc, &argv);
    MPI_Grequest_start(query, release, cancel, &elements, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &counted);
    CHECK(counted == 3 && status.MPI_TAG == 5 && elements == -1);

    MPI_Status_set_elements(&status, MPI_INT, 4);
    MPI_Status_set_elements_x(&status, MPI_INT, 5);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Get_count(&status, MPI_INT, &counted);
    MPI_Test_cancelled(&status, &flag);
    CHECK(counted == 5 && flag);
    return finish();
}
