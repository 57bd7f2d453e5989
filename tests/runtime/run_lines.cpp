// What is told of a run: command lines and environments of all kinds, and a system that tells the host's
// place.
#include "mpiwrapper/runtime/process/run_lines.h"

#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/network_place.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

using namespace hdtrace;
using namespace hdtrace::mpi;

namespace {

std::string text_of(const TextBuffer& buffer)
{
    return std::string(buffer.data(), buffer.size());
}

// @p arguments with a NUL behind each.
std::string command_of(const std::string& arguments)
{
    TextBuffer out;
    append_command(out, arguments.data(), arguments.size());
    return text_of(out);
}

std::string environment_of(const std::string& variables)
{
    TextBuffer out;
    append_environment(out, variables.data(), variables.size());
    return text_of(out);
}

using namespace std::string_literals;

TEST(RunLines, ACommandIsWhatAShellReads)
{
    EXPECT_EQ(command_of("./app\0-n\0003\0--x=/a,b@c+1%_:^.\0"s),
              "Command line='./app -n 3 --x=/a,b@c+1%_:^.'\n");
    EXPECT_EQ(command_of("./app\0two words\0\0it's\0$HOME\0~\0"s),
              R"(Command line='./app \'two words\' \'\' \'it\'\\\'\'s\' \'$HOME\' \'~\'')"
              "\n");
}

TEST(RunLines, OddBytesAreEscaped)
{
    EXPECT_EQ(command_of("a\xff\n\x01\0"s), "Command line='\\'a\\xff\\n\\x01\\''\n");
}

TEST(RunLines, NoCommandIsNoLine)
{
    EXPECT_EQ(command_of(""), "");
}

TEST(RunLines, LongTextsAreCutOff)
{
    const std::string line = command_of(std::string(1'000'000, 'x') + '\0');
    EXPECT_EQ(line, "Command line='" + std::string(4096, 'x') + "' omitted=995904\n");
    EXPECT_EQ(environment_of("OMP_X=" + std::string(5000, 'y') + '\0'),
              "Variable name='OMP_X' value='" + std::string(4096, 'y') + "' omitted=904\n");
}

TEST(RunLines, OnlyVariablesOfTheListAreTold)
{
    EXPECT_EQ(environment_of(
                  "HOME=/root\0OMP_NUM_THREADS=4\0XOMPI_A=1\0SLURM_JOB_ID=7\0OMPI_EMPTY=\0"
                  "HDTRACE_PID=1\0HDTRACE_OPTIONS=HDTRACE_NESTED \0HDTRACE_NESTED=1\0PMI_SIZE=2\0OMP_\0"s),
              "Variable name='OMP_NUM_THREADS' value='4'\n"
              "Variable name='SLURM_JOB_ID' value='7'\n"
              "Variable name='OMPI_EMPTY' value=''\n"
              "Variable name='HDTRACE_NESTED' value='1'\n"
              "Variable name='PMI_SIZE' value='2'\n");
}

TEST(RunLines, SecretsAreNotTold)
{
    for (const char* name : {"SLURM_JWT", "PMIX_SECURITY_KEY", "OMPI_Password", "MPICH_AUTH_COOKIE",
                             "OMP_TOKEN", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_precondition_transports",
                             "SLURM_CREDENTIALS", "HDTRACE_secret"})
        EXPECT_EQ(environment_of(name + "=hunter2\0"s), "Variable name='"s + name + "' hidden=1\n");
}

TEST(RunLines, TheFirstProcessOfEachProgram)
{
    setenv("OMPI_APP_CTX_NUM_PROCS", "2 1 3", 1);
    for (const int rank : {0, 2, 3})
        EXPECT_TRUE(is_first_of_program(rank)) << rank;
    for (const int rank : {1, 4, 5, 6, 7})
        EXPECT_EQ(is_first_of_program(rank), rank == 6) << rank; // behind the last program: nobody has it
    setenv("OMPI_APP_CTX_NUM_PROCS", "what", 1);
    EXPECT_TRUE(is_first_of_program(0));
    EXPECT_FALSE(is_first_of_program(1));
    unsetenv("OMPI_APP_CTX_NUM_PROCS");
    EXPECT_TRUE(is_first_of_program(0));
    EXPECT_FALSE(is_first_of_program(1));
}

class NetworkPlace : public testing::Test {
  protected:
    NetworkPlace() { std::filesystem::create_directories(m_root); }
    ~NetworkPlace() override
    {
        std::filesystem::remove_all(m_root);
        unsetenv("SLURM_TOPOLOGY_ADDR");
        unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    }

    void write(const std::string& path, const std::string& text) const
    {
        const std::filesystem::path file = m_root / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }

    std::string lines() const
    {
        TextBuffer out;
        append_network_place(out, "node'1", m_root.c_str());
        return text_of(out);
    }

  private:
    // Tests run in processes of their own, several at once.
    std::filesystem::path m_root = testing::TempDir() + "hdtrace_network_place_" + std::to_string(getpid());
};

TEST_F(NetworkPlace, NothingIsToldWhereNothingIsKnown)
{
    EXPECT_EQ(lines(), "");
}

TEST_F(NetworkPlace, PortsThatHaveAnAddress)
{
    const std::string device = "sys/class/infiniband/mlx5_0/";
    write(device + "node_guid", "506b:4b03:00c3:1a2b");
    write(device + "ports/1/lid", "0x1a");
    write(device + "ports/2/lid", "0x0"); // Ethernet
    EXPECT_EQ(lines(), "Place host='node\\'1' by='infiniband' address='0x1a' device='mlx5_0' port='1' "
                       "guid='506b:4b03:00c3:1a2b'\n");
}

TEST_F(NetworkPlace, SlurmsTopology)
{
    setenv("SLURM_TOPOLOGY_ADDR", "s0.s4.node1", 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
    EXPECT_EQ(lines(),
              "Place host='node\\'1' by='slurm' address='s0.s4.node1' pattern='switch.switch.node'\n");
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "node", 1);
    EXPECT_EQ(lines(), "");
}

TEST_F(NetworkPlace, CraysCabinets)
{
    write("proc/cray_xt/cname", "c0-0c1s2n3");
    EXPECT_EQ(lines(), "Place host='node\\'1' by='cray' address='c0-0c1s2n3'\n");
}

} // namespace
