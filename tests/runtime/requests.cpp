#include "mpiwrapper/runtime/objects/requests.h"

#include "fake_mpi.h"
#include "mpiwrapper/runtime/objects/request_table.h"
#include "no_memory.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <thread>
#include <vector>

using namespace hdtrace::mpi;
using hdtrace::test::handle_of;
using hdtrace::test::NoMemory;

namespace {

// Open MPI gives every send that completes at once this one.
const MPI_Request same = handle_of<MPI_Request>(1);

int64_t add(MPI_Request handle, const MPI_Request* variable, int depth = 0)
{
    Request request;
    request.depth = depth;
    add_request(handle, variable, request);
    return request.rid;
}

Offer completed(MPI_Request handle)
{
    return {handle, true, false, Request()};
}

// The ids of the requests that a completion call ends; -1 where none is known.
std::vector<int64_t> complete(const std::vector<MPI_Request>& handles, const MPI_Request* variables)
{
    std::vector<Offer> offers;
    for (const MPI_Request handle : handles)
        offers.push_back(completed(handle));
    settle_requests(offers.data(), variables, static_cast<int>(offers.size()));
    std::vector<int64_t> rids;
    for (const Offer& offer : offers)
        rids.push_back(offer.is_known ? offer.request.rid : -1);
    return rids;
}

TEST(RequestTable, keeps_the_order_of_age_while_it_grows)
{
    static RequestTable table; // it has no destructor
    std::vector<MPI_Request> variables(1000);
    // With holes, so that new entries take the places of older ones.
    for (size_t i = 0; i < variables.size(); ++i) {
        table.add(same, &variables[i])->request.rid = static_cast<int64_t>(i);
        if (i % 3 == 0)
            table.remove(table.find_exact(same, &variables[i]));
    }
    int64_t last = -1;
    int count = 0;
    for (RequestEntry* entry = table.oldest_with(same); entry != nullptr;
         entry = table.next_with_same_handle(entry), ++count) {
        ASSERT_GT(entry->request.rid, last);
        last = entry->request.rid;
    }
    EXPECT_EQ(count, 666);
}

TEST(RequestTable, finds_all_after_growing)
{
    static RequestTable table; // it has no destructor
    std::vector<MPI_Request> variables(1000);
    for (unsigned i = 0; i < variables.size(); ++i)
        table.add(handle_of<MPI_Request>(i), &variables[i])->request.rid = i;
    for (unsigned i = 0; i < variables.size(); ++i) {
        ASSERT_EQ(table.find_exact(handle_of<MPI_Request>(i), &variables[i])->request.rid, i);
        ASSERT_EQ(table.oldest_with(handle_of<MPI_Request>(i))->request.rid, i);
    }
    EXPECT_EQ(table.find_exact(handle_of<MPI_Request>(1), &variables[2]), nullptr);
}

TEST(RequestTable, keeps_what_it_has_when_memory_is_short)
{
    static RequestTable table; // it has no destructor
    std::vector<MPI_Request> variables(300);
    size_t added = 0;
    const auto add_one = [&] {
        RequestEntry* const entry = table.add(same, &variables[added]);
        if (entry == nullptr)
            return false;
        entry->request.rid = static_cast<int64_t>(added++);
        return true;
    };
    ASSERT_TRUE(add_one());
    {
        const NoMemory no_memory;
        while (add_one()) {
        }
    }
    ASSERT_LT(added, variables.size());
    ASSERT_TRUE(add_one());
    for (size_t i = 0; i < added; ++i)
        ASSERT_EQ(table.find_exact(same, &variables[i])->request.rid, static_cast<int64_t>(i));
}

TEST(RequestTables, of_threads_are_spread)
{
    // Where the variables of 64 threads usually are: on stacks 8 MiB apart, or in parts of the heap.
    for (const uintptr_t distance :
         {uintptr_t{8} << 20, uintptr_t{64} << 20, (uintptr_t{8} << 20) + 4096, uintptr_t{4096}}) {
        std::map<unsigned, int> counts;
        for (uintptr_t i = 0; i < 64; ++i)
            ++counts[table_number_of(reinterpret_cast<MPI_Request*>(0x7f00'0000'0100 + i * distance), 64)];
        EXPECT_GE(counts.size(), 24u) << distance;
        for (const auto& [number, count] : counts) {
            EXPECT_LT(number, 64u);
            EXPECT_LE(count, 6) << distance;
        }
    }
}

TEST(RequestTables, of_neighbours_are_the_same)
{
    MPI_Request* const array = reinterpret_cast<MPI_Request*>(0x7f00'0000'1000);
    for (size_t i = 0; i < 4096 / sizeof(MPI_Request); ++i)
        ASSERT_EQ(table_number_of(array + i, 64), table_number_of(array, 64));
    EXPECT_EQ(table_number_of(array + 12345, 1), 0u);
}

// With one thread, and then as if there were more: that cannot be taken back.
class Requests : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override
    {
        if (GetParam())
            set_requests_shared_by_threads();
    }

