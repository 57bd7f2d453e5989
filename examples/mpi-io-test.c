/* Measures how fast all processes write one file and read it again.
 *
 *     mpi-io-test [-c] [-b BYTES] [-i ITERATIONS] [-f FILE]
 *
 *  -c  collective calls (default: independent ones)
 *  -b  bytes that each process accesses at once (default: 16 MiB)
 *  -i  how many such blocks each process writes and reads (default: 1)
 *  -f  the file (default: mpi-io-test.out)
 *
 * The blocks of all processes alternate in the file. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int collective;
    int block;
    int iterations;
    const char* file;
} Options;

typedef struct {
    double min, max, mean, variance;
} Times;

typedef int Access(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);

static int write_at(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                    MPI_Status* status)
{
    return MPI_File_write_at(file, offset, buffer, count, type, status);
}

static int write_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type,
                        MPI_Status* status)
{
    return MPI_File_write_at_all(file, offset, buffer, count, type, status);
}

static void fail(const char* what, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "mpi-io-test: cannot %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static int positive_number(const char* text)
{
    char* end;
    const long number = strtol(text, &end, 10);
    return *end == '\0' && number > 0 && number <= 1 << 30 ? (int)number : 0;
}

/* Returns 0 if the command line is wrong. */
static int parse(int argc, char** argv, Options* options)
{
    *options = (Options){.block = 16 << 20, .iterations = 1, .file = "mpi-io-test.out"};
    for (int letter; (letter = getopt(argc, argv, "cb:i:f:")) != -1;) {
        switch (letter) {
        case 'c':
            options->collective = 1;
            break;
        case 'b':
            options->block = positive_number(optarg);
            break;
        case 'i':
            options->iterations = positive_number(optarg);
            break;
        case 'f':
            options->file = optarg;
            break;
        default:
            return 0;
        }
    }
    return options->block > 0 && options->iterations > 0 && optind == argc;
}

/* Accesses all blocks of this process; returns the seconds that it took. */
static double run(const Options* options, const char* what, int mode, Access* access, char* buffer, int rank,
                  int size)
{
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, options->file, mode, MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) {
        fail("open the file", code);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < options->iterations; ++i) {
        const MPI_Offset offset = ((MPI_Offset)i * size + rank) * options->block;
        code = access(file, offset, buffer, options->block, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            fail(what, code);
        }
    }
    MPI_File_close(&file);
    return MPI_Wtime() - start;
}

/* Brings the times of all processes together; valid in process 0. */
static Times collect(double seconds, int size)
{
    Times times = {0};
    double sum = 0, squares, all_seconds;
    MPI_Reduce(&seconds, &times.min, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &times.max, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&seconds, &all_seconds, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    times.mean = all_seconds / size;
    squares = (seconds - times.mean) * (seconds - times.mean);
    MPI_Reduce(&squares, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    times.variance = size > 1 ? sum / (size - 1) : 0;
    return times;
}

static void print_times(const char* what, Times times)
{
    printf("# %s: min_t = %f, max_t = %f, mean_t = %f, var_t = %f\n", what, times.min, times.max, times.mean,
           times.variance);
}

int main(int argc, char** argv)
{
    Options options;
    int rank, size, is_right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    opterr = rank == 0;
    if (!parse(argc, argv, &options)) {
        if (rank == 0) {
            fprintf(stderr, "Usage: mpi-io-test [-c] [-b BYTES] [-i ITERATIONS] [-f FILE]\n");
        }
        MPI_Finalize();
        return 2;
    }

    char* buffer = malloc((size_t)options.block);
    if (!buffer) {
        fprintf(stderr, "mpi-io-test: not enough memory for a block\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    memset(buffer, 'a' + rank % 26, (size_t)options.block);
    Access* const write = options.collective ? write_at_all : write_at;
    Access* const read = options.collective ? MPI_File_read_at_all : MPI_File_read_at;
    const Times writing =
        collect(run(&options, "write", MPI_MODE_CREATE | MPI_MODE_WRONLY, write, buffer, rank, size), size);
    memset(buffer, 0, (size_t)options.block);
    const Times reading = collect(run(&options, "read", MPI_MODE_RDONLY, read, buffer, rank, size), size);
    is_right = buffer[0] == 'a' + rank % 26 && buffer[options.block - 1] == 'a' + rank % 26;
    free(buffer);

    if (rank == 0) {
        const long long total = (long long)options.block * options.iterations * size;
        printf("# Using mpi-io calls.\n");
        printf("nr_procs = %d, nr_iter = %d, blk_sz = %d, coll = %d\n", size, options.iterations,
               options.block, options.collective);
        printf("# total_size = %lld\n", total);
        print_times("Write", writing);
        print_times("Read", reading);
        printf("Write bandwidth = %f Mbytes/sec\n", (double)total / writing.max / 1e6);
        printf("Read bandwidth = %f Mbytes/sec\n", (double)total / reading.max / 1e6);
    }
    if (!is_right) {
        fprintf(stderr, "mpi-io-test: process %d did not read what it had written\n", rank);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
