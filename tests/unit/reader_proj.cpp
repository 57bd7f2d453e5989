#include <gtest/gtest.h>

#include "hdtrace/format/proj_reader.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::TemporaryFile;
using Labels = std::vector<std::string>;

const std::string our_form = R"(<?xml version="1.0" encoding="UTF-8"?>
<Application name="my_app" processCount="2" version="1">
  <Description>one &lt;run&gt;</Description>
  <FileList>
    <File name="/home/u/test.out">
      <InitialSize from="1">16777216</InitialSize>
      <Distribution class="Stripe" implementation="Stripe"><ChunkSize>64K</ChunkSize></Distribution>
      <ChunkSize>64K</ChunkSize>
      <Rank global="0" thread="0" fid="3"/>
    </File>
  </FileList>
  <Topology>
    <Level name="Hostname" type="Hostname"><Level name="Rank" type="Rank"><Level name="Thread" type="Thread"/></Level></Level>
    <Node name="node01"><Node name="0"><Node name="0"/><Node name="1"/></Node></Node>
    <Node name="node02"><Node name="1"><Node name="0"/></Node></Node>
    <Label value="node01"><Label value="0"><Label value="0"/><Label value="1"/></Label></Label>
    <Label value="node02"><Label value="1"><Label value="0"/></Label></Label>
  </Topology>
  <CommunicatorList>
    <Communicator name="WORLD" uid="W"><Rank global="0" local="0" cid="0"/><Rank global="1" local="1"/></Communicator>
    <Communicator name="inter" uid="I"><Rank global="0" local="0" cid="2" group="0"/><Rank global="1" local="0" cid="2" group="1"/></Communicator>
  </CommunicatorList>
  <WindowList>
    <Window name="box" uid="W/w3" communicator="W"><Rank global="0" local="1" wid="2" size="800" dispUnit="8"/><Rank global="1" local="0"/></Window>
    <Window name=""/>
  </WindowList>
  <Datatypes>
    <Rank name="0" thread="0">
      <NAMED id="0" name="MPI_INT" size="4" lb="0" extent="4"/>
      <STRUCT id="1" name="pair" count="1" size="4" lb="0" extent="4"><Type id="0" displacement="0" blocklen="1"/></STRUCT>
    </Rank>
    <Rank name="1" thread="0"/>
  </Datatypes>
</Application>
)";

// As in the text of the specification: no attributes of the root, labels only, sizes with units.
const std::string form_of_the_specification = R"(<Application>
<FileList>
<File name="test.out">
  <InitialSize>16M</InitialSize>
  <Distribution class="Stripe" />
  <ChunkSize>64K</ChunkSize>
</File>
</FileList>
<Topology>
<Level name="Hostname"><Level name="Rank"><Level name="Thread"></Level></Level></Level>
<Label value="node01"><Label value="1"><Label value="0" /></Label><Label value="0"><Label value="0" /></Label></Label>
</Topology>
<CommunicatorList>
  <Communicator name="WORLD"><Rank global="1" local="1" cid="0" /><Rank global="0" local="0" cid="0" /></Communicator>
</CommunicatorList>
<Datatypes>
  <Rank name="1" thread="0"><NAMED id="-1946157050" name="MPI_INT" /></Rank>
  <Rank name="0" thread="0">
  </Rank>
</Datatypes>
</Application>
)";

Project read_text(const std::string& text)
{
    const TemporaryFile file("app.proj", text);
    return read_project(file.path());
}

std::string error_of(const std::string& text)
{
    const TemporaryFile file("app.proj", text);
    try {
        read_project(file.path());
    } catch (const ReadError& error) {
        return std::string(error.what()).substr(file.path().size() + 1);
    }
    return "no error";
}

TEST(ProjReader, ReadsOurForm)
{
    const Project project = read_text(our_form);
    EXPECT_EQ(project.name, "my_app");
    EXPECT_EQ(project.process_count, 2);
    EXPECT_EQ(project.description, "one <run>");
    EXPECT_EQ(project.levels, (Labels{"Hostname", "Rank", "Thread"}));
    EXPECT_EQ(project.leaves,
              (std::vector<Labels>{{"node01", "0", "0"}, {"node01", "0", "1"}, {"node02", "1", "0"}}));
}

