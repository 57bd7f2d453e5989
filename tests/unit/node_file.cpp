// The file that all processes of a host write to, and what readers make of it.
#include "writer_support.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/node_file.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/writing_process.h"
#include "hdtrace/node_file_form.h"
#include "hdtrace/writer/node_file.h"
#include "hdtrace/writer/output_file.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace hdtrace::test {
namespace {

constexpr NodeFile::Process of_run_a = {"a", 0}, of_run_b = {"b", 0};
constexpr Text trailer = {"</>\n", 4};

Text text_of(const std::string& text)
{
    return {text.data(), text.size()};
}

std::string read(const std::string& path)
{
    detail::File file(path);
    std::string text(1 << 20, '\0');
    text.resize(file.read(text.data(), text.size()));
    return text;
}

class InNodeFile : public testing::Test {
  protected:
    std::string file(const std::string& name) const { return m_prefix + "_" + name; }
    off_t size() const { return static_cast<off_t>(std::filesystem::file_size(m_node_file)); }
    int open(const NodeFile::Process& process) const { return NodeFile::open(m_prefix.c_str(), process); }

    /// In a process of its own, which lives until it is told to end.
    template <class Do> void in_another_process(Do what, const std::function<void()>& meanwhile)
    {
        int there[2], back[2];
        ASSERT_EQ(pipe(there) | pipe(back), 0);
        const pid_t child = fork();
        if (child == 0) {
            what();
            char end = 0;
            const bool is_told = ::write(there[1], "x", 1) == 1 && ::read(back[0], &end, 1) == 1;
            _exit(is_told ? 0 : 1);
        }
        char begun = 0;
        ASSERT_EQ(::read(there[0], &begun, 1), 1);
        meanwhile();
        ASSERT_EQ(::write(back[1], "x", 1), 1);
        int status = 1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }

