#include "hdtrace/writer/own_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hdtrace/writer/undisturbed.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HDTRACE_MEMORY_IS_WATCHED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HDTRACE_MEMORY_IS_WATCHED
#endif

namespace hdtrace {

namespace {

#ifdef HDTRACE_MEMORY_IS_WATCHED
constexpr bool is_watched = true; // by a sanitizer, which sees errors in what malloc() gives out
#else
constexpr bool is_watched = false;
#endif

/// Stands before each piece of memory.
struct alignas(16) Block {
    size_t size; ///< with this
    Block* next; ///< of the same size that is free, too
};

// Sizes of blocks: multiples of 16 up to 128, then four between each two powers of two. Larger ones are
// mapped one by one.
constexpr size_t step = 16, largest_of_small = 128, largest = 32 * 1024, chunk_size = 256 * 1024;
constexpr unsigned small_count = largest_of_small / step, size_count = small_count + 4 * 8;

struct SizeClass {
    unsigned number;
    size_t size;
};

SizeClass class_of(size_t size)
{
    if (size <= largest_of_small) {
        const size_t steps = (size + step - 1) / step;
        return {static_cast<unsigned>(steps) - 1, steps * step};
    }
    const unsigned power = 63 - static_cast<unsigned>(__builtin_clzl(size - 1)); // 2^power < size
    const size_t below = size_t(1) << power, quarter = below / 4;
    const size_t quarters = (size - 1 - below) / quarter + 1;
    return {small_count + 4 * (power - 7) + static_cast<unsigned>(quarters) - 1, below + quarters * quarter};
}

constexpr pthread_mutex_t free_mutex = HDTRACE_MUTEX_INITIALIZER;
pthread_mutex_t mutex = free_mutex;
Block* free_blocks[size_count];
char* chunk = nullptr;
size_t left_of_chunk = 0;
pthread_once_t is_ready = PTHREAD_ONCE_INIT;
size_t in_use = 0;
int forks_of_owner = 0; ///< that are running, in handlers of signals that have interrupted the owner

// False in a handler of a signal that has interrupted the owner: the program calls MPI there.
bool lock()
{
    return pthread_mutex_lock(&mutex) == 0;
}

void unlock()
{
    pthread_mutex_unlock(&mutex);
}

Block* map(size_t size)
{
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Block*>(memory);
}

size_t whole_pages(size_t size)
{
    constexpr size_t page = 4096; // a multiple of it is a whole number of pages for mmap() as well
    return (size + page - 1) / page * page;
}

// While the mutex is held.
Block* cut_off(size_t size)
{
    if (left_of_chunk < size) {
        char* const fresh = reinterpret_cast<char*>(map(chunk_size));
        if (fresh == nullptr)
            return nullptr;
        chunk = fresh;
        left_of_chunk = chunk_size;
    }
    Block* const block = reinterpret_cast<Block*>(chunk);
    chunk += size;
    left_of_chunk -= size;
    return block;
}

void lock_for_fork()
{
    if (!lock())
        ++forks_of_owner;
}

void unlock_behind_fork()
{
    if (forks_of_owner > 0)
        --forks_of_owner;
    else
        unlock();
}

void free_mutex_in_child()
{
    forks_of_owner = 0;
    mutex = free_mutex;
}

// A child of fork() must find everything complete, and the mutex free: its only thread has another number
// than the one that holds it.
void get_ready_for_fork()
{
    pthread_atfork(lock_for_fork, unlock_behind_fork, free_mutex_in_child);
}

// While the mutex is held.
Block* take_small(const SizeClass& wanted)
{
    Block*& first = free_blocks[wanted.number];
    Block* const block = first != nullptr ? first : cut_off(wanted.size);
    if (block != nullptr && block == first)
        first = block->next;
    if (block != nullptr)
        block->size = wanted.size;
    return block;
}

Block* take_large(size_t size)
{
    Block* const block = map(size);
    if (block != nullptr)
        block->size = size;
    return block;
}

bool is_refused(size_t size)
{
    if (size <= SIZE_MAX / 2 && (hdtrace_refuses_memory == nullptr || !hdtrace_refuses_memory(size)))
        return false;
    errno = ENOMEM;
    return true;
}

void* take(size_t size)
{
    const size_t whole = size + sizeof(Block);
    pthread_once(&is_ready, get_ready_for_fork);
    if (!lock()) {
        errno = ENOMEM;
        return nullptr;
    }
    Block* const block = whole <= largest ? take_small(class_of(whole)) : take_large(whole_pages(whole));
    if (block != nullptr)
        in_use += block->size;
    unlock();
    return block != nullptr ? block + 1 : nullptr;
}

void give_back(Block* block)
{
    const bool is_small = block->size <= largest;
    if (!lock())
        return;
    in_use -= block->size;
    if (is_small) {
        Block*& first = free_blocks[class_of(block->size).number];
        block->next = first;
        first = block;
    }
    unlock();
    if (!is_small)
        munmap(block, block->size);
}

Block* block_of(void* memory)
{
    return static_cast<Block*>(memory) - 1;
}

} // namespace

void* own_malloc(size_t size)
{
    if (is_refused(size))
        return nullptr;
    return is_watched ? malloc(size) : take(size);
}

void* own_calloc(size_t count, size_t size)
{
    size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole))
        whole = SIZE_MAX;
    void* const memory = own_malloc(whole);
    return memory != nullptr ? memset(memory, 0, whole) : nullptr;
}

void* own_realloc(void* memory, size_t size)
{
    if (is_refused(size))
        return nullptr;
    if (is_watched)
        return realloc(memory, size);
    if (memory == nullptr)
        return take(size);
    const size_t room = block_of(memory)->size - sizeof(Block);
    if (size <= room)
        return memory;
    void* const more = take(size);
    if (more == nullptr)
        return nullptr;
    memcpy(more, memory, room);
    give_back(block_of(memory));
    return more;
}

void own_free(void* memory)
{
    if (is_watched)
        free(memory);
    else if (memory != nullptr)
        give_back(block_of(memory));
}

char* own_strdup(const char* text)
{
    const size_t size = strlen(text) + 1;
    char* const copy = static_cast<char*>(own_malloc(size));
    return copy != nullptr ? static_cast<char*>(memcpy(copy, text, size)) : nullptr;
}

size_t own_memory_in_use()
{
    const bool is_held = lock();
    const size_t bytes = in_use;
    if (is_held)
        unlock();
    return bytes;
}

} // namespace hdtrace
