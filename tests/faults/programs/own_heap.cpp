// own_heap: a program with a heap of its own, whose functions tell that they are entered. Whoever asks for
// memory inside of them waits for ever.
#include "prelude.h"

#include <csignal>

extern "C" void* __libc_malloc(size_t size);
extern "C" void* __libc_calloc(size_t count, size_t size);

static thread_local bool is_inside = false;
static bool is_interrupted = false;

namespace handlers {

__attribute__((noinline)) void look(int)
{
    is_interrupted = false;
}

} // namespace handlers

extern "C" {

static void __attribute__((noinline)) enter_heap()
{
    if (is_inside)
        abort();
    is_inside = true;
}

static void __attribute__((noinline)) search_heap()
{
    if (is_interrupted)
        raise(SIGUSR1);
}

static void __attribute__((noinline)) leave_heap()
{
    is_inside = false;
}

void* malloc(size_t size)
{
    enter_heap();
    search_heap();
    void* const memory = __libc_malloc(size);
    leave_heap();
    return memory;
}

void* calloc(size_t count, size_t size)
{
    enter_heap();
    search_heap();
    void* const memory = __libc_calloc(count, size);
    leave_heap();
    return memory;
}
}

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    std::signal(SIGUSR1, handlers::look);
    void* volatile memory = malloc(10);
    is_interrupted = true;
    memory = malloc(20);
    CHECK(memory != nullptr && !is_interrupted);
    MPI_Finalize();
    puts("finished");
    return 0;
}
