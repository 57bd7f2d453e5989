/* A communicator that the MPI library makes by calls inside the program's call, from others that nobody else
 * sees. */
#include "edge_cases.h"

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
    MPI_Info_set(info, "nbhd_common_dirname", ".");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, 0, info, &comm);
#else
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm);
#endif
    int members = 0;
    MPI_Comm_size(comm, &members);
    SAY(MPI_Barrier(comm));
    say("%d members", members);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    return finish();
}
