// Memory of our own: what malloc() promises, and a fork() at any moment.
#include "hdtrace/writer/own_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
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

} // namespace
} // namespace hdtrace
