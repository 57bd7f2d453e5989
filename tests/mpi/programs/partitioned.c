/* MPI 4: a message in partitions, each announced and awaited on its own; and the combined exchanges with a
 * request. */
#include "check.h"

enum { PARTITIONS = 4, COUNT = 2 };

static void send_in_partitions(void)
{
    int sent[PARTITIONS * COUNT] = {0}, received[PARTITIONS * COUNT], arrived = 0;
    int list[] = {3};
    MPI_Request send, receive;
    MPI_Psend_init(sent, PARTITIONS, COUNT, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(received, PARTITIONS, COUNT, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Pready(0, send);
    MPI_Pready_range(1, 2, send);
    MPI_Pready_list(1, list, send);
    while (!arrived) {
        MPI_Parrived(receive, 2, &arrived);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

static void exchange(void)
{
    int mine = rank, theirs = -1;
    MPI_Request request;
    MPI_Isendrecv(&mine, 1, MPI_INT, right, 6, &theirs, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(theirs == left);
    MPI_Isendrecv_replace(&mine, 1, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(mine == left);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    send_in_partitions();
    exchange();
    return finish();
}
