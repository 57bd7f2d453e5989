/* Regions, marks and counters of a program's own, among and inside MPI calls, in two threads, and while
 * recording is paused. */
#include "../check.h"

#include <hdRegion.h>
#include <pthread.h>

static hdRegion step = HD_REGION("step");
static hdRegion smooth = HD_REGION_IN("solver", "smooth <&>");
static hdRegion first = HD_REGION("first"), second = HD_REGION("second");
static hdRegion in_operator = HD_REGION("in operator");
static hdRegion converged = HD_REGION("converged");
static hdCounter residual =
    HD_COUNTER_IN("solver", "residual", HD_FLOAT, "1", -0.5, 1e30, HD_OF_THREAD + HD_SAMPLE + HD_RATE);
static hdCounter cells = HD_COUNTER("cells", HD_INTEGER);

static void add(void* in, void* inout, int* length, MPI_Datatype* type)
{
    (void)type;
    CHECK(hdR_begin(&in_operator) == 0);
    for (int i = 0; i < *length; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
    CHECK(hdR_end(&in_operator) == 0);
    CHECK(hdR_markNamed("in operator") == 0);
}

static void* work(void* nothing)
{
    (void)nothing;
    CHECK(hdR_beginNamed("work") == 0);
    CHECK(hdR_thread() == (hdR_state() == HD_UNTRACED ? -1 : 1));
    CHECK(hdR_endNamed("work") == 0);
    return NULL;
}

static void iterate(MPI_Op op)
{
    int value = 1, sum;
    CHECK(hdR_begin(&step) == 0);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(hdR_begin(&smooth) == 0);
    CHECK(hdR_begin(&smooth) == 0);
    CHECK(hdR_countFloat(&residual, 0.1) == 0);
    CHECK(hdR_countInteger(&cells, INT64_MIN) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(hdR_end(&smooth) == 0);
    CHECK(hdR_end(&smooth) == 0);
    CHECK(hdR_mark(&converged, "after 'one'\nstep") == 0);
    CHECK(hdR_end(NULL) == 0);
}

/* An end stands in the trace if its beginning does. */
static void pause_and_resume(void)
{
    const int recording = hdR_state();
    CHECK(hdR_begin(&first) == 0);
    CHECK(hdR_pause() == 0);
    CHECK(hdR_state() == (recording == HD_UNTRACED ? HD_UNTRACED : HD_PAUSED));
    CHECK(hdR_end(&first) == 0);
    CHECK(hdR_begin(&second) == 0);
    CHECK(hdR_markNamed("nobody sees this") == 0);
    CHECK(hdR_countInteger(&cells, 4711) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(hdR_resume() == 0);
    CHECK(hdR_end(&second) == 0);
    CHECK(hdR_state() == recording);
}

int main(int argc, char** argv)
{
    MPI_Op op;
    pthread_t thread;

    begin(&argc, &argv);
    CHECK(hdR_rank() == (hdR_state() == HD_UNTRACED ? -1 : rank));
    MPI_Op_create(add, 1, &op);
    iterate(op);
    /* Regions need not be nested. */
    CHECK(hdR_begin(&first) == 0 && hdR_begin(&second) == 0 && hdR_end(&first) == 0 && hdR_end(&second) == 0);
    pause_and_resume();
    CHECK(hdR_atPlace("model.f", "advance", 12) == 0);
    CHECK(hdR_markNamed("elsewhere") == 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    CHECK(hdR_flush() == 0);
    MPI_Op_free(&op);
    return finish();
}
