// What is known of a state before it ends.
#include "writer_support.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

static std::atomic<int> copies_from_program = 0;

extern "C" long __real_syscall(long number, ...);

// The program is linked with --wrap, so that the library's calls come to us first.
extern "C" long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    copies_from_program += number == SYS_process_vm_readv;
    return __real_syscall(number, a, b, c, d, e, f);
}

namespace hdtrace::test {
namespace {

using Kind = Argument::Kind;

constexpr int64_t base = base_second * second;
constexpr NamedValue colours[] = {{1, "RED"}, {2, "GREEN"}, {4, "BLUE"}};

// The unfinished line of a state of this form.
std::string saved(const StateForm& form, const std::function<void(OpenState&)>& set_arguments,
                  const TraceSettings& settings = {})
{
    Trace trace(settings);
    trace.begin(form, base, set_arguments);
    EXPECT_EQ(trace.writer.save(), 0);
    const std::string content = trace.content();
    const std::string line = content.substr(head.size(), content.size() - head.size() - footer.size());
    return std::regex_replace(line, std::regex("time='0.000000000' end='[0-9.]+'"), "T");
}

// What is in the program's memory; qemu, for one, refuses to read it.
class ArgumentsInMemory : public testing::Test {
    void SetUp() override
    {
        static constexpr int memory = 0;
        int copy;
        if (!copy_from_program(copy, &memory))
            GTEST_SKIP() << "the system does not copy memory: process_vm_readv: " << strerror(errno);
    }
};

TEST(Arguments, AreAttributesOfTheUnfinishedState)
{
    static constexpr Argument arguments[] = {
        {Kind::number, 0, " size='"},
        {Kind::text, 1, " op='"},
        {.kind = Kind::one_of, .value = 2, .start = " a='", .names = colours},
        {.kind = Kind::any_of, .value = 3, .start = " b='", .names = colours}};
    static constexpr StateForm form = {"A", arguments};
    EXPECT_EQ(saved(form,
                    [](OpenState& state) {
                        state.start(&form, 0b1111);
                        state.set(0, -7);
                        state.set(1, "MPI_SUM");
                        state.set(2, 2);
                        state.set(3, 5);
                    }),
              "<A size='-7' op='MPI_SUM' a='GREEN' b='RED|BLUE' T unfinished='1' />\n");
}

TEST(Arguments, AreLeftOutIfTheStateDoesNotHaveThem)
{
    static constexpr Argument arguments[] = {{Kind::number, 0, " a='"}, {Kind::number, 1, " b='"}};
    static constexpr StateForm form = {"A", arguments};
    EXPECT_EQ(saved(form,
                    [](OpenState& state) {
                        state.start(&form, 0);
                        state.set(1, 2);
                        state.add(1);
                    }),
              "<A b='2' T unfinished='1' />\n");
}

TEST(Arguments, AreNotToldIfTheyAreUnsure)
{
    static constexpr Argument arguments[] = {{Kind::number, 0, " a='"}};
    static constexpr StateForm form = {"A", arguments};
    const auto set = [](OpenState& state) {
        state.start(&form, 1);
        state.set(0, 2);
        state.set_unsure();
        EXPECT_TRUE(state.is_to_be_asked_again());
    };
    EXPECT_EQ(saved(form, set), "<A T unfinished='1' />\n");
}

TEST(Arguments, HaveTheSiteBehindThem)
{
    static constexpr StateForm form = {"A"};
    static constexpr ShortText site = {" site='12'", 10, 13};
    EXPECT_EQ(saved(form, [](OpenState& state) { state.set_site(site); }),
              "<A site='12' T unfinished='1' />\n");
}

TEST_F(ArgumentsInMemory, AreLookedAt)
{
    static constexpr Argument arguments[] = {
        {Kind::string, 0, " name='"},
        {Kind::numbers, 1, " dims='"},
        {.kind = Kind::numbers, .value = 1, .start = " twice='", .meaning = [](int n) { return 2 * n; }}};
    static constexpr StateForm form = {"A", arguments};
    static constexpr int dims[] = {3, -4};
    EXPECT_EQ(saved(form,
                    [](OpenState& state) {
                        state.start(&form, 0b111);
                        state.set(0, "tom & jerry");
                        state.set(1, dims);
                        state.set(2, 2);
                    }),
              "<A name='tom &amp; jerry' dims='3;-4;' twice='6;-8;' T unfinished='1' />\n");
}

TEST_F(ArgumentsInMemory, ThatIsNotThereAreLeftOut)
{
    static constexpr Argument arguments[] = {
        {Kind::string, 0, " name='"}, {Kind::numbers, 1, " dims='"}, {Kind::number, 2, " ndims='"}};
    static constexpr StateForm form = {"A", arguments};
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    char* const pages = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
    memset(pages, 'x', 2 * page);
    // Unmapped, it would be given to the next who maps a page.
    ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
    const auto set = [&](OpenState& state) {
        state.start(&form, 0b111);
        state.set(0, pages + page - 4); // without a NUL
        state.set(1, pages + page - 4);
        state.set(2, 2);
    };
    EXPECT_EQ(saved(form, set), "<A ndims='2' T unfinished='1' />\n");
    strcpy(pages + page - 4, "end");
    EXPECT_EQ(saved(form, set), "<A name='end' ndims='2' T unfinished='1' />\n");
    munmap(pages, 2 * page);
}

TEST(Arguments, ThatAreTooLongAreLeftOut)
{
    static constexpr Argument arguments[] = {
        {Kind::string, 0, " name='"}, {Kind::numbers, 1, " dims='"}, {Kind::number, 2, " count='"}};
    static constexpr StateForm form = {"A", arguments};
    const std::string text(100'000, '\'');
    const std::vector<int> numbers(100'000, -1'000'000);
    EXPECT_EQ(saved(form,
                    [&](OpenState& state) {
                        state.start(&form, 0b111);
                        state.set(0, text.c_str());
                        state.set(1, numbers.data());
                        state.set(2, static_cast<int64_t>(numbers.size()));
                    }),
              "<A count='100000' T unfinished='1' />\n");
}

// An item is its own number, odd ones have none.
int64_t find_number(const void* item, const void*, int64_t)
{
    int number;
    memcpy(&number, item, sizeof number);
    return number % 2 == 0 ? number : -1;
}

struct Item {
    int number;
    char more[12];
};

constexpr Argument children_arguments[] = {{.kind = Kind::children,
                                            .value = 0,
                                            .start = "<Pending rid='",
                                            .item_size = sizeof(int),
                                            .stride = sizeof(Item),
                                            .find = find_number},
                                           {Kind::number, 2, " count='"}};
constexpr StateForm children_form = {"Wait", children_arguments};

std::string saved_with_children(const std::vector<Item>& items)
{
    return saved(children_form, [&](OpenState& state) {
        state.start(&children_form, 0b11);
        state.set(0, items.data());
        state.set(1, items.data());
        state.set(2, static_cast<int64_t>(items.size()));
    });
}

TEST_F(ArgumentsInMemory, CanBeChildElements)
{
    EXPECT_EQ(saved_with_children({{2, {}}, {3, {}}, {4, {}}}),
              "<Wait count='3' T unfinished='1' ><Pending rid='2' /><Pending rid='4' /></Wait>\n");
    EXPECT_EQ(saved_with_children({}), "<Wait count='0' T unfinished='1' />\n");
}

TEST_F(ArgumentsInMemory, ThatAreTooManyChildElementsAreCounted)
{
    constexpr size_t count = 100'000;
    const std::string line = saved_with_children(std::vector<Item>(count, Item{2, {}}));
    const size_t told = occurrences(line, "<Pending rid='2' />");
    EXPECT_GT(told, 500u);
    EXPECT_EQ(line.substr(line.rfind("<Pending")),
              "<Pending more='" + std::to_string(count - told) + "' /></Wait>\n");
}

TEST_F(ArgumentsInMemory, ThatHaveNoNumberAreCopiedManyAtOnce)
{
    std::vector<Item> items(100'000, Item{1, {}});
    items.back().number = 2;
    copies_from_program = 0;
    EXPECT_EQ(saved_with_children(items),
              "<Wait count='100000' T unfinished='1' ><Pending rid='2' /></Wait>\n");
    EXPECT_LT(copies_from_program, 10'000); // a block of few items fits on any stack
}

TEST_F(ArgumentsInMemory, KnowHowManyEqualItemsComeBefore)
{
    static constexpr Argument arguments[] = {{.kind = Kind::children,
                                              .value = 0,
                                              .start = "<Pending rid='",
                                              .item_size = sizeof(int),
                                              .stride = sizeof(int),
                                              .find = [](const void*, const void* place, int64_t equal) {
                                                  return 10 * *static_cast<const int*>(place) + equal;
                                              }}};
    static constexpr StateForm form = {"Wait", arguments};
    static constexpr int items[] = {5, 5, 6}, places[] = {1, 2, 3};
    EXPECT_EQ(
        saved(form,
              [](OpenState& state) {
                  state.start(&form, 1);
                  state.set(0, items);
                  state.set(1, places);
                  state.set(2, 3);
              }),
        "<Wait T unfinished='1' ><Pending rid='10' /><Pending rid='21' /><Pending rid='30' /></Wait>\n");
}

// A poll that found nothing leaves no trace by which it could be told from the next one.
TEST_F(ArgumentsInMemory, OfAStateThatIsAbandonedMeanwhileAreNotReadInTheProgram)
{
    static TraceWriter* writer = nullptr; // as long as nothing was abandoned
    static constexpr Argument arguments[] = {{.kind = Kind::children,
                                              .value = 0,
                                              .start = "<Pending rid='",
                                              .item_size = sizeof(int),
                                              .stride = sizeof(int),
                                              .find = [](const void*, const void*, int64_t) -> int64_t {
                                                  if (writer == nullptr)
                                                      return 5;
                                                  EXPECT_TRUE(writer->abandon_state());
                                                  writer->enter(writer->next_state(), base + 1);
                                                  writer = nullptr;
                                                  return 5;
                                              }}};
    static constexpr StateForm form = {"Testall", arguments};
    static constexpr int items[] = {1, 2};
    Trace trace;
    trace.begin(form, base, [](OpenState& state) {
        state.start(&form, 1);
        state.set(0, items);
        state.set(1, items);
        state.set(2, 2);
    });
    writer = &trace.writer;
    EXPECT_EQ(trace.writer.save(), 0);
    EXPECT_EQ(writer, nullptr);
    EXPECT_EQ(occurrences(trace.content(), "<Testall "), 1u);
    EXPECT_EQ(occurrences(trace.content(), "<Pending "), 0u);
    EXPECT_EQ(trace.writer.save(), 0);
    EXPECT_EQ(occurrences(trace.content(), "<Pending "), 2u);
}

TEST(Arguments, OfStatesThatWereLeftAreKept)
{
    static constexpr Argument arguments[] = {{Kind::number, 0, " count='"}, {Kind::string, 1, " name='"}};
    static constexpr StateForm form = {"A", arguments};
    static constexpr ShortText site = {" site='3'", 9, 4};
    Trace trace;
    trace.begin(form, base, [](OpenState& state) {
        state.start(&form, 0b11);
        state.set_site(site);
        state.set(0, 5);
        state.set(1, "gone");
    });
    trace.writer.give_up_states(0, base + 1);
    EXPECT_EQ(trace.lines(),
              "<A count='5' site='3' time='0.000000000' end='0.000000001' unfinished='1' />\n");
}

TEST(Arguments, OfAnOuterStateKeepTheirSite)
{
    static constexpr StateForm form = {"A"}, inner = {"B"};
    ShortText passing = {" site='1'", 9, 2};
    Trace trace;
    trace.begin(form, base, [&](OpenState& state) { state.set_site(passing); });
    trace.begin(inner, base, [&](OpenState& state) {
        passing.change_to({" site='2'", 9, 3});
        state.set_site(passing);
    });
    EXPECT_EQ(trace.writer.save(), 0);
    EXPECT_TRUE(std::regex_search(trace.content(), std::regex("<B site='2' .*<A site='1' ")));
}

TEST(Arguments, AreInCompressedTraces)
{
    static constexpr Argument arguments[] = {{Kind::number, 0, " count='"}};
    static constexpr StateForm form = {"A", arguments};
    TraceSettings settings;
    settings.form.compression = Compression::gzip;
    Trace trace(settings);
    trace.begin(form, base, [](OpenState& state) {
        state.start(&form, 1);
        state.set(0, 42);
    });
    EXPECT_EQ(trace.writer.save(), 0);
    const std::string command = "zcat '" + trace.path() + ".gz'";
    FILE* const pipe = popen(command.c_str(), "r");
    char text[1'000] = "";
    const size_t size = fread(text, 1, sizeof text - 1, pipe);
    pclose(pipe);
    EXPECT_NE(std::string(text, size).find("<A count='42' "), std::string::npos) << text;
}

} // namespace
} // namespace hdtrace::test
