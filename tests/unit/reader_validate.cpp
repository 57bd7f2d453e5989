// What the schemas accept and refuse.
#include <gtest/gtest.h>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/trc_reader.h"
#include "hdtrace/format/validate.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::TemporaryFile;
using Problems = std::vector<std::string>;

// Without the name of the file.
Problems problems_of(const std::string& name, const std::string& text)
{
    const TemporaryFile file(name, text);
    Problems problems;
    for (const Problem& problem : validate(file.path()))
        problems.push_back(to_string(problem).substr(file.path().size() + 1));
    return problems;
}

// What a reader of a trace says of it at the end, without the schema.
bool has_only_plain_lines(const std::string& trace)
{
    const TemporaryFile file("app_host_0_0.trc", trace);
    try {
        TrcReader reader(file.path());
        for (State state; reader.next(state);) {
        }
        return reader.has_only_plain_lines();
    } catch (const ReadError&) {
        return false;
    }
}

// With a comment before the root the schema is asked about every line, and has to say the same.
Problems problems_of_lines(const std::string& lines)
{
    const std::string trace =
        "<Program timeAdjustment='1' version='1' rank='0' thread='0'>\n" + lines + "</Program>\n";
    const Problems problems = problems_of("app_host_0_0.trc", trace);
    EXPECT_TRUE(problems.empty() || !has_only_plain_lines(trace)) << lines;
    constexpr std::size_t takes_seconds = 100'000;
    if (lines.size() < takes_seconds) {
        EXPECT_EQ(problems, problems_of("app_host_0_0.trc", "<!----> " + trace)) << lines;
    }
    return problems;
}

std::string project(const std::string& types, const std::string& communicators = "")
{
    return "<Application name='app' processCount='1' version='1'>\n<Description/><FileList/>\n"
           "<Topology><Level name='Rank' type='Rank'/><Node name='0'/><Label value='0'/></Topology>\n"
           "<CommunicatorList>" +
           communicators + "</CommunicatorList>\n<Datatypes><Rank name='0' thread='0'>" + types +
           "</Rank></Datatypes>\n</Application>\n";
}

Problems problems_of_types(const std::string& types)
{
    return problems_of("app.proj", project(types));
}

constexpr const char* whole_state = "<A cid='0' time='0.000000000' end='12.000000001' />\n";

TEST(ValidateTrace, AsksOnlyForTheRootIfAllLinesArePlain)
{
    const std::string root = "<Program timeAdjustment='1' version='1' rank='0' thread='0'>\n";
    const std::string wrong_root = "<Program rank='zero' version='1' thread='0'>\n";
    EXPECT_TRUE(has_only_plain_lines(root + whole_state + "</Program>\n"));
    for (const char* odd :
         {"<A time='0.0' end='1.0' />\n", "<A time='0.000000000' end='1.000000000' ><B end='1'/></A>\n",
          "<!----><A time='0.000000000' end='1.000000000' />\n"})
        EXPECT_FALSE(has_only_plain_lines(root + odd + "</Program>\n")) << odd;
    const TemporaryFile file("app_host_0_0.trc", wrong_root + whole_state + "</Program>\n");
    EXPECT_FALSE(validate(file.path(), Validate::root).empty());
}

TEST(ValidateTrace, AcceptsWhatTheFormatAllows)
{
    for (const char* lines : {
             "",
             whole_state,
             "<A time='0.000000000' end='1.000000000' ><For rid='1' /><Send rank='0' size='1' /></A>\n",
             "<Event name='' time='0.000000000' x='1' />\n",
             "<Event name='Step' kind='begin' time='0.000000000' />\n",
             "<Event name='Step' kind='end' time='0.000000000' ><Step a='1' /><Result /></Event>\n",
             "<Nested><Event name='e' time='0.000000000' /><B time='0.000000000' end='0.000000001' "
             "/></Nested>"
             "<A time='0.000000000' end='1.000000000' />\n",
             "<Nested><Nested><C time='0.000000000' end='0.000000001' /></Nested><B time='0.000000000' "
             "end='0.000000001' /></Nested><A time='0.000000000' end='1.000000000' />\n",
         })
        EXPECT_EQ(problems_of_lines(lines), Problems{}) << lines;
    EXPECT_EQ(problems_of("solver.trc", "<Program timeAdjustment='1' version='1' solver='x'>\n</Program>\n"),
              Problems{});
}

