// Frames of this program itself: what is found is compared with what the compiler knows.
#include "mpiwrapper/runtime/recording/thread.h"
#include "mpiwrapper/runtime/sites/call_sites.h"
#include "mpiwrapper/runtime/sites/frame_rules.h"

#include <alloca.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_mpi.h"
#include "no_memory.h"

namespace hdtrace::mpi {
namespace {

volatile char sink;

/// With the stack of the calling one.
std::unique_ptr<Thread> own_thread()
{
    auto thread = std::make_unique<Thread>();
    find_stack(*thread);
    return thread;
}

/// The return addresses of callers, as the rules say.
std::vector<const void*> callers(const void* frame, int most)
{
    const auto thread = own_thread();
    std::vector<const void*> found;
    Frame caller = Frame::of_caller(frame);
    do
        found.push_back(caller.return_address);
    while (static_cast<int>(found.size()) < most &&
           caller.go_to_caller(find_frame_rule(caller.return_address),
                               reinterpret_cast<uintptr_t>(thread->stack_end)));
    return found;
}

std::vector<const void*> found;
const void* expected[3];

__attribute__((noinline)) void innermost()
{
    expected[0] = __builtin_return_address(0);
    found = callers(__builtin_frame_address(0), 3);
    sink = 0;
}

/// A frame whose size is only known when it is made.
__attribute__((noinline)) void middle(int size)
{
    expected[1] = __builtin_return_address(0);
    char* const room = static_cast<char*>(alloca(static_cast<size_t>(size)));
    room[size - 1] = 1;
    innermost();
    sink = room[size - 1];
}

__attribute__((noinline)) void outermost(int size)
{
    expected[2] = __builtin_return_address(0);
    middle(size);
    sink = 0;
}

TEST(FrameRules, LeadFromCallerToCaller)
{
    for (const int size : {1, 100, 10000}) {
        outermost(size);
        ASSERT_EQ(found.size(), 3u);
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(found[i], expected[i]) << i;
    }
}

TEST(FrameRules, AreNotKnownOfWhatIsNoCode)
{
    int variable = 0;
    EXPECT_EQ(find_frame_rule(&variable).base, FrameRule::Base::nothing);
    EXPECT_EQ(find_frame_rule(nullptr).base, FrameRule::Base::nothing);
    EXPECT_EQ(find_frame_rule(reinterpret_cast<void*>(~uintptr_t{0})).base, FrameRule::Base::nothing);
}

TEST(FrameRules, DoNotLeaveTheStack)
{
    uintptr_t words[4] = {0, 0, 4711, 0};
    const auto begin = reinterpret_cast<uintptr_t>(words), end = reinterpret_cast<uintptr_t>(words + 4);
    const FrameRule fits = {FrameRule::Base::stack_pointer, false, 24, 0, -8};
    Frame frame = {nullptr, begin, 0};
    EXPECT_TRUE(frame.go_to_caller(fits, end));
    EXPECT_EQ(frame.return_address, reinterpret_cast<void*>(4711));
    EXPECT_EQ(frame.stack_pointer, begin + 24);
    for (const FrameRule& rule : {FrameRule{FrameRule::Base::stack_pointer, false, 48, 0, -8},
                                  FrameRule{FrameRule::Base::stack_pointer, false, -8, 0, -8},
                                  FrameRule{FrameRule::Base::stack_pointer, false, 20, 0, -8},
                                  FrameRule{FrameRule::Base::stack_pointer, true, 24, 64, -8}, FrameRule{}}) {
        Frame stays = {nullptr, begin, 0};
        EXPECT_FALSE(stays.go_to_caller(rule, end));
        EXPECT_EQ(stays.stack_pointer, begin);
    }
}

std::string text_of(const SiteText& site)
{
    return {site.text, site.length};
}

std::unique_ptr<CallSites> sites_of_depth(int depth)
{
    const auto thread = own_thread();
    auto sites = std::make_unique<CallSites>();
    sites->open(depth, thread->stack_begin, thread->stack_end);
    return sites;
}

__attribute__((noinline)) std::string call(CallSites& sites)
{
    return text_of(sites.find(__builtin_frame_address(0)));
}

__attribute__((noinline)) std::string call_through(CallSites& sites)
{
    std::string site = call(sites);
    sink = 0;
    return site;
}

TEST(CallSites, AreTheSameWhereTheSameLineCalls)
{
    const test::FakeMpi mpi(0, 1); // for an .info
    const auto sites = sites_of_depth(1), of_another_thread = sites_of_depth(1);
    std::string last;
    for (int i = 0; i < 3; ++i) {
        const std::string site = call(*sites);
        EXPECT_TRUE(last.empty() || site == last);
        last = site;
    }
    EXPECT_EQ(last.rfind(" site='", 0), 0u) << last;
    EXPECT_NE(call(*sites), last) << "another line";
    EXPECT_EQ(call_through(*sites), call_through(*of_another_thread));
}

TEST(CallSites, DifferByTheirCallersIfThoseAreWanted)
{
    const test::FakeMpi mpi(0, 1); // for an .info
    const auto flat = sites_of_depth(1), deep = sites_of_depth(2);
    const std::string first = call_through(*flat), second = call_through(*flat);
    EXPECT_EQ(first, second);
    const std::string deep_first = call_through(*deep), deep_second = call_through(*deep);
    EXPECT_NE(deep_first, deep_second);
}

TEST(CallSites, AreFoundAnewWhenFilesWereUnloaded)
{
    const test::FakeMpi mpi(0, 1); // for an .info
    const auto sites = sites_of_depth(1);
    std::string known[2];
    for (std::string& site : known) {
        site = call_through(*sites);
        ++unloaded_objects;
    }
    EXPECT_EQ(known[0], known[1]) << "the same file in the same place is the same";
}

TEST(CallSites, OnAnotherStackAreThePlaceOfTheCall)
{
    const test::FakeMpi mpi(0, 1); // for an .info
    CallSites sites;
    sites.open(64, nullptr, nullptr);
    EXPECT_EQ(call(sites).rfind(" site='", 0), 0u);
}

/// Addresses of this program that look alike to a table of 256.
std::vector<uintptr_t> addresses_with_one_slot(size_t count)
{
    const auto slot = [](uintptr_t key) { return (key ^ key >> 8) % 256; };
    const auto first = reinterpret_cast<uintptr_t>(&addresses_with_one_slot);
    std::vector<uintptr_t> addresses;
    for (uintptr_t address = first; addresses.size() < count; ++address)
        if (slot(address) == slot(first))
            addresses.push_back(address);
    return addresses;
}

TEST(Sites, ThatLookAlikeAreAllKept)
{
    const test::FakeMpi mpi(0, 1);
    const auto thread = own_thread();
    thread->sites.open(1, thread->stack_begin, thread->stack_end);
    const std::vector<uintptr_t> addresses = addresses_with_one_slot(4);
    const auto text_of = [&](uintptr_t address) {
        const uintptr_t frame[] = {0, address};
        const SiteText& site = thread->sites.find(frame);
        return std::string(site.text, site.length);
    };
    std::vector<std::string> texts;
    for (const uintptr_t address : addresses)
        texts.push_back(text_of(address));
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), addresses.size());
    std::vector<std::string> again(addresses.size());
    {
        const test::NoMemory without_which_no_site_is_new;
        for (size_t i = 0; i < addresses.size(); ++i)
            again[i] = text_of(addresses[i]);
    }
    EXPECT_EQ(again, texts);
}

} // namespace
} // namespace hdtrace::mpi
