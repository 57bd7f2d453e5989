// The .trc file, while the system fails: nothing is half-written, everything lost is counted, the program
// goes on.
#include "compact_support.h"
#include "writer_fault_hooks.h"
#include "writer_support.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hdtrace::test {
namespace {

struct Report {
    int calls = 0;
    int error = 0;
    std::string path;
} report;

void remember(const char* path, int error)
{
    ++report.calls;
    report.error = error;
    report.path = path;
}

class Faults : public testing::Test {
  protected:
    void SetUp() override { report = {}; }
    void TearDown() override { end_faults(); }

    static TraceSettings settings()
    {
        TraceSettings settings;
        settings.buffer_size = 1;
        settings.on_error = remember;
        return settings;
    }

    static void expect_reported_once(const std::string& path, int error)
    {
        EXPECT_EQ(report.calls, 1);
        EXPECT_EQ(report.error, error) << strerror(report.error);
        EXPECT_EQ(report.path, path);
    }

    // Whole lines, as many states as the writer says.
    static void expect_true_counts(const Trace& trace, int recorded)
    {
        const std::string content = trace.content();
        EXPECT_TRUE(content.empty() || content.back() == '\n');
        EXPECT_EQ(occurrences(content, "<A "), static_cast<size_t>(states_in_file(trace.writer)));
        EXPECT_EQ(trace.writer.states(), recorded);
    }
};

// Runs in a child, so that limits and signals touch nothing else.
void expect_in_child(const std::function<void()>& test)
{
    const pid_t child = fork();
    if (child == 0) {
        test();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST_F(Faults, AMissingDirectoryIsSaidByOpen)
{
    const TemporaryDirectory directory;
    TraceWriter writer;
    EXPECT_EQ(writer.open(directory.file("missing/t").c_str(), "", 0, settings(), nullptr), ENOENT);
    EXPECT_EQ(report.calls, 0);
    for (int i = 0; i < 10'000; ++i) {
        writer.enter();
        TextElement(writer).text("<A").times(0, 0).end("A");
    }
    EXPECT_EQ(writer.flush(), ENOENT);
    EXPECT_EQ(writer.close(), ENOENT);
    EXPECT_EQ(states_in_file(writer), 0);
    EXPECT_EQ(writer.dropped_states(), 10'000);
    EXPECT_EQ(report.calls, 0);
}

ssize_t fill_disk(int, const void*, size_t, off_t)
{
    errno = ENOSPC;
    return -1;
}

TEST_F(Faults, AFullDeviceIsSaidByOpen)
{
    const TemporaryDirectory directory;
    TraceWriter writer;
    pwrite_fault = fill_disk;
    EXPECT_EQ(writer.open(directory.file("a.trc").c_str(), "", 0, settings(), nullptr), ENOSPC);
    EXPECT_EQ(writer.close(), ENOSPC);
}

TEST_F(Faults, TheInfoSaysOnceThatItCannotBeWritten)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    pwrite_fault = fill_disk;
    ASSERT_EQ(info.open(directory.file("a.info").c_str(), remember), 0);
    EXPECT_EQ(info.write("kept\n", 5), 0);
    EXPECT_EQ(info.flush(), ENOSPC);
    EXPECT_EQ(info.flush(), ENOSPC);
    EXPECT_EQ(info.close(), ENOSPC);
    expect_reported_once(directory.file("a.info"), ENOSPC);
}

TEST_F(Faults, TheInfoGoesOnWhenThereIsRoomAgain)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("a.info");
    InfoWriter info;
    ASSERT_EQ(info.open(path.c_str()), 0);
    EXPECT_EQ(info.write("Process\n", 8), 0);
    pwrite_fault = fill_disk;
    EXPECT_EQ(info.flush(), ENOSPC);
    EXPECT_EQ(info.write("Comm\n", 5), 0);
    EXPECT_EQ(info.write_ahead("End\n", 4), 0);
    end_faults();
    EXPECT_EQ(info.close(), 0);
    EXPECT_EQ(content_of(path), "Process\nComm\nEnd\n");
}

std::atomic<int> attempts;

ssize_t count_attempts(int, const void*, size_t, off_t)
{
    ++attempts;
    errno = ENOSPC;
    return -1;
}

TEST_F(Faults, TheInfoTellsHowManyLinesWereLostAndNotEachLineIsTried)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("a.info");
    InfoWriter info;
    ASSERT_EQ(info.open(path.c_str()), 0);
    const std::string line = std::string(15, 'x') + "\n";
    attempts = 0;
    pwrite_fault = count_attempts;
    for (int i = 0; i < 1024; ++i)
        EXPECT_EQ(info.write(line.data(), line.size()), 0);
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(info.write(line.data(), line.size()), ENOSPC);
    EXPECT_LE(attempts, 2);
    end_faults();
    EXPECT_EQ(info.flush(), 0);
    EXPECT_EQ(info.write("Comm\n", 5), 0);
    EXPECT_EQ(info.close(), 0);
    const std::string content = content_of(path);
    EXPECT_EQ(occurrences(content, line), 1024u);
    EXPECT_EQ(content.substr(1024 * line.size()), "Lost lines=100\nComm\n");
}

ssize_t write_short_ones(int descriptor, const void* bytes, size_t size, off_t offset)
{
    return size > 100 ? fill_disk(descriptor, bytes, size, offset) : pwrite(descriptor, bytes, size, offset);
}

TEST_F(Faults, TheInfoTellsTheEndWhereThereIsRoomForNothingElse)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("a.info");
    InfoWriter info;
    ASSERT_EQ(info.open(path.c_str()), 0);
    EXPECT_EQ(info.write("Process\n", 8), 0);
    EXPECT_EQ(info.flush(), 0);
    const std::string line = std::string(200, 'x') + "\n";
    pwrite_fault = write_short_ones;
    EXPECT_EQ(info.write(line.data(), line.size()), 0);
    EXPECT_EQ(info.write_ahead("End\n", 4), 0);
    EXPECT_EQ(info.close(), ENOSPC);
    EXPECT_EQ(content_of(path), "Process\nEnd\nLost lines=1\n");
}

