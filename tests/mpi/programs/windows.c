/* One-sided communication: every way to make a window, to access it, and to synchronise. */
#include "check.h"

static int memory[4];
static MPI_Win window;
static MPI_Group neighbours_of_access, neighbours_of_exposure;

/* MPI does not look at what there is to combine with if nothing is combined. */
static void get_with_no_op(void)
{
    int result;
    MPI_Datatype type, freed;
    MPI_Type_contiguous(2, MPI_INT, &type);
    freed = type;
    MPI_Type_free(&type);
    MPI_Get_accumulate(NULL, 7, freed, &result, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, window);
    MPI_Win_flush(right, window);
    CHECK(result == 3);
}

static void access_all_ways(void)
{
    int value = 3, result, swapped, compare = 0;
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_flush(right, window);
    MPI_Get(&result, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_flush_local(right, window);
    CHECK(result == 3);
    get_with_no_op();
    MPI_Accumulate(&value, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush_all(window);
    MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush_local_all(window);
    MPI_Fetch_and_op(&value, &result, MPI_INT, right, 2, MPI_SUM, window);
    MPI_Compare_and_swap(&value, &compare, &swapped, MPI_INT, right, 3, window);
    MPI_Win_flush(right, window);
}

static void access_with_requests(void)
{
    int value = 4, result;
    MPI_Request requests[4];
    MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window, &requests[0]);
    MPI_Raccumulate(&value, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, window);
    MPI_Rget(&result, 1, MPI_INT, right, 0, 1, MPI_INT, window, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window,
                        &requests[3]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
}

static void synchronise(void)
{
    int value = 5, flag = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK(memory[0] == 5);

    MPI_Win_post(neighbours_of_exposure, 0, window);
    MPI_Win_start(neighbours_of_access, 0, window);
    MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK(memory[1] == 5);

    MPI_Win_post(neighbours_of_exposure, 0, window);
    MPI_Win_start(neighbours_of_access, 0, window);
    MPI_Win_complete(window);
    while (!flag) {
        MPI_Win_test(window, &flag);
    }

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Put(&value, 1, MPI_INT, right, 2, 1, MPI_INT, window);
    MPI_Win_unlock(right, window);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    access_all_ways();
    access_with_requests();
    MPI_Win_unlock_all(window);
}

static void describe(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, group_size;
    MPI_Group group;
    MPI_Info info;
    MPI_Win_set_name(window, "board");
    MPI_Win_get_name(window, name, &length);
    CHECK(strcmp(name, "board") == 0);
    MPI_Win_get_group(window, &group);
    MPI_Group_size(group, &group_size);
    CHECK(group_size == size);
    MPI_Group_free(&group);
    MPI_Win_get_info(window, &info);
    MPI_Win_set_info(window, info);
    MPI_Info_free(&info);
}

static void ignore_error(MPI_Win* win, int* code, ...)
{
    (void)win;
    (void)code;
}

static void handle_errors(void)
{
    MPI_Errhandler handler, current;
    MPI_Win_create_errhandler(ignore_error, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Win_get_errhandler(window, &current);
    MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
    MPI_Errhandler_free(&current);
    MPI_Errhandler_free(&handler);
}

static void other_windows(void)
{
    int *base, *queried, unit;
    MPI_Aint bytes;
    MPI_Win allocated, shared, dynamic;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    MPI_Win_free(&allocated);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared);
    MPI_Win_shared_query(shared, 0, &bytes, &unit, &queried);
    CHECK(bytes == sizeof(int) && unit == sizeof(int));
    MPI_Win_free(&shared);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_attach(dynamic, memory, sizeof memory);
    MPI_Win_detach(dynamic, memory);
    MPI_Win_free(&dynamic);
}

int main(int argc, char** argv)
{
    MPI_Group world;

    begin(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &neighbours_of_access);
    MPI_Group_incl(world, 1, &left, &neighbours_of_exposure);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    describe();
    handle_errors();
    synchronise();
    MPI_Win_free(&window);
    other_windows();
    MPI_Group_free(&neighbours_of_exposure);
    MPI_Group_free(&neighbours_of_access);
    MPI_Group_free(&world);
    return finish();
}
