// The variables of a program, as debug information has them: where buffers of MPI may be.
#pragma once

#include "merger/variable_contents.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hdtrace::merger {

class UsedObject;

/// What is not known is empty or 0.
struct SourceVariable {
    std::int64_t at = 0; ///< its first byte
    std::int64_t size = 0;
    std::string name;
    std::string type; ///< for people
    Contents contents;
    bool is_pointer = false; ///< then the contents are those of what it points to

    auto operator<=>(const SourceVariable&) const = default;
};

/// By their places.
using SourceVariables = std::vector<SourceVariable>;

/// Those in the stack frames of calls, by return address, if calls can name them: they begin `at` bytes
/// behind the canonical frame address (CFA). @p return_addresses are as the file is linked, ascending.
/// Whatever stands in the file, this ends soon. Throws std::runtime_error that says why it is of no use.
std::map<std::int64_t, SourceVariables>
find_stack_variables(const UsedObject& object, const std::vector<std::int64_t>& return_addresses);

/// Those that last as long as the program: they begin at the address `at`, as the file is linked. Throws
/// std::runtime_error, too.
SourceVariables find_static_variables(const UsedObject& object);

} // namespace hdtrace::merger
