// Files that are opened where others may have put something under their name.
#include "writer_support.h"

#include "hdtrace/writer/output_file.h"
#include "hdtrace/writer/own_file.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace hdtrace::test {
namespace {

mode_t mode_of(const std::string& path)
{
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
}

void write_file(const std::string& path, const std::string& text)
{
    std::ofstream(path) << text;
}

int open_error(const std::string& path)
{
    const int descriptor = open_own_file(path.c_str());
    const int error = errno;
    if (descriptor < 0)
        return error;
    close(descriptor);
    return 0;
}

class OwnFile : public testing::Test {
  protected:
    void expect_taken()
    {
        EXPECT_TRUE(is_taken(m_path.c_str()));
        EXPECT_FALSE(remove_own_file(m_path.c_str()));
        EXPECT_EQ(open_error(m_path), EEXIST);
        struct stat status;
        EXPECT_EQ(lstat(m_path.c_str(), &status), 0);
    }

    TemporaryDirectory m_directory;
    const std::string m_path = m_directory.file("trace");
    const std::string m_other = m_directory.file("other");
};

TEST_F(OwnFile, ANewOneIsPrivate)
{
    for (const mode_t mask : {0000, 0022, 0077, 0277}) {
        const mode_t before = umask(mask);
        EXPECT_EQ(open_error(m_path), 0);
        umask(before);
        EXPECT_EQ(mode_of(m_path), 0600 & ~mask);
        EXPECT_TRUE(remove_own_file(m_path.c_str()));
    }
    EXPECT_TRUE(remove_own_file(m_path.c_str())) << "it is gone";
    EXPECT_FALSE(is_taken(m_path.c_str()));
}

TEST_F(OwnFile, AnEarlierOneIsOpenedAsItIs)
{
    write_file(m_path, "earlier");
    EXPECT_FALSE(is_taken(m_path.c_str()));
    EXPECT_EQ(open_error(m_path), 0);
    EXPECT_EQ(content_of(m_path), "earlier");
}

TEST_F(OwnFile, LinksAreNotFollowed)
{
    std::filesystem::create_symlink(m_other, m_path);
    expect_taken();
    EXPECT_FALSE(std::filesystem::exists(m_other));
    write_file(m_other, "precious");
    expect_taken();
    std::filesystem::remove(m_path);
    std::filesystem::create_hard_link(m_other, m_path);
    expect_taken();
    EXPECT_EQ(content_of(m_other), "precious");
}

TEST_F(OwnFile, NothingIsWaitedFor)
{
    ASSERT_EQ(mkfifo(m_path.c_str(), 0600), 0);
    expect_taken();
    const int reader = open(m_path.c_str(), O_RDONLY | O_NONBLOCK);
    expect_taken();
    close(reader);
}

TEST_F(OwnFile, ADirectoryStays)
{
    std::filesystem::create_directory(m_path);
    expect_taken();
}

TEST_F(OwnFile, AnotherUsersFileStays)
{
    write_file(m_path, "theirs");
    if (chown(m_path.c_str(), 65534, 65534) != 0)
        GTEST_SKIP() << "only root can make files of others";
    expect_taken();
    EXPECT_EQ(content_of(m_path), "theirs");
}

TEST_F(OwnFile, BecomesPrivateWhenItIsEmptied)
{
    write_file(m_path, "earlier");
    ASSERT_EQ(chmod(m_path.c_str(), 0644), 0);
    OutputFile file;
    EXPECT_EQ(file.open(m_path.c_str()), 0);
    EXPECT_EQ(file.close(), 0);
    EXPECT_EQ(content_of(m_path), "");
    EXPECT_EQ(mode_of(m_path), 0600u);
}

/// While it lives, files are open only while they are written.
class ScarceDescriptors {
  public:
    ScarceDescriptors()
    {
        getrlimit(RLIMIT_NOFILE, &m_before);
        const int next = dup(STDIN_FILENO);
        close(next);
        const rlimit low = {static_cast<rlim_t>(next) + 2, m_before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
    }
    ~ScarceDescriptors() { setrlimit(RLIMIT_NOFILE, &m_before); }

  private:
    rlimit m_before;
};

TEST_F(OwnFile, WhatTakesItsPlaceIsLeftAlone)
{
    write_file(m_other, "precious");
    OutputFile file;
    {
        const ScarceDescriptors limit;
        ASSERT_EQ(file.open(m_path.c_str()), 0);
    }
    EXPECT_EQ(file.write({"a", 1}, Undisturbed()), 0);
    std::filesystem::rename(m_path, m_directory.file("moved"));
    ASSERT_EQ(mkfifo(m_path.c_str(), 0600), 0);
    EXPECT_NE(file.write({"b", 1}, Undisturbed()), 0);
    std::filesystem::remove(m_path);
    std::filesystem::create_symlink(m_other, m_path);
    EXPECT_NE(file.write({"c", 1}, Undisturbed()), 0);
    EXPECT_NE(file.close(), 0);
    EXPECT_EQ(content_of(m_other), "precious");
    EXPECT_EQ(content_of(m_directory.file("moved")), "a");
}

TEST_F(OwnFile, WaitsForADescriptorThatComesFreeSoon)
{
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few = {64, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    std::vector<int> taken;
    for (int descriptor; (descriptor = dup(0)) >= 0;)
        taken.push_back(descriptor);
    std::thread other([last = taken.back()] {
        usleep(5000);
        close(last);
    });
    OutputFile file;
    EXPECT_EQ(file.open(m_path.c_str()), 0);
    other.join();
    taken.pop_back();
    for (const int descriptor : taken)
        close(descriptor);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(file.close(), 0);
}

} // namespace
} // namespace hdtrace::test
