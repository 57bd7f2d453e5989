#include "hdtrace/settings/rules.h"

namespace hdtrace {

namespace {

constexpr const char* numbers = "numbers such as 3, 0:64:8 or 100:";

constexpr ConditionKind kinds[] = {
    {"call", "a function of MPI", nullptr, nullptr, nullptr},
    {"class", "a class of calls", nullptr, nullptr, nullptr},
    {"rank", numbers, &Rule::ranks, parse_digits, nullptr},
    {"host", "a name", nullptr, nullptr, nullptr},
    {"region", "a name", nullptr, nullptr, nullptr},
    {"peer", numbers, &Rule::peers, parse_digits, nullptr},
    {"size", "bytes such as :1K or 1M:", &Rule::sizes, parse_size, nullptr},
    {"occurrence", numbers, &Rule::occurrences, parse_digits, nullptr},
    {"time", "a span such as 10s:20s", &Rule::times, parse_duration, nullptr},
    {"from", "a call such as MPI_Allreduce 100", nullptr, nullptr, &Rule::from},
    {"until", "a call such as MPI_Allreduce 100", nullptr, nullptr, &Rule::until},
    {"file", "a path", nullptr, nullptr, nullptr},
};
static_assert(sizeof kinds / sizeof *kinds == condition_count);

} // namespace

const ConditionKind& kind_of(Condition condition)
{
    return kinds[static_cast<int>(condition)];
}

bool Rule::is_about(const RuledFunction& function) const
{
    return (!has(Condition::call) || fits_one_function(text(Condition::call), function.name)) &&
           (!has(Condition::call_class) ||
            (function.call_class != nullptr && fits_one(text(Condition::call_class), function.call_class)));
}

bool Rule::is_for_process(int64_t rank, const char* host) const
{
    return (!has(Condition::rank) || ranks.contains(rank)) &&
           (!has(Condition::host) || fits_one(text(Condition::host), host));
}

bool Rule::depends_on_moment() const
{
    for (int i = static_cast<int>(Condition::region); i < condition_count; ++i) {
        if (has(static_cast<Condition>(i)))
            return true;
    }
    return false;
}

} // namespace hdtrace
