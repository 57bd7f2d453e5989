#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "hdtrace/format/for_each_position.h"
#include "hdtrace/format/for_each_trace.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/format/read_ahead.h"
#include "hdtrace/format/reading_server.h"
#include "hdtrace/format/traces.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::TemporaryFolder;

std::string state(const std::string& name, int time, int end, const std::string& attributes = "")
{
    return "<" + name + attributes + " time='" + std::to_string(time) + "' end='" + std::to_string(end) +
           "' />\n";
}

std::string trace(const std::string& states)
{
    return "<Program timeAdjustment='0'>\n" + states + "</Program>\n";
}

constexpr std::int64_t second = 1'000'000'000;

TraceFile file(std::string path, std::int64_t rank = 0, std::int64_t thread = 0)
{
    return {std::move(path), rank, thread, {}};
}

// "name@rank" of what @p traces hand out.
std::vector<std::string> read(MergedTraces& traces)
{
    std::vector<std::string> names;
    while (const State* state = traces.next())
        names.push_back(state->name + "@" + std::to_string(traces.trace().rank));
    return names;
}

std::vector<std::string> read(std::vector<TraceFile> files, const Selection& selection = {})
{
    MergedTraces traces(std::move(files), selection);
    return read(traces);
}

using Names = std::vector<std::string>;

TEST(Traces, OfAProjectStandByRankAndThread)
{
    Project project;
    project.path = "/somewhere/app.proj";
    project.levels = {"Hostname", "Rank", "Thread"};
    project.leaves = {{"b", "10", "0"}, {"a", "2", "1"}, {"a", "2", "0"}};
    const std::vector<TraceFile> traces = traces_of(project);
    ASSERT_EQ(traces.size(), 3u);
    EXPECT_EQ(traces[0].path, "/somewhere/app_a_2_0.trc");
    EXPECT_EQ(traces[1].thread, 1);
    EXPECT_EQ(traces[2].rank, 10);
    EXPECT_EQ(traces[2].labels, project.leaves[0]);
}

TEST(Traces, OfOtherLevelsHaveNoRank)
{
    Project project;
    project.levels = {"Host", "Worker"};
    project.leaves = {{"b", "1"}, {"a", "0"}};
    const std::vector<TraceFile> traces = traces_of(project);
    EXPECT_EQ(traces[0].rank, -1);
    EXPECT_EQ(traces[0].labels, project.leaves[0]);
    EXPECT_EQ(traces[1].thread, 0);
}

TEST(MergedTraces, StandInTheOrderOfTimeThenOfTraces)
{
    const TemporaryFolder folder;
    const std::vector<TraceFile> files = {
        file(folder.write("0.trc", trace(state("A", 1, 2) + state("B", 5, 6))), 0),
        file(folder.write("1.trc", trace(state("C", 0, 9) + state("D", 9, 10))), 1),
        file(folder.write("2.trc", trace(state("E", 1, 1) + state("F", 1, 2))), 2),
    };
    EXPECT_EQ(read(files), (Names{"C@1", "A@0", "E@2", "F@2", "B@0", "D@1"}));
}

// Another process, but in this one.
class ReaderHere : public RemoteReader {
  public:
    void ask(std::uint32_t stream, std::string_view question) override
    {
        EXPECT_TRUE(m_answers[stream].empty());
        m_answers[stream].push_back(m_server.answer(stream, question));
    }
    std::string answer(std::uint32_t stream) override
    {
        std::string answer = std::move(m_answers[stream].front());
        m_answers[stream].clear();
        return answer;
    }

  private:
    ReadingServer m_server;
    std::map<std::uint32_t, std::vector<std::string>> m_answers;
};

// The first so many traces are read here, the others by readers that have so many each.
std::vector<TraceFile> shared(std::vector<TraceFile> files, std::size_t here, std::size_t of_each)
{
    std::shared_ptr<RemoteReader> reader;
    for (std::size_t i = here; i < files.size(); ++i) {
        if ((i - here) % of_each == 0)
            reader = std::make_shared<ReaderHere>();
        files[i].reader = reader;
    }
    return files;
}

// All that is handed out, until something is wrong, and that.
struct Read {
    std::vector<std::pair<std::string, State>> states; // with their traces
    std::vector<MissingEnd> missing;
    std::vector<std::string> odd;
    std::string error;

    bool operator==(const Read&) const = default;
};

