// Compact traces: their text is what the same elements become in a plain trace.
#include "compact_support.h"
#include "hdtrace/format/trc_reader.h"

#include <climits>
#include <functional>

namespace hdtrace::test {
namespace {

using Steps = std::function<void(Trace& trace)>;

constexpr int64_t base_time = base_second * second;

/// With a buffer of as many bytes for text.
TraceSettings settings_of(Compression compression, int digits, size_t buffer_size)
{
    TraceSettings settings;
    settings.form = {digits, compression};
    settings.buffer_size = buffer_size;
    return settings;
}

void expect_same_text(const Steps& steps, int digits = 9, size_t buffer_size = 256 * 1024)
{
    Trace plain(settings_of(Compression::none, digits, buffer_size));
    steps(plain);
    EXPECT_EQ(plain.writer.close(), 0);
    for (const Compression compression : {Compression::compact, Compression::compact_zstd}) {
        Trace compact(settings_of(compression, digits, buffer_size));
        ASSERT_TRUE(compact.writer.is_compact());
        steps(compact);
        EXPECT_EQ(compact.writer.close(), 0);
        EXPECT_TRUE(text_of_compact(compact.path() + ".compact") == plain.content());
        EXPECT_EQ(states_in_file(compact.writer), states_in_file(plain.writer));
    }
}

template <typename Build> void element(Trace& trace, Build build)
{
    trace.begin();
    write_element(trace.writer, build);
}

TEST(Compact, HoldsNumbersOfAllSizes)
{
    expect_same_text([](Trace& trace) {
        for (const int64_t number : {int64_t{0}, int64_t{9}, int64_t{10}, int64_t{-1}, INT64_MAX, INT64_MIN,
                                     INT64_MIN, INT64_MAX, int64_t{0}, int64_t{127}, int64_t{128}})
            element(trace, [=](auto& e) {
                e.text("<A a='").number(number).text("' b='").number(-5).text("'").end("A");
            });
    });
}

TEST(Compact, HoldsPartsThatBecomeOne)
{
    expect_same_text([](Trace& trace) {
        for (int i = 0; i < 3; ++i)
            element(trace,
                    [=](auto& e) { e.add("<A a='"_xml, i, "' b='"_xml, int64_t{7}, "'"_xml).end("A"); });
        element(trace, [](auto& e) { e.add("<A"_xml).end("A"); });
    });
}

// What begins the same is expected to go on as the last time.
TEST(Compact, HoldsFormsThatBeginTheSame)
{
    expect_same_text([](Trace& trace) {
        for (int64_t i = 0; i < 512; ++i)
            element(trace, [=](auto& e) {
                e.add("<A a='"_xml, i / 128, "'"_xml);
                if ((i * 37 & 1) != 0)
                    e.add(" b='"_xml, i / 64, "' c='"_xml, i % 3, "'"_xml);
                if ((i * 37 & 6) == 6)
                    e.text(" rc='").name("MPI_ERR_RANK").text("'");
                if ((i * 37 & 8) != 0)
                    e.text(" d='").escaped("x").text("'");
                if ((i * 37 & 48) == 48)
                    e.text(" e='").number(i / 256).text("'");
                e.times(base_time + i, base_time + 2 * i).end("A");
            });
    });
}

TEST(Compact, HoldsTimesOfAllKinds)
{
    for (const int digits : {6, 7, 8, 9}) {
        expect_same_text(
            [](Trace& trace) {
                for (const int64_t time : {int64_t{0}, int64_t{999}, second - 1, 9 * second + 999'999'999,
                                           10 * second, 123'456 * second, second}) {
                    trace.state("A", time, time + 1'234'567);
                    trace.event("tom & jerry", time);
                }
                trace.state("BeforeTheBase", -5 * second, -second);
            },
            digits);
    }
}

constexpr NamedValue names[] = {{1, "ONE"}, {2, "TWO"}};

TEST(Compact, HoldsTextThatHasNoForm)
{
    expect_same_text([](Trace& trace) {
        for (int i = 0; i < 4; ++i)
            element(trace, [=](auto& e) {
                e.text("<A a='").escaped("<\x01'&").text("' b='").raw("xyz", 3).text("' c='");
                e.name_of(names, i).text("' d='").names_of(names, i).text("'");
                e.written_by([](char* out) { return put_text(out, " e='1'"); });
                e.text(" f='")
                    .seconds(i * second * 11 + 5)
                    .text("'")
                    .times(base_time, base_time + i)
                    .end("A");
            });
    });
}

TEST(Compact, HoldsSites)
{
    constexpr ShortText seventh = {" site='7'", 9, 8};
    expect_same_text([&](Trace& trace) {
        for (const ShortText& site : {no_site, seventh, no_site})
            element(trace, [&](auto& e) { e.text("<A").site(site).end("A"); });
    });
}

TEST(Compact, HoldsMoreValuesThanAFormHas)
{
    expect_same_text([](Trace& trace) {
        for (int round = 0; round < 2; ++round)
            element(trace, [=](auto& e) {
                e.text("<A");
                for (int i = 0; i < 3 * most_compact_values; ++i)
                    e.text(" a='").number(i * round).text("'");
                e.end("A");
            });
    });
}

TEST(Compact, HoldsChildren)
{
    expect_same_text([](Trace& trace) {
        for (const int count : {0, 1, 2, 100'000, 3}) {
            element(trace, [=](auto& e) {
                e.text("<Waitall count='").number(count).text("'").times(base_time, base_time + 5);
                for (int i = 0; i < count; ++i)
                    e.child("<For rid='").number(i).text("'").end_child();
                e.children("<Info a='b' />", count % 2 == 0 ? 14 : 0).end("Waitall");
            });
            element(trace, [=](auto& e) {
                e.text("<").raw("Any", 3).children("<B />", count % 2 == 0 ? 5 : 0).end_with("Any", 3);
            });
        }
    });
}

// Also where the buffer is full in the middle of a line.
TEST(Compact, HoldsNestedStates)
{
    expect_same_text(
        [](Trace& trace) {
            for (int round = 0; round < 200; ++round) {
                trace.begin();
                for (int i = 0; i < round; ++i) {
                    trace.state("Inner", i, i + 1);
                    trace.event("in between", i);
                    trace.begin();
                    trace.begin();
                    trace.state("Deep", i);
                    trace.end("Deeper", i, i + 2);
                    trace.end("Around", i, i + 3);
                }
                trace.end("Outer", 0, round);
                trace.state("Next", round, round + 1);
            }
        },
        9, 64 * 1024);
}

TEST(Compact, HoldsStatesThatWereLeft)
{
    expect_same_text([](Trace& trace) {
        trace.begin("Left", base_time);
        trace.begin("Inner", base_time);
        trace.state("Innermost");
        trace.writer.give_up_states(0, base_time + 1);
        trace.state("A");
    });
}

TEST(Compact, HoldsALoopInFewBytes)
{
    Trace trace(settings_of(Compression::compact, 9, 256 * 1024));
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i)
        element(trace, [=](auto& e) {
            e.add("<Sendrecv size='"_xml, 8, "' toRank='"_xml, 1, "' toTag='"_xml, 2, "' cid='"_xml, 0,
                  "'"_xml);
            e.times(base_time + 1'000 * i, base_time + 1'000 * i + 700 + i % 10).end("Sendrecv");
        });
    trace.writer.close();
    EXPECT_LT(std::filesystem::file_size(trace.path() + ".compact"), 5u * count + 1'000u);
}

std::vector<State> states_from(const Trace& trace, int64_t time)
{
    TrcReader reader(trace.path());
    reader.seek(time);
    std::vector<State> states;
    for (State state; reader.next(state);)
        states.push_back(state);
    return states;
}

TEST(Compact, IsReadFromAnyTime)
{
    Trace plain, compact(settings_of(Compression::compact, 9, 256 * 1024));
    constexpr int count = 20'000;
    for (Trace* trace : {&plain, &compact}) {
        for (int i = 0; i < count; ++i)
            element(*trace, [=](auto& e) {
                e.text("<A a='").number(i).text(i % 3 == 0 ? "' b='" : "' c='").number(-i).text("'");
                e.times(base_time + 1'000 * i, base_time + 1'000 * i + 700).end("A");
            });
        EXPECT_EQ(trace->writer.close(), 0);
    }
    for (const int i : {0, 1, count / 3, count / 2, count - 1, count})
        EXPECT_TRUE(states_from(compact, base_time + 1'000 * i) == states_from(plain, base_time + 1'000 * i))
            << i;
}

// What another process sees at any moment is a whole trace, although lines are written again until there are
// enough for a block.
TEST(Compact, CanBeReadWhileItIsSaved)
{
    Trace plain, compact(settings_of(Compression::compact, 9, 256 * 1024));
    for (int i = 0; i < 50; ++i) {
        for (Trace* trace : {&plain, &compact}) {
            for (int k = 0; k < 500; ++k)
                trace->state("A", k, k + 1);
            EXPECT_EQ(trace->writer.save(), 0);
        }
        EXPECT_TRUE(text_of_compact(compact.path() + ".compact") == plain.content()) << i;
    }
}

} // namespace
} // namespace hdtrace::test