    // Far enough from each other for different tables.
    static constexpr size_t distance = 4096;
    std::vector<MPI_Request> variables = std::vector<MPI_Request>(64 * distance);
};
INSTANTIATE_TEST_SUITE_P(of, Requests, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "several_threads" : "one_thread"; });

TEST_P(Requests, are_told_apart_by_their_variables)
{
    const int64_t first = add(same, &variables[0]), second = add(same, &variables[1]);
    EXPECT_EQ(complete({same}, &variables[1]), std::vector{second});
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{first});
    EXPECT_EQ(complete({same}, &variables[0]), std::vector<int64_t>{-1});
}

TEST_P(Requests, of_one_variable_end_with_the_newest)
{
    const int64_t lost = add(same, &variables[0]), newest = add(same, &variables[0]);
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{newest});
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{lost});
}

TEST_P(Requests, that_were_moved_are_the_oldest_with_their_handle)
{
    std::vector<int64_t> rids;
    for (size_t i = 0; i < 10; ++i)
        rids.push_back(add(same, &variables[(10 - i) * distance]));
    std::vector<MPI_Request> elsewhere(1);
    for (const int64_t rid : rids)
        EXPECT_EQ(complete({same}, elsewhere.data()), std::vector{rid});
}

TEST_P(Requests, that_were_moved_are_found_once_in_a_call)
{
    const int64_t first = add(same, &variables[0]), second = add(same, &variables[distance]);
    std::vector<MPI_Request> elsewhere(3);
    // Whether they end with it or not.
    std::vector<Offer> offers(3, {same, false, false, Request()});
    settle_requests(offers.data(), elsewhere.data(), 3);
    EXPECT_EQ(offers[0].request.rid, first);
    EXPECT_EQ(offers[1].request.rid, second);
    EXPECT_FALSE(offers[2].is_known);
    EXPECT_EQ(complete({same, same, same}, elsewhere.data()), (std::vector<int64_t>{first, second, -1}));
}

TEST_P(Requests, that_were_found_where_they_are_are_not_those_that_were_moved)
{
    const int64_t here = add(same, &variables[0]), moved = add(same, &variables[distance]);
    Offer offers[] = {{same, false, false, Request()}, {same, false, false, Request()}};
    settle_requests(offers, &variables[0], 2);
    EXPECT_EQ(offers[0].request.rid, here);
    EXPECT_EQ(offers[1].request.rid, moved);
    EXPECT_EQ(complete({same, same}, &variables[0]), (std::vector{here, moved}));
}

TEST_P(Requests, that_have_not_ended_stay)
{
    const int64_t rid = add(same, &variables[0]);
    for (int round = 0; round < 2; ++round) {
        Offer offer = {same, false, false, Request()};
        settle_requests(&offer, &variables[0], 1);
        EXPECT_TRUE(offer.is_known);
        EXPECT_EQ(offer.request.rid, rid);
    }
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{rid});
}

TEST_P(Requests, that_are_persistent_stay_and_get_new_ids)
{
    const MPI_Request handle = handle_of<MPI_Request>(2);
    Request made;
    made.is_persistent = true;
    made.is_active = false;
    add_request(handle, &variables[0], made);
    for (int round = 0; round < 2; ++round) {
        const Request started = start_request(handle, handle, &variables[0]);
        EXPECT_NE(started.rid, made.rid);
        EXPECT_EQ(started.init_rid, made.init_rid);
        EXPECT_TRUE(started.is_active);
        EXPECT_EQ(complete({handle}, &variables[0]), std::vector{started.rid});
        Request ended;
        ASSERT_TRUE(find_request(handle, &variables[0], &ended));
        EXPECT_FALSE(ended.is_active);
    }
    Request freed;
    EXPECT_TRUE(remove_request(handle, &variables[0], &freed));
    EXPECT_EQ(freed.init_rid, made.init_rid);
    EXPECT_FALSE(remove_request(handle, &variables[0], &freed));
}

TEST_P(Requests, that_are_persistent_are_known_by_their_new_handles)
{
    const MPI_Request first = handle_of<MPI_Request>(2), second = handle_of<MPI_Request>(3);
    Request made;
    made.is_persistent = true;
    made.is_active = false;
    add_request(first, &variables[0], made);
    // The program has moved the handle to another variable, which gets the new one.
    const Request started = start_request(first, second, &variables[distance]);
    EXPECT_EQ(started.init_rid, made.rid);
    EXPECT_EQ(complete({first}, &variables[0]), std::vector<int64_t>{-1});
    EXPECT_EQ(complete({second}, &variables[distance]), std::vector{started.rid});
    Request freed;
    EXPECT_TRUE(remove_request(second, &variables[distance], &freed));
    EXPECT_FALSE(remove_request(second, &variables[distance], &freed));
}