TEST(ProjReader, ReadsFiles)
{
    const ProjectFile file = read_text(our_form).files.at(0);
    EXPECT_EQ(file.name, "/home/u/test.out");
    EXPECT_EQ(file.initial_size, 16777216);
    EXPECT_EQ(file.from, 1);
    EXPECT_EQ(file.distribution_class, "Stripe");
    EXPECT_EQ(file.chunk_size, "64K");
    ASSERT_EQ(file.ranks.size(), 1u);
    EXPECT_EQ(file.ranks[0].fid, 3);
}

TEST(ProjReader, ReadsCommunicators)
{
    const Project project = read_text(our_form);
    ASSERT_EQ(project.communicators.size(), 2u);
    const Communicator& world = project.communicators[0];
    EXPECT_EQ(world.uid, "W");
    EXPECT_EQ(world.members.at(0).cid, 0);
    EXPECT_EQ(world.members.at(1).cid, std::nullopt);
    EXPECT_EQ(world.members.at(1).group, std::nullopt);
    EXPECT_EQ(project.communicators[1].members.at(1).group, 1);
}

TEST(ProjReader, ReadsWindows)
{
    const std::vector<Window> windows = read_text(our_form).windows;
    ASSERT_EQ(windows.size(), 2u);
    EXPECT_EQ(windows[0].name, "box");
    EXPECT_EQ(windows[0].uid, "W/w3");
    EXPECT_EQ(windows[0].communicator, "W");
    ASSERT_EQ(windows[0].members.size(), 2u);
    const Window::Member& first = windows[0].members[0];
    EXPECT_EQ(first.global, 0);
    EXPECT_EQ(first.local, 1);
    EXPECT_EQ(first.wid, 2);
    EXPECT_EQ(first.size, 800);
    EXPECT_EQ(first.disp_unit, 8);
    EXPECT_EQ(windows[0].members[1].wid, std::nullopt);
    EXPECT_EQ(windows[1].uid, "");
    EXPECT_TRUE(windows[1].members.empty());
}

TEST(Communicator, FindsMembersInAnyOrder)
{
    Communicator communicator;
    communicator.members = {{0, 0, {}, {}}, {3, 1, {}, {}}, {2, 2, {}, {}}};
    for (const Communicator::Member& member : communicator.members)
        EXPECT_EQ(communicator.member(member.global), &member);
    for (const std::int64_t none : {-1, 1, 4})
        EXPECT_EQ(communicator.member(none), nullptr);
    EXPECT_FALSE(communicator.is_inter());
    EXPECT_FALSE(Communicator().is_inter());
    communicator.members.front().group = 0;
    EXPECT_TRUE(communicator.is_inter());
}

TEST(ProjReader, ReadsDatatypes)
{
    const Project project = read_text(our_form);
    ASSERT_EQ(project.datatypes.size(), 2u);
    EXPECT_TRUE(project.datatypes[1].types.empty());
    const Datatype& type = project.datatypes[0].types.at(1);
    EXPECT_EQ(type.id, 1);
    EXPECT_EQ(type.combiner, "STRUCT");
    EXPECT_EQ(type.attributes[1], (Attribute{"name", "pair"}));
    EXPECT_EQ(type.rows,
              (std::vector<Element>{{"Type", {{"id", "0"}, {"displacement", "0"}, {"blocklen", "1"}}}}));
}

TEST(ProjReader, ReadsTheFormOfTheSpecification)
{
    const Project project = read_text(form_of_the_specification);
    EXPECT_EQ(project.name, "");
    EXPECT_EQ(project.process_count, 2);
    EXPECT_EQ(project.files.at(0).initial_size, 16 << 20);
    EXPECT_EQ(project.files.at(0).distribution_class, "Stripe");
    EXPECT_EQ(project.files.at(0).chunk_size, "64K");
    EXPECT_EQ(project.leaves, (std::vector<Labels>{{"node01", "1", "0"}, {"node01", "0", "0"}}));
    EXPECT_EQ(project.datatypes.at(0).types.at(0).id, -1946157050);
}

TEST(ProjReader, FindsTracesBesideTheProject)
{
    const TemporaryFile file("app.proj", our_form);
    const std::string folder = file.path().substr(0, file.path().size() - std::string("app.proj").size());
    Project project = read_project(file.path());
    EXPECT_EQ(project.trace_paths().at(2), folder + "app_node02_1_0.trc");

    std::ofstream(folder + "my-app_node01_0_0.trc") << "named after the program";
    EXPECT_EQ(project.trace_paths().at(2), folder + "my-app_node02_1_0.trc");
    project.name = "-rf";
    std::ofstream(folder + "xrf_node01_0_0.trc") << "named after a program of such a name";
    EXPECT_EQ(project.trace_paths().at(2), folder + "xrf_node02_1_0.trc");

    std::ofstream(folder + "app_node01_0_0.trc") << "named after the project";
    EXPECT_EQ(project.trace_paths().at(2), folder + "app_node02_1_0.trc");
}

