// Processes that are converted at a time number what they meet as if one came after the other.
#include "merger/export/otf2/turns.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <thread>

namespace hdtrace::exporter::otf2 {
namespace {

class Numbers {
  public:
    std::optional<int> find(const std::string& name) const
    {
        const auto found = m_numbers.find(name);
        return found == m_numbers.end() ? std::nullopt : std::optional(found->second);
    }
    int add(const std::string& name)
    {
        return m_numbers.try_emplace(name, static_cast<int>(m_numbers.size())).first->second;
    }

  private:
    std::map<std::string, int> m_numbers;
};

int number_of(const std::string& name, Numbers& numbers, Turns& turns, std::size_t process)
{
    return turns.get(
        process, [&] { return numbers.find(name); }, [&] { return numbers.add(name); });
}

TEST(Turns, NumbersAreThoseOfOneProcessAfterTheOther)
{
    for (int again = 0; again < 50; ++again) {
        Numbers numbers;
        Turns turns(2);
        std::thread second([&] {
            EXPECT_EQ(number_of("second's own", numbers, turns, 1), 2);
            EXPECT_EQ(number_of("last of first", numbers, turns, 1), 1);
            turns.finish(1);
        });
        EXPECT_EQ(number_of("first", numbers, turns, 0), 0);
        EXPECT_EQ(number_of("last of first", numbers, turns, 0), 1);
        turns.finish(0);
        second.join();
    }
}

TEST(Turns, NobodyWaitsForAProcessThatFailed)
{
    Numbers numbers;
    Turns turns(2);
    std::thread second([&] { EXPECT_THROW(number_of("own", numbers, turns, 1), Turns::GivenUp); });
    turns.fail(0);
    second.join();
}

TEST(Turns, ProcessesBeforeOneThatFailedGoOn)
{
    Numbers numbers;
    Turns turns(3);
    turns.fail(2);
    turns.finish(0);
    EXPECT_EQ(number_of("own", numbers, turns, 1), 0);
}

} // namespace
} // namespace hdtrace::exporter::otf2
