/* Functions that MPI 3 removed; libraries still have them for old programs. An mpi.h may hide them behind
   macros that tell what to use instead, so the program declares them itself. */
#include "check.h"

#undef MPI_Address
#undef MPI_Type_hvector
#undef MPI_Type_hindexed
#undef MPI_Type_struct
#undef MPI_Type_lb
#undef MPI_Type_ub
#undef MPI_Type_extent
#undef MPI_Errhandler_create
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
int MPI_Address(void* location, MPI_Aint* address);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_hindexed(int count, int lengths[], MPI_Aint places[], MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype members[], MPI_Datatype* type);
int MPI_Type_lb(MPI_Datatype type, MPI_Aint* lb);
int MPI_Type_ub(MPI_Datatype type, MPI_Aint* ub);
int MPI_Type_extent(MPI_Datatype type, MPI_Aint* extent);
int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler);

static int handled;

static void count_error(MPI_Comm* comm, int* code, ...)
{
    (void)comm;
    (void)code;
    ++handled;
}

static void use_and_free(MPI_Datatype type, int expected_size)
{
    int type_size;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &type_size);
    CHECK(type_size == expected_size);
    MPI_Type_free(&type);
}

static void datatypes(void)
{
    int value, lengths[] = {2, 1};
    MPI_Aint places[] = {0, 16}, address, lb, ub, extent;
    MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE}, type;
    MPI_Address(&value, &address);
    CHECK(address == (MPI_Aint)&value);
    MPI_Type_hvector(2, 1, 8, MPI_INT, &type);
    use_and_free(type, 8);
    MPI_Type_hindexed(2, lengths, places, MPI_INT, &type);
    use_and_free(type, 12);
    MPI_Type_struct(2, lengths, places, members, &type);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    MPI_Type_extent(type, &extent);
    CHECK(lb == 0 && ub == 24 && extent == 24);
    use_and_free(type, 16);
}

static void error_handlers(void)
{
    MPI_Errhandler counter, current;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Errhandler_create(count_error, &counter);
    MPI_Errhandler_set(copy, counter);
    MPI_Errhandler_get(copy, &current);
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    CHECK(handled == 1);
    MPI_Errhandler_free(&current);
    MPI_Errhandler_free(&counter);
    MPI_Comm_free(&copy);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    datatypes();
    error_handlers();
    return finish();
}
