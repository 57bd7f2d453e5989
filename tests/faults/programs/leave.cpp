// leave WAY: callbacks leave MPI calls without returning from them. C++, because its exceptions are one way
// to do so.
#include "prelude.h"

#include <csetjmp>
#include <csignal>
#include <pthread.h>
#include <ucontext.h>

static jmp_buf way_out;
static bool throws = false;

static void leave(MPI_Comm*, int*, ...)
{
    if (throws)
        throw 1;
    longjmp(way_out, 1);
}

// A call that is left.
static void fail()
{
    int value = 0;
    if (throws) {
        try {
            MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
        } catch (int) {
            return;
        }
    } else if (setjmp(way_out) == 0) {
        MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
    } else {
        return;
    }
    CHECK(!"the call came back");
}

// Where the next calls are on the stack may look as if they were inside, until all there is written over.
static void make_calls_deeper(int depth)
{
    volatile char room[100]; // else a compiler sees that nobody needs it
    for (volatile char& byte : room)
        byte = static_cast<char>(depth);
    if (depth == 0)
        make_calls(2);
    else
        make_calls_deeper(depth - 1);
    CHECK(room[depth] == depth);
}

static void fail_and_go_on()
{
    for (int i = 0; i < 100; ++i)
        fail();
    make_calls_deeper(20);
}

static void* fail_in_thread(void*)
{
    fail_and_go_on();
    return nullptr;
}

static void leave_in_thread()
{
    pthread_t thread;
    CHECK(pthread_create(&thread, nullptr, fail_in_thread, nullptr) == 0);
    pthread_join(thread, nullptr);
}

static void fail_inside(void*, void*, int*, MPI_Datatype*)
{
    fail();
}
static void leave_inside()
{
    be_in_a_call(fail_inside);
}

static void fail_inside_and_go_on(void*, void*, int*, MPI_Datatype*)
{
    fail_and_go_on();
}
static void leave_inside_and_go_on()
{
    be_in_a_call(fail_inside_and_go_on);
}

static void jump(void*, void*, int*, MPI_Datatype*)
{
    make_calls(1);
    longjmp(way_out, 1);
}
// Two calls are left at once.
static void leave_two()
{
    if (setjmp(way_out) == 0)
        be_in_a_call([](void*, void*, int*, MPI_Datatype*) { be_in_a_call(jump); });
    make_calls_deeper(20);
}

// A thread's stack between two others.
alignas(4096) static char stacks[3][256 * 1024];
static ucontext_t here, elsewhere;

static void call_on(char* stack)
{
    getcontext(&elsewhere);
    elsewhere.uc_stack.ss_sp = stack;
    elsewhere.uc_stack.ss_size = sizeof stacks[0];
    elsewhere.uc_link = &here;
    makecontext(
        &elsewhere, [] { make_calls(1); }, 0);
    swapcontext(&here, &elsewhere);
}

static void call_on_other_stacks(void*, void*, int*, MPI_Datatype*)
{
    call_on(stacks[0]);
    call_on(stacks[2]);
}

static void* change_stacks(void*)
{
    be_in_a_call(call_on_other_stacks);
    return nullptr;
}
// No call is left, but where the inner ones are on the stack tells nothing.
static void change_stacks_in_thread()
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, stacks[1], sizeof stacks[1]) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, change_stacks, nullptr) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

// A coroutine's stack, or that of a signal handler, which is a variable of a function that is on the
// thread's.
static char* inner_stack;

static void call_on_inner_stack(void*, void*, int*, MPI_Datatype*)
{
    call_on(inner_stack);
}

static void change_to_inner_stack()
{
    char variable[sizeof stacks[0]];
    inner_stack = variable;
    be_in_a_call(call_on_inner_stack);
}

static void call_in_handler(void*, void*, int*, MPI_Datatype*)
{
    raise(SIGUSR1);
}

static void handle_signal_on_inner_stack()
{
    char variable[sizeof stacks[0]];
    const stack_t stack = {variable, 0, sizeof variable};
    CHECK(sigaltstack(&stack, nullptr) == 0);
    struct sigaction action = {};
    action.sa_handler = [](int) { make_calls(1); };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    be_in_a_call(call_in_handler);
    const stack_t none = {nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
}

static const struct way ways[] = {
    {"jump", fail_and_go_on},
    {"throw", fail_and_go_on},
    {"thread", leave_in_thread},
    {"inside", leave_inside},
    {"inside_and_on", leave_inside_and_go_on},
    {"two", leave_two},
    {"thread_stacks", change_stacks_in_thread},
    {"inner_stack", change_to_inner_stack},
    {"signal_stack", handle_signal_on_inner_stack},
};

int main(int argc, char** argv)
{
    throws = strcmp(argv[1], "throw") == 0;
    const bool has_threads = strncmp(argv[1], "thread", 6) == 0;
    begin_calls_with(has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    GO(ways, argv[1]);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    puts("finished");
}
