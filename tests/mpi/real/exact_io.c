/* Nested views and every way to write and read under them. Each write of each process has a byte of its own,
   and no byte of the file is written twice: the file tells which call wrote what. */
#include "../programs/check.h"

enum { VALUES_PER_RANK = 60, MOST_ETYPES = 8, REGION = 20000, EXPLICIT = 24 };

/* What a process sees of the file; `per_etype` elements of `memory` make one etype. */
struct view {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype, memory;
    int per_etype;
};

struct access {
    MPI_Offset position; /* in etypes */
    int etypes;
    unsigned char value;
};

static MPI_File file;
static int writes;
static unsigned char buffer[4096];
static struct access done[32];
static int done_count;

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint extent)
{
    MPI_Datatype result;
    MPI_Type_create_resized(type, 0, extent, &result);
    MPI_Type_free(&type);
    return result;
}

/* Blocks of two ints, one for each process in turn. The type starts at 0: MPICH confuses the processes
   where it starts with its data. */
static struct view interleaved(void)
{
    const MPI_Aint place = rank * 8;
    MPI_Datatype block;
    MPI_Type_create_hindexed_block(1, 2, &place, MPI_INT, &block);
    return (struct view){100, MPI_INT, committed(resized(block, size * 8)), MPI_INT, 1};
}

/* Three chars, an int and a double, with holes between and behind. */
static MPI_Datatype particle(void)
{
    const int lengths[] = {3, 1, 1};
    const MPI_Aint places[] = {0, 4, 8};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(3, lengths, places, types, &type);
    return committed(resized(type, 24));
}

/* A vector of subarrays of structs. */
static struct view vector_of_subarrays_of_structs(void)
{
    const int sizes[] = {4, 2 * size}, subsizes[] = {2, 2}, starts[] = {1, 2 * rank};
    MPI_Datatype etype = particle(), subarray, vector;
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, etype, &subarray);
    MPI_Type_vector(2, 1, 2, subarray, &vector);
    MPI_Type_free(&subarray);
    return (struct view){REGION + 7, etype, committed(resized(vector, (3 * 8 * size + 4) * 24)), etype, 1};
}

/* Indexed blocks of all kinds in a struct; each process has 64 bytes. */
static struct view struct_of_indexed(void)
{
    const int lengths[] = {1, 3}, places[] = {0, 2}, blocks[] = {1, 5};
    const MPI_Aint far_places[] = {2, 10};
    MPI_Datatype copy, members[4];
    MPI_Type_dup(MPI_SHORT, &copy);
    MPI_Type_indexed(2, lengths, places, copy, &members[0]);                  /* bytes 0-1, 4-9 */
    MPI_Type_create_hindexed(2, lengths, far_places, MPI_SHORT, &members[1]); /* 2-3, 10-15 */
    MPI_Type_create_indexed_block(2, 2, blocks, MPI_SHORT, &members[2]);      /* 2-5, 10-13 */
    MPI_Type_create_hindexed_block(2, 1, far_places, MPI_SHORT, &members[3]); /* 2-3, 10-11 */
    MPI_Datatype filetype;
    const int ones[] = {1, 1, 1, 1};
    const MPI_Aint member_places[] = {64 * rank, 64 * rank + 16, 64 * rank + 32, 64 * rank + 48};
    MPI_Type_create_struct(4, ones, member_places, members, &filetype);
    for (int i = 0; i < 4; ++i) {
        MPI_Type_free(&members[i]);
    }
    MPI_Type_free(&copy);
    return (struct view){2 * REGION, MPI_SHORT, committed(resized(filetype, 64 * size)), MPI_SHORT, 1};
}

/* The rows of a matrix dealt out to the processes in turn. */
static struct view distributed_array(void)
{
    const int sizes[] = {8, 6}, distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {size, 1};
    MPI_Datatype filetype;
    MPI_Type_create_darray(size, rank, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_DOUBLE,
                           &filetype);
    return (struct view){3 * REGION + 3, MPI_DOUBLE, committed(filetype), MPI_DOUBLE, 1};
}

/* Strided columns of pixels of three bytes in Fortran's order, from memory that knows bytes only. */
static struct view strided_pixels(void)
{
    const int sizes[] = {3 * size, 4, 2}, subsizes[] = {2, 2, 2}, starts[] = {3 * rank, 1, 0};
    MPI_Datatype etype, subarray, filetype;
    MPI_Type_contiguous(3, MPI_BYTE, &etype);
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, etype, &subarray);
    MPI_Type_create_hvector(2, 1, 3 * size * 4 * 2 * 3 + 5, subarray, &filetype);
    MPI_Type_free(&subarray);
    return (struct view){4 * REGION + 11, committed(etype), committed(filetype), MPI_BYTE, 3};
}

static void* fill(int etypes, MPI_Offset position)
{
    const unsigned char value = (unsigned char)(1 + rank * VALUES_PER_RANK + writes++);
    CHECK(writes <= VALUES_PER_RANK && etypes <= MOST_ETYPES);
    done[done_count++] = (struct access){position, etypes, value};
    memset(buffer, value, sizeof buffer);
    return buffer;
}