TEST(ValidateTrace, RefusesStatesOfAnotherForm)
{
    for (const char* line : {
             "<A time='0.00000' end='1.000000000' />\n",
             "<A time='1.0000000000' end='1.000000000' />\n",
             "<A time='1' end='1.000000000' />\n",
             "<A time='-1.000000000' end='1.000000000' />\n",
             "<A time=' 1.000000000' end='1.000000000' />\n",
             "<A time='1,000000000' end='1.000000000' />\n",
             "<A time='1.000000000' />\n",
             "<A end='1.000000000' />\n",
             "<A />\n",
             "<A time='0.000000000' end='1.000000000' ><For time='0.000000000' /></A>\n",
             "<A time='0.000000000' end='1.000000000' ><For><For/></For></A>\n",
             "<A time='0.000000000' end='1.000000000' >text</A>\n",
             "<A time='0.000000000' end='1.000000000' ><Nested/></A>\n",
             "<Event time='0.000000000' />\n",
             "<Event name='e' />\n",
             "<Event name='e' time='0.000000000' end='0.000000000' />\n",
             "<Event name='e' time='0.000000000' ><For/></Event>\n",
             "<Event name='e' kind='begin' time='0.000000000' ><For/></Event>\n",
             "<Nested/><Event name='e' time='0.000000000' />\n",
             "<Nested/><Nested/><A time='0.000000000' end='1.000000000' />\n",
             "<Nested></Nested><Event name='e' time='0.000000000' />\n",
             "<Nested></Nested><Nested></Nested><A time='0.000000000' end='1.000000000' />\n",
             "<Nested/>text\n",
             "<Nested x='1'/><A time='0.000000000' end='1.000000000' />\n",
             "<Nested><A time='0.000000000' /></Nested><A time='0.000000000' end='1.000000000' />\n",
             "<Program time='0.000000000' end='1.000000000' />\n",
             "text\n",
         }) {
        const Problems problems = problems_of_lines(std::string(whole_state) + line + whole_state);
        ASSERT_FALSE(problems.empty()) << line;
        EXPECT_EQ(problems[0].substr(0, 3), "3: ") << line << problems[0];
    }
}

TEST(ValidateTrace, KnowsWhereLinesBelong)
{
    const std::string state = whole_state;
    const std::string odd = "<A \xc3\xa4='1' time='0.000000000' end='12.000000001' />\n";
    for (const std::string& lines : {
             state + odd + state + "<B />\n",
             state + "<A time='0.000000000' end='1.000000000' >\n" + state + "</A>\n" + state,
             state + "<Nested>\n" + state + "</Nested>\n" + state + "<B />\n",
             state + "<!--\n<B />\n-->\n<B />\n",
             "\n \n" + state + "\ntext\n" + state,
             state + state + "text\n<B />\n",
             state + "</Program>\n<Program>\n",
             state + "</Program><Program timeAdjustment='1' version='1'>\n",
             state + "<A time='0.000000000' end='1.000000000' /> text\n",
             state + "<A time='99999999999999999999.000000000' end='1.000000' />\n<B />\n",
             state + "<A b='&unknown;' time='0.000000000' end='1.000000000' />\n",
         })
        problems_of_lines(lines);
    EXPECT_EQ(problems_of_lines(state + odd + state), Problems{});
}

TEST(ValidateTrace, RefusesRootsOfAnotherForm)
{
    for (const char* root : {
             "<Program version='1' rank='0' thread='0'>",
             "<Program timeAdjustment='1' rank='0' thread='0'>",
             "<Program timeAdjustment='1' version='2' rank='0' thread='0'>",
             "<Program timeAdjustment='1.5' version='1' rank='0' thread='0'>",
             "<Program timeAdjustment='1' version='1' rank='zero' thread='0'>",
         }) {
        const Problems problems =
            problems_of("a.trc", std::string(root) + "\n" + whole_state + "</Program>\n");
        ASSERT_EQ(problems.size(), 1u) << root;
        EXPECT_EQ(problems[0].substr(0, 3), "1: ");
    }
    EXPECT_EQ(problems_of("a.trc", "<Application>\n</Application>\n").size(), 1u);
}

