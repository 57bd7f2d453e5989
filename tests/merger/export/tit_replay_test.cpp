// What the replay of SimGrid is written from: numbers of tags, and counts of messages.
#include "merger/export/tit/message_counts.h"
#include "merger/export/tit/renumbering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "hdtrace/matching/messages.h"

namespace hdtrace::exporter {
namespace {

// --- tags ---

constexpr std::int64_t first = ReplayTags::first_new;

std::string renumbered(const std::string& line, const TagNumbers& numbers)
{
    std::string text;
    TextOutput output([&](std::string_view part) { text += part; });
    renumber_line(line, numbers, output);
    output.flush();
    return text;
}

TEST(TagNumbersOfAll, AreThoseOfTheFirstProcessThatHasTheTag)
{
    const Communicator communicator;
    ReplayTags zero(nullptr), one(nullptr);
    EXPECT_EQ(zero.of(&communicator, 5), first);
    EXPECT_EQ(one.of(&communicator, 6), first);
    EXPECT_EQ(one.of(&communicator, 5), first + 1);
    CommonTags common;
    EXPECT_TRUE(common.numbers_for(zero).are_all_the_same());
    const TagNumbers of_one = common.numbers_for(one);
    EXPECT_FALSE(of_one.are_all_the_same());
    EXPECT_EQ(of_one.common(first), first + 1);
    EXPECT_EQ(of_one.common(first + 1), first);
    EXPECT_EQ(of_one.common(7), 7);
}

TEST(Renumbering, ChangesTagsAndNothingElse)
{
    const TagNumbers numbers({first + 1, first});
    const std::string own = std::to_string(first), common = std::to_string(first + 1);
    for (const std::string action : {"send", "recv", "isend", "irecv"}) {
        const std::string begin = "0 " + action + " 3 ", end = " " + own + " 6";
        EXPECT_EQ(renumbered(begin + own + end, numbers), begin + common + end + "\n");
        EXPECT_EQ(renumbered(begin + "4" + end, numbers), begin + "4" + end + "\n");
    }
    EXPECT_EQ(renumbered("0 wait 1 0 " + own, numbers), "0 wait 1 0 " + common + "\n");
    EXPECT_EQ(renumbered("0 init", numbers), "0 init\n");
    EXPECT_EQ(renumbered("0 compute " + own, numbers), "0 compute " + own + "\n");
    EXPECT_EQ(renumbered("0 bcast " + own + " " + own + " 6", numbers),
              "0 bcast " + own + " " + own + " 6\n");
}

// --- counts of messages ---

/// A few calls of two processes, most of which belong together.
class RandomRun {
  public:
    explicit RandomRun(unsigned seed) : m_random(seed)
    {
        m_project.process_count = 2;
        Communicator world;
        world.members = {{0, 0, 0, {}}, {1, 1, 0, {}}};
        m_project.communicators.push_back(world);
        for (int message = 0; message < 4; ++message)
            add_message();
    }

    const Project& project() const { return m_project; }

    /// Those of both one after the other.
    void walk(EventWalk& walk) const
    {
        for (std::int64_t rank : {0, 1})
            walk_rank(walk, rank);
    }
    void walk_rank(EventWalk& walk, std::int64_t rank) const
    {
        TraceFile trace;
        trace.rank = rank;
        for (const State& call : m_calls[rank])
            walk.add(trace, call);
    }

  private:
    bool once_in(unsigned times) { return m_random() % times == 0; }

    State& add_call(std::int64_t rank, const std::string& name)
    {
        State& call = m_calls[rank].emplace_back();
        call.name = name;
        call.line = static_cast<std::int64_t>(m_calls[rank].size());
        call.time = call.end = call.line;
        return call;
    }

    static void say(Element& element, std::string_view name, std::int64_t value)
    {
        element.attributes.push_back(name, std::to_string(value));
    }

    void add_message()
    {
        const std::int64_t source = m_random() % 2, destination = once_in(8) ? source : 1 - source;
        const std::int64_t tag = m_random() % 2, size = once_in(4) ? 0 : 8;
        if (!once_in(10)) {
            State& send = add_call(source, "Send");
            say(send, "toRank", once_in(20) ? -2 : destination);
            say(send, "toTag", tag);
            say(send, "size", size);
            say(send, "cid", once_in(20) ? 1 : 0);
        }
        if (!once_in(10))
            add_receive(source, destination, tag, once_in(12) ? 8 - size : size);
    }

    void add_receive(std::int64_t source, std::int64_t destination, std::int64_t tag, std::int64_t size)
    {
        const std::int64_t rid = once_in(2) ? m_next_rid++ : -1;
        State& receive = add_call(destination, rid < 0 ? "Recv" : "Irecv");
        say(receive, "fromRank", rid >= 0 && once_in(3) ? -1 : source);
        say(receive, "fromTag", rid >= 0 && once_in(3) ? -1 : tag);
        if (!once_in(20))
            say(receive, "size", rid < 0 ? size : 8);
        say(receive, "cid", 0);
        if (rid < 0)
            return;
        say(receive, "rid", rid);
        if (once_in(12))
            return;
        State& wait = add_call(destination, "Wait");
        Element& completed = wait.children.emplace_back();
        completed.name = "For";
        say(completed, "rid", rid);
        if (once_in(12)) {
            say(completed, "cancelled", 1);
            return;
        }
        if (!once_in(20))
            say(completed, "fromRank", once_in(20) ? 1 - source : source);
        say(completed, "fromTag", tag);
        say(completed, "size", size);
    }

    std::mt19937 m_random;
    Project m_project;
    std::vector<State> m_calls[2];
    std::int64_t m_next_rid = 0;
};

/// Whether every message has both ends and was not too large.
bool all_are_matched(const RandomRun& run, const ObjectTable& objects)
{
    bool all = true;
    MessageMatcher matcher(objects, [&](const Message& message) {
        all = all && message.send && message.receive && message.receive->size_is_known &&
              (message.receive->size > 0 || message.send->size == 0);
    });
    EventWalk walk({&matcher});
    run.walk(walk);
    matcher.finish();
    return all;
}

bool all_are_counted(const RandomRun& run, const ObjectTable& objects)
{
    MessageCounts counts(objects);
    for (std::int64_t rank : {1, 0}) {
        MessageCounts of_rank(objects);
        EventWalk walk({&of_rank});
        run.walk_rank(walk, rank);
        of_rank.finish();
        counts.add(of_rank);
    }
    return counts.all_have_both_ends();
}

TEST(MessageCounts, AreCertainOfNothingThatMatchingDenies)
{
    int certain = 0, matched = 0;
    for (unsigned seed = 0; seed < 20000; ++seed) {
        const RandomRun run(seed);
        const ObjectTable objects(run.project());
        const bool is_certain = all_are_counted(run, objects), is_matched = all_are_matched(run, objects);
        ASSERT_TRUE(is_matched || !is_certain) << "seed " << seed;
        certain += is_certain ? 1 : 0;
        matched += is_matched ? 1 : 0;
    }
    EXPECT_GT(certain, matched / 2); // there was something to be certain of
    EXPECT_LT(matched, 19000);
}

} // namespace
} // namespace hdtrace::exporter