TEST_P(Requests, that_nested_calls_have_made_are_those_of_the_call_around_them)
{
    const int64_t rid = add(same, &variables[0], 2);
    EXPECT_EQ(add(same, &variables[0], 1), rid);
    EXPECT_EQ(add(same, &variables[0], 0), rid);
    const int64_t next = add(same, &variables[0], 0);
    EXPECT_EQ(next, rid + 1);
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{next});
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{rid});
    EXPECT_EQ(complete({same}, &variables[0]), std::vector<int64_t>{-1});
}

TEST_P(Requests, that_are_cancelled_say_so)
{
    add(same, &variables[0]);
    mark_cancelled(same, &variables[0]);
    Offer offer = completed(same);
    settle_requests(&offer, &variables[0], 1);
    EXPECT_TRUE(offer.request.is_cancelled);
}

TEST_P(Requests, without_a_handle_are_none)
{
    add(MPI_REQUEST_NULL, &variables[0]);
    EXPECT_EQ(complete({MPI_REQUEST_NULL}, &variables[0]), std::vector<int64_t>{-1});
}

// All threads have requests of the same handle, which they complete where they are, and now and then one of a
// handle of their own that they move. (Of equal handles that are moved any could be taken.)
std::vector<int64_t> start_and_complete(MPI_Request* variables, MPI_Request own, int count)
{
    std::vector<int64_t> ended;
    MPI_Request elsewhere = own;
    for (int i = 0; i < count; ++i) {
        ended.push_back(add(same, &variables[0]));
        EXPECT_EQ(complete({same}, &variables[0]), std::vector{ended.back()});
        if (i % 16 != 0)
            continue;
        ended.push_back(add(own, &variables[1]));
        EXPECT_EQ(complete({own}, &elsewhere), std::vector{ended.back()});
    }
    return ended;
}

TEST(RequestsOfThreads, end_once_each)
{
    set_requests_shared_by_threads();
    constexpr int thread_count = 4, count = 32'000, moved = count / 16;
    // Neighbours, so that they share a table.
    std::vector<MPI_Request> variables(2 * thread_count);
    std::vector<std::vector<int64_t>> ended(thread_count);
    const int64_t first = next_rid() + 1;
    std::atomic<int> waiting = thread_count;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            for (--waiting; waiting > 0;)
                std::this_thread::yield();
            ended[i] = start_and_complete(&variables[2 * i],
                                          handle_of<MPI_Request>(100 + static_cast<unsigned>(i)), count);
        });
    for (std::thread& thread : threads)
        thread.join();
    std::vector<int64_t> all;
    for (const std::vector<int64_t>& rids : ended)
        all.insert(all.end(), rids.begin(), rids.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), size_t{thread_count * (count + moved)});
    for (size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], first + static_cast<int64_t>(i));
}

// What it calls for a request does what a signal handler may do that comes while the tables are locked.
TEST(RequestsOfThreads, of_who_interrupts_their_thread_are_not_followed)
{
    set_requests_shared_by_threads();
    static const MPI_Request known = handle_of<MPI_Request>(77), later = handle_of<MPI_Request>(78);
    static MPI_Request variables[2];
    add(known, &variables[0]);
    for_all_requests(known, [](const Request&) {
        Request found;
        EXPECT_GE(add(later, &variables[1]), 0);
        EXPECT_FALSE(find_request(later, &variables[1], &found));
    });
    Request found;
    EXPECT_TRUE(remove_request(known, &variables[0], &found));
    EXPECT_FALSE(remove_request(later, &variables[1], &found));
}

TEST(RequestsOfThreads, that_were_moved_are_first_those_of_the_thread)
{
    set_requests_shared_by_threads();
    std::vector<MPI_Request> variables(2, same);
    const int64_t of_this = add(same, &variables[0]);
    std::thread([&variables] {
        const int64_t own = add(same, &variables[1]);
        MPI_Request elsewhere = same;
        EXPECT_EQ(complete({same}, &elsewhere), std::vector{own});
    }).join();
    EXPECT_EQ(complete({same}, &variables[0]), std::vector{of_this});
}

TEST(RequestsOfThreads, are_looked_for_afresh_by_threads_that_come_later)
{
    set_requests_shared_by_threads();
    MPI_Request variable = same;
    const int64_t rid = add(same, &variable);
    // As many calls in each, so that numbers for calls meet if a thread gets those of one that ended.
    for (int i = 0; i < 3; ++i) {
        std::thread([rid] {
            MPI_Request elsewhere = same;
            Offer offer = {same, false, false, Request()};
            settle_requests(&offer, &elsewhere, 1);
            EXPECT_EQ(offer.request.rid, rid);
        }).join();
    }
    EXPECT_EQ(complete({same}, &variable), std::vector{rid});
}

} // namespace
