// The C API while memory is short or the disk is full.
#include "writer_fault_hooks.h"
#include "writer_support.h"

#include "hdTrace.h"

#include <errno.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::test {
namespace {

class ApiFaults : public testing::Test {
  protected:
    void SetUp() override
    {
        setenv("HDTRACE_DIRECTORY", m_directory.path().c_str(), 1);
        topology = hdT_createTopology("app", levels, 1);
        node = hdT_createTopoNode(topology, labels, 1);
        trace = hdT_createTrace(node);
        ASSERT_NE(trace, nullptr);
        hdT_enableTrace(trace);
    }
    void TearDown() override
    {
        end_faults();
        if (trace != nullptr)
            hdT_finalize(trace);
        hdT_destroyTopoNode(node);
        hdT_destroyTopology(topology);
        unsetenv("HDTRACE_DIRECTORY");
    }

    void fill_state(int number)
    {
        EXPECT_EQ(hdT_logStateStart(trace, "Outer"), 0);
        EXPECT_EQ(hdT_logAttributes(trace, "number='%d' twice='%d'", number, 2 * number), 0);
        EXPECT_EQ(hdT_logStateStart(trace, "Inner"), 0);
        EXPECT_EQ(hdT_logAttribute(trace, "text", "a < b"), 0);
        EXPECT_EQ(hdT_logElement(trace, "Child", "number='%d'", number), 0);
        EXPECT_EQ(hdT_logStateEnd(trace), 0);
        EXPECT_EQ(hdT_logStateEnd(trace), 0);
        EXPECT_EQ(hdT_writeInfo(trace, "Line number=%d", number), 0);
    }
    int finalize()
    {
        hdTrace* const finalized = trace;
        trace = nullptr;
        return hdT_finalize(finalized);
    }
    std::string trc() const { return without_times(content_of(m_directory.file("app_a.trc"))); }
    std::string info() const { return content_of(m_directory.file("app_a.info")); }

    const char* const levels[1] = {"Host"};
    const char* const labels[1] = {"a"};
    TemporaryDirectory m_directory;
    hdTopology* topology = nullptr;
    hdTopoNode* node = nullptr;
    hdTrace* trace = nullptr;
};

TEST_F(ApiFaults, RecordingAsksForNoMemoryOnceItIsUnderWay)
{
    fill_state(1'000'000);
    largest_allocation = 0;
    for (int i = 0; i < 10'000; ++i)
        fill_state(i);
    EXPECT_EQ(finalize(), 0);
    EXPECT_EQ(occurrences(info(), "End states=20002 dropped=0\n"), 1u);
}

TEST_F(ApiFaults, AFullDiskIsToldByCreate)
{
    EXPECT_EQ(finalize(), 0);
    // What describes the trace may still fit, the trace does not.
    pwrite_fault = [](int descriptor, const void* data, size_t size, off_t offset) -> ssize_t {
        static bool is_full = false;
        errno = ENOSPC;
        return std::exchange(is_full, true) ? -1 : pwrite(descriptor, data, size, offset);
    };
    EXPECT_EQ(hdT_createTrace(node), nullptr);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_THROW(info(), std::runtime_error) << "it is removed";
}

TEST_F(ApiFaults, WithoutMemoryNothingIsCreated)
{
    largest_allocation = 0;
    EXPECT_EQ(hdT_createTopology("app", levels, 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_createTopoNode(topology, labels, 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_createTrace(node), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST_F(ApiFaults, AStateThatCannotBeKeptIsBalanced)
{
    largest_allocation = 0;
    EXPECT_EQ(hdT_logStateStart(trace, "Lost"), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_logAttributes(trace, "of='nobody'"), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    largest_allocation = SIZE_MAX;
    hdT_logStateStart(trace, "Kept");
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(finalize(), -1);
    EXPECT_EQ(errno, HD_ERR_REFUSED);
    EXPECT_EQ(occurrences(trc(), "<Kept time='T' end='T' />\n"), 1u);
    EXPECT_EQ(occurrences(trc(), "Lost"), 0u);
}

TEST_F(ApiFaults, WhatCannotBeAddedIsLeftOut)
{
    const std::string text(10'000, 'x');
    hdT_logStateStart(trace, "A");
    hdT_logAttributes(trace, "kept='1'");
    largest_allocation = 5'000;
    EXPECT_EQ(hdT_logAttributes(trace, "a='%s'", text.c_str()), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_logAttribute(trace, "a", text.c_str()), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_logElement(trace, "Child", "a='%s'", text.c_str()), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_logElement(trace, text.c_str(), " "), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_writeInfo(trace, "Line a='%s'", text.c_str()), -1);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(hdT_writeInfo(trace, "Line kept=1"), 0);
    EXPECT_EQ(hdT_logStateEnd(trace), 0);
    EXPECT_EQ(finalize(), -1);
    EXPECT_EQ(errno, HD_ERR_REFUSED);
    EXPECT_EQ(occurrences(trc(), "<A kept='1' time='T' end='T' />\n"), 1u);
    EXPECT_EQ(occurrences(info(), "\nLine kept=1\nEnd states=1 dropped=0 refused=5\n"), 1u);
}

TEST_F(ApiFaults, AFullDiskIsToldByTheNextCallAndByFinalize)
{
    pwrite_fault = [](int, const void*, size_t, off_t) -> ssize_t {
        errno = ENOSPC;
        return -1;
    };
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logStateEnd(trace), 0); // still in the buffer
    EXPECT_EQ(hdT_flush(trace), -1);
    EXPECT_EQ(errno, ENOSPC);
    hdT_logStateStart(trace, "A");
    EXPECT_EQ(hdT_logStateEnd(trace), -1);
    EXPECT_EQ(errno, ENOSPC);
    pwrite_fault = nullptr;
    EXPECT_EQ(finalize(), -1);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(occurrences(info(), "End states=0 dropped=2\n"), 1u);
}

} // namespace
} // namespace hdtrace::test
