/* Attributes on communicators, datatypes and windows, with their old and new names. */
#include "check.h"

static int value = 11;

static void on_communicators(void)
{
    int key, flag, *found;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag);
    CHECK(flag && *found == 11);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
}

static void on_datatypes(void)
{
    int key, flag, *found;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(MPI_INT, key, &value);
    MPI_Type_get_attr(MPI_INT, key, &found, &flag);
    CHECK(flag && *found == 11);
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_free_keyval(&key);
}

static void on_windows(void)
{
    int key, flag, memory, *found;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_set_attr(window, key, &value);
    MPI_Win_get_attr(window, key, &found, &flag);
    CHECK(flag && *found == 11);
    MPI_Win_delete_attr(window, key);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&window);
}

static void with_their_old_names(void)
{
    int key, flag, *found;
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &value);
    MPI_Attr_get(MPI_COMM_WORLD, key, &found, &flag);
    CHECK(flag && *found == 11);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Keyval_free(&key);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    on_communicators();
    on_datatypes();
    on_windows();
    with_their_old_names();
    return finish();
}
