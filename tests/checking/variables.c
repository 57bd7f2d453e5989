/* Buffers in variables of all kinds. Lines that hdtrace check must name end with the kind of what it finds
 * there; of all others it may say nothing. `unless optimised`: debug information does not tell then where the
 * variable is. Two processes. */
#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

typedef double real;

struct particle {
    int id;
    double place[3];
};

struct message {
    int length;
    char text[];
};

int table[8];
static const int constants[8] = {1, 2, 3};
struct message greeting = {5, "hello"};
static int* array;

static void share(void* values, int count, MPI_Datatype type)
{
    MPI_Bcast(values, count, type, 0, MPI_COMM_WORLD);
}

/* The same memory may be that of either. */
NOINLINE static void blocks(int rank)
{
    {
        float few[4] = {0};
        MPI_Bcast(few, 4, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    {
        double many[64] = {0};
        MPI_Bcast(many, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    (void)rank;
}

INLINE void inlined(double (*rows)[4], int count)
{
    double sum[2] = {1, 2};
    double all[4];
    MPI_Allreduce(sum, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* buffer-overrun */
    MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    rows[0][0] = all[0];
}

NOINLINE static void parameter(int number)
{
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_FLOAT, 0, MPI_COMM_WORLD); /* buffer-type-mismatch unless optimised */
}

NOINLINE static void of_any_length(int length)
{
    int values[length];
    values[0] = 0;
    MPI_Bcast(values, length, MPI_INT, 0, MPI_COMM_WORLD);
    int* const more = __builtin_alloca((size_t)length * sizeof(int));
    MPI_Bcast(more, length, MPI_INT, 0, MPI_COMM_WORLD);
}

/* In the frame of the caller's caller. */
NOINLINE static void far(int* values, int count)
{
    int own[4] = {0};
    MPI_Bcast(own, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(values, own, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

NOINLINE static void between(int* values)
{
    double other[4] = {0};
    MPI_Bcast(other, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    far(values, 4);
}

static void statics(void)
{
    static int counter;
    MPI_Bcast(&counter, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(table, 8, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(table + 4, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&greeting, sizeof greeting + 6, MPI_BYTE, 0, MPI_COMM_WORLD);
    int all[16];
    MPI_Allreduce(constants, all, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(constants + 4, all, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* buffer-overrun */
    MPI_Bcast(&array, 2, MPI_INT, 0, MPI_COMM_WORLD);
}

static void types(void)
{
    double complex number = 0;
    real reals[2][2] = {{0}};
    struct particle particles[2] = {{0}};
    union {
        int number;
        float real;
    } either = {0};
    unsigned char raw[16] = {0};
    int64_t wide = 0;
    MPI_Bcast(&number, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&number, 1, MPI_C_DOUBLE_COMPLEX, 0, MPI_COMM_WORLD);
    MPI_Bcast(reals, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&reals[1], 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(reals, 4, MPI_INT64_T, 0, MPI_COMM_WORLD); /* buffer-type-mismatch */
    MPI_Bcast(particles, sizeof particles, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(particles[1].place, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&either, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(raw, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&wide, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(&wide, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
}

/* Numbers of two types, each in memory of its own. */
static void two_types(int* whole, double* broken)
{
    MPI_Aint places[2];
    MPI_Get_address(whole, &places[0]);
    MPI_Get_address(broken, &places[1]);
    const int lengths[2] = {4, 1};
    const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, places, kinds, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

/* A datatype may join what lies anywhere. */
static void scattered(void)
{
    int first[2] = {0}, second[2] = {0};
    MPI_Aint places[2];
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    const int lengths[2] = {2, 2};
    const MPI_Datatype kinds[2] = {MPI_INT, MPI_INT};
    MPI_Datatype absolute, relative;
    MPI_Type_create_struct(2, lengths, places, kinds, &absolute);
    places[1] = MPI_Aint_diff(places[1], places[0]);
    places[0] = 0;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &relative);
    MPI_Type_commit(&absolute);
    MPI_Type_commit(&relative);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD);
    MPI_Bcast(first, 1, relative, 0, MPI_COMM_WORLD);
    MPI_Type_free(&absolute);
    MPI_Type_free(&relative);
    int whole[4] = {0}, *const some = calloc(4, sizeof(int));
    double broken = 0, *const another = calloc(1, sizeof(double));
    two_types(whole, &broken);
    two_types(some, another);
    free(some);
    free(another);
}

static void structures(void)
{
    struct particle particles[2] = {{0}};
    const int lengths[2] = {1, 3};
    const MPI_Aint places[2] = {offsetof(struct particle, id), offsetof(struct particle, place)};
    const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(2, lengths, places, kinds, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(particles, 2, type, 0, MPI_COMM_WORLD);
    MPI_Bcast(&particles[1], 1, type, 0, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct particle all[3];
    if (rank == 0)
        MPI_Send(particles, 3, type, 1, 0, MPI_COMM_WORLD); /* buffer-overrun */
    else
        MPI_Recv(all, 3, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

/* Numbers of a structure at other places than they are, and of other types. */
static void members(void)
{
    struct {
        int id;
        char mark;
        double place;
    } one = {0}, many[2] = {{0}};
    const int lengths[3] = {1, 1, 1};
    const MPI_Aint right[3] = {0, 4, 8}, packed[3] = {0, 4, 5};
    const MPI_Datatype kinds[3] = {MPI_INT, MPI_CHAR, MPI_DOUBLE},
                       others[3] = {MPI_FLOAT, MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype types[3];
    MPI_Type_create_struct(3, lengths, right, kinds, &types[0]);
    MPI_Type_create_struct(3, lengths, packed, kinds, &types[1]);
    MPI_Type_create_struct(3, lengths, right, others, &types[2]);
    for (int i = 0; i < 3; ++i)
        MPI_Type_commit(&types[i]);
    MPI_Bcast(&one, 1, types[0], 0, MPI_COMM_WORLD);
    MPI_Bcast(many, 2, types[0], 0, MPI_COMM_WORLD);
    MPI_Bcast(&one, 1, types[1], 0, MPI_COMM_WORLD); /* buffer-type-mismatch */
    MPI_Bcast(many, 2, types[2], 0, MPI_COMM_WORLD); /* buffer-type-mismatch */
    MPI_Bcast(&one.place, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&one.place, 1, MPI_LONG, 0, MPI_COMM_WORLD); /* buffer-type-mismatch */
    for (int i = 0; i < 3; ++i)
        MPI_Type_free(&types[i]);
}

/* Allocated memory is what the variables are declared to point to. */
static void pointers(int count)
{
    double* const numbers = calloc((size_t)count, sizeof(double));
    struct particle* const particles = calloc((size_t)count, sizeof(struct particle));
    char* const memory = malloc(64);
    void* const anything = malloc(64);
    MPI_Bcast(numbers, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(numbers, count, MPI_FLOAT, 0, MPI_COMM_WORLD); /* buffer-type-mismatch unless optimised */
    MPI_Bcast(numbers + 1, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(particles, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(particles, 4, MPI_INT, 0, MPI_COMM_WORLD); /* buffer-type-mismatch unless optimised */
    MPI_Aint address = 0;
    MPI_Get_address(particles, &address);
    MPI_Bcast(particles, 2, MPI_LONG, 0, MPI_COMM_WORLD); /* buffer-type-mismatch unless optimised */
    void* const same = numbers;
    MPI_Bcast(numbers, count, MPI_INT, 0, MPI_COMM_WORLD);
    (void)same;
    MPI_Bcast(memory, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(anything, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(numbers);
    free(particles);
    free(memory);
    free(anything);
}

static void messages(int rank)
{
    int got[4] = {0};
    if (rank == 0) {
        MPI_Send(table, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(table, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(got, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* buffer-overrun */
        MPI_Recv(got, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int in[2] = {0}, compared[2] = {0}, out[2];
    MPI_Win window;
    MPI_Win_create(in, sizeof in, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Compare_and_swap(&out[0], &compared[1], &out[1], MPI_INT, rank, 0, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
    int rank, own[4] = {0};
    double rows[2][4] = {{0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    blocks(rank);
    inlined(rows, 3);
    parameter(rank);
    of_any_length(argc + 16);
    between(own);
    share(own, 4, MPI_INT);
    share(table, 8, MPI_INT);
    statics();
    types();
    scattered();
    structures();
    members();
    pointers(argc + 7);
    messages(rank);
    int* const allocated = calloc(8, sizeof(int));
    MPI_Bcast(allocated, 8, MPI_INT, 0, MPI_COMM_WORLD);
    free(allocated);
    MPI_Finalize();
    return 0;
}
