/* The two halves of the world meet again through a port, and two ranks through a socket. */
#include "check.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void meet_through_a_port(void)
{
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "";
    const char service[] = "hdtrace-test";
    const int listens = rank < size / 2;
    int remote, value = -1;
    MPI_Comm_split(MPI_COMM_WORLD, listens, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!listens) {
        MPI_Lookup_name(service, MPI_INFO_NULL, port);
    }
    if (listens) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    }
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == (listens ? size - size / 2 : size / 2));
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 8, inter);
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    } else if (rank == size / 2) {
        MPI_Recv(&value, 1, MPI_INT, 0, 8, inter, MPI_STATUS_IGNORE);
        CHECK(value == 0);
    }
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
}

/* A connected socket between the ranks 0 and 1. */
static int connect_by_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "meeting.socket"};
    const int endpoint = socket(AF_UNIX, SOCK_STREAM, 0);
    if (rank == 0) {
        CHECK(bind(endpoint, (struct sockaddr*)&address, sizeof address) == 0);
        CHECK(listen(endpoint, 1) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        return accept(endpoint, NULL, NULL);
    }
    CHECK(rank > 1 || connect(endpoint, (struct sockaddr*)&address, sizeof address) == 0);
    return endpoint;
}

static void meet_through_a_socket(void)
{
    MPI_Comm pair;
    const int connection = connect_by_socket();
    if (rank < 2) {
        int theirs = -1;
        MPI_Comm_join(connection, &pair);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 9, &theirs, 1, MPI_INT, 0, 9, pair, MPI_STATUS_IGNORE);
        CHECK(theirs == 1 - rank);
        MPI_Comm_disconnect(&pair);
    }
    close(connection);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    CHECK(size >= 2);
    meet_through_a_port();
    meet_through_a_socket();
    return finish();
}
