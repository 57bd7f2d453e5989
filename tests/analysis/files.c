/* Uses files in the ways that ARGUMENTS name: each makes a file of its own, called as the way. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static int rank, ranks;
static const char* way;
static char* data;

static MPI_File open_file(void)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, way, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    return file;
}

/* 190 small ones of each process, and 10 that are not. */
static void small(void)
{
    MPI_File file = open_file();
    for (int i = 0; i < 200; ++i) {
        MPI_File_write_at(file, rank * MIB + i * 4096, data, i % 20 == 0 ? 4096 : 100, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* 120 times 64 bytes of each process. */
static void small_together(void)
{
    MPI_File file = open_file();
    for (int i = 0; i < 120; ++i) {
        MPI_File_write_at_all(file, (i * ranks + rank) * 64, data, 64, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* Each process sees a column of blocks; 20 accesses of 4 blocks each. */
static void see_column(MPI_File file)
{
    MPI_Datatype block, column;
    MPI_Type_contiguous(4096, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)ranks * 4096, &column);
    MPI_Type_commit(&column);
    MPI_File_set_view(file, rank * 4096, MPI_BYTE, column, "native", MPI_INFO_NULL);
    MPI_Type_free(&column);
    MPI_Type_free(&block);
}

static void strided(void)
{
    MPI_File file = open_file();
    see_column(file);
    for (int i = 0; i < 20; ++i) {
        MPI_File_write(file, data, 4 * 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* The same as it should be. */
static void strided_together(void)
{
    MPI_File file = open_file();
    see_column(file);
    for (int i = 0; i < 20; ++i) {
        MPI_File_write_all(file, data, 4 * 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static void late(void)
{
    MPI_File file = open_file();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        usleep(400000);
    }
    MPI_File_write_at_all(file, rank * MIB, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* Three quarters of what is read was written before. */
static void read_back(void)
{
    MPI_File file = open_file();
    MPI_File_set_size(file, (MPI_Offset)ranks * 4 * MIB);
    MPI_File_write_at(file, rank * 4 * MIB, data, 3 * MIB, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, (rank + 1) % ranks * 4 * MIB, data, 4 * MIB, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* Behind a header of 100 bytes, with requests. */
static void unaligned(void)
{
    MPI_File file = open_file();
    for (int i = 0; i < 16; ++i) {
        MPI_Request request;
        MPI_File_iwrite_at(file, 100 + (i * ranks + rank) * 64 * KIB, data, 64 * KIB, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static void opened_often(void)
{
    for (int i = 0; i < 12; ++i) {
        MPI_File file = open_file();
        MPI_File_close(&file);
    }
}

/* All as it should be: large, aligned, one behind the other. */
static void fine(void)
{
    MPI_File file = open_file();
    for (int i = 0; i < 16; ++i) {
        MPI_File_write_at(file, (rank * 16 + i) * 64 * KIB, data, 64 * KIB, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static const struct {
    const char* name;
    void (*run)(void);
} ways[] = {
    {"small", small},         {"small_together", small_together},
    {"strided", strided},     {"strided_together", strided_together},
    {"late", late},           {"read_back", read_back},
    {"unaligned", unaligned}, {"opened_often", opened_often},
    {"fine", fine},
};

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = calloc(4, MIB);
    for (int argument = 1; argument < argc; ++argument) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
            if (strcmp(argv[argument], ways[i].name) == 0) {
                way = ways[i].name;
                ways[i].run();
            }
        }
    }
    free(data);
    return MPI_Finalize();
}
