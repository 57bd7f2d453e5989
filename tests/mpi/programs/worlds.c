/* Two parents start the worlds a (two processes) and b (one), a process of a starts c, and parents and a
 * together start d. All that can be between worlds is there once, each with messages of a tag of its own. */
#include "check.h"

enum { TO_ANY = 1, RING, PAIR, DUP, CROSSED, PORT_NAME, PORT, GRANDCHILD, LATE };

static const char* program;

static void send_to(int to, int tag, MPI_Comm comm)
{
    MPI_Send(&tag, 1, MPI_INT, to, tag, comm);
}

static void receive_from(int from, int tag, MPI_Comm comm)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, from, tag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == tag);
}

static MPI_Comm spawn(char* name, int count, MPI_Comm comm)
{
    char* arguments[] = {name, NULL};
    MPI_Comm children;
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE);
    return children;
}

/* Communicators made from what is between the parents and a. */
static void use_inter_communicator(MPI_Comm between, int is_parent)
{
    MPI_Comm pair, copy;
    if (is_parent && rank == 1) {
        send_to(0, TO_ANY, between);
    } else if (!is_parent && rank == 0) {
        receive_from(MPI_ANY_SOURCE, TO_ANY, between);
    }
    MPI_Comm_split(between, rank, 0, &pair);
    if (is_parent) {
        send_to(0, PAIR, pair);
    } else {
        receive_from(0, PAIR, pair);
    }
    MPI_Comm_free(&pair);
    MPI_Comm_dup(between, &copy);
    if (!is_parent && rank == 1) {
        send_to(0, DUP, copy);
    } else if (is_parent && rank == 0) {
        receive_from(1, DUP, copy);
    }
    MPI_Comm_free(&copy);
}

/* An inter-communicator whose sides have members of both worlds: even and odd places in all of them. */
static void use_crossed_sides(MPI_Comm all, int place)
{
    MPI_Comm half, crossed, again;
    int sum = 0;
    MPI_Comm_split(all, place % 2, place, &half);
    MPI_Intercomm_create(half, 0, all, 1 - place % 2, 9, &crossed);
    if (place == 2) {
        send_to(0, CROSSED, crossed);
    } else if (place == 1) {
        receive_from(1, CROSSED, crossed);
    }
    MPI_Intercomm_merge(crossed, place % 2, &again);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, again);
    CHECK(sum == 0 + 1 + 2 + 3);
    MPI_Comm_free(&again);
    MPI_Comm_free(&crossed);
    MPI_Comm_free(&half);
}

/* The processes of a come first in it. */
static MPI_Comm merge(MPI_Comm between, int is_parent)
{
    MPI_Comm all;
    int place, value = 0;
    MPI_Intercomm_merge(between, is_parent, &all);
    MPI_Comm_rank(all, &place);
    MPI_Sendrecv(&place, 1, MPI_INT, (place + 1) % 4, RING, &value, 1, MPI_INT, (place + 3) % 4, RING, all,
                 MPI_STATUS_IGNORE);
    CHECK(value == (place + 3) % 4);
    use_crossed_sides(all, place);
    return all;
}

static void use_port(MPI_Comm meeting, int is_a)
{
    MPI_Comm merged;
    if (!is_a) {
        send_to(1, PORT, meeting);
    } else if (rank == 1) {
        receive_from(0, PORT, meeting);
    }
    MPI_Intercomm_merge(meeting, is_a, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&meeting);
}

static void be_parent(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm a = spawn("a", 2, MPI_COMM_WORLD), b = spawn("b", 1, MPI_COMM_WORLD);
    use_inter_communicator(a, 1);
    MPI_Comm all = merge(a, 1);
    if (rank == 0) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, PORT_NAME, a, MPI_STATUS_IGNORE);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, PORT_NAME, b);
    }
    MPI_Barrier(all);
    MPI_Comm d = spawn("d", 1, all);
    if (rank == 1) {
        receive_from(0, LATE, d);
    }
    MPI_Comm_free(&d);
    MPI_Comm_free(&all);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

static void be_a(MPI_Comm parents)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm b;
    use_inter_communicator(parents, 0);
    MPI_Comm all = merge(parents, 0);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, PORT_NAME, parents);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &b);
    use_port(b, 1);
    if (rank == 1) {
        MPI_Comm c = spawn("c", 1, MPI_COMM_SELF);
        receive_from(MPI_ANY_SOURCE, GRANDCHILD, c);
        MPI_Comm_free(&c);
    }
    MPI_Barrier(all);
    MPI_Comm d = spawn("d", 1, all);
    MPI_Comm_free(&d);
    MPI_Comm_free(&all);
    MPI_Comm_free(&parents);
}

static void be_b(MPI_Comm parents)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm a;
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, PORT_NAME, parents, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &a);
    use_port(a, 0);
    MPI_Comm_free(&parents);
}

int main(int argc, char** argv)
{
    MPI_Comm parents;
    begin(&argc, &argv);
    program = argv[0];
    const char role = argc > 1 ? *argv[1] : 'p';
    MPI_Comm_get_parent(&parents);
    CHECK((parents == MPI_COMM_NULL) == (role == 'p'));
    if (role == 'a') {
        be_a(parents);
    } else if (role == 'b') {
        be_b(parents);
    } else if (role != 'p') {
        send_to(role == 'd' ? 3 : 0, role == 'd' ? LATE : GRANDCHILD, parents);
        MPI_Comm_free(&parents);
    } else {
        be_parent();
        return finish();
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
