// What settings may be, and what is made of them.
#include "hdtrace/settings/settings.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hdtrace::test {
namespace {

const Option& option_of(std::string_view variable)
{
    for (const Option& option : options()) {
        if (option.variable == variable)
            return option;
    }
    throw std::out_of_range(std::string(variable));
}

// The settings after that value, which must be understood.
Settings settings_with(const char* variable, const char* text)
{
    Settings settings;
    EXPECT_TRUE(set(settings, option_of(variable), text)) << variable << "=" << text;
    return settings;
}

TEST(Settings, EveryTypeIsUnderstood)
{
    EXPECT_TRUE(settings_with("HDTRACE_NESTED", "1").nested);
    EXPECT_EQ(settings_with("HDTRACE_FLUSH_SECONDS", "3600").flush_seconds, 3600);
    EXPECT_EQ(settings_with("HDTRACE_BUFFER_SIZE", "4096").buffer_size, 4096);
    EXPECT_EQ(settings_with("HDTRACE_BUFFER_SIZE", "64K").buffer_size, 64 << 10);
    EXPECT_EQ(settings_with("HDTRACE_BUFFER_SIZE", "3M").buffer_size, 3 << 20);
    EXPECT_EQ(settings_with("HDTRACE_BUFFER_SIZE", "8G").buffer_size, int64_t{8} << 30);
    EXPECT_EQ(settings_with("HDTRACE_COUNTER_DELAY", "0").counter_delay, 0);
    EXPECT_EQ(settings_with("HDTRACE_COUNTER_DELAY", "7ns").counter_delay, 7);
    EXPECT_EQ(settings_with("HDTRACE_COUNTER_DELAY", "20us").counter_delay, 20'000);
    EXPECT_EQ(settings_with("HDTRACE_COUNTER_DELAY", "5ms").counter_delay, 5'000'000);
    EXPECT_EQ(settings_with("HDTRACE_COUNTER_DELAY", "2s").counter_delay, 2'000'000'000);
    EXPECT_EQ(settings_with("HDTRACE_COMPRESS", "zstd").compress, Compress::zstd);
    EXPECT_STREQ(name_of(Compress::gzip), "gzip");
    EXPECT_STREQ(settings_with("HDTRACE_NAME", "my app").name, "my app");
    EXPECT_STREQ(settings_with("HDTRACE_NOTE", "a=b\nc= d=\ne=").note, "a=b\nc= d=\ne=");
}

TEST(Settings, OnlyTheSettingThatIsMeantChanges)
{
    Settings settings, unchanged;
    for (const Option& option : options()) {
        const bool is_set = option.type != Option::Type::flag || set(settings, option, "1");
        EXPECT_TRUE(is_set) << option.variable;
    }
    EXPECT_TRUE(settings.follow && settings.nested && settings.file_info && settings.force_flush);
    EXPECT_EQ(settings.all_functions, unchanged.all_functions);
    EXPECT_EQ(settings.buffer_size, unchanged.buffer_size);
    EXPECT_EQ(settings.compress, unchanged.compress);
    EXPECT_STREQ(settings.directory, unchanged.directory);
}

TEST(Settings, WrongValuesChangeNothing)
{
    const std::pair<const char*, std::vector<const char*>> wrong[] = {
        {"HDTRACE_NESTED", {"", "2", "01", " 1", "1 ", "yes", "-1"}},
        {"HDTRACE_FLUSH_SECONDS",
         {"", "x", "-1", "+1", " 1", "1 ", "3601", "1K", "1.5", "99999999999999999999"}},
        {"HDTRACE_TIME_DIGITS", {"5", "10"}},
        {"HDTRACE_BUFFER_SIZE",
         {"", "K", "4095", "3K", "64k", "64KB", "1KM", "1.5M", "-64K", "9223372036854775807K",
          "99999999999999999999"}},
        {"HDTRACE_COUNTER_DELAY", {"", "1", "s", "1 s", "-1s", "1.5s", "1m", "1sec", "9223372036854775807s"}},
        {"HDTRACE_COMPRESS", {"", "zst", "zstd ", "ZSTD", "1"}},
        {"HDTRACE_NOTE", {"", "a", "=b", "a=b\n", "a=b\nc", "a=b\n=c", "\na=b"}},
        {"HDTRACE_DIRECTORY", {""}}};
    for (const auto& [variable, texts] : wrong) {
        for (const char* text : texts) {
            Settings settings;
            EXPECT_FALSE(set(settings, option_of(variable), text)) << variable << "=" << text;
            EXPECT_FALSE(settings.nested);
            EXPECT_EQ(settings.flush_seconds, 1);
            EXPECT_EQ(settings.time_digits, 9);
            EXPECT_EQ(settings.buffer_size, 256 << 10);
            EXPECT_EQ(settings.counter_delay, 100'000'000);
            EXPECT_EQ(settings.compress, Compress::none);
            EXPECT_STREQ(settings.directory, ".");
        }
    }
}

TEST(Settings, TheEnvironmentIsAskedForEach)
{
    const Option& option = option_of("HDTRACE_TIME_DIGITS");
    Settings settings;
    for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
        nothing != nullptr ? setenv(option.variable, nothing, 1) : unsetenv(option.variable);
        EXPECT_TRUE(set_from_environment(settings, option));
        EXPECT_EQ(value_in_environment(option), nullptr);
        EXPECT_EQ(wrong_value_in_environment(option), nullptr);
        EXPECT_EQ(settings.time_digits, 9);
    }
    setenv(option.variable, "6", 1);
    EXPECT_TRUE(set_from_environment(settings, option));
    EXPECT_EQ(wrong_value_in_environment(option), nullptr);
    EXPECT_EQ(settings.time_digits, 6);
    setenv(option.variable, "60", 1);
    EXPECT_FALSE(set_from_environment(settings, option));
    EXPECT_STREQ(wrong_value_in_environment(option), "60");
    EXPECT_EQ(settings.time_digits, 6);
    unsetenv(option.variable);
}

TEST(Settings, OnlyTextsAreTexts)
{
    Settings settings;
    EXPECT_EQ(text_of(settings, option_of("HDTRACE_DIRECTORY")), &settings.directory);
    EXPECT_EQ(text_of(settings, option_of("HDTRACE_BUFFER_SIZE")), nullptr);
}

TEST(Settings, TheOthersAreNumbers)
{
    EXPECT_EQ(number_of(settings_with("HDTRACE_NESTED", "1"), option_of("HDTRACE_NESTED")), 1);
    EXPECT_EQ(number_of(settings_with("HDTRACE_FLUSH_SECONDS", "77"), option_of("HDTRACE_FLUSH_SECONDS")),
              77);
    EXPECT_EQ(number_of(settings_with("HDTRACE_BUFFER_SIZE", "8G"), option_of("HDTRACE_BUFFER_SIZE")),
              int64_t{8} << 30);
    EXPECT_EQ(number_of(settings_with("HDTRACE_COMPRESS", "gzip"), option_of("HDTRACE_COMPRESS")), 2);
    EXPECT_EQ(number_of(settings_with("HDTRACE_NAME", "x"), option_of("HDTRACE_NAME")), 0);
}

} // namespace
} // namespace hdtrace::test
