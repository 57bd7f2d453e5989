/* Attributes whose functions communicate, fail and are counted: their number, order and results are the
 * program's alone. */
#include "edge_cases.h"

static int calls;
static int fail_copy, fail_delete;

static int copy_comm(MPI_Comm comm, int key, void* extra, void* value, void* copied, int* flag)
{
    int sum, me = 1;
    (void)key;
    say("copy %s %d as call %d", (char*)extra, (int)(intptr_t)value, calls++);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    *(void**)copied = (char*)value + 10;
    *flag = sum > 0;
    return fail_copy;
}

static int delete_comm(MPI_Comm comm, int key, void* value, void* extra)
{
    int other;
    (void)key;
    say("delete %s %d as call %d", (char*)extra, (int)(intptr_t)value, calls++);
    MPI_Comm_compare(comm, MPI_COMM_SELF, &other);
    return fail_delete;
}

static int copy_type(MPI_Datatype type, int key, void* extra, void* value, void* copied, int* flag)
{
    int bytes;
    (void)key;
    MPI_Type_size(type, &bytes);
    say("copy %s %d of %d bytes as call %d", (char*)extra, (int)(intptr_t)value, bytes, calls++);
    *(void**)copied = (char*)value + 10;
    *flag = 1;
    return fail_copy;
}

static int delete_type(MPI_Datatype type, int key, void* value, void* extra)
{
    int bytes;
    (void)key;
    MPI_Type_size(type, &bytes);
    say("delete %s %d of %d bytes as call %d", (char*)extra, (int)(intptr_t)value, bytes, calls++);
    return fail_delete;
}

static int delete_win(MPI_Win win, int key, void* value, void* extra)
{
    (void)win;
    (void)key;
    say("delete %s %d as call %d", (char*)extra, (int)(intptr_t)value, calls++);
    return MPI_SUCCESS;
}

enum { KEYS = 4 };

static void on_communicators(void)
{
    int keys[KEYS];
    MPI_Comm comm, copy, again;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < KEYS; ++i) {
        MPI_Comm_create_keyval(copy_comm, delete_comm, &keys[i], "comm");
    }
    MPI_Comm_set_attr(comm, keys[2], (void*)3);
    MPI_Comm_set_attr(comm, keys[0], (void*)1);
    MPI_Comm_set_attr(comm, keys[3], (void*)4);
    MPI_Comm_set_attr(comm, keys[0], (void*)5);
    SAY(MPI_Comm_dup(comm, &copy));
    MPI_Comm_set_attr(copy, keys[1], (void*)6);
    SAY(MPI_Comm_dup(copy, &again));
    SAY(MPI_Comm_delete_attr(copy, keys[2]));
    SAY(MPI_Comm_free(&copy));
    SAY(MPI_Comm_free_keyval(&keys[0]));
    SAY(MPI_Comm_free(&again));
    fail_delete = MPI_ERR_OTHER;
    SAY(MPI_Comm_delete_attr(comm, keys[3]));
    fail_delete = MPI_SUCCESS;
    fail_copy = MPI_ERR_OTHER;
    SAY(MPI_Comm_dup(comm, &copy));
    fail_copy = MPI_SUCCESS;
    SAY(MPI_Comm_free(&comm));
    for (int i = 1; i < KEYS; ++i) {
        MPI_Comm_free_keyval(&keys[i]);
    }
}

static void on_datatypes(void)
{
    int keys[KEYS];
    MPI_Datatype type, copy, user;
    for (int i = 0; i < KEYS; ++i) {
        MPI_Type_create_keyval(copy_type, delete_type, &keys[i], "type");
    }
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, keys[1], (void*)2);
    MPI_Type_set_attr(type, keys[0], (void*)1);
    MPI_Type_vector(2, 1, 2, type, &user);
    MPI_Type_commit(&user);
    MPI_Type_set_attr(user, keys[2], (void*)7);
    SAY(MPI_Type_dup(type, &copy));
    MPI_Sendrecv(NULL, 0, user, right, 1, NULL, 0, copy, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("free the type");
    SAY(MPI_Type_free(&type));
    say("free what was made of it");
    SAY(MPI_Type_free(&user));
    fail_copy = MPI_ERR_OTHER;
    SAY(MPI_Type_dup(copy, &user));
    fail_copy = MPI_SUCCESS;
    SAY(MPI_Type_free(&copy));
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, keys[3], (void*)8);
    fail_delete = MPI_ERR_OTHER;
    SAY(MPI_Type_delete_attr(type, keys[3]));
    fail_delete = MPI_SUCCESS;
    SAY(MPI_Type_free(&type));
    for (int i = 0; i < KEYS; ++i) {
        MPI_Type_free_keyval(&keys[i]);
    }
}

