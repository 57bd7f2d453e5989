/* MPI 4: sessions beside the world. */
#include "check.h"

static int handled;

static void count_error(MPI_Session* session, int* code, ...)
{
    (void)session;
    (void)code;
    ++handled;
}

/* The even ranks and the odd ones meet without a communicator that both are in. */
static void meet(MPI_Group world)
{
    MPI_Group evens, odds;
    MPI_Comm inter;
    int even_ranks[1][3] = {{0, (size - 1) / 2 * 2, 2}};
    if (size < 2) {
        return;
    }
    MPI_Group_range_incl(world, 1, even_ranks, &evens);
    MPI_Group_range_excl(world, 1, even_ranks, &odds);
    MPI_Intercomm_create_from_groups(rank % 2 ? odds : evens, 0, rank % 2 ? evens : odds, 0, "meeting",
                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Group_free(&odds);
    MPI_Group_free(&evens);
}

int main(int argc, char** argv)
{
    MPI_Session session;
    MPI_Errhandler own;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Comm comm;
    char name[64];
    int count, length = sizeof name, members;

    begin(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_create_errhandler(count_error, &own);
    MPI_Session_set_errhandler(session, own);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(handled == 1);
    MPI_Errhandler_free(&own);
    MPI_Session_get_info(session, &info);
#ifdef HAVE_MPI_Session_set_info
    MPI_Session_set_info(session, info);
#endif
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
    meet(group);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return finish();
}
