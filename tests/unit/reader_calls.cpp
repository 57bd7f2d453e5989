#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "hdtrace/calls/calls.h"

namespace hdtrace {
namespace {

TEST(CallClass, TellsWhatKindOfCallAStateIs)
{
    EXPECT_EQ(class_of("Isend"), CallClass::point_to_point);
    EXPECT_EQ(class_of("Waitall"), CallClass::completion);
    EXPECT_EQ(class_of("Ineighbor_alltoallw"), CallClass::collective);
    EXPECT_EQ(class_of("Put"), CallClass::one_sided);
    EXPECT_EQ(class_of("Win_fence"), CallClass::one_sided);
    EXPECT_EQ(class_of("File_write_at_all_begin"), CallClass::file);
    EXPECT_EQ(class_of("Comm_split"), CallClass::communicator);
    EXPECT_EQ(class_of("Comm_spawn"), CallClass::process);
    EXPECT_EQ(class_of("Comm_get_attr"), CallClass::query);
    EXPECT_EQ(class_of("Event"), CallClass::event);
}

TEST(CallClass, DoesNotKnowStatesThatAreNoCalls)
{
    for (const char* name : {"", "_", "Step", "File", "Filet", "Sends", "_c"})
        EXPECT_EQ(class_of(name), CallClass::other) << name;
}

TEST(CallClass, DoesNotKnowStatesWithAnotherLetter)
{
    for (const CallFacts& facts : all_calls())
        for (std::size_t i = 0; i < facts.name.size(); ++i) {
            std::string name(facts.name);
            name[i] = '#';
            EXPECT_EQ(find_call(name), nullptr) << name;
        }
}

TEST(CallClass, IsThatOfTheFunctionForLargeCounts)
{
    EXPECT_EQ(class_of("Send_c"), CallClass::point_to_point);
    EXPECT_EQ(class_of("File_read_c"), CallClass::file);
}

TEST(CallClass, IsFoundByItsName)
{
    EXPECT_EQ(class_name(CallClass::point_to_point), "point-to-point");
    for (int i = 0; i <= static_cast<int>(CallClass::other); ++i) {
        const auto call_class = static_cast<CallClass>(i);
        EXPECT_EQ(find_class(class_name(call_class)), call_class);
    }
    EXPECT_EQ(find_class("nonsense"), std::nullopt);
}

// Every function that is wrapped has a class, so that no selection misses it.
TEST(CallClass, IsKnownOfEveryWrappedFunction)
{
    int functions = 0;
    for (const auto& table : std::filesystem::directory_iterator(HDTRACE_API_TABLES)) {
        if (table.path().filename() == "exempt.toml")
            continue;
        std::ifstream lines(table.path());
        for (std::string line; std::getline(lines, line);) {
            const std::size_t end = line.find(" = ");
            if (!line.starts_with("MPI_") || end == line.npos)
                continue;
            ++functions;
            EXPECT_NE(class_of(line.substr(4, end - 4)), CallClass::other) << line;
        }
    }
    EXPECT_GT(functions, 300);
}

} // namespace
} // namespace hdtrace