static void on_windows(void)
{
    int key, memory = 0;
    MPI_Win win;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, "win");
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_attr(win, key, (void*)1);
    MPI_Win_set_attr(win, key, (void*)2);
    SAY(MPI_Win_free(&win));
    MPI_Win_free_keyval(&key);
}

/* The copy function answers with a code that MPI does not know, and only the copied communicator returns
 * errors. */
static void with_codes_of_their_own(void)
{
    int key, made_up;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, "own code");
    MPI_Comm_set_attr(comm, key, (void*)1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    fail_copy = 123456789;
    made_up = MPI_Comm_dup(comm, &copy);
    say("failed: %d", made_up != MPI_SUCCESS);
    fail_copy = MPI_SUCCESS;
    return_errors();
    fail_delete = 123456789;
    say("failed: %d", MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
    fail_delete = MPI_SUCCESS;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static int at_the_end(MPI_Comm comm, int key, void* value, void* extra)
{
    int finalized, members, sum = 0;
    MPI_Comm copy;
    (void)key;
    (void)extra;
    MPI_Finalized(&finalized);
    MPI_Comm_size(comm, &members);
    MPI_Comm_dup(comm, &copy);
    MPI_Allreduce(&members, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    say("end %d: %d members, sum %d, finalized %d", (int)(intptr_t)value, members, sum, finalized);
    return MPI_SUCCESS;
}

static void before_the_end(void)
{
    for (intptr_t i = 0; i < 3; ++i) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)i);
        MPI_Comm_free_keyval(&key);
    }
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; ++i) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
    calls += extent == sizeof(int);
}

static void operate(void)
{
    int mine[3] = {1, rank, 2}, sum[3] = {0}, commutes;
    MPI_Op op;
    MPI_Op_create(add, 0, &op);
    MPI_Op_commutative(op, &commutes);
    MPI_Allreduce(mine, sum, 3, MPI_INT, op, MPI_COMM_WORLD);
    say("sum %d %d %d, commutes %d", sum[0], sum[1], sum[2], commutes);
    MPI_Scan(mine, sum, 3, MPI_INT, op, MPI_COMM_WORLD);
    say("scan %d %d %d", sum[0], sum[1], sum[2]);
    MPI_Op_free(&op);
}

static int query(void* state, MPI_Status* status)
{
    int flag;
    MPI_Status own;
    MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, &own);
    say("query of %d as call %d", *(int*)state, calls++);
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return *(int*)state == 13 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int release(void* state)
{
    say("free of %d as call %d", *(int*)state, calls++);
    return MPI_SUCCESS;
}

static int cancel(void* state, int complete)
{
    say("cancel of %d, complete %d, as call %d", *(int*)state, complete, calls++);
    return MPI_SUCCESS;
}

static void generalize(void)
{
    int states[5] = {1, 2, 3, 4, 13}, flag, index;
    MPI_Request requests[5];
    MPI_Status statuses[5];
    for (int i = 0; i < 5; ++i) {
        statuses[i] = untouched();
        MPI_Grequest_start(query, release, cancel, &states[i], &requests[i]);
    }
    MPI_Cancel(&requests[0]);
    for (int i = 0; i < 5; ++i) {
        MPI_Grequest_complete(requests[i]);
    }
    SAY(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    SAY(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    SAY(MPI_Test(&requests[1], &flag, &statuses[1]));
    say_status("tested", &statuses[1]);
    SAY(MPI_Waitany(2, &requests[1], &index, MPI_STATUS_IGNORE));
    say("index %d", index);
    SAY(MPI_Waitall(1, &requests[3], MPI_STATUSES_IGNORE));
    SAY(MPI_Waitall(1, &requests[4], MPI_STATUSES_IGNORE));
    say("null: %d", requests[4] == MPI_REQUEST_NULL);
    MPI_Grequest_start(query, release, cancel, &states[4], &requests[4]);
    MPI_Grequest_complete(requests[4]);
    SAY(MPI_Waitall(1, &requests[4], &statuses[4]));
    say_status("failed", &statuses[4]);
    MPI_Grequest_start(query, release, cancel, &states[0], &requests[0]);
    SAY(MPI_Request_free(&requests[0]));
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    return_errors();
    on_communicators();
    on_datatypes();
    on_windows();
    with_codes_of_their_own();
    operate();
    generalize();
    before_the_end();
    return finish();
}
