#include "hdtrace/analysis/counter_sums.h"

#include <cmath>

#include "hdtrace/matching/regions.h"

namespace hdtrace {
namespace {

bool says(const Element* definition, std::string_view key, std::string_view value)
{
    const auto found = definition ? definition->find(key) : std::nullopt;
    return found && *found == value;
}

bool is_less(const CounterValue& left, const CounterValue& right)
{
    return left.integer && right.integer ? *left.integer < *right.integer : left.number < right.number;
}

void add_to(CounterValue& sum, const CounterValue& value)
{
    sum.number += value.number;
    std::int64_t exact = 0;
    const bool is_exact =
        sum.integer && value.integer && !__builtin_add_overflow(*sum.integer, *value.integer, &exact);
    sum.integer = is_exact ? std::optional(exact) : std::nullopt;
    if (is_exact) // however many they are
        sum.number = static_cast<double>(exact);
}

void add_to(CounterSum& sum, const CounterValue& value)
{
    const bool is_first = sum.count++ == 0;
    sum.last = value;
    if (is_first) {
        sum.first = sum.minimum = sum.maximum = sum.sum = value;
        return;
    }
    add_to(sum.sum, value);
    if (is_less(value, sum.minimum) || std::isnan(sum.minimum.number))
        sum.minimum = value;
    if (is_less(sum.maximum, value) || std::isnan(sum.maximum.number))
        sum.maximum = value;
}

} // namespace

bool CounterSum::has_sum() const
{
    return says(definition, "valid", "point") && !says(definition, "display", "rate");
}

void CounterSums::add(const TraceFile& trace, const State& event)
{
    const auto name = event.find("name");
    if (!name)
        return;
    const Element* const definition = m_definitions.find(*name);
    const bool is_of_thread = says(definition, "scope", "thread");
    const auto thread = is_of_thread ? std::optional(trace.thread) : std::nullopt;
    CounterSum& sum = m_sums[{std::string(*name), trace.rank, thread}];
    add_to(sum, {counter_value(event), counter_integer(event)});
    sum.name = *name;
    sum.definition = definition;
    sum.rank = trace.rank;
    sum.thread = thread;
}

std::vector<CounterSum> CounterSums::sums() const
{
    std::vector<CounterSum> sums;
    for (const auto& [key, sum] : m_sums)
        sums.push_back(sum);
    return sums;
}

} // namespace hdtrace
