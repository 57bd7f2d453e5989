// Sends that are complete when they are started have one handle with some MPI libraries, and the program
// moves it: nothing tells which of them it waits for or asks about first. Their memory is used as soon as
// that is permitted.
#include <mpi.h>

enum { tag_of_receive = 100 };

static int values[2], got[2], third = 3;

static MPI_Request send(int which)
{
    MPI_Request request;
    MPI_Isend(&values[which], 1, MPI_INT, 0, which, MPI_COMM_SELF, &request);
    MPI_Recv(&got[which], 1, MPI_INT, 0, which, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return request;
}

static void use_again(int which)
{
    MPI_Request received;
    ++values[which];
    MPI_Irecv(&values[which], 1, MPI_INT, 0, tag_of_receive, MPI_COMM_SELF, &received);
    MPI_Send(&third, 1, MPI_INT, 0, tag_of_receive, MPI_COMM_SELF);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

static void move_the_younger_one(void)
{
    MPI_Request of_first, of_second, moved;
    MPI_Isend(&values[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &of_first);
    MPI_Isend(&values[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &of_second);
    MPI_Recv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(&got[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    moved = of_second;
    of_second = MPI_REQUEST_NULL;
    MPI_Wait(&moved, MPI_STATUS_IGNORE);
    use_again(1);
    moved = of_first;
    MPI_Wait(&moved, MPI_STATUS_IGNORE);
}

// The variable of the first one is used for the second one, whose own is gone by then.
static void move_into_the_variable_of_another(void)
{
    MPI_Request request, moved;
    MPI_Isend(&values[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    moved = request;
    request = send(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_again(1);
    MPI_Wait(&moved, MPI_STATUS_IGNORE);
}

static void ask(void)
{
    MPI_Request requests[2] = {send(0), send(1)};
    int flag = 0;
    while (!flag)
        MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
    use_again(1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void ask_about_a_receive(void)
{
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(&got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&values[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&third, 1, MPI_INT, 0, 0, &got[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    move_the_younger_one();
    move_into_the_variable_of_another();
    ask();
    ask_about_a_receive();
    MPI_Finalize();
    return 0;
}
