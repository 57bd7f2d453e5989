// Compact traces are read as their text is, whatever their records are.
#include <gtest/gtest.h>

#include "hdtrace/compact_form.h"
#include "hdtrace/format/file.h"
#include "tests/unit/reader_oracle.h"
#include "tests/unit/reader_support.h"

namespace hdtrace {
namespace {

using test::are_alike;
using test::Result;
using test::TemporaryFolder;

/// Records of a unit.
class Records {
  public:
    explicit Records(std::int64_t time_adjustment = 10)
    {
        text("<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='" +
             std::to_string(time_adjustment) + "' version='1'>\n");
    }

    Records& text(const std::string& text) { return with_size(compact_code::text, text); }
    /// The next form.
    Records& form(const std::string& text) { return with_size(compact_code::form, text); }
    Records& depth(std::uint64_t depth) { return put(compact_code::depth).put(depth); }
    /// Times are those since the last one.
    Records& line(std::uint64_t form, const std::vector<std::int64_t>& differences = {},
                  const std::vector<std::uint64_t>& times = {})
    {
        put(compact_code::first_line + 2 * form + (differences.empty() ? 0 : 1));
        if (!differences.empty())
            put((std::uint64_t{1} << differences.size()) - 1);
        for (const std::int64_t difference : differences)
            put(to_unsigned(difference));
        for (std::size_t i = 0; i < times.size(); ++i)
            put(i == 0 ? to_unsigned(static_cast<std::int64_t>(times[i])) : times[i]);
        return *this;
    }
    Records& put(std::uint64_t number)
    {
        for (; number >= 0x80; number >>= 7)
            m_bytes += static_cast<char>(number | 0x80);
        m_bytes += static_cast<char>(number);
        return *this;
    }
    Records& end() { return text("</Program>\n"); }

    std::string file() const
    {
        std::string file(reinterpret_cast<const char*>(compact_unit_lead), sizeof compact_unit_lead);
        const std::uint64_t size = m_bytes.size() + 1;
        for (int i = 0; i < compact_size_bytes; ++i)
            file += static_cast<char>(size >> (8 * i));
        return file + static_cast<char>(CompactBody::records) + m_bytes;
    }

  private:
    Records& with_size(std::uint64_t code, const std::string& text)
    {
        put(code).put(text.size());
        m_bytes += text;
        return *this;
    }

