// Every function of hdTrace.h: what it writes and how it fails.
#include "writer_support.h"

#include "hdTrace.h"

#include <algorithm>
#include <cstdlib>
#include <errno.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The C library keeps what it has read of LOCPATH.
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:argz_add_sep\n";
}

namespace hdtrace::test {
namespace {

using Names = std::vector<const char*>;

const Names mpi_levels = {"Hostname", "Rank", "Thread"};
const Names mpi_labels = {"node01", "3", "1"};

hdTopology* topology_of(const char* project, const Names& levels)
{
    return hdT_createTopology(project, levels.data(), static_cast<int>(levels.size()));
}

hdTopoNode* node_of(const hdTopology* topology, const Names& labels)
{
    return hdT_createTopoNode(topology, labels.data(), static_cast<int>(labels.size()));
}

// The value and errno of a call that fails, as "-1: text of errno".
template <typename Value> std::string failure(Value value)
{
    const int error = errno;
    const bool failed = value == Value(-1);
    return failed ? hdT_strerror(error) : "no failure";
}

template <typename Object> std::string failure(Object* object)
{
    const int error = errno;
    return object == nullptr ? hdT_strerror(error) : "no failure";
}

const std::string invalid = hdT_strerror(HD_ERR_INVALID_ARGUMENT);
const std::string too_deep = hdT_strerror(HD_ERR_TOO_DEEP);
const std::string no_state = hdT_strerror(HD_ERR_NO_STATE);
const std::string state_open = hdT_strerror(HD_ERR_STATE_OPEN);
const std::string not_xml = hdT_strerror(HD_ERR_NOT_XML);

TEST(StrError, NamesOurErrorsAndTheSystems)
{
    std::vector<std::string> texts = {invalid, too_deep, no_state, state_open, not_xml, "Unknown error"};
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
    EXPECT_STREQ(hdT_strerror(ENOSPC), "No space left on device");
    EXPECT_STREQ(hdT_strerror(0), "Success");
    EXPECT_STREQ(hdT_strerror(-5), "Unknown error");
    EXPECT_STREQ(hdT_strerror(899'999), "Unknown error");
}

TEST(Topology, KnowsItsDepth)
{
    hdTopology* const topology = topology_of("app", mpi_levels);
    ASSERT_NE(topology, nullptr);
    EXPECT_EQ(hdT_getTopoDepth(topology), 3);
    EXPECT_EQ(hdT_destroyTopology(topology), 0);
}

TEST(Topology, RefusesWhatIsNotPermitted)
{
    EXPECT_EQ(failure(hdT_createTopology(nullptr, mpi_levels.data(), 3)), invalid);
    EXPECT_EQ(failure(hdT_createTopology("", mpi_levels.data(), 3)), invalid);
    EXPECT_EQ(failure(hdT_createTopology("app", nullptr, 3)), invalid);
    EXPECT_EQ(failure(hdT_createTopology("app", mpi_levels.data(), 0)), invalid);
    EXPECT_EQ(failure(hdT_createTopology("app", mpi_levels.data(), -1)), invalid);
    EXPECT_EQ(failure(topology_of("app", {"A", nullptr})), invalid);
    EXPECT_EQ(failure(topology_of("app", {"A", ""})), invalid);
    EXPECT_EQ(failure(topology_of("app", {"A;B"})), invalid);
    EXPECT_EQ(failure(hdT_getTopoDepth(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_destroyTopology(nullptr)), invalid);
}

TEST(TopoNode, KnowsItsPath)
{
    hdTopology* const topology = topology_of("my_app 2.0", mpi_levels);
    hdTopoNode* const leaf = node_of(topology, {"nöde_01", "3", "1"});
    ASSERT_NE(leaf, nullptr);
    EXPECT_EQ(hdT_getTopoNodeLevel(leaf), 3);
    EXPECT_STREQ(hdT_getTopoPathLabel(leaf, 1), "nöde_01");
    EXPECT_STREQ(hdT_getTopoPathLabel(leaf, 2), "3");
    EXPECT_STREQ(hdT_getTopoPathLabel(leaf, 3), "1");
    EXPECT_STREQ(hdT_getTopoPathString(leaf), "my-app-2.0_n--de-01_3_1");
    hdTopoNode* const inner = node_of(topology, {"node01"});
    EXPECT_EQ(hdT_getTopoNodeLevel(inner), 1);
    EXPECT_STREQ(hdT_getTopoPathString(inner), "my-app-2.0_node01");
    EXPECT_EQ(hdT_destroyTopoNode(inner), 0);
    EXPECT_EQ(hdT_destroyTopoNode(leaf), 0);
    EXPECT_EQ(hdT_destroyTopology(topology), 0);
}

TEST(TopoNode, CopiesWhatItIsGiven)
{
    std::string project = "app", level = "Host", label = "a";
    hdTopology* const topology = topology_of(project.c_str(), {level.c_str()});
    hdTopoNode* const node = node_of(topology, {label.c_str()});
    project = level = label = "x";
    EXPECT_STREQ(hdT_getTopoPathLabel(node, 1), "a");
    EXPECT_STREQ(hdT_getTopoPathString(node), "app_a");
    hdT_destroyTopoNode(node);
    hdT_destroyTopology(topology);
}

TEST(TopoNode, RefusesWhatIsNotPermitted)
{
    hdTopology* const topology = topology_of("app", {"A", "B"});
    EXPECT_EQ(failure(node_of(nullptr, {"a"})), invalid);
    EXPECT_EQ(failure(hdT_createTopoNode(topology, nullptr, 1)), invalid);
    EXPECT_EQ(failure(node_of(topology, {})), invalid);
    EXPECT_EQ(failure(node_of(topology, {"a", "b", "c"})), invalid);
    EXPECT_EQ(failure(node_of(topology, {"a", nullptr})), invalid);
    EXPECT_EQ(failure(node_of(topology, {""})), invalid);
    EXPECT_EQ(failure(node_of(topology, {"a;b"})), invalid);
    hdTopoNode* const node = node_of(topology, {"a"});
    EXPECT_EQ(failure(hdT_getTopoPathLabel(node, 0)), invalid);
    EXPECT_EQ(failure(hdT_getTopoPathLabel(node, 2)), invalid);
    EXPECT_EQ(failure(hdT_getTopoPathLabel(nullptr, 1)), invalid);
    EXPECT_EQ(failure(hdT_getTopoPathString(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_getTopoNodeLevel(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_destroyTopoNode(nullptr)), invalid);
    hdT_destroyTopoNode(node);
    hdT_destroyTopology(topology);
}

/// Sets the library's settings for one test.
class Api : public testing::Test {
  protected:
    void SetUp() override { setenv("HDTRACE_DIRECTORY", m_directory.path().c_str(), 1); }
    void TearDown() override
    {
        if (trace != nullptr)
            hdT_finalize(trace);
        for (const char* variable : {"HDTRACE_DIRECTORY", "HDTRACE_FORCE_FLUSH", "HDTRACE_BUFFER_SIZE",
                                     "HDTRACE_TIME_DIGITS", "HDTRACE_COMPRESS"})
            unsetenv(variable);
    }

    static hdTrace* create_trace(const char* project, const Names& levels, const Names& labels)
    {
        hdTopology* const topology = topology_of(project, levels);
        hdTopoNode* const node = node_of(topology, labels);
        hdTrace* const created = hdT_createTrace(node);
        const int error = errno;
        hdT_destroyTopoNode(node);
        hdT_destroyTopology(topology);
        errno = error;
        return created;
    }

    void open(const char* project = "app", const Names& levels = mpi_levels, const Names& labels = mpi_labels)
    {
        trace = create_trace(project, levels, labels);
        ASSERT_NE(trace, nullptr) << hdT_strerror(errno);
    }
    void open_enabled()
    {
        open();
        EXPECT_EQ(hdT_enableTrace(trace), 0);
    }
    void state(const char* name)
    {
        EXPECT_EQ(hdT_logStateStart(trace, name), 0);
        EXPECT_EQ(hdT_logStateEnd(trace), 0);
    }
    int finalize()
    {
        hdTrace* const finalized = trace;
        trace = nullptr;
        return hdT_finalize(finalized);
    }
    std::string trc() const { return without_times(content_of(m_directory.file("app_node01_3_1.trc"))); }
    std::string info() const { return without_times(content_of(m_directory.file("app_node01_3_1.info"))); }
    /// What is between the first and the last line of the .trc after hdT_finalize().
    std::string lines()
    {
        EXPECT_EQ(finalize(), 0);
        return written_lines();
    }
    /// The same after calls that failed.
    std::string lines_after_failures()
    {
        EXPECT_EQ(failure(finalize()), hdT_strerror(HD_ERR_REFUSED));
        return written_lines();
    }
    std::string written_lines() const
    {
        const std::string text = trc();
        EXPECT_EQ(text.substr(0, trc_head.size()), trc_head);
        EXPECT_EQ(text.substr(text.size() - footer.size()), footer);
        return text.substr(trc_head.size(), text.size() - trc_head.size() - footer.size());
    }

    const std::string trc_head = "<?xml version='1.0' encoding='UTF-8'?>\n"
                                 "<Program timeAdjustment='S' version='1' rank='3' thread='1'>\n";
    const std::string info_head =
        "Process base='app' host='node01' rank=3 thread=1 version=1 timeAdjustment=S\n";
    const std::string times = " time='T' end='T' />";
    TemporaryDirectory m_directory;
    hdTrace* trace = nullptr;
};

// A mark where a region of the program begins or ends.
std::string mark(const std::string& name, const std::string& kind, const std::string& inside = "")
{
    return "<Event name='" + name + "' kind='" + kind + "' time='T'" +
           (inside.empty() ? " />\n" : " >" + inside + "</Event>\n");
}

TEST_F(Api, ATraceHasItsFirstLinesAtOnce)
{
    open();
    EXPECT_EQ(trc(), trc_head + footer);
    EXPECT_EQ(info(), info_head);
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(trc(), trc_head + footer);
    EXPECT_EQ(info(), info_head + "End thread=1 states=0 dropped=0\n");
}

TEST_F(Api, TimesCountFromTheSecondOfTheStart)
{
    open_enabled();
    state("A");
    finalize();
    const std::string text = content_of(m_directory.file("app_node01_3_1.trc"));
    const double seconds = atof(text.substr(text.find(" time='") + 7).c_str());
    EXPECT_GE(seconds, 0.0);
    EXPECT_LT(seconds, 10.0);
    const long base = atol(text.substr(text.find("timeAdjustment='") + 16).c_str());
    EXPECT_NEAR(static_cast<double>(base), static_cast<double>(time(nullptr)), 10.0);
}

TEST_F(Api, TheInfoHasTheTrueNames)
{
    open("my_app's", mpi_levels, {"näme_\x80", "3", "1"});
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(without_times(content_of(m_directory.file("my-app-s_n--me--_3_1.info"))),
              "Process base='my_app\\'s' host='näme_\\x80' rank=3 thread=1 version=1 timeAdjustment=S\n"
              "End thread=1 states=0 dropped=0\n");
}

TEST_F(Api, OtherLevelsAreNamedInTheInfo)
{
    for (const Names& levels : {Names{"Host", "Worker"}, Names{"Hostname", "Rank"}}) {
        open("app", levels, {"node01", "7"});
        EXPECT_EQ(finalize(), 0);
        EXPECT_EQ(without_times(content_of(m_directory.file("app_node01_7.info"))),
                  "Process base='app' levels='" + std::string(levels[0]) + ";" + levels[1] +
                      ";' path='node01;7;' version=1 timeAdjustment=S\nEnd states=0 dropped=0\n");
        EXPECT_EQ(
            without_times(content_of(m_directory.file("app_node01_7.trc"))),
            "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='S' version='1'>\n</Program>\n");
    }
}

TEST_F(Api, ARankThatIsNoNumberIsALabel)
{
    open("app", mpi_levels, {"node01", "a", "1"});
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(
        without_times(content_of(m_directory.file("app_node01_a_1.info"))),
        "Process base='app' levels='Hostname;Rank;Thread;' path='node01;a;1;' version=1 timeAdjustment=S\n"
        "End states=0 dropped=0\n");
}

TEST_F(Api, TheNodeMayBeDestroyedBeforeTheTrace)
{
    open_enabled(); // which has destroyed it
    state("A");
    EXPECT_EQ(lines(), "<A" + times + "\n");
}

TEST_F(Api, ATraceOfThisNameThatIsOpenIsLeftAlone)
{
    open_enabled();
    state("A");
    EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EBUSY));
    state("B");
    EXPECT_EQ(lines(), "<A" + times + "\n<B" + times + "\n");
    open();
}

TEST_F(Api, OnlyALeafHasATrace)
{
    EXPECT_EQ(failure(create_trace("app", mpi_levels, {"node01", "3"})), invalid);
    EXPECT_EQ(failure(hdT_createTrace(nullptr)), invalid);
}

TEST_F(Api, TheDirectoryIsCreated)
{
    setenv("HDTRACE_DIRECTORY", m_directory.file("a/b").c_str(), 1);
    open();
    EXPECT_EQ(finalize(), 0);
    EXPECT_TRUE(std::filesystem::exists(m_directory.file("a/b/app_node01_3_1.trc")));
}

TEST_F(Api, TheCurrentDirectoryIsTheDefault)
{
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(m_directory.path());
    for (const char* directory : {"", "."}) {
        setenv("HDTRACE_DIRECTORY", directory, 1);
        open();
        EXPECT_EQ(finalize(), 0);
        EXPECT_EQ(std::filesystem::remove("app_node01_3_1.trc"), true);
    }
    std::filesystem::current_path(before);
}

TEST_F(Api, ADirectoryThatCannotBeCreatedIsAnError)
{
    std::ofstream(m_directory.file("file")) << "x";
    setenv("HDTRACE_DIRECTORY", m_directory.file("file/below").c_str(), 1);
    EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(ENOTDIR));
    setenv("HDTRACE_DIRECTORY", m_directory.file("file").c_str(), 1);
    EXPECT_NE(failure(create_trace("app", mpi_levels, mpi_labels)), "no failure");
}

TEST_F(Api, WithoutATraceThereIsNoInfo)
{
    std::filesystem::create_directory(m_directory.file("app_node01_3_1.trc"));
    EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EEXIST));
    EXPECT_FALSE(std::filesystem::exists(m_directory.file("app_node01_3_1.info")));
}

TEST_F(Api, MalformedSettingsAreRefused)
{
    for (const char* size : {"x", "K", "4096 ", " 4096", "-4096", "+4096", "64k", "64KB", "1.5M", "4095", "0",
                             "3K", "99999999999999999999", "9223372036854775807K"}) {
        setenv("HDTRACE_BUFFER_SIZE", size, 1);
        EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EINVAL)) << size;
    }
    unsetenv("HDTRACE_BUFFER_SIZE");
    for (const char* flush : {"2", "yes", "01", " 1"}) {
        setenv("HDTRACE_FORCE_FLUSH", flush, 1);
        EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EINVAL)) << flush;
    }
    unsetenv("HDTRACE_FORCE_FLUSH");
    for (const char* digits : {"5", "10", "x", "-6"}) {
        setenv("HDTRACE_TIME_DIGITS", digits, 1);
        EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EINVAL)) << digits;
    }
    unsetenv("HDTRACE_TIME_DIGITS");
    for (const char* method : {"x", "zst", "zstd ", "ZSTD", "1"}) {
        setenv("HDTRACE_COMPRESS", method, 1);
        EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EINVAL)) << method;
    }
    EXPECT_TRUE(std::filesystem::is_empty(m_directory.path()));
}

