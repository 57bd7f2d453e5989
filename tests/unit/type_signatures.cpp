#include <gtest/gtest.h>

#include "hdtrace/checking/type_signature.h"

namespace hdtrace {
namespace {

/// A type of ints.
Project project_of(const std::string& combiner, const std::string& length, std::vector<Element> rows)
{
    Project project;
    project.datatypes = {{0,
                          0,
                          {{0, "NAMED", {{"name", "MPI_INT"}, {"size", "4"}, {"extent", "4"}}, {}},
                           {1, combiner, {{"oldType", "0"}, {"blockLength", length}}, std::move(rows)}}}};
    return project;
}

std::int64_t ints_of(const Project& project)
{
    const ObjectTable objects(project);
    TypeSignatures signatures(objects);
    const TypeSignature* const signature = signatures.find(0, 1);
    return signature && signature->size() == 1 ? signature->front().count : -1;
}

TEST(TypeSignatures, CountTheElementsOfAllBlocks)
{
    EXPECT_EQ(ints_of(project_of(
                  "INDEXED", "",
                  {{"BLOCK", {{"len", "3"}, {"index", "0"}}}, {"BLOCK", {{"len", "4"}, {"index", "9"}}}})),
              7);
    EXPECT_EQ(ints_of(project_of("INDEXED", "",
                                 {{"Blocks", {{"len", "3+0*1000;1+1*3;"}, {"index", "0+9*1003;"}}}})),
              3006);
    EXPECT_EQ(ints_of(project_of("HINDEXED_BLOCK", "2", {{"Blocks", {{"displacement", "0+9*1000;"}}}})),
              2000);
}

TEST(TypeSignatures, AreNotKnownWhereBlocksAreNot)
{
    EXPECT_EQ(ints_of(project_of("INDEXED", "", {{"Blocks", {{"len", "3;"}, {"index", "0;x;"}}}})), -1);
}

} // namespace
} // namespace hdtrace
