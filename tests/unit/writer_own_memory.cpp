// Memory of our own: what malloc() promises, and a fork() at any moment.
#include "hdtrace/writer/own_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace hdtrace {
namespace {

struct Piece {
    char* memory;
    size_t size;
    char content;

    bool is_whole() const { return std::string(memory, size) == std::string(size, content); }
};

Piece filled(void* memory, size_t size, char content)
{
    return {static_cast<char*>(std::memset(memory, content, size)), size, content};
}

TEST(OwnMemory, PiecesAreApartFromEachOther)
{
    const size_t before = own_memory_in_use();
    std::mt19937 random(1);
    std::vector<Piece> pieces;
    for (int i = 0; i < 20'000; ++i) {
        const size_t size = random() % (size_t(1) << (random() % 18));
        const char content = static_cast<char>('a' + i % 26);
        if (pieces.size() > 300) {
            Piece& old = pieces[random() % pieces.size()];
            ASSERT_TRUE(old.is_whole());
            if (random() % 2 == 0) {
                own_free(old.memory);
                old = filled(own_malloc(size), size, content);
            } else {
                char* const moved = static_cast<char*>(own_realloc(old.memory, size));
                const size_t kept = std::min(old.size, size);
                ASSERT_EQ(std::string(moved, kept), std::string(kept, old.content));
                old = filled(moved, size, content);
            }
        } else {
            pieces.push_back(filled(own_malloc(size), size, content));
        }
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back().memory) % 16, 0u);
    }
    for (const Piece& piece : pieces)
        own_free(piece.memory);
    EXPECT_EQ(own_memory_in_use(), before);
}

TEST(OwnMemory, IsZeroWhereThatIsAskedFor)
{
    own_free(filled(own_malloc(200), 200, 'x').memory);
    char* const zeroed = static_cast<char*>(own_calloc(50, 4));
    EXPECT_EQ(std::string(zeroed, 200), std::string(200, '\0'));
    own_free(zeroed);
    own_free(nullptr);
    char* const copy = own_strdup("text");
    EXPECT_STREQ(copy, "text");
    own_free(copy);
    void* const begun = own_realloc(nullptr, 10);
    EXPECT_NE(begun, nullptr);
    own_free(begun);
}

TEST(OwnMemory, ThereIsNotMoreThanThereIs)
{
    EXPECT_EQ(own_calloc(SIZE_MAX / 2, 4), nullptr);
    EXPECT_EQ(own_malloc(SIZE_MAX - 8), nullptr);
}

TEST(OwnMemory, IsThereInAChild)
{
    std::atomic<bool> is_over = false;
    std::thread busy([&] {
        while (!is_over)
            own_free(own_malloc(100));
    });
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            void* const memory = own_malloc(100);
            own_free(memory);
            _exit(memory != nullptr ? 0 : 1);
        }
        int status = 1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    is_over = true;
    busy.join();
}

char* page_of(void* memory)
{
    constexpr std::uintptr_t size = 4096;
    return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(memory) / size * size);
}

std::atomic<char*> protected_page = nullptr;
std::atomic<bool> has_forked = false;

// It interrupts whoever takes the memory: so long nobody else may take any.
void fork_and_wait(int)
{
    mprotect(protected_page, 4096, PROT_READ | PROT_WRITE);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    has_forked = true;
    const timespec moment = {0, 100'000'000};
    nanosleep(&moment, nullptr);
    has_forked = false;
}

TEST(OwnMemory, StaysLockedForItsOwnerThatForks)
{
    constexpr size_t size = 30'000;
    const size_t before = own_memory_in_use();
    char* const memory = static_cast<char*>(own_malloc(size));
    if (own_memory_in_use() == before)
        GTEST_SKIP() << "a sanitizer's malloc() is used in place of it";
    std::atomic<bool> was_taken_meanwhile = false;
    std::thread other([&] {
        while (!has_forked)
            std::this_thread::yield();
        own_free(own_malloc(100));
        was_taken_meanwhile = has_forked.load();
    });
    own_free(memory);
    protected_page = page_of(memory - 16); // what stands before it says which is free next
    const auto previous = std::signal(SIGSEGV, fork_and_wait);
    mprotect(protected_page, 4096, PROT_NONE);
    own_free(own_malloc(size));
    std::signal(SIGSEGV, previous);
    other.join();
    EXPECT_FALSE(was_taken_meanwhile);
}

} // namespace
} // namespace hdtrace