    std::string m_bytes;
};

std::string text_of(const std::string& path)
{
    detail::File file(path);
    std::string text(1 << 20, '\0');
    text.resize(file.read(text.data(), text.size()));
    return text;
}

std::string without(std::string text, const std::string& folder)
{
    const std::size_t place = text.find(folder);
    return place == text.npos ? text : text.erase(place, folder.size());
}

/// Reads a file as it is, and its text, of which it returns how many states there are.
std::size_t expect_same(const std::string& file, std::size_t block_size = ReadOptions().block_size)
{
    const TemporaryFolder compact_folder, text_folder;
    const std::string compact_path = compact_folder.write("app_h_0_0.trc.compact", file);
    const std::string text = text_of(compact_path);
    const std::string text_path = text_folder.write("app_h_0_0.trc", text);
    const ReadOptions options = {.block_size = block_size};
    const Result expected = test::read(text_path, options);
    const Result result = test::read(compact_folder.path_of("app_h_0_0.trc"), options);
    EXPECT_EQ(without(result.error, compact_folder.path_of("")),
              without(expected.error, text_folder.path_of("")));
    EXPECT_EQ(result.complete, expected.complete) << text;
    EXPECT_EQ(result.missing, expected.missing) << text;
    EXPECT_EQ(result.states.size(), expected.states.size()) << text;
    for (std::size_t i = 0; i < std::min(result.states.size(), expected.states.size()); ++i)
        EXPECT_TRUE(are_alike(result.states[i], expected.states[i])) << i << " of " << text;
    return expected.states.size();
}

std::size_t expect_same(const Records& records)
{
    expect_same(records.file(), 100);
    return expect_same(records.file());
}

const std::string times = " time='\3"
                          "9' end='\4"
                          "9'";

/// Lines of a form, which has two values and two times.
Records lines_of(const std::string& form)
{
    Records records;
    records.form(form);
    for (int i = 0; i < 12; ++i)
        records.line(0, {i % 3, i * i}, {20, 3});
    records.line(0, {INT64_MAX, -5'000}, {1'000'000'000'000'000, 7}).line(0, {INT64_MIN, 1}, {1, 0});
    return records.end();
}

TEST(CompactLines, AreReadAsTheirText)
{
    EXPECT_EQ(expect_same(lines_of("<A a='\1' b='\1'" + times + " />\n")), 14u);
    EXPECT_EQ(expect_same(lines_of("<A" + times + " a='\1' b='\1'/>\n")), 14u);
    EXPECT_EQ(expect_same(lines_of("<A x='y' a='\1'" + times + " u='' v='7' b='\1' w='-3'></A>\n")), 14u);
    EXPECT_EQ(expect_same(lines_of("<A a='\1' b='\2'" + times + " />\n")), 14u);
    EXPECT_EQ(expect_same(lines_of("<A" + times + " ><For rid='\1' x='y' /><B /><For rid='\1' /></A>\n")),
              14u);
    EXPECT_EQ(expect_same(lines_of("<A a='\1' b='\1'" + times + " /> \r\n")), 14u);
}

TEST(CompactLines, HaveEvents)
{
    Records records;
    records.form("<Event name='x' time='\5"
                 "9' a='\1' end='\1' />\n");
    for (int i = 0; i < 5; ++i)
        records.line(0, {i, 2}, {10});
    EXPECT_EQ(expect_same(records.end()), 5u);
}

TEST(CompactLines, HaveTimesOfAllDigits)
{
    for (const char digits : {'6', '7', '8', '9'}) {
        Records records;
        records.form(std::string("<A a='\1' time='\3") + digits + "' end='\4" + digits + "' b='\1' />\n");
        for (const std::uint64_t time : {0ull, 1'999'999'998ull, 18'000'000'000ull, 2'000'000'000'000ull})
            records.line(0, {1, 2}, {time, time});
        EXPECT_EQ(expect_same(records.end()), 4u);
    }
}

// Their sum with timeAdjustment has no 64 bits.
TEST(CompactLines, HaveTimesThatAreTooLarge)
{
    Records records(9'223'372'035);
    records.form("<A a='\1'" + times + " />\n");
    for (int i = 0; i < 4; ++i)
        records.line(0, {i}, {1'000'000'000, 1'000});
    EXPECT_EQ(expect_same(records.end()), 1u);
}

// What stands around the values is a part of the text like any other.
TEST(CompactLines, HaveFormsOfAnyKind)
{
    const std::string forms[] = {
        "<A a=\"\1\" b='\1'" + times + " />\n",
        "<A a=\"x='\1'\" b='\1'" + times + " />\n",
        "<A a='-\1' b='\1 '" + times + " />\n",
        "<A a='&lt;' b='\1' c='\1'" + times + " />\n",
        "<A a='\1' b='&#\1;'" + times + " />\n",
        "<A a='\1' b='\1' time='\3"
        "9' end='9.000000000' c='\4"
        "9' />\n",
        "<A a='\1' time='\1.000000000' end='9.000000000' c='\3"
        "9' d='\4"
        "9' />\n",
        "<A a='\1' time='\2' end='9.000000000' c='\3"
        "9' d='\4"
        "9' />\n",
        "<A a='\1' b='\1' time='\4"
        "9' end='\3"
        "9' />\n",
        "<A a='\1' b='\1' time='1\3"
        "9' end='\4"
        "9' />\n",
        "<A a='\1' b='\1' time='\3"
        "9' end='\4"
        "90' />\n",
        "<A\1 a='\1'" + times + " />\n",
        "<A a\1='\1'" + times + " />\n",
        "<A a='\1' a='\1'" + times + " />\n",
        "<A xmlns='\1' a='\1'" + times + " />\n",
        "<x:A a='\1' x:b='\1'" + times + " />\n",
        "<A a='\1' b='\1'" + times + " /><A" + " />\n",
        "<A a='\1' b='\1'" + times + " />",
        "<A a='\1\1'" + times + " />\n",
        "<A a='\1'\1" + times + " />\n",
        "<A a='\1' b='\1'" + times + " >\1</A>\n",
        "<A a='\1' b='\1'" + times + " ></B>\n",
        "<A a='\1' b='\1'" + times + " ><For time='\1' /></A>\n",
        "<!-- \1 --><A a='\1'" + times + " />\n",
        "<Nested><A a='\1'" + times + " /></Nested><B b='\1' time='1' end='2' />\n",
        "<Nested a='\1'><A a='\1'" + times + " /></Nested>\n",
        "<A time='1' end='2' b='\1' /><B a='\1'" + times + " />\n",
        "<A a='\1' b='\1'" + times + " />\n<B a='1' time='1' end='2' />\n",
        "<A a='\1' b='\1'" + times + " />\n</Program>\n",
        "<Event name='x' a='\1' b='\1'" + times + " />\n",
        "<A a='\1' b='\1' c='\3"
        "9' end='\4"
        "9' />\n",
        "\1 \1" + times + "\n",
        times + "\1\1",
    };
    for (const std::string& form : forms)
        expect_same(lines_of(form));
}

TEST(CompactLines, GoOnBehindARecord)
{
    Records records;
    records.form("<A a='\1'" + times).form(" b='\1' />\n").form(" c='\1'></A>\n");
    for (int i = 0; i < 3; ++i)
        records.line(0, {i}, {2, 3}).text(" />\n");
    records.line(0, {1}, {2, 3}).text(" x='y' />\n");
    records.line(0, {1}, {2, 3}).line(1, {1});
    records.line(0, {1}, {2, 3}).line(2, {1});
    records.line(0, {1}, {2, 3}).text("0' />\n"); // a quote is missing before it
    records.line(0, {1}, {2, 3}).text(" />\n");
    expect_same(records.end());
}

TEST(CompactLines, BeginInARecordOfTheLineBefore)
{
    Records records;
    records.form(" />\n<A a='\1' b='").form("\1'" + times).form("' u='\1'" + times);
    records.text("<A time='1' end='2'");
    for (int i = 0; i < 4; ++i)
        records.line(0, {i}).line(1, {i}, {1, 2});
    for (int i = 0; i < 4; ++i)
        records.line(0, {i}).line(2, {i}, {1, 2});
    records.text(" />\n");
    EXPECT_EQ(expect_same(records.end()), 9u);
}

TEST(CompactLines, HaveChildrenInOtherRecords)
{
    Records records;
    records.form("<A a='\1'" + times + " ><For rid='\1' />")
        .form("<For rid='\1' b='c' />")
        .form("<B /></A>\n");
    for (int i = 0; i < 6; ++i) {
        records.line(0, {1, 1}, {2, 3});
        for (int k = 0; k < i; ++k)
            records.line(1, {k});
        records.line(2);
    }
    EXPECT_EQ(expect_same(records.end()), 6u);
}

TEST(CompactLines, HaveStatesInEachOther)
{
    Records records;
    records.form("<A a='\1'" + times + " />").form("<B b='\1'" + times + " />\n");
    records.form("<Event name='x' a='\1' time='\5"
                 "9' />");
    for (int i = 0; i < 6; ++i) {
        records.depth(3).line(0, {i}, {1, 2}).depth(3).line(2, {i}, {1}).depth(2).line(0, {i}, {1, 2});
        records.depth(1).line(1, {i}, {1, 2});
    }
    EXPECT_EQ(expect_same(records.end()), 6u);
}

// Times are what they are where an element is a state, and attributes like others where it is a child.
TEST(CompactLines, HaveElementsThatAreStatesAndChildren)
{
    Records records;
    records.form("<A a='\1'" + times + " />").form("<B b='\1'" + times + " >");
    for (int i = 0; i < 6; ++i) {
        records.line(0, {i}, {1, 2}).text("\n");
        records.line(1, {i}, {1, 2}).line(0, {i}, {1, 2}).line(0, {i}, {1, 2}).text("</B>\n");
    }
    EXPECT_EQ(expect_same(records.end()), 12u);
}

TEST(CompactLines, HaveManyForms)
{
    Records records;
    constexpr int count = 3'000;
    for (int i = 0; i < count; ++i)
        records.form("<A" + std::to_string(i) + " a='" + std::string(i % 100 == 0 ? 5'000 : 1, 'x') +
                     "' b='\1'" + times + " />\n");
    for (int round = 0; round < 3; ++round)
        for (int i = round == 2 ? count - 2 : 0; i < count; ++i)
            records.line(i, {i}, {1, 1});
    EXPECT_EQ(expect_same(records.end().file()), 2u * count + 2u);
}

// More values than what is known of is kept for.
TEST(CompactLines, AreLong)
{
    Records records;
    records.form("<A" + times + " ><For rid='\1' />").form("<For rid='\1' a='\1' />");
    for (int i = 0; i < 3; ++i) {
        records.line(0, {1}, {1, 1});
        for (int k = 0; k < 9'000; ++k)
            records.line(1, {k, i});
        records.text("</A>\n");
    }
    EXPECT_EQ(expect_same(records.end().file()), 3u);
}

TEST(CompactLines, AreCutOffAnywhere)
{
    const std::string file = lines_of("<A a='\1'" + times + " ><For rid='\1' /></A>\n").file();
    for (std::size_t size = 100; size < file.size(); ++size)
        expect_same(file.substr(0, size));
}

} // namespace
} // namespace hdtrace