TEST(ProjReader, NamesThePlaceOfErrors)
{
    EXPECT_EQ(error_of("<Program></Program>"),
              "1: this is no project: its root is <Program>, not <Application>");
    EXPECT_EQ(error_of("<Application version='2'></Application>"),
              "1: written by a newer version of hdtrace: read it with that version");
    EXPECT_EQ(error_of("<Application processCount='many'></Application>"), "1: 'many' is not a whole number");
    EXPECT_EQ(
        error_of("<Application>\n<CommunicatorList><Communicator>\n<Rank global='0'/>\n</Communicator>\n"
                 "</CommunicatorList></Application>"),
        "3: <Rank> has no attribute local");
    EXPECT_EQ(
        error_of(
            "<Application><WindowList><Window>\n<Rank global='0' local='0' wid='x'/></Window></WindowList>"
            "</Application>"),
        "2: 'x' is not a whole number");
    EXPECT_EQ(
        error_of(
            "<Application><FileList><File name='f'><InitialSize>99999999999G</InitialSize></File></FileList>"
            "</Application>"),
        "1: '99999999999G' is too large");
    EXPECT_EQ(error_of("<Application>\n</Applikation>\n").substr(0, 5), "2:15:");
    EXPECT_EQ(error_of("<!DOCTYPE Application><Application/>"),
              " a document type declaration (<!DOCTYPE>) is not allowed here");
}

TEST(ProjReader, RefusesLabelsThatLeadElsewhere)
{
    for (const std::string node : {"Node name", "Label value"})
        EXPECT_EQ(
            error_of("<Application><Topology>\n<" + node + "='/../../etc/passwd'/></Topology></Application>"),
            "2: '/../../etc/passwd' is part of a file's name and must not hold '/'");
}

TEST(ProjReader, RefusesAProjectThatWasCutOff)
{
    const std::size_t whole = our_form.find("</Application>") + std::string("</Application>").size();
    for (std::size_t size = 0; size < whole; ++size)
        EXPECT_NE(error_of(our_form.substr(0, size)), "no error") << size;
    EXPECT_EQ(error_of(our_form.substr(0, whole)), "no error");
}

TEST(ProjReader, SaysWhyAFileCannotBeOpened)
{
    EXPECT_THROW(read_project("/nowhere/app.proj"), OpenError);
}

std::string with_call_sites(const std::string& list)
{
    return "<Application name='a' processCount='1' version='1'><CallSiteList>" + list +
           "</CallSiteList></Application>";
}

const std::string places = R"(<Object id="0" path="/lib/liba.so" buildId="0f"/>
<Place id="0" object="0" offset="4457"><Function name="send" file="/src/a.h" line="3"/><Function name="solve"/></Place>
<Place id="1" object="0" offset="31"/>
<Place id="2" offset="4096"/>
<Place id="3"><Function file="/src/main.py" line="12"/></Place>
)";

