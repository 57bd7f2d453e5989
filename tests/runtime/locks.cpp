// Locks that signals are not blocked for.
#include "mpiwrapper/runtime/objects/lock.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace hdtrace::mpi {
namespace {

using std::chrono::milliseconds;

milliseconds cpu_time_of_thread()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1'000'000);
}

// Who spins with a higher priority keeps the owner from going on.
TEST(SpinLock, sleeps_while_another_thread_holds_it_for_long)
{
    SpinLock lock;
    milliseconds used{};
    lock.lock();
    std::thread waiting([&] {
        lock.lock();
        used = cpu_time_of_thread();
        lock.unlock();
    });
    std::this_thread::sleep_for(milliseconds(300));
    lock.unlock();
    waiting.join();
    EXPECT_LT(used, milliseconds(100));
}

TEST(SpinTurn, begins_once_for_each_kind_and_in_their_order)
{
    SpinTurn requests, again, buffers, earlier;
    EXPECT_TRUE(requests.begin(Spinning::requests));
    EXPECT_FALSE(again.begin(Spinning::requests));
    EXPECT_TRUE(buffers.begin(Spinning::buffers));
    EXPECT_FALSE(earlier.begin(Spinning::requests));
    buffers.end();
    requests.end();
    EXPECT_TRUE(again.begin(Spinning::requests));
}

} // namespace
} // namespace hdtrace::mpi
