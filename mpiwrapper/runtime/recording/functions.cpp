#include "mpiwrapper/runtime/recording/functions.h"

namespace hdtrace::mpi {

namespace {

constexpr RuledFunction functions[] = {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees) {standard_name, call_class},
#define HDT_ABSENT(name) {#name, nullptr},
#include "wrapped_functions.inc"

#include "absent_functions.inc"
#undef HDT_WRAPPED
#undef HDT_ABSENT
};

constexpr uint8_t levels[] = {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees) level,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
};

constexpr bool at_any_time[] = {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees) anytime,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
};

constexpr bool frees_objects[] = {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees) frees,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
};

} // namespace

Level level_of(Function function)
{
    return static_cast<Level>(levels[static_cast<size_t>(function)]);
}

bool may_come_at_any_time(Function function)
{
    return at_any_time[static_cast<size_t>(function)];
}

bool frees_an_object(Function function)
{
    return frees_objects[static_cast<size_t>(function)];
}

std::span<const RuledFunction> ruled_functions()
{
    return functions;
}

} // namespace hdtrace::mpi
