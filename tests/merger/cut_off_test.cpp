// A trace as the library writes it, cut off at many places: read, checked and closed.
#include "hdtrace/format/repair.h"
#include "hdtrace/format/trc_reader.h"
#include "hdtrace/format/validate.h"
#include "tests/unit/reader_support.h"

#include <gtest/gtest.h>
#include <hdTrace.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace hdtrace {
namespace {

namespace fs = std::filesystem;

using test::Outcome;
using test::read_all;

std::string read_file(const fs::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void log_step(hdTrace* trace, int step)
{
    hdT_logStateStart(trace, "Step");
    hdT_logAttributes(trace, "number='%d'", step);
    hdT_logAttribute(trace, "comment", "größer als 3 & < 𝄞");
    if (step % 2 == 0) {
        hdT_logStateStart(trace, "Inner");
        hdT_logElement(trace, "For", "rid='%d'", step);
        hdT_logStateEnd(trace);
    }
    hdT_logElement(trace, "Result", "value='%d'", step * step);
    hdT_logStateEnd(trace);
    if (step % 3 == 0)
        hdT_logEvent(trace, "a moment");
}

/// What the trace library writes into a trace of some kilobytes.
std::string write_trace()
{
    std::string folder = (fs::temp_directory_path() / "hdtrace-XXXXXX").string();
    setenv("HDTRACE_DIRECTORY", mkdtemp(folder.data()), 1);
    const char* levels[] = {"Hostname", "Rank", "Thread"};
    const char* labels[] = {"node01", "0", "0"};
    hdTopology* topology = hdT_createTopology("app", levels, 3);
    hdTopoNode* node = hdT_createTopoNode(topology, labels, 3);
    hdTrace* trace = hdT_createTrace(node);
    hdT_enableTrace(trace);
    for (int step = 0; step < 60; ++step)
        log_step(trace, step);
    EXPECT_EQ(hdT_finalize(trace), 0);
    hdT_destroyTopoNode(node);
    hdT_destroyTopology(topology);
    const std::string text = read_file(fs::path(folder) / "app_node01_0_0.trc");
    fs::remove_all(folder);
    return text;
}

class CutOffTrace : public testing::Test {
  protected:
    static void SetUpTestSuite()
    {
        text = write_trace();
        const test::TemporaryFile file("app_node01_0_0.trc", text);
        TrcReader reader(file.path());
        states = read_all(reader).states;
    }

    /// The states that stand in whole lines of the first @p size bytes.
    static std::vector<State> states_before(std::size_t size)
    {
        const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
        const auto end =
            std::find_if(states.begin(), states.end(), [&](const State& s) { return s.line > lines; });
        return {states.begin(), end};
    }

    static void check(std::size_t size)
    {
        const test::TemporaryFile file("app_node01_0_0.trc", text.substr(0, size));
        TrcReader reader(file.path());
        const Outcome outcome = read_all(reader);
        const bool is_whole = size >= text.size() - 1;
        EXPECT_EQ(outcome.states, states_before(size)) << size;
        EXPECT_EQ(outcome.complete, is_whole) << size;
        EXPECT_EQ(outcome.missing.ends_with("</Program>") || outcome.missing.ends_with(" on"), !is_whole)
            << size;
    }

    static std::vector<std::size_t> random_sizes(std::size_t count)
    {
        std::mt19937 random(1);
        std::vector<std::size_t> sizes(count);
        std::ranges::generate(
            sizes, [&] { return std::uniform_int_distribution<std::size_t>(0, text.size())(random); });
        return sizes;
    }

    static inline std::string text;
    static inline std::vector<State> states;
};

TEST_F(CutOffTrace, IsLargeEnough)
{
    EXPECT_GT(text.size(), 8192u);
    EXPECT_EQ(states.size(), 140u);
}

TEST_F(CutOffTrace, YieldsItsWholeLinesAtEveryByteOfItsEnd)
{
    for (std::size_t size = text.size() - 4096; size <= text.size(); ++size)
        check(size);
}

TEST_F(CutOffTrace, YieldsItsWholeLinesAtRandomPlaces)
{
    for (const std::size_t size : random_sizes(1000))
        check(size);
}

TEST_F(CutOffTrace, IsNotValidAndTheReasonIsSaid)
{
    for (const std::size_t size : random_sizes(20)) {
        const test::TemporaryFile file("app_node01_0_0.trc", text.substr(0, size));
        const std::vector<Problem> problems = validate(file.path());
        ASSERT_EQ(problems.size(), 1u) << size;
        const std::string problem = to_string(problems.front());
        EXPECT_NE(problem.find(": the trace is cut off: "), std::string::npos) << problem;
        EXPECT_EQ(problems.front().kind, Problem::Kind::cut_off) << problem;
    }
}

TEST_F(CutOffTrace, IsClosedWithAllItsStates)
{
    std::vector<std::size_t> sizes = random_sizes(60);
    for (std::size_t size = 0; size < 200; size += 7) // in and around the root
        sizes.push_back(size);
    for (const std::size_t size : sizes) {
        const test::TemporaryFile file("app_node01_0_0.trc", text.substr(0, size));
        TrcReader cut_off(file.path());
        const Outcome outcome = read_all(cut_off);
        close_trace(file.path(), cut_off, outcome.states.size());

        TrcReader reader(file.path());
        const Outcome closed = read_all(reader);
        EXPECT_EQ(closed.states, outcome.states) << size;
        EXPECT_TRUE(closed.complete) << size;
        EXPECT_EQ(reader.rank(), 0) << size;
        EXPECT_TRUE(validate(file.path()).empty()) << size;
        EXPECT_EQ(read_file(file.path() + ".orig"), text.substr(0, size)) << size;
    }
}

class TraceClosing : public testing::Test {
  protected:
    static void close(const std::string& path)
    {
        TrcReader reader(path);
        close_trace(path, reader, read_all(reader).states.size());
    }
};

TEST_F(TraceClosing, DropsAStateThatWasCutOffBetweenLines)
{
    const std::string kept = "<Program>\n<A time='1' end='2'>\n<For rid='1' />\n</A>\n";
    const test::TemporaryFile file("a.trc",
                                   kept + "<Nested>\n<B time='1' end='2' />\n</Nested>\n<C time='1'\n");
    close(file.path());
    EXPECT_EQ(read_file(file.path()), kept + "</Program>\n");
}

TEST_F(TraceClosing, RefusesStatesThatShareALine)
{
    const std::string text = "<Program>\n<A time='1' end='2' /><B time='2' end='3'>\n<For rid='1' />\n";
    const test::TemporaryFile file("a.trc", text);
    EXPECT_THROW(close(file.path()), std::runtime_error);
    EXPECT_EQ(read_file(file.path()), text);
    EXPECT_FALSE(fs::exists(file.path() + ".orig"));
}

TEST_F(TraceClosing, KeepsAnOlderOriginal)
{
    const test::TemporaryFile file("a.trc", "<Program>\n");
    std::ofstream(file.path() + ".orig") << "precious";
    EXPECT_THROW(close(file.path()), std::system_error);
    EXPECT_EQ(read_file(file.path()), "<Program>\n");
    EXPECT_EQ(read_file(file.path() + ".orig"), "precious");
}

} // namespace
} // namespace hdtrace