TEST(ValidateTrace, ListsAllProblemsUpToMany)
{
    std::string lines = std::string("<A time='1' end='2' />\n") + whole_state + "<B />\n";
    EXPECT_EQ(problems_of_lines(lines), (Problems{"2: Element A failed to validate attributes",
                                                  "4: Element B failed to validate attributes"}));
    for (int i = 0; i < 1000; ++i)
        lines += "<B />\n";
    EXPECT_EQ(problems_of_lines(lines).size(), 100u);
}

TEST(ValidateTrace, ChecksAllChildrenOfAState)
{
    const auto with_children = [](const std::string& attributes, std::size_t bad) {
        std::string line = "<A" + attributes + ">";
        for (std::size_t i = 1; i <= 1000; ++i)
            line += i == bad ? "<Send time='1' />" : "<Send rank='1' />";
        return line + "</A>\n";
    };
    const std::string times = " time='0.000000000' end='1.000000000' ";
    EXPECT_EQ(problems_of_lines(with_children(times, 0)), Problems{});
    for (const std::size_t bad : {1, 100, 101, 555, 1000})
        EXPECT_EQ(problems_of_lines(with_children(times, bad) + "<B />\n").size(), 2u) << bad;
    EXPECT_EQ(problems_of_lines(with_children("", 0)).size(), 1u);
    EXPECT_EQ(problems_of_lines("<Nested>" + with_children(times, 0) + "</Nested>" + with_children(times, 0)),
              Problems{});
    EXPECT_EQ(
        problems_of_lines("<Nested>" + with_children(times, 999) + "</Nested>" + with_children(times, 0))
            .size(),
        1u);
}