TEST_F(Api, TracesAreCompressedAsTheEnvironmentAsks)
{
    for (const auto& [method, suffix] :
         {std::pair("none", ""), std::pair("gzip", ".gz"), std::pair("zstd", ".zst")}) {
        setenv("HDTRACE_COMPRESS", method, 1);
        open();
        EXPECT_EQ(finalize(), 0);
        EXPECT_TRUE(std::filesystem::exists(m_directory.file("app_node01_3_1.trc") + suffix)) << method;
    }
}

TEST_F(Api, TimesHaveTheDigitsThatTheEnvironmentAsksFor)
{
    setenv("HDTRACE_TIME_DIGITS", "6", 1);
    open_enabled();
    state("A");
    finalize();
    const std::string text = content_of(m_directory.file("app_node01_3_1.trc"));
    EXPECT_TRUE(std::regex_search(text, std::regex("<A time='[0-9]+\\.[0-9]{6}' end='[0-9]+\\.[0-9]{6}' />")))
        << text;
}

TEST_F(Api, SettingsAreHonoured)
{
    for (const char* size : {"", "4096", "4K", "64K", "1M", "1G"}) {
        setenv("HDTRACE_BUFFER_SIZE", size, 1);
        open();
        EXPECT_EQ(finalize(), 0);
    }
    setenv("HDTRACE_FORCE_FLUSH", "1", 1);
    open_enabled();
    state("A");
    EXPECT_EQ(trc(), trc_head + "<A" + times + "\n" + footer);
    EXPECT_EQ(hdT_writeInfo(trace, "Line"), 0);
    EXPECT_EQ(info(), info_head + "Line\n");
    finalize();
    setenv("HDTRACE_FORCE_FLUSH", "0", 1);
    open_enabled();
    state("A");
    EXPECT_EQ(trc(), trc_head + footer);
}