TEST_F(Faults, AWriterThatWasNeverOpenedDropsStates)
{
    TraceWriter writer;
    for (int i = 0; i < 1'000; ++i) {
        writer.enter();
        TextElement(writer).text("<A").times(0, 0).end("A");
    }
    writer.flush();
    EXPECT_EQ(states_in_file(writer), 0);
    EXPECT_EQ(writer.dropped_states(), 1'000);
}

TEST_F(Faults, ShortWritesAreContinued)
{
    Trace trace(settings());
    pwrite_fault = [](int descriptor, const void* data, size_t size, off_t offset) {
        return pwrite(descriptor, data, size > 7 ? 7 : size, offset);
    };
    for (int i = 0; i < 2'000; ++i)
        trace.state("A");
    std::string expected;
    for (int i = 0; i < 2'000; ++i)
        expected += state_line("A") + "\n";
    EXPECT_EQ(trace.lines(), expected);
    EXPECT_EQ(report.calls, 0);
}

TEST_F(Faults, AnInterruptedWriteIsRepeated)
{
    Trace trace(settings());
    pwrite_fault = [](int descriptor, const void* data, size_t size, off_t offset) -> ssize_t {
        static int calls = 0;
        if (++calls % 3 != 0) {
            errno = EINTR;
            return -1;
        }
        return pwrite(descriptor, data, size, offset);
    };
    trace.state("A");
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
    EXPECT_EQ(report.calls, 0);
}

TEST_F(Faults, AWriteThatWritesNothingIsAFullDisk)
{
    Trace trace(settings());
    pwrite_fault = [](int, const void*, size_t, off_t) -> ssize_t { return 0; };
    trace.state("A");
    EXPECT_EQ(trace.writer.flush(), ENOSPC);
    expect_reported_once(trace.path(), ENOSPC);
}

TEST_F(Faults, WhatIsWrittenInPartIsTakenBack)
{
    Trace trace(settings());
    trace.state("A");
    trace.writer.flush();
    pwrite_fault = [](int descriptor, const void* data, size_t size, off_t offset) -> ssize_t {
        if (size < 100) {
            errno = EDQUOT;
            return -1;
        }
        return pwrite(descriptor, data, size - 10, offset);
    };
    int recorded = 1;
    for (; recorded < 1'000; ++recorded)
        trace.state("A");
    EXPECT_EQ(trace.writer.close(), EDQUOT);
    EXPECT_EQ(trace.content(), head + state_line("A") + "\n");
    expect_true_counts(trace, recorded);
    expect_reported_once(trace.path(), EDQUOT);
}

TEST_F(Faults, AnErrorIsReportedOnceAndTheRestIsCounted)
{
    Trace trace(settings());
    for (int i = 0; i < 10'000; ++i) {
        if (i == 5'000) {
            pwrite_fault = [](int, const void*, size_t, off_t) -> ssize_t {
                errno = EIO;
                return -1;
            };
        }
        trace.begin();
        trace.state("A");
        trace.event("E", 1);
        trace.end("A", 0, 1);
    }
    pwrite_fault = nullptr; // the disk works again, but the trace would have a hole
    EXPECT_EQ(trace.writer.flush(), EIO);
    EXPECT_EQ(trace.writer.close(), EIO);
    EXPECT_EQ(trace.writer.close(), EIO);
    EXPECT_EQ(trace.writer.error(), EIO);
    EXPECT_GT(states_in_file(trace.writer), 0);
    EXPECT_GT(trace.writer.dropped_states(), 10'000);
    expect_true_counts(trace, 20'000);
    expect_reported_once(trace.path(), EIO);
}

TEST_F(Faults, AFullDiskKeepsWholeLines)
{
    expect_in_child([] {
        const TemporaryDirectory directory;
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", directory.path().c_str(), "tmpfs", 0, "size=128k") != 0)
            return; // not permitted here; ShortWrites and the like do the same with a false disk
        TraceWriter writer;
        ASSERT_EQ(writer.open(directory.file("t").c_str(), "", 0, settings(), nullptr), 0);
        for (int i = 0; i < 10'000; ++i) {
            writer.enter();
            TextElement(writer).text("<A").times(0, 0).end("A");
        }
        EXPECT_EQ(writer.close(), ENOSPC);
        const std::string content = content_of(directory.file("t"));
        EXPECT_EQ(content.back(), '\n');
        EXPECT_EQ(occurrences(content, "<A "), static_cast<size_t>(states_in_file(writer)));
        EXPECT_GT(states_in_file(writer), 0);
        EXPECT_EQ(writer.states(), 10'000);
        expect_reported_once(directory.file("t"), ENOSPC);
        umount(directory.path().c_str());
    });
}

off_t room;

ssize_t write_where_there_is_room(int descriptor, const void* data, size_t size, off_t offset)
{
    if (offset >= room) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(descriptor, data, std::min(size, static_cast<size_t>(room - offset)), offset);
}

// Until there is a block of them, all lines of a compact trace are written anew each time. Wherever the room
// ends: the first lines are there, as many as the writer says.
TEST_F(Faults, WhatIsSavedOfACompactTraceStaysWhereThereIsNoRoomForMore)
{
    for (const Compression form : {Compression::compact, Compression::compact_zstd}) {
        for (const bool is_saved : {false, true}) {
            report = {};
            TraceSettings compact = settings();
            compact.buffer_size = 1 << 20;
            compact.form.compression = form;
            Trace trace(compact);
            for (int i = 0; i < 1'000; ++i)
                trace.state("A", i, i * i % 1'000);
            EXPECT_EQ(is_saved ? trace.writer.save() : 0, 0);
            const std::string path = trace.path() + ".compact";
            room = static_cast<off_t>(content_of(path).size()) + (is_saved ? 5 : 40);
            pwrite_fault = write_where_there_is_room;
            for (int i = 0; i < 1'000; ++i)
                trace.state("A", i, i * i % 1'000);
            EXPECT_EQ(trace.writer.close(), ENOSPC);
            expect_reported_once(path, ENOSPC);
            EXPECT_EQ(states_in_file(trace.writer), is_saved ? 1'000 : 0);
            EXPECT_EQ(trace.writer.states(), 2'000);
            const std::string text = text_of(trace);
            EXPECT_EQ(occurrences(text, "<A "), static_cast<size_t>(states_in_file(trace.writer)));
            EXPECT_EQ(text.substr(text.size() - footer.size()), footer);
            end_faults();
        }
    }
}

// Wherever the room ends: within a line, behind one, within what stands behind them.
TEST_F(Faults, AFullDiskLeavesAClosedTrace)
{
    for (room = 1'000; room < 1'300; ++room) {
        report = {};
        Trace trace(settings());
        pwrite_fault = write_where_there_is_room;
        constexpr int recorded = 100;
        for (int i = 0; i < recorded; ++i) {
            trace.state("A");
            trace.writer.flush();
        }
        EXPECT_EQ(trace.writer.close(), ENOSPC);
        EXPECT_TRUE(trace.content().ends_with(footer)) << room << trace.content();
        EXPECT_GT(states_in_file(trace.writer), 10);
        expect_true_counts(trace, recorded);
        expect_reported_once(trace.path(), ENOSPC);
        pwrite_fault = nullptr;
    }
}

void limit_file_size(rlim_t bytes)
{
    const rlimit limit = {bytes, bytes};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

int record_beyond_limit(Trace& trace)
{
    for (int i = 0; i < 5'000; ++i)
        trace.state("A");
    return trace.writer.close();
}

TEST_F(Faults, TheFileSizeLimitDoesNotKillTheProgram)
{
    expect_in_child([] {
        signal(SIGXFSZ, SIG_DFL);
        limit_file_size(100'000);
        Trace trace(settings());
        EXPECT_EQ(record_beyond_limit(trace), EFBIG);
        EXPECT_GT(states_in_file(trace.writer), 0);
        expect_true_counts(trace, 5'000);
        expect_reported_once(trace.path(), EFBIG);
    });
}

std::atomic<int> file_size_signals = 0;

TEST_F(Faults, TheProgramsOwnFileSizeSignalsStillArrive)
{
    expect_in_child([] {
        file_size_signals = 0;
        signal(SIGXFSZ, [](int) { ++file_size_signals; });
        limit_file_size(100'000);
        Trace trace(settings());
        EXPECT_EQ(record_beyond_limit(trace), EFBIG);
        EXPECT_EQ(file_size_signals, 0);
        const TemporaryDirectory directory;
        const int own = open(directory.file("own").c_str(), O_WRONLY | O_CREAT, 0600);
        EXPECT_EQ(pwrite(own, "x", 1, 200'000), -1);
        EXPECT_EQ(file_size_signals, 1);
    });
}

TEST_F(Faults, AFileSizeSignalThatTheProgramKeepsWaitingIsNotTaken)
{
    expect_in_child([] {
        sigset_t file_size;
        sigemptyset(&file_size);
        sigaddset(&file_size, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &file_size, nullptr);
        raise(SIGXFSZ);
        limit_file_size(100'000);
        Trace trace(settings());
        EXPECT_EQ(record_beyond_limit(trace), EFBIG);
        sigset_t pending;
        sigpending(&pending);
        EXPECT_EQ(sigismember(&pending, SIGXFSZ), 1);
    });
}

// Daemons close all descriptors.
TEST_F(Faults, ADescriptorThatTheProgramClosedIsGivenUp)
{
    Trace trace(settings());
    closefrom(400);
    trace.state("A");
    EXPECT_EQ(trace.writer.close(), EBADF);
    EXPECT_EQ(trace.content(), head + footer);
    expect_true_counts(trace, 1);
    expect_reported_once(trace.path(), EBADF);
}

TEST_F(Faults, ADescriptorThatTheProgramReusedIsLeftAlone)
{
    const TemporaryDirectory directory;
    const int own = open(directory.file("own").c_str(), O_RDWR | O_CREAT, 0600);
    Trace trace(settings());
    std::vector<int> reused;
    for (int descriptor = 400; descriptor < 420; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0)
            reused.push_back(dup2(own, descriptor));
    }
    ASSERT_FALSE(reused.empty());
    trace.state("A");
    EXPECT_EQ(trace.writer.close(), EBADF);
    EXPECT_EQ(content_of(directory.file("own")), "");
    for (const int descriptor : reused) {
        EXPECT_GE(fcntl(descriptor, F_GETFD), 0) << "the program's descriptor was closed";
        close(descriptor);
    }
    close(own);
    expect_reported_once(trace.path(), EBADF);
}

TEST_F(Faults, AForkedChildDoesNotTouchTheFile)
{
    Trace trace(settings());
    trace.state("A");
    expect_in_child([&trace] {
        trace.state("A");
        EXPECT_EQ(trace.writer.flush(), EBADF);
        EXPECT_EQ(trace.writer.close(), EBADF);
    });
    EXPECT_EQ(trace.content(), head + footer);
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
}

TraceWriter* faulty_writer;
int close_result;

// As when the program has destroyed its memory: the handler comes while this very thread writes.
TEST_F(Faults, AFaultDuringAWriteDoesNotHang)
{
    Trace trace(settings());
    faulty_writer = &trace.writer;
    struct sigaction action = {}, previous;
    action.sa_handler = [](int) { close_result = faulty_writer->close(); };
    sigaction(SIGSEGV, &action, &previous);
    pwrite_fault = [](int descriptor, const void* data, size_t size, off_t offset) {
        raise(SIGSEGV);
        return pwrite(descriptor, data, size, offset);
    };
    trace.state("A");
    EXPECT_EQ(trace.writer.flush(), 0);
    EXPECT_EQ(close_result, EDEADLK);
    pwrite_fault = nullptr;
    sigaction(SIGSEGV, &previous, nullptr);
    EXPECT_EQ(trace.lines(), state_line("A") + "\n");
}

void* record_until_cancelled(void* writer_to_use)
{
    TraceWriter& writer = *static_cast<TraceWriter*>(writer_to_use);
    for (;;) {
        writer.enter();
        TextElement(writer).text("<A").times(0, 0).end("A");
        pthread_testcancel();
    }
}

// pwritev is a place where threads may be cancelled.
TEST_F(Faults, ACancelledThreadLeavesAWholeTrace)
{
    TraceSettings forced = settings();
    forced.force_flush = true;
    for (int round = 0; round < 20; ++round) {
        Trace trace(forced);
        pthread_t recorder;
        ASSERT_EQ(pthread_create(&recorder, nullptr, record_until_cancelled, &trace.writer), 0);
        usleep(1'000);
        pthread_cancel(recorder);
        pthread_join(recorder, nullptr);
        EXPECT_EQ(occurrences(trace.lines(), "<A "), static_cast<size_t>(states_in_file(trace.writer)));
        EXPECT_EQ(trace.writer.dropped_states(), 0);
    }
}

TEST_F(Faults, ErrnoOfTheProgramStaysAsItIs)
{
    Trace trace(settings());
    pwrite_fault = [](int, const void*, size_t, off_t) -> ssize_t {
        errno = EIO;
        return -1;
    };
    trace.state("A");
    errno = EAGAIN;
    EXPECT_EQ(trace.writer.flush(), EIO);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Faults, RecordingAsksForNoMemory)
{
    for (const Compression form : {Compression::none, Compression::compact}) {
        const TemporaryDirectory directory;
        InfoWriter info;
        ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
        TraceSettings in_form = settings();
        in_form.form.compression = form;
        Trace trace(in_form, &info);
        largest_allocation = 0;
        for (int i = 0; i < 10'000; ++i) {
            trace.begin();
            trace.state("A");
            trace.end("A", i, i + 1);
            EXPECT_EQ(info.write("Line\n", 5), 0);
        }
        EXPECT_EQ(trace.writer.close(), 0);
        EXPECT_EQ(info.close(), 0);
        EXPECT_EQ(trace.writer.states(), 20'000);
        EXPECT_EQ(trace.writer.dropped_states(), 0);
        largest_allocation = SIZE_MAX;
    }
}

TEST_F(Faults, WithoutMemoryOpenFails)
{
    const TemporaryDirectory directory;
    largest_allocation = 0;
    TraceWriter writer;
    EXPECT_EQ(writer.open(directory.file("t").c_str(), "", 0, settings(), nullptr), ENOMEM);
}

// The lines before it are in the file, and those behind it can be read without it.
TEST_F(Faults, RecordsOfALineWithoutMemoryAreDroppedAsAWhole)
{
    TraceSettings compact = settings();
    compact.form.compression = Compression::compact;
    Trace trace(compact);
    trace.state("A");
    largest_allocation = 100'000;
    trace.long_state(1'000'000);
    trace.state("A");
    trace.begin();
    for (int i = 0; i < 50'000; ++i)
        trace.state("Inner", i, i + 1'000);
    trace.end("Outer", 0, 1);
    trace.state("B");
    EXPECT_EQ(trace.writer.close(), 0);
    EXPECT_EQ(text_of(trace),
              head + state_line("A") + "\n" + state_line("A") + "\n" + state_line("B") + "\n" + footer);
    EXPECT_EQ(states_in_file(trace.writer), 3);
    EXPECT_EQ(trace.writer.dropped_states(), 1 + 50'001);
    EXPECT_EQ(report.calls, 0);
}

TEST_F(Faults, ALineWithoutMemoryIsDroppedAsAWhole)
{
    Trace trace(settings());
    trace.state("A");
    largest_allocation = 100'000;
    trace.long_state(1'000'000);
    trace.state("A");
    trace.begin();
    for (int i = 0; i < 5'000; ++i)
        trace.state("Inner");
    trace.end("Outer", 0, 1);
    trace.state("A");
    EXPECT_EQ(trace.lines(), state_line("A") + "\n" + state_line("A") + "\n" + state_line("A") + "\n");
    EXPECT_EQ(states_in_file(trace.writer), 3);
    EXPECT_EQ(trace.writer.dropped_states(), 1 + 5'001);
    EXPECT_EQ(report.calls, 0);
}

TEST_F(Faults, ATextWithoutMemoryStaysAsItWas)
{
    TextBuffer text;
    text.text("kept");
    largest_allocation = 1'000;
    text.string(std::string(2'000, 'x').c_str());
    EXPECT_TRUE(text.bad());
    EXPECT_STREQ(text.c_string(), "kept");
    text.clear();
    text.text("new");
    EXPECT_FALSE(text.bad());
    EXPECT_STREQ(text.c_string(), "new");
}

} // namespace
} // namespace hdtrace::test
