/* The two halves of the world meet again through a port, and two ranks through a socket. */
#include "check.h"

#include <sys/socket.h>
#include <unistd.h>

static void meet_through_a_port(void)
{
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "";
    const int listens = rank < size / 2;
    int remote, value = -1;
    MPI_Comm_split(MPI_COMM_WORLD, listens, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (listens) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    }
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == (listens ? size - size / 2 : size / 2));
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 8, inter);
        MPI_Close_port(port);
    } else if (rank == size / 2) {
        MPI_Recv(&value, 1, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
        CHECK(value == 0);
    }
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    CHECK(size >= 2);
    meet_through_a_port();
    return finish();
}