TEST_F(Api, ASmallBufferIsWrittenEarlier)
{
    setenv("HDTRACE_BUFFER_SIZE", "64K", 1);
    open_enabled();
    for (int i = 0; i < 2'500; ++i) // about 110 KB
        state("A");
    const std::string small = trc();
    EXPECT_GT(small.size(), trc_head.size());
    EXPECT_EQ(small.back(), '\n');
}

TEST_F(Api, RecordingStartsDisabled)
{
    open();
    EXPECT_EQ(hdT_isEnabled(trace), 0);
    EXPECT_EQ(hdT_disableTrace(trace), 1);
    EXPECT_EQ(hdT_enableTrace(trace), 0);
    EXPECT_EQ(hdT_enableTrace(trace), 1);
    EXPECT_EQ(hdT_isEnabled(trace), 1);
    EXPECT_EQ(hdT_disableTrace(trace), 0);
    EXPECT_EQ(hdT_disableTrace(trace), 1);
    EXPECT_EQ(hdT_isEnabled(trace), 0);
}

TEST_F(Api, AStateHasAttributesAndElements)
{
    open_enabled();
    EXPECT_EQ(hdT_logStateStart(trace, "Send"), 0);
    EXPECT_EQ(hdT_logAttributes(trace, "size='%d' count=\"%d\"", 8, 2), 0);
    EXPECT_EQ(hdT_logElement(trace, "For", "rid='%d'", 5), 0);
    EXPECT_EQ(hdT_logAttribute(trace, "what", "<&>'\"\n"), 0);
    EXPECT_EQ(hdT_logElement(trace, "Empty", " "), 0);
    EXPECT_EQ(hdT_logAttributes(trace, "%s", ""), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    state("Next");
    EXPECT_EQ(lines(), "<Send size='8' count=\"2\" what='&lt;&amp;&gt;&apos;&quot;&#10;' time='T' end='T' >"
                       "<For rid='5' /><Empty /></Send>\n<Next" +
                           times + "\n");
    EXPECT_EQ(info(), info_head + "End thread=1 states=2 dropped=0\n");
}

TEST_F(Api, AStateWithStatesInsideIsARegionBetweenMarks)
{
    open_enabled();
    hdT_logStateStart(trace, "Outer");
    hdT_logAttributes(trace, "a='1'");
    state("Inner");
    hdT_logEvent(trace, "mark & go");
    hdT_logStateStart(trace, "Inner");
    hdT_logElement(trace, "Of", "inner='1'");
    hdT_logStateEnd(trace);
    hdT_logElement(trace, "Of", "outer='1'");
    hdT_logAttributes(trace, "b='2'");
    hdT_logStateEnd(trace);
    hdT_logEvent(trace, "end");
    EXPECT_EQ(lines(), mark("Outer", "begin") + "<Inner" + times +
                           "\n<Event name='mark &amp; go' time='T' />\n"
                           "<Inner time='T' end='T' ><Of inner='1' /></Inner>\n" +
                           mark("Outer", "end", "<Outer a='1' b='2' /><Of outer='1' />") +
                           "<Event name='end' time='T' />\n");
    EXPECT_EQ(info(), info_head + "End thread=1 states=3 dropped=0\n");
}

// However long it lasts: what is inside a region is in the file before it ends.
TEST_F(Api, WhatIsInsideARegionIsNotKept)
{
    constexpr int inner_states = 100'000;
    open_enabled();
    hdT_logStateStart(trace, "Outer");
    for (int i = 0; i < inner_states; ++i)
        state("Inner");
    EXPECT_EQ(hdT_flush(trace), 0);
    EXPECT_EQ(occurrences(content_of(m_directory.file("app_node01_3_1.trc")), "<Inner "),
              static_cast<size_t>(inner_states));
    hdT_logStateEnd(trace);
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(info(), info_head + "End thread=1 states=" + std::to_string(inner_states + 1) + " dropped=0\n");
}

TEST_F(Api, AStateKeepsTheSettingWithWhichItStarted)
{
    open();
    EXPECT_EQ(hdT_logStateStart(trace, "Unseen"), 0);
    hdT_enableTrace(trace);
    EXPECT_EQ(hdT_logAttributes(trace, "of='nobody'"), 0);
    EXPECT_EQ(hdT_logAttribute(trace, "of", "nobody"), 0);
    EXPECT_EQ(hdT_logElement(trace, "Of", "of='nobody'"), 0);
    hdT_logStateStart(trace, "Seen");
    hdT_disableTrace(trace);
    EXPECT_EQ(hdT_logAttributes(trace, "of='seen'"), 0);
    state("Unseen");
    EXPECT_EQ(hdT_logEvent(trace, "unseen"), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(failure(hdT_logStateEnd(trace)), no_state);
    EXPECT_EQ(lines_after_failures(), "<Seen of='seen'" + times + "\n");
}

TEST_F(Api, StatesDeeperThanPermittedAreNotRecordedButBalanced)
{
    open_enabled();
    EXPECT_EQ(hdT_setNestedDepth(trace, 2), 0);
    hdT_logStateStart(trace, "One");
    hdT_logStateStart(trace, "Two");
    EXPECT_EQ(failure(hdT_logStateStart(trace, "Three")), too_deep);
    EXPECT_EQ(failure(hdT_logStateStart(trace, "Four")), too_deep);
    EXPECT_EQ(hdT_logAttributes(trace, "of='four'"), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(hdT_logAttributes(trace, "of='two'"), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    state("Two");
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(lines(),
              mark("One", "begin") + "<Two of='two'" + times + "\n<Two" + times + "\n" + mark("One", "end"));
}

TEST_F(Api, TheGreatestDepthIsTheDefault)
{
    open_enabled();
    for (int depth = 1; depth <= HD_LOG_MAX_DEPTH; ++depth)
        EXPECT_EQ(hdT_logStateStart(trace, "A"), 0);
    for (int depth = 0; depth < 5; ++depth)
        EXPECT_EQ(failure(hdT_logStateStart(trace, "A")), too_deep);
    EXPECT_EQ(hdT_logAttributes(trace, "of='nobody'"), 0);
    EXPECT_EQ(hdT_logEvent(trace, "E"), 0);
    for (int depth = 1; depth <= HD_LOG_MAX_DEPTH + 5; ++depth)
        EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(failure(hdT_logStateEnd(trace)), no_state);
    const std::string text = lines_after_failures();
    EXPECT_EQ(occurrences(text, mark("A", "begin")), static_cast<size_t>(HD_LOG_MAX_DEPTH));
    EXPECT_EQ(occurrences(text, mark("A", "end")), static_cast<size_t>(HD_LOG_MAX_DEPTH));
    EXPECT_EQ(occurrences(text, "nobody"), 0u);
}

TEST_F(Api, TooDeepIsNoErrorWhileNothingIsRecorded)
{
    open();
    for (int depth = 0; depth < HD_LOG_MAX_DEPTH + 5; ++depth)
        EXPECT_EQ(hdT_logStateStart(trace, "A"), 0);
    for (int depth = 0; depth < HD_LOG_MAX_DEPTH + 5; ++depth)
        EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(lines(), "");
}

TEST_F(Api, TheDepthHasLimits)
{
    open();
    EXPECT_EQ(failure(hdT_setNestedDepth(trace, 0)), invalid);
    EXPECT_EQ(failure(hdT_setNestedDepth(trace, HD_LOG_MAX_DEPTH + 1)), invalid);
    EXPECT_EQ(hdT_setNestedDepth(trace, 1), 0);
    EXPECT_EQ(hdT_setNestedDepth(trace, HD_LOG_MAX_DEPTH), 0);
}

TEST_F(Api, FinalizeEndsOpenStatesAndSaysSo)
{
    open_enabled();
    hdT_logStateStart(trace, "Outer");
    hdT_logAttributes(trace, "a='1'");
    hdT_logStateStart(trace, "Inner");
    EXPECT_EQ(failure(finalize()), state_open);
    EXPECT_EQ(trc(), trc_head + mark("Outer", "begin") + "<Inner" + times + "\n" +
                         mark("Outer", "end", "<Outer a='1' />") + footer);
    EXPECT_EQ(info(), info_head + "End thread=1 states=2 dropped=0\n");
}

TEST_F(Api, FinalizeTellsOfCallsThatFailed)
{
    open_enabled();
    EXPECT_EQ(failure(hdT_logStateStart(trace, "two words")), invalid);
    EXPECT_EQ(hdT_logStateStart(trace, "State"), 0);
    EXPECT_EQ(failure(hdT_logAttributes(trace, "a='<'")), not_xml);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(failure(finalize()), hdT_strerror(HD_ERR_REFUSED));
    EXPECT_EQ(trc(), trc_head + "<State" + times + "\n" + footer);
    EXPECT_EQ(info(), info_head + "End thread=1 states=1 dropped=0 refused=2\n");
}

TEST_F(Api, CallsWithoutAStateFail)
{
    open_enabled();
    EXPECT_EQ(failure(hdT_logStateEnd(trace)), no_state);
    EXPECT_EQ(failure(hdT_logAttributes(trace, "a='1'")), no_state);
    EXPECT_EQ(failure(hdT_logAttribute(trace, "a", "1")), no_state);
    EXPECT_EQ(failure(hdT_logElement(trace, "E", "a='1'")), no_state);
    EXPECT_EQ(lines_after_failures(), "");
}

TEST_F(Api, NullPointersAreRefused)
{
    open_enabled();
    hdT_logStateStart(trace, "A");
    const char* const no_text = nullptr;
    EXPECT_EQ(failure(hdT_finalize(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_enableTrace(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_disableTrace(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_isEnabled(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_setNestedDepth(nullptr, 1)), invalid);
    EXPECT_EQ(failure(hdT_setForceFlush(nullptr, 1)), invalid);
    EXPECT_EQ(failure(hdT_flush(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_logStateStart(nullptr, "A")), invalid);
    EXPECT_EQ(failure(hdT_logStateStart(trace, no_text)), invalid);
    EXPECT_EQ(failure(hdT_logAttributes(nullptr, "a='1'")), invalid);
    EXPECT_EQ(failure(hdT_logAttributes(trace, no_text)), invalid);
    EXPECT_EQ(failure(hdT_logAttribute(nullptr, "a", "1")), invalid);
    EXPECT_EQ(failure(hdT_logAttribute(trace, no_text, "1")), invalid);
    EXPECT_EQ(failure(hdT_logAttribute(trace, "a", no_text)), invalid);
    EXPECT_EQ(failure(hdT_logElement(nullptr, "E", "a='1'")), invalid);
    EXPECT_EQ(failure(hdT_logElement(trace, no_text, "a='1'")), invalid);
    EXPECT_EQ(failure(hdT_logElement(trace, "E", no_text)), invalid);
    EXPECT_EQ(failure(hdT_logStateEnd(nullptr)), invalid);
    EXPECT_EQ(failure(hdT_logEvent(nullptr, "e")), invalid);
    EXPECT_EQ(failure(hdT_logEvent(trace, no_text)), invalid);
    EXPECT_EQ(failure(hdT_logEvent(trace, "")), invalid);
    EXPECT_EQ(failure(hdT_writeInfo(nullptr, "x")), invalid);
    EXPECT_EQ(failure(hdT_writeInfo(trace, no_text)), invalid);
    hdT_logStateEnd(trace);
    EXPECT_EQ(lines_after_failures(), "<A" + times + "\n");
}

TEST_F(Api, NamesAreXmlNames)
{
    open_enabled();
    const std::vector<std::string> malformed = {"",     " A",     "A ",  "1A",    "-A",     ".A",     "A:B",
                                                "A<",   "A'",     "A=B", "A\nB",  "xml",    "xmlns",  "A/B",
                                                "\xC3", "A\xC3z", "A×B", "Event", "Nested", "Program"};
    for (const std::string& name : malformed) {
        EXPECT_EQ(failure(hdT_logStateStart(trace, name.c_str())), invalid) << name;
        EXPECT_EQ(failure(hdT_logStateEnd(trace)), no_state) << name;
    }
    const std::vector<std::string> good = {"A", "_", "a-b.c_1", "Überfahrt", "名前", "Xml", "a·b", "𐀀"};
    std::string expected;
    for (const std::string& name : good) {
        state(name.c_str());
        expected += "<" + name + times + "\n";
    }
    const std::string long_name(100'000, 'n');
    hdT_logStateStart(trace, long_name.c_str());
    hdT_logElement(trace, long_name.c_str(), " ");
    hdT_logStateEnd(trace);
    expected += "<" + long_name + " time='T' end='T' ><" + long_name + " /></" + long_name + ">\n";
    EXPECT_EQ(lines_after_failures(), expected);
}

TEST_F(Api, NamesOfAttributesAndElementsToo)
{
    open_enabled();
    hdT_logStateStart(trace, "A");
    for (const char* name : {"", "1", "a b", "a:b", "xmlns"}) {
        EXPECT_EQ(failure(hdT_logAttribute(trace, name, "1")), invalid) << name;
        EXPECT_EQ(failure(hdT_logElement(trace, name, "a='1'")), invalid) << name;
    }
    EXPECT_EQ(failure(hdT_logElement(trace, "Nested", "a='1'")), invalid);
    hdT_logStateEnd(trace);
    EXPECT_EQ(lines_after_failures(), "<A" + times + "\n");
}

TEST_F(Api, AttributesMustBeXml)
{
    open_enabled();
    hdT_logStateStart(trace, "A");
    for (const char* attributes :
         {"a",           "a=",       "a=1",        "a='1",         "a=\"1'",         "='1'",
          "a='1'b='2'",  "a='<'",    "a='1' /><B", "a='&'",        "a='&nbsp;'",     "a='&amp'",
          "a='&#;'",     "a='&#x;'", "a='&#0;'",   "a='&#xD800;'", "a='&#x110000;'", "a='&#99999999999;'",
          "a='&#1a;'",   "a='\n'",   "a='\t'",     "a='\x01'",     "a='\xC3'",       "a='\xEF\xBF\xBE'",
          "1='1'",       "a:b='1'",  "xmlns='1'",  "good='1' a",   "time='1'",       "end='1'",
          "b='1' b='2'", "a='1' !"}) {
        EXPECT_EQ(failure(hdT_logAttributes(trace, "%s", attributes)), not_xml) << attributes;
        EXPECT_EQ(failure(hdT_logElement(trace, "E", "%s", attributes)), not_xml) << attributes;
    }
    EXPECT_EQ(hdT_logAttributes(trace, " a = '1'\n\tb=\"'\"\r\n"), 0);
    EXPECT_EQ(hdT_logAttributes(trace, "c='&amp;&lt;&gt;&apos;&quot;&#10;&#x1F600;>' ü='ä€𝄞' _='' times='1'"),
              0);
    hdT_logStateEnd(trace);
    EXPECT_EQ(lines_after_failures(),
              "<A a='1' b=\"'\" c='&amp;&lt;&gt;&apos;&quot;&#10;&#x1F600;>' ü='ä€𝄞' _='' times='1'" + times +
                  "\n");
}

TEST_F(Api, AnAttributeIsGivenOnce)
{
    open_enabled();
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logAttributes(trace, "a='1' ab=\"2\""), 0);
    EXPECT_EQ(failure(hdT_logAttributes(trace, "b='1' a='2'")), not_xml);
    EXPECT_EQ(failure(hdT_logAttribute(trace, "ab", "1")), not_xml);
    EXPECT_EQ(failure(hdT_logAttribute(trace, "time", "1")), not_xml);
    EXPECT_EQ(failure(hdT_logAttribute(trace, "end", "1")), not_xml);
    EXPECT_EQ(hdT_logAttribute(trace, "b", "a='1'"), 0);
    EXPECT_EQ(hdT_logElement(trace, "E", "a='1'"), 0);
    EXPECT_EQ(hdT_logElement(trace, "E", "a='1'"), 0);
    hdT_logStateEnd(trace);
    state("A");
    EXPECT_EQ(lines_after_failures(),
              "<A a='1' ab=\"2\" b='a=&apos;1&apos;' time='T' end='T' ><E a='1' /><E a='1' /></A>\n<A" +
                  times + "\n");
}

TEST_F(Api, TextsMayBeLong)
{
    open_enabled();
    const std::string text(300'000, 'x');
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logAttributes(trace, "a='%s'", text.c_str()), 0);
    EXPECT_EQ(hdT_logElement(trace, "E", "a='%s'", text.c_str()), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(hdT_logEvent(trace, text.c_str()), 0);
    EXPECT_EQ(hdT_writeInfo(trace, "Line text='%s'", text.c_str()), 0);
    EXPECT_EQ(lines(), "<A a='" + text + "' time='T' end='T' ><E a='" + text + "' /></A>\n<Event name='" +
                           text + "' time='T' />\n");
    EXPECT_EQ(info(), info_head + "Line text='" + text + "'\nEnd thread=1 states=1 dropped=0\n");
}

TEST_F(Api, InfoLinesAreWrittenAlways)
{
    open();
    EXPECT_EQ(hdT_writeInfo(trace, "File name='%s' id=%d", "/tmp/x", 1), 0);
    EXPECT_EQ(hdT_writeInfo(trace, "Two id=1\nLines id=2\n"), 0);
    EXPECT_EQ(hdT_writeInfo(trace, "%s", ""), 0);
    EXPECT_EQ(info(), info_head);
    EXPECT_EQ(hdT_flush(trace), 0);
    EXPECT_EQ(info(), info_head + "File name='/tmp/x' id=1\nTwo id=1\nLines id=2\n");
}

TEST_F(Api, FlushWritesWhatIsComplete)
{
    open_enabled();
    state("A");
    hdT_logStateStart(trace, "B");
    EXPECT_EQ(trc(), trc_head + footer);
    EXPECT_EQ(hdT_flush(trace), 0);
    EXPECT_EQ(trc(), trc_head + "<A" + times + "\n" + footer);
    hdT_logStateEnd(trace);
}

TEST_F(Api, FlushCanBeForced)
{
    open_enabled();
    state("A");
    hdT_writeInfo(trace, "One");
    EXPECT_EQ(hdT_setForceFlush(trace, 1), 0);
    EXPECT_EQ(trc(), trc_head + "<A" + times + "\n" + footer);
    EXPECT_EQ(info(), info_head + "One\n");
    state("B");
    hdT_writeInfo(trace, "Two");
    EXPECT_EQ(trc(), trc_head + "<A" + times + "\n<B" + times + "\n" + footer);
    EXPECT_EQ(info(), info_head + "One\nTwo\n");
    EXPECT_EQ(hdT_setForceFlush(trace, 0), 0);
    state("C");
    EXPECT_EQ(occurrences(trc(), "<C"), 0u);
}

TEST_F(Api, ASystemErrorIsToldAndTheRestCounted)
{
    open_enabled();
    state("A");
    hdT_flush(trace);
    for (int descriptor = 400; descriptor < 1'000; ++descriptor) {
        char target[4096] = "";
        if (readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target, sizeof target - 1) >
                0 &&
            std::string(target).ends_with(".trc"))
            close(descriptor);
    }
    state("B");
    EXPECT_EQ(failure(hdT_flush(trace)), hdT_strerror(EBADF));
    hdT_logStateStart(trace, "C");
    EXPECT_EQ(failure(hdT_logStateEnd(trace)), hdT_strerror(EBADF));
    EXPECT_EQ(failure(hdT_logEvent(trace, "E")), hdT_strerror(EBADF));
    EXPECT_EQ(failure(finalize()), hdT_strerror(EBADF));
    EXPECT_EQ(trc(), trc_head + "<A" + times + "\n" + footer);
    EXPECT_EQ(info(), info_head + "End thread=1 states=1 dropped=2\n");
}

TEST_F(Api, FilesThatAreNotOursAreNotWritten)
{
    for (const char* suffix : {".info", ".trc", ".trc.gz"}) {
        const std::string link = m_directory.file("app_node01_3_1") + suffix;
        std::filesystem::create_symlink("/dev/null", link);
        EXPECT_EQ(failure(create_trace("app", mpi_levels, mpi_labels)), hdT_strerror(EEXIST));
        EXPECT_TRUE(std::filesystem::remove(link));
        EXPECT_TRUE(std::filesystem::is_empty(m_directory.path()));
    }
}

TEST_F(Api, AForkedChildLeavesTheFilesToItsParent)
{
    open_enabled();
    state("A");
    const pid_t child = fork();
    if (child == 0) {
        hdT_logEvent(trace, "of the child");
        hdT_writeInfo(trace, "Line of='child'");
        _exit(hdT_finalize(trace) == -1 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    state("B");
    EXPECT_EQ(lines(), "<A" + times + "\n<B" + times + "\n");
    EXPECT_EQ(info(), info_head + "End thread=1 states=2 dropped=0\n");
}

TEST_F(Api, TracesAreIndependent)
{
    open_enabled();
    hdTrace* const first = trace;
    open("other");
    hdT_enableTrace(trace);
    hdT_logStateStart(first, "First");
    state("Second");
    hdT_logStateEnd(first);
    EXPECT_EQ(hdT_finalize(first), 0);
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(trc(), trc_head + "<First" + times + "\n" + footer);
    EXPECT_EQ(without_times(content_of(m_directory.file("other_node01_3_1.trc"))),
              trc_head + "<Second" + times + "\n" + footer);
}

TEST_F(Api, NumbersDoNotDependOnTheLocale)
{
    setenv("LOCPATH", HDTRACE_TEST_LOCALES, 1);
    ASSERT_NE(setlocale(LC_ALL, "de_DE.UTF-8"), nullptr)
        << "The build generates this locale with localedef, from what Debian has in the package locales.";
    char text[8];
    snprintf(text, sizeof text, "%.1f", 1.5);
    EXPECT_STREQ(text, "1,5");
    open_enabled();
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logAttributes(trace, "real='%.2f' grouped='%'d'", 1.25, 1'234'567), 0);
    EXPECT_EQ(hdT_logElement(trace, "E", "real='%g'", 0.5), 0);
    hdT_logStateEnd(trace);
    EXPECT_EQ(hdT_writeInfo(trace, "Line real=%f", 2.5), 0);
    snprintf(text, sizeof text, "%.1f", 1.5);
    EXPECT_STREQ(text, "1,5") << "the program's locale is changed";
    setlocale(LC_ALL, "C");
    EXPECT_EQ(lines(), "<A real='1.25' grouped='1234567' time='T' end='T' ><E real='0.5' /></A>\n");
    EXPECT_EQ(info(), info_head + "Line real=2.500000\nEnd thread=1 states=1 dropped=0\n");
}

TEST_F(Api, WideCharactersBecomeUtf8)
{
    open_enabled();
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logAttributes(trace, "wide='%ls'", L"ä€"), 0);
    hdT_logStateEnd(trace);
    EXPECT_EQ(lines(), "<A wide='ä€'" + times + "\n");
}

} // namespace
} // namespace hdtrace::test