Read read_all(const std::vector<TraceFile>& files, const Selection& selection = {},
              std::size_t memory = ReadingLimits().memory)
{
    Read read;
    try {
        MergedTraces traces(files, selection, {.memory = memory});
        while (const State* state = traces.next())
            read.states.emplace_back(traces.trace().path, *state);
        read.missing = traces.missing();
        read.odd = traces.with_odd_lines();
    } catch (const std::runtime_error& error) {
        read.error = error.what();
    }
    return read;
}

// How it is shared makes no difference.
void expect_the_same(const std::vector<TraceFile>& files, const Selection& selection = {})
{
    const Read alone = read_all(files, selection);
    for (std::size_t here = 0; here <= 1; ++here)
        for (std::size_t of_each = 1; of_each <= files.size(); ++of_each)
            for (const std::size_t memory : {std::size_t{1}, ReadingLimits().memory}) {
                SCOPED_TRACE(std::to_string(here) + " here, others by " + std::to_string(of_each));
                const Read together = read_all(shared(files, here, of_each), selection, memory);
                EXPECT_TRUE(together == alone);
                EXPECT_EQ(together.states.size(), alone.states.size());
                EXPECT_EQ(together.error, alone.error);
            }
}

// With all that a state can have, and at the same times in each.
std::string rich_trace(int rank)
{
    std::string states;
    for (int i = 0; i < 2000; ++i) {
        const int time = 10 * i + (i % 3 == 0 ? 0 : rank);
        states +=
            state("Send", time, time + 1, " toRank='1' cid='0' other" + std::to_string(i % 50) + "='x'");
        states += "<Waitall count='2' time='" + std::to_string(time + 5) + "' end='" +
                  std::to_string(time + 6) + "'><For rid='" + std::to_string(i) +
                  "' fromRank='-2' /><For rid='7' /></Waitall>\n";
        states += "<Nested>" + state("Write", time + 7, time + 7) + "</Nested>" +
                  state("File_write", time + 7, time + 8);
        states += "<Event name='' value='&lt;&#10;' time='" + std::to_string(time + 9) + "' />\n";
    }
    return states;
}

TEST(MergedTraces, AreTheSameFromReaders)
{
    const TemporaryFolder folder;
    std::vector<TraceFile> files;
    for (int rank = 0; rank < 4; ++rank)
        files.push_back(file(folder.write(std::to_string(rank) + ".trc", trace(rich_trace(rank))), rank, 1));
    files[1].ranks = std::make_shared<const ProjectRanks>(
        10, std::vector<ForeignRanks::Run>{{.number = -9, .rank = 100, .count = 5}});
    files[2].clock = files[3].clock = std::make_shared<const HostClock>(HostClock{
        .host = "b", .parts = {{0, 17 * second, 0.001}, {1000 * second, 5 * second, 0}}, .uncertainty = {}});
    expect_the_same(files);
    Selection selection;
    selection.calls = {"Waitall", "File_write"};
    selection.ranks = {0, 2, 3};
    selection.interval = {3 * second, 900 * second};
    selection.events = true;
    ASSERT_GT(read_all(files, selection).states.size(), 100u);
    expect_the_same(files, selection);
    selection.classes = {CallClass::point_to_point};
    selection.threads = {1};
    expect_the_same(files, selection);
}

TEST(MergedTraces, OfReadersLackTheSame)
{
    const TemporaryFolder folder;
    const std::string cut_off = "<Program timeAdjustment='0'>\n" + state("A", 8, 9);
    const std::vector<TraceFile> files = {
        file(folder.write("0.trc", cut_off), 0),
        file(folder.write("1.trc", trace(state("B", 1, 2) + "<!-- odd -->\n")), 1),
        file(folder.write("2.trc",
                          "<Program timeAdjustment='0'>\n<Barrier time='1.000000' end='2.000000'/>\n"),
             2),
    };
    const Read alone = read_all(files);
    EXPECT_EQ(alone.missing.size(), 2u);
    EXPECT_EQ(alone.odd.size(), 2u);
    expect_the_same(files);
}

TEST(MergedTraces, OfReadersHaveTheSameErrors)
{
    const TemporaryFolder folder;
    std::vector<TraceFile> files = {
        file(folder.write("0.trc", trace(state("A", 1, 2) + state("B", 5, 6))), 0),
        file(folder.write("1.trc", trace(state("C", 3, 4) + "<D time='4' end='x' />\n")), 1),
        file(folder.write("2.trc", trace(state("E", 1, 1) + state("F", 9, 10))), 2),
    };
    EXPECT_EQ(read_all(files).states.size(), 3u);
    EXPECT_NE(read_all(files).error, "");
    expect_the_same(files);
    files[1].path = folder.path_of("absent.trc");
    EXPECT_EQ(read_all(files).states.size(), 0u);
    EXPECT_NE(read_all(files).error, "");
    expect_the_same(files);
}

