#include <algorithm>
#include <deque>
#include <initializer_list>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hdtrace/matching/messages.h"

namespace hdtrace {
namespace {

// Calls of several processes, each a word for its name and words NAME=VALUE for attributes; those of a child
// stand behind it, e.g. "Wait For rid=1 fromRank=0".
State call(const std::string& text, std::int64_t line)
{
    State state;
    state.line = line;
    state.time = line * 10;
    state.end = state.time + 1;
    std::istringstream words(text);
    words >> state.name;
    Element* element = &state;
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos)
            element = &state.children.emplace_back(Element{word, {}});
        else
            element->attributes.push_back(word.substr(0, equals), word.substr(equals + 1));
    }
    return state;
}

struct Call {
    int rank;
    const char* text;
};

Project two_communicators()
{
    Project project;
    project.communicators = {{"WORLD", "W", {}}, {"copy", "W/1@0", {}}};
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        project.communicators[0].members.push_back({rank, rank, 0, {}});
        project.communicators[1].members.push_back({rank, rank, rank + 1, {}}); // with other ids everywhere
    }
    return project;
}

using Matches = std::vector<std::string>;

// "line of the send->line of the receive", with '-' for none.
std::string lines_of(const Message& message)
{
    const auto line_of = [](const std::optional<MessageEnd>& end) {
        return end ? std::to_string(end->line) : "-";
    };
    return line_of(message.send) + "->" + line_of(message.receive);
}

// By a matcher for each process.
Matches match_by_process(const ObjectTable& objects, std::initializer_list<Call> calls)
{
    constexpr std::size_t processes = 4;
    Matches found;
    std::deque<MessageMatcher> matchers;
    std::deque<EventWalk> walks;
    for (std::size_t rank = 0; rank < processes; ++rank) {
        matchers.emplace_back(objects, [&](const Message& message) { found.push_back(lines_of(message)); });
        matchers[rank].leave_elsewhere(
            [=](std::int64_t destination) { return destination != static_cast<std::int64_t>(rank); },
            [&](const SendingStep& step) {
                const auto destination = static_cast<std::size_t>(step.destination);
                ASSERT_LT(destination, processes);
                matchers[destination].take(step);
            });
        walks.emplace_back(std::initializer_list<EventVisitor*>{&matchers[rank]});
    }
    std::int64_t line = 0;
    for (const Call& one : calls)
        walks.at(static_cast<std::size_t>(one.rank)).add({"", one.rank, 0, {}}, call(one.text, ++line));
    for (MessageMatcher& matcher : matchers)
        matcher.finish();
    return found;
}

// What is matched, also if each process has a matcher of its own.
Matches match(std::initializer_list<Call> calls)
{
    const Project project = two_communicators();
    const ObjectTable objects(project);
    Matches found;
    MessageMatcher matcher(objects, [&](const Message& message) { found.push_back(lines_of(message)); });
    EventWalk walk({&matcher});
    std::int64_t line = 0;
    for (const Call& one : calls)
        walk.add({"", one.rank, 0, {}}, call(one.text, ++line));
    matcher.finish();
    Matches by_process = match_by_process(objects, calls), sorted = found;
    std::ranges::sort(by_process);
    std::ranges::sort(sorted);
    EXPECT_EQ(by_process, sorted);
    return found;
}

// Of a run in which first calls of process 0 were given up, and of process 2.
Matches match_ends(std::initializer_list<Call> calls, std::int64_t thread_began = 0)
{
    Project project = two_communicators();
    project.run.facts = {{{"Bound", {{"name", "keep-last"}, {"value", "2M"}}}, {{0, 0}, {2, 2}}}};
    RunProcess process;
    process.threads.resize(2);
    process.threads[1].number = 1;
    process.threads[1].begin = thread_began;
    project.run.processes = {process};
    const ObjectTable objects(project);
    Matches found;
    MessageMatcher matcher(objects, [&](const Message& message) { found.push_back(lines_of(message)); });
    EventWalk walk({&matcher});
    std::int64_t line = 0;
    for (const Call& one : calls) // the threads of process 0 are told by numbers behind 10
        walk.add({"", one.rank % 10, one.rank / 10, {}}, call(one.text, ++line));
    matcher.finish();
    return found;
}

