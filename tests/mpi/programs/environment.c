/* Questions about MPI and the machine, before, during and after its life; memory; control of profiling. */
#include "check.h"

int main(int argc, char** argv)
{
    char processor[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
    int initialized, finalized, version, subversion, length, level, is_main;
    void* memory;

    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(!initialized && !finalized);
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3);

    begin(&argc, &argv);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(library, &length);
    CHECK(version >= 3 && length > 0);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(initialized && !finalized);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    CHECK(level >= MPI_THREAD_SINGLE && is_main);
    MPI_Get_processor_name(processor, &length);
    CHECK(length > 0);
    CHECK(MPI_Wtime() >= 0 && MPI_Wtick() > 0);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);
    finish();
    MPI_Finalized(&finalized);
    CHECK(finalized);
    return EXIT_SUCCESS;
}