TEST(ReadProject, CallSites)
{
    const Project project = read_text(with_call_sites(
        places +
        R"(<CallSite id="0" places="0;1;"/><CallSite id="1" places="2;"/><CallSite id="2" places="3;"/>
        <Sites map="0=2;1..2=0..1;"><Ranks first="0" last="2"/><Ranks first="7" last="7"/></Sites>)"));
    ASSERT_EQ(project.call_sites.size(), 3U);
    const CallSite& site = project.call_sites[0];
    EXPECT_EQ(site.places[0]->object->path, "/lib/liba.so");
    EXPECT_EQ(site.places[0]->object->build_id, "0f");
    EXPECT_EQ(site.places[0]->offset, 4457);
    EXPECT_EQ(site.function()->name, "send");
    EXPECT_EQ(site.function()->file, "/src/a.h");
    EXPECT_EQ(site.function()->line, 3);
    EXPECT_EQ(to_string(site), "send (a.h:3)");
    EXPECT_EQ(stack_text(site), "send (a.h:3) < solve < liba.so+0x1f");
    EXPECT_EQ(project.call_sites[1].function(), nullptr);
    EXPECT_EQ(to_string(project.call_sites[1]), "0x1000");
    EXPECT_EQ(to_string(project.call_sites[2]), "main.py:12");
    ASSERT_EQ(project.site_ids.size(), 1U);
    EXPECT_EQ(project.site_ids[0].runs[1].id, 1);
    EXPECT_EQ(project.site_ids[0].runs[1].site, 0);
    EXPECT_EQ(project.site_ids[0].runs[1].count, 2);
    EXPECT_EQ(project.site_ids[0].ranks[1].first, 7);
}

TEST(ReadProject, VariablesAreSortedByTheirPlaces)
{
    const Project project = read_text(with_call_sites(
        R"(<Object id="0" path="/app"><Variable name="table" at="64" size="40" type="int[10]" of="integer" each="4"/>
        <Variable name="name" at="16" size="8"/></Object>
        <Place id="0" object="0" offset="1"><Function name="f"/>
        <Variable name="one" at="-40" size="16" type="S" each="16" members="integer:4:0:1;anything:8:8:1;"/>
        <Variable name="to" at="-48" size="8" type="S *" pointer="1" of="logical value" each="1"/></Place>
        <CallSite id="0" places="0;"/>)"));
    const CodePlace& place = *project.call_sites[0].places[0];
    ASSERT_EQ(place.object->variables.size(), 2U);
    EXPECT_EQ(place.object->variables[0].name, "name");
    EXPECT_TRUE(place.object->variables[0].values.empty());
    const Variable& table = place.object->variables[1];
    EXPECT_EQ(table.type, "int[10]");
    EXPECT_EQ(table.size, 40);
    EXPECT_EQ(table.values, (std::vector<ValueRun>{{"integer", 4, 0, 10}}));
    EXPECT_EQ(table.stride, 40);
    ASSERT_EQ(place.variables.size(), 2U);
    EXPECT_TRUE(place.variables[0].is_pointer);
    EXPECT_EQ(place.variables[0].place, -48);
    EXPECT_FALSE(place.variables[1].is_pointer);
    EXPECT_EQ(place.variables[1].stride, 16);
    EXPECT_EQ(place.variables[1].values,
              (std::vector<ValueRun>{{"integer", 4, 0, 1}, {"anything", 8, 8, 1}}));
}

TEST(ReadProject, RefusesMembersThatCannotBe)
{
    for (const char* members :
         {"integer:0:0:1;", "integer:4:-4:1;", "integer:4:0;", "integer", "integer:4:0:0;"})
        EXPECT_THROW(read_text(with_call_sites(
                         "<Object id='0' path='/app'><Variable name='v' at='0' size='4' each='4' members='" +
                         std::string(members) + "'/></Object>")),
                     ReadError)
            << members;
}

TEST(ReadProject, RefusesCallSitesThatDoNotFit)
{
    const std::pair<std::string, std::string> wrong[] = {
        {"<Place id='4' offset='1'/>", "the id of <Place> is not 0"},
        {"<Place id='0' object='0' offset='1'/>", "there is no object 0 before"},
        {places + "<CallSite id='0' places='4;'/>", "there is no place 4 before"},
        {places + "<CallSite id='0' places=''/>", "a call site has at least one place"},
        {places + "<CallSite id='0' places='0'/>", "'0' does not begin with a number and ';'"},
        {places + "<CallSite id='0' places='-1;'/>", "'-1;' does not begin with a number and ';'"},
        {places + "<CallSite id='0' places='0;'/><Sites map='0=1;'/>", "there is no call site 1 before"},
        {places + "<CallSite id='0' places='0;'/><Sites map='0..1=0;'/>",
         "the ranges in map='0..1=0;' do not fit"},
        {places + "<CallSite id='0' places='0;'/><Sites map='1=0;0=0;'/>", "do not fit"},
        {places + "<CallSite id='0' places='0;'/><Sites map='0=0..;'/>",
         "does not begin with a number and ';'"},
        {places + "<CallSite id='0' places='0;'/><Sites map='0..9223372036854775807=0..0;'/>", "do not fit"},
        {places + "<CallSite id='0' places='0;'/><Sites map='0..9223372036854775808=0;'/>",
         "does not begin with a number"},
        {"<Sites map='0=0;'/>", "there is no call site 0 before"},
    };
    for (const auto& [list, message] : wrong)
        EXPECT_NE(error_of(with_call_sites(list)).find(message), std::string::npos) << list;
}

} // namespace
} // namespace hdtrace