TEST(Traces, AreSharedOutInTheirOrder)
{
    Project project;
    project.levels = {"Rank"};
    project.leaves = {{"3"}, {"0"}, {"1"}, {"4"}, {"2"}};
    project.readers = {std::make_shared<ReaderHere>(), std::make_shared<ReaderHere>()};
    std::vector<std::size_t> readers;
    for (const TraceFile& trace : traces_of(project))
        readers.push_back(std::ranges::find(project.readers, trace.reader) - project.readers.begin());
    EXPECT_EQ(readers, (std::vector<std::size_t>{0, 0, 0, 1, 1}));
}

TEST(MergedTraces, ReadsOnlyWhatIsSelected)
{
    const TemporaryFolder folder;
    const std::vector<TraceFile> files = {
        file(folder.write("0.trc",
                          trace(state("Send", 1, 2) + state("Barrier", 3, 4) + state("File_open", 5, 6)))),
        file(
            folder.write("1.trc", trace(state("Recv", 1, 2) + state("Barrier", 3, 5) + state("Event", 5, 6))),
            0, 1),
        file(folder.path_of("missing.trc"), 7),
    };
    Selection selection;
    selection.ranks = {0};
    EXPECT_EQ(read(files, selection).size(), 6u);
    selection.threads = {1, 2};
    EXPECT_EQ(read(files, selection), (Names{"Recv@0", "Barrier@0", "Event@0"}));
    selection.threads = {};
    selection.classes = {CallClass::collective, CallClass::event};
    EXPECT_EQ(read(files, selection), (Names{"Barrier@0", "Barrier@0", "Event@0"}));
    selection.calls = {"Send"};
    EXPECT_EQ(read(files, selection), (Names{"Send@0", "Barrier@0", "Barrier@0", "Event@0"}));
    selection.interval.end = 4 * second;
    EXPECT_EQ(read(files, selection), (Names{"Send@0", "Barrier@0", "Barrier@0"}));
}

TEST(MergedTraces, ReadsStatesThatOverlapAnInterval)
{
    const TemporaryFolder folder;
    const std::string path =
        folder.write("0.trc", trace(state("A", 1, 2) + state("B", 3, 5) + state("C", 6, 7) +
                                    state("D", 8, 10) + state("E", 12, 13)));
    Selection selection;
    selection.interval = {4 * second, 8 * second};
    EXPECT_EQ(read({file(path)}, selection), (Names{"B@0", "C@0", "D@0"}));
    selection.interval = {5 * second, 5 * second};
    EXPECT_EQ(read({file(path)}, selection), Names{"B@0"});
    selection.interval = {11 * second, 11 * second};
    EXPECT_EQ(read({file(path)}, selection), Names{});
}

TEST(MergedTraces, SkipsStatesThatDidNotEndUnlessTheyAreWanted)
{
    const TemporaryFolder folder;
    const std::vector<TraceFile> files = {
        file(folder.write("0.trc", trace(state("Send", 1, 2) + state("Recv", 3, 4, " unfinished='1'"))))};
    EXPECT_EQ(read(files), Names{"Send@0"});
    Selection selection;
    selection.unfinished = true;
    EXPECT_EQ(read(files, selection), (Names{"Send@0", "Recv@0"}));
}

TEST(MergedTraces, HandsOutNestedStatesWithTheirOwner)
{
    const TemporaryFolder folder;
    const std::string line =
        "<Nested><Bcast time='1' end='2' /></Nested><File_write_all time='0' end='3' />\n";
    Selection selection;
    selection.classes = {CallClass::file};
    MergedTraces traces({file(folder.write("0.trc", trace(line)))}, selection);
    const State* write = traces.next();
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->nested.at(0).name, "Bcast");
}

TEST(MergedTraces, SaysWhichTracesWereCutOff)
{
    const TemporaryFolder folder;
    const std::string cut_off = folder.write("0.trc", "<Program>\n" + state("A", 1, 2));
    MergedTraces traces({file(cut_off), file(folder.write("1.trc", trace("")), 1)});
    EXPECT_EQ(read(traces), Names{"A@0"});
    ASSERT_EQ(traces.missing().size(), 1u);
    EXPECT_EQ(traces.missing()[0], (MissingEnd{cut_off, "</Program>"}));
    EXPECT_EQ(to_string(traces.missing()[0]), cut_off + ": </Program> is missing");
}

