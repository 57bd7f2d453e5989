/* turns WAY: a scheduler of the program's suspends what is inside an MPI call, and lets something else go on
 * or takes it to another thread of the system, as libraries for user-level threads do. */
#include "prelude.h"

#include <pthread.h>
#include <semaphore.h>
#include <ucontext.h>

enum { rounds = 3, stack_size = 256 * 1024 };

static void (*suspend)(void) = NULL; /* in callbacks of MPI_Comm_dup and MPI_Waitall */

static int on_copy(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* is_copied)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *is_copied = 0;
    if (suspend != NULL)
        suspend();
    return MPI_SUCCESS;
}

static int on_query(void* extra, MPI_Status* status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    suspend();
    return MPI_SUCCESS;
}

static int on_free(void* extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int on_cancel(void* extra, int is_complete)
{
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

static void duplicate(void)
{
    MPI_Comm copy;
    int in = 1, out = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &out, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    CHECK(out == 1);
}

/* Its handles have to be there until it ends, the thread's data or not. */
static void wait_for_many(void)
{
    enum { count = 100 };
    MPI_Request requests[count];
    for (int i = 0; i < count - 1; ++i)
        MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &requests[count - 1]);
    MPI_Grequest_complete(requests[count - 1]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

/* ---- two on one thread ---- */
static ucontext_t scheduler, contexts[2];
static int running;
static int has_finished[2];

static void let_the_other_go_on(void)
{
    const int own = running;
    if (has_finished[1 - own])
        return;
    running = 1 - own;
    swapcontext(&contexts[own], &contexts[running]);
}

static void take_turns(void)
{
    for (int i = 0; i < rounds; ++i)
        duplicate();
    has_finished[running] = 1;
    if (has_finished[1 - running])
        setcontext(&scheduler);
    let_the_other_go_on();
}

static void make_context(ucontext_t* context, void (*run)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = malloc(stack_size);
    context->uc_stack.ss_size = stack_size;
    makecontext(context, run, 0);
}

static void overlap(void)
{
    make_context(&contexts[0], take_turns);
    make_context(&contexts[1], take_turns);
    suspend = let_the_other_go_on;
    swapcontext(&scheduler, &contexts[0]);
}

/* ---- one on several threads ---- */
static ucontext_t job, callers[2];
static int caller;
static int is_done;
static void (*work)(void);

static void return_to_caller(void)
{
    swapcontext(&job, &callers[caller]);
}

static void run_job(void)
{
    for (int i = 0; i < rounds; ++i)
        work();
    is_done = 1;
    setcontext(&callers[caller]);
}

static void prepare_job(void (*rounds_of_it)(void))
{
    work = rounds_of_it;
    make_context(&job, run_job);
    suspend = return_to_caller;
}

static void* go_on_and_end(void* data)
{
    swapcontext(&callers[0], &job);
    return data;
}

static void move_on(void (*rounds_of_it)(void))
{
    prepare_job(rounds_of_it);
    while (!is_done) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, go_on_and_end, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static void move_on_from_ended_threads(void)
{
    move_on(duplicate);
}

static void wait_in_ended_threads(void)
{
    move_on(wait_for_many);
}

static sem_t turns[2];

static void* go_on_in_turn(void* data)
{
    const int own = data != NULL;
    while (!is_done) {
        sem_wait(&turns[own]);
        caller = own;
        if (!is_done)
            swapcontext(&callers[own], &job);
        sem_post(&turns[1 - own]);
    }
    make_calls(2);
    return NULL;
}

static void move_between_threads(void)
{
    pthread_t threads[2];
    prepare_job(duplicate);
    for (int i = 0; i < 2; ++i)
        CHECK(sem_init(&turns[i], 0, i == 0) == 0);
    for (int i = 0; i < 2; ++i)
        CHECK(pthread_create(&threads[i], NULL, go_on_in_turn, i == 0 ? NULL : &turns) == 0);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
}

static const struct way ways[] = {
    {"overlap", overlap},
    {"ended_threads", move_on_from_ended_threads},
    {"waits", wait_in_ended_threads},
    {"two_threads", move_between_threads},
};

int main(int argc, char** argv)
{
    int key;
    begin_calls(&argc, &argv);
    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    GO(ways, argv[1]);
    make_calls(2);
    MPI_Finalize();
    puts("finished");
    return 0;
}