TEST(MessageMatcher, CountsFromTheEndWhereFirstCallsAreMissing)
{
    EXPECT_EQ(match_ends({{1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {0, "Send toRank=1 toTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {0, "Finalize"},
                          {1, "Finalize"}}),
              (Matches{"3->4", "-->1", "-->2"}));
    EXPECT_EQ(match_ends({{1, "Send toRank=0 toTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {0, "Irecv fromRank=-1 fromTag=-1 cid=0 rid=7"},
                          {0, "Wait For rid=7 fromRank=1 fromTag=5 size=4"},
                          {0, "Finalize"},
                          {1, "Finalize"}}),
              (Matches{"2->3", "1->-"}));
    EXPECT_EQ(match_ends({{1, "Send toRank=3 toTag=5 cid=0"},
                          {3, "Recv fromRank=1 fromTag=5 cid=0"},
                          {3, "Recv fromRank=1 fromTag=5 cid=0"}}),
              (Matches{"1->2", "-->3"}))
        << "both are whole";
}

TEST(MessageMatcher, DoesNotGuessWhatBelongsTogetherWhereFirstCallsAreMissing)
{
    EXPECT_EQ(match_ends({{1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {0, "Send toRank=1 toTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {0, "Finalize"}}),
              (Matches{"2->-", "-->1", "-->3"}))
        << "what is behind it may have been on its way when process 1 ended";
    EXPECT_EQ(match_ends({{2, "Isend toRank=0 toTag=5 cid=0 rid=1"},
                          {2, "Irecv fromRank=-1 fromTag=-1 cid=0 rid=2"},
                          {0, "Finalize"},
                          {2, "Finalize"}}),
              (Matches{"1->-", "-->2"}));
}

TEST(MessageMatcher, CountsNothingBeforeWhatNobodyKnowsWhereFirstCallsAreMissing)
{
    EXPECT_EQ(match_ends({{0, "Send toRank=1 toTag=5 cid=0"},
                          {0, "Start rid=9 initRid=0"},
                          {0, "Send toRank=1 toTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {1, "Recv fromRank=0 fromTag=5 cid=0"},
                          {0, "Finalize"},
                          {1, "Finalize"}}),
              (Matches{"3->6", "1->-", "-->4", "-->5"}))
        << "what is started was prepared before";
    EXPECT_EQ(match_ends({{1, "Send toRank=0 toTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {0, "Mrecv fromRank=1 fromTag=5 cid=0 mid=7"},
                          {0, "Recv fromRank=1 fromTag=5 cid=0"},
                          {0, "Finalize"},
                          {1, "Finalize"}}),
              (Matches{"2->4", "1->-"}))
        << "the probe came before all that is there";
    EXPECT_EQ(match_ends({{0, "Recv fromRank=1 fromTag=5 cid=0"},
                          {0, "Irecv fromRank=-1 fromTag=5 cid=0 rid=1"},
                          {0, "Request_free rid=1"},
                          {0, "Recv fromRank=1 fromTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {0, "Finalize"},
                          {1, "Finalize"}}),
              (Matches{"6->4", "5->-", "-->1", "-->2"}))
        << "it may have got any of them";
    EXPECT_EQ(match_ends({{0, "Recv fromRank=1 fromTag=5 cid=0"},
                          {0, "Irecv fromRank=1 fromTag=5 cid=0 rid=1"},
                          {0, "Cancel rid=1"},
                          {0, "Request_free rid=1"},
                          {0, "Recv fromRank=1 fromTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {1, "Send toRank=0 toTag=5 cid=0"},
                          {0, "Finalize"},
                          {1, "Finalize"}})
                  .front(),
              "7->5")
        << "nor is it known whether it was cancelled";
}

TEST(MessageMatcher, KnowsBeginningsOfThreadsThatOnlyMark)
{
    Project project = two_communicators();
    project.run.facts = {{{"Bound", {{"name", "keep-last"}, {"value", "2M"}}}, {{0, 0}}}};
    const ObjectTable objects(project);
    Matches found;
    MessageMatcher matcher(objects, [&](const Message& message) { found.push_back(lines_of(message)); });
    EventWalk walk({&matcher});
    State mark = call("Event name=Here kind=mark", 3);
    mark.is_event = true;
    walk.add({"", 0, 0, {}}, call("Send toRank=1 toTag=5 cid=0", 1));
    walk.add({"", 1, 0, {}}, call("Recv fromRank=0 fromTag=5 cid=0", 2));
    walk.add({"", 0, 1, {}}, mark);
    walk.add({"", 0, 0, {}}, call("Finalize", 4));
    walk.add({"", 1, 0, {}}, call("Finalize", 5));
    matcher.finish();
    EXPECT_EQ(found, (Matches{"1->-", "-->2"})) << "the thread may have sent another one before the mark";
}

TEST(MessageMatcher, KnowsThatEachThreadHasAnotherBeginning)
{
    const std::initializer_list<Call> calls = {{0, "Send toRank=1 toTag=5 cid=0"},
                                               {10, "Send toRank=1 toTag=5 cid=0"},
                                               {0, "Send toRank=1 toTag=5 cid=0"},
                                               {1, "Recv fromRank=0 fromTag=5 cid=0"},
                                               {1, "Recv fromRank=0 fromTag=5 cid=0"},
                                               {1, "Recv fromRank=0 fromTag=5 cid=0"},
                                               {1, "Recv fromRank=0 fromTag=5 cid=0"},
                                               {0, "Finalize"},
                                               {1, "Finalize"}};
    EXPECT_EQ(match_ends(calls, 5), (Matches{"2->6", "3->7", "1->-", "-->4", "-->5"}))
        << "the first one may have been the second";
    EXPECT_EQ(match_ends(calls, 20), (Matches{"1->5", "2->6", "3->7", "-->4"}))
        << "it has called nothing before";
}

TEST(MessageMatcher, KnowsThatAReceiveFromAnybodyWhoseRequestIsFreedGetsAMessage)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=-1 fromTag=-1 cid=0 rid=0"},
                     {1, "Request_free rid=0"},
                     {0, "Send toRank=1 toTag=5 cid=0"},
                     {0, "Send toRank=1 toTag=5 cid=0"},
                     {1, "Recv fromRank=0 fromTag=5 cid=0"}}),
              (Matches{"3->1", "4->5"}));
}

TEST(MessageMatcher, TellsAllAboutAMessage)
{
    const Project project = two_communicators();
    const ObjectTable objects(project);
    std::vector<Message> messages;
    MessageMatcher matcher(objects, [&](const Message& message) { messages.push_back(message); });
    EventWalk walk({&matcher});
    walk.add({"", 1, 2, {}}, call("Irecv fromRank=-1 fromTag=-1 cid=2 rid=7 size=100", 1));
    walk.add({"", 0, 0, {}}, call("Send size=40 toRank=1 toTag=5 cid=1", 2));
    EXPECT_TRUE(messages.empty());
    EXPECT_EQ(walk.requests().pending().size(), 1u);
    walk.add({"", 1, 2, {}}, call("Wait For rid=7 fromRank=0 fromTag=5 size=40", 3));
    ASSERT_EQ(messages.size(), 1u);
    const Message& message = messages[0];
    EXPECT_EQ(message.communicator, &project.communicators[1]);
    EXPECT_EQ(message.source, 0);
    EXPECT_EQ(message.destination, 1);
    EXPECT_EQ(message.tag, 5);
    EXPECT_EQ(message.send->time, 20);
    EXPECT_EQ(message.send->end, 21);
    EXPECT_EQ(message.send->size, 40);
    EXPECT_EQ(message.send->rid, -1);
    EXPECT_EQ(message.receive->thread, 2);
    EXPECT_EQ(message.receive->time, 10);
    EXPECT_EQ(message.receive->end, 31);
    EXPECT_EQ(message.receive->size, 40);
    EXPECT_EQ(message.receive->rid, 7);
}

TEST(MessageMatcher, MatchesInTheOrderOfSendsAndReceives)
{
    EXPECT_EQ(match({{0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=2 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=2 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"}}),
              (Matches{"2->4", "1->5", "3->6"}));
}

TEST(MessageMatcher, KeepsCommunicatorsApart)
{
    EXPECT_EQ(match({{0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=1"},
                     {1, "Recv fromRank=0 fromTag=1 cid=2"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"}}),
              (Matches{"2->3", "1->4"}));
}

TEST(MessageMatcher, DoesNotNeedClocksThatAgree)
{
    EXPECT_EQ(match({{1, "Recv fromRank=0 fromTag=1 cid=0"}, {0, "Send toRank=1 toTag=1 cid=0"}}),
              Matches{"2->1"});
}

TEST(MessageMatcher, GivesMessagesToReceivesInTheOrderOfTheirStarts)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=1"},
                     {0, "Isend toRank=1 toTag=1 cid=0 rid=0"},
                     {0, "Isend toRank=1 toTag=1 cid=0 rid=1"},
                     {1, "Wait For rid=1 fromRank=0 fromTag=1"},
                     {1, "Wait For rid=0 fromRank=0 fromTag=1"}}),
              (Matches{"4->2", "3->1"}));
}

TEST(MessageMatcher, WaitsForReceivesFromAnySource)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=-1 fromTag=-1 cid=0 rid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {1, "Wait For rid=0 fromRank=0 fromTag=1"}}),
              (Matches{"2->1", "3->4"}));
}

TEST(MessageMatcher, DoesNotWaitForReceivesThatGetOtherMessages)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=-1 fromTag=99 cid=0 rid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {2, "Send toRank=1 toTag=99 cid=0"},
                     {1, "Wait For rid=0 fromRank=2 fromTag=99"}}),
              (Matches{"2->3", "4->1"}));
}

// What a process is sent and receives, as an MPI library gives messages to receives, which may be from
// anybody and with any tag, and complete in any order.
class RandomMailbox {
  public:
    explicit RandomMailbox(unsigned seed) : m_random(seed) {}

    void step()
    {
        switch (draw(3)) {
        case 0:
            return send(1 + draw(2), draw(2));
        case 1:
            return receive(draw(3) == 0 ? any : 1 + draw(2), draw(3) == 0 ? any : draw(2));
        default:
            return complete();
        }
    }
    /// All receives get something, and are completed.
    void finish()
    {
        while (!m_posted.empty()) {
            const Posted& first = m_posted.front();
            send(first.source == any ? 1 : first.source, first.tag == any ? 0 : first.tag);
        }
        while (!m_got.empty())
            complete();
    }

    const std::vector<std::pair<std::int64_t, std::string>>& calls() const { return m_calls; }
    /// Of the sends that a receive got.
    const Matches& expected() const { return m_expected; }

  private:
    static constexpr int any = -1;
    struct Sent {
        int source, tag;
        std::size_t line;
    };
    struct Posted {
        int source, tag, rid;
        std::size_t line;
        bool takes(const Sent& sent) const
        {
            return (source == any || source == sent.source) && (tag == any || tag == sent.tag);
        }
    };

    int draw(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }
    std::size_t call(int rank, std::string text)
    {
        m_calls.emplace_back(rank, std::move(text));
        return m_calls.size();
    }
    void send(int source, int tag)
    {
        const Sent sent{source, tag, call(source, "Send toRank=0 toTag=" + std::to_string(tag) + " cid=0")};
        const auto taker = std::ranges::find_if(m_posted, [&](const Posted& one) { return one.takes(sent); });
        if (taker == m_posted.end())
            return m_unexpected.push_back(sent);
        m_got.emplace_back(*taker, sent);
        m_posted.erase(taker);
    }
    void receive(int source, int tag)
    {
        const int rid = ++m_rid;
        const Posted posted{source, tag, rid,
                            call(0, "Irecv fromRank=" + std::to_string(source) + " fromTag=" +
                                        std::to_string(tag) + " cid=0 rid=" + std::to_string(rid))};
        const auto taken =
            std::ranges::find_if(m_unexpected, [&](const Sent& one) { return posted.takes(one); });
        if (taken == m_unexpected.end())
            return m_posted.push_back(posted);
        m_got.emplace_back(posted, *taken);
        m_unexpected.erase(taken);
    }
    void complete()
    {
        if (m_got.empty())
            return;
        const auto one = m_got.begin() + draw(static_cast<int>(m_got.size()));
        const auto& [posted, sent] = *one;
        call(0, "Wait For rid=" + std::to_string(posted.rid) + " fromRank=" + std::to_string(sent.source) +
                    " fromTag=" + std::to_string(sent.tag));
        m_expected.push_back(std::to_string(sent.line) + "->" + std::to_string(posted.line));
        m_got.erase(one);
    }

    std::mt19937 m_random;
    int m_rid = 0;
    std::vector<Sent> m_unexpected;
    std::vector<Posted> m_posted;
    std::vector<std::pair<Posted, Sent>> m_got;
    std::vector<std::pair<std::int64_t, std::string>> m_calls;
    Matches m_expected;
};

TEST(MessageMatcher, FindsWhatReceivesFromAnybodyGotInAnyOrder)
{
    const Project project = two_communicators();
    const ObjectTable objects(project);
    for (unsigned seed = 0; seed < 300; ++seed) {
        RandomMailbox mailbox(seed);
        for (int i = 0; i < 60; ++i)
            mailbox.step();
        mailbox.finish();
        Matches found, expected = mailbox.expected();
        MessageMatcher matcher(objects, [&](const Message& message) {
            if (message.receive)
                found.push_back(lines_of(message));
        });
        EventWalk walk({&matcher});
        std::int64_t line = 0;
        for (const auto& [rank, text] : mailbox.calls())
            walk.add({"", rank, 0, {}}, call(text, ++line));
        matcher.finish();
        std::ranges::sort(found);
        std::ranges::sort(expected);
        ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

TEST(MessageMatcher, LeavesOutWhatWasCancelled)
{
    EXPECT_EQ(
        match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0"},
               {1, "Irecv fromRank=-1 fromTag=1 cid=0 rid=1"},
               {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=2"},
               {0, "Isend toRank=1 toTag=1 cid=0 rid=0"},
               {0, "Wait For rid=0 cancelled=1"},
               {0, "Send toRank=1 toTag=1 cid=0"},
               {1, "Waitall For rid=0 cancelled=1 For rid=1 cancelled=1 For rid=2 fromRank=0 fromTag=1"}}),
        Matches{"6->3"});
}

TEST(MessageMatcher, DoesNotMissWhatWasPerhapsCancelled)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Cancel rid=0"},
                     {1, "Request_free rid=0"},
                     {0, "Isend toRank=2 toTag=1 cid=0 rid=0"},
                     {0, "Cancel rid=0"},
                     {0, "Request_free rid=0"}}),
              Matches());
    EXPECT_EQ(match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Cancel rid=0"},
                     {1, "Request_free rid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"}}),
              Matches{"5->-"})
        << "one of both was perhaps received, the other was not";
}