TEST(EachPosition, IsDoneOnce)
{
    std::vector<std::atomic<int>> done(100);
    detail::for_each_position(done.size(), [&](std::size_t position) { ++done[position]; });
    EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
}

TEST(EachPosition, OfThoseThatFailTheFirstOneIsTold)
{
    for (int again = 0; again < 100; ++again) {
        try {
            detail::for_each_position(50, [](std::size_t position) {
                if (position >= 7)
                    throw std::runtime_error(std::to_string(position));
            });
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "7");
        }
    }
}

TEST(MergedTraces, GoesOnAfterABrokenTrace)
{
    const TemporaryFolder folder;
    MergedTraces traces({file(folder.write("0.trc", trace("<A time='1' />\n" + state("B", 2, 3)))),
                         file(folder.write("1.trc", trace(state("C", 1, 2))), 1)});
    EXPECT_THROW(traces.next(), ReadError);
    EXPECT_EQ(read(traces), Names{"C@1"});
}

TEST(MergedTraces, SaysWhichTraceIsMissing)
{
    EXPECT_THROW(read({file("/nowhere/app_a_0_0.trc")}), OpenError);
}

// Of this process.
std::size_t resident_bytes()
{
    std::ifstream statistics("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    statistics >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// One trace has states with children, the other one gets the memory of these, but has none.
TEST(ReadAhead, NeedsNoMoreMemoryForMoreStates)
{
    constexpr int steps = 50'000;
    const TemporaryFolder folder;
    std::string with_children, without;
    for (int i = 1; i <= steps; ++i) {
        with_children += "<Waitall time='" + std::to_string(i) + ".0' end='" + std::to_string(i) +
                         ".1'><For rid='1'/><For rid='2'/></Waitall>\n";
        without +=
            state("Barrier", i, i) + state("Barrier", i, i); // else each state's memory stays in its trace
    }
    ReadAhead traces({file(folder.write("0.trc", trace(with_children)), 0),
                      file(folder.write("1.trc", trace(without)), 1)},
                     {});
    std::size_t before = 0;
    for (int i = 0; i < 3 * steps; ++i) {
        ASSERT_TRUE(traces.next());
        if (i == steps)
            before = resident_bytes();
    }
    EXPECT_LT(resident_bytes(), before + (4 << 20));
}

TEST(MergedTraces, NeedFewDescriptors)
{
    const TemporaryFolder folder;
    std::vector<TraceFile> files;
    for (std::size_t i = 0; i <= ReadingLimits().open_files; ++i) {
        std::string states;
        for (int second = 0; second < 100; ++second)
            states += state("A", second, second + 1, " comment='" + std::string(1000, 'x') + "'");
        files.push_back(file(folder.write(std::to_string(i) + ".trc", trace(states)), i));
    }
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit low{32, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    const std::vector<std::string> names = read(files);
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_EQ(names.size(), files.size() * 100);
    EXPECT_EQ(names[1], "A@1");
}

TEST(ForEachTrace, WorksOnAllTraces)
{
    std::vector<TraceFile> files;
    for (int rank = 0; rank < 1000; ++rank)
        files.push_back(file("", rank));
    for (unsigned threads : {0, 1, 3}) {
        std::atomic<std::int64_t> sum = 0;
        for_each_trace(
            files, [&](const TraceFile& trace) { sum += trace.rank; }, threads);
        EXPECT_EQ(sum, 499'500);
    }
    for_each_trace({}, [](const TraceFile&) { FAIL(); });
}

TEST(ForEachTrace, WorksAtTheSameTime)
{
    std::barrier both(2);
    for_each_trace(
        {file("a"), file("b")}, [&](const TraceFile&) { both.arrive_and_wait(); }, 2);
}

TEST(ForEachTrace, ThrowsWhatItsWorkThrows)
{
    std::atomic<int> begun = 0;
    const std::vector<TraceFile> files(1000);
    const auto work = [&](const TraceFile& trace) {
        ++begun;
        throw OpenError(trace.path, ENOENT);
    };
    EXPECT_THROW(for_each_trace(files, work, 2), OpenError);
    EXPECT_LE(begun, 2);
}

} // namespace
} // namespace hdtrace
