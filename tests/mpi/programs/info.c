/* Info objects. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY + 1], value[64];
    int count, length, flag;

    begin(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "blue");
    MPI_Info_set(info, "shape", "round");
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 2);
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get_valuelen(info, "colour", &length, &flag);
    CHECK(flag && length == 4);
    MPI_Info_get(info, "colour", (int)sizeof value - 1, value, &flag);
    CHECK(flag && strcmp(value, "blue") == 0);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(copy, "shape");
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 1);
#ifdef HAVE_MPI_Info_create_env
    MPI_Info environment;
    length = sizeof value;
    MPI_Info_get_string(info, "shape", &length, value, &flag);
    CHECK(flag && strcmp(value, "round") == 0);
    MPI_Info_create_env(argc, argv, &environment);
    MPI_Info_free(&environment);
#endif
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    return finish();
}