    TemporaryDirectory m_directory;
    const std::string m_prefix = m_directory.file("app_host");
    const std::string m_node_file = m_prefix + ".node";
    const Undisturbed m_undisturbed;
};

TEST_F(InNodeFile, FilesAreAsTheyWouldBeAlone)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile first, second;
    ASSERT_EQ(first.open(file("0_0.trc").c_str(), trailer), 0);
    ASSERT_EQ(second.claim(file("0_0.info").c_str()), 0);
    ASSERT_EQ(first.write({"one\n", 4}, m_undisturbed), 0);
    ASSERT_EQ(second.write({"two\n", 4}, m_undisturbed), 0);
    ASSERT_EQ(first.write({"three\n", 6}, {"open\n", 5}, {"end\n", 4}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\nthree\nopen\nend\n");
    ASSERT_EQ(first.write({}, {"other\n", 6}, {"end\n", 4}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\nthree\nother\nend\n");
    ASSERT_EQ(first.write({"four\n", 5}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\nthree\nfour\n</>\n");
    EXPECT_EQ(read(file("0_0.info")), "two\n");
    EXPECT_EQ(first.size(), 15);
    EXPECT_EQ(first.close() | second.close(), 0);
    EXPECT_EQ(detail::paths_in_node_file(m_node_file), (std::vector{file("0_0.info"), file("0_0.trc")}));
    EXPECT_EQ(detail::names_in_directory(m_directory.path()),
              (std::vector<std::string>{"app_host.node", "app_host_0_0.info", "app_host_0_0.trc"}));
    EXPECT_TRUE(detail::is_there(file("0_0.trc")) && detail::is_file(file("0_0.trc")));
    EXPECT_FALSE(detail::is_there(file("1_0.trc")));
    EXPECT_EQ(detail::file_time(file("0_0.trc")).size, 19);
    EXPECT_THROW(detail::File(file("1_0.trc")), OpenError);
}

TEST_F(InNodeFile, WhatChangesDoesNotMakeItGrow)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.open(file("0_0.trc").c_str(), trailer), 0);
    const std::string open_state(5000, 'o');
    for (int i = 0; i < 1000; ++i) {
        const std::string number = std::to_string(i) + "\n";
        ASSERT_EQ(output.write({}, text_of(open_state), text_of(number), m_undisturbed), 0);
        ASSERT_EQ(read(file("0_0.trc")), open_state + number);
    }
    EXPECT_LT(size(), 30'000);
}

TEST_F(InNodeFile, ThreadsWriteAtTheSameTime)
{
    ASSERT_EQ(open(of_run_a), 0);
    const auto write_many = [this](int thread) {
        OutputFile output;
        const std::string path = file("0_" + std::to_string(thread) + ".trc");
        ASSERT_EQ(output.open(path.c_str(), trailer), 0);
        for (int i = 0; i < 500; ++i) {
            const std::string line = std::to_string(thread) + " " + std::to_string(i) + "\n";
            ASSERT_EQ(output.write(text_of(line), m_undisturbed), 0);
            ASSERT_EQ(output.write({}, text_of(line), trailer, m_undisturbed), 0);
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back(write_many, thread);
    for (std::thread& thread : threads)
        thread.join();
    for (int thread = 0; thread < 4; ++thread) {
        std::string expected;
        for (int i = 0; i < 500; ++i)
            expected += std::to_string(thread) + " " + std::to_string(i) + "\n";
        expected += std::to_string(thread) + " 499\n</>\n";
        EXPECT_EQ(read(file("0_" + std::to_string(thread) + ".trc")), expected);
    }
}

// Wherever it was cut off, each file is as it was at some time; what others append behind that is found.
TEST_F(InNodeFile, PiecesAreThereAsAWhole)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.open(file("0_0.trc").c_str(), trailer), 0);
    std::set<std::string> states = {""};
    std::string data;
    for (int i = 0; i < 20; ++i) {
        const std::string line(static_cast<std::size_t>(i * 7), static_cast<char>('a' + i));
        ASSERT_EQ(output.write(text_of(line), {"r", 1}, trailer, m_undisturbed), 0);
        states.insert(data += line);
        states.insert(data + "r</>\n");
    }
    const std::string all = content_of(m_node_file);
    const auto read_copy = [&](const std::string& bytes, const std::string& copy) {
        std::ofstream(copy + ".node", std::ios::binary) << bytes;
        return detail::is_there(copy + "_0_0.trc") ? read(copy + "_0_0.trc") : "";
    };
    for (std::size_t cut = 0; cut <= all.size(); ++cut)
        ASSERT_TRUE(states.contains(read_copy(all.substr(0, cut), m_directory.file("growing_host")))) << cut;
    EXPECT_EQ(read_copy(all, m_directory.file("growing_host")), data + "r</>\n");

    const std::size_t torn = all.size() - 20;
    char name[node_piece_size], more[node_piece_size];
    put_node_piece(name, {7, begin_of_stream, 7, 0, 7});
    put_node_piece(more, {7, 0, 3, 0, 3});
    const std::string other =
        std::string(name, sizeof name) + "1_0.trc" + std::string(more, sizeof more) + "abc";
    const std::string copy = m_directory.file("torn_host");
    EXPECT_TRUE(states.contains(read_copy(all.substr(0, torn) + other, copy)));
    EXPECT_EQ(read(copy + "_1_0.trc"), "abc");

    const std::string small = other.substr(0, node_piece_size + 7);
    for (std::size_t missing = 1; missing <= small.size(); ++missing) {
        const std::string torn_copy = m_directory.file("torn" + std::to_string(missing) + "_host");
        const std::string bytes = all.substr(0, all.size() - missing) + small;
        EXPECT_TRUE(states.contains(read_copy(bytes, torn_copy))) << missing;
        EXPECT_TRUE(detail::is_there(torn_copy + "_1_0.trc")) << missing;
    }
}

TEST_F(InNodeFile, LittleOfAPieceBehindAnotherOneLosesNothing)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.open(file("0_0.trc").c_str(), trailer), 0);
    ASSERT_EQ(output.write({"one\n", 4}, m_undisturbed), 0);
    std::ofstream(m_node_file, std::ios::app).write(node_piece_mark, sizeof node_piece_mark);
    ASSERT_EQ(output.write({"two\n", 4}, m_undisturbed), 0);
    ASSERT_EQ(output.write({"three\n", 6}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\ntwo\nthree\n</>\n");
}

// Each piece is closed, so that nothing else tells of it.
TEST_F(InNodeFile, APieceThatIsMissingBetweenOthersIsTold)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile damaged, whole;
    ASSERT_EQ(damaged.open(file("0_0.trc").c_str(), trailer), 0);
    ASSERT_EQ(whole.open(file("1_0.trc").c_str(), trailer), 0);
    ASSERT_EQ(damaged.write({"one\n", 4}, m_undisturbed), 0);
    const off_t second = size();
    ASSERT_EQ(damaged.write({"two\n", 4}, m_undisturbed), 0);
    ASSERT_EQ(whole.write({"a\n", 2}, m_undisturbed), 0);
    ASSERT_EQ(damaged.write({"three\n", 6}, m_undisturbed), 0);
    std::fstream(m_node_file, std::ios::in | std::ios::out).seekp(second).write("x", 1);
    EXPECT_EQ(read(file("0_0.trc")), "one\n</>\n");
    EXPECT_TRUE(detail::File(file("0_0.trc")).is_in_cut_node_file(0));
    EXPECT_FALSE(detail::File(file("1_0.trc")).is_in_cut_node_file(0));
}

TEST_F(InNodeFile, WhatCouldNotBeReadIsReadTheNextTime)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.claim(file("0_0.info").c_str()), 0);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_FALSE(detail::is_there(file("0_0.info")));
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_TRUE(detail::is_there(file("0_0.info")));
}

TEST_F(InNodeFile, WhatCannotBeOpenedIsNotSaidToHaveNoWriter)
{
    const std::string info = file("0_0.info");
    std::ofstream(info) << "theirs\n";
    EXPECT_FALSE(detail::is_being_written(info));
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_THROW(detail::is_being_written(info), OpenError);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(InNodeFile, ProcessesOfARunJoin)
{
    in_another_process(
        [&] {
            OutputFile output;
            EXPECT_EQ(open(of_run_a), 0);
            EXPECT_EQ(output.claim(file("0_0.info").c_str()), 0);
            EXPECT_EQ(output.write({"theirs\n", 7}, m_undisturbed), 0);
        },
        [&] {
            EXPECT_EQ(open(of_run_b), EBUSY);
            EXPECT_EQ(open({"", 0}), EBUSY);
            EXPECT_EQ(open(of_run_a), 0);
            OutputFile output;
            EXPECT_EQ(output.claim(file("1_0.info").c_str()), 0);
            EXPECT_EQ(output.write({"ours\n", 5}, m_undisturbed), 0);
            EXPECT_EQ(read(file("0_0.info")) + read(file("1_0.info")), "theirs\nours\n");
            EXPECT_EQ(detail::living_files(m_node_file, ".info").size(), 1U); // our own locks do not count
            EXPECT_TRUE(detail::is_being_written(file("0_0.info")));
            EXPECT_FALSE(detail::is_being_written(file("1_0.info")) ||
                         detail::is_being_written(file("2_0.info")));
        });
    EXPECT_EQ(open({"a", 0}), EBUSY); // this process wrote to it before, as under another program
}

// As in containers, in each of which the process has the same number.
TEST_F(InNodeFile, ProcessesOfSeveralNamespacesJoin)
{
    const auto write_one = [this](const char* name) {
        const bool is_apart = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
        const pid_t first = is_apart ? fork() : 0;
        if (first == 0) {
            OutputFile output;
            const bool is_joined = open(of_run_a) == 0 && output.claim(file(name).c_str()) == 0;
            _exit(!is_apart || (getpid() == 1 && is_joined) ? 0 : 1);
        }
        int status = 1;
        _exit(waitpid(first, &status, 0) == first && status == 0 ? 0 : 1);
    };
    EXPECT_EXIT(write_one("0_0.info"), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(write_one("1_0.info"), testing::ExitedWithCode(0), "");
}

TEST_F(InNodeFile, AnotherRunBeginsAnew)
{
    const auto write_one = [this](const NodeFile::Process& process, const char* name) {
        in_another_process(
            [&] {
                OutputFile output;
                EXPECT_EQ(open(process), 0);
                EXPECT_EQ(output.claim(file(name).c_str()), 0);
            },
            [] {});
    };
    write_one(of_run_a, "0_0.info");
    write_one(of_run_a, "1_0.info"); // which the first one did not wait for
    EXPECT_TRUE(detail::is_there(file("0_0.info")) && detail::is_there(file("1_0.info")));
    write_one(of_run_b, "2_0.info");
    EXPECT_FALSE(detail::is_there(file("0_0.info")));
    EXPECT_TRUE(detail::is_there(file("2_0.info")));
    const int64_t in_an_hour = time(nullptr) + 3600;
    write_one({"b", in_an_hour}, "3_0.info"); // an older run had the same name
    EXPECT_FALSE(detail::is_there(file("2_0.info")));
    EXPECT_TRUE(detail::is_there(file("3_0.info")));
}

TEST_F(InNodeFile, FilesOfEarlierRunsBesideItAreRemoved)
{
    std::ofstream(file("0_0.info")) << "old";
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.claim(file("0_0.info").c_str()), 0);
    ASSERT_EQ(output.write({"new", 3}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.info")), "new");
    EXPECT_FALSE(std::filesystem::exists(file("0_0.info")));
}

TEST_F(InNodeFile, WhatIsNotOursIsLeftAlone)
{
    std::filesystem::create_symlink("/dev/null", m_node_file);
    EXPECT_EQ(open(of_run_a), EEXIST);
    std::filesystem::remove(m_node_file);
    std::ofstream(m_node_file) << "a shared library";
    EXPECT_TRUE(detail::paths_in_node_file(m_node_file).empty());
    EXPECT_FALSE(detail::is_there(file("0_0.trc")));
}

TEST_F(InNodeFile, AFullDiskLeavesWhatWasThere)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.open(file("0_0.trc").c_str(), trailer), 0);
    ASSERT_EQ(output.write({"one\n", 4}, m_undisturbed), 0);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small = {static_cast<rlim_t>(size()) + 50, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string long_line(1000, 'x');
    EXPECT_NE(output.write(text_of(long_line), m_undisturbed), 0);
    EXPECT_NE(output.write(text_of(long_line), m_undisturbed), 0);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\n</>\n");
    ASSERT_EQ(output.write({"two\n", 4}, m_undisturbed), 0);
    EXPECT_EQ(read(file("0_0.trc")), "one\ntwo\n</>\n");
}

TEST_F(InNodeFile, IsPrivate)
{
    ASSERT_EQ(open(of_run_a), 0);
    struct stat status = {};
    ASSERT_EQ(stat(m_node_file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, S_IRUSR | S_IWUSR);
}

TEST_F(InNodeFile, ADescriptorThatTheProgramTookIsNotWrittenTo)
{
    ASSERT_EQ(open(of_run_a), 0);
    OutputFile output;
    ASSERT_EQ(output.open(file("0_0.trc").c_str(), trailer), 0);
    for (int descriptor = 3; descriptor < 1024; ++descriptor)
        close(descriptor);
    EXPECT_EQ(output.write({"one\n", 4}, m_undisturbed), EBADF);
}

} // namespace
} // namespace hdtrace::test
