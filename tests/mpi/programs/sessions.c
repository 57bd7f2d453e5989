/* MPI 4: sessions beside the world. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Comm comm;
    char name[64];
    int count, length = sizeof name, members;

    begin(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    MPI_Info_free(&info);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_free(&info);
    MPI_Session_get_errhandler(session, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Errhandler_free(&handler);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_size(comm, &members);
    CHECK(members == size);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return finish();
}