TEST(MessageMatcher, KnowsWhichRequestsOfACallFailed)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0 size=4"},
                     {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=1 size=4"},
                     {1, "Irecv fromRank=-1 fromTag=2 cid=0 rid=2 size=4"},
                     {0, "Send toRank=1 toTag=1 cid=0 size=8"},
                     {0, "Send toRank=1 toTag=1 cid=0 size=4"},
                     {0, "Send toRank=1 toTag=2 cid=0 size=8"},
                     {1, "Waitall rc=MPI_ERR_IN_STATUS For rid=0 rc=MPI_ERR_TRUNCATE For rid=1 fromRank=0 "
                         "fromTag=1 size=4 "
                         "For rid=2 rc=MPI_ERR_TRUNCATE"}}),
              (Matches{"4->1", "5->2"}))
        << "which one the third got is not known";
}

TEST(MessageMatcher, MatchesPersistentAndCombinedOperations)
{
    EXPECT_EQ(match({{0, "Send_init size=8 toRank=1 toTag=1 cid=0 rid=0"},
                     {1, "Sendrecv toRank=0 toTag=3 fromRank=0 fromTag=1 cid=0"},
                     {0, "Start rid=1 initRid=0"},
                     {0, "Wait For rid=1"},
                     {0, "Startall Start rid=2 initRid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {0, "Isendrecv toRank=2 toTag=1 fromRank=1 fromTag=3 cid=0 rid=3"},
                     {0, "Wait For rid=3 fromRank=1 fromTag=3"}}),
              (Matches{"3->2", "5->6", "2->7", "7->-"}));
}

TEST(MessageMatcher, MatchesProbedMessages)
{
    EXPECT_EQ(match({{0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Improbe source=-1 tag=-1 cid=0 flag=0"},
                     {1, "Mprobe source=-1 tag=-1 cid=0 fromRank=0 fromTag=1"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {1, "Imrecv fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Wait For rid=0 fromRank=0 fromTag=1"}}),
              (Matches{"2->5", "1->6"}));
}

TEST(MessageMatcher, DoesNotTakeWhatAProbeStillWaitsFor)
{
    EXPECT_EQ(
        match({{1, "Mprobe fromRank=0 fromTag=1 cid=0 unfinished=1"}, {0, "Send toRank=1 toTag=1 cid=0"}}),
        Matches{"2->-"});
}

TEST(MessageMatcher, MatchesWhatComesBehindAReceiveThatIsNeverCompleted)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=1"},
                     {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=2"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Wait For rid=2 fromRank=0 fromTag=1"},
                     {1, "Wait For rid=1 fromRank=0 fromTag=1"},
                     {0, "Send toRank=1 toTag=1 cid=0"}}),
              (Matches{"5->2", "8->3", "4->-", "-->1"}));
}

