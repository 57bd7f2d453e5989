// Which characters are written as they are, wherever in a text they stand.
#include "merger/export/plain_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "merger/export/text_output.h"

namespace hdtrace::exporter {
namespace {

TEST(PlainText, EndsAtTheFirstOtherCharacter)
{
    constexpr std::size_t longest = 20; // more than two words of a processor
    for (int value = 0; value < 256; ++value) {
        const char c = static_cast<char>(value);
        const bool is_plain = value >= ' ' && value < 0x7f && c != '"' && c != '\\';
        for (std::size_t size = 1; size <= longest; ++size)
            for (std::size_t place = 0; place < size; ++place) {
                std::string text(size, 'x');
                text[place] = c;
                EXPECT_EQ((plain_size<'"', '\\'>(text)), is_plain ? size : place);
                text.back() = '\0'; // a second one behind it
                EXPECT_EQ((plain_size<'"', '\\'>(text)), is_plain || place == size - 1 ? size - 1 : place);
            }
    }
    EXPECT_EQ((plain_size<','>("")), 0U);
}

TEST(TextOutput, KeepsTheOrderOfShortAndLongTexts)
{
    std::string written, expected;
    TextOutput output([&](std::string_view text) { written += text; });
    for (const std::size_t size : {1, 1 << 17, 1 << 17, 1 << 18, 1 << 19, 3}) {
        const std::string text(size, static_cast<char>('a' + expected.size() % 26));
        output.text(text).number(-12).seconds(-1'000'000'001).microseconds(2'050);
        expected += text + "-12" + "-1.000000001" + "2.050";
    }
    output.flush();
    EXPECT_EQ(written, expected);
}

} // namespace
} // namespace hdtrace::exporter
