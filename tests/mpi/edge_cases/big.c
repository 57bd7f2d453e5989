/* More than 2 GiB through types, without the memory for it. */
#include "edge_cases.h"

int main(int argc, char** argv)
{
    MPI_Datatype gibibyte, three;
    MPI_Status status = untouched();
    MPI_Count elements = -1, bytes = -1, lower, extent;
    int count = -1, small = -1;
    begin(&argc, &argv);
    return_errors();
    MPI_Type_contiguous(1 << 30, MPI_BYTE, &gibibyte);
    MPI_Type_contiguous(3, gibibyte, &three);
    MPI_Type_commit(&three);
    SAY(MPI_Type_size(three, &small));
    say("undefined %d", small == MPI_UNDEFINED);
    SAY(MPI_Type_size_x(three, &bytes));
    SAY(MPI_Type_get_extent_x(three, &lower, &extent));
    say("%lld bytes, extent %lld", (long long)bytes, (long long)extent);
    SAY(MPI_Send(NULL, 1, three, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    SAY(MPI_Send(NULL, 2000000000, gibibyte, MPI_PROC_NULL, 2, MPI_COMM_WORLD));
    SAY(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)3 << 30));
    SAY(MPI_Get_elements_x(&status, MPI_BYTE, &elements));
    SAY(MPI_Get_count(&status, three, &count));
    say("%lld elements, count %d", (long long)elements, count);
    MPI_Type_free(&gibibyte);
    MPI_Type_free(&three);
    return finish();
}