TEST(MessageMatcher, MatchesWhatComesBehindAReceiveFromAnybodyThatIsNeverCompleted)
{
    EXPECT_EQ(match({{1, "Irecv fromRank=-1 fromTag=1 cid=0 rid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {2, "Send toRank=1 toTag=1 cid=0"},
                     {2, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=2 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {1, "Recv fromRank=2 fromTag=1 cid=0"},
                     {1, "Irecv fromRank=-1 fromTag=3 cid=0 rid=1"}}),
              (Matches{"2->6", "4->7", "5->-", "3->-", "-->1", "-->8"}));
    EXPECT_EQ(match({{1, "Irecv fromRank=-1 fromTag=-1 cid=0 rid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {2, "Send toRank=1 toTag=2 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"}}),
              (Matches{"4->5", "2->-", "-->1", "3->-"}));
}

TEST(MessageMatcher, MatchesProbedMessagesThatAreReceivedInAnotherOrder)
{
    EXPECT_EQ(match({{0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Mprobe source=0 tag=1 cid=0 fromRank=0 fromTag=1 mid=0"},
                     {1, "Mprobe source=0 tag=1 cid=0 fromRank=0 fromTag=1 mid=1"},
                     {1, "Improbe source=0 tag=1 cid=0 flag=1 fromRank=0 fromTag=1 mid=2"},
                     {1, "Mrecv fromRank=0 fromTag=1 cid=0 mid=2"},
                     {1, "Imrecv fromRank=0 fromTag=1 cid=0 mid=1 rid=0"},
                     {1, "Mrecv fromRank=0 fromTag=1 cid=0 mid=0"},
                     {1, "Wait For rid=0 fromRank=0 fromTag=1"}}),
              (Matches{"3->7", "1->9", "2->8"}));
}

TEST(MessageMatcher, KeepsPartitionedMessagesApart)
{
    EXPECT_EQ(match({{0, "Psend_init toRank=1 toTag=1 cid=0 rid=0"},
                     {0, "Start rid=1 initRid=0"},
                     {0, "Pready rid=1 partition=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0"},
                     {1, "Precv_init fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Start rid=1 initRid=0"},
                     {1, "Wait For rid=1 fromRank=0 fromTag=1"}}),
              (Matches{"4->5", "2->7"}));
}

TEST(MessageMatcher, ReportsWhatHasNoOtherEnd)
{
    EXPECT_EQ(match({{0, "Send toRank=1 toTag=1 cid=0"},
                     {1, "Irecv fromRank=0 fromTag=2 cid=0 rid=0"},
                     {1, "Irecv fromRank=-1 fromTag=3 cid=0 rid=1"},
                     {1, "Recv fromRank=-1 fromTag=4 cid=0"}}), // as older traces have it
              (Matches{"-->4", "1->-", "-->2", "-->3"}));
}

TEST(MessageMatcher, MatchesMessagesThatWereTooLarge)
{
    EXPECT_EQ(match({{0, "Send size=80 toRank=1 toTag=1 cid=0"},
                     {0, "Send size=8 toRank=1 toTag=1 cid=0"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0 rc=MPI_ERR_TRUNCATE"},
                     {1, "Recv fromRank=0 fromTag=1 cid=0 size=8"}}),
              (Matches{"1->3", "2->4"}));
}

TEST(MessageMatcher, MatchesWhatCompletesUnseen)
{
    EXPECT_EQ(match({{1, "Recv_init fromRank=0 fromTag=1 cid=0 rid=0"},
                     {1, "Start rid=1 initRid=0"},
                     {1, "Request_free rid=0"},
                     {1, "Irecv fromRank=0 fromTag=1 cid=0 rid=2"},
                     {1, "Request_free rid=2"},
                     {0, "Send toRank=1 toTag=1 cid=0"},
                     {0, "Send toRank=1 toTag=1 cid=0"}}),
              (Matches{"6->2", "7->4"}));
}

TEST(MessageMatcher, LeavesOutWhatIsNoMessageOfThisWorld)
{
    EXPECT_EQ(match({{0, "Send toRank=-2 toTag=1 cid=0"},
                     {0, "Recv fromRank=-2 fromTag=-1 cid=0"},
                     {0, "Send toRank=-4 toTag=1 cid=0"},
                     {0, "Recv rc=MPI_ERR_TAG fromRank=1 fromTag=1 cid=0"},
                     {0, "Isend rc=MPI_ERR_TAG toRank=1 toTag=1 cid=0 rid=-1"},
                     {0, "Send unfinished=1"}}),
              Matches{});
}

TEST(MessageMatcher, MatchesNestedCalls)
{
    const Project project = two_communicators();
    const ObjectTable objects(project);
    int messages = 0;
    MessageMatcher matcher(objects, [&](const Message&) { ++messages; });
    State write = call("File_write_all cid=0", 1);
    write.nested = {call("Isend toRank=0 toTag=1 cid=0 rid=0", 1), call("Recv fromRank=0 fromTag=1 cid=0", 1),
                    call("Wait For rid=0", 1)};
    EventWalk walk({&matcher});
    walk.add({"", 0, 0, {}}, write);
    EXPECT_EQ(messages, 1);
    EXPECT_TRUE(walk.requests().pending().empty());
}

} // namespace
} // namespace hdtrace