std::string repeated(std::size_t count, const std::string& text)
{
    std::string all;
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

// With time that grows with the square of these the tests would take minutes.
constexpr std::size_t very_many = 200'000;

TEST(ValidateTrace, ChecksAllThatIsNested)
{
    const auto nested = [](std::size_t count, const std::string& last) {
        return "<Nested>\n" + repeated(count, whole_state) + last + "</Nested>" + whole_state;
    };
    EXPECT_EQ(problems_of_lines(nested(very_many, "<B />\n")),
              Problems{std::to_string(very_many + 3) + ": Element B failed to validate attributes"});
    EXPECT_EQ(problems_of_lines(nested(50, "")), Problems{});
    EXPECT_EQ(problems_of_lines(nested(50, "<Nested/>")).size(), 1u);
}

TEST(ValidateTrace, RefusesWhatIsNotWhole)
{
    const std::string root = "<Program timeAdjustment='1' version='1' rank='0' thread='0'>\n";
    EXPECT_EQ(problems_of("a.trc", root + whole_state),
              Problems{"3: the trace is cut off: </Program> is missing"});
    EXPECT_EQ(problems_of("a.trc", root + whole_state + "<A"),
              Problems{"3: the trace is cut off: the end of line 3 and </Program> is missing"});
    EXPECT_EQ(problems_of("a.trc", ""),
              Problems{"1: the trace is cut off: all from <Program> on is missing"});
    EXPECT_EQ(problems_of("a.trc", root + "</Program>\n</Program>\n"),
              Problems{"3:1: Extra content at the end of the document"});
    EXPECT_EQ(problems_of("a.trc", root + "<A></B>\n"),
              Problems{"2:8: Opening and ending tag mismatch: A line 2 and B"});
}

TEST(ValidateTrace, CountsLinesBeyondWhatLibxml2Counts)
{
    std::string lines;
    for (int line = 2; line < 70'000; ++line)
        lines += whole_state;
    EXPECT_EQ(problems_of_lines(lines + "<B />\n"),
              Problems{"70000: Element B failed to validate attributes"});
}

const std::string common = " id='0' name='' size='4' lb='0' extent='4' ";

TEST(ValidateProject, AcceptsEveryCombiner)
{
    for (const std::string& type : {
             "<NAMED" + common + "/>",
             "<DUP" + common + "oldType='0'/>",
             "<CONTIGUOUS" + common + "count='2' oldType='0'/>",
             "<VECTOR" + common + "count='2' blocklength='1' stride='-2' oldType='0'/>",
             "<HVECTOR" + common + "count='2' blocklength='1' stride='99999999999' oldType='0'/>",
             "<HVECTOR_INTEGER" + common + "count='2' blocklength='1' stride='2' oldType='0'/>",
             "<RESIZED" + common + "lowerBound='-4' extend='4' oldType='0'/>",
             "<INDEXED" + common + "count='1' oldType='0'><BLOCK len='1' index='2'/></INDEXED>",
             "<HINDEXED" + common + "count='1' oldType='0'><BLOCK len='1' index='2'/></HINDEXED>",
             "<HINDEXED" + common +
                 "count='8' oldType='0'><Blocks len='1+0*8;' index='-4;0-8*7;'/></HINDEXED>",
             "<INDEXED_BLOCK" + common +
                 "count='9' oldType='0' blockLength='2'><Blocks displacement='0+8*8;'/>"
                 "<Blocks displacement='3;'/></INDEXED_BLOCK>",
             "<HINDEXED_INTEGER" + common +
                 "count='1' oldType='0'><BLOCK len='1' index='2'/></HINDEXED_INTEGER>",
             "<INDEXED_BLOCK" + common +
                 "count='1' oldType='0' blockLength='2'><Block displacement='1'/></INDEXED_BLOCK>",
             "<HINDEXED_BLOCK" + common + "count='0' oldType='0' blockLength='2'/>",
             "<STRUCT" + common + "count='1'><Type id='0' displacement='0' blocklen='1'/></STRUCT>",
             "<STRUCT_INTEGER" + common +
                 "count='1'><Type id='0' displacement='0' blocklen='1'/></STRUCT_INTEGER>",
             "<SUBARRAY" + common +
                 "count='1' order='MPI_ORDER_C' ndims='1' oldType='0'>"
                 "<Dimension size='4' subsize='2' start='1'/></SUBARRAY>",
             std::string("<DARRAY id='0' name='' size='4' order='MPI_ORDER_FORTRAN' rank='0' dims='1' "
                         "ndims='1' oldType='0'>"
                         "<Dimension gsize='8' distrib='MPI_DISTRIBUTE_CYCLIC' "
                         "darg='MPI_DISTRIBUTE_DFLT_DARG' psize='4'/></DARRAY>"),
             "<F90_REAL" + common + "precision='6' range='30'/>",
             "<F90_COMPLEX" + common + "precision='6' range='30'/>",
             "<F90_INTEGER" + common + "range='9'/>",
             std::string("<CONTIGUOUS id='-1946157050' name='' count='2' oldType='1275069445'/>"),
         })
        EXPECT_EQ(problems_of_types(type), Problems{}) << type;
}

TEST(ValidateProject, RefusesTypesOfAnotherForm)
{
    for (const std::string& type : {
             "<NEW" + common + "/>",
             "<NAMED" + common + "oldType='0'/>",
             "<named" + common + "/>",
             std::string("<NAMED name='MPI_INT'/>"),
             std::string("<NAMED id='x' name='MPI_INT'/>"),
             "<DUP" + common + "oldTypo='0'/>",
             "<VECTOR" + common + "count='2' blocklength='1' stride='1.5' oldType='0'/>",
             "<RESIZED" + common + "lowerBound='0' oldType='0'/>",
             "<INDEXED" + common + "count='1' oldType='0'><Block len='1' index='2'/></INDEXED>",
             "<INDEXED_BLOCK" + common +
                 "count='1' oldType='0' blockLength='2'><BLOCK displacement='1'/></INDEXED_BLOCK>",
             "<INDEXED" + common + "count='1' oldType='0'><Blocks len='1' index='2;'/></INDEXED>",
             "<INDEXED" + common + "count='1' oldType='0'><Blocks len='1;' index='2+1;'/></INDEXED>",
             "<SUBARRAY" + common + "count='1' order='C' ndims='1' oldType='0'/>",
             "<STRUCT" + common + "count='1'><Type id='0' displacement='0'/></STRUCT>",
             "<NAMED" + common + ">text</NAMED>",
         })
        EXPECT_FALSE(problems_of_types(type).empty()) << type;
}

TEST(ValidateProject, RefusesAnotherStructure)
{
    const std::string good =
        project("", "<Communicator name='WORLD'><Rank global='0' local='0' group='1'/></Communicator>");
    EXPECT_EQ(problems_of("app.proj", good), Problems{});
    for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
             {"<FileList/>", ""},
             {"<FileList/>", "<FileList/><FileList/>"},
             {"<Description/><FileList/>", "<FileList/><Description/>"},
             {"<FileList/>", "<FileList><File name='f'/></FileList>"},
             {"<Node name='0'/>", "<Node name='my_host'/>"},
             {"<Node name='0'/>", "<Node/>"},
             {"</Topology>", "</Topology><Topology/>"},
             {" processCount='1'", ""},
             {" version='1'", " version='2'"},
             {"group='1'", "group='2'"},
             {"local='0'", ""},
             {"<Datatypes>", "<Datatypes>text"},
             {"</Datatypes>", "</Datatypes><New/>"},
         }) {
        std::string changed = good;
        changed.replace(changed.find(from), from.size(), to);
        EXPECT_FALSE(problems_of("app.proj", changed).empty()) << from << " -> " << to;
    }
}

