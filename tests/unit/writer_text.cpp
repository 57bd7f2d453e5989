// Numbers, times and escapes as text.
#include "hdtrace/writer/file_name.h"
#include "hdtrace/writer/text_buffer.h"

#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace hdtrace {
namespace {

std::string number(int64_t value)
{
    char text[max_number_length];
    return {text, put_number(text, value)};
}

std::string nanoseconds(uint32_t value)
{
    char text[9];
    return {text, put_nanoseconds(text, value)};
}

std::string xml(const std::string& text)
{
    std::string escaped(text.size() * max_escape_length, '\0');
    escaped.resize(put_xml_escaped(escaped.data(), text.data(), text.size()) - escaped.data());
    return escaped;
}

std::string info(const std::string& text)
{
    std::string escaped(text.size() * max_escape_length, '\0');
    escaped.resize(put_info_escaped(escaped.data(), text.data(), text.size()) - escaped.data());
    return escaped;
}

const std::string replacement = "\xEF\xBF\xBD";

TEST(Number, EveryMagnitudeAndItsNeighbours)
{
    for (int64_t power = 1; power <= 100'000'000'000'000'000; power *= 10) {
        for (const int64_t value : {power - 1, power, power + 1, 2 * power, 9 * power, 10 * power})
            EXPECT_EQ(number(value), std::to_string(value));
    }
    for (int bit = 0; bit < 64; ++bit) {
        const int64_t value = static_cast<int64_t>(1ull << bit);
        EXPECT_EQ(number(value), std::to_string(value));
        EXPECT_EQ(number(~value), std::to_string(~value));
    }
    for (int value = -12'345; value <= 2'000'000; ++value)
        ASSERT_EQ(number(value), std::to_string(value));
}

TEST(LastDigits, AllOfThem)
{
    for (uint32_t value = 0; value < last_digits_end; ++value) {
        char text[last_digits];
        ASSERT_EQ(std::string(text, put_last_digits(text, value)),
                  std::to_string(last_digits_end + value).substr(1));
    }
}

TEST(Number, Limits)
{
    EXPECT_EQ(number(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(number(std::numeric_limits<int64_t>::max()), "9223372036854775807");
}

TEST(Nanoseconds, AlwaysNineDigits)
{
    EXPECT_EQ(nanoseconds(0), "000000000");
    EXPECT_EQ(nanoseconds(999'999'999), "999999999");
    EXPECT_EQ(nanoseconds(123'456'789), "123456789");
    for (uint32_t power = 1; power < 1'000'000'000; power *= 10) {
        const std::string digits = std::to_string(power);
        EXPECT_EQ(nanoseconds(power), std::string(9 - digits.size(), '0') + digits);
    }
}

TEST(XmlEscape, EveryByteAlone)
{
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        const std::string expected = text == "&"                   ? "&amp;"
                                     : text == "<"                 ? "&lt;"
                                     : text == ">"                 ? "&gt;"
                                     : text == "'"                 ? "&apos;"
                                     : text == "\""                ? "&quot;"
                                     : text == "\n"                ? "&#10;"
                                     : text == "\r"                ? "&#13;"
                                     : text == "\t"                ? "&#9;"
                                     : byte < 0x20 || byte >= 0x7f ? replacement
                                                                   : text;
        EXPECT_EQ(xml(text), expected) << byte;
    }
}

TEST(InfoEscape, EveryByteAlone)
{
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        char hexadecimal[5];
        snprintf(hexadecimal, sizeof hexadecimal, "\\x%02x", byte);
        const std::string expected = text == "\\"                  ? "\\\\"
                                     : text == "'"                 ? "\\'"
                                     : text == "\""                ? "\\\""
                                     : text == "\n"                ? "\\n"
                                     : text == "\r"                ? "\\r"
                                     : text == "\t"                ? "\\t"
                                     : byte < 0x20 || byte >= 0x7f ? hexadecimal
                                                                   : text;
        EXPECT_EQ(info(text), expected) << byte;
    }
}

TEST(Escape, ValidUtf8StaysAsItIs)
{
    for (const std::string text : {"ä", "€", "𝄞", "\xC2\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                   "\xF4\x8F\xBF\xBF", "plain text, with (punctuation)"}) {
        EXPECT_EQ(xml(text), text);
        EXPECT_EQ(info(text), text);
    }
}

TEST(Escape, BrokenUtf8IsReplacedByteByByte)
{
    EXPECT_EQ(xml("a\xC3z"), "a" + replacement + "z");                       // cut off
    EXPECT_EQ(xml("\xE2\x82"), replacement + replacement);                   // cut off by the end
    EXPECT_EQ(xml("\xC0\xAF"), replacement + replacement);                   // overlong
    EXPECT_EQ(xml("\xED\xA0\x80"), replacement + replacement + replacement); // a surrogate
    EXPECT_EQ(xml("\xF4\x90\x80\x80"),
              replacement + replacement + replacement + replacement); // beyond U+10FFFF
    EXPECT_EQ(info("a\xC3z"), "a\\xc3z");
    EXPECT_EQ(info("\xC0\xAF"), "\\xc0\\xaf");
    EXPECT_EQ(info("\xED\xA0\x80"), "\\xed\\xa0\\x80");
}

TEST(Escape, NoncharactersExistInInfoOnly)
{
    for (const std::string text : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
        EXPECT_EQ(xml(text), replacement + replacement + replacement);
        EXPECT_EQ(info(text), text);
    }
    EXPECT_EQ(xml(replacement), replacement);
}

TEST(Escape, ANulDoesNotEndTheText)
{
    EXPECT_EQ(xml(std::string("a\0b", 3)), "a" + replacement + "b");
    EXPECT_EQ(info(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Utf8Length, OfTheFirstCharacter)
{
    EXPECT_EQ(utf8_length("az", 2), 1u);
    EXPECT_EQ(utf8_length("äz", 3), 2u);
    EXPECT_EQ(utf8_length("€z", 4), 3u);
    EXPECT_EQ(utf8_length("𝄞", 4), 4u);
    EXPECT_EQ(utf8_length("𝄞", 3), 0u);
    EXPECT_EQ(utf8_length("\x80", 1), 0u);
}

TEST(TextBuffer, JoinsAllKinds)
{
    TextBuffer buffer;
    buffer.text("a=")
        .number(-5)
        .string(" b='")
        .xml_escaped("<")
        .text("' c=\"")
        .info_escaped("\"")
        .text("\"")
        .bytes("!?", 1);
    EXPECT_STREQ(buffer.c_string(), "a=-5 b='&lt;' c=\"\\\"\"!");
}

TEST(TextBuffer, Seconds)
{
    TextBuffer buffer;
    buffer.seconds(12'000'000'034);
    EXPECT_STREQ(buffer.c_string(), "12.000000034");
}

TEST(TextBuffer, IsAStringFromTheStart)
{
    TextBuffer buffer;
    EXPECT_STREQ(buffer.data(), "");
    EXPECT_STREQ(buffer.c_string(), "");
    buffer.bytes("", 0);
    EXPECT_EQ(buffer.size(), 0u);
    EXPECT_FALSE(buffer.bad());
}

TEST(TextBuffer, GrowsAndIsUsedAgain)
{
    TextBuffer buffer;
    std::string expected;
    for (int i = 0; i < 10'000; ++i) {
        buffer.number(i);
        expected += std::to_string(i);
    }
    EXPECT_EQ(std::string(buffer.data(), buffer.size()), expected);
    buffer.clear();
    buffer.text("again");
    EXPECT_STREQ(buffer.c_string(), "again");
}

TEST(FileLabel, HasOnlyCharactersThatReadersSplitWithoutDoubt)
{
    TextBuffer buffer;
    append_file_label(buffer, "my_app 2.0-äß/x");
    EXPECT_STREQ(buffer.c_string(), "my-app-2.0------x");
}

TEST(FileLabel, NeverMakesAFileLookLikeAnOption)
{
    const auto label = [](const char* name) {
        TextBuffer buffer;
        append_first_label(buffer, name);
        return std::string(buffer.c_string());
    };
    EXPECT_EQ(label("app-2"), "app-2");
    EXPECT_EQ(label("-rf"), "xrf");
    EXPECT_EQ(label("--"), "x-");
    EXPECT_EQ(label("ärger"), "x-rger");
    EXPECT_EQ(label("/a\nb"), "xa-b");
    EXPECT_EQ(label(""), "");
}

} // namespace
} // namespace hdtrace
