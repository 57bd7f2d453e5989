// The MPI functions that have wrappers.
#pragma once

#include "hdtrace/settings/rules.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace::mpi {

enum class Function : uint16_t {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees) name,
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
    count
};
inline constexpr size_t function_count = static_cast<size_t>(Function::count);

/// From which value of HDTRACE_ALL_FUNCTIONS on a function is recorded.
enum Level : int {
    with_attributes = 0, ///< has attributes or child elements
    ordinary = 1,        ///< only its times are known
    local_query = 2      ///< asks for what the process knows anyway
};

Level level_of(Function function);

/// It may come before MPI is initialised, and after it is finalised.
bool may_come_at_any_time(Function function);

/// The program must free what it makes.
bool frees_an_object(Function function);

/// For rules: those that have wrappers, by number, and behind them those that only other MPI libraries have.
std::span<const RuledFunction> ruled_functions();

/// A set of functions.
class FunctionSet {
  public:
    bool has(Function function) const { return (m_words[word(function)] & bit(function)) != 0; }
    void add(Function function) { m_words[word(function)] |= bit(function); }

  private:
    static size_t word(Function function) { return static_cast<size_t>(function) / 64; }
    static uint64_t bit(Function function) { return uint64_t{1} << (static_cast<size_t>(function) % 64); }

    uint64_t m_words[function_count / 64 + 1] = {};
};

} // namespace hdtrace::mpi