TEST(ValidateProject, NamesTheLine)
{
    EXPECT_EQ(problems_of_types("\n<NEW/>").at(0).substr(0, 2), "6:");
    EXPECT_EQ(problems_of("app.proj", "<Application>\n").size(), 2u);
}

TEST(ValidateProject, ChecksAllOfALongList)
{
    const std::string begin = "\n<INDEXED" + common + "count='1' oldType='0'>\n";
    const std::string block = "<BLOCK len='1' index='2'/>\n";
    const auto with = [&](std::size_t before, const std::string& bad) {
        return begin + repeated(before, block) + bad + repeated(30, block) + "</INDEXED>";
    };
    EXPECT_EQ(problems_of_types(with(very_many, "")), Problems{});
    for (const std::size_t before :
         {std::size_t{0}, std::size_t{1}, std::size_t{18}, std::size_t{19}, very_many})
        EXPECT_EQ(problems_of_types(with(before, "<BLOCK len='x' index='2'/>\n")),
                  Problems{std::to_string(before + 7) + ": Element INDEXED has extra content: BLOCK"});
    for (const std::size_t before : {0, 1, 18, 19})
        EXPECT_EQ(problems_of_types(with(before, "<Block displacement='2'/>\n")).size(), 1u);
}

TEST(ValidateProject, ChecksTheOrderOfLongLists)
{
    const std::string begin = "<UNKNOWN" + common + ">", integers = repeated(50, "<Integer value='1'/>"),
                      addresses = repeated(50, "<Address value='1'/>"),
                      types = repeated(50, "<Type id='0'/>");
    EXPECT_EQ(problems_of_types(begin + integers + addresses + types + "</UNKNOWN>"), Problems{});
    EXPECT_EQ(problems_of_types(begin + integers + types + addresses + "</UNKNOWN>").size(), 1u);
    EXPECT_EQ(problems_of_types(begin + integers + addresses + integers + "</UNKNOWN>").size(), 1u);
}

TEST(ValidateProject, ListsTheProblemsOfAllTypes)
{
    const std::string good = "\n<NAMED" + common + "/>", bad = "\n<NAMED id='0'/>";
    const Problems problems = problems_of_types(good + bad + good + bad);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].substr(0, 3), "7: ");
    EXPECT_EQ(problems[1].substr(0, 3), "9: ");
}

TEST(ValidateProject, NamesTheLineOfTextBetweenTypes)
{
    const Problems problems = problems_of_types("\n<NAMED" + common + "/>\ntext\n<NAMED" + common + "/>");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].substr(0, 3), "7: ");
}

TEST(Validate, KnowsTracesAndProjectsOnly)
{
    EXPECT_EQ(problems_of("app.txt", ""), Problems{" there is a schema for .trc and .proj only"});
    EXPECT_THROW(validate("/nowhere/app.trc"), OpenError);
    EXPECT_THROW(validate("/nowhere/app.proj"), OpenError);
}

} // namespace
} // namespace hdtrace