static void wait_for(MPI_Request* request)
{
    CHECK_MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* At the individual pointer, with some etypes left out. */
static void write_on(const struct view* view)
{
    const MPI_Datatype memory = view->memory;
    const int one = view->per_etype;
    MPI_Request request;
    CHECK_MPI(MPI_File_write(file, fill(3, 0), 3 * one, memory, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_all(file, fill(5, 3), 5 * one, memory, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite(file, fill(1, 8), one, memory, &request));
    wait_for(&request);
    CHECK_MPI(MPI_File_seek(file, 2, MPI_SEEK_CUR));
    CHECK_MPI(MPI_File_write_all_begin(file, fill(4, 11), 4 * one, memory));
    CHECK_MPI(MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_seek(file, 16, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_iwrite_all(file, fill(7, 16), 7 * one, memory, &request));
    wait_for(&request);
}

static void write_at(const struct view* view)
{
    const MPI_Datatype memory = view->memory;
    const int one = view->per_etype;
    MPI_Request request;
    CHECK_MPI(MPI_File_write_at(file, EXPLICIT, fill(2, EXPLICIT), 2 * one, memory, MPI_STATUS_IGNORE));
    CHECK_MPI(
        MPI_File_write_at_all(file, EXPLICIT + 3, fill(6, EXPLICIT + 3), 6 * one, memory, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite_at(file, EXPLICIT + 9, fill(1, EXPLICIT + 9), one, memory, &request));
    wait_for(&request);
    CHECK_MPI(MPI_File_iwrite_at_all(file, EXPLICIT + 10, fill(8, EXPLICIT + 10), 8 * one, memory, &request));
    wait_for(&request);
    CHECK_MPI(MPI_File_write_at_all_begin(file, EXPLICIT + 19, fill(3, EXPLICIT + 19), 3 * one, memory));
    CHECK_MPI(MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
}

static void read_in_one_way(int way, const struct access* access, int count, MPI_Datatype memory)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (way >= 5) {
        CHECK_MPI(MPI_File_seek(file, access->position, MPI_SEEK_SET));
    }
    switch (way) {
    case 0:
        CHECK_MPI(MPI_File_read_at(file, access->position, buffer, count, memory, MPI_STATUS_IGNORE));
        break;
    case 1:
        CHECK_MPI(MPI_File_read_at_all(file, access->position, buffer, count, memory, MPI_STATUS_IGNORE));
        break;
    case 2:
        CHECK_MPI(MPI_File_iread_at(file, access->position, buffer, count, memory, &request));
        break;
    case 3:
        CHECK_MPI(MPI_File_iread_at_all(file, access->position, buffer, count, memory, &request));
        break;
    case 4:
        CHECK_MPI(MPI_File_read_at_all_begin(file, access->position, buffer, count, memory));
        CHECK_MPI(MPI_File_read_at_all_end(file, buffer, MPI_STATUS_IGNORE));
        break;
    case 5:
        CHECK_MPI(MPI_File_read(file, buffer, count, memory, MPI_STATUS_IGNORE));
        break;
    case 6:
        CHECK_MPI(MPI_File_read_all(file, buffer, count, memory, MPI_STATUS_IGNORE));
        break;
    case 7:
        CHECK_MPI(MPI_File_iread(file, buffer, count, memory, &request));
        break;
    case 8:
        CHECK_MPI(MPI_File_iread_all(file, buffer, count, memory, &request));
        break;
    default:
        CHECK_MPI(MPI_File_read_all_begin(file, buffer, count, memory));
        CHECK_MPI(MPI_File_read_all_end(file, buffer, MPI_STATUS_IGNORE));
    }
    wait_for(&request);
}

/* Nothing but the data of the memory type counts. */
static void check_received(int count, MPI_Datatype memory, unsigned char value)
{
    unsigned char packed[sizeof buffer];
    int bytes = 0;
    MPI_Pack(buffer, count, memory, packed, sizeof packed, &bytes, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) {
        CHECK(packed[i] == value);
    }
}

static void read_all_back(const struct view* view)
{
    for (int i = 0; i < done_count; ++i) {
        const int count = done[i].etypes * view->per_etype;
        memset(buffer, 0, sizeof buffer);
        read_in_one_way(i, &done[i], count, view->memory);
        check_received(count, view->memory, done[i].value);
    }
}

static void hand_over(void)
{
    CHECK_MPI(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_sync(file));
}

static void free_if_derived(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&type);
    }
}

static void use(struct view view)
{
    done_count = 0;
    CHECK_MPI(MPI_File_set_view(file, view.displacement, view.etype, view.filetype, "native", MPI_INFO_NULL));
    free_if_derived(view.filetype); /* the view outlives the handle */
    write_on(&view);
    write_at(&view);
    hand_over();
    read_all_back(&view);
    free_if_derived(view.etype);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void open_file(const char* name)
{
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

static void write_shared(void)
{
    MPI_Request request;
    CHECK_MPI(MPI_File_write_shared(file, fill(2, 0), 17, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite_shared(file, fill(2, 0), 5, MPI_SHORT, &request));
    wait_for(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_write_ordered(file, fill(2, 0), rank + 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_ordered_begin(file, fill(2, 0), 3, MPI_DOUBLE));
    CHECK_MPI(MPI_File_write_ordered_end(file, buffer, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    open_file("views.data");
    CHECK_MPI(
        MPI_File_set_size(file, 6 * REGION)); /* libraries may write anything into holes behind the end */
    use(interleaved());
    use(vector_of_subarrays_of_structs());
    use(struct_of_indexed());
    use(distributed_array());
    use(strided_pixels());
    CHECK_MPI(MPI_File_close(&file));

    done_count = 0;
    open_file("shared.data");
    write_shared();
    CHECK_MPI(MPI_File_close(&file));
    return finish();
}
