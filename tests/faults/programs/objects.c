/* objects CALLS: makes and frees MPI objects of all kinds, in about so many calls, and tells how much memory
   that has cost: "grew KIB" between a tenth of the calls and all of them, with the MPI library's own part in
   it. */
#include "prelude.h"

static long calls = 0;

#define MPI(call)                                                                                            \
    do {                                                                                                     \
        CHECK(MPI_##call == MPI_SUCCESS);                                                                    \
        ++calls;                                                                                             \
    } while (0)

static void use_requests(void)
{
    int out = 5, in[3] = {0}, flag = 0;
    MPI_Request requests[4];
    for (int i = 0; i < 3; ++i)
        MPI(Irecv(&in[i], 1, MPI_INT, i == 0 ? MPI_ANY_SOURCE : 0, i, MPI_COMM_SELF, &requests[i]));
    for (int i = 0; i < 3; ++i)
        MPI(Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    MPI(Ibarrier(MPI_COMM_SELF, &requests[3]));
    MPI(Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK(in[0] == 5 && in[2] == 5);

    MPI(Recv_init(in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
    MPI(Send_init(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]));
    MPI(Startall(2, requests));
    while (!flag)
        MPI(Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    MPI(Request_free(&requests[0]));
    MPI(Request_free(&requests[1]));

    MPI(Irecv(in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &requests[0]));
    MPI(Cancel(&requests[0]));
    MPI(Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(Isend(&out, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &requests[0]));
    MPI(Request_free(&requests[0]));
    MPI(Recv(in, 1, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

static void match_message(void)
{
    int out = 7, in = 0;
    MPI_Request request;
    MPI_Message message;
    MPI(Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    MPI(Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    MPI(Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MPI(Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == 7);
}

static void use_datatypes(void)
{
    int lengths[] = {1, 2}, in[8], out[8] = {0};
    MPI_Aint displacements[] = {0, 8};
    MPI_Datatype vector, copy, parts[] = {MPI_INT, MPI_INT}, together;
    MPI(Type_vector(2, 1, 2, MPI_INT, &vector));
    MPI(Type_dup(vector, &copy));
    parts[1] = copy;
    MPI(Type_create_struct(2, lengths, displacements, parts, &together));
    MPI(Type_commit(&vector));
    MPI(Type_set_name(vector, "two of three"));
    MPI(Sendrecv(out, 1, vector, 0, 0, in, 1, vector, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    MPI(Type_free(&vector));
    MPI(Type_free(&copy));
    MPI(Type_free(&together));
}

static void use_communicators(void)
{
    int size, period = 0, one = 1;
    MPI_Comm copy, part, later, grid, other;
    MPI_Group group, same;
    MPI_Request request;
    MPI(Comm_dup(MPI_COMM_WORLD, &copy));
    MPI(Comm_split(copy, 0, 0, &part));
    MPI(Comm_idup(part, &later, &request));
    MPI(Wait(&request, MPI_STATUS_IGNORE));
    MPI(Cart_create(copy, 1, &one, &period, 0, &grid));
    MPI(Comm_group(copy, &group));
    MPI(Group_incl(group, 1, (int[]){0}, &same));
    MPI(Comm_create_group(MPI_COMM_WORLD, same, 3, &other));
    MPI(Comm_set_name(other, "other"));
    MPI(Barrier(later));
    MPI(Comm_size(grid, &size));
    CHECK(size == 1);
    MPI(Group_free(&group));
    MPI(Group_free(&same));
    MPI(Comm_free(&other));
    MPI(Comm_free(&grid));
    MPI(Comm_free(&later));
    MPI(Comm_free(&part));
    MPI(Comm_free(&copy));
}

static void use_hints(void)
{
    MPI_Info info, copy;
    MPI(Info_create(&info));
    MPI(Info_set(info, "key", "value"));
    MPI(Info_dup(info, &copy));
    MPI(Info_free(&info));
    MPI(Info_free(&copy));
}

static void add(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)in, (void)out, (void)count, (void)type;
}
static void handle(MPI_Comm* comm, int* error, ...)
{
    (void)comm, (void)error;
}

static void use_callbacks(void)
{
    MPI_Op operation;
    MPI_Errhandler handler;
    int key, in = 1, out = 2;
    MPI(Op_create(add, 1, &operation));
    MPI(Reduce_local(&in, &out, 1, MPI_INT, operation));
    MPI(Op_free(&operation));
    MPI(Comm_create_errhandler(handle, &handler));
    MPI(Errhandler_free(&handler));
    MPI(Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    MPI(Comm_free_keyval(&key));
}

static void use_files(void)
{
    int in[4] = {0}, out[4] = {1, 2, 3, 4};
    MPI_File file;
    MPI(File_open(MPI_COMM_SELF, "objects.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI(File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI(File_write_at_all_begin(file, 0, out, 4, MPI_INT));
    MPI(File_write_at_all_end(file, out, MPI_STATUS_IGNORE));
    MPI(File_read(file, in, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(in[3] == 4);
    MPI(File_close(&file));
    MPI(File_delete("objects.tmp", MPI_INFO_NULL));
}

static void use_windows(void)
{
    static int memory[16];
    MPI_Win window;
    MPI(Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &window));
    MPI(Win_set_name(window, "memory"));
    MPI(Win_free(&window));
}

/* Some cost the MPI library a hundred times as much as others. */
static void use_all(long round)
{
    use_requests();
    use_datatypes();
    use_hints();
    use_callbacks();
    if (round % 2 == 0)
        match_message();
    if (round % 4 == 0)
        use_communicators();
    if (round % 16 == 0)
        use_files();
    if (round % 64 == 0)
        use_windows();
}

int main(int argc, char** argv)
{
    begin_calls_with(MPI_THREAD_SINGLE, &argc, &argv);
    const long wanted = atol(argv[1]);
    long before = 0;
    for (long round = 0; calls < wanted; ++round) {
        use_all(round);
        if (before == 0 && calls >= wanted / 10)
            before = resident_kib();
    }
    printf("grew %ld\n", resident_kib() - before);
    MPI_Finalize();
    return 0;
}
