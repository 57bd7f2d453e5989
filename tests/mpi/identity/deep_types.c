/* A datatype made of a datatype made of ..., which nobody has seen being made, used on a small stack. */
#include "../programs/check.h"

#include <pthread.h>

enum { DEPTH = 2000 };

static MPI_Datatype type = MPI_INT;

static void* use(void* nothing)
{
    int sent = 3, received = 0;
    MPI_Sendrecv(&sent, 1, type, 0, 0, &received, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(received == 3);
    return nothing;
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    find_place();
    MPI_Pcontrol(0);
    for (int i = 0; i < DEPTH; ++i) {
        MPI_Datatype outer;
        if (i % 2 == 0)
            MPI_Type_contiguous(1, type, &outer);
        else
            MPI_Type_vector(1, 1, 1, type, &outer);
        if (type != MPI_INT)
            MPI_Type_free(&type);
        type = outer;
    }
    MPI_Type_commit(&type);
    MPI_Pcontrol(1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, use, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    MPI_Type_free(&type);
    return finish();
}
